// A loss that is not finite ends training before it changes a weight, and the error names the examples.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "catenary/catenary.h"
#include "tests/folder.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Regression {
  L::Classifier model{L::Linear(2, 1), F::mean_squared_error};
  ct::Dataset table;
  std::vector<float> before;

  /// 150 examples, where x is infinite for those in `bad`.
  explicit Regression(const std::vector<int>& bad) {
    model.compute_accuracy = false;
    std::vector<float> x(300, 0.5f);
    for (const int i : bad) x[static_cast<std::size_t>(2 * i)] = kInfinity;
    table = ct::datasets::TupleDataset(ct::array(x, {150, 2}), ct::ones({150, 1}, ct::Dtype::float32));
    model.to_device(ct::current_device());
    before = weights();
  }
  std::vector<float> weights() const { return model.params()[0].array().to_vector<float>(); }
};

/// Trains and evaluates `test` in each epoch, and returns the error. Snapshots go to a temporary folder.
std::string train(const Regression& parts, const ct::Dataset& train, const ct::Dataset& test, bool* saved) {
  const ct::Optimizer optimizer = ct::optimizers::SGD(0.1);
  optimizer.setup(parts.model);
  const T::FiniteLoss loss(parts.model, parts.table, [](std::int64_t i) { return "row " + std::to_string(i); });
  const tests::Folder out;
  const ct::iterators::SerialIterator batches(train, train.size(), {.shuffle = false});
  const ct::iterators::SerialIterator test_batches(test, 50, {.repeat = false, .shuffle = false});
  T::Trainer trainer(T::StandardUpdater(batches, optimizer, {.loss = loss}), T::Trigger(1, "epoch"), out.path);
  trainer.extend(X::Evaluator(test_batches, parts.model, {.eval_func = loss}));
  trainer.extend(X::snapshot());
  std::string said;
  try {
    trainer.run(false);
  } catch (const ct::ValueError& e) {
    said = e.what();
  }
  *saved = ct::os::list_directory(out.path).size() > 0;
  return said;
}

TEST(FiniteLoss, NamesTheExamplesAndLeavesTheWeights) {
  const Regression parts({7, 64, 149});
  bool saved = false;
  const std::string said = train(parts, parts.table, parts.table, &saved);
  EXPECT_EQ(said.substr(said.find(',')),
            ", so no update was made; by themselves these give such a loss: row 7, row 64, row 149");
  EXPECT_EQ(parts.weights(), parts.before);
  EXPECT_FALSE(saved);
}

TEST(FiniteLoss, EvaluationToo) {
  const Regression parts({140});
  const auto [first, second] = ct::datasets::split_dataset(parts.table, 100);
  bool saved = false;
  const std::string said = train(parts, first, second, &saved);
  EXPECT_NE(said.find("such a loss: row 140"), std::string::npos) << said;
  EXPECT_NE(parts.weights(), parts.before);  // training itself succeeded
  EXPECT_FALSE(saved);
}

TEST(FiniteLoss, NumbersPass) {
  const Regression parts({});
  bool saved = false;
  EXPECT_EQ(train(parts, parts.table, parts.table, &saved), "");
  EXPECT_TRUE(saved);
  EXPECT_NE(parts.weights(), parts.before);
}

TEST(FiniteLoss, ManyAndNone) {
  std::vector<int> all(150);
  for (int i = 0; i < 150; ++i) all[static_cast<std::size_t>(i)] = i;
  const auto said_by = [](const T::FiniteLoss& loss, const ct::Dataset& table) {
    try {
      loss(ct::concat_examples(*ct::iterators::SerialIterator(table, 150, {.shuffle = false}).next(),
                               ct::current_device()));
    } catch (const ct::ValueError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  const Regression bad(all);
  const std::string many = said_by(T::FiniteLoss(bad.model, bad.table), bad.table);
  EXPECT_TRUE(many.ends_with("example 8, example 9, …")) << many;
  EXPECT_EQ(many.find("example 10"), std::string::npos);
  const Regression fine({});
  EXPECT_NE(said_by(T::FiniteLoss(fine.model, fine.table), bad.table).find("no single example has such a loss"),
            std::string::npos);
  EXPECT_EQ(said_by(T::FiniteLoss(fine.model, fine.table), fine.table), "nothing");
}

}  // namespace
