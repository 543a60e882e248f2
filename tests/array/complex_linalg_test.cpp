// Linear algebra of complex matrices, checked by definitions and by recorded values.

#include <string>

#include "catenary/core/error.h"
#include "tests/array/matrices.h"

namespace ct = catenary;
namespace linalg = ct::linalg;
using namespace testing_arrays;

namespace {

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{1, 1},       {7, 7}, {30, 9}, {9, 30},   {1, 5},   {5, 1},
                                         {3, 2, 4, 3}, {0, 3}, {3, 0},  {2, 0, 4}, {0, 2, 2}};
  return all;
}

TEST(ComplexLinalg, SingularValues) {
  for (const Dtype dtype : complex_dtypes()) {
    for (const Shape& shape : shapes()) check_svd(normal(shape, dtype));
    const Array a = normal({6, 6}, dtype);
    check_svd(a.T()(ct::slice(ct::none, ct::none, -2)));
    check_svd(ct::matmul(normal({12, 3}, dtype), normal({3, 12}, dtype)));  // of rank 3
    check_svd(a * 1e-30);
    check_svd(a * 1e30);
    check_svd(a * 0);
    check_svd(ct::eye(4, {}, 0, dtype) * C(0, 1));
    // Only the lower triangle is used, with a real diagonal.
    const Array hermitian = a + adjoint(a),
                given = ct::tril(hermitian) + ct::triu(a, 1) + ct::eye(6, {}, 0, dtype) * C(0, 3);
    const auto [u, s, vh] = linalg::svd(given, true, true, true);
    EXPECT_LE(largest(product(product(u, of_diagonal(s, 6, 6)), vh) - wide(hermitian)), 100 * epsilon(dtype));
    EXPECT_THROW(linalg::svd(ct::full({2, 2}, C(0, kNan), dtype)), ct::LinAlgError);
    EXPECT_THROW(linalg::svd(ct::full({3, 2, 2}, C(0, kInf), dtype)), ct::LinAlgError);
  }
  // numpy.linalg.svd of [[1 + 2j, 3], [-1j, 2 - 1j], [0, 1]]
  const Dtype dtype = complex_dtypes().back();
  expect_numbers(linalg::svdvals(from({{1, 2}, 3, {0, -1}, {2, -1}, 0, 1}, {3, 2}, dtype)),
                 {4.210512575376125, 1.8087520152302583}, {2}, ct::part_dtype(dtype), 10 * epsilon(dtype));
}

TEST(ComplexLinalg, Qr) {
  for (const Dtype dtype : complex_dtypes())
    for (const Shape& shape : shapes())
      for (const std::string mode : {"reduced", "complete"}) {
        SCOPED_TRACE(shape.str() + mode + ct::dtype_name(dtype));
        const Array a = normal(shape, dtype);
        const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
        const auto [q, r] = linalg::qr(a, mode);
        EXPECT_EQ(q.shape(-1), mode == "complete" ? m : k);
        EXPECT_EQ(r.shape(-1), n);
        EXPECT_EQ(q.dtype(), dtype);
        EXPECT_EQ(r.dtype(), dtype);
        EXPECT_EQ(largest(ct::tril(r, -1)), 0);
        EXPECT_EQ(largest(ct::imag(ct::diagonal(r, 0, -2, -1))), 0);
        EXPECT_LT(from_orthonormal(q), 30 * epsilon(dtype));
        EXPECT_LE(largest(product(q, r) - wide(a)), 30 * epsilon(dtype) * largest(a));
        const Array alone = linalg::qr(a, "r").r;
        EXPECT_EQ(largest(alone - r(ct::ellipsis, ct::slice(k), ct::slice())), 0);
      }
  // numpy.linalg.qr of [[1 + 2j, 3], [-1j, 2 - 1j]]
  const Dtype dtype = complex_dtypes().back();
  const Array a = from({{1, 2}, 3, {0, -1}, {2, -1}}, {2, 2}, dtype);
  const auto [q, r] = linalg::qr(a);
  expect_numbers(q,
                 {{-0.40824829046386313, -0.8164965809277261},
                  {-0.3396831102433789, 0.22645540682891913},
                  {0.0, 0.40824829046386313},
                  {-0.9058216273156767, 0.11322770341445954}},
                 {2, 2}, dtype, 10 * epsilon(dtype));
  expect_numbers(
      r, {{-2.449489742783178, 0.0}, {-1.6329931618554525, 1.6329931618554523}, {0.0, 0.0}, {-2.9439202887759497, 0.0}},
      {2, 2}, dtype, 10 * epsilon(dtype));
  const auto [h, tau] = linalg::qr(a, "raw");
  expect_numbers(h,
                 {{-2.449489742783178, 0.0},
                  {-0.12579423741100298, -0.21696296582524335},
                  {-1.6329931618554525, 1.6329931618554523},
                  {-2.9439202887759497, 0.0}},
                 {2, 2}, dtype, 10 * epsilon(dtype));
  expect_numbers(tau, {{1.4082482904638631, 0.8164965809277261}, {1.9976842418229046, -0.06801583358495528}}, {2},
                 dtype, 10 * epsilon(dtype));
}

