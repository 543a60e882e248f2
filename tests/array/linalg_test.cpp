#include "catenary/array/linalg.h"

#include <cmath>
#include <limits>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/statistics.h"
#include "tests/array/expect.h"

namespace ct = catenary;
using namespace testing_arrays;

namespace {

/// Returns different values, small enough for exact sums.
Array numbers(const Shape& shape, Dtype dtype = Dtype::float64, int shift = 0) {
  std::vector<double> values(static_cast<std::size_t>(shape.product()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i * 7 + static_cast<std::size_t>(shift)) % 11) - 4;
  return make(values, shape).astype(dtype).eval();
}

double at(const Array& a, const std::vector<std::int64_t>& index) {
  std::int64_t flat = 0;
  for (int i = 0; i < a.ndim(); ++i) flat = flat * a.shape()[i] + index[static_cast<std::size_t>(i)];
  return a.to_vector<double>()[static_cast<std::size_t>(flat)];
}

std::vector<double> product(const Array& a, const Array& b) {
  const std::int64_t m = a.shape()[0], k = a.shape()[1], n = b.shape()[1];
  std::vector<double> c;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += at(a, {i, p}) * at(b, {p, j});
      c.push_back(sum);
    }
  return c;
}

TEST(Matmul, EveryDtype) {
  for (Dtype d : {Dtype::int8, Dtype::int16, Dtype::int32, Dtype::int64, Dtype::float16, Dtype::bfloat16,
                  Dtype::float32, Dtype::float64}) {
    const Array a = numbers({3, 5}, d), b = numbers({5, 4}, d, 3);
    expect_array(ct::matmul(a, b), product(a, b), {3, 4}, d);
    expect_array(ct::matmul(b.T(), a.T()), product(b.T(), a.T()), {4, 3}, d);
  }
  const Array wraps = make<std::int8_t>({100, 100}, {1, 2});
  expect_array(ct::matmul(wraps, wraps.T()), {32}, {1, 1}, Dtype::int8);
  const Array truth = ct::greater(numbers({2, 3}), 0);
  expect_array(ct::matmul(truth, truth.T()), {1, 1, 1, 1}, {2, 2}, Dtype::bool_);
  expect_array(ct::matmul(make<int>({1, 2}), make<float>({0.5f, 2})), {4.5}, {}, Dtype::float64);
}

TEST(Matmul, TheDtypeAndTheBiasThatAreAskedFor) {
  // sums too large for int8, with shapes that fill no tile, through views
  for (Dtype d : {Dtype::int8, Dtype::uint8}) {
    const Array a = (numbers({5, 300}) + 20).astype(d), b = (numbers({300, 7}, Dtype::float64, 2) + 15).astype(d);
    expect_array(ct::matmul(a, b, {.dtype = Dtype::int32}), product(a, b), {5, 7}, Dtype::int32);
    expect_array(ct::matmul(b.T(), a.T(), {.dtype = Dtype::int32}), product(b.T(), a.T()), {7, 5}, Dtype::int32);
  }
  const Array low = make<std::int8_t>({-128, -128, 127, -128, 127, 127}, {2, 3}),
              one = make<std::int8_t>({-128, 127, 1});
  expect_array(ct::matmul(low, low.T(), {.dtype = Dtype::int32}), {48897, 16257, 16257, 48642}, {2, 2}, Dtype::int32);
  expect_array(ct::matmul(low, one, {.bias = make<int>({5}), .dtype = Dtype::int32}), {260, 32645}, {2}, Dtype::int32);
  expect_array(ct::matmul(low, one.astype(Dtype::uint8), {.dtype = Dtype::int32}),
               product(low, one.astype(Dtype::uint8).reshape({3, 1})), {2}, Dtype::int32);
  expect_array(ct::matmul(low, one, {.dtype = Dtype::float32}), {255, 32640}, {2}, Dtype::float32);

  const Array x = numbers({2, 3, 4}), w = numbers({4, 5}, Dtype::float64, 1), bias = numbers({5}, Dtype::float64, 5);
  const Array expected = ct::matmul(x, w) + bias;
  expect_array(ct::matmul(x, w, {.bias = bias}), expected.to_vector<double>(), {2, 3, 5}, Dtype::float64);
  expect_array(ct::matmul(x.transpose({1, 0, 2}), w, {.bias = bias}), expected.transpose({1, 0, 2}).to_vector<double>(),
               {3, 2, 5}, Dtype::float64);
  expect_array(ct::matmul(ct::zeros({2, 0}), ct::zeros({0, 5}), {.bias = bias}),
               ct::concatenate({bias, bias}).to_vector<double>(), {2, 5}, Dtype::float64);
  EXPECT_THROW(ct::matmul(x, w, {.bias = numbers({4})}), ct::ShapeError);
}

