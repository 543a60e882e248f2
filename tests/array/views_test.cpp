// Writing through views, and iterating over the first axis.

#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/differences.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/statistics.h"
#include "catenary/array/view.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

// Assignments whose effect would be lost silently do not compile. Assignments through views take effect.
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

template <class T>
concept Sets = requires(T&& to) {
  std::forward<T>(to).set(1, 0);
};
template <class T>
concept SetsAt = requires(T&& to) {
  std::forward<T>(to).set_at({0}, 1);
};
template <class T>
concept Points = requires(T&& to) {
  std::forward<T>(to).template mutable_data<float>();
  std::forward<T>(to).raw_mutable_data();
};
template <class T>
concept IsWrittenTo = requires(T&& to, const Array& x) {
  ct::put(std::forward<T>(to), 0, 1);
  ct::copyto(std::forward<T>(to), 1);
};
/// Tests all ways of writing, or none of them.
template <class T>
constexpr bool kIsWritten = AddsOne<T>&& Fills<T>&& Sets<T>&& SetsAt<T>&& Points<T>&& IsWrittenTo<T>;
template <class T>
constexpr bool kIsNotWritten = !AddsOne<T> && !Fills<T> && !Sets<T> && !SetsAt<T> && !Points<T> && !IsWrittenTo<T>;
#define CT_RESULT(...) \
  decltype([](const Array& x) -> decltype(auto) { return (__VA_ARGS__); }(std::declval<const Array&>()))

TEST(Views, PossibleCopiesAreNotWrittenTo) {
  static_assert(kIsWritten<Array&> && kIsWritten<const Array&> && kIsWritten<CT_RESULT(x(1))>);
  static_assert(kIsWritten<CT_RESULT(x[0])> && kIsWritten<CT_RESULT(x.T())> && kIsWritten<CT_RESULT(x(1).squeeze())>);
  static_assert(kIsWritten<CT_RESULT(ct::swapaxes(x(1), 0, 1))> && kIsWritten<CT_RESULT(ct::diagonal(x))>);
  static_assert(kIsWritten<CT_RESULT(ct::flip(ct::expand_dims(x, 0)))> &&
                kIsWritten<CT_RESULT(x.as_strided({1}, {1}))>);
  static_assert(kIsWritten<CT_RESULT(ct::view(x, Dtype::int32))> && kIsWritten<CT_RESULT(ct::transpose(x)[1](2))>);
  static_assert(kIsNotWritten<CT_RESULT(x.get({0}))> && kIsNotWritten<CT_RESULT(x(x))>);
  static_assert(kIsNotWritten<CT_RESULT(x.T().reshape({6}))> && kIsNotWritten<CT_RESULT(ct::reshape(x, {6}))>);
  static_assert(kIsNotWritten<CT_RESULT((x.T() * 2).reshape({6}))>);
  static_assert(kIsNotWritten<CT_RESULT(x.ravel())> && kIsNotWritten<CT_RESULT(ct::ravel(x.T()))>);
  static_assert(kIsNotWritten<CT_RESULT(x.flatten())> && kIsNotWritten<CT_RESULT(x.contiguous())>);
  static_assert(kIsNotWritten<CT_RESULT(x.to_device(ct::Device()))> && kIsNotWritten<CT_RESULT(ct::asarray(x))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::ascontiguousarray(x))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::in_order(x, ct::Order::F))> && kIsNotWritten<CT_RESULT(ct::diag(x))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::einsum("ij->ji", x))>);
  static_assert(kIsNotWritten<CT_RESULT(x.broadcast_to({2, 3}))> && kIsNotWritten<CT_RESULT(ct::broadcast_to(x, {2}))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::sliding_window_view(x, {2}))>);
  // and views of results
  static_assert(kIsNotWritten<CT_RESULT(x.ravel()(0))> && kIsNotWritten<CT_RESULT(x.ravel()[0])>);
  static_assert(kIsNotWritten<CT_RESULT(x.ravel().squeeze())> && kIsNotWritten<CT_RESULT(x.contiguous().T())>);
  static_assert(kIsNotWritten<CT_RESULT(x.contiguous().transpose({1, 0}))>);
  static_assert(kIsNotWritten<CT_RESULT(x.contiguous().as_strided({1}, {1}))>);
  static_assert(kIsNotWritten<CT_RESULT(x(x).squeeze()[0].T())>);
  static_assert(kIsNotWritten<CT_RESULT(ct::squeeze(x.ravel()))> && kIsNotWritten<CT_RESULT(ct::flip(x.ravel(), 0))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::swapaxes(x.contiguous(), 0, 1))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::moveaxis(x.contiguous(), {0, 1}, {1, 0}))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::moveaxis(x.contiguous(), 0, 1))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::rollaxis(x.contiguous(), 1))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::transpose(x.contiguous(), {1, 0}))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::permute_dims(x.contiguous(), {1, 0}))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::matrix_transpose(x.contiguous()))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::expand_dims(x.contiguous(), {0, 1}))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::atleast_1d(x.contiguous()))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::atleast_2d(x.contiguous()))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::atleast_3d(x.contiguous()))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::fliplr(x.contiguous()))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::flipud(x.contiguous()))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::rot90(x.contiguous(), 1, {1, 0}))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::diagonal(x.contiguous()))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::trim_zeros(x.ravel()))>);
  static_assert(kIsNotWritten<CT_RESULT(ct::view(x.ravel(), Dtype::int32))>);

  // named arrays are writable
  const Array x = make<int>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Array flat = x.ravel();
  flat += 1;
  ct::put(x(1), 0, 0);
  ct::copyto(x.T()[2], 7);
  x(0).set(8, 0);
  if (x.device().is_cpu()) {
    x(0).mutable_data<int>()[1] = 9;
  } else {  // memory without a host pointer
    x(0).set(9, 1);
  }
  expect_array(x, {8, 9, 7, 0, 6, 7}, {2, 3}, Dtype::int32);
}

