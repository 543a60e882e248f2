#include "catenary/training/updater.h"

#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/device/placement.h"
#include "catenary/reporter/reporter.h"
#include "catenary/training/prefetch.h"
#include "catenary/training/trainer.h"

namespace catenary::training {

UpdaterBase::~UpdaterBase() = default;

Optimizer Updater::optimizer(const std::string& name) const {
  const auto all = implementation_->optimizers();
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  std::string names;
  for (const auto& entry : all) names += (names.empty() ? "" : ", ") + entry.first;
  fail<ValueError>("the updater has no optimizer '{}'; it has: {}", name, names);
}

namespace {

/// A batch for a single device, or a part for each of several.
std::vector<Batch> converted(const Minibatch& batch, const Converter& converter, const std::vector<Device>& devices) {
  const auto n = static_cast<std::int64_t>(devices.size());
  if (n == 1) return {converter(batch, devices[0])};
  if (batch.size < n) fail<ValueError>("ParallelUpdater: a batch of {} examples for {} devices", batch.size, n);
  std::vector<Batch> parts;
  for (std::int64_t part = 0; part < n; ++part)
    parts.push_back(converter(batch.every(part, n), devices[static_cast<std::size_t>(part)]));
  return parts;
}

class StandardUpdaterImpl : public UpdaterBase {
 public:
  StandardUpdaterImpl(std::map<std::string, Iterator> iterators, std::map<std::string, Optimizer> optimizers,
                      StandardUpdaterOptions options)
      : iterators_(std::move(iterators)), optimizers_(std::move(optimizers)), options_(std::move(options)) {
    if (!iterators_.count("main")) throw ValueError("StandardUpdater: there is no iterator 'main'");
    if (!optimizers_.count("main") && (!options_.update_core || optimizers_.empty()))
      throw ValueError("StandardUpdater: there is no optimizer 'main'");
    if (options_.update_core && options_.loss)
      throw ValueError("StandardUpdater: give a loss or update_core, which computes its own");
    if (!options_.converter)
      options_.converter = [](const Minibatch& batch, const std::optional<Device>& device) {
        return concat_examples(batch, device);
      };
    if (options_.prefetch)
      prefetch_.emplace(main(), [converter = options_.converter](const Minibatch& batch, const auto& devices) {
        return converted(batch, converter, devices);
      });
    if (options_.loss_scale)
      for (const auto& entry : optimizers_) entry.second.set_loss_scale(*options_.loss_scale);
    if (options_.device)
      for (const auto& entry : optimizers_) entry.second.target().link().to_device(*options_.device);
  }

  void update() override {
    const std::optional<std::vector<Batch>> batch = next();
    if (!batch)
      throw ValueError(
          "StandardUpdater: the iterator 'main' has no more batches (give it .repeat = true for training)");
    step(*batch);
    if (options_.auto_new_epoch && main().is_new_epoch())
      for (const auto& entry : optimizers_) entry.second.new_epoch();
    ++iteration_;
  }

  std::int64_t iteration() const override { return iteration_; }
  std::int64_t epoch() const override { return main().epoch(); }
  double epoch_detail() const override { return main().epoch_detail(); }
  std::optional<double> previous_epoch_detail() const override { return main().previous_epoch_detail(); }
  bool is_new_epoch() const override { return main().is_new_epoch(); }
  std::map<std::string, Optimizer> optimizers() const override { return optimizers_; }
  Iterator iterator(const std::string& name) const override {
    const auto found = iterators_.find(name);
    if (found == iterators_.end()) fail<ValueError>("the updater has no iterator '{}'", name);
    return found->second;
  }
  void begin_training(const Trainer& trainer) override {
    TrainingPlan plan{.examples = main().examples(), .batch_size = main().batch_size()};
    std::string unit;
    if (!trainer.stop_trigger().training_length(plan.length, unit)) plan.length = 0;
    plan.in_epochs = unit != "iteration";
    for (const auto& entry : optimizers_) entry.second.begin_training(plan);
  }
  void finalize() override {
    if (prefetch_) prefetch_->stop();
    for (const auto& entry : iterators_) entry.second.finalize();
  }
  void serialize(Serializer& serializer) override {
    for (const auto& [name, iterator] : iterators_) {
      Serializer below = serializer["iterator:" + name];
      iterator.serialize(below);
    }
    for (const auto& [name, optimizer] : optimizers_) {
      Serializer below = serializer["optimizer:" + name];
      optimizer.serialize(below);
      Serializer model = serializer["model:" + name];
      optimizer.target().serialize(model);
      optimizer.target().link().serialize_state(serializer["state:" + name]);
      serialize_hyperparameters(serializer["hyperparam:" + name], optimizer);
    }
    serializer("iteration", iteration_);
  }

 protected:
  /// The devices that batches are moved to.
  virtual std::vector<Device> devices() const {
    return {options_.device ? *options_.device : get_device(main_optimizer().target().link())};
  }
  virtual void step(const std::vector<Batch>& parts) {
    const Optimizer& optimizer = main_optimizer();
    if (options_.update_core) {
      options_.update_core(parts[0]);
      if (prefetch_) prefetch_->check_place();
      return;
    }
    optimizer.update([&] { return loss_of(optimizer.target(), parts[0]); });
  }
  /// "main", or the first optimizer if update_core needs no "main".
  const Optimizer& main_optimizer() const {
    const auto main = optimizers_.find("main");
    return main == optimizers_.end() ? optimizers_.begin()->second : main->second;
  }
  Variable loss_of(const Model& model, const Batch& arguments) const {
    return options_.loss ? options_.loss(arguments) : model(arguments);
  }
  const StandardUpdaterOptions& options() const { return options_; }