TEST(Matmul, ShapesAndBatches) {
  const Array v = make<double>({1, 2, 3}), m = numbers({3, 2});
  expect_array(ct::matmul(v, v), {14}, {}, Dtype::float64);
  expect_array(ct::matmul(v, m), product(v.reshape({1, 3}), m), {2}, Dtype::float64);
  expect_array(ct::matmul(m.T(), v), product(m.T(), v.reshape({3, 1})), {2}, Dtype::float64);
  const Array a = numbers({2, 1, 3, 4}), b = numbers({5, 4, 2}, Dtype::float64, 2);
  const Array c = ct::matmul(a, b);
  EXPECT_EQ(c.shape(), (Shape{2, 5, 3, 2}));
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 5; ++j) expect_array(c(i, j), product(a(i, 0), b(j)), {3, 2}, Dtype::float64);
  const Array stack = numbers({4, 2, 3}), shared = numbers({3, 2}, Dtype::float64, 5);
  for (std::int64_t i = 0; i < 4; ++i)
    expect_array(ct::matmul(stack, shared)(i), product(stack(i), shared), {2, 2}, Dtype::float64);
  expect_array(ct::matmul(Array::empty({2, 0}, Dtype::float32), Array::empty({0, 3}, Dtype::float32)),
               {0, 0, 0, 0, 0, 0}, {2, 3}, Dtype::float32);
  EXPECT_EQ(ct::matmul(Array::empty({0, 2}, Dtype::float32), Array::empty({2, 3}, Dtype::float32)).shape(),
            (Shape{0, 3}));
  EXPECT_THROW(ct::matmul(m, m), ct::ShapeError);
  EXPECT_THROW(ct::matmul(m, make<double>({1}, {})), ct::ShapeError);
  EXPECT_THROW(ct::matmul(numbers({2, 3, 4}), numbers({3, 4, 2})), ct::ShapeError);
}

TEST(Products, OfOtherForms) {
  const Array a = numbers({2, 3}), b = numbers({4, 3}, Dtype::float64, 1), v = make<double>({1, -2, 3});
  expect_array(ct::inner(a, b), product(a, b.T()), {2, 4}, Dtype::float64);
  expect_array(ct::dot(a, v), product(a, v.reshape({3, 1})), {2}, Dtype::float64);
  EXPECT_EQ(ct::dot(numbers({2, 3}), numbers({5, 3, 4})).shape(), (Shape{2, 5, 4}));
  expect_array(ct::dot(make<double>({2}, {}), v), {2, -4, 6}, {3}, Dtype::float64);
  expect_array(ct::vdot(a, a.T().T()), {at(ct::tensordot(a, a, 2), {})}, {}, Dtype::float64);
  expect_array(ct::outer(v, v), {1, -2, 3, -2, 4, -6, 3, -6, 9}, {3, 3}, Dtype::float64);
  expect_array(ct::kron(make<int>({1, 10}), make<int>({1, 2, 3})), {1, 2, 3, 10, 20, 30}, {6}, Dtype::int32);
  EXPECT_EQ(ct::kron(numbers({2, 3}), numbers({2, 1, 2})).shape(), (Shape{2, 2, 6}));
  EXPECT_EQ(ct::tensordot(numbers({2, 3, 4}), numbers({4, 3, 5}), {1, 2}, {1, 0}).shape(), (Shape{2, 5}));
  EXPECT_THROW(ct::tensordot(a, b, 1), ct::ShapeError);
  EXPECT_THROW(ct::tensordot(a, b, 3), ct::ShapeError);
  expect_array(ct::trace(make<std::int8_t>({1, 2, 3, 4, 5, 6}, {2, 3})), {6}, {}, Dtype::int64);
  expect_array(ct::trace(make<double>({1, 2, 3, 4, 5, 6}, {2, 3}), 1), {8}, {}, Dtype::float64);
  expect_array(ct::trace(make<double>({1, 2, 3, 4, 5, 6}, {2, 3}), 9), {0}, {}, Dtype::float64);
}

