#include "catenary/array/reduction.h"

#include <cmath>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/differences.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/sorting.h"
#include "catenary/device/float64.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

Array table() { return make<float>({1, 2, 3, 4, 5, 6}, {2, 3}); }

// Rows of few and many elements, compared with element-by-element sums: values in memory, and values computed with an
// operand that repeats in each row.
TEST(Reduction, OverRowsOfAnyLength) {
  for (const std::int64_t columns : {1, 3, 16, 255, 300, 513, 1024, 1025, 2100}) {
    for (const std::int64_t rows : {1, 7, 700}) {
      const Array x = ct::remainder(ct::arange(rows * columns), 17).astype(Dtype::float32).reshape({rows, columns});
      const Array m = ct::arange(columns).astype(Dtype::float32);
      const Array columns_as_rows = x.T().copy();
      EXPECT_EQ(ct::sum(x, 0).to_vector<float>(), ct::sum(columns_as_rows, 1).to_vector<float>());
      const Array whole = (columns_as_rows - m.reshape({-1, 1}).broadcast_to({columns, rows}).copy()).eval();
      EXPECT_EQ(ct::sum(x - m, 0).to_vector<float>(), ct::sum(whole, 1).to_vector<float>()) << columns << " " << rows;
      EXPECT_EQ((x - m).to_vector<float>(), whole.T().to_vector<float>()) << columns << " " << rows;
      const Array three = ct::stack({x, x + 1, x * 2});
      EXPECT_EQ(ct::sum(three, 1)[2].to_vector<float>(), ct::sum(columns_as_rows * 2, 1).to_vector<float>());
      EXPECT_EQ(ct::sum(three - m, {0, 1}).to_vector<float>(),
                ct::sum(columns_as_rows * 4 + 1 - m.reshape({-1, 1}) * 3, 1).to_vector<float>());
    }
  }
}

TEST(Reduction, SumOverAxes) {
  expect_array(ct::sum(table()), {21}, {}, Dtype::float32);
  expect_array(ct::sum(table(), 0), {5, 7, 9}, {3}, Dtype::float32);
  expect_array(ct::sum(table(), -1, true), {6, 15}, {2, 1}, Dtype::float32);
  expect_array(ct::sum(table().T(), {0, 1}, true), {21}, {1, 1}, Dtype::float32);
  expect_array(ct::sum(table(), ct::Axes{}), {1, 2, 3, 4, 5, 6}, {2, 3}, Dtype::float32);
  expect_array(table().sum(1), {6, 15}, {2}, Dtype::float32);
  EXPECT_THROW(ct::sum(table(), 2), ct::ShapeError);
  EXPECT_THROW(ct::sum(table(), {0, 0}), ct::ShapeError);
  EXPECT_THROW(ct::sum(table(), {0, -2}), ct::ShapeError);
}

// A broadcast operand prevents merging axes, even if all axes are reduced.
TEST(Reduction, OfBroadcastTermsOverEverything) {
  for (const std::int64_t columns : {5, 600, 1500}) {
    const Array x = ct::arange(4 * columns).reshape({4, columns}), row = ct::arange(columns).astype(Dtype::float64);
    const double n = static_cast<double>(columns);
    expect_array(ct::sum(x - row), {6 * n * n}, {}, Dtype::float64, 1e-13);
    expect_array(ct::max(x - row, {0, 1}, true), {3 * n}, {1, 1}, Dtype::float64);
    expect_array(ct::max(x - x(ct::slice(), ct::slice(1))), {n - 1}, {}, Dtype::int64);
  }
}

