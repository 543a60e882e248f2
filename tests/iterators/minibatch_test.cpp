// Tests minibatches: their parts for several devices, and the arrays made from their examples.

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/datasets/datasets.h"
#include "catenary/iterators/iterators.h"
#include "tests/texts.h"

namespace ct = catenary;

namespace {

using Ints = std::vector<int>;

std::string refusal(const ct::Minibatch& batch, const std::optional<ct::Scalar>& padding = {}) {
  return tests::error_of<ct::ValueError>([&] { ct::concat_examples(batch, {}, padding); });
}

TEST(Minibatch, PartsHaveEachExampleOnce) {
  const ct::Dataset columns = ct::datasets::DictDataset({{"x", ct::arange(7)}, {"t", ct::arange(7) * 10}});
  ct::Minibatch examples;
  examples.size = 7;
  for (int i = 0; i < 7; ++i) examples.examples.push_back({{ct::array(i), ct::array(10 * i)}, {"x", "t"}});
  for (const bool in_columns : {true, false}) {
    const ct::Minibatch whole =
        in_columns ? *ct::iterators::SerialIterator(columns, 7, {.shuffle = false}).next() : examples;
    ASSERT_EQ(whole.has_columns, in_columns);
    for (int n = 1; n <= 9; ++n) {
      for (int first = 0; first < n; ++first) {
        Ints expected;
        for (int i = first; i < 7; i += n) expected.push_back(i);
        const ct::Minibatch part = whole.every(first, n);
        EXPECT_EQ(part.size, static_cast<std::int64_t>(expected.size())) << first << " of " << n;
        if (expected.empty()) continue;
        const ct::Batch batch = ct::concat_examples(part);
        EXPECT_EQ(batch["x"].array().to_vector<int>(), expected) << first << " of " << n;
        for (int& i : expected) i *= 10;
        EXPECT_EQ(batch["t"].array().to_vector<int>(), expected) << first << " of " << n;
      }
    }
  }
}

TEST(ConcatExamples, UnequalExamplesAreRefused) {
  ct::Minibatch batch;
  EXPECT_EQ(refusal(batch), "concat_examples: the minibatch is empty");
  batch.examples = {{{ct::ones({2}), ct::ones({2})}, {}}, {{ct::ones({2}), ct::ones({3})}, {}}};
  EXPECT_EQ(refusal(batch),
            "concat_examples: column 1 has examples of shapes (2,) and (3,); give a padding value to batch them");
  for (const bool other_first : {true, false}) {
    batch.examples = {{{ct::ones({2})}, {}}, {{ct::ones({2, 1})}, {}}};
    if (other_first) std::swap(batch.examples[0], batch.examples[1]);
    EXPECT_NE(refusal(batch, 0).find("column 0 has examples of shapes"), std::string::npos) << refusal(batch, 0);
    batch.examples = {{{ct::ones({2}), ct::ones({1})}, {}}, {{ct::ones({2})}, {}}};
    if (other_first) std::swap(batch.examples[0], batch.examples[1]);
    EXPECT_EQ(refusal(batch), other_first ? "concat_examples: examples have 1 and 2 columns"
                                          : "concat_examples: examples have 2 and 1 columns");
  }
}

struct Squares {
  std::size_t size() const { return 10; }
  std::pair<float, std::int32_t> operator[](std::size_t i) const {
    return {static_cast<float>(i * i), static_cast<std::int32_t>(i)};
  }
};

TEST(Iterators, EpochsAndThreadsAndPadding) {
  const ct::iterators::SerialIterator serial(Squares(), 4, {.shuffle = false});
  const ct::iterators::MultithreadIterator threads(Squares(), 4, {.shuffle = false, .n_threads = 3});
  const std::vector<std::vector<int>> expected = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 0, 1}};
  for (const std::vector<int>& labels : expected) {
    const ct::Batch a = ct::concat_examples(*serial.next()), b = ct::concat_examples(*threads.next());
    EXPECT_EQ(a[1].array().to_vector<int>(), labels);
    EXPECT_EQ(b[1].array().to_vector<int>(), labels);
  }
  EXPECT_TRUE(serial.is_new_epoch());
  EXPECT_DOUBLE_EQ(serial.epoch_detail(), 1.2);
  const ct::iterators::SerialIterator once(Squares(), 4, {.repeat = false, .shuffle = false});
  int batches = 0;
  while (once.next()) ++batches;
  EXPECT_EQ(batches, 3);
  ct::Minibatch ragged;
  ragged.examples = {{{ct::ones({2})}, {}}, {{ct::ones({3})}, {}}};
  EXPECT_THROW(ct::concat_examples(ragged), ct::ValueError);
  EXPECT_EQ(ct::concat_examples(ragged, {}, ct::Scalar(-1))[0].array().to_vector<int>(),
            (std::vector<int>{1, 1, -1, 1, 1, 1}));
}

}  // namespace
