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

/// What every updater does; derive from it to write one. (chainer.training.Updater)
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
  /// Called by the trainer before the first iteration, when what is to be resumed is loaded.
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
  /// The optimizer of a name; throws ValueError that lists the names.
  Optimizer optimizer(const std::string& name = "main") const;

 private:
  std::shared_ptr<UpdaterBase> implementation_;
};

/// Turns a minibatch into a model's arguments.
using Converter = std::function<Batch(const Minibatch& batch, const std::optional<Device>& device)>;

/// Options of StandardUpdater.
struct StandardUpdaterOptions {
  Converter converter = {};                         ///< concat_examples when not given
  std::optional<Device> device = {};                ///< where batches go; the model's own device when not given
  std::function<Variable(const Batch&)> loss = {};  ///< the optimizer's target when not given
  std::optional<double> loss_scale = {};
  bool auto_new_epoch = true;  ///< tells the optimizers of new epochs
  /// What is done with a batch, instead of the loss and one update of the main optimizer: for several optimizers, as of
  /// a GAN, none of which need be "main" then. It may take more from the iterators; with prefetch, from others than
  /// "main".
  std::function<void(const Batch&)> update_core = {};
  /// The main iterator's next batch is made, converted and brought to the device by a thread while this one is computed
  /// with. Order, bits and snapshots are those of a training without, and either goes on from the other's. The thread
  /// has the settings and the current device of the one that trains, not its hooks. Dataset and converter have to stand
  /// being called by it, and by another thread where the loss or an extension calls them, too; what changes them
  /// between two updates is seen a batch late. What they throw is thrown at their own batch. A batch that reaches over
  /// the end of an epoch with a new order is made in its own time. Throws ValueError for an iterator that does not look
  /// ahead, for random numbers of the thread drawn by dataset or converter (by MultithreadIterator they may), and for
  /// an update_core that takes from "main".
  bool prefetch = false;
};

/// Takes a batch from the main iterator, computes the loss, updates the main optimizer; or does what update_core says.
/// (chainer.training.updaters.StandardUpdater)
class CT_API StandardUpdater : public Updater {
 public:
  StandardUpdater(const Iterator& iterator, const Optimizer& optimizer, const StandardUpdaterOptions& options = {});
  /// Throws ValueError without an iterator "main", without an optimizer "main" (any will do for update_core), and for
  /// both a loss and update_core.
  StandardUpdater(const std::map<std::string, Iterator>& iterators, const std::map<std::string, Optimizer>& optimizers,
                  const StandardUpdaterOptions& options = {});
};

/// Options of ParallelUpdater.
struct ParallelUpdaterOptions {
  Converter converter = {};                         ///< concat_examples when not given
  std::function<Variable(const Batch&)> loss = {};  ///< must serve every device; the models themselves when not given
  std::optional<double> loss_scale = {};
  bool auto_new_epoch = true;  ///< tells the optimizer of new epochs
  bool prefetch = false;       ///< as StandardUpdater's, for all devices
};

/// Trains on several devices of this machine: each has a copy of the optimizer's model and takes every n-th example of
/// a batch; the gradients are added up on the device "main", whose model is updated and copied to the others. As each
/// copy's loss is the mean over its part, the sum of the gradients is that of n batches.
/// (chainer.training.updaters.ParallelUpdater)
class CT_API ParallelUpdater : public Updater {
 public:
  /// `devices` by name, one of them "main". Throws ValueError without it, and at the first update for a batch with
  /// fewer examples than devices.
  ParallelUpdater(const Iterator& iterator, const Optimizer& optimizer, const std::map<std::string, Device>& devices,
                  const ParallelUpdaterOptions& options = {});
};

}  // namespace catenary::training
