// Compares powers with literal exponents that have separate rows with C's pow (NumPy's power).

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

TEST(Power, OfSpecialNumbersIsThatOfC) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> given = {-inf, -4, -1, -0.0, 0, 0.25, 1, 4, inf, nan};
  for (const Dtype dtype : testing_devices::float_dtypes()) {
    const Array x = array(given).astype(dtype);
    for (const double exponent : {0.5, 1.0, 2.0, -1.0, 3.0, -0.5, 0.0}) {
      const std::vector<double> got = power(x, exponent).to_vector<double>();
      for (std::size_t i = 0; i < given.size(); ++i) {
        const double wanted = std::pow(given[i], exponent);
        const std::string what = fmt::format("{} to the {} in {}", given[i], exponent, dtype);
        EXPECT_EQ(std::isnan(got[i]), std::isnan(wanted)) << what << ": " << got[i];
        if (std::isnan(wanted)) continue;
        EXPECT_EQ(got[i], wanted) << what;
        EXPECT_EQ(std::signbit(got[i]), std::signbit(wanted)) << what;
      }
    }
  }
}

// NumPy checks each element, so an array without elements has a result.
TEST(Power, RefusesNegativeExponentsOfElementsOnly) {
  for (const Dtype dtype : {Dtype::int8, Dtype::int64}) {
    EXPECT_THROW(power(zeros({2}, dtype), -1), ValueError);
    const Array none = power(zeros({0, 3}, dtype), -2);
    EXPECT_EQ(none.shape(), Shape({0, 3}));
    EXPECT_EQ(none.dtype(), power(zeros({0, 3}, dtype), 2).dtype());
  }
}

}  // namespace
}  // namespace catenary