TEST(Reduction, ResultDtypes) {
  const Array small = make<std::int8_t>({100, 100, 100}), bits = make<std::uint16_t>({65535, 2});
  expect_array(ct::sum(small), {300}, {}, Dtype::int64);
  expect_array(ct::prod(bits), {131070}, {}, Dtype::uint64);
  expect_array(ct::sum(small, {}, false, Dtype::int8), {44}, {}, Dtype::int8);
  expect_array(ct::sum(ct::greater(small, 99)), {3}, {}, Dtype::int64);
  expect_array(ct::mean(small), {100}, {}, Dtype::float64);
  expect_array(ct::mean(small, {}, false, Dtype::float32), {100}, {}, Dtype::float32);
  EXPECT_THROW(ct::mean(small, {}, false, Dtype::int32), ct::DtypeError);
  expect_array(ct::max(small), {100}, {}, Dtype::int8);
  // The sum of 4096 ones is representable in float16, but adding in float16 would stop at 2048.
  const Array ones = Array::empty({4096}, Dtype::float16);
  ones.fill(1);
  expect_array(ct::sum(ones), {4096}, {}, Dtype::float16);
  expect_array(ct::mean(ones * 60000), {59968 + 32}, {}, Dtype::float16);
}

TEST(Reduction, OverNothing) {
  const Array none = Array::empty({0, 3}, Dtype::float32);
  expect_array(ct::sum(none, 0), {0, 0, 0}, {3}, Dtype::float32);
  expect_array(ct::prod(none, 0), {1, 1, 1}, {3}, Dtype::float32);
  expect_array(ct::mean(none, 0), {kNan, kNan, kNan}, {3}, Dtype::float32);
  expect_array(ct::any(none), {0}, {}, Dtype::bool_);
  expect_array(ct::all(none), {1}, {}, Dtype::bool_);
  expect_array(ct::sum(none, 1), {}, {0}, Dtype::float32);
  expect_array(ct::max(none, 1), {}, {0}, Dtype::float32);
  EXPECT_THROW(ct::max(none), ct::ValueError);
  EXPECT_THROW(ct::min(none, 0), ct::ValueError);
  EXPECT_THROW(ct::argmax(none), ct::ValueError);
  EXPECT_THROW(ct::argmin(none, 0), ct::ValueError);
  expect_array(ct::argmax(none, 1), {}, {0}, Dtype::int64);
}

TEST(Reduction, Spread) {
  expect_array(ct::var(table(), 0), {2.25, 2.25, 2.25}, {3}, Dtype::float32);
  expect_array(ct::var(table(), 1, true, 1), {1, 1}, {2, 1}, Dtype::float32);
  expect_array(ct::std(table()), {std::sqrt(35.0 / 12)}, {}, Dtype::float32, 1e-6);
  expect_array(ct::std(table().astype(Dtype::int32)), {std::sqrt(35.0 / 12)}, {}, Dtype::float64, 1e-15);
  expect_array(ct::var(table(), 0, false, 2), {kInf, kInf, kInf}, {3}, Dtype::float32);
  expect_array(ct::ptp(table(), 1), {2, 2}, {2}, Dtype::float32);
}

TEST(Reduction, ExtremaAndNan) {
  const Array x = make<double>({1, kNan, 3, 4, 6, 5}, {2, 3});
  expect_array(ct::max(x, 1), {kNan, 6}, {2}, Dtype::float64);
  expect_array(ct::min(x, 0), {1, kNan, 3}, {3}, Dtype::float64);
  expect_array(ct::argmax(x, 1), {1, 1}, {2}, Dtype::int64);
  expect_array(ct::argmin(x), {1}, {}, Dtype::int64);
  expect_array(ct::argmin(x, 0, true), {0, 0, 0}, {1, 3}, Dtype::int64);
  expect_array(ct::argmax(make<int>({3, 7, 7, 1}), {}, true), {1}, {1}, Dtype::int64);
  expect_array(ct::argmax(x.T(), 0), {1, 1}, {2}, Dtype::int64);
  expect_array(ct::nansum(x, 1), {4, 15}, {2}, Dtype::float64);
  expect_array(ct::nanprod(x), {360}, {}, Dtype::float64);
  expect_array(ct::nanmean(x, 1), {2, 5}, {2}, Dtype::float64);
  expect_array(ct::nanmax(x, 1, true), {3, 6}, {2, 1}, Dtype::float64);
  expect_array(ct::nanmin(x, 0), {1, 6, 3}, {3}, Dtype::float64);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Array infinite = ct::array({{-kInf, kNan}, {kNan, kNan}, {1.0, -kInf}, {kInf, kNan}}, Dtype::float64);
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const Array y = infinite.astype(dtype);
    expect_array(ct::nanmax(y, 1), {-kInf, kNan, 1, kInf}, {4}, dtype);
    expect_array(ct::nanmin(y, 1), {-kInf, kNan, -kInf, kInf}, {4}, dtype);
    expect_array(ct::nanmax(y.T(), 1), {kInf, -kInf}, {2}, dtype);
  }
  expect_array(ct::nanvar(x, 1), {1, 2.0 / 3}, {2}, Dtype::float64, 1e-15);
  expect_array(ct::nanstd(x, 1), {1, std::sqrt(2.0 / 3)}, {2}, Dtype::float64, 1e-15);
  const Array nothing = make<float>({static_cast<float>(kNan)});
  expect_array(ct::nanmax(nothing), {kNan}, {}, Dtype::float32);
  expect_array(ct::nanmean(nothing), {kNan}, {}, Dtype::float32);
  expect_array(ct::nansum(nothing), {0}, {}, Dtype::float32);
}

