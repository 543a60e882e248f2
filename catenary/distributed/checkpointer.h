#pragma once
// Checkpoints of a job with several ranks.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catenary/distributed/communicator.h"
#include "catenary/training/extensions/snapshot.h"

namespace catenary::distributed {

/// Options of create_multi_node_checkpointer.
struct CheckpointerOptions {
  std::string path = {};  ///< folder of the files; the trainer's output folder if empty
  int n_retains = 2;      ///< number of newest complete sets to keep
};

/// Saves every rank's trainer as `<name>.<rank>.<iteration>`. A set is complete when all ranks have a file of that
/// iteration. When any rank receives a signal that ends training, all ranks save after one common iteration.
/// (chainermn's create_multi_node_checkpointer)
class CT_API MultiNodeCheckpointer : public training::Extension {
 public:
  MultiNodeCheckpointer(std::string name, const Communicator& communicator, CheckpointerOptions options);
  std::string default_name() const override { return "MultiNodeCheckpointer"; }
  training::Trigger trigger() const override { return training::Trigger(1, "epoch"); }
  int priority() const override { return -100; }
  void operator()(training::Trainer& trainer) override { save(trainer); }
  bool saves_trainer() const override { return true; }
  /// Saves, waits until all ranks have saved, then removes older sets. Returns the folder to resume from.
  std::string save(training::Trainer& trainer) override;
  /// Loads the newest set that is complete and readable on every rank. Returns whether there was such a set. All ranks
  /// must call it, after all extensions were added to the trainer. Throws on all ranks: FileError if there are complete
  /// sets but none is readable, ValueError if another number of ranks made them. (maybe_load)
  bool maybe_load(const training::Trainer& trainer);

 private:
  std::string folder(const training::Trainer& trainer) const;
  std::string file(const training::Trainer& trainer, std::int64_t iteration) const;
  /// Returns the iterations that this rank has files for, ascending.
  std::vector<std::int64_t> saved(const training::Trainer& trainer) const;
  /// Returns the number of ranks that made the newest readable set among `iterations`, or 0 if unknown.
  int made_by(const training::Trainer& trainer, const std::vector<std::int64_t>& iterations) const;

  std::string name_;
  Communicator communicator_;
  CheckpointerOptions options_;
};

/// Makes a checkpointer. Throws ValueError for a name that is empty or contains a slash.
CT_API MultiNodeCheckpointer create_multi_node_checkpointer(const std::string& name, const Communicator& communicator,
                                                            const CheckpointerOptions& options = {});

/// A snapshot for sets of ranks with equal state: the first rank of each set writes, and all its ranks load. File names
/// end with the writer's rank.
///
/// With autoload, all ranks of a set get the state from their writer's newest file, even if they cannot see that file.
/// With several sets, they load the newest iteration that all writers have. If a rank cannot load its file, or if the
/// writers have no common iteration, all ranks get FileError. (chainermn.extensions.multi_node_snapshot)
class CT_API MultiNodeSnapshot : public training::extensions::snapshot {
 public:
  MultiNodeSnapshot(const Communicator& communicator, const training::extensions::snapshot& snapshot, int writer);
  std::string save(training::Trainer& trainer) override;
  void autoload(training::Trainer& trainer) override;
  void on_error(training::Trainer& trainer, const std::exception& error) override;
  /// Returns whether this rank writes.
  bool is_master() const;

 private:
  Communicator communicator_;
  int writer_;
  bool failing_ = false;
};

/// Makes a snapshot extension. Ranks that are in no set form one more set. Throws ValueError for a rank that does not
/// exist or is in two sets.
CT_API MultiNodeSnapshot multi_node_snapshot(const Communicator& communicator,
                                             const training::extensions::snapshot& snapshot,
                                             const std::vector<std::vector<int>>& replica_sets = {});

}  // namespace catenary::distributed
