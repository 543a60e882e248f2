#pragma once
// Updaters: one step of training.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "catenary/iterators/iterator.h"
#include "catenary/optimizers/optimizer.h"

namespace catenary::training {

class Trainer;

/// The interface of updaters. Derive from it to write an updater. (chainer.training.Updater)
class CT_API UpdaterBase {
 public:
  virtual ~UpdaterBase();
  virtual void update() = 0;
  virtual std::int64_t iteration() const = 0;
  virtual std::int64_t epoch() const = 0;
  virtual double epoch_detail() const = 0;
  virtual std::optional<double> previous_epoch_detail() const = 0;
  virtual bool is_new_epoch() const = 0;
  virtual std::map<std::string, Optimizer> optimizers() const = 0;
  virtual Iterator iterator(const std::string& name) const = 0;
  virtual void connect_trainer(Trainer&) {}
  /// Called by the trainer before the first iteration, after a snapshot has been loaded.
  virtual void begin_training(const Trainer&) {}
  virtual void finalize() {}
  virtual void serialize(Serializer& serializer) = 0;
};

/// A handle to an updater.
class CT_API Updater {
 public:
  Updater(std::shared_ptr<UpdaterBase> implementation) : implementation_(std::move(implementation)) {}
  UpdaterBase* operator->() const { return implementation_.get(); }
  UpdaterBase& operator*() const { return *implementation_; }
  /// Returns an optimizer by name. Throws ValueError that lists the names.
  Optimizer optimizer(const std::string& name = "main") const;

 private:
  std::shared_ptr<UpdaterBase> implementation_;
};

/// Converts a minibatch to a model's arguments.
using Converter = std::function<Batch(const Minibatch& batch, const std::optional<Device>& device)>;

/// Options of StandardUpdater.
struct StandardUpdaterOptions {
  Converter converter = {};                         ///< concat_examples by default
  std::optional<Device> device = {};                ///< where batches are moved, by default the model's device
  std::function<Variable(const Batch&)> loss = {};  ///< by default the optimizer's target
  std::optional<double> loss_scale = {};
  bool auto_new_epoch = true;  ///< notify optimizers of new epochs
  /// Processes a batch, instead of the loss and one update of the main optimizer. For several optimizers, as in a GAN,
  /// which then need no "main". It may take more batches from the iterators, with prefetch from other iterators than
  /// "main".
  std::function<void(const Batch&)> update_core = {};
  /// Prepares the main iterator's next batch in a thread while the current batch is processed: makes it, converts it
  /// and moves it to the device. Order, bits and snapshots do not change.
  ///
  /// The thread has the settings and the current device of the training thread, but not its hooks. Dataset and
  /// converter must support calls from that thread, concurrently with calls from the loss or extensions. Changes to
  /// them between two updates take effect one batch later, and their errors are thrown at the batch concerned. A batch
  /// that continues after an epoch's end with a new order is made without overlap.
  ///
  /// Throws ValueError for iterators that do not support prefetching, if dataset or converter draw from the thread's
  /// random numbers (allowed with MultithreadIterator), and for an update_core that takes batches from "main".
  bool prefetch = false;
};

/// Takes a batch from the main iterator, computes the loss and updates the main optimizer, or calls update_core.
/// (chainer.training.updaters.StandardUpdater)
class CT_API StandardUpdater : public Updater {
 public:
  StandardUpdater(const Iterator& iterator, const Optimizer& optimizer, const StandardUpdaterOptions& options = {});
  /// Throws ValueError without an iterator "main", without an optimizer "main" (any name is allowed with update_core),
  /// and for both a loss and update_core.
  StandardUpdater(const std::map<std::string, Iterator>& iterators, const std::map<std::string, Optimizer>& optimizers,
                  const StandardUpdaterOptions& options = {});
};

/// Options of ParallelUpdater.
struct ParallelUpdaterOptions {
  Converter converter = {};                         ///< concat_examples by default
  std::function<Variable(const Batch&)> loss = {};  ///< must work on every device, by default the models
  std::optional<double> loss_scale = {};
  bool auto_new_epoch = true;  ///< notify the optimizer of new epochs
  bool prefetch = false;       ///< like StandardUpdater's, for all devices
};

/// Trains on several devices of this machine. Each device has a copy of the optimizer's model and takes every n-th
/// example of a batch. Gradients are added on the device "main", where the model is updated and then copied to the
/// others. Each loss is the mean over its part, so the sum of the gradients is that of n batches.
/// (chainer.training.updaters.ParallelUpdater)
class CT_API ParallelUpdater : public Updater {
 public:
  /// `devices` must contain a device named "main", else throws ValueError. The first update throws ValueError for a
  /// batch with fewer examples than devices.
  ParallelUpdater(const Iterator& iterator, const Optimizer& optimizer, const std::map<std::string, Device>& devices,
                  const ParallelUpdaterOptions& options = {});
};

}  // namespace catenary::training
