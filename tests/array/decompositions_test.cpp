// QR, singular values and functions based on them, checked by definitions. NumPy's values are in tests/data/reference.

#include <cstdlib>
#include <string>

#include "catenary/core/error.h"
#include "tests/array/matrices.h"

namespace ct = catenary;
namespace linalg = ct::linalg;
using namespace testing_arrays;

namespace {

TEST(Decompositions, SingularValues) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    if (dtype == Dtype::float64 && !ct::current_device().info().has_f64) continue;
    for (const Shape& shape : {Shape{1, 1}, Shape{7, 7}, Shape{40, 9}, Shape{9, 40}, Shape{1, 5}, Shape{5, 1},
                               Shape{3, 2, 4, 3}, Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 4}, Shape{0, 2, 2}})
      check_svd(normal(shape, dtype));
    check_svd(normal({60, 60}, dtype));
    const Array a = normal({6, 6}, dtype);
    check_svd(a.T()(ct::slice(ct::none, ct::none, -2)));
    check_svd(ct::matmul(normal({12, 3}, dtype), normal({3, 12}, dtype)));  // of rank 3
    check_svd(a * 1e-30);
    check_svd(a * 1e30);
  }
}

TEST(Decompositions, OfMatricesThatAreHard) {
  ct::DeviceScope host{ct::Device()};
  check_svd(ct::zeros({5, 4}));
  check_svd(ct::ones({30, 30}));
  check_svd(ct::eye(6));
  check_svd((ct::arange(30).reshape({30, 1}) + ct::arange(30)) % 2 + ct::zeros({30, 30}));  // of rank 2
  check_svd(1 / (ct::arange(25).reshape({25, 1}) + ct::arange(25) + 1.0));                  // a Hilbert matrix
  check_svd(normal({8, 8}) * 1e300);
  check_svd(normal({8, 8}) * 1e-300);
  // Graded in both directions, and with two zeros on the diagonal.
  const Array grades = ct::power(10.0, -1.0 * ct::arange(12));
  check_svd(normal({12, 12}) * grades);
  check_svd(normal({12, 12}) * ct::flip(grades).reshape({12, 1}));
  Array two = ct::eye(9) + ct::eye(9, {}, 1);
  for (const int i : {0, 4, 8}) two.set(0, i, i);
  check_svd(two);
  // Singular values of a bidiagonal matrix are accurate to the last digits: 2⁻ᵏ on the diagonal.
  expect_array(linalg::svdvals(ct::diag(ct::power(2.0, -30.0 * ct::arange(12)))),
               ct::power(2.0, -30.0 * ct::arange(12)).to_vector<double>(), {12}, Dtype::float64);
  EXPECT_THROW(linalg::svd(ct::full({2, 2}, kNan)), ct::LinAlgError);
  EXPECT_THROW(linalg::svd(ct::full({3, 2, 2}, kInf)), ct::LinAlgError);
  EXPECT_THROW(linalg::svd(ct::ones({3})), ct::ShapeError);
  EXPECT_THROW(linalg::svd(ct::ones({3, 2}), true, true, true), ct::ShapeError);
  EXPECT_THROW(linalg::svd(ct::ones({3, 2}).astype(Dtype::float16)), ct::DtypeError);
}

