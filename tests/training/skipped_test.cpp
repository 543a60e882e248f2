// Updates skipped because of non-finite gradients: one bad batch skips one update, and a training without progress
// reports an error.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "catenary/catenary.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
namespace O = optimizers;
namespace T = training;
namespace X = training::extensions;
using tests::error_of;

/// 40 examples of two classes. Examples are NaN while `bad` is true for them.
class Examples final : public datasets::DatasetMixin {
 public:
  explicit Examples(std::function<bool(std::int64_t)> bad) : bad_(std::move(bad)) {}
  std::int64_t size() const override { return 40; }
  Example get_example(std::int64_t i) const override {
    const double x[3] = {bad_(i) ? std::nan("") : std::sin(static_cast<double>(i)), i % 2 ? 1.0 : -1.0, 0.5};
    const std::int32_t label = static_cast<std::int32_t>(i % 2);
    return {{Array::from_host(x, {3}, Dtype::float64, Device()).astype(get_dtype()),
             Array::from_host(&label, {}, Dtype::int32, Device())},
            {}};
  }

 private:
  std::function<bool(std::int64_t)> bad_;
};

struct SkippedTraining {
  explicit SkippedTraining(const Dataset& examples, const T::Trigger& stop = T::Trigger(6, "epoch"))
      : model(made()),
        trainer(
            T::StandardUpdater(iterators::SerialIterator(examples, 4, {.shuffle = false}), set_up(optimizer, model)),
            stop, folder / "out") {}
  static L::Classifier made() {
    random::seed(2);
    const L::Classifier model{L::Linear(3, 2)};
    model.to_device(current_device());
    return model;
  }
  static const Optimizer& set_up(const Optimizer& optimizer, const L::Classifier& model) {
    return optimizer.setup(model);
  }
  std::int64_t updates_that_took_place() const {
    return dynamic_cast<UpdateRule&>(*model.params()[0].update_rule()).t();
  }

  tests::Folder folder;
  L::Classifier model;
  O::SGD optimizer{0.1};
  T::Trainer trainer;
};

// In any batch of an epoch. FailOnNonNumber sees the last one.
TEST(Skipped, ANaNInOneBatchCostsItsUpdate) {
  for (const Precision precision : {Precision(Dtype::float16), mixed16}) {
    const auto dtype = using_config(config.dtype, precision);
    for (const std::int64_t bad : {1, 22, 39}) {
      const SkippedTraining training(Examples([bad](std::int64_t i) { return i == bad; }));
      training.trainer.extend(X::FailOnNonNumber());
      std::vector<double> losses;
      training.trainer.extend(
          [&](T::Trainer& t) {
            const double loss = t.observation().find("main/loss")->value();
            if (std::isfinite(loss)) losses.push_back(loss);
          },
          {.name = "losses", .trigger = T::Trigger(1, "iteration")});
      training.trainer.run(false);
      EXPECT_EQ(losses.size(), 54u);
      EXPECT_EQ(training.updates_that_took_place(), 54);
      EXPECT_LT(losses.back(), 0.5 * losses.front()) << bad;
    }
  }
}

TEST(Skipped, ANaNInAllIsToldWithin64Updates) {
  for (const Precision precision : {Precision(Dtype::float16), mixed16}) {
    const auto dtype = using_config(config.dtype, precision);
    // from the first update, at a scale of 1, and from a later one at the largest scale
    for (const std::int64_t good : {0, 1, 31, 32, 45}) {
      std::int64_t iteration = 0;
      const SkippedTraining training(Examples([&](std::int64_t) { return iteration >= good; }),
                                     T::Trigger(50, "epoch"));
      training.trainer.extend([&](T::Trainer& t) { iteration = t.updater()->iteration(); },
                              {.name = "counts", .trigger = T::Trigger(1, "iteration")});
      const std::string said = error_of<ValueError>([&] { training.trainer.run(false); });
      EXPECT_LE(training.trainer.updater()->iteration(), good + 64);
      EXPECT_EQ(training.updates_that_took_place(), good);
      EXPECT_TRUE(said.starts_with("SGD: the last ")) << said;
      EXPECT_NE(
          said.find(" updates were skipped, as gradients were inf or NaN at a loss scale of 1: the loss is nan, and "
                    "the gradients of /predictor/W and 1 other parameter are not finite. "),
          std::string::npos)
          << said;
    }
  }
}

