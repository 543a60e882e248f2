// Derivatives and phase unwrapping. The tests of reductions cover other differences.

#include "catenary/array/differences.h"

#include <numbers>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

TEST(Gradient, OfAParabolaIsExactWithSecondOrderEnds) {
  for (const std::vector<double>& places : {std::vector<double>{0, 1, 2, 3, 4}, {-1, 0, 0.5, 3, 4}, {0, 2, 4, 6, 8}}) {
    const Array x = make(places), f = x * x - x * 3;
    std::vector<double> slopes;
    for (double at : places) slopes.push_back(2 * at - 3);
    expect_array(ct::gradient(f, {x}, {}, 2)[0], slopes, {5}, Dtype::float64, 1e-12);
    // first order at the ends
    const Array rough = ct::gradient(f, {x})[0];
    expect_array(rough(ct::slice(1, 4)), {slopes[1], slopes[2], slopes[3]}, {3}, Dtype::float64, 1e-12);
    expect_array(rough(0), {places[0] + places[1] - 3}, {}, Dtype::float64, 1e-12);
    expect_array(rough(-1), {places[3] + places[4] - 3}, {}, Dtype::float64, 1e-12);
  }
}

TEST(Gradient, AlongAxesWithTheirOwnDistances) {
  const Array f = make<int>({1, 2, 6, 3, 4, 5}, {2, 3});
  const std::vector<Array> both = ct::gradient(f);
  ASSERT_EQ(both.size(), 2u);
  expect_array(both[0], {2, 2, -1, 2, 2, -1}, {2, 3}, Dtype::float64);
  expect_array(both[1], {1, 2.5, 4, 1, 1, 1}, {2, 3}, Dtype::float64);
  expect_array(ct::gradient(f.astype(Dtype::float32).T(), {ct::array(2.0)}, 0)[0], {0.5, 0.5, 1.25, 0.5, 2, 0.5},
               {3, 2}, Dtype::float32);
  const std::vector<Array> each = ct::gradient(f, {ct::array(0.5f), make<int>({0, 1, 3})}, ct::AxisArg({0, -1}));
  expect_array(each[0], {4, 4, -2, 4, 4, -2}, {2, 3}, Dtype::float64);
  expect_array(each[1], {1, 4.0 / 3, 2, 1, 5.0 / 6, 0.5}, {2, 3}, Dtype::float64, 1e-12);
  const Array infinite = make<double>({0, INFINITY, 1, 2, 4});
  expect_array(ct::gradient(infinite)[0], {INFINITY, 0.5, -INFINITY, 1.5, 2}, {5}, Dtype::float64);
}

TEST(Gradient, RefusesWhatHasNoDerivative) {
  const Array f = make<double>({1, 2, 3, 4}, {2, 2});
  EXPECT_THROW(ct::gradient(f, {}, {}, 3), ct::ValueError);
  EXPECT_THROW(ct::gradient(f, {}, {}, 2), ct::ShapeError);
  EXPECT_THROW(ct::gradient(f, {f, f}), ct::ShapeError);
  EXPECT_THROW(ct::gradient(f, {make<double>({1, 2, 3})}, 0), ct::ShapeError);
  EXPECT_THROW(ct::gradient(f, {make<double>({1, 2})}), ct::DtypeError);
  EXPECT_THROW(ct::gradient(f.astype(Dtype::bool_)), ct::DtypeError);
  EXPECT_THROW(ct::gradient(f, {}, 2), ct::ShapeError);
}

TEST(Unwrap, StepsAreAtMostHalfAPeriod) {
  const double turn = 2 * std::numbers::pi;
  expect_array(ct::unwrap(make<double>({0, 3, 6, 9 - turn, 12 - turn})), {0, 3, 6, 9, 12}, {5}, Dtype::float64, 1e-12);
  expect_array(ct::unwrap(make<double>({0, 5, 0, 4}, {2, 2}), 6.0), {0, 5, 0, 4}, {2, 2}, Dtype::float64);
  // a step of half a period keeps its sign
  expect_array(ct::unwrap(make<int>({0, 2, 4, 1}), {}, -1, 4), {0, 2, 4, 5}, {4}, Dtype::int32);
  expect_array(ct::unwrap(make<int>({0, 3, 1, 4}, {4, 1}), {}, 0, 5), {0, -2, -4, -6}, {4, 1}, Dtype::int32);
  EXPECT_EQ(ct::unwrap(Array::empty({0}, Dtype::float32)).size(), 0);
  EXPECT_THROW(ct::unwrap(make<int>({1}), {}, 0, make<int>({1})), ct::DtypeError);
}

}  // namespace
