// The functions of indexing.h, with expected values from NumPy 2.

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/sorting.h"
#include "tests/array/facts.h"
#include "tests/settle.h"

namespace ct = catenary;
using ct::Dtype;
using ct::IndexMode;

TEST(Indexing, Take) {
  const ct::Array M = ct::arange(24).reshape({2, 3, 4});
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array v = ct::array({3, 1, 2});
  const ct::Array Z = ct::zeros({0, 3}, Dtype::float32);
  const ct::Array I = ct::array({{0, 3, 1}, {2, 2, 0}, {1, 0, 3}}, Dtype::int64);
  expect(ct::take(M, ct::array({2, 0, 2}), 1), Dtype::int64, {2, 3, 4},
         {8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11, 20, 21, 22, 23, 12, 13, 14, 15, 20, 21, 22, 23});
  expect(ct::take(M, ct::array({{5, -1}})), Dtype::int64, {1, 2}, {5, 23});
  expect(ct::take(A, 2, 1), Dtype::float64, {3}, {2, 6, 10});
  expect(ct::take(v, ct::array({7, -9}), 0, IndexMode::clip), Dtype::int32, {2}, {2, 3});
  expect(ct::take(v, ct::array({7, -9}), 0, IndexMode::wrap), Dtype::int32, {2}, {1, 3});
  expect(ct::take(A.T(), ct::array({1, 1}), 0), Dtype::float64, {2, 3}, {1, 5, 9, 1, 5, 9});
  expect(ct::take(Z, ct::array({1}), 1), Dtype::float32, {0, 1}, {});
  expect(ct::take(Z, ct::array({{5, -7}}), 1), Dtype::float32, {0, 1, 2}, {});  // as NumPy: no element, no check
  expect(ct::take(ct::zeros({0, 0}, Dtype::float32), ct::array({0, -1}), -1), Dtype::float32, {0, 2}, {});
  expect(ct::take_along_axis(A, ct::array({{1}, {0}, {-1}}), 1), Dtype::float64, {3, 1}, {1, 4, 11});
  expect(ct::take_along_axis(A.T(), ct::array({{2, 0, 1}}), 0), Dtype::float64, {1, 3}, {2, 4, 9});
  expect(ct::take_along_axis(I, ct::argsort(I, 0), 0), Dtype::int64, {3, 3}, {0, 0, 0, 1, 2, 1, 2, 3, 3});
  expect(ct::take_along_axis(M, ct::array({{{0, 3}}}), 2), Dtype::int64, {2, 3, 2},
         {0, 3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23});
  EXPECT_THROW(tests::settle([&] { ct::take(v, 3); }), ct::IndexError);
  EXPECT_THROW(ct::take(Z, ct::array({0}), 0), ct::IndexError);
  EXPECT_THROW(ct::take(Z.T(), ct::array({0}), 1), ct::IndexError);
  EXPECT_THROW(ct::take(v, 0.5), ct::IndexError);
  EXPECT_THROW(ct::take_along_axis(A, ct::array({1}), 1), ct::ShapeError);
  EXPECT_THROW(tests::settle([&] { ct::take_along_axis(A, ct::array({{4}}), 1); }), ct::IndexError);
}

TEST(Indexing, Conditions) {
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array B = A > 5;
  const ct::Array v = ct::array({3, 1, 2});
  const ct::Array Z = ct::zeros({0, 3}, Dtype::float32);
  const ct::Array F = ct::array({{1.5f, -2.f, 3.f}, {0.f, 5.f, -6.5f}});
  const ct::Array I = ct::array({{0, 3, 1}, {2, 2, 0}, {1, 0, 3}}, Dtype::int64);
  {
    const std::vector<ct::Array> parts = ct::nonzero(B);
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::int64, {6}, {1, 1, 2, 2, 2, 2});
    expect(parts[1], Dtype::int64, {6}, {2, 3, 0, 1, 2, 3});
  }
  {
    const std::vector<ct::Array> parts = ct::where(v > 1);
    ASSERT_EQ(parts.size(), 1u);
    expect(parts[0], Dtype::int64, {2}, {0, 2});
  }
  expect(ct::argwhere(B), Dtype::int64, {6, 2}, {1, 2, 1, 3, 2, 0, 2, 1, 2, 2, 2, 3});
  expect(ct::flatnonzero(F), Dtype::int64, {5}, {0, 1, 2, 4, 5});
  expect(ct::argwhere(Z), Dtype::int64, {0, 2}, {});
  expect(ct::compress(ct::array({false, true}), A, 1), Dtype::float64, {3, 1}, {1, 5, 9});
  expect(ct::compress(ct::array({0, 2, 1}), A), Dtype::float64, {2}, {1, 2});
  expect(ct::extract(B, A), Dtype::float64, {6}, {6, 7, 8, 9, 10, 11});
  expect(ct::select({A<3, A> 8}, {A, A * 10}), Dtype::float64, {3, 4}, {0, 1, 2, 0, 0, 0, 0, 0, 0, 90, 100, 110});
  expect(ct::select({v < 2, v < 3}, {v, v * 2}, 9.5), Dtype::float64, {3}, {9.5, 1, 4});
  expect(ct::choose(I, {v, ct::array({10, 20, 30}), v * 100, ct::array({7})}), Dtype::int32, {3, 3},
         {3, 7, 30, 300, 100, 2, 10, 1, 7});
  expect(ct::choose(I, {v, v + 5}, IndexMode::wrap), Dtype::int32, {3, 3}, {3, 6, 7, 3, 1, 2, 8, 1, 7});
  expect(ct::choose(I - 1, {v, v + 5}, IndexMode::clip), Dtype::int32, {3, 3}, {3, 6, 2, 8, 6, 2, 3, 1, 7});
  EXPECT_THROW(ct::choose(I, {v, v}), ct::ValueError);
  EXPECT_THROW(ct::nonzero(ct::array(1)), ct::ShapeError);
  EXPECT_THROW(ct::select({v}, {v}), ct::DtypeError);
  EXPECT_THROW(ct::select({}, {}), ct::ValueError);
}