TEST(ComplexLinalg, Determinants) {
  for (const Dtype dtype : complex_dtypes()) {
    const double few = 100 * epsilon(dtype);
    const Dtype part = ct::part_dtype(dtype);
    // (1 + 2j) (2 - 1j) - 3 (-1j) = 4 + 6j
    const Array a = from({{1, 2}, 3, {0, -1}, {2, -1}}, {2, 2}, dtype);
    expect_numbers(linalg::det(a), {{4, 6}}, {}, dtype, few);
    const Array stack = ct::stack({a, a.T() * C(0, 2), a * 0, ct::eye(2, {}, 0, dtype)});
    expect_numbers(linalg::det(stack), {{4, 6}, {-16, -24}, 0, 1}, {4}, dtype, few);
    const auto [sign, logarithm] = linalg::slogdet(stack);
    const C unit = C(4, 6) / std::sqrt(52.0);
    expect_numbers(sign, {unit, -unit, 0, 1}, {4}, dtype, few);
    expect_array(logarithm, {std::log(52.0) / 2, std::log(52.0) / 2 + std::log(4.0), -kInf, 0}, {4}, part, few);
    // All partial products are finite.
    const Array large = ct::eye(40, {}, 0, dtype) * C(0, 1e30), small = ct::eye(40, {}, 0, dtype) * C(0, -1e-30);
    const Array both =
        ct::concatenate({ct::concatenate({large, large * 0}, 1), ct::concatenate({large * 0, small}, 1)});
    expect_numbers(linalg::det(both), {1}, {}, dtype, few);
    EXPECT_EQ(largest(linalg::slogdet(large).sign - from({1}, {}, dtype)), 0);
    expect_numbers(linalg::det(Array::empty({2, 0, 0}, dtype)), {1, 1}, {2}, dtype, 0);
    expect_numbers(linalg::det(from({{0, 3}}, {1, 1}, dtype)), {{0, 3}}, {}, dtype, few);
    EXPECT_EQ(linalg::det(Array::empty({0, 3, 3}, dtype)).shape(), (Shape{0}));
    // Of a product, and of noncontiguous input.
    const Array x = normal({3, 9, 9}, dtype), y = normal({3, 9, 9}, dtype);
    const Array of_both = linalg::det(ct::matmul(x, ct::matrix_transpose(y))), apart = linalg::det(x) * linalg::det(y);
    EXPECT_LE(largest(of_both / apart - 1), 100 * few);
    EXPECT_THROW(linalg::det(normal({2, 3}, dtype)), ct::LinAlgError);
  }
}