TEST(Decompositions, Qr) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    if (dtype == Dtype::float64 && !ct::current_device().info().has_f64) continue;
    for (const Shape& shape : {Shape{1, 1}, Shape{8, 8}, Shape{30, 7}, Shape{7, 30}, Shape{2, 3, 5, 4}, Shape{5, 1},
                               Shape{1, 5}, Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 4}})
      for (const std::string mode : {"reduced", "complete"}) {
        SCOPED_TRACE(shape.str() + mode);
        const Array a = normal(shape, dtype);
        const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
        const auto [q, r] = linalg::qr(a, mode);
        EXPECT_EQ(q.shape(-1), mode == "complete" ? m : k);
        EXPECT_EQ(r.shape(-2), mode == "complete" ? m : k);
        EXPECT_EQ(r.shape(-1), n);
        EXPECT_EQ(q.dtype(), dtype);
        EXPECT_EQ(r.device(), a.device());
        expect_array(ct::tril(r, -1), std::vector<double>(static_cast<std::size_t>(r.size()), 0), r.shape(), dtype);
        if (a.size() == 0) continue;
        EXPECT_LT(from_orthonormal(q), 30 * epsilon(dtype));
        EXPECT_LT(largest(ct::matmul(wide(q), wide(r)) - wide(a)), 30 * epsilon(dtype) * largest(a));
        const Array alone = linalg::qr(a, "r").r;
        expect_array(alone, r(ct::ellipsis, ct::slice(k), ct::slice()).to_vector<double>(), alone.shape(), dtype);
      }
  }
  EXPECT_FALSE(linalg::qr(normal({3, 2}, Dtype::float32), "r").q.defined());
  EXPECT_THROW(linalg::qr(normal({3, 2}, Dtype::float32), "all"), ct::ValueError);
  EXPECT_THROW(linalg::qr(normal({3}, Dtype::float32)), ct::ShapeError);
}

TEST(Decompositions, InversesOfAnyMatrix) {
  const Dtype dtype = Dtype::float32;
  const Array a = normal({2, 7, 4}, dtype), inverse = linalg::pinv(a);
  EXPECT_EQ(inverse.shape(), (Shape{2, 4, 7}));
  EXPECT_LT(largest(ct::matmul(wide(inverse), wide(a)) - wide(ct::eye(4, {}, 0, dtype))), 1e-5);
  const Array low = ct::matmul(normal({8, 2}, dtype), normal({2, 5}, dtype)), of_low = linalg::pinv(low, 1e-5);
  EXPECT_LT(largest(ct::matmul(ct::matmul(wide(low), wide(of_low)), wide(low)) - wide(low)), 1e-4 * largest(low));
  expect_array(linalg::matrix_rank(low), {2}, {}, Dtype::int64);
  expect_array(linalg::matrix_rank(a), {4, 4}, {2}, Dtype::int64);
  EXPECT_THROW(linalg::matrix_rank(low, 1.0, false, 1.0), ct::ValueError);
}

TEST(Decompositions, LeastSquares) {
  const Dtype dtype = Dtype::float32;
  const Array a = normal({20, 4}, dtype), b = normal({20, 3}, dtype);
  const linalg::LstsqResult found = linalg::lstsq(a, b);
  EXPECT_EQ(found.rank, 4);
  // The residual is orthogonal to all columns.
  const Array rest = wide(b) - ct::matmul(wide(a), wide(found.x));
  EXPECT_LT(largest(ct::matmul(wide(a).T(), rest)), 1e-4);
  expect_array(found.residuals, ct::square(ct::absolute(rest)).sum(0).to_vector<double>(), {3}, dtype, 1e-5);
  // Of many solutions, lstsq returns the shortest, which is in the span of a's rows.
  const Array few = normal({3, 6}, dtype), right = normal({3}, dtype), x = linalg::lstsq(few, right).x;
  EXPECT_LT(largest(ct::matmul(wide(few), wide(x)) - wide(right)), 1e-5);
  const Array rows = linalg::qr(few.T()).q;
  EXPECT_LT(largest(ct::matmul(wide(rows), ct::matmul(wide(rows).T(), wide(x))) - wide(x)), 1e-5);
  EXPECT_EQ(linalg::lstsq(few, right).residuals.shape(), (Shape{0}));
  EXPECT_THROW(linalg::lstsq(a, right), ct::LinAlgError);
}

