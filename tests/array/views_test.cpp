// Writing through views, and walking over the first axis.

#include <iterator>

#include "catenary/array/elementwise.h"
#include "catenary/array/view.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

// What would be lost without a word does not compile; what a view takes through arrives.
template <class T, class V>
concept Assigns = requires(T&& to, const V& value) {
  std::forward<T>(to) = value;
};
template <class T>
concept AddsOne = requires(T&& to) {
  std::forward<T>(to) += 1;
  std::forward<T>(to) -= 1;
  std::forward<T>(to) *= 1;
  std::forward<T>(to) /= 1;
};
template <class T>
concept Fills = requires(T&& to) {
  std::forward<T>(to).fill(1);
};
template <class... I>
using Picked = decltype(std::declval<const Array&>()(std::declval<const I&>()...));

TEST(Views, WritingToATemporary) {
  static_assert(Assigns<Array&, Array>);
  static_assert(!Assigns<Array, Array> && !Assigns<const Array, Array> && !Assigns<const Array&, Array>);
  static_assert(!Assigns<Picked<int>, Array> && !Assigns<Picked<Array>, Array> && !Assigns<Picked<int>, int>);
  static_assert(!Assigns<decltype(std::declval<Array>()[0]), Array>);
  static_assert(AddsOne<Array&> && AddsOne<const Array&> && AddsOne<Picked<int, ct::Slice, ct::NewAxis>>);
  static_assert(!AddsOne<Picked<Array>> && !AddsOne<Picked<int, Array>> && !AddsOne<Picked<ct::Index>>);
  static_assert(!AddsOne<decltype(std::declval<const Array&>().get({}))>);
  static_assert(Fills<const Array&> && Fills<Picked<int>> && !Fills<Picked<Array>>);

  const Array x = make<int>({1, 2, 3, 4, 5, 6}, {2, 3});
  x(1) += 1;
  x(0, ct::slice(1)).fill(9);
  x.set(x(x > 6) + 1, x > 6);
  x.set(0, 1, 0);
  expect_array(x, {10, 2, 3, 0, 6, 8}, {2, 3}, Dtype::int32);
}

TEST(Views, OverTheFirstAxis) {
  const Array x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  std::vector<std::vector<int>> rows;
  for (const Array& row : x) rows.push_back(row.to_vector<int>());
  EXPECT_EQ(rows, (std::vector<std::vector<int>>{{1, 2, 3}, {4, 5, 6}}));
  for (Array row : x(ct::ellipsis, ct::slice(ct::none, ct::none, -1))) row /= row;
  for (const Array& element : x(0)) element += 1;
  expect_array(x, {2, 2, 2, 1, 1, 1}, {2, 3}, Dtype::float32);
  for (const Array& row : Array::empty({0, 3}, Dtype::float32)) ADD_FAILURE() << row;
  EXPECT_EQ(std::distance(x.begin(), x.end()), 2);
  EXPECT_THROW(make<int>({1}, {}).end(), ct::ShapeError);
}