/// Computes argmax or argmin along an axis of a 3-d array, element by element.
std::vector<std::int64_t> plain_arg(const Array& x, bool largest, int axis) {
  const Array rows = ct::moveaxis(x, axis, 2);
  const std::vector<double> values = rows.to_vector<double>();
  const std::size_t n = static_cast<std::size_t>(rows.shape(2));
  std::vector<std::int64_t> result;
  for (std::size_t first = 0; first < values.size(); first += n) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < n; ++i) {
      const double old = values[first + best], now = values[first + i];
      if (std::isnan(old)) break;
      if (std::isnan(now) || (largest ? now > old : now < old)) best = i;
    }
    result.push_back(static_cast<std::int64_t>(best));
  }
  return result;
}

TEST(Reduction, ArgExtremaOfEveryLayoutAndDtype) {
  // short and long rows, parts of a row for several threads, few and many columns, more than a tile
  const std::vector<Shape> shapes = {{2, 3, 5}, {3, 60, 7}, {2, 5, 600}, {1, 700, 9}, {1, 60, 520}, {1, 1, 66000}};
  for (const Shape& shape : shapes) {
    const Array numbers = (ct::arange(shape.product()) * 7919 % 101).reshape(shape);
    for (const Dtype dtype : {Dtype::bool_, Dtype::int8, Dtype::uint16, Dtype::int32, Dtype::uint32, Dtype::int64,
                              Dtype::uint64, Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
      const bool few = dtype == Dtype::bool_ || dtype == Dtype::float16 || dtype == Dtype::float32;
      if (shape.product() > 10000 && !few) continue;
      const Array x = numbers.astype(dtype);
      for (const Array& a : {x, ct::flip(x), x.transpose({2, 0, 1}), x(ct::slice(), ct::slice(ct::none, ct::none, 2))})
        for (int axis = 0; axis < 3; ++axis)
          for (const bool largest : {true, false})
            ASSERT_EQ((largest ? ct::argmax(a, axis) : ct::argmin(a, axis)).to_vector<std::int64_t>(),
                      plain_arg(a, largest, axis))
                << ct::dtype_name(dtype) << " " << a.shape().str() << " axis " << axis << (largest ? " max" : " min");
    }
  }
}

TEST(Reduction, ArgExtremaOfNanInfinityAndZeros) {
  for (const std::int64_t n : {5, 40, 300, 1000, 140000}) {
    const Array x = ct::zeros({n, 9}, Dtype::float32);
    x.set(-0.0, n / 2);
    EXPECT_EQ(ct::argmin(x, 0).to_vector<int>(), std::vector<int>(9, 0));  // both zeros are equal
    x.set(-kInf, ct::slice());
    EXPECT_EQ(ct::argmax(x, 0).to_vector<int>(), std::vector<int>(9, 0));
    x.set(kNan, n - 1, 3);
    x.set(kNan, n - 2, 3);
    x.set(kInf, 1, 3);
    for (const bool largest : {true, false}) {
      const auto arg = largest ? ct::argmax : ct::argmin;
      EXPECT_EQ(arg(x, 0, false)(3).item<std::int64_t>(), n - 2) << n;             // columns
      EXPECT_EQ(arg(x.T().copy(), 1, false)(3).item<std::int64_t>(), n - 2) << n;  // rows
      EXPECT_EQ(arg(x(ct::slice(), 3), {}, false).item<std::int64_t>(), n - 2) << n;
    }
  }
  // the first NaN among parts of a row for several threads, whatever follows it
  const Array row = ct::zeros({200000}, Dtype::float32);
  row.set(kNan, 10);
  row.set(kNan, 140000);
  row.set(kInf, 199999);
  EXPECT_EQ(ct::argmax(row).item<std::int64_t>(), 10);
  row.set(-kInf, 199999);
  EXPECT_EQ(ct::argmin(row).item<std::int64_t>(), 10);
  const Array big = ct::full({3}, 5, Dtype::uint64);
  big.set(ct::full({}, 1, Dtype::uint64) << 63, 1);
  EXPECT_EQ(ct::argmax(big).item<int>(), 1);
}

TEST(Reduction, ExtremaOfNanInfinityAndZeros) {
  const std::vector<Dtype> dtypes = {Dtype::float16, Dtype::bfloat16, Dtype::float32,
                                     ct::widest_float(ct::current_device())};
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>(3, 5), {8, 70}, {19, 300}, {700, 9}, {70, 1100}}) {
    for (const Dtype dtype : dtypes) {
      const Array numbers = (ct::arange(rows * columns) * 7919 % 101 - 50).reshape({rows, columns}).astype(dtype);
      const Array x = numbers.copy();
      x.set(kNan, rows - 1, 1);
      x.set(kNan, 0, columns - 1);
      x.set(-kInf, ct::slice(), 0);
      for (const Array& a : {x, x.T().copy().T(), ct::flip(x)}) {
        for (const int axis : {0, 1}) {
          for (const bool largest : {true, false}) {
            const Array lines = axis == 0 ? a.T() : a;
            const std::vector<double> all = lines.to_vector<double>();
            const std::vector<double> found = (largest ? ct::max(a, axis) : ct::min(a, axis)).to_vector<double>();
            const std::size_t n = static_cast<std::size_t>(lines.shape(1));
            for (std::size_t k = 0; k < found.size(); ++k) {
              double expected = all[k * n];
              for (std::size_t i = 1; i < n; ++i) {
                const double next = all[k * n + i];
                if (std::isnan(expected)) break;
                expected = std::isnan(next) || (largest ? next > expected : next < expected) ? next : expected;
              }
              ASSERT_TRUE(std::isnan(expected) ? std::isnan(found[k]) : found[k] == expected)
                  << ct::dtype_name(dtype) << " " << a.shape().str() << " axis " << axis << " at " << k;
            }
          }
        }
      }
    }
  }
  expect_array(ct::max(ct::full({9, 3}, -kInf, Dtype::float32), 0), {-kInf, -kInf, -kInf}, {3}, Dtype::float32);
}