TEST(ComplexLinalg, LuAndTriangles) {
  for (const Dtype dtype : complex_dtypes()) {
    for (const Shape& shape : {Shape{1, 1}, Shape{9, 9}, Shape{2, 3, 70, 70}, Shape{0, 0}}) {
      const Array a = normal(shape, dtype);
      const auto [lu, pivots] = linalg::lu(a);
      const std::int64_t n = shape.back();
      EXPECT_EQ(lu.dtype(), dtype);
      EXPECT_EQ(lu.shape(), shape);
      EXPECT_EQ(pivots.dtype(), Dtype::int32);
      EXPECT_EQ(pivots.shape(-1), n);
      if (n == 0) continue;
      const Array l = wide(ct::tril(lu, -1)) + wide(ct::eye(n, {}, 0, dtype)), u = wide(ct::triu(lu));
      EXPECT_LE(largest(l), 1.5);  // pivots are chosen by |re| + |im|, so a factor may reach sqrt(2)
      const Array product = ct::matmul(l, u).reshape({-1, n, n});
      const Array given = wide(a).reshape({-1, n, n});
      const std::vector<std::int32_t> order = pivots.to_vector<std::int32_t>();
      for (std::int64_t b = 0; b < product.shape(0); ++b) {
        std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
        for (std::size_t i = 0; i < rows.size(); ++i)
          std::swap(rows[i], rows[static_cast<std::size_t>(order[static_cast<std::size_t>(b * n) + i])]);
        const Array taken = ct::take(given(b), Array::from_host(rows.data(), {n}, Dtype::int64, ct::Device()), 0);
        EXPECT_LE(largest(product(b) - taken), 100 * epsilon(dtype) * largest(a));
      }
    }
    for (const std::int64_t n : {1, 65, 150}) {
      SCOPED_TRACE(n);
      const Array a = normal({2, n, n}, dtype) / 20 + ct::eye(n, {}, 0, dtype) * C(1, 2), b = normal({2, n, 3}, dtype);
      for (const bool lower : {false, true})
        for (const bool trans : {false, true})
          for (const bool conjugate : {false, true}) {
            const Array x = linalg::solve_triangular(a, b, {.trans = trans, .lower = lower, .conjugate = conjugate});
            EXPECT_EQ(x.dtype(), dtype);
            const Array triangle = wide(lower ? ct::tril(a) : ct::triu(a));
            const Array turned = trans ? ct::matrix_transpose(triangle) : triangle;
            EXPECT_LT(largest(product(conjugate ? ct::conjugate(turned) : turned, x) - wide(b)), 2000 * epsilon(dtype));
          }
      const Array unit = linalg::solve_triangular(a, b, {.lower = true, .unit_diagonal = true});
      EXPECT_LT(largest(product(ct::tril(a, -1), unit) + wide(unit) - wide(b)), 1e6 * epsilon(dtype));
    }
    const Array singular = from({{1, 1}, 2, 3, 0}, {2, 2}, dtype);
    EXPECT_THROW(linalg::solve_triangular(singular, normal({2}, dtype)), ct::LinAlgError);
    EXPECT_EQ(linalg::solve_triangular(ct::zeros({0, 0}, dtype), ct::zeros({0, 2}, dtype)).shape(), (Shape{0, 2}));
    // One of the operands may be real.
    const Array real = ct::real(normal({4, 4}, dtype)), right = normal({4}, dtype);
    EXPECT_LT(largest(product(ct::triu(real), linalg::solve_triangular(real, right)) - wide(right)),
              1e3 * epsilon(dtype));
    EXPECT_LT(largest(product(real, linalg::solve(real, right)) - wide(right)), 1e3 * epsilon(dtype));
    EXPECT_EQ(linalg::solve(real, right).dtype(), dtype);
    EXPECT_LT(largest(product(linalg::inv(normal({0, 0}, dtype)), normal({0, 2}, dtype))), 1);
    // Only the lower triangle is used, with a real diagonal.
    const Array m = normal({2, 5, 5}, dtype);
    const Array definite = (ct::matmul(m, adjoint(m)) + ct::eye(5, {}, 0, dtype)).eval();
    const Array factor = linalg::cholesky(ct::tril(definite) + ct::triu(m, 1) + ct::eye(5, {}, 0, dtype) * C(0, 2));
    EXPECT_LE(largest(product(factor, adjoint(factor)) - wide(definite)), 100 * epsilon(dtype) * largest(definite));
    EXPECT_THROW(linalg::inv(from({{1, 1}, 2, {2, 2}, 4}, {2, 2}, dtype)), ct::LinAlgError);
    EXPECT_THROW(linalg::cholesky(-definite), ct::LinAlgError);
  }
}