TEST(Einsum, AgainstLoops) {
  const Array a = numbers({2, 3}), b = numbers({3, 4}, Dtype::float64, 1), c = numbers({4, 2}, Dtype::float64, 2),
              s = numbers({3, 3});
  expect_array(ct::einsum("ij,jk", a, b), product(a, b), {2, 4}, Dtype::float64);
  expect_array(ct::einsum("ij,jk->ki", a, b), product(b.T(), a.T()), {4, 2}, Dtype::float64);
  expect_array(ct::einsum("ba", a), a.T().to_vector<double>(), {3, 2}, Dtype::float64);
  expect_array(ct::einsum("ii", s), {at(s, {0, 0}) + at(s, {1, 1}) + at(s, {2, 2})}, {}, Dtype::float64);
  expect_array(ct::einsum(" i i -> i ", s), {at(s, {0, 0}), at(s, {1, 1}), at(s, {2, 2})}, {3}, Dtype::float64);
  expect_array(ct::einsum("ij->", a), {ct::einsum("ij,ij->", a, a * 0 + 1).item<double>()}, {}, Dtype::float64);
  double chain = 0;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t k = 0; k < 4; ++k) chain += at(a, {i, j}) * at(b, {j, k}) * at(c, {k, i});
  expect_array(ct::einsum("ij,jk,ki->", a, b, c), {chain}, {}, Dtype::float64);
  const Array x = numbers({5, 2, 3}), y = numbers({1, 3}, Dtype::float64, 4);
  const Array z = ct::einsum("...ij,...j->...i", x, y);
  EXPECT_EQ(z.shape(), (Shape{5, 2}));
  for (std::int64_t i = 0; i < 5; ++i) expect_array(z(i), product(x(i), y.T()), {2}, Dtype::float64);
  EXPECT_EQ(ct::einsum("i...,j", a, make<double>({1, 2})).shape(), (Shape{3, 2, 2}));
  expect_array(ct::einsum("ii->", make<std::int8_t>({100, 0, 0, 100}, {2, 2})), {-56}, {}, Dtype::int8);
}

TEST(Einsum, Refusals) {
  const Array a = numbers({2, 3});
  EXPECT_THROW(ct::einsum("ij,jk", a, a), ct::ShapeError);
  EXPECT_THROW(ct::einsum("ijk", a), ct::ShapeError);
  EXPECT_THROW(ct::einsum("i", a), ct::ShapeError);
  EXPECT_THROW(ct::einsum("ii", a), ct::ShapeError);
  EXPECT_THROW(ct::einsum("ij->k", a), ct::ValueError);
  EXPECT_THROW(ct::einsum("ij->ii", a), ct::ValueError);
  EXPECT_THROW(ct::einsum("i.j", a), ct::ValueError);
  EXPECT_THROW(ct::einsum("ij,", a), ct::ValueError);
  EXPECT_THROW(ct::einsum("i1", a), ct::ValueError);
  EXPECT_THROW(ct::einsum("...->", a), ct::ValueError);
}