// Bools are added up in bytes, so more than 255 rows and 255 * 64 elements of a row matter.
TEST(Reduction, CountsOfManyBools) {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>(1, 7), {600, 3}, {300, 70}, {3, 20000}, {520, 300}}) {
    const Array x = (ct::arange(rows * columns) * 7919 % 101).reshape({rows, columns});
    for (const Array& numbers : {x, x.T().copy().T(), ct::flip(x)}) {
      const Array truth = (numbers < 90).eval(), ones = truth.astype(Dtype::int64).eval();
      for (const ct::AxisArg& axis : {ct::AxisArg(), ct::AxisArg(0), ct::AxisArg(1)}) {
        EXPECT_EQ(ct::count_nonzero(truth, axis).to_vector<std::int64_t>(),
                  ct::sum(ones, axis).to_vector<std::int64_t>());
        EXPECT_EQ(ct::count_nonzero(numbers < 90, axis).to_vector<std::int64_t>(),
                  ct::sum(ones, axis).to_vector<std::int64_t>());
      }
      EXPECT_EQ(ct::sum(truth).item<std::int64_t>(), ct::sum(ones).item<std::int64_t>());
    }
  }
  EXPECT_EQ(ct::count_nonzero(ct::full({70000}, true, Dtype::bool_)).item<std::int64_t>(), 70000);
}

