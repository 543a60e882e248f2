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
}

}  // namespace
