// Averages of numbers on a device.

#include "catenary/reporter/reporter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/variable.h"

namespace ct = catenary;

namespace {

TEST(Summary, OfNumbersOnTheDevice) {
  ct::Summary summary;
  const ct::Array counter = ct::full({1}, 0.0, ct::Dtype::float32);
  double sum = 0, squares = 0, weights = 0;
  for (int i = 0; i < 200; ++i) {
    counter += 1.0f;  // must not change the reported value
    const double weight = 1 + i % 3;
    if (i % 7 == 0)
      summary.add(ct::Variable(counter.astype(ct::Dtype::int32)), weight);
    else
      summary.add(ct::Variable(counter), weight);
    sum += weight * (i + 1);
    squares += weight * (i + 1) * (i + 1);
    weights += weight;
  }
  EXPECT_DOUBLE_EQ(summary.mean(), sum / weights);
  EXPECT_DOUBLE_EQ(summary.standard_deviation(), std::sqrt(squares / weights - sum * sum / weights / weights));
  const ct::Summary copy = summary;
  summary.add(ct::Variable(counter));
  EXPECT_DOUBLE_EQ(copy.mean(), sum / weights);
  EXPECT_DOUBLE_EQ(summary.mean(), (sum + 200) / (weights + 1));
}

TEST(Summary, ACopyGoesItsOwnWay) {
  ct::Summary summary;
  const ct::Array one = ct::full({}, 1.0, ct::Dtype::float32), five = one * 5.0f;
  summary.add(ct::Variable(one));
  ct::Summary copy = summary;
  copy.add(ct::Variable(five));
  summary.add(ct::Variable(one));
  EXPECT_DOUBLE_EQ(summary.mean(), 1);
  EXPECT_DOUBLE_EQ(copy.mean(), 3);
}

}  // namespace