TEST(Indexing, Positions) {
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  {
    const std::vector<ct::Array> parts = ct::unravel_index(ct::array({7, 22}), {2, 3, 4});
    ASSERT_EQ(parts.size(), 3u);
    expect(parts[0], Dtype::int64, {2}, {0, 1});
    expect(parts[1], Dtype::int64, {2}, {1, 2});
    expect(parts[2], Dtype::int64, {2}, {3, 2});
  }
  {
    const std::vector<ct::Array> parts = ct::unravel_index(5, {2, 3});
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::int64, {}, {1});
    expect(parts[1], Dtype::int64, {}, {2});
  }
  expect(ct::ravel_multi_index({ct::array({1, 0}), ct::array({2, 2})}, {3, 4}), Dtype::int64, {2}, {6, 2});
  expect(ct::ravel_multi_index({ct::array({5, -1}), ct::array({2, 9})}, {3, 4}, IndexMode::wrap), Dtype::int64, {2},
         {10, 9});
  expect(ct::ravel_multi_index({ct::array({5, -1}), ct::array({2, 9})}, {3, 4}, IndexMode::clip), Dtype::int64, {2},
         {10, 3});
  {
    const std::vector<ct::Array> parts = ct::ix_({ct::array({0, 2}, Dtype::int64), ct::array({true, false, true})});
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::int64, {2, 1}, {0, 2});
    expect(parts[1], Dtype::int64, {1, 2}, {0, 2});
  }
  expect(
      A.get({ct::ix_({ct::array({0, 2}), ct::array({1, 3})})[0], ct::ix_({ct::array({0, 2}), ct::array({1, 3})})[1]}),
      Dtype::float64, {2, 2}, {1, 3, 9, 11});
  {
    const std::vector<ct::Array> parts = ct::tril_indices(3);
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::int64, {6}, {0, 1, 1, 2, 2, 2});
    expect(parts[1], Dtype::int64, {6}, {0, 0, 1, 0, 1, 2});
  }
  {
    const std::vector<ct::Array> parts = ct::triu_indices(3, 1, 4);
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::int64, {6}, {0, 0, 0, 1, 1, 2});
    expect(parts[1], Dtype::int64, {6}, {1, 2, 3, 2, 3, 3});
  }
  EXPECT_THROW(ct::unravel_index(24, {2, 3, 4}), ct::ValueError);
  expect(ct::ravel_multi_index({ct::array({true, false}), ct::array({1, 1})}, {2, 2}), Dtype::int64, {2}, {3, 1});
  EXPECT_THROW(ct::ravel_multi_index({ct::array({3}), ct::array({0})}, {std::int64_t{1} << 62, 4}), ct::ShapeError);
  EXPECT_THROW(ct::ravel_multi_index({ct::array({3}), ct::array({0})}, {3, 4}), ct::ValueError);
  EXPECT_THROW(ct::ix_({A}), ct::ShapeError);
}

TEST(Indexing, Diagonals) {
  const ct::Array M = ct::arange(24).reshape({2, 3, 4});
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array B = A > 5;
  const ct::Array v = ct::array({3, 1, 2});
  const ct::Array F = ct::array({{1.5f, -2.f, 3.f}, {0.f, 5.f, -6.5f}});
  expect(ct::diag(v, 1), Dtype::int32, {4, 4}, {0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0});
  expect(ct::diag(v, -1), Dtype::int32, {4, 4}, {0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0});
  expect(ct::diag(A), Dtype::float64, {3}, {0, 5, 10});
  expect(ct::diag(A, 2), Dtype::float64, {2}, {2, 7});
  expect(ct::diag(A, -9), Dtype::float64, {0}, {});
  expect(ct::diagflat(F(ct::slice(1))), Dtype::float32, {3, 3}, {1.5, 0, 0, 0, -2, 0, 0, 0, 3});
  expect(ct::diagonal(M, 1, 1, 2), Dtype::int64, {2, 3}, {1, 6, 11, 13, 18, 23});
  expect(ct::diagonal(M, -1, 2, 0), Dtype::int64, {3, 2}, {1, 14, 5, 18, 9, 22});
  expect(ct::tril(A, -1), Dtype::float64, {3, 4}, {0, 0, 0, 0, 4, 0, 0, 0, 8, 9, 0, 0});
  expect(ct::triu(M, 1), Dtype::int64, {2, 3, 4},
         {0, 1, 2, 3, 0, 0, 6, 7, 0, 0, 0, 11, 0, 13, 14, 15, 0, 0, 18, 19, 0, 0, 0, 23});
  expect(ct::triu(v), Dtype::int32, {3, 3}, {3, 1, 2, 0, 1, 2, 0, 0, 2});
  expect(ct::tril(B), Dtype::bool_, {3, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0});
  EXPECT_TRUE(ct::diagonal(A).shares_memory(A));
  EXPECT_THROW(ct::diagonal(v), ct::ShapeError);
  EXPECT_THROW(ct::diagonal(A, 0, 1, 1), ct::ShapeError);
}