// FailOnNonNumber does not wait for the 32nd update, also if epochs have few updates.
TEST(Skipped, AtTheEndOfAnEpoch) {
  const auto dtype = using_config(config.dtype, mixed16);
  const SkippedTraining training(Examples([](std::int64_t) { return true; }));
  training.trainer.extend(X::FailOnNonNumber());
  const std::string said = error_of<ValueError>([&] { training.trainer.run(false); });
  EXPECT_TRUE(
      said.starts_with("FailOnNonNumber: optimizer 'main', iteration 10: SGD: the last 10 updates were skipped"))
      << said;
}

struct TwoOfOnes : Link {
  Parameter a, b;
  CT_LINKS(a, b)
  explicit TwoOfOnes(Dtype dtype)
      : a(Parameter::from_array(full({3, 4}, 1, dtype))), b(Parameter::from_array(full({5}, 1, dtype))) {}
};

/// Sets the last element of b's gradient to `value`, and updates.
void update(const Optimizer& optimizer, const TwoOfOnes& model, double value) {
  for (const Parameter& p : {model.a, model.b}) p.set_grad(full(p.shape(), 0.5, p.dtype()));
  const Array grad = model.b.grad();
  grad.set(value, 4);
  optimizer.update();
}

TEST(Skipped, AskedForByHand) {
  for (const Dtype dtype : {Dtype::float16, Dtype::float32}) {
    const TwoOfOnes model(dtype);
    const O::Adam optimizer;
    optimizer.setup(model);
    optimizer.loss_scaling();
    optimizer.check_skipped_updates();
    update(optimizer, model, std::nan(""));
    const std::string said = error_of<ValueError>([&] { optimizer.check_skipped_updates(); });
    EXPECT_TRUE(
        said.starts_with("Adam: the last update was skipped, as gradients were inf or NaN at a loss scale of 1: the "
                         "gradient of /b is not "
                         "finite. Look for"))
        << said;
    update(optimizer, model, 0.5);
    optimizer.check_skipped_updates();
    // at larger scales no skip counts, and up to seven may be skipped
    for (int i = 0; i < 20; ++i) update(optimizer, model, 0.5);
    EXPECT_EQ(optimizer.loss_scale().value(), 65504);
    for (int i = 0; i < 16 + 7; ++i) {
      update(optimizer, model, -std::numeric_limits<double>::infinity());
      optimizer.check_skipped_updates();
    }
    EXPECT_EQ(optimizer.loss_scale().value(), 1);
    update(optimizer, model, 0.5);
    update(optimizer, model, std::nan(""));
    optimizer.check_skipped_updates();
  }
}

TEST(Skipped, ReplacedGradientsAreReported) {
  const TwoOfOnes model(Dtype::float16);
  const O::SGD optimizer(0.1);
  optimizer.setup(model);
  optimizer.add_hook(optimizer_hooks::GradientHardClipping(-1, 1));
  const std::string said = error_of<ValueError>([&] {
    for (int i = 0; i < 64; ++i) update(optimizer, model, std::numeric_limits<double>::infinity());
  });
  EXPECT_NE(said.find("at a loss scale of 1: hooks have replaced the non-finite values in the gradients."),
            std::string::npos)
      << said;
}

// Without skipping, NaN reaches the weights, and FailOnNonNumber names one of them.
TEST(Skipped, WithoutAScaleThatChanges) {
  const auto dtype = using_config(config.dtype, Dtype::bfloat16);
  const SkippedTraining training(Examples([](std::int64_t i) { return i == 7; }));
  training.trainer.extend(X::FailOnNonNumber());
  const std::string said = error_of<ValueError>([&] { training.trainer.run(false); });
  EXPECT_NE(said.find("iteration 10: the model's parameter /predictor/W is not finite"), std::string::npos) << said;
}

}  // namespace
}  // namespace catenary
