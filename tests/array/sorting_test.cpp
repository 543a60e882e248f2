#include "catenary/array/sorting.h"

#include <limits>

#include "catenary/array/elementwise.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Sorting, SortAndArgsort) {
  const Array x = make<double>({3, nan, 1, 2, 2, -1}, {2, 3});
  expect_array(ct::sort(x), {1, 3, nan, -1, 2, 2}, {2, 3}, Dtype::float64);
  expect_array(ct::sort(x, 0), {2, 2, -1, 3, nan, 1}, {2, 3}, Dtype::float64);
  expect_array(ct::sort(x, std::nullopt), {-1, 1, 2, 2, 3, nan}, {6}, Dtype::float64);
  expect_array(ct::argsort(x), {2, 0, 1, 2, 0, 1}, {2, 3}, Dtype::int64);
  expect_array(ct::argsort(x.T(), 0), {2, 2, 0, 0, 1, 1}, {3, 2}, Dtype::int64);
  expect_array(ct::sort(Array::empty({0, 2}, Dtype::int8)), {}, {0, 2}, Dtype::int8);
  expect_array(x, {3, nan, 1, 2, 2, -1}, {2, 3}, Dtype::float64);
  EXPECT_THROW(ct::sort(x, 2), ct::ShapeError);
  const Array p = ct::partition(x, 1);
  expect_array(p(0, 1), {3}, {}, Dtype::float64);
  expect_array(ct::argpartition(x, -1)(1, 2), {1}, {}, Dtype::int64);
  EXPECT_THROW(ct::partition(x, 3), ct::ValueError);
  expect_array(ct::lexsort({make<int>({3, 1, 2, 0}), make<int>({1, 0, 1, 0})}), {3, 1, 2, 0}, {4}, Dtype::int64);
  EXPECT_THROW(ct::lexsort(std::vector<Array>{}), ct::ValueError);
}

TEST(Sorting, TopK) {
  const auto [values, indices] = ct::topk(make<float>({1, 5, 5, 2, 0, 7}, {2, 3}), 2);
  expect_array(values, {5, 5, 7, 2}, {2, 2}, Dtype::float32);
  expect_array(indices, {1, 2, 2, 0}, {2, 2}, Dtype::int64);
  const auto [low, at] = ct::topk(make<float>({1, 5, 5, 2, 0, 7}, {2, 3}), 1, 0, false);
  expect_array(low, {1, 0, 5}, {1, 3}, Dtype::float32);
  expect_array(at, {0, 1, 0}, {1, 3}, Dtype::int64);
  EXPECT_THROW(ct::topk(values, 3), ct::ValueError);
  expect_array(ct::topk(values, 0).first, {}, {2, 0}, Dtype::float32);
}

TEST(Sorting, Searching) {
  const Array sorted = make<int>({1, 3, 3, 7});
  expect_array(ct::searchsorted(sorted, make<double>({3, 0, 3.5, 9}, {2, 2})), {1, 0, 3, 4}, {2, 2}, Dtype::int64);
  expect_array(ct::searchsorted(sorted, 3, ct::Side::right), {3}, {}, Dtype::int64);
  const Array bins = make<double>({0, 1, 2});
  expect_array(ct::digitize(make<double>({-1, 0, 1.5, 2}), bins), {0, 1, 2, 3}, {4}, Dtype::int64);
  expect_array(ct::digitize(make<double>({-1, 0, 1.5, 2}), bins, true), {0, 0, 2, 2}, {4}, Dtype::int64);
  expect_array(ct::digitize(make<double>({-1, 0, 1.5, 2}), make<double>({2, 1, 0})), {3, 2, 1, 0}, {4}, Dtype::int64);
  EXPECT_THROW(ct::digitize(bins, make<double>({0, 2, 1})), ct::ValueError);
}

