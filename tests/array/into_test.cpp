// Elementwise functions with an existing output array, as NumPy's ufuncs with `out`.

#include <cstdint>
#include <cstring>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/user_kernel.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/overflow_error.h"
#include "catenary/ops/op_names.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using ct::Operand;
using ct::ops::Op;
using namespace testing_arrays;

namespace {

TEST(ApplyTo, WritesWhatTheFunctionGives) {
  const Array x = make<float>({1, 4, 9}), out = ct::Array::empty({3}, Dtype::float32);
  ct::apply_to(out, Op::sqrt, x);
  expect_array(out, {1, 2, 3}, {3}, Dtype::float32);
  ct::apply_to(out, Op::add, x, 1);
  expect_array(out, {2, 5, 10}, {3}, Dtype::float32);
  const Array wide = ct::Array::empty({2, 3}, Dtype::float64);
  ct::apply_to(wide, Op::multiply, x, make<float>({2, 3}, {2, 1}));
  expect_array(wide, {2, 8, 18, 3, 12, 27}, {2, 3}, Dtype::float64);
  ct::apply_to(wide, Op::negative, x);  // broadcasts the operand to out
  expect_array(wide, {-1, -4, -9, -1, -4, -9}, {2, 3}, Dtype::float64);
  const Array truth = ct::Array::empty({3}, Dtype::bool_);
  ct::apply_to(truth, Op::greater, x, 3);
  expect_array(truth, {0, 1, 1}, {3}, Dtype::bool_);
  ct::apply_to(truth, Op::add, truth, make<int>({1, 0, 0}).astype(Dtype::bool_));
  expect_array(truth, {1, 1, 1}, {3}, Dtype::bool_);
}

TEST(ApplyTo, OutMayBeAnOperandOrOverlapOne) {
  const Array x = make<float>({1, 2, 3, 4});
  ct::apply_to(x, Op::power, x, 2);
  expect_array(x, {1, 4, 9, 16}, {4}, Dtype::float32);
  const Array tail = x(ct::slice(1, 4)), head = x(ct::slice(0, 3));
  ct::apply_to(tail, Op::add, head, tail);
  expect_array(x, {1, 5, 13, 25}, {4}, Dtype::float32);
  const Array none = ct::Array::empty({0}, Dtype::float32);
  ct::apply_to(none, Op::add, none, 1);
}

TEST(ApplyTo, RefusesWhatDoesNotFit) {
  const Array x = make<float>({1, 2, 3}), integers = ct::Array::empty({3}, Dtype::int32);
  EXPECT_THROW(ct::apply_to(integers, Op::sqrt, x), ct::DtypeError);
  EXPECT_THROW(ct::apply_to(integers, Op::add, x, 1), ct::DtypeError);
  EXPECT_THROW(ct::apply_to(ct::Array::empty({2}, Dtype::float32), Op::sqrt, x), ct::ShapeError);
  EXPECT_THROW(ct::apply_to(ct::Array::empty({}, Dtype::float32), Op::add, x, 1), ct::ShapeError);
  EXPECT_THROW(ct::apply_to(ct::Array::empty({1}, Dtype::float32), Op::add, 1, x), ct::ShapeError);
}

TEST(ApplyAt, AnElementTakesEveryValue) {
  const Array x = make<int>({1, 2, 3, 4}), at = make<int>({0, 2, 0, -1, 0});
  ct::apply_at(x, Op::multiply, {at}, Operand(make<int>({2, 3, 5, 7, 11})));
  expect_array(x, {110, 2, 9, 28}, {4}, Dtype::int32);
  ct::apply_at(x, Op::negative, {at});
  expect_array(x, {-110, 2, -9, -28}, {4}, Dtype::int32);
  ct::apply_at(x, Op::floor_divide, {make<int>({0, 0})}, Operand(4));
  expect_array(x, {-7, 2, -9, -28}, {4}, Dtype::int32);
  const Array table = make<float>({1, 2, 3, 4}, {2, 2}).T();  // not C-ordered, a broadcast value, a mask
  const Array halves = make<float>({0.5, 0.25});
  ct::apply_at(table, Op::power, {make<int>({1, 1})}, Operand(halves));
  expect_array(table, {1, 3, std::pow(2, 0.25), std::pow(4, 1.0 / 16)}, {2, 2}, Dtype::float32, 1e-6);
  ct::apply_at(table, Op::add, {ct::greater(table, 2)}, Operand(1));
  expect_array(table(0), {1, 4}, {2}, Dtype::float32);
  ct::apply_at(x, Op::add, {make<int>({})}, Operand(1));
  EXPECT_THROW(ct::apply_at(x, Op::divide, {at}, Operand(2)), ct::DtypeError);
  EXPECT_THROW(ct::apply_at(x, Op::add, {at}), ct::DtypeError);
  EXPECT_THROW(ct::apply_at(x, Op::add, {make<int>({9})}, Operand(2)), ct::IndexError);
  const Array none = ct::Array::empty({4, 0, 2}, Dtype::int32);  // a value whose shape does not fit the selection
  EXPECT_THROW(ct::apply_at(none, Op::power, {make<int>({0})}, Operand(none)), ct::ShapeError);
}

TEST(NextAfter, Of16BitFloats) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const double step = dtype == Dtype::float16 ? 1.0 / 1024 : 1.0 / 128;
    const double least = dtype == Dtype::float16 ? std::ldexp(1, -24) : std::ldexp(1, -133);
    const Array x = make<float>({1, 1, -1, -1, 0, 0, 2, NAN, 1, 3}).astype(dtype);
    const Array y = make<float>({9, 0, -9, 0, 1, -1, 2, 1, NAN, INFINITY}).astype(dtype);
    const Array next = ct::nextafter(x, y);
    expect_array(next, {1 + step, 1 - step / 2, -1 - step, -1 + step / 2, least, -least, 2, NAN, NAN, 3 + 2 * step},
                 {10}, dtype);
    const Array out = Array::empty({10}, dtype);
    ct::apply_to(out, Op::nextafter, x, y);
    expect_array(out, next.to_vector<double>(), {10}, dtype);
    expect_array(ct::nextafter(x(ct::slice(0, 2)), 9), {1 + step, 1 + step}, {2}, dtype);
  }
}