TEST(Indexing, Put) {
  const ct::Array a = ct::arange(6).reshape({2, 3});
  ct::put(a, ct::array({0, -1, 2}), ct::array({10, 20}));
  expect(a, Dtype::int64, {2, 3}, {10, 1, 10, 3, 4, 20});
  ct::put(a.T(), 1, 7);  // position 1 of the transposed array
  expect(a, Dtype::int64, {2, 3}, {10, 1, 10, 7, 4, 20});
  ct::put(a, ct::array({8, -7}), 0, IndexMode::clip);
  expect(a, Dtype::int64, {2, 3}, {0, 1, 10, 7, 4, 0});
  EXPECT_THROW(tests::settle([&] { ct::put(a, 6, 0); }), ct::IndexError);
  EXPECT_THROW(tests::settle([&] { ct::put(a.T(), -7, 0); }), ct::IndexError);
  ct::put_along_axis(a, ct::array({{0}, {2}}), ct::array({{-1}, {-2}}), 1);
  expect(a, Dtype::int64, {2, 3}, {-1, 1, 10, 7, 4, -2});
  ct::put_along_axis(a.T(), ct::array({{0, 1}}), 5, 0);
  expect(a, Dtype::int64, {2, 3}, {5, 1, 10, 7, 5, -2});
}

TEST(Indexing, PlaceAndPutmask) {
  const ct::Array a = ct::arange(6.0).reshape({2, 3});
  ct::place(a, a > 2.0, ct::array({44, 55}));
  expect(a, Dtype::float64, {2, 3}, {0, 1, 2, 44, 55, 44});
  ct::putmask(a, a > 1.0, ct::array({-1, -2}));  // values[position % 2]
  expect(a, Dtype::float64, {2, 3}, {0, 1, -1, -2, -1, -2});
  ct::putmask(a, a < 0.0, a * a);
  expect(a, Dtype::float64, {2, 3}, {0, 1, 1, 4, 1, 4});
  EXPECT_THROW(ct::place(a, ct::array({true}), 1), ct::ShapeError);
}

TEST(Indexing, Scatter) {
  const ct::Array a = ct::zeros({3, 2}, Dtype::float32);
  ct::scatter_add(a, {ct::array({0, 2, 0})}, ct::array({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  expect(a, Dtype::float32, {3, 2}, {6, 8, 0, 0, 3, 4});
  ct::scatter_add(a, {ct::slice(), 0}, 1);
  expect(a, Dtype::float32, {3, 2}, {7, 8, 1, 0, 4, 4});
  ct::scatter_add(a, {a > 6.f}, 0.5);
  expect(a, Dtype::float32, {3, 2}, {7.5, 8.5, 1, 0, 4, 4});
  ct::scatter_max(a, {ct::array({1, 1, 1}), ct::array({0, 1, 1})}, ct::array({-1.f, 3.f, 2.f}));
  expect(a, Dtype::float32, {3, 2}, {7.5, 8.5, 1, 3, 4, 4});
  ct::scatter_min(a, {ct::slice(2)}, 5);
  expect(a, Dtype::float32, {3, 2}, {5, 5, 1, 3, 4, 4});
  EXPECT_THROW(tests::settle([&] { ct::scatter_add(a, {ct::array({3})}, 1); }), ct::IndexError);
  EXPECT_THROW(ct::scatter_add(a, {ct::array({0})}, ct::ones({3})), ct::ShapeError);
}

TEST(Indexing, FillDiagonal) {
  const ct::Array a = ct::zeros({5, 2});
  ct::fill_diagonal(a, 1);
  expect(a, Dtype::float64, {5, 2}, {1, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  ct::fill_diagonal(a, ct::array({2, 3, 4}), true);
  expect(a, Dtype::float64, {5, 2}, {2, 0, 0, 3, 0, 0, 4, 0, 0, 2});
  const ct::Array cube = ct::zeros({2, 2, 2});
  ct::fill_diagonal(cube, 9);
  expect(cube, Dtype::float64, {2, 2, 2}, {9, 0, 0, 0, 0, 0, 0, 9});
  EXPECT_THROW(ct::fill_diagonal(ct::zeros({2, 3, 2}), 1), ct::ShapeError);
}
