// Writing through views, and walking over the first axis.

#include <iterator>

#include "catenary/array/elementwise.h"
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

}  // namespace
