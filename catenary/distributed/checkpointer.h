#pragma once
// What a job of several ranks goes on from.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catenary/distributed/communicator.h"
#include "catenary/training/extensions/snapshot.h"

namespace catenary::distributed {

/// Options of create_multi_node_checkpointer.
struct CheckpointerOptions {
  std::string path = {};  ///< the folder; the trainer's output folder when not given
  int n_retains = 2;      ///< so many of the newest complete sets are kept
};

/// Has every rank save its trainer as `<name>.<rank>.<iteration>`; a set of them is complete when all ranks have one.
/// When a signal to any rank ends training, all save after the same iteration. (chainermn's
/// create_multi_node_checkpointer)
class CT_API MultiNodeCheckpointer : public training::Extension {
 public:
  MultiNodeCheckpointer(std::string name, const Communicator& communicator, CheckpointerOptions options);
  std::string default_name() const override { return "MultiNodeCheckpointer"; }
  training::Trigger trigger() const override { return training::Trigger(1, "epoch"); }
  int priority() const override { return -100; }
  void operator()(training::Trainer& trainer) override { save(trainer); }
  bool saves_trainer() const override { return true; }
  /// Returns when all ranks have saved; then older sets are removed. Gives the folder, from which one goes on.
  std::string save(training::Trainer& trainer) override;
  /// Loads the newest set that is complete and sound on every rank, and says whether there was one. To be called by all
  /// ranks, when the trainer has all its extensions. Throws, on all ranks, FileError where there are complete sets and
  /// none is sound, and ValueError where they were made by another number of ranks. (maybe_load)
  bool maybe_load(const training::Trainer& trainer);

 private:
  std::string folder(const training::Trainer& trainer) const;
  std::string file(const training::Trainer& trainer, std::int64_t iteration) const;
  /// Iterations of which this rank has a file, ascending.
  std::vector<std::int64_t> saved(const training::Trainer& trainer) const;
  /// How many ranks made the newest sound one of them; 0 where that is not known.
  int made_by(const training::Trainer& trainer, const std::vector<std::int64_t>& iterations) const;

  std::string name_;
  Communicator communicator_;
  CheckpointerOptions options_;
};

/// Throws ValueError for a name that is empty or has a slash.
CT_API MultiNodeCheckpointer create_multi_node_checkpointer(const std::string& name, const Communicator& communicator,
                                                            const CheckpointerOptions& options = {});

/// A snapshot of ranks whose state is the same: the first rank of each set writes, all of it load. Files get the
/// writer's rank at the end of their names. With autoload all ranks of a set get the state in the writer's newest file,
/// whether they see that file or not; of several sets, in the newest that all writers have. Where a file cannot be
/// loaded on one rank, or writers have no file in common, all ranks get a FileError.
/// (chainermn.extensions.multi_node_snapshot)
class CT_API MultiNodeSnapshot : public training::extensions::snapshot {
 public:
  MultiNodeSnapshot(const Communicator& communicator, const training::extensions::snapshot& snapshot, int writer);
  std::string save(training::Trainer& trainer) override;
  void autoload(training::Trainer& trainer) override;
  void on_error(training::Trainer& trainer, const std::exception& error) override;
  /// Is this the rank that writes?
  bool is_master() const;

 private:
  Communicator communicator_;
  int writer_;
  bool failing_ = false;
};

/// Ranks that no set names are one more set. Throws ValueError for a rank that is not there or in two sets.
CT_API MultiNodeSnapshot multi_node_snapshot(const Communicator& communicator,
                                             const training::extensions::snapshot& snapshot,
                                             const std::vector<std::vector<int>>& replica_sets = {});

}  // namespace catenary::distributed