/// Functions of one matrix with one array as result.
std::vector<std::pair<std::string, std::function<std::pair<Array, bool>(const Array&)>>> functions_of_a_matrix() {
  std::vector<std::pair<std::string, std::function<std::pair<Array, bool>(const Array&)>>> all;
#define CT_ADD(...)                                                                      \
  all.emplace_back(#__VA_ARGS__, [](const Array& x) {                                    \
    return std::pair<Array, bool>(__VA_ARGS__, std::is_const_v<CT_RESULT(__VA_ARGS__)>); \
  })
  CT_ADD(x.reshape({4, 4}));
  CT_ADD(x.reshape({2, 8}));
  CT_ADD(x.ravel());
  CT_ADD(x.flatten());
  CT_ADD(x.contiguous());
  CT_ADD(x.to_device(x.device()));
  CT_ADD(x.squeeze());
  CT_ADD(x.T());
  CT_ADD(x.transpose());
  CT_ADD(x.copy());
  CT_ADD(x.astype(Dtype::int32));
  CT_ADD(x.astype(Dtype::float32));
  CT_ADD(ct::asarray(x));
  CT_ADD(ct::array(x));
  CT_ADD(ct::asarray(x, Dtype::int32));
  CT_ADD(ct::ascontiguousarray(x));
  CT_ADD(ct::copy(x));
  CT_ADD(ct::in_order(x, ct::Order::C));
  CT_ADD(ct::in_order(x, ct::Order::F));
  CT_ADD(ct::in_order(x, ct::Order::K));
  CT_ADD(ct::copy(x, ct::Order::K));
  CT_ADD(ct::byteswap(x));
  CT_ADD(ct::view(x, Dtype::float32));
  CT_ADD(ct::matrix_transpose(x));
  CT_ADD(ct::swapaxes(x, 0, 1));
  CT_ADD(ct::moveaxis(x, 0, 1));
  CT_ADD(ct::rollaxis(x, 1));
  CT_ADD(ct::expand_dims(x, 0));
  CT_ADD(ct::squeeze(x));
  CT_ADD(ct::atleast_1d(x));
  CT_ADD(ct::atleast_2d(x));
  CT_ADD(ct::atleast_3d(x));
  CT_ADD(ct::flip(x));
  CT_ADD(ct::fliplr(x));
  CT_ADD(ct::flipud(x));
  CT_ADD(ct::rot90(x, 0));
  CT_ADD(ct::rot90(x));
  CT_ADD(ct::broadcast_to(x, {3, 4, 4}));
  CT_ADD(ct::sliding_window_view(x, {2, 2}));
  CT_ADD(ct::diag(x));
  CT_ADD(ct::diagonal(x));
  CT_ADD(ct::trim_zeros(x[0]));
  CT_ADD(ct::einsum("ij->ji", x));
  CT_ADD(ct::einsum("ii->i", x));
  CT_ADD(ct::einsum("ij->i", x));
  CT_ADD(ct::concatenate({x}));
  CT_ADD(ct::concatenate({x}, std::nullopt));
  CT_ADD(ct::stack({x}));
  CT_ADD(ct::vstack({x}));
  CT_ADD(ct::hstack({x}));
  CT_ADD(ct::dstack({x}));
  CT_ADD(ct::column_stack({x}));
  CT_ADD(ct::tile(x, 1));
  CT_ADD(ct::append(x, ct::zeros({0}, Dtype::int32)));
  CT_ADD(ct::repeat(x, 1, 0));
  CT_ADD(ct::roll(x, 0));
  CT_ADD(ct::roll(x, 0, 0));
  CT_ADD(ct::resize(x, {4, 4}));
  CT_ADD(ct::pad(x, 0));
  CT_ADD(ct::take(x, 0));
  CT_ADD(ct::take(x, 0, 0));
  CT_ADD(ct::insert(x, ct::slice(0, 0), 0));
  CT_ADD(ct::delete_(x, ct::slice(0, 0)));
  CT_ADD(ct::delete_(x, ct::slice(0, 0), 0));
  CT_ADD(ct::tril(x, 9));
  CT_ADD(ct::triu(x, -9));
  CT_ADD(ct::sort(x, -1));
  CT_ADD(ct::sum(x, ct::Axes{}));
  CT_ADD(ct::max(x, ct::Axes{}));
  CT_ADD(ct::prod(x, ct::Axes{}));
  CT_ADD(ct::cumsum(x, 0));
  CT_ADD(ct::diff(x));
  CT_ADD(ct::absolute(x));
  CT_ADD(ct::floor(x));
  CT_ADD(ct::rint(x));
  CT_ADD(ct::trunc(x));
  CT_ADD(ct::positive(x));
  CT_ADD(ct::clip(x, -9, 9));
  CT_ADD(ct::round(x));
  CT_ADD(ct::nan_to_num(x));
  CT_ADD(ct::unique(x));
  CT_ADD(ct::linalg::matrix_power(x.astype(Dtype::float32), 1));
  CT_ADD(ct::apply_along_axis([](const Array& row) { return row; }, 0, x));
  CT_ADD(ct::random::permutation(x));
