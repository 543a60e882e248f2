#include "catenary/training/updater.h"

#include "catenary/core/format.h"
#include "catenary/training/extension.h"

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

class StandardUpdaterImpl final : public UpdaterBase {
 public:
  StandardUpdaterImpl(std::map<std::string, Iterator> iterators, std::map<std::string, Optimizer> optimizers,
                      StandardUpdaterOptions options)
      : iterators_(std::move(iterators)), optimizers_(std::move(optimizers)), options_(std::move(options)) {
    if (!iterators_.count("main")) throw ValueError("StandardUpdater: there is no iterator 'main'");
    if (!optimizers_.count("main")) throw ValueError("StandardUpdater: there is no optimizer 'main'");
    if (!options_.converter)
      options_.converter = [](const Minibatch& batch, const std::optional<Device>& device) {
        return concat_examples(batch, device);
      };
    if (options_.loss_scale)
      for (const auto& entry : optimizers_) entry.second.loss_scaling(*options_.loss_scale);
    if (options_.device)
      for (const auto& entry : optimizers_) entry.second.target().link().to_device(*options_.device);
  }

  void update() override {
    const auto batch = main().next();
    if (!batch)
      throw ValueError(
          "StandardUpdater: the iterator 'main' has no more batches (give it .repeat = true for training)");
    const Batch arguments = options_.converter(*batch, options_.device);
    const Optimizer& optimizer = optimizers_.at("main");
    optimizer.update([&] { return options_.loss ? options_.loss(arguments) : optimizer.target()(arguments); });
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
  void finalize() override {
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
    }
    serializer("iteration", iteration_);
  }

 private:
  const Iterator& main() const { return iterators_.at("main"); }

  std::map<std::string, Iterator> iterators_;
  std::map<std::string, Optimizer> optimizers_;
  StandardUpdaterOptions options_;
  std::int64_t iteration_ = 0;
};

}  // namespace

StandardUpdater::StandardUpdater(const Iterator& iterator, const Optimizer& optimizer,
                                 const StandardUpdaterOptions& options)
    : StandardUpdater(std::map<std::string, Iterator>{{"main", iterator}},
                      std::map<std::string, Optimizer>{{"main", optimizer}}, options) {}
StandardUpdater::StandardUpdater(const std::map<std::string, Iterator>& iterators,
                                 const std::map<std::string, Optimizer>& optimizers,
                                 const StandardUpdaterOptions& options)
    : Updater(std::make_shared<StandardUpdaterImpl>(iterators, optimizers, options)) {}

}  // namespace catenary::training
