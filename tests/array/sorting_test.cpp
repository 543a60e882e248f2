#include "catenary/array/sorting.h"

#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

TEST(Sorting, SortAndArgsort) {
  const Array x = make<double>({3, kNan, 1, 2, 2, -1}, {2, 3});
  expect_array(ct::sort(x), {1, 3, kNan, -1, 2, 2}, {2, 3}, Dtype::float64);
  expect_array(ct::sort(x, 0), {2, 2, -1, 3, kNan, 1}, {2, 3}, Dtype::float64);
  expect_array(ct::sort(x, std::nullopt), {-1, 1, 2, 2, 3, kNan}, {6}, Dtype::float64);
  expect_array(ct::argsort(x), {2, 0, 1, 2, 0, 1}, {2, 3}, Dtype::int64);
  expect_array(ct::argsort(x.T(), 0), {2, 2, 0, 0, 1, 1}, {3, 2}, Dtype::int64);
  expect_array(ct::sort(Array::empty({0, 2}, Dtype::int8)), {}, {0, 2}, Dtype::int8);
  expect_array(x, {3, kNan, 1, 2, 2, -1}, {2, 3}, Dtype::float64);
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
  const Array x = make<double>({3, kNan, 1, 3, kNan, 1}, {2, 3});
  const ct::UniqueResult r = ct::unique(x, {true, true, true});
  expect_array(r.values, {1, 3, kNan}, {3}, Dtype::float64);
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
  expect_array(ct::setdiff1d(make<int>({4, 1, 9, 3}), b, true), {4, 3}, {2}, Dtype::int32);
  expect_array(ct::setxor1d(a, b), {2, 4}, {2}, Dtype::int32);
  const ct::CommonValues common = ct::intersect1d_indices(make<int>({4, 1, 9, 4}), make<double>({9, 4, 2}));
  expect_array(common.values, {4, 9}, {2}, Dtype::float64);
  expect_array(common.a_index, {0, 2}, {2}, Dtype::int64);
  expect_array(common.b_index, {1, 0}, {2}, Dtype::int64);
}

// Expected values of numpy.unique.
TEST(Sorting, UniqueParts) {
  const Array x = make<int>({1, 0, 2, 1, 0, 2, 0, 5, 2, 1, 0, 1}, {4, 3});
  ct::UniqueResult r = ct::unique(x, {true, true, true, 0});
  expect_array(r.values, {0, 5, 2, 1, 0, 1, 1, 0, 2}, {3, 3}, Dtype::int32);
  expect_array(r.index, {2, 3, 0}, {3}, Dtype::int64);
  expect_array(r.inverse, {2, 2, 0, 1}, {4}, Dtype::int64);
  expect_array(r.counts, {1, 1, 2}, {3}, Dtype::int64);
  r = ct::unique(make<float>({1, 2, 1, 1, 2, 1}, {2, 3}), {.return_counts = true, .axis = -1});
  expect_array(r.values, {1, 2, 1, 2}, {2, 2}, Dtype::float32);
  expect_array(r.counts, {2, 1}, {2}, Dtype::int64);
  EXPECT_FALSE(r.index.defined());
  const Array empty = Array::empty({3, 0}, Dtype::int32);
  EXPECT_EQ(ct::unique(empty, {.axis = 0}).values.shape(), (Shape{1, 0}));
  EXPECT_EQ(ct::unique(empty, {.axis = 1}).values.shape(), (Shape{3, 0}));
  const Array several = make<double>({kNan, 1, kNan});
  r = ct::unique(several, {true, true, true, {}, false});
  expect_array(r.values, {1, kNan, kNan}, {3}, Dtype::float64);
  expect_array(r.index, {1, 0, 2}, {3}, Dtype::int64);
  expect_array(r.inverse, {1, 0, 2}, {3}, Dtype::int64);
  expect_array(r.counts, {1, 1, 1}, {3}, Dtype::int64);
  expect_array(ct::unique(several.reshape({3, 1}), {.axis = 0}).values, {1, kNan, kNan}, {3, 1}, Dtype::float64);
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
  EXPECT_THROW(ct::histogram(make<double>({1, kNan}), 3), ct::ValueError);
}

TEST(Sorting, Quantiles) {
  const Array x = make<double>({4, 1, 3, 2, 10, kNan, 30, 20}, {2, 4});
  expect_array(ct::median(x, 1), {2.5, kNan}, {2}, Dtype::float64);
  expect_array(ct::nanmedian(x, 1, true), {2.5, 20}, {2, 1}, Dtype::float64);
  expect_array(ct::median(make<int>({3, 1, 2})), {2}, {}, Dtype::float64);
  expect_array(ct::median(Array::empty({0}, Dtype::float32)), {kNan}, {}, Dtype::float32);
  const Array row = make<double>({15, 20, 35, 40, 50});
  expect_array(ct::percentile(row, 40), {29}, {}, Dtype::float64, 1e-15);
  expect_array(ct::quantile(row, std::vector<double>{0, 0.5, 1}), {15, 35, 50}, {3}, Dtype::float64);
  const auto at = [&](ct::QuantileMethod method) { return ct::quantile(row, 0.3, {}, false, method).item<double>(); };
  EXPECT_EQ(at(ct::QuantileMethod::lower), 20);
  EXPECT_EQ(at(ct::QuantileMethod::higher), 35);
  EXPECT_EQ(at(ct::QuantileMethod::nearest), 20);
  EXPECT_EQ(at(ct::QuantileMethod::midpoint), 27.5);
  // half way between two elements, the nearest is the one with the even index
  for (const auto& [n, nearest] : {std::pair(2, 0), std::pair(4, 2), std::pair(6, 2), std::pair(8, 4)})
    EXPECT_EQ(ct::quantile(ct::arange(n), 0.5, {}, false, ct::QuantileMethod::nearest).item<int>(), nearest) << n;
  expect_array(ct::quantile(x, 0.5, 0, true), {7, kNan, 16.5, 11}, {1, 4}, Dtype::float64);
  EXPECT_THROW(ct::quantile(row, 1.5), ct::ValueError);
}

