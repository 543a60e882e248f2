// Updates of parameters leave no subnormal numbers behind, and nothing else is changed by that.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/lazy.h"

namespace catenary {
namespace {

constexpr std::int64_t kSize = 200000;  // enough for several threads

void halve(const std::vector<Array>& arrays) { arrays[0] *= 0.5f; }

#if defined(__x86_64__)
TEST(Subnormals, AreZeroAfterAnUpdate) {
  const Array m = full({kSize}, 1.5e-38, Dtype::float32);
  lazy::for_each_segment({{m}}, halve);
  EXPECT_EQ(m.to_vector<float>(), std::vector<float>(kSize, 0.0f));
}
#endif

TEST(Subnormals, AreKeptByAllOtherWork) {
  const Array other = full({kSize}, 1.5e-38, Dtype::float32);
  lazy::for_each_segment({{full({kSize}, 1.5e-38, Dtype::float32)}}, halve);
  const Array half = other * 0.5f;
  EXPECT_EQ(half.to_vector<float>(), std::vector<float>(kSize, 1.5e-38f * 0.5f));
  volatile float here = 1.5e-38f;
  EXPECT_GT(here * 0.5f, 0.0f);
}

// Small numbers of a float16, 2^-24 to 2^-14, are subnormal there but not in the registers.
TEST(Subnormals, OfFloat16Stay) {
  const Array m = full({kSize}, std::ldexp(1.0, -20), Dtype::float16);
  lazy::for_each_segment({{m}}, halve);
  EXPECT_EQ(m.astype(Dtype::float64).to_vector<double>(), std::vector<double>(kSize, std::ldexp(1.0, -21)));
}

}  // namespace
}  // namespace catenary
