#include "catenary/functions/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "tests/autograd/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
using test::values;

TEST(Evaluation, BinaryAccuracy) {
  const Array y = array<float>({1, -1, 2, -3, 0});
  EXPECT_FLOAT_EQ(F::binary_accuracy(y, array<int>({1, 1, -1, 0, 1})).item<float>(), 0.75f);
  EXPECT_EQ(F::binary_accuracy(y, array<int>({-1, -1, -1, -1, -1})).item<float>(), 0);
  EXPECT_THROW(F::binary_accuracy(y, array<int>({1})), ShapeError);
  EXPECT_THROW(F::binary_accuracy(y, y), DtypeError);
}

TEST(Evaluation, ClassificationSummary) {
  // predicted 0 1 1 2 2 0, the last one ignored; class 3 never occurs
  const Array y = eye(3)(array<int>({0, 1, 1, 2, 2, 0})), t = array<int>({0, 1, 0, 2, 1, -1});
  const F::ClassificationSummary s = F::classification_summary(y, t, 4);
  EXPECT_EQ(values(s.support.array()), (std::vector<double>{2, 2, 1, 0}));
  const std::vector<double> precision = values(s.precision.array()), recall = values(s.recall.array());
  EXPECT_EQ(std::vector<double>(precision.begin(), precision.begin() + 3), (std::vector<double>{1, 0.5, 0.5}));
  EXPECT_EQ(std::vector<double>(recall.begin(), recall.begin() + 3), (std::vector<double>{0.5, 0.5, 1}));
  EXPECT_TRUE(std::isnan(precision[3]) && std::isnan(recall[3]));
  EXPECT_DOUBLE_EQ(values(s.fbeta.array())[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(values(F::fbeta_score(y, t, 4, 2.0).first.array())[0], 5 * 0.5 / 4.5);
  EXPECT_EQ(values(F::precision(y, t).first.array()).size(), 3u);
  EXPECT_EQ(values(F::recall(y, t).second.array()), (std::vector<double>{2, 2, 1}));
  EXPECT_DOUBLE_EQ(values(F::f1_score(y, t).first.array())[2], 2.0 / 3);
  EXPECT_THROW(F::classification_summary(y, array<int>({1})), ShapeError);
  EXPECT_THROW(F::classification_summary(y, y), DtypeError);
}

TEST(Evaluation, R2Score) {
  const Array truth = array<double>({{1, 5, 2}, {2, 5, 4}, {3, 5, 9}}),
              pred = array<double>({{1, 4, 2}, {2, 5, 5}, {4, 5, 8}});
  const std::vector<double> raw = values(F::r2_score(pred, truth, F::Multioutput::raw_values).array());
  EXPECT_DOUBLE_EQ(raw[0], 0.5);
  EXPECT_EQ(raw[1], 0);  // the truth is constant
  EXPECT_DOUBLE_EQ(raw[2], 1 - 2 / 26.0);
  EXPECT_DOUBLE_EQ(F::r2_score(pred, truth).item<double>(), (raw[0] + raw[2]) / 3);
  EXPECT_THROW(F::r2_score(pred, zeros({3})), ShapeError);
}

}  // namespace
}  // namespace catenary