TEST(Reduction, Truth) {
  const Array x = make<double>({0, kNan, 0, 0, 1, -2}, {2, 3});
  expect_array(ct::any(x, 0), {0, 1, 1}, {3}, Dtype::bool_);
  expect_array(ct::all(x, 0), {0, 1, 0}, {3}, Dtype::bool_);
  expect_array(ct::count_nonzero(x, 1), {1, 2}, {2}, Dtype::int64);
  EXPECT_TRUE(x.any());
  EXPECT_FALSE(x.all());
  const Array few = make<int>({2, 0, 2, 0, 4, 0}, {3, 2});
  expect_array(few.sum(0, false, Dtype::bool_), {1, 0}, {2}, Dtype::bool_);
  expect_array(few.prod(1, false, Dtype::bool_), {0, 0, 0}, {3}, Dtype::bool_);
}

TEST(Reduction, LogSumExpDoesNotOverflow) {
  expect_array(ct::logsumexp(make<double>({1000, 1000, -kInf, -kInf}, {2, 2}), 1), {1000 + std::log(2), -kInf}, {2},
               Dtype::float64, 1e-15);
  expect_array(ct::logsumexp(make<double>({kInf, 1})), {kInf}, {}, Dtype::float64);
}

TEST(Reduction, Average) {
  const Array w = make<double>({1, 3});
  expect_array(ct::average(table(), 0, w), {3.25, 4.25, 5.25}, {3}, Dtype::float64);
  expect_array(ct::average(table()), {3.5}, {}, Dtype::float32);
  EXPECT_THROW(ct::average(table(), 1, w), ct::ShapeError);
  EXPECT_THROW(ct::average(table(), 0, w * 0), ct::ValueError);
}

TEST(Reduction, Scans) {
  expect_array(ct::cumsum(table()), {1, 3, 6, 10, 15, 21}, {6}, Dtype::float32);
  expect_array(ct::cumsum(table().T(), 1), {1, 5, 2, 7, 3, 9}, {3, 2}, Dtype::float32);
  expect_array(ct::cumprod(make<std::int8_t>({100, 2, 3})), {100, 200, 600}, {3}, Dtype::int64);
  expect_array(ct::cumsum(Array::empty({0}, Dtype::bool_)), {}, {0}, Dtype::int64);
  expect_array(ct::diff(make<int>({1, 4, 9, 16}), 2), {2, 2}, {2}, Dtype::int32);
  expect_array(ct::diff(table(), 1, 0), {3, 3, 3}, {1, 3}, Dtype::float32);
  expect_array(ct::diff(ct::greater(table(), 2), 1, 1), {0, 1, 0, 0}, {2, 2}, Dtype::bool_);
  expect_array(ct::diff(make<int>({1})), {}, {0}, Dtype::int32);
  EXPECT_THROW(ct::diff(table(), -1), ct::ValueError);
  expect_array(ct::diff(make<int>({1, 4, 9}), 1, -1, 0, make<int>({16, 25})), {1, 3, 5, 7, 9}, {5}, Dtype::int32);
  expect_array(ct::diff(table(), 1, 0, make<double>({1}, {})), {0, 1, 2, 3, 3, 3}, {2, 3}, Dtype::float64);
  expect_array(ct::diff(make<int>({1, 4}), 0, -1, 0), {1, 4}, {2}, Dtype::int32);
  EXPECT_THROW(ct::diff(table(), 1, 0, make<float>({1, 2})), ct::ShapeError);
  expect_array(ct::cumulative_sum(table(), -1, {}, true), {0, 1, 3, 6, 0, 4, 9, 15}, {2, 4}, Dtype::float32);
  expect_array(ct::cumulative_prod(make<double>({1.5, 2}), {}, {}, true), {1, 1.5, 3}, {3}, Dtype::float64);
  expect_array(ct::cumulative_sum(make<int>({1, 2}), {}, Dtype::float32), {1, 3}, {2}, Dtype::float32);
  expect_array(ct::cumulative_prod(make<int>({3, 0, 2}), {}, Dtype::bool_, true), {1, 1, 0, 0}, {4}, Dtype::bool_);
  expect_array(ct::cumulative_sum(make<int>({3}, {}), {}, {}, true), {0, 3}, {2}, Dtype::int64);
  EXPECT_THROW(ct::cumulative_prod(table()), ct::ValueError);
  EXPECT_THROW(ct::cumsum(table(), 2), ct::ShapeError);
}