#undef CT_ADD
  return all;
}

// A function that returns a view for some arguments and a copy for others returns a const array.
TEST(Views, PossibleViewsAreConst) {
  const Array whole = ct::arange(64, Dtype::int32).reshape({8, 8});
  const std::vector<Array> layouts = {
      whole(ct::slice(4), ct::slice(4)).copy(), whole(ct::slice(4), ct::slice(4)).copy().T(),
      whole(ct::slice(ct::none, ct::none, 2), ct::slice(4)), whole(ct::slice(4), ct::slice(ct::none, ct::none, -2))};
  for (const auto& [name, f] : functions_of_a_matrix()) {
    int views = 0, copies = 0;
    bool is_const = false;
    for (const Array& x : layouts) {
      std::optional<std::pair<Array, bool>> result;
      try {
        result = f(x);
      } catch (const ct::ShapeError&) {  // noncontiguous bytes
        continue;
      }
      is_const = result->second;
      ++(result->first.shares_memory(x) ? views : copies);
    }
    EXPECT_TRUE(views == 0 || copies == 0 || is_const) << name << ": " << views << " views, " << copies << " copies";
  }
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
  expect_array(ct::byteswap(make<int>({5}, {}) * 1), {0x05000000}, {}, Dtype::int32);  // a pending value
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
  for (const Array& a : {x, x * 1}) {  // in memory, and still pending
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
