// Expected values from NumPy 2.

#include "catenary/array/manipulation.h"

#include <gtest/gtest.h>

#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/reduction.h"
#include "tests/array/facts.h"

namespace ct = catenary;
using ct::Axes;
using ct::Dtype;
using ct::PadMode;

TEST(Manipulation, Axes) {
  const ct::Array M = ct::arange(24).reshape({2, 3, 4});
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array v = ct::array({3, 1, 2});
  expect(ct::transpose(M, {1, 2, 0}), Dtype::int64, {3, 4, 2},
         {0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23});
  expect(ct::swapaxes(M, 0, -1), Dtype::int64, {4, 3, 2},
         {0, 12, 4, 16, 8, 20, 1, 13, 5, 17, 9, 21, 2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23});
  expect(ct::moveaxis(M, 0, -1), Dtype::int64, {3, 4, 2},
         {0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23});
  expect(ct::moveaxis(M, {0, 1}, {2, 0}), Dtype::int64, {3, 4, 2},
         {0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23});
  expect(ct::rollaxis(M, 2), Dtype::int64, {4, 2, 3},
         {0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23});
  expect(ct::rollaxis(M, 0, 2), Dtype::int64, {3, 2, 4},
         {0, 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7, 16, 17, 18, 19, 8, 9, 10, 11, 20, 21, 22, 23});
  expect(ct::expand_dims(A, {0, 2}), Dtype::float64, {1, 3, 1, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect(ct::expand_dims(v, -1), Dtype::int32, {3, 1}, {3, 1, 2});
  expect(ct::squeeze(ct::expand_dims(v, {0, 2}), 0), Dtype::int32, {3, 1}, {3, 1, 2});
  expect(ct::broadcast_to(v, {2, 3}), Dtype::int32, {2, 3}, {3, 1, 2, 3, 1, 2});
  expect(ct::atleast_1d(ct::array(5)), Dtype::int32, {1}, {5});
  expect(ct::atleast_2d(v), Dtype::int32, {1, 3}, {3, 1, 2});
  expect(ct::atleast_3d(v), Dtype::int32, {1, 3, 1}, {3, 1, 2});
  expect(ct::atleast_3d(A), Dtype::float64, {3, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect(ct::matrix_transpose(M), Dtype::int64, {2, 4, 3},
         {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23});
  {
    const std::vector<ct::Array> parts = ct::broadcast_arrays({v, ct::expand_dims(v, 1)});
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::int32, {3, 3}, {3, 1, 2, 3, 1, 2, 3, 1, 2});
    expect(parts[1], Dtype::int32, {3, 3}, {3, 3, 3, 1, 1, 1, 2, 2, 2});
  }
  EXPECT_EQ(ct::broadcast_shapes({{3, 1}, {4}, {2, 1, 1}}), (ct::Shape{2, 3, 4}));
  EXPECT_TRUE(ct::moveaxis(M, 0, 1).shares_memory(M));
  EXPECT_THROW(ct::expand_dims(v, 3), ct::ShapeError);
  EXPECT_THROW(ct::swapaxes(A, 0, 2), ct::ShapeError);
  EXPECT_THROW(ct::moveaxis(M, {0, 0}, {1, 2}), ct::ShapeError);
  EXPECT_THROW(ct::moveaxis(M, {0, 1}, Axes{2}), ct::ShapeError);
  EXPECT_THROW(ct::rollaxis(M, 0, 4), ct::ShapeError);
}

TEST(Manipulation, Flips) {
  const ct::Array M = ct::arange(24).reshape({2, 3, 4});
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array v = ct::array({3, 1, 2});
  const ct::Array Z = ct::zeros({0, 3}, Dtype::float32);
  expect(ct::sliding_window_view(A, {2, 3}), Dtype::float64, {2, 2, 2, 3},
         {0, 1, 2, 4, 5, 6, 1, 2, 3, 5, 6, 7, 4, 5, 6, 8, 9, 10, 5, 6, 7, 9, 10, 11});
  expect(ct::sliding_window_view(v, {2}, 0), Dtype::int32, {2, 2}, {3, 1, 1, 2});
  expect(ct::sliding_window_view(A, {2, 2}, {1, 1}), Dtype::float64, {3, 2, 2, 2},
         {0, 1, 1, 2, 1, 2, 2, 3, 4, 5, 5, 6, 5, 6, 6, 7, 8, 9, 9, 10, 9, 10, 10, 11});
  EXPECT_THROW(ct::sliding_window_view(v, {4}), ct::ShapeError);
  expect(ct::flip(M), Dtype::int64, {2, 3, 4},
         {23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  expect(ct::flip(M, {0, 2}), Dtype::int64, {2, 3, 4},
         {15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
  expect(ct::fliplr(A), Dtype::float64, {3, 4}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
  expect(ct::flipud(A), Dtype::float64, {3, 4}, {8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3});
  expect(ct::flip(Z), Dtype::float32, {0, 3}, {});
  expect(ct::rot90(A), Dtype::float64, {4, 3}, {3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8});
  expect(ct::rot90(A, 2), Dtype::float64, {3, 4}, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  expect(ct::rot90(A, 3), Dtype::float64, {4, 3}, {8, 4, 0, 9, 5, 1, 10, 6, 2, 11, 7, 3});
  expect(ct::rot90(A, -1), Dtype::float64, {4, 3}, {8, 4, 0, 9, 5, 1, 10, 6, 2, 11, 7, 3});
  expect(ct::rot90(M, 1, {1, 2}), Dtype::int64, {2, 4, 3},
         {3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8, 15, 19, 23, 14, 18, 22, 13, 17, 21, 12, 16, 20});
  expect(ct::rot90(M, 1, {2, 0}), Dtype::int64, {4, 3, 2},
         {12, 0, 16, 4, 20, 8, 13, 1, 17, 5, 21, 9, 14, 2, 18, 6, 22, 10, 15, 3, 19, 7, 23, 11});
  EXPECT_THROW(ct::fliplr(v), ct::ShapeError);
  EXPECT_THROW(ct::rot90(A, 1, {0, 0}), ct::ShapeError);
}

TEST(Manipulation, Joining) {
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array v = ct::array({3, 1, 2});
  const ct::Array Z = ct::zeros({0, 3}, Dtype::float32);
  const ct::Array F = ct::array({{1.5f, -2.f, 3.f}, {0.f, 5.f, -6.5f}});
  expect(ct::concatenate({A, F.astype(Dtype::int32)(ct::slice(), ct::array({0, 1, 2, 2}))}), Dtype::float64, {5, 4},
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, -2, 3, 3, 0, 5, -6, -6});
  expect(ct::concatenate({v, ct::array({1.f, 2.f})}), Dtype::float64, {5}, {3, 1, 2, 1, 2});
  expect(ct::concatenate({A, v}, std::nullopt), Dtype::float64, {15}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 3, 1, 2});
  expect(ct::concatenate({A, A.T().reshape({3, 4})}, 1), Dtype::float64, {3, 8},
         {0, 1, 2, 3, 0, 4, 8, 1, 4, 5, 6, 7, 5, 9, 2, 6, 8, 9, 10, 11, 10, 3, 7, 11});
  expect(ct::concatenate({Z, F}), Dtype::float32, {2, 3}, {1.5, -2, 3, 0, 5, -6.5});
  expect(ct::stack({v, v + 1}, -1), Dtype::int32, {3, 2}, {3, 4, 1, 2, 2, 3});
  expect(ct::stack({A, A * 2}, 1), Dtype::float64, {3, 2, 4},
         {0, 1, 2, 3, 0, 2, 4, 6, 4, 5, 6, 7, 8, 10, 12, 14, 8, 9, 10, 11, 16, 18, 20, 22});
  expect(ct::vstack({v, F}), Dtype::float64, {3, 3}, {3, 1, 2, 1.5, -2, 3, 0, 5, -6.5});
  expect(ct::hstack({v, ct::array({1, 2})}), Dtype::int32, {5}, {3, 1, 2, 1, 2});
  expect(ct::hstack({A, A}), Dtype::float64, {3, 8},
         {0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11});
  expect(ct::dstack({v, v}), Dtype::int32, {1, 3, 2}, {3, 3, 1, 1, 2, 2});
  expect(ct::dstack({A, A}), Dtype::float64, {3, 4, 2},
         {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11});
  expect(ct::column_stack({v, A(ct::slice(), ct::slice(2))}), Dtype::float64, {3, 3}, {3, 0, 1, 1, 4, 5, 2, 8, 9});
  expect(ct::append(v, A), Dtype::float64, {15}, {3, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect(ct::append(A, A(ct::slice(1)), 0), Dtype::float64, {4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3});
  EXPECT_THROW(ct::concatenate({}), ct::ShapeError);
  EXPECT_THROW(ct::concatenate({A, F}), ct::ShapeError);
  EXPECT_THROW(ct::concatenate({A, v}), ct::ShapeError);
  EXPECT_THROW(ct::concatenate({ct::array(1), ct::array(2)}), ct::ShapeError);
  EXPECT_THROW(ct::stack({v, ct::array({1, 2})}), ct::ShapeError);
  EXPECT_THROW(ct::concatenate({A}, 2), ct::ShapeError);
}

TEST(Manipulation, Splitting) {
  const ct::Array M = ct::arange(24).reshape({2, 3, 4});
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array v = ct::array({3, 1, 2});
  {
    const std::vector<ct::Array> parts = ct::split(A, 2, 1);
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::float64, {3, 2}, {0, 1, 4, 5, 8, 9});
    expect(parts[1], Dtype::float64, {3, 2}, {2, 3, 6, 7, 10, 11});
  }
  {
    const std::vector<ct::Array> parts = ct::split(A, {1});
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::float64, {1, 4}, {0, 1, 2, 3});
    expect(parts[1], Dtype::float64, {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11});
  }
  {
    const std::vector<ct::Array> parts = ct::split(ct::arange(6), {1, 4});
    ASSERT_EQ(parts.size(), 3u);
    expect(parts[0], Dtype::int64, {1}, {0});
    expect(parts[1], Dtype::int64, {3}, {1, 2, 3});
    expect(parts[2], Dtype::int64, {2}, {4, 5});
  }
  {
    const std::vector<ct::Array> parts = ct::split(ct::arange(6), {4, 2, -1, 9});
    ASSERT_EQ(parts.size(), 5u);
    expect(parts[0], Dtype::int64, {4}, {0, 1, 2, 3});
    expect(parts[1], Dtype::int64, {0}, {});
    expect(parts[2], Dtype::int64, {3}, {2, 3, 4});
    expect(parts[3], Dtype::int64, {1}, {5});
    expect(parts[4], Dtype::int64, {0}, {});
  }
  {
    const std::vector<ct::Array> parts = ct::array_split(ct::arange(7), 3);
    ASSERT_EQ(parts.size(), 3u);
    expect(parts[0], Dtype::int64, {3}, {0, 1, 2});
    expect(parts[1], Dtype::int64, {2}, {3, 4});
    expect(parts[2], Dtype::int64, {2}, {5, 6});
  }
  {
    const std::vector<ct::Array> parts = ct::hsplit(v, 3);
    ASSERT_EQ(parts.size(), 3u);
    expect(parts[0], Dtype::int32, {1}, {3});
    expect(parts[1], Dtype::int32, {1}, {1});
    expect(parts[2], Dtype::int32, {1}, {2});
  }
  {
    const std::vector<ct::Array> parts = ct::hsplit(A, {3});
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::float64, {3, 3}, {0, 1, 2, 4, 5, 6, 8, 9, 10});
    expect(parts[1], Dtype::float64, {3, 1}, {3, 7, 11});
  }
  {
    const std::vector<ct::Array> parts = ct::vsplit(A, 3);
    ASSERT_EQ(parts.size(), 3u);
    expect(parts[0], Dtype::float64, {1, 4}, {0, 1, 2, 3});
    expect(parts[1], Dtype::float64, {1, 4}, {4, 5, 6, 7});
    expect(parts[2], Dtype::float64, {1, 4}, {8, 9, 10, 11});
  }
  {
    const std::vector<ct::Array> parts = ct::dsplit(M, 2);
    ASSERT_EQ(parts.size(), 2u);
    expect(parts[0], Dtype::int64, {2, 3, 2}, {0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21});
    expect(parts[1], Dtype::int64, {2, 3, 2}, {2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23});
  }
  {
    const std::vector<ct::Array> parts = ct::unstack(A, 1);
    ASSERT_EQ(parts.size(), 4u);
    expect(parts[0], Dtype::float64, {3}, {0, 4, 8});
    expect(parts[1], Dtype::float64, {3}, {1, 5, 9});
    expect(parts[2], Dtype::float64, {3}, {2, 6, 10});
    expect(parts[3], Dtype::float64, {3}, {3, 7, 11});
  }
  {
    const std::vector<ct::Array> parts = ct::array_split(v, 4);
    ASSERT_EQ(parts.size(), 4u);
    expect(parts[0], Dtype::int32, {1}, {3});
    expect(parts[1], Dtype::int32, {1}, {1});
    expect(parts[2], Dtype::int32, {1}, {2});
    expect(parts[3], Dtype::int32, {0}, {});
  }
  EXPECT_TRUE(ct::split(A, 3)[1].shares_memory(A));
  EXPECT_THROW(ct::split(v, 2), ct::ValueError);
  EXPECT_THROW(ct::array_split(v, 0), ct::ValueError);
  EXPECT_THROW(ct::dsplit(A, 2), ct::ShapeError);
}

TEST(Manipulation, Repeating) {
  const ct::Array M = ct::arange(24).reshape({2, 3, 4});
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array v = ct::array({3, 1, 2});
  const ct::Array Z = ct::zeros({0, 3}, Dtype::float32);
  const ct::Array F = ct::array({{1.5f, -2.f, 3.f}, {0.f, 5.f, -6.5f}});
  expect(ct::tile(v, 2), Dtype::int32, {6}, {3, 1, 2, 3, 1, 2});
  expect(ct::tile(F, {2, 1, 2}), Dtype::float32, {2, 2, 6},
         {1.5, -2, 3, 1.5, -2, 3, 0, 5, -6.5, 0, 5, -6.5, 1.5, -2, 3, 1.5, -2, 3, 0, 5, -6.5, 0, 5, -6.5});
  expect(ct::tile(M, {2, 1}), Dtype::int64, {2, 6, 4},
         {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
          12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  expect(ct::tile(v, {0, 2}), Dtype::int32, {0, 6}, {});
  expect(ct::tile(v, 1), Dtype::int32, {3}, {3, 1, 2});
  EXPECT_FALSE(ct::tile(v, 1).shares_memory(v));
  expect(ct::repeat(M, 2, 1), Dtype::int64, {2, 6, 4},
         {0,  1,  2,  3,  0,  1,  2,  3,  4,  5,  6,  7,  4,  5,  6,  7,  8,  9,  10, 11, 8,  9,  10, 11,
          12, 13, 14, 15, 12, 13, 14, 15, 16, 17, 18, 19, 16, 17, 18, 19, 20, 21, 22, 23, 20, 21, 22, 23});
  expect(ct::repeat(v, 3), Dtype::int32, {9}, {3, 3, 3, 1, 1, 1, 2, 2, 2});
  expect(ct::repeat(A, v, 0), Dtype::float64, {6, 4},
         {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11});
  expect(ct::repeat(F, ct::array({2}), 1), Dtype::float32, {2, 6}, {1.5, 1.5, -2, -2, 3, 3, 0, 0, 5, 5, -6.5, -6.5});
  expect(ct::repeat(v, ct::array({2, 0, 3})), Dtype::int32, {5}, {3, 3, 2, 2, 2});
  expect(ct::repeat(v, ct::array({true, false, true})), Dtype::int32, {2}, {3, 2});
  expect(ct::repeat(A.T(), 0, 0), Dtype::float64, {0, 3}, {});
  expect(ct::roll(M, 2), Dtype::int64, {2, 3, 4},
         {22, 23, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21});
  expect(ct::roll(M, {1, -1}, {0, 2}), Dtype::int64, {2, 3, 4},
         {13, 14, 15, 12, 17, 18, 19, 16, 21, 22, 23, 20, 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8});
  expect(ct::roll(v, -4, 0), Dtype::int32, {3}, {1, 2, 3});
  expect(ct::roll(A, {5}, {0, 1}), Dtype::float64, {3, 4}, {7, 4, 5, 6, 11, 8, 9, 10, 3, 0, 1, 2});
  expect(ct::roll(Z, 1), Dtype::float32, {0, 3}, {});
  expect(ct::roll(A.T(), 1, 1), Dtype::float64, {4, 3}, {8, 0, 4, 9, 1, 5, 10, 2, 6, 11, 3, 7});
  expect(ct::resize(v, {2, 4}), Dtype::int32, {2, 4}, {3, 1, 2, 3, 1, 2, 3, 1});
  expect(ct::resize(A, {5}), Dtype::float64, {5}, {0, 1, 2, 3, 4});
  expect(ct::resize(Z, {2}), Dtype::float32, {2}, {0, 0});
  EXPECT_THROW(ct::repeat(v, ct::array({1, 2})), ct::ShapeError);
  EXPECT_THROW(ct::repeat(v, ct::array({1, 2, 3}, Dtype::uint64)), ct::DtypeError);
  EXPECT_THROW(ct::repeat(v, -1), ct::ValueError);
  EXPECT_THROW(ct::repeat(v, ct::array({1, -2, 3})), ct::ValueError);
  EXPECT_THROW(ct::roll(A, {1, 2, 3}, {0, 1}), ct::ShapeError);
}

TEST(Manipulation, InsertDelete) {
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array v = ct::array({3, 1, 2});
  expect(ct::insert(A, 1, 5), Dtype::float64, {13}, {0, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect(ct::insert(A, 1, 5, 1), Dtype::float64, {3, 5}, {0, 5, 1, 2, 3, 4, 5, 5, 6, 7, 8, 5, 9, 10, 11});
  expect(ct::insert(A, 1, ct::array({1, 2, 3}), 1), Dtype::float64, {3, 5},
         {0, 1, 1, 2, 3, 4, 2, 5, 6, 7, 8, 3, 9, 10, 11});
  expect(ct::insert(A, ct::array({1}), ct::array({{1}, {2}, {3}}), 1), Dtype::float64, {3, 5},
         {0, 1, 1, 2, 3, 4, 2, 5, 6, 7, 8, 3, 9, 10, 11});
  expect(ct::insert(v, ct::array({2, 2, -1}), ct::array({7, 8, 9})), Dtype::int32, {6}, {3, 1, 7, 8, 9, 2});
  expect(ct::insert(v, ct::slice(1, 3), ct::array({7, 8})), Dtype::int32, {5}, {3, 7, 1, 8, 2});
  expect(ct::insert(v, 3, ct::array({1.9, 2.9})), Dtype::int32, {5}, {3, 1, 2, 1, 2});
  expect(ct::insert(v, ct::array({true, false, true}), 6), Dtype::int32, {5}, {6, 3, 1, 6, 2});
  expect(ct::insert(A, ct::array({0, 2}), ct::array({{1}, {2}}), 0), Dtype::float64, {5, 4},
         {1, 1, 1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 2, 2, 2, 2, 8, 9, 10, 11});
  expect(ct::delete_(A, 1, 0), Dtype::float64, {2, 4}, {0, 1, 2, 3, 8, 9, 10, 11});
  expect(ct::delete_(A, ct::slice(ct::none, ct::none, 2), 1), Dtype::float64, {3, 2}, {1, 3, 5, 7, 9, 11});
  expect(ct::delete_(A, ct::array({0, -1, 5})), Dtype::float64, {9}, {1, 2, 3, 4, 6, 7, 8, 9, 10});
  expect(ct::delete_(v, ct::array({true, false, true})), Dtype::int32, {1}, {1});
  expect(ct::delete_(v, -1), Dtype::int32, {2}, {3, 1});
  expect(ct::trim_zeros(ct::array({0, 0, 1, 0, 2, 0})), Dtype::int32, {3}, {1, 0, 2});
  expect(ct::trim_zeros(ct::array({0, 1, 0}), "f"), Dtype::int32, {2}, {1, 0});
  expect(ct::trim_zeros(ct::array({0, 1, 0}), "b"), Dtype::int32, {2}, {0, 1});
  expect(ct::trim_zeros(ct::array({0, 0})), Dtype::int32, {0}, {});
  expect(ct::trim_zeros(ct::array(0)), Dtype::int32, {}, {0});
  EXPECT_THROW(ct::insert(v, 4, 1), ct::IndexError);
  EXPECT_THROW(ct::delete_(v, 3), ct::IndexError);
  EXPECT_THROW(ct::trim_zeros(v, "x"), ct::ValueError);
}

/// Returns the source of position i after numpy.pad of an axis of n, by walking step by step.
std::int64_t walked(PadMode mode, std::int64_t i, std::int64_t n) {
  const bool inwards = i >= n;
  std::int64_t at = inwards ? n - 1 : 0, way = inwards ? -1 : 1, steps = inwards ? i - n + 1 : -i;
  if (mode == PadMode::edge || n == 1) return at;
  if (mode == PadMode::wrap) {
    for (at = inwards ? 0 : n - 1; steps > 1; --steps) at = (at - way + n) % n;
    return at;
  }
  if (mode == PadMode::symmetric) --steps;  // the edge comes first
  for (; steps > 0; --steps) {
    const bool turns = at + way < 0 || at + way >= n;
    if (turns) way = -way;
    if (!turns || mode == PadMode::reflect) at += way;
  }
  return at;
}

TEST(Pad, RepeatsInAnyShapeAndOrder) {
  struct Case {
    ct::Array x;
    std::vector<std::pair<std::int64_t, std::int64_t>> width;
  };
  const auto numbers = [](const ct::Shape& shape, Dtype dtype) {
    return (ct::arange(shape.product(), Dtype::int64) * 37 % 101).reshape(shape).astype(dtype);
  };
  const std::vector<Case> cases = {
      {numbers({5}, Dtype::bool_), {{17, 3}}},
      {numbers({2, 3, 4, 5}, Dtype::float32), {{0, 0}, {0, 0}, {1, 2}, {3, 1}}},
      {numbers({2, 4, 5, 3}, Dtype::float16).transpose({0, 3, 1, 2}), {{0, 0}, {0, 0}, {2, 2}, {1, 6}}},
      {numbers({3, 4}, Dtype::int8).T(), {{9, 0}, {0, 4}}},
      {numbers({2, 3, 2, 2, 3}, Dtype::int64), {{1, 0}, {2, 2}, {0, 1}, {3, 0}, {1, 1}}},
      {numbers({2, 3, 2, 2, 3}, Dtype::uint16).transpose({4, 0, 2, 1, 3}), {{1, 0}, {0, 0}, {0, 1}, {0, 0}, {2, 1}}},
      {numbers({2, 1, 3}, Dtype::int32)(ct::slice(), ct::slice(), ct::slice(ct::none, ct::none, -1)),
       {{1, 1}, {2, 0}, {0, 4}}},
      {numbers({0, 3}, Dtype::float32), {{0, 0}, {2, 1}}},
  };
  for (const PadMode mode : {PadMode::edge, PadMode::reflect, PadMode::symmetric, PadMode::wrap}) {
    for (const Case& c : cases) {
      ct::Array expected = c.x;  // axis by axis, with these positions
      for (int axis = 0; axis < c.x.ndim(); ++axis) {
        const auto [before, after] = c.width[static_cast<std::size_t>(axis)];
        const std::int64_t n = c.x.shape(axis);
        std::vector<std::int64_t> places;
        for (std::int64_t i = -before; i < n + after; ++i) places.push_back(i >= 0 && i < n ? i : walked(mode, i, n));
        if (!places.empty()) expected = ct::take(expected, ct::array(places), axis);
      }
      const ct::Array padded = ct::pad(c.x, c.width, {.mode = mode});
      ASSERT_EQ(padded.dtype(), c.x.dtype());
      ASSERT_EQ(padded.shape(), expected.shape());
      EXPECT_EQ(padded.to_vector<double>(), expected.to_vector<double>()) << static_cast<int>(mode);
    }
  }
}

TEST(Pad, Modes) {
  const ct::Array A = ct::arange(12.0).reshape({3, 4});
  const ct::Array v = ct::array({3, 1, 2});
  const ct::Array Z = ct::zeros({0, 3}, Dtype::float32);
  const ct::Array F = ct::array({{1.5f, -2.f, 3.f}, {0.f, 5.f, -6.5f}});
  expect(ct::pad(F, {{1, 0}, {0, 2}}, {.mode = PadMode::constant, .constant_value = 5}), Dtype::float32, {3, 5},
         {5, 5, 5, 5, 5, 1.5, -2, 3, 5, 5, 0, 5, -6.5, 5, 5});
  expect(ct::pad(v, 2), Dtype::int32, {7}, {0, 0, 3, 1, 2, 0, 0});
  expect(ct::pad(v, {1, 3}, {.constant_value = {4, 6}}), Dtype::int32, {7}, {4, 3, 1, 2, 6, 6, 6});
  expect(ct::pad(F, 1, {.constant_value = {{1, 2}, {3, 4}}}), Dtype::float32, {4, 5},
         {3, 1, 1, 1, 4, 3, 1.5, -2, 3, 4, 3, 0, 5, -6.5, 4, 3, 2, 2, 2, 4});
  expect(ct::pad(Z, 1), Dtype::float32, {2, 5}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect(ct::pad(A, 2, {.mode = PadMode::reflect}), Dtype::float64, {7, 8},
         {10, 9, 8, 9, 10, 11, 10, 9, 6,  5,  4,  5, 6, 7, 6, 5, 2, 1, 0, 1, 2, 3, 2, 1, 6, 5, 4, 5,
          6,  7, 6, 5, 10, 9,  8,  9, 10, 11, 10, 9, 6, 5, 4, 5, 6, 7, 6, 5, 2, 1, 0, 1, 2, 3, 2, 1});
  expect(ct::pad(v, 7, {.mode = PadMode::reflect}), Dtype::int32, {17},
         {1, 2, 1, 3, 1, 2, 1, 3, 1, 2, 1, 3, 1, 2, 1, 3, 1});
  expect(ct::pad(v, {9, 4}, {.mode = PadMode::reflect, .odd = true}), Dtype::int32, {16},
         {9, 7, 5, 6, 7, 5, 3, 4, 5, 3, 1, 2, 3, 1, -1, 0});
  expect(ct::pad(A, 1, {.mode = PadMode::edge}), Dtype::float64, {5, 6},
         {0, 0, 1, 2, 3, 3, 0, 0, 1, 2, 3, 3, 4, 4, 5, 6, 7, 7, 8, 8, 9, 10, 11, 11, 8, 8, 9, 10, 11, 11});
  expect(ct::pad(v, {4, 7}, {.mode = PadMode::wrap}), Dtype::int32, {14}, {2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
  expect(ct::pad(F, {1, 2}, {.mode = PadMode::wrap}), Dtype::float32, {5, 6},
         {-6.5, 0, 5, -6.5, 0,   5,  3, 1.5, -2, 3,    1.5, -2, -6.5, 0, 5,
          -6.5, 0, 5, 3,    1.5, -2, 3, 1.5, -2, -6.5, 0,   5,  -6.5, 0, 5});
  expect(ct::pad(v, {4, 8}, {.mode = PadMode::symmetric}), Dtype::int32, {15},
         {2, 2, 1, 3, 3, 1, 2, 2, 1, 3, 3, 1, 2, 2, 1});
  expect(ct::pad(v, {4, 8}, {.mode = PadMode::symmetric, .odd = true}), Dtype::int32, {15},
         {4, 4, 5, 3, 3, 1, 2, 2, 3, 1, 1, -1, 0, 0, 1});
  expect(ct::pad(F(ct::slice(1)), 2, {.mode = PadMode::reflect}), Dtype::float32, {5, 7},
         {3, -2, 1.5, -2, 3,  -2,  1.5, 3, -2, 1.5, -2, 3,  -2,  1.5, 3, -2, 1.5, -2,
          3, -2, 1.5, 3,  -2, 1.5, -2,  3, -2, 1.5, 3,  -2, 1.5, -2,  3, -2, 1.5});
  expect(ct::pad(v, {2, 3}, {.mode = PadMode::linear_ramp, .end_value = {0, 10}}), Dtype::int32, {8},
         {0, 1, 3, 1, 2, 4, 7, 10});
  expect(ct::pad(A, {1, 2}, {.mode = PadMode::linear_ramp, .end_value = -1}), Dtype::float64, {6, 7},
         {-1, -1, -1, -1, -1, -1, -1, -1, 0,   1, 2,   3, 1, -1, -1, 4,  5,  6,  7,  3,  -1,
          -1, 8,  9,  10, 11, 5,  -1, -1, 3.5, 4, 4.5, 5, 2, -1, -1, -1, -1, -1, -1, -1, -1});
  expect(ct::pad(A, {2, 1}, {.mode = PadMode::median}), Dtype::float64, {6, 7},
         {5.5, 5.5, 4, 5, 6, 7, 5.5, 5.5, 5.5, 4, 5, 6,  7,  5.5, 1.5, 1.5, 0, 1, 2, 3, 1.5,
          5.5, 5.5, 4, 5, 6, 7, 5.5, 9.5, 9.5, 8, 9, 10, 11, 9.5, 5.5, 5.5, 4, 5, 6, 7, 5.5});
  expect(ct::pad(v, 2, {.mode = PadMode::median}), Dtype::int32, {7}, {2, 2, 3, 1, 2, 2, 2});
  expect(ct::pad(v, 2, {.mode = PadMode::mean}), Dtype::int32, {7}, {2, 2, 3, 1, 2, 2, 2});
  expect(
      ct::pad(A, 1, {.mode = PadMode::mean}), Dtype::float64, {5, 6},
      {5.5, 4, 5, 6, 7, 5.5, 1.5, 0, 1, 2, 3, 1.5, 5.5, 4, 5, 6, 7, 5.5, 9.5, 8, 9, 10, 11, 9.5, 5.5, 4, 5, 6, 7, 5.5});
  expect(ct::pad(F, 1, {.mode = PadMode::maximum}), Dtype::float32, {4, 5},
         {5, 1.5, 5, 3, 5, 3, 1.5, -2, 3, 3, 5, 0, 5, -6.5, 5, 5, 1.5, 5, 3, 5});
  expect(ct::pad(F, 1, {.mode = PadMode::minimum, .stat_length = 2}), Dtype::float32, {4, 5},
         {-2, 0, -2, -6.5, -6.5, -2, 1.5, -2, 3, -2, 0, 0, 5, -6.5, -6.5, -2, 0, -2, -6.5, -6.5});
  expect(ct::pad(v, {1, 2}, {.mode = PadMode::maximum, .stat_length = {{1, 2}}}), Dtype::int32, {6},
         {3, 3, 1, 2, 2, 2});
  EXPECT_EQ(ct::pad(A, {1, 2}, {.mode = PadMode::empty}).shape(), (ct::Shape{6, 7}));
  EXPECT_FALSE(ct::pad(A, 0, {.mode = PadMode::edge}).shares_memory(A));
  EXPECT_THROW(ct::pad(v, -1), ct::ValueError);
  EXPECT_THROW(ct::pad(Z, 1, {.mode = PadMode::edge}), ct::ValueError);
  EXPECT_THROW(ct::pad(A, {{1, 0}, {0, 2}, {1, 1}}), ct::ShapeError);
}

TEST(Manipulation, ApplyAlongAxis) {
  const ct::Array M = ct::arange(12).reshape({2, 3, 2});
  expect(ct::apply_along_axis([](const ct::Array& x) { return ct::sum(x); }, 1, M), Dtype::int64, {2, 2},
         {6, 9, 24, 27});
  expect(ct::apply_along_axis([](const ct::Array& x) { return ct::flip(x); }, 0, M), Dtype::int64, {2, 3, 2},
         {6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5});
  const ct::Array wide = ct::apply_along_axis(
      [](const ct::Array& x) {
        return ct::stack({x, -x});
      },
      1, M);  // [2, (2, 3), 2]
  expect(wide(1), Dtype::int64, {2, 3, 2}, {6, 7, 8, 9, 10, 11, -6, -7, -8, -9, -10, -11});
  EXPECT_THROW(ct::apply_along_axis([](const ct::Array& x) { return x; }, 0, ct::zeros({2, 0}, Dtype::float32)),
               ct::ValueError);
  EXPECT_THROW(
      ct::apply_along_axis([](const ct::Array& x) { return ct::zeros({x(0).item<int>() + 1}, Dtype::float32); }, 1, M),
      ct::ShapeError);
}

// Products of sizes that wrap around would be accepted as other sizes.
TEST(Manipulation, ShapesThatAreTooLargeAreRefused) {
  const std::int64_t large = std::int64_t{1} << 32;
  const ct::Array none = ct::Array::empty({0}, Dtype::float32), one = ct::Array::empty({1}, Dtype::float32);
  EXPECT_THROW(none.reshape({large, large}), ct::ShapeError);
  EXPECT_THROW(none.reshape({large, large, -1}), ct::ShapeError);
  EXPECT_THROW(one.broadcast_to({large, large}), ct::ShapeError);
  EXPECT_THROW(one.broadcast_to({-3}), ct::ShapeError);
  EXPECT_THROW(none.reshape({0, -1}), ct::ShapeError);
  EXPECT_EQ(none.reshape({-1, 3}).shape(), (ct::Shape{0, 3}));
  EXPECT_EQ(none.reshape({0, large}).shape(), (ct::Shape{0, large}));
  // the smallest number of elements that is rejected
  EXPECT_THROW(one.broadcast_to({(std::int64_t{1} << 59) + 1}), ct::ShapeError);
  EXPECT_EQ(one.broadcast_to({std::int64_t{1} << 59}).size(), std::int64_t{1} << 59);

  // borders whose sum wraps to 0 or below in 64 bits, on either side
  const ct::Array five = ct::arange(5);
  const std::int64_t most = std::int64_t{1} << 59, huge = std::numeric_limits<std::int64_t>::max();
  const auto message = [&](std::int64_t before, std::int64_t after) {
    try {
      ct::pad(five, {{before, after}});
    } catch (const ct::ShapeError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  for (const auto& [before, after] : {std::pair{huge, huge},
                                      {most + 1, std::int64_t{0}},
                                      {std::int64_t{0}, most + 1},
                                      {huge - 2, std::int64_t{0}},
                                      {std::int64_t{0}, huge - 2}})
    EXPECT_EQ(message(before, after), "pad: no array has borders as wide as " + std::to_string(before) + " and " +
                                          std::to_string(after) + ", of axis 0");
  EXPECT_EQ(message(most, most), "pad: shape (" + std::to_string(2 * most + 5) + ",) is too large");
}
