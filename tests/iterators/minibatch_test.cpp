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

}  // namespace
