// Means over a dataset whose last minibatch is smaller, and over an empty one.

#include "catenary/training/extensions/evaluator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "catenary/catenary.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;
namespace X = training::extensions;
using tests::error_of;

/// Reports the mean of its input.
struct Mean : Chain {
  Parameter unused{initializers::Constant(0), {1}};
  CT_LINKS(unused)
  Variable operator()(const Variable& x) {
    report({{"value", F::mean(x)}}, *this);
    return x;
  }
};

std::vector<float> right_and_wrong(int right, int wrong) {
  std::vector<float> all(static_cast<std::size_t>(right), 1.0f);
  all.resize(static_cast<std::size_t>(right + wrong), 0.0f);
  return all;
}

double mean_of(const Iterator& iterator, const X::EvaluatorOptions& options = {}) {
  const auto means = X::Evaluator(iterator, Mean(), options)();
  EXPECT_EQ(means.size(), 1u);
  EXPECT_EQ(means[0].first, "main/value");
  return means[0].second;
}

TEST(Evaluator, WeighsBatchesByTheirExamples) {
  const std::vector<float> numbers = right_and_wrong(32, 8);
  const iterators::SerialIterator batches(numbers, 32, {.repeat = false, .shuffle = false});
  EXPECT_DOUBLE_EQ(mean_of(batches), 32.0 / 40);
  EXPECT_DOUBLE_EQ(mean_of(batches, {.weigh_batches_equally = true}), (1.0 + 0.0) / 2);
  for (const int size : {1, 7, 32, 39, 40, 64}) {
    const iterators::MultithreadIterator others(numbers, size, {.repeat = false, .shuffle = true});
    EXPECT_NEAR(mean_of(others), 32.0 / 40, 1e-7) << size;
  }
}

/// Returns minibatches of 3 and of 1 examples, without setting their size.
class Uneven final : public iterators::IteratorBase {
 public:
  explicit Uneven(bool columns) : columns_(columns) {}
  std::optional<Minibatch> next() override {
    if (given_ == 2) return std::nullopt;
    const int n = given_++ == 0 ? 3 : 1;
    const float value = n == 3 ? 1.0f : 5.0f;
    Minibatch batch;
    if (columns_) {
      batch.has_columns = true;
      batch.columns.values = {full({n}, value, Dtype::float32)};
    } else {
      for (int i = 0; i < n; ++i) batch.examples.push_back({{full({}, value, Dtype::float32)}, {}});
    }
    return batch;
  }
  std::int64_t epoch() const override { return 0; }
  bool is_new_epoch() const override { return false; }
  double epoch_detail() const override { return 0; }
  std::optional<double> previous_epoch_detail() const override { return std::nullopt; }
  bool repeat() const override { return false; }
  std::int64_t batch_size() const override { return 3; }
  const Dataset& dataset() const override { return dataset_; }
  void reset() override { given_ = 0; }
  void serialize(Serializer&) override {}

 private:
  bool columns_;
  int given_ = 0;
  Dataset dataset_;
};

TEST(Evaluator, CountsExamplesOfIteratorsThatDoNot) {
  for (const bool columns : {false, true})
    EXPECT_DOUBLE_EQ(mean_of(Iterator(std::make_shared<Uneven>(columns))), (3 * 1.0 + 5.0) / 4);
}

TEST(Evaluator, OfNoExamplesHasNoValues) {
  for (const bool shuffle : {false, true}) {
    const iterators::SerialIterator none(std::vector<float>(), 4, {.repeat = false, .shuffle = shuffle});
    EXPECT_FALSE(none.next());
    EXPECT_EQ(none.epoch_detail(), 0);
    EXPECT_TRUE(X::Evaluator(none, Mean())().empty());
    const iterators::MultithreadIterator also(std::vector<float>(), 4, {.repeat = false, .shuffle = shuffle});
    EXPECT_FALSE(also.next());
    EXPECT_TRUE(X::Evaluator(also, Mean())().empty());
  }
  EXPECT_EQ(error_of<ValueError>([] { iterators::SerialIterator(std::vector<float>(), 4); }),
            "iterator: the dataset has no examples");
}

TEST(Batch, TellsColumnsFromExamples) {
  const Batch batch({Variable(zeros({5, 3}, Dtype::float32)), Variable(zeros({5}, Dtype::int32), false)});
  EXPECT_EQ(batch.columns(), 2);
  EXPECT_EQ(batch.examples(), 5);
  EXPECT_EQ(error_of<ValueError>([] { Batch().examples(); }), "Batch: examples(): the batch has no columns");
  EXPECT_EQ(error_of<ValueError>([] { Batch({Variable(zeros({}, Dtype::float32))}).examples(); }),
            "Batch: examples(): the first column is 0-d, where the first axis is expected to be the examples'");
}

}  // namespace
}  // namespace catenary