TEST(ComplexLinalg, HermitianEigenvalues) {
  for (const Dtype dtype : complex_dtypes()) {
    const double few = 1000 * epsilon(dtype);
    for (const Shape& shape : {Shape{1, 1}, Shape{2, 2}, Shape{13, 13}, Shape{2, 3, 6, 6}}) {
      SCOPED_TRACE(shape.str() + ct::dtype_name(dtype));
      const std::int64_t n = shape.back();
      const Array any = normal(shape, dtype), hermitian = (any + adjoint(any)).eval();
      // Neither the other triangle nor the imaginary parts of the diagonal are read.
      const Array imaginary = ct::eye(n, {}, 0, dtype) * C(0, 1);
      for (const std::string uplo : {"L", "U"}) {
        const Array given = uplo == "L" ? ct::tril(hermitian) + ct::triu(any, 1) + imaginary
                                        : ct::triu(hermitian) + ct::tril(any, -1) + imaginary;
        const auto [w, v] = linalg::eigh(given, uplo);
        EXPECT_EQ(w.dtype(), ct::part_dtype(dtype));
        EXPECT_EQ(v.dtype(), dtype);
        EXPECT_EQ(v.shape(), shape);
        EXPECT_LE(from_orthonormal(v), few);
        Shape row = w.shape();
        row.insert(w.ndim() - 1, 1);
        EXPECT_LE(largest(product(hermitian, v) - wide(v) * wide(w).reshape(row)), few * largest(hermitian));
        EXPECT_TRUE(ct::all(ct::diff(w) >= 0).item<bool>());
        EXPECT_EQ(linalg::eigvalsh(given, uplo).dtype(), ct::part_dtype(dtype));
      }
    }
    // a Pauli matrix
    expect_array(linalg::eigvalsh(from({0, {0, -1}, {0, 1}, 0}, {2, 2}, dtype)), {-1, 1}, {2}, ct::part_dtype(dtype),
                 few);
    const Array equal = ct::ones({5, 5}, dtype);
    EXPECT_LE(from_orthonormal(linalg::eigh(equal).vectors), few);
    expect_array(linalg::eigvalsh(equal), {0, 0, 0, 0, 5}, {5}, ct::part_dtype(dtype), few);
    expect_array(linalg::eigvalsh(ct::zeros({2, 2}, dtype)), {0, 0}, {2}, ct::part_dtype(dtype));
    EXPECT_EQ(linalg::eigh(ct::zeros({3, 0, 0}, dtype)).values.dtype(), ct::part_dtype(dtype));
    EXPECT_EQ(linalg::eigh(ct::zeros({0, 2, 2}, dtype)).vectors.shape(), (Shape{0, 2, 2}));
    EXPECT_THROW(linalg::eigh(ct::full({2, 2}, C(0, kNan), dtype)), ct::LinAlgError);
  }
}