TEST(Views, TheSameBytesAsAnotherDtype) {
  const Array x = make<int>({0x3f800000, 0x40000000, 0, 0x40400000}, {2, 2});
  const Array floats = ct::view(x, Dtype::float32);
  expect_array(floats, {1, 2, 0, 3}, {2, 2}, Dtype::float32);
  floats(1, 0).fill(2);
  expect_array(x, {0x3f800000, 0x40000000, 0x40000000, 0x40400000}, {2, 2}, Dtype::int32);
  expect_array(ct::view(x, Dtype::uint16), {0, 0x3f80, 0, 0x4000, 0, 0x4000, 0, 0x4040}, {2, 4}, Dtype::uint16);
  expect_array(ct::view(ct::view(x, Dtype::uint8), Dtype::int32), {0x3f800000, 0x40000000, 0x40000000, 0x40400000},
               {2, 2}, Dtype::int32);
  EXPECT_EQ(ct::view(x(ct::slice(1, 2)), Dtype::int64).shape(), (Shape{1, 1}));
  EXPECT_EQ(ct::view(x.T(), Dtype::float32).strides(), (Shape{1, 2}));
  EXPECT_EQ(ct::view(Array::empty({0, 4}, Dtype::uint8), Dtype::float32).shape(), (Shape{0, 1}));
  EXPECT_EQ(ct::view(Array::empty({}, Dtype::float32), Dtype::int32).ndim(), 0);
  EXPECT_THROW(ct::view(x.T(), Dtype::int64), ct::ShapeError);
  EXPECT_THROW(ct::view(Array::empty({}, Dtype::float32), Dtype::int8), ct::ShapeError);
  EXPECT_THROW(ct::view(Array::empty({3}, Dtype::uint8), Dtype::int16), ct::ShapeError);
  EXPECT_THROW(ct::view(x(0)(ct::slice(1, 2)), Dtype::int64), ct::ShapeError);
  const Array none = Array::empty({3, 20}, Dtype::int16)(ct::slice(0, 0), ct::slice(0, 20, 2));
  EXPECT_EQ(ct::view(none, Dtype::int32).shape(), (Shape{0, 5}));
  EXPECT_TRUE(ct::view(none, Dtype::int32).shares_memory(none));
}

TEST(Views, BytesReversed) {
  const Array x = make<int>({1, 0x01020304, -2, 256}, {2, 2});
  const std::vector<double> reversed = {0x01000000, 0x04030201, static_cast<std::int32_t>(0xfeffffff), 0x00010000};
  expect_array(ct::byteswap(x), reversed, {2, 2}, Dtype::int32);
  const Array turned = ct::byteswap(x.T());
  expect_array(turned.T(), reversed, {2, 2}, Dtype::int32);
  EXPECT_EQ(turned.strides(), (Shape{1, 2}));
  expect_array(ct::byteswap(x(ct::ellipsis, ct::slice(ct::none, ct::none, -1))(1)), {0x00010000, reversed[2]}, {2},
               Dtype::int32);
  expect_array(ct::byteswap(make<std::uint8_t>({1, 2})), {1, 2}, {2}, Dtype::uint8);
  expect_array(ct::byteswap(make<int>({5}, {}) * 1), {0x05000000}, {}, Dtype::int32);  // a value that is still pending
  EXPECT_EQ(ct::byteswap(Array::empty({2, 0}, Dtype::float64)).shape(), (Shape{2, 0}));
}

TEST(Views, OrdersInMemory) {
  const Array x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_TRUE(ct::is_in_order(x, ct::Order::C) && !ct::is_in_order(x, ct::Order::F) &&
              ct::is_in_order(x, ct::Order::K));
  EXPECT_TRUE(ct::is_in_order(x.T(), ct::Order::F) && !ct::is_in_order(x.T(), ct::Order::C));
  EXPECT_TRUE(ct::is_in_order(x(0), ct::Order::C) && ct::is_in_order(x(0), ct::Order::F));
  EXPECT_EQ(ct::empty({2, 3, 4}, Dtype::int8, ct::Order::F).strides(), (Shape{1, 2, 6}));
  EXPECT_EQ(ct::empty({2, 3}, Dtype::int8, ct::Order::K).strides(), (Shape{3, 1}));
  for (const Array& a : {x, x * 1}) {  // of memory, and still to be computed
    const Array fortran = ct::copy(a, ct::Order::F);
    EXPECT_EQ(fortran.strides(), (Shape{1, 2}));
    expect_array(fortran, {1, 2, 3, 4, 5, 6}, {2, 3}, Dtype::float32);
    EXPECT_TRUE(ct::in_order(fortran, ct::Order::F).is(fortran) && ct::in_order(a, ct::Order::C).is(a));
    expect_array(ct::in_order(fortran, ct::Order::C), {1, 2, 3, 4, 5, 6}, {2, 3}, Dtype::float32);
    EXPECT_EQ(ct::copy(fortran, ct::Order::K).strides(), (Shape{1, 2}));
  }
  const Array none = Array::empty({2, 0, 3}, Dtype::float32).T();
  EXPECT_TRUE(none.is_contiguous() && ct::is_in_order(none, ct::Order::F));
}

}  // namespace
