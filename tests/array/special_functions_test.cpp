// Special functions as array functions: dtypes, shapes and errors, also of three operands.

#include <cmath>

#include "catenary/array/elementwise.h"
#include "catenary/core/error.h"
#include "tests/array/expect.h"

namespace ct = catenary;

namespace {

using namespace testing_arrays;

TEST(SpecialFunctions, DtypesAndShapes) {
  expect_array(ct::j0(make<int>({0, 1})), {1, 0.76519768655796655}, {2}, Dtype::float64, 1e-15);
  expect_array(ct::gamma(make<float>({4, 0.5F})), {6, std::sqrt(std::acos(-1.0))}, {2}, Dtype::float32, 1e-6);
  EXPECT_EQ(ct::expi(make<std::int8_t>({1})).dtype(), Dtype::float16);
  EXPECT_EQ(ct::gammainc(make<float>({1, 2}), make<double>({1})).dtype(), Dtype::float64);
  EXPECT_EQ(ct::erf(ct::sine_integral(Array::empty({0, 3}, Dtype::float32))).shape(), (Shape{0, 3}));
}

TEST(SpecialFunctions, OfThreeOperands) {
  // I_x(a, 1) = x^a
  const Array a = make<double>({1, 2, 3}), x = make<double>({0.25, 0.5}, {2, 1});
  expect_array(ct::betainc(a, 1, x), {0.25, 0.0625, 0.015625, 0.5, 0.25, 0.125}, {2, 3}, Dtype::float64, 1e-14);
  expect_array(ct::log2(ct::betainc(a * 2, 1.0, 0.5) * 2), {-1, -3, -5}, {3}, Dtype::float64, 1e-13);
  expect_array(ct::betainc(a.astype(Dtype::float32), 1, 0.5), {0.5, 0.25, 0.125}, {3}, Dtype::float32, 1e-5);
  EXPECT_EQ(ct::betainc(1, 1, a.astype(Dtype::float16)).dtype(), Dtype::float16);
  EXPECT_EQ(ct::betainc(1, a.astype(Dtype::int16), 0.5).dtype(), Dtype::float32);
  EXPECT_EQ(ct::betainc(1, a.astype(Dtype::int32), 0.5).dtype(), Dtype::float64);
  EXPECT_NEAR(ct::betainc(1, 2, 0.5).item<double>(), 0.75, 1e-14);
  EXPECT_EQ(ct::bdtr(Array::empty({0, 2}, Dtype::float64), 3, 0.5).shape(), (Shape{0, 2}));
}

TEST(SpecialFunctions, RefusedOperands) {
  EXPECT_THROW(ct::betainc(make<float>({1}).astype(Dtype::complex64), 1, 0.5), ct::DtypeError);
  EXPECT_THROW(ct::betainc(make<float>({1, 2}), make<float>({1, 2, 3}), 0.5), ct::ShapeError);
  EXPECT_THROW(ct::gamma(make<float>({1}).astype(Dtype::complex64)), ct::DtypeError);
}

}  // namespace
