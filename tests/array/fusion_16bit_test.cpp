// Programs with 16-bit floats give the bits of single operations: every intermediate value is rounded.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/lazy.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"
#include "catenary/device/float64.h"

namespace catenary {
namespace {

/// Returns values of all kinds: every 7th bit pattern, with subnormal numbers, infinities and NaN.
Array patterns(Dtype dtype, unsigned seed) {
  std::vector<std::uint16_t> bits;
  for (unsigned i = 0; i < 65536; i += 7) bits.push_back(static_cast<std::uint16_t>(i));
  std::shuffle(bits.begin(), bits.end(), std::mt19937(seed));
  return Array::from_host(bits.data(), {static_cast<std::int64_t>(bits.size())}, dtype, current_device());
}

/// Returns the values of an array. All NaNs are equal.
std::vector<double> values(const Array& x) {
  std::vector<double> all = x.to_device(Device()).astype(Dtype::float64).to_vector<double>();
  for (double& v : all) v = std::isnan(v) ? 12345.678 : v == 0 ? std::copysign(1e-300, v) : v;
  return all;
}

using Formula = std::function<Array()>;

void expect_same(const char* what, const Formula& formula) {
  const std::vector<double> fused = values(formula());
  const auto off = using_config(config.fusion, false);
  const std::vector<double> apart = values(formula());
  ASSERT_EQ(fused.size(), apart.size()) << what;
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_EQ(fused[i], apart[i]) << what << ", element " << i;
}

class SixteenBits : public testing::TestWithParam<Dtype> {
 protected:
  const Array x = patterns(GetParam(), 1), y = patterns(GetParam(), 2), z = patterns(GetParam(), 3);
  const Dtype other = GetParam() == Dtype::float16 ? Dtype::bfloat16 : Dtype::float16;
};

TEST_P(SixteenBits, Chains) {
  expect_same("x * y + z", [&] { return x * y + z; });
  expect_same("(x - y) / z", [&] { return (x - y) / z * x; });
  expect_same("functions", [&] { return sqrt(absolute(x)) * y + exp(z); });
  expect_same("literals", [&] { return (x * 0.1 + 0.3) * y - 1e-6; });
  expect_same("one of the operands", [&] { return maximum(minimum(x, 0.7), -0.3) + where(x > y, 0.1, z) * x; });
  expect_same("filled", [&] {
    const Array a = x + 0;
    a.fill(0.1);
    return a * y;
  });
  expect_same("in place", [&] {
    const Array a = x + y;
    a *= z;
    a += 0.1;
    return a * a;
  });
  expect_same("written into", [&] {
    const Array a = Array::empty(x.shape(), GetParam());
    copyto(a, x * y);
    copyto(a, 0.1, a > 3);
    return a * z;
  });
}

TEST_P(SixteenBits, Casts) {
  const auto through = [&](Dtype dtype) {
    return [this, dtype] { return (x * y).astype(dtype).astype(GetParam()) + z; };
  };
  expect_same("through float32", through(Dtype::float32));
  expect_same("through the other", through(other));
  expect_same("of a float32", [&] { return (x.astype(Dtype::float32) * 1.001f).astype(GetParam()) * y; });
  expect_same("of integers", [&] { return ((x > y).astype(Dtype::int16) * 2049).astype(GetParam()) + z; });
  expect_same("into the other", [&] {
    const Array a = x.astype(other);
    a += x.astype(Dtype::float32) * 0.1f;
    return a * 3;
  });
  if (!has_float64(current_device())) return;
  expect_same("through float64", through(Dtype::float64));
  expect_same("of a float64", [&] { return (x.astype(Dtype::float64) * 1.001).astype(GetParam()) * y; });
}

// Just above the midpoint of two numbers: rounding through float32 would give the midpoint, then the even number.
TEST_P(SixteenBits, AFloat64IsRoundedOnce) {
  if (!has_float64(current_device())) return;
  const int digits = GetParam() == Dtype::float16 ? 10 : 7;
  for (const double sign : {1.0, -1.0})
    for (const int exponent : {0, -3, GetParam() == Dtype::float16 ? -14 : -126}) {
      const double unit = std::ldexp(1.0, exponent - digits), middle = std::ldexp(1.0, exponent) + unit / 2;
      const std::vector<double> wanted = {sign * middle, sign * middle * (1 + 0x1p-40), sign * middle * (1 - 0x1p-40)};
      const Array a = Array::from_host(wanted.data(), {3}, Dtype::float64, current_device());
      const Array copied = Array::empty({3}, GetParam());
      copyto(copied, a);
      const std::vector<double> expected = {sign * std::ldexp(1.0, exponent), sign * (std::ldexp(1.0, exponent) + unit),
                                            sign * std::ldexp(1.0, exponent)};
      EXPECT_EQ(a.astype(GetParam()).to_vector<double>(), expected);
      EXPECT_EQ((a + 0.0).astype(GetParam()).to_vector<double>(), expected);
      EXPECT_EQ(copied.to_vector<double>(), expected);
    }
}

TEST_P(SixteenBits, Reductions) {
  const Array rows = x(slice(0, 9000)).reshape({90, 100});
  const auto finite = [&] { return where(isfinite(rows), minimum(maximum(rows, -3), 3), 0.1); };
  expect_same("mean", [&] { return mean(finite() * 1.7); });
  expect_same("mean of rows", [&] { return mean(finite() * 1.7, 1, true) * 3 + finite(); });
  expect_same("var", [&] { return var(finite() * 0.3, 0) + 0.1; });
  expect_same("sum", [&] { return sum(finite() / 3, 1) * 0.1; });
  expect_same("max", [&] { return max(rows * 0.1, 0) * 3; });
}

// A chain of casts to 16 bits and back is one kernel.
TEST_P(SixteenBits, StayInTheProgram) {
  const Array wide = x.astype(Dtype::float32);
  wide.eval();
  const std::int64_t before = kernel_count();
  Array result = (wide * 0.5f).astype(GetParam());
  for (int i = 0; i < 5; ++i) result = ((result * y).astype(Dtype::float32) + wide).astype(GetParam());
  result.eval();
  EXPECT_EQ(kernel_count() - before, 1);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, SixteenBits, testing::Values(Dtype::float16, Dtype::bfloat16),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

// Products between two numbers, at a midpoint, subnormal and too large.
TEST(SixteenBitsByHand, EachOperationIsRounded) {
  const float x[] = {1.0009765625f, 0.333251953125f, 6.103515625e-05f, 65504, 2049, 5.9604644775390625e-08f};
  const float y[] = {1.0009765625f, 3, 0.5f, 2, 1, 0.5f};
  const float z[] = {0.00048828125f, 1e-3f, 5.9604644775390625e-08f, -65504, 1, 5.9604644775390625e-08f};
  std::vector<double> expected;
  for (std::size_t i = 0; i < 6; ++i) {
    const float16 product(float16(x[i]) * float16(y[i]));
    expected.push_back(float16(product + float16(z[i])));
  }
  const auto half = [](const float* v) {
    return Array::from_host(v, {6}, Dtype::float32).to_device(current_device()).astype(Dtype::float16);
  };
  EXPECT_EQ((half(x) * half(y) + half(z)).astype(Dtype::float32).to_vector<double>(), expected);
}

}  // namespace
}  // namespace catenary