TEST(ComplexLinalg, InversesAndLeastSquares) {
  for (const Dtype dtype : complex_dtypes()) {
    const double few = 1000 * epsilon(dtype);
    const Dtype part = ct::part_dtype(dtype);
    for (const Shape& shape : {Shape{2, 7, 4}, Shape{4, 7}, Shape{3, 3}, Shape{0, 3}}) {
      const Array a = normal(shape, dtype), inverse = linalg::pinv(a);
      EXPECT_EQ(inverse.dtype(), dtype);
      EXPECT_EQ(inverse.shape(-1), shape[shape.size() - 2]);
      EXPECT_LE(largest(product(product(a, inverse), a) - wide(a)), few);
      const Array projection = product(a, inverse);
      EXPECT_LE(largest(projection - adjoint(projection)), few);
    }
    const Array low = ct::matmul(normal({8, 2}, dtype), normal({2, 5}, dtype)).eval();
    EXPECT_LE(largest(product(product(low, linalg::pinv(low, 1e-5)), low) - wide(low)), few * largest(low));
    expect_array(linalg::matrix_rank(low), {2}, {}, Dtype::int64);
    expect_array(linalg::matrix_rank(ct::stack({low, low * 0})), {2, 0}, {2}, Dtype::int64);
    expect_array(linalg::matrix_rank(from({0, {0, 1}}, {2}, dtype)), {1}, {}, Dtype::int64);

    const Array a = normal({20, 4}, dtype), b = normal({20, 3}, dtype);
    const linalg::LstsqResult found = linalg::lstsq(a, b);
    EXPECT_EQ(found.rank, 4);
    EXPECT_EQ(found.x.dtype(), dtype);
    EXPECT_EQ(found.residuals.dtype(), part);
    EXPECT_EQ(found.singular_values.dtype(), part);
    const Array rest = wide(b) - product(a, found.x);
    EXPECT_LE(largest(product(adjoint(wide(a)), rest)), few);
    expect_array(found.residuals, ct::sum(ct::square(ct::absolute(rest)), 0).to_vector<double>(), {3}, part, few);
    const Array few_rows = normal({3, 6}, dtype), right = normal({3}, dtype), x = linalg::lstsq(few_rows, right).x;
    EXPECT_LE(largest(product(few_rows, x) - wide(right)), few);
    EXPECT_LE(largest(product(linalg::pinv(few_rows), right) - wide(x)), few);  // the shortest solution
    EXPECT_EQ(linalg::lstsq(ct::real(a), b).x.dtype(), dtype);
    EXPECT_EQ(linalg::lstsq(a, ct::real(b)).x.dtype(), dtype);
    EXPECT_LE(largest(linalg::lstsq(ct::real(a), b).x - linalg::lstsq(ct::real(a).astype(dtype), b).x), few);

    const Array m = from({3, 0, 0, {0, -4}}, {2, 2}, dtype);
    expect_array(linalg::cond(m), {4.0 / 3}, {}, part, 1e-6);
    expect_array(linalg::cond(ct::stack({m, m * 0}), 1), {4.0 / 3, kInf}, {2}, part, 1e-6);
    expect_array(linalg::cond(from({{1, 1}, 2, 0, 1}, {2, 2}, dtype), 1), {7.242640687119285}, {}, part, 1e-6);
    expect_array(linalg::norm(m, 2), {4}, {}, part, 1e-6);
    expect_array(linalg::norm(m, "nuc"), {7}, {}, part, 1e-6);
    expect_numbers(linalg::matrix_power(m, -2), {1.0 / 9, 0, 0, -1.0 / 16}, {2, 2}, dtype, few);
    expect_numbers(linalg::matrix_power(m, 0), {1, 0, 0, 1}, {2, 2}, dtype, 0);
    const Array p = normal({3, 5}, dtype), q = normal({5, 2}, dtype), r = normal({2}, dtype);
    EXPECT_LE(largest(wide(linalg::multi_dot({p, q, r})) - product(product(p, q), r)), few);
    const Array tensor = normal({2, 3, 6}, dtype), side = normal({2, 3}, dtype);
    EXPECT_LE(largest(ct::tensordot(tensor, linalg::tensorsolve(tensor, side), 1) - side), 10 * few);
    EXPECT_LE(largest(ct::tensordot(linalg::tensorinv(tensor), side, 2) - linalg::tensorsolve(tensor, side)), 10 * few);
  }
  EXPECT_THROW(linalg::eig(ct::ones({2, 2}, Dtype::float16)), ct::DtypeError);
}

}  // namespace
