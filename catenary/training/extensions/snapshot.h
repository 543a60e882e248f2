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
      "snapshot_iter_{.updater.iteration}";  ///< {.updater.iteration} and {.updater.epoch} are filled in
  int n_retains = -1;                        ///< keeps the one just saved and the newest others; -1 keeps all
  bool autoload = false;                     ///< loads the newest snapshot in the output folder before training: that
                                             ///< of the highest iteration, then of the highest epoch
  bool snapshot_on_error = false;            ///< saves what there is when an exception leaves the training loop; of an
                                             ///< update that failed, the batch has been taken
};

/// Saves the whole trainer as npz, atomically: a file of that name is complete or not there. Runs after all other
/// extensions of an iteration, whatever its priority.
/// (chainer.training.extensions.snapshot)
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
  /// Loads the newest file in the output folder, if that was asked for and there is one.
  void autoload(Trainer& trainer) override;

 protected:
  /// What is saved and loaded; the trainer when empty.
  std::function<void(Serializer&)> target_;
  SnapshotOptions options_;
  /// Names of the snapshots in the output folder, oldest first.
  std::vector<std::string> files(const Trainer& trainer) const;
  /// Loads one, from its file or from its bytes.
  void load(const Trainer& trainer, const std::string& path) const;
  void load(const Trainer& trainer, const std::string& path, std::span<const std::byte> bytes) const;
};

/// Saves one object (a model, an optimizer, …), by default as "snapshot_iter_N". (snapshot_object)
class CT_API snapshot_object : public snapshot {
 public:
  template <class T>
  explicit snapshot_object(const T& target, SnapshotOptions options = {}) : snapshot(std::move(options)) {
    // a trainer that held itself would never go away
    if constexpr (!std::same_as<T, Trainer>) target_ = [target](Serializer& s) { target.serialize(s); };
  }
  template <class T>
  snapshot_object(const T& target, const std::string& filename)
      : snapshot_object(target, SnapshotOptions{.filename = filename}) {}
  std::string default_name() const override { return "_SnapshotObject"; }
};

/// The pattern with "{.updater.iteration}" and "{.updater.epoch}" replaced; throws ValueError for anything else in
/// braces.
CT_API std::string format_filename(const std::string& pattern, const Trainer& trainer);

}  // namespace catenary::training::extensions