 private:
  const Iterator& main() const { return iterators_.at("main"); }
  std::optional<std::vector<Batch>> next() {
    if (prefetch_) return prefetch_->next(devices());
    const std::optional<Minibatch> batch = main().next();
    if (!batch) return std::nullopt;
    return converted(*batch, options_.converter, devices());
  }

  /// Saves or loads hyperparameters that training changes. Chainer's snapshots lack them, and ignore ours.
  static void serialize_hyperparameters(const Serializer& serializer, const Optimizer& optimizer) {
    for (const auto& [name, value] : optimizer.hyperparam().all()) {
      // older snapshots have Chainer's name for it, and it is 0 unless the program sets it
      const bool renamed = serializer.loading() && name == "chainer_decay" && value != 0 && !serializer.contains(name);
      const std::string key = renamed ? "weight_decay_rate" : name;
      if (serializer.loading() && !serializer.contains(key)) continue;
      const auto slot = std::make_shared<double>(value);
      serializer(key, *slot);
      if (serializer.loading())
        serializer.after_loading([optimizer, name = name, slot] { optimizer.hyperparam().set(name, *slot); });
    }
  }

  std::map<std::string, Iterator> iterators_;
  std::map<std::string, Optimizer> optimizers_;
  StandardUpdaterOptions options_;
  std::int64_t iteration_ = 0;
  std::optional<Prefetch> prefetch_;
};

class ParallelUpdaterImpl final : public StandardUpdaterImpl {
 public:
  ParallelUpdaterImpl(const Iterator& iterator, const Optimizer& optimizer,
                      const std::map<std::string, Device>& devices, StandardUpdaterOptions options)
      : StandardUpdaterImpl({{"main", iterator}}, {{"main", optimizer}}, std::move(options)) {
    for (const auto& [name, device] : devices)
      if (name != "main") others_.push_back({name, device, {}});
  }

 private:
  struct Other {
    std::string name;
    Device device;
    Model model;
  };

  std::vector<Device> devices() const override {
    std::vector<Device> all = {*options().device};
    for (const Other& other : others_) all.push_back(other.device);
    return all;
  }
  void step(const std::vector<Batch>& parts) override {
    const Optimizer& optimizer = main_optimizer();
    const Model& main_model = optimizer.target();
    main_model.link().cleargrads();
    std::vector<Variable> losses = {loss_of(main_model, parts[0])};
    if (!copied_) copy_models(main_model);  // now that all parameters have shapes
    for (const Other& other : others_) other.model.link().cleargrads();
    for (std::size_t k = 0; k < others_.size(); ++k) {
      const DeviceScope scope(others_[k].device);
      losses.push_back(loss_of(others_[k].model, parts[k + 1]));
    }
    // start all forward passes before a backward pass waits for a device
    for (const Variable& loss : losses) loss.backward(false, false, optimizer.loss_scale());
    for (const Other& other : others_) main_model.link().addgrads(other.model.link());
    optimizer.update();
    for (const Other& other : others_) other.model.link().copyparams(main_model.link());
  }

  void copy_models(const Model& main_model) {
    for (Other& other : others_) {
      other.model = main_model.copy(CopyMode::copy);
      other.model.link().to_device(other.device);
      if (const Reporter* reporter = current_reporter()) {  // report the copies' values under the copies' names
        reporter->add_observer(other.name, other.model.link());
        reporter->add_observers(other.name, other.model.link());
      }
    }
    copied_ = true;
  }

  std::vector<Other> others_;
  bool copied_ = false;
};

}  // namespace

ParallelUpdater::ParallelUpdater(const Iterator& iterator, const Optimizer& optimizer,
                                 const std::map<std::string, Device>& devices, const ParallelUpdaterOptions& options)
    : Updater(nullptr) {
  const auto main = devices.find("main");
  if (main == devices.end()) throw ValueError("ParallelUpdater: there is no device 'main'");
  StandardUpdaterOptions standard;
  standard.converter = options.converter;
  standard.device = main->second;
  standard.loss = options.loss;
  standard.loss_scale = options.loss_scale;
  standard.auto_new_epoch = options.auto_new_epoch;
  standard.prefetch = options.prefetch;
  *static_cast<Updater*>(this) =
      Updater(std::make_shared<ParallelUpdaterImpl>(iterator, optimizer, devices, std::move(standard)));
}

StandardUpdater::StandardUpdater(const Iterator& iterator, const Optimizer& optimizer,
                                 const StandardUpdaterOptions& options)
    : StandardUpdater(std::map<std::string, Iterator>{{"main", iterator}},
                      std::map<std::string, Optimizer>{{"main", optimizer}}, options) {}
StandardUpdater::StandardUpdater(const std::map<std::string, Iterator>& iterators,
                                 const std::map<std::string, Optimizer>& optimizers,
                                 const StandardUpdaterOptions& options)
    : Updater(std::make_shared<StandardUpdaterImpl>(iterators, optimizers, options)) {}

}  // namespace catenary::training