TEST(Promotion, EachIntegerIsAFloatByItself) {
  const Array narrow = make<std::int8_t>({1}), byte = make<std::uint8_t>({1}), wide = make<std::int16_t>({1});
  EXPECT_EQ(ct::arctan2(narrow, byte).dtype(), Dtype::float16);
  EXPECT_EQ(ct::copysign(wide, make<std::uint16_t>({1})).dtype(), Dtype::float32);
  EXPECT_EQ(ct::hypot(narrow, make<std::uint32_t>({1})).dtype(), Dtype::float64);
  EXPECT_EQ(ct::arctan2(narrow, 2).dtype(), Dtype::float16);
  const Array out = Array::empty({1}, Dtype::float16);
  ct::apply_to(out, Op::hypot, narrow, byte);
  expect_array(out, {std::sqrt(2)}, {1}, Dtype::float16, 1e-3);
}

TEST(Literals, OutOfRangeOverflowWhereIntegersAreComputed) {
  const Array x = make<std::uint8_t>({1, 2, 4});
  EXPECT_THROW(ct::add(x, 300), ct::OverflowError);
  EXPECT_THROW(ct::multiply(x, -1), ct::OverflowError);
  EXPECT_THROW(ct::apply_to(x, Op::add, x, 300), ct::OverflowError);
  expect_array(ct::divide(x, -2), {-0.5, -1, -2}, {3}, Dtype::float64);
  expect_array(ct::less(x, 300), {1, 1, 1}, {3}, Dtype::bool_);
  expect_array(ct::greater(-1, x), {0, 0, 0}, {3}, Dtype::bool_);
  expect_array(ct::greater(make<std::int32_t>({-1, 1}), std::int64_t{1} << 40), {0, 0}, {2}, Dtype::bool_);
  expect_array(ct::greater(make<std::uint64_t>({0, 1}), -1), {1, 1}, {2}, Dtype::bool_);
}

TEST(Reciprocal, OfIntegersIsTheIntegerPart) {
  expect_array(ct::reciprocal(make<std::int32_t>({-2, -1, 0, 1, 2})), {0, -1, 0, 1, 0}, {5}, Dtype::int32);
  expect_array(ct::reciprocal(make<std::uint64_t>({0, 1, 2})), {0, 1, 0}, {3}, Dtype::uint64);
  expect_array(ct::reciprocal(make<float>({2, -4})), {0.5, -0.25}, {2}, Dtype::float32);
}

TEST(Axes, AnAxisThatIsNotThereIsAnAxisError) {
  EXPECT_THROW(make<float>({1, 2}).sum(1), ct::AxisError);
  EXPECT_THROW(make<float>({1, 2}).sum({0, 0}), ct::ShapeError);
}

TEST(RawKernelArgument, HoldsNumbersAndStructures) {
  const ct::RawKernel::Argument five(std::int32_t{5});
  EXPECT_EQ(five.size(), 4u);
  EXPECT_EQ(*static_cast<const std::int32_t*>(five.data()), 5);
  EXPECT_TRUE(ct::RawKernel::Argument(make<float>({1})).array().defined());
  std::vector<char> many(4097);
  many[4095] = 'x';
  for (const std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{17}, std::size_t{4096}}) {
    const ct::RawKernel::Argument argument(many.data(), size);
    EXPECT_EQ(argument.size(), size);
    EXPECT_EQ(std::memcmp(argument.data(), many.data(), size), 0);
    const ct::RawKernel::Argument copied = argument;
    EXPECT_EQ(std::memcmp(copied.data(), many.data(), size), 0);
  }
  EXPECT_THROW(ct::RawKernel::Argument(many.data(), many.size()), ct::ValueError);
  EXPECT_EQ(ct::RawKernel::groups_for(ct::Device(), 1), std::pair(std::int64_t{1}, 1));
}

}  // namespace
