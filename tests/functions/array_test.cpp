#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/statistics.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/gradient_check.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/config.h"
#include "catenary/device/pool.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"
#include "tests/functions/helpers.h"
#include "tests/gradients.h"
#include "tests/settle.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using test::values;
using V = std::vector<Variable>;
using test::numbers;

V all(const Variables& ys) { return V(ys.begin(), ys.end()); }

/// Squares make the second derivatives depend on x.
void check_squared(const char* name, const Function& f, const std::vector<Array>& x) {
  const Function squared = [&](const V& xs) {
    V ys;
    for (const Variable& y : f(xs)) ys.push_back(F::square(y));
    return ys;
  };
  test::check(name, squared, x);
}

TEST(ArrayFunctions, GradientsOfFunctionsWithoutReferenceVectors) {
  check_squared("pad_sequence", [](const V& x) { return V{F::pad_sequence(x, 5, -1)}; },
                {numbers({4, 2}), numbers({1, 2}), numbers({3, 2})});
  check_squared("transpose_sequence", [](const V& x) { return all(F::transpose_sequence(x)); },
                {numbers({3, 2}), numbers({3, 2}), numbers({1, 2})});
  check_squared("broadcast", [](const V& x) { return all(F::broadcast(x)); },
                {numbers({3, 1}), numbers({2}), numbers({})});
  check_squared("as_strided", [](const V& x) { return V{F::as_strided(x[0], {3, 2}, {2, 1}, 1)}; }, {numbers({7})});
  check_squared("as_strided, overlapping",
                [](const V& x) {
                  return V{F::as_strided(x[0], {3, 3}, {1, -1}, 2)};
                },
                {numbers({2, 3})});
  check_squared("repeat with counts",
                [](const V& x) {
                  return V{F::repeat(x[0], Shape{2, 0, 1}, 1)};
                },
                {numbers({2, 3})});
  check_squared("where, broadcast",
                [](const V& x) {
                  return V{F::where(array<bool>({true, false}), x[0], x[1])};
                },
                {numbers({3, 2}), numbers({2})});
  check_squared("select_item",
                [](const V& x) {
                  return V{F::select_item(x[0], array<int>({2, 0}))};
                },
                {numbers({2, 3})});
  for (const PadMode mode : {PadMode::edge, PadMode::reflect, PadMode::symmetric, PadMode::wrap}) {
    check_squared("pad",
                  [&](const V& x) {
                    return V{F::pad(x[0], {{1, 1}, {0, 2}}, {.mode = mode})};
                  },
                  {numbers({2, 3})});
    // wider than the array, with channels last
    check_squared("pad, wide",
                  [&](const V& x) {
                    return V{F::pad(F::transpose(x[0], {0, 2, 1}), {{0, 0}, {0, 0}, {7, 5}}, {.mode = mode})};
                  },
                  {numbers({2, 3, 2})});
  }
  check_squared("a view of reversed columns",
                [](const V& x) {
                  return V{F::stack({x[0].T(), F::flipud(x[0].T())}, 1)};
                },
                {numbers({2, 3})});
}

