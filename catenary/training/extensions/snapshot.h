#pragma once
// Snapshots: the state of a trainer, or of a part of it, as a file.

#include <concepts>
#include <functional>
#include <span>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// Options of snapshot.
struct SnapshotOptions {
  std::string filename =
      "snapshot_iter_{.updater.iteration}";  ///< may contain {.updater.iteration} and {.updater.epoch}
  int n_retains = -1;              ///< number of snapshots to keep: the last saved and the newest others, -1 for all
  bool autoload = false;           ///< load the newest snapshot (by iteration, then epoch) before training
  bool snapshot_on_error = false;  ///< save when an exception leaves the training loop; the batch of a failed update is
                                   ///< then already consumed
};

/// Saves the whole trainer as npz, atomically: an incomplete file never appears. Runs after all other extensions of an
/// iteration, whatever its priority. (chainer.training.extensions.snapshot)
class CT_API snapshot : public Extension {
 public:
  explicit snapshot(SnapshotOptions options = {});
  std::string default_name() const override { return "_Snapshot"; }
  Trigger trigger() const override { return Trigger(1, "epoch"); }
  int priority() const override { return -100; }
  void operator()(Trainer& trainer) override { save(trainer); }
  void on_error(Trainer& trainer, const std::exception& error) override;
  std::string save(Trainer& trainer) override;
  bool saves_trainer() const override { return !target_; }
  /// Loads the newest file in the output folder, if requested and present.
  void autoload(Trainer& trainer) override;

 protected:
  /// The object to save and load, the trainer if empty.
  std::function<void(Serializer&)> target_;
  SnapshotOptions options_;
  /// Returns the names of the snapshots in the output folder, oldest first.
  std::vector<std::string> files(const Trainer& trainer) const;
  /// Load a snapshot from its file or from its bytes.
  void load(const Trainer& trainer, const std::string& path) const;
  void load(const Trainer& trainer, const std::string& path, std::span<const std::byte> bytes) const;
};

/// Saves a single object (a model, an optimizer, …), by default as "snapshot_iter_N". (snapshot_object)
class CT_API snapshot_object : public snapshot {
 public:
  template <class T>
  explicit snapshot_object(const T& target, SnapshotOptions options = {}) : snapshot(std::move(options)) {
    // a trainer that held itself would never be destroyed
    if constexpr (!std::same_as<T, Trainer>) target_ = [target](Serializer& s) { target.serialize(s); };
  }
  template <class T>
  snapshot_object(const T& target, const std::string& filename)
      : snapshot_object(target, SnapshotOptions{.filename = filename}) {}
  std::string default_name() const override { return "_SnapshotObject"; }
};

/// Replaces "{.updater.iteration}" and "{.updater.epoch}" in the pattern. Throws ValueError for anything else in
/// braces.
CT_API std::string format_filename(const std::string& pattern, const Trainer& trainer);

}  // namespace catenary::training::extensions