TEST(Decompositions, Triangles) {
  for (const std::int64_t n : {1, 65, 150}) {
    SCOPED_TRACE(n);
    const Array a = normal({2, n, n}, Dtype::float32) / 20 + 2 * ct::eye(n, {}, 0, Dtype::float32),
                b = normal({2, n, 3}, Dtype::float32);
    for (const bool lower : {false, true})
      for (const bool trans : {false, true}) {
        const Array x = linalg::solve_triangular(a, b, {.trans = trans, .lower = lower});
        const Array triangle = lower ? ct::tril(a) : ct::triu(a);
        EXPECT_LT(largest(ct::matmul(trans ? ct::matrix_transpose(triangle) : triangle, x) - b), 1e-4);
      }
    const Array unit = linalg::solve_triangular(a, b, {.lower = true, .unit_diagonal = true});
    EXPECT_LT(largest(ct::matmul(ct::tril(a, -1), unit) + unit - b), 1e-4);
  }
  const Array singular = make<float>({1, 2, 3, 0}, {2, 2});
  EXPECT_THROW(linalg::solve_triangular(singular, make<float>({1, 2})), ct::LinAlgError);
  expect_array(linalg::solve_triangular(singular, make<float>({4, 2}), {.unit_diagonal = true}), {0, 2}, {2},
               Dtype::float32);
  EXPECT_EQ(linalg::solve_triangular(ct::zeros({0, 0}, Dtype::float32), ct::zeros({0, 2}, Dtype::float32)).shape(),
            (Shape{0, 2}));
  EXPECT_THROW(linalg::solve_triangular(singular, make<float>({1, 2, 3})), ct::ShapeError);
}

TEST(Decompositions, NormsAndConditions) {
  const Array m = make<float>({3, 0, 0, -4}, {2, 2});
  expect_array(linalg::norm(m, 2), {4}, {}, Dtype::float32, 1e-6);
  expect_array(linalg::norm(m, -2, {0, 1}, true), {3}, {1, 1}, Dtype::float32, 1e-6);
  expect_array(linalg::norm(m, "nuc"), {7}, {}, Dtype::float32, 1e-6);
  expect_array(linalg::norm(m, "fro", {}, true), {5}, {1, 1}, Dtype::float32, 1e-6);
  expect_array(linalg::cond(m), {4.0 / 3}, {}, Dtype::float32, 1e-6);
  expect_array(linalg::cond(ct::stack({m, m * 0}), 1), {4.0 / 3, kInf}, {2}, Dtype::float32, 1e-6);
  EXPECT_THROW(linalg::norm(m, 3), ct::ValueError);
  EXPECT_THROW(linalg::norm(m(0), "fro"), ct::ValueError);
  EXPECT_THROW(linalg::NormOrder("two"), ct::ValueError);
  EXPECT_THROW(linalg::cond(ct::zeros({0, 2}, Dtype::float32)), ct::LinAlgError);
  EXPECT_THROW(linalg::inv(m * 0), ct::LinAlgError);
  EXPECT_THROW(linalg::cholesky(-m), ct::LinAlgError);
  EXPECT_THROW(linalg::eigvalsh(m, "X"), ct::ValueError);
}

TEST(Decompositions, SayOnceWhatTheProcessorComputes) {
  const char* given = std::getenv("CATENARY_TRACE");
  const std::string before = given ? given : "";
  ::setenv("CATENARY_TRACE", "ops", 1);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) linalg::qr(ct::ones({2, 2}, Dtype::float32), "raw");
  const std::string said = testing::internal::GetCapturedStderr();
  given ? ::setenv("CATENARY_TRACE", before.c_str(), 1) : ::unsetenv("CATENARY_TRACE");
  const std::string line = "host " + ct::current_device().name() + " linalg.qr\n";
  // With everything traced, the message may have appeared before.
  if (ct::current_device().is_cpu() || (given && said.empty())) {
    EXPECT_EQ(said, "");
  } else {
    EXPECT_EQ(said, line);
  }
}

}  // namespace