TEST(ArrayFunctions, OneOutputOfSeveralMayBeUnused) {
  const Variable x(arange(6, Dtype::float64).reshape({2, 3}));
  EXPECT_EQ(values(grad({F::split_axis(x, {1}, 1)[1]}, {x}, {.grad_outputs = {ones({2, 2})}})[0].array()),
            (std::vector<double>{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(values(grad({F::separate(x, 1)[2]}, {x}, {.grad_outputs = {ones({2})}})[0].array()),
            (std::vector<double>{0, 0, 1, 0, 0, 1}));
}

TEST(ArrayFunctions, WhereTakesNumbers) {
  const Array mask = array<int>({1, 0, 1, 0, 1, 1}, {2, 3}) != 0, x = numbers({2, 3});
  const Variable v(x);
  assert_allclose(F::where(mask, v, 7.5).array(), catenary::where(mask, x, 7.5));
  assert_allclose(F::where(mask, -1, v).array(), catenary::where(mask, -1, x));
  EXPECT_EQ(F::where(mask, v, -INFINITY).array()(0, 1).item<double>(), -INFINITY);
  // a number does not change the dtype
  EXPECT_EQ(F::where(mask, Variable(x.astype(Dtype::float16)), 1e-3).dtype(), Dtype::float16);
  // both the mask and x broadcast, and x gets a gradient of its shape
  check_squared("x or a number", [&](const V& vs) { return V{F::where(mask, vs[0], 2.0)}; }, {x});
  check_squared("a number or x", [&](const V& vs) { return V{F::where(mask, 2.0, vs[0])}; }, {numbers({3})});
  EXPECT_THROW(F::where(mask, v(0, slice(2)), 1.0), ShapeError);
}

TEST(ArrayFunctions, WhereWritesNoBroadcastOut) {
  const Shape shape = {64, 1024};
  for (const Dtype dtype : {Dtype::bool_, Dtype::float32, Dtype::int32}) {
    const Array mask = (arange(1024, Dtype::float32) > 500).astype(dtype).eval();
    const Variable x(full(shape, 2, Dtype::float32).eval());
    current_device().synchronize();
    memory_pool(current_device()).free_all_blocks();  // a free block that is a little larger would serve for y
    const std::size_t before = memory_pool(current_device()).used_bytes();
    const Variable y = F::where(F::broadcast_to(mask, shape), x, 0.0);
    y.array().eval();
    current_device().synchronize();
    // only y
    EXPECT_LT(memory_pool(current_device()).used_bytes() - before, 4u * 64 * 1024 + 8192) << dtype_name(dtype);
    F::sum(y).backward();
    EXPECT_TRUE(array_equal(x.grad(), (mask != 0).astype(Dtype::float32).broadcast_to(shape)));
  }
}

TEST(ArrayFunctions, PartsByName) {
  const Variable x(numbers({2, 6}));
  const auto [q, k, v] = F::split_axis<3>(x, -1);
  const Variables parts = F::split_axis(x, 3, 1);
  EXPECT_TRUE(array_equal(q.array(), parts[0].array()));
  EXPECT_TRUE(array_equal(k.array(), parts[1].array()));
  EXPECT_TRUE(array_equal(v.array(), parts[2].array()));
  EXPECT_THROW(F::split_axis<4>(x, 1), ValueError);
}

TEST(ArrayFunctions, ShapesOfAxes) {
  const Variable x(zeros({2, 3, 4, 5}));
  EXPECT_EQ(F::moveaxis(x, {0, 1}, {-1, 0}).shape(), (Shape{3, 4, 5, 2}));
  EXPECT_EQ(F::moveaxis(x, 3, 1).shape(), (Shape{2, 5, 3, 4}));
  EXPECT_EQ(F::rollaxis(x, 3).shape(), (Shape{5, 2, 3, 4}));
  EXPECT_EQ(F::rollaxis(x, 0, 4).shape(), (Shape{3, 4, 5, 2}));
  EXPECT_EQ(F::rollaxis(x, 0, -1).shape(), (Shape{3, 4, 2, 5}));
  EXPECT_EQ(F::swapaxes(x, -1, 0).shape(), (Shape{5, 3, 4, 2}));
  EXPECT_EQ(F::expand_dims(x, -1).shape(), (Shape{2, 3, 4, 5, 1}));
  EXPECT_EQ(F::squeeze(Variable(zeros({1, 2, 1})), -1).shape(), (Shape{1, 2}));
  EXPECT_EQ(F::squeeze(Variable(zeros({1, 2, 1}))).shape(), (Shape{2}));
}

TEST(ArrayFunctions, NoElements) {
  const Variable x(zeros({0, 3}));
  EXPECT_EQ(F::concat({x, x}, 1).shape(), (Shape{0, 6}));
  EXPECT_EQ(F::tile(x, {2, 2}).shape(), (Shape{0, 6}));
  EXPECT_EQ(F::repeat(x, 2, 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(F::pad(x, {{1, 0}, {0, 0}}).shape(), (Shape{1, 3}));
  EXPECT_EQ(F::flip(x, 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(F::pad_sequence({Variable(zeros({0, 2}))}).shape(), (Shape{1, 0, 2}));
  EXPECT_EQ(F::select_item(x, Array(zeros({0}, Dtype::int32))).shape(), (Shape{0}));
  EXPECT_TRUE(F::transpose_sequence({}).empty());
  const Variable y = F::repeat(Variable(ones({2})), 0, 0);
  EXPECT_EQ(y.shape(), (Shape{0}));
}

TEST(ArrayFunctions, Errors) {
  const Variable x(zeros({2, 3}));
  EXPECT_THROW(F::concat({}), ValueError);
  EXPECT_THROW(F::concat({x, Variable(zeros({3, 3}))}, 1), ShapeError);
  EXPECT_THROW(F::concat({x, Variable(zeros({2, 3}, Dtype::float32))}), DtypeError);
  EXPECT_THROW(F::split_axis(x, 2, 1), ValueError);
  EXPECT_THROW(F::swapaxes(x, 0, 2), ShapeError);
  EXPECT_THROW(F::moveaxis(x, {0}, {0, 1}), ArgumentShapeError);
  EXPECT_THROW(F::squeeze(x, 0), ArgumentShapeError);
  EXPECT_THROW(F::sum(x, {0, 0}), ArgumentShapeError);
  EXPECT_THROW(F::max_pooling_1d(x, 1), ArgumentShapeError);
  EXPECT_THROW(F::fliplr(Variable(zeros({2}))), ShapeError);
  EXPECT_THROW(F::as_strided(x, {4}, {2}), IndexError);
  EXPECT_THROW(F::as_strided(x, {2}, {-1}), IndexError);
  EXPECT_THROW(F::as_strided(x, {2}, {1, 1}), ShapeError);
  EXPECT_THROW(F::depth2space(Variable(zeros({1, 3, 2, 2})), 2), ShapeError);
  EXPECT_THROW(F::space2depth(Variable(zeros({1, 3, 2, 3})), 2), ShapeError);
  EXPECT_THROW(F::pad_sequence({x, Variable(zeros({2, 4}))}), ShapeError);
  EXPECT_THROW(F::pad_sequence({x}, 1), ShapeError);
  EXPECT_THROW(F::transpose_sequence({Variable(zeros({1})), Variable(zeros({2}))}), ShapeError);
  EXPECT_THROW(F::repeat(x, Shape{1, 2}, 1), ValueError);
  EXPECT_THROW(F::repeat(x, -1, 1), ValueError);
  EXPECT_THROW(F::tile(x, {-1}), ValueError);
  EXPECT_THROW(F::pad(x, 1, {.mode = PadMode::mean}), ValueError);
  EXPECT_THROW(tests::settle([&] { F::select_item(x, array<int>({0, 3})); }), IndexError);
  EXPECT_THROW(F::select_item(x, array<int>({0})), ShapeError);
  EXPECT_THROW(F::select_item(x, array<double>({0, 1})), DtypeError);
  EXPECT_THROW(F::permutate(x, array<int>({0})), ShapeError);
  EXPECT_THROW(F::permutate(x, array<double>({0, 1})), DtypeError);
  EXPECT_THROW(F::scatter_add(x, {Index(0)}, Variable(zeros({2}))), ShapeError);
  const auto debug = using_config(config.debug, true);
  EXPECT_THROW(F::permutate(x, array<int>({1, 1})), ValueError);
}

TEST(Connection, EmbedAndBilinear) {
  const Array ids = array<int>({{0, 2, -1}, {2, 1, 0}});
  check_squared("embed_id", [&](const V& w) { return V{F::embed_id(ids, w[0], -1)}; }, {numbers({3, 4})});
  const Variable y = F::embed_id(ids, numbers({3, 4}), -1);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(values(y.array()(0, 2)), (std::vector<double>(4, 0.0)));
  EXPECT_THROW(tests::settle([&] { F::embed_id(array<int>({3}), numbers({3, 4})); }), IndexError);
  EXPECT_THROW(F::embed_id(array<double>({1}), numbers({3, 4})), DtypeError);
  EXPECT_THROW(F::embed_id(ids, numbers({3})), ShapeError);

  check_squared(
      "bilinear", [](const V& x) { return V{F::bilinear(x[0], x[1], x[2], x[3], x[4], x[5])}; },
      {numbers({2, 3}), numbers({2, 2, 2}), numbers({3, 4, 5}), numbers({3, 5}), numbers({4, 5}), numbers({5})});
  EXPECT_THROW(F::bilinear(numbers({2, 3}), numbers({3, 4}), numbers({3, 4, 5})), ShapeError);
  EXPECT_THROW(F::bilinear(numbers({2, 3}), numbers({2, 4}), numbers({3, 3, 5})), ShapeError);
}

}  // namespace
}  // namespace catenary