TEST(Linalg, SolvesAndFactors) {
  const Array a = make<double>({4, 2, 1, 2, 5, 3, 1, 3, 6}, {3, 3}), b = make<double>({1, 2, 3});
  expect_array(ct::matmul(a, ct::linalg::solve(a, b)), {1, 2, 3}, {3}, Dtype::float64, 1e-14);
  expect_array(ct::matmul(a, ct::linalg::inv(a)), {1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3}, Dtype::float64, 1e-14);
  const Array l = ct::linalg::cholesky(a);
  expect_array(ct::matmul(l, l.T()), a.to_vector<double>(), {3, 3}, Dtype::float64, 1e-14);
  expect_array(ct::linalg::det(a), {67}, {}, Dtype::float64, 1e-14);
  expect_array(ct::linalg::det(make<int>({1, 2, 3, 4, 2, 0, 0, 3}, {2, 2, 2})), {-2, 6}, {2}, Dtype::float64, 1e-14);
  const auto [sign, logabsdet] = ct::linalg::slogdet(-a);
  expect_array(sign, {-1}, {}, Dtype::float64);
  expect_array(logabsdet, {std::log(67.0)}, {}, Dtype::float64, 1e-14);
  const auto [lu, pivots] = ct::linalg::lu(make<float>({1, 2, 4, 2}, {2, 2}));
  expect_array(lu, {4, 2, 0.25, 1.5}, {2, 2}, Dtype::float32);
  expect_array(pivots, {1, 1}, {2}, Dtype::int32);
  expect_array(ct::linalg::matrix_power(make<int>({1, 1, 1, 0}, {2, 2}), 10), {89, 55, 55, 34}, {2, 2}, Dtype::int32);
  expect_array(ct::linalg::matrix_power(a, 0), {1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3}, Dtype::float64);
  expect_array(ct::linalg::matrix_power(make<double>({2, 0, 0, 4}, {2, 2}), -2), {0.25, 0, 0, 0.0625}, {2, 2},
               Dtype::float64, 1e-15);
  const Array stack = numbers({2, 3, 3}) + make<double>({9, 0, 0, 0, 9, 0, 0, 0, 9}, {3, 3});
  EXPECT_EQ(ct::linalg::solve(stack, numbers({3, 2})).shape(), (Shape{2, 3, 2}));
  expect_array(ct::matmul(stack, ct::linalg::solve(stack, numbers({3, 2})))(1), numbers({3, 2}).to_vector<double>(),
               {3, 2}, Dtype::float64, 1e-13);
  expect_array(ct::linalg::det(Array::empty({0, 0}, Dtype::float64)), {1}, {}, Dtype::float64);
}

TEST(Linalg, Eigenvalues) {
  // NumPy's values, from the lower triangle
  const Array a = make<double>({4, 99, 99, 2, 5, 99, 1, 3, 6}, {3, 3});
  const auto [values, vectors] = ct::linalg::eigh(a);
  expect_array(values, {1.9213469419616895, 3.730159123688258, 9.348493934350051}, {3}, Dtype::float64, 1e-14);
  const Array whole = make<double>({4, 2, 1, 2, 5, 3, 1, 3, 6}, {3, 3});
  const auto check = [](const Array& symmetric, double tolerance) {
    const auto [w, v] = ct::linalg::eigh(symmetric);
    const std::int64_t n = symmetric.shape().back();
    const Array residual = ct::matmul(symmetric, v) - v * w.reshape({-1, 1, n}),
                product = ct::matmul(ct::matrix_transpose(v), v) - ct::eye(n, {}, 0, v.dtype());
    EXPECT_LT(ct::max(ct::absolute(residual)).item<double>(),
              tolerance * ct::max(ct::absolute(symmetric)).item<double>());
    EXPECT_LT(ct::max(ct::absolute(product)).item<double>(), tolerance);
    EXPECT_TRUE(ct::all(ct::diff(w) >= 0).item<bool>());
  };
  check(whole.reshape({1, 3, 3}), 1e-14);
  const Array b = numbers({4, 40, 40});
  check(b + ct::matrix_transpose(b), 1e-13);
  check((b + ct::matrix_transpose(b)).astype(Dtype::float32), 1e-5);
  check(ct::matmul(b(ct::slice(), ct::slice(), ct::slice(3)), ct::matrix_transpose(b)(ct::slice(), ct::slice(3))),
        1e-12);
  check((b + ct::matrix_transpose(b)) * 1e200, 1e-13);
  check(ct::ones({2, 7, 7}), 1e-14);
  expect_array(ct::linalg::eigh(ct::zeros({2, 2})).values, {0, 0}, {2}, Dtype::float64);
  expect_array(ct::linalg::eigh(make<int>({2}, {1, 1})).vectors, {1}, {1, 1}, Dtype::float64);
  EXPECT_EQ(ct::linalg::eigh(ct::zeros({3, 0, 0})).values.shape(), (Shape{3, 0}));
  EXPECT_EQ(ct::linalg::eigh(ct::zeros({0, 2, 2})).vectors.shape(), (Shape{0, 2, 2}));
  EXPECT_THROW(ct::linalg::eigh(ct::full({2, 2}, std::nan(""))), ct::ValueError);
  EXPECT_THROW(ct::linalg::eigh(numbers({2, 3})), ct::LinAlgError);
}