// Expected values of numpy.quantile in NumPy 2.4, whose methods have these names.
TEST(Sorting, QuantilesByEveryMethod) {
  using Q = ct::QuantileMethod;
  const Array row = make<double>({50, 15, 40, 20, 35}), gaps = make<double>({50, 15, kNan, 40, 20, kNan, 35});
  const std::vector<double> q = {0, 0.1, 0.3, 0.5, 0.6, 1};
  const std::pair<Q, std::vector<double>> expected[] = {{Q::inverted_cdf, {15, 15, 20, 35, 35, 50}},
                                                        {Q::averaged_inverted_cdf, {15, 15, 20, 35, 37.5, 50}},
                                                        {Q::closest_observation, {15, 15, 20, 20, 35, 50}},
                                                        {Q::interpolated_inverted_cdf, {15, 15, 17.5, 27.5, 35, 50}},
                                                        {Q::hazen, {15, 15, 20, 35, 37.5, 50}},
                                                        {Q::weibull, {15, 15, 19, 35, 38, 50}},
                                                        {Q::median_unbiased, {15, 15, 59.0 / 3, 35, 113 / 3.0, 50}},
                                                        {Q::normal_unbiased, {15, 15, 19.75, 35, 37.625, 50}}};
  for (const auto& [method, values] : expected) {
    expect_array(ct::quantile(row, q, {}, false, method), values, {6}, Dtype::float64, 1e-14);
    expect_array(ct::nanquantile(gaps, q, {}, false, method), values, {6}, Dtype::float64, 1e-14);
  }
}

TEST(Sorting, QuantilesOfAnArrayOfFractions) {
  const Array x = make<float>({1, 2, 4});
  expect_array(ct::quantile(x, make<float>({0.5, 1})), {2, 4}, {2}, Dtype::float32);
  expect_array(ct::percentile(x, make<double>({25})), {1.5}, {1}, Dtype::float64);
  expect_array(ct::quantile(make<int>({1, 2}), make<float>({0.5}, {})), {1.5}, {}, Dtype::float64);
  EXPECT_THROW(ct::quantile(x, make<float>({0, 1}, {1, 2})), ct::ShapeError);
  EXPECT_THROW(ct::quantile(x, make<float>({2})), ct::ValueError);
}

TEST(Sorting, BinsWithNan) {
  const Array x = make<double>({0, 2, kNan, 9});
  expect_array(ct::digitize(x, make<double>({1, 3, kNan})), {0, 1, 3, 2}, {4}, Dtype::int64);
  expect_array(ct::digitize(x, make<double>({kNan, 3, 1})), {3, 2, 0, 1}, {4}, Dtype::int64);
  EXPECT_THROW(ct::digitize(x, make<double>({3, kNan, 1})), ct::ValueError);
  expect_array(ct::lexsort(make<double>({5, 3})), {0}, {}, Dtype::int64);
}

TEST(Sorting, HistogramsOfSeveralAxes) {
  const Array points = make<double>({0, 0, 0, 1, 2, 3, 1, 0, 2, 9, 9, 9}, {4, 3});
  const auto r = ct::histogramdd(points, {2, make<double>({0, 1.5, 3}), 1}, {.ranges = {{{0, 2}}, {}, {}}});
  expect_array(r.counts, {1, 0, 1, 1}, {2, 2, 1}, Dtype::float64);
  expect_array(r.edges[0], {0, 1, 2}, {3}, Dtype::float64);
  expect_array(r.edges[2], {0, 9}, {2}, Dtype::float64);
  expect_array(ct::histogramdd(points, {1, 1, 1}, {.density = true}).counts, {1 / 729.0}, {1, 1, 1}, Dtype::float64,
               1e-15);
  EXPECT_THROW(ct::histogramdd(points, {2, 2}), ct::ValueError);
  EXPECT_THROW(ct::histogramdd(Array::empty({3, 0}, Dtype::float64), {}), ct::ShapeError);
  EXPECT_THROW(ct::histogramdd(points, {2, 2, 0}), ct::ValueError);
  EXPECT_THROW(ct::histogramdd(points, {2, 2, 2}, {.ranges = {{{0, 1}}}}), ct::ValueError);
  EXPECT_THROW(ct::histogramdd(make<double>({1}), {1}), ct::ShapeError);
  expect_array(ct::histogram(make<int>({1, 2, 2}), 2, {.weights = make<int>({1, 2, 3})}).first, {1, 5}, {2},
               Dtype::int32);
}

}  // namespace