TEST(Sorting, Sets) {
  const Array x = make<double>({3, nan, 1, 3, nan, 1}, {2, 3});
  const ct::UniqueResult r = ct::unique(x, {true, true, true});
  expect_array(r.values, {1, 3, nan}, {3}, Dtype::float64);
  expect_array(r.index, {2, 0, 1}, {3}, Dtype::int64);
  expect_array(r.inverse, {1, 2, 0, 1, 2, 0}, {2, 3}, Dtype::int64);
  expect_array(r.counts, {2, 2, 2}, {3}, Dtype::int64);
  expect_array(ct::unique(Array::empty({0}, Dtype::int32)), {}, {0}, Dtype::int32);
  const Array a = make<int>({1, 4, 4, 9}), b = make<int>({9, 2, 1});
  expect_array(ct::isin(a, b), {1, 0, 0, 1}, {4}, Dtype::bool_);
  expect_array(ct::isin(a, b, true), {0, 1, 1, 0}, {4}, Dtype::bool_);
  expect_array(ct::isin(x, x), {1, 0, 1, 1, 0, 1}, {2, 3}, Dtype::bool_);
  expect_array(ct::intersect1d(a, b), {1, 9}, {2}, Dtype::int32);
  expect_array(ct::union1d(a, b), {1, 2, 4, 9}, {4}, Dtype::int32);
  expect_array(ct::setdiff1d(a, b), {4}, {1}, Dtype::int32);
}

TEST(Sorting, Counting) {
  const Array x = make<int>({0, 2, 2, 5});
  expect_array(ct::bincount(x), {1, 0, 2, 0, 0, 1}, {6}, Dtype::int64);
  expect_array(ct::bincount(x, {}, 8), {1, 0, 2, 0, 0, 1, 0, 0}, {8}, Dtype::int64);
  expect_array(ct::bincount(x, make<float>({1, 2, 3, 4})), {1, 0, 5, 0, 0, 4}, {6},
               ct::current_device().info().has_f64 ? Dtype::float64 : Dtype::float32);
  EXPECT_THROW(ct::bincount(make<int>({1, -1})), ct::ValueError);
  EXPECT_THROW(ct::bincount(make<float>({1})), ct::DtypeError);
  EXPECT_THROW(ct::bincount(x.reshape({2, 2})), ct::ShapeError);
  const auto [counts, edges] = ct::histogram(make<double>({0, 1, 1.5, 4, 4}), 4);
  expect_array(counts, {1, 2, 0, 2}, {4}, Dtype::int64);
  expect_array(edges, {0, 1, 2, 3, 4}, {5}, Dtype::float64);
  expect_array(ct::histogram(make<int>({1, 2, 9, -3}), make<int>({1, 2, 4})).first, {1, 1}, {2}, Dtype::int64);
  expect_array(ct::histogram(make<double>({1, 1, 3}), 2, {.range = {{1, 3}}, .density = true}).first,
               {2.0 / 3, 1.0 / 3}, {2}, Dtype::float64, 1e-15);
  EXPECT_THROW(ct::histogram(x, 0), ct::ValueError);
  EXPECT_THROW(ct::histogram(make<double>({1, nan}), 3), ct::ValueError);
}

TEST(Sorting, Quantiles) {
  const Array x = make<double>({4, 1, 3, 2, 10, nan, 30, 20}, {2, 4});
  expect_array(ct::median(x, 1), {2.5, nan}, {2}, Dtype::float64);
  expect_array(ct::nanmedian(x, 1, true), {2.5, 20}, {2, 1}, Dtype::float64);
  expect_array(ct::median(make<int>({3, 1, 2})), {2}, {}, Dtype::float64);
  expect_array(ct::median(Array::empty({0}, Dtype::float32)), {nan}, {}, Dtype::float32);
  const Array row = make<double>({15, 20, 35, 40, 50});
  expect_array(ct::percentile(row, 40), {29}, {}, Dtype::float64, 1e-15);
  expect_array(ct::quantile(row, std::vector<double>{0, 0.5, 1}), {15, 35, 50}, {3}, Dtype::float64);
  const auto at = [&](ct::QuantileMethod method) { return ct::quantile(row, 0.3, {}, false, method).item<double>(); };
  EXPECT_EQ(at(ct::QuantileMethod::lower), 20);
  EXPECT_EQ(at(ct::QuantileMethod::higher), 35);
  EXPECT_EQ(at(ct::QuantileMethod::nearest), 20);
  EXPECT_EQ(at(ct::QuantileMethod::midpoint), 27.5);
  expect_array(ct::quantile(x, 0.5, 0, true), {7, nan, 16.5, 11}, {1, 4}, Dtype::float64);
  EXPECT_THROW(ct::quantile(row, 1.5), ct::ValueError);
}

}  // namespace