TEST(Linalg, Tensors) {
  const Array a = ct::arange(24 * 24).astype(Dtype::float64).reshape({2, 3, 4, 24}),
              eye = ct::eye(24).reshape({2, 3, 4, 24});
  const Array b = a(ct::ellipsis, 5), t = (a / 24 + eye * 100);
  const Array x = ct::linalg::tensorsolve(t, b);
  EXPECT_EQ(x.shape(), (Shape{24}));
  EXPECT_TRUE(ct::allclose(ct::tensordot(t, x, 1), b));
  const Array moved = ct::linalg::tensorsolve(ct::moveaxis(t, -1, 0), b, ct::Axes{0});
  EXPECT_TRUE(ct::allclose(moved, x));
  const Array inverse = ct::linalg::tensorinv(t, 3);
  EXPECT_EQ(inverse.shape(), (Shape{24, 2, 3, 4}));
  EXPECT_TRUE(ct::allclose(ct::tensordot(inverse, b, 3), x));
  EXPECT_THROW(ct::linalg::tensorinv(t, 1), ct::LinAlgError);
  EXPECT_THROW(ct::linalg::tensorinv(t, 0), ct::ValueError);
  EXPECT_THROW(ct::linalg::tensorsolve(t, numbers({2, 3})), ct::LinAlgError);
}

TEST(Linalg, DtypesOfSeveralOperandsComeInAnyOrder) {
  const Array i = make<std::int16_t>({1, 2}), u = make<std::uint16_t>({1, 2}), f = make<float>({1, 2});
  for (const std::vector<Array>& operands : {std::vector<Array>{i, u, f}, {f, u, i}, {u, f, i}}) {
    EXPECT_EQ(ct::einsum("i,i,i", operands).dtype(), Dtype::float32);
    EXPECT_EQ(ct::concatenate(operands).dtype(), Dtype::float32);
  }
}

TEST(Linalg, Refusals) {
  const Array singular = make<double>({1, 2, 2, 4}, {2, 2});
  EXPECT_THROW(ct::linalg::inv(singular), ct::ValueError);
  EXPECT_THROW(ct::linalg::solve(singular, make<double>({1, 2})), ct::ValueError);
  EXPECT_THROW(ct::linalg::cholesky(-singular), ct::ValueError);
  EXPECT_THROW(ct::linalg::inv(numbers({2, 3})), ct::LinAlgError);
  EXPECT_THROW(ct::linalg::det(make<double>({1, 2})), ct::LinAlgError);
  EXPECT_THROW(ct::linalg::inv(singular.astype(Dtype::float16)), ct::DtypeError);
  EXPECT_THROW(ct::linalg::solve(singular, make<double>({1, 2, 3})), ct::ShapeError);
  expect_array(ct::linalg::det(singular), {0}, {}, Dtype::float64);
}

TEST(Linalg, Norms) {
  const double inf = std::numeric_limits<double>::infinity();
  const Array m = make<double>({1, -2, 3, 4}, {2, 2}), v = make<float>({3, -4});
  expect_array(ct::linalg::norm(m), {std::sqrt(30.0)}, {}, Dtype::float64, 1e-15);
  expect_array(ct::linalg::norm(m, {}, 1), {std::sqrt(5.0), 5}, {2}, Dtype::float64, 1e-15);
  expect_array(ct::linalg::norm(v, 1.0), {7}, {}, Dtype::float32);
  expect_array(ct::linalg::norm(v, inf, 0, true), {4}, {1}, Dtype::float32);
  expect_array(ct::linalg::norm(v, -inf), {3}, {}, Dtype::float32);
  expect_array(ct::linalg::norm(v, 0.0), {2}, {}, Dtype::float32);
  expect_array(ct::linalg::norm(v, 3.0), {std::cbrt(91.0)}, {}, Dtype::float32, 1e-6);
  expect_array(ct::linalg::norm(m, 1.0), {6}, {}, Dtype::float64);
  expect_array(ct::linalg::norm(m, inf), {7}, {}, Dtype::float64);
  expect_array(ct::linalg::norm(m, -1.0, {}, true), {4}, {1, 1}, Dtype::float64);
  EXPECT_THROW(ct::linalg::norm(m, 2.5), ct::ValueError);
  EXPECT_THROW(ct::linalg::norm(numbers({2, 2, 2}), 1.0), ct::ShapeError);
}

}  // namespace