TEST(Reduction, Members) {
  const Array x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  expect_array(x.prod(0), {4, 10, 18}, {3}, Dtype::float32);
  expect_array(x.var(1, true), ct::var(x, 1).to_vector<double>(), {2, 1}, Dtype::float32);
  expect_array(x.std({}, false, 1), ct::std(x, {}, false, 1).to_vector<double>(), {}, Dtype::float32);
  expect_array(x.sum(0, false, Dtype::int32), {5, 7, 9}, {3}, Dtype::int32);
  expect_array(x.mean(1, true), {2, 5}, {2, 1}, Dtype::float32);
  expect_array(x.argmax(1, true), {2, 2}, {2, 1}, Dtype::int64);
  expect_array(x.cumsum(0), {1, 2, 3, 5, 7, 9}, {2, 3}, Dtype::float32);
  expect_array(x.cumprod(), {1, 2, 6, 24, 120, 720}, {6}, Dtype::float32);
  expect_array((x > 2).any(0), {1, 1, 1}, {3}, Dtype::bool_);
  expect_array((x > 2).all(1, true), {0, 1}, {2, 1}, Dtype::bool_);
  EXPECT_TRUE((x > 2).any());
  EXPECT_FALSE((x > 2).all());
}

TEST(Reduction, WithoutWhatIsNotANumber) {
  const Array x = make<float>({kNan, 2, 1, 3, kNan, static_cast<float>(-kInf)}, {2, 3});
  expect_array(ct::nanargmax(x), {3}, {}, Dtype::int64);
  expect_array(ct::nanargmin(x, 1), {2, 2}, {2}, Dtype::int64);
  expect_array(ct::nanargmax(x, 0, true), {1, 0, 0}, {1, 3}, Dtype::int64);
  expect_array(ct::nanargmax(make<int>({1, 3, 2})), {1}, {}, Dtype::int64);
  expect_array(ct::nancumsum(x, 1), {0, 2, 3, 3, 3, -kInf}, {2, 3}, Dtype::float32);
  expect_array(ct::nancumprod(x, 0), {1, 2, 1, 3, 2, -kInf}, {2, 3}, Dtype::float32);
  EXPECT_THROW(ct::nanargmax(make<float>({1, kNan, 2, kNan}, {2, 2}), 0), ct::ValueError);
  EXPECT_THROW(ct::nanargmin(Array::empty({0}, Dtype::float32)), ct::ValueError);
  expect_array(ct::nanquantile(x, 0.5), {1.5}, {}, Dtype::float32);
  expect_array(ct::nanquantile(make<float>({kNan, kNan, 4, 1}, {2, 2}), 0.75, 1), {kNan, 3.25}, {2}, Dtype::float32);
  expect_array(ct::nanpercentile(make<float>({kNan, 3, 5}), 100.0, 0, true), {5}, {1}, Dtype::float32);
  EXPECT_THROW(ct::nanquantile(x, 2), ct::ValueError);
}

// On the CPU, the variance of equal numbers is exactly 0.
TEST(Reduction, VarianceOfConstants) {
  for (const double value : {3.3, -0.1, 1e4 / 3}) {
    for (const std::int64_t n : {3, 7, 257, 5000, 70000}) {
      const Array x = ct::full({n, 3}, value, Dtype::float32);
      for (const Array& y : {x, x.T(), x.T().copy()}) {
        const int axis = y.shape()[0] == 3 ? 1 : 0;
        for (const Array& z : {ct::var(y, axis), ct::std(y, axis), ct::nanvar(y, axis), ct::nanstd(y, axis)})
          for (const float got : z.to_vector<float>())
            EXPECT_LE(got, ct::current_device().is_cpu() ? 0 : 1e-5 * std::abs(value)) << value << " " << n;
      }
    }
  }
}

}  // namespace
