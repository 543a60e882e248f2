// Eigenvalues of general matrices, real and complex, checked by definitions and by recorded values.

#include "catenary/array/sorting.h"
#include "catenary/core/error.h"
#include "tests/array/matrices.h"

namespace ct = catenary;
namespace linalg = ct::linalg;
using namespace testing_arrays;

namespace {

std::vector<Dtype> dtypes_and_real() {
  std::vector<Dtype> all = complex_dtypes();
  for (const Dtype dtype : complex_dtypes()) all.push_back(ct::part_dtype(dtype));
  return all;
}

/// Returns the values in an order that does not depend on rounding if their parts are well separated.
std::vector<C> sorted(const Array& values) {
  std::vector<C> all = numbers(values);
  std::sort(all.begin(), all.end(), [](const C& x, const C& y) {
    return std::abs(x.real() - y.real()) > 1e-3 ? x.real() < y.real() : x.imag() < y.imag();
  });
  return all;
}

/// Checks a v = v w, norms of 1, and positive largest elements.
void check_eig(const Array& a, double tolerance = 300) {
  SCOPED_TRACE(a.shape().str() + ct::dtype_name(a.dtype()));
  const auto [w, v] = linalg::eig(a);
  EXPECT_EQ(v.shape(), a.shape());
  EXPECT_EQ(v.dtype(), w.dtype());
  EXPECT_EQ(ct::part_dtype(v.dtype()), ct::part_dtype(a.dtype()));
  EXPECT_EQ(v.device(), a.device());
  EXPECT_TRUE(w.dtype() == a.dtype() || !ct::is_complex(a.dtype())) << ct::dtype_name(w.dtype());
  const double few = tolerance * epsilon(a.dtype());
  const Array alone = linalg::eigvals(a);
  EXPECT_EQ(alone.dtype(), w.dtype());
  EXPECT_EQ(alone.shape(), w.shape());
  if (a.size() == 0) return;
  Shape row = w.shape();
  row.insert(w.ndim() - 1, 1);
  EXPECT_LE(largest(product(a, v) - wide(v) * wide(w).reshape(row)), few * largest(a));
  EXPECT_LE(largest(ct::sqrt(ct::sum(ct::square(ct::absolute(wide(v))), -2)) - 1), few);
  const std::int64_t n = a.shape(-1);
  const std::vector<C> elements = numbers(ct::matrix_transpose(v).copy());
  for (std::size_t i = 0; i < elements.size(); i += static_cast<std::size_t>(n)) {
    const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(i);
    double most = 0;
    bool positive = false;
    for (auto x = begin; x != begin + n; ++x) most = std::max(most, std::abs(*x));
    for (auto x = begin; x != begin + n; ++x)
      positive |= x->imag() == 0 && x->real() > 0 && x->real() >= most * (1 - 1e-5);
    EXPECT_TRUE(positive) << i;
  }
  // Compares the traces of a and of its square.
  const std::vector<C> given = numbers(ct::trace(wide(a), 0, -2, -1)), sums = numbers(ct::sum(wide(w), -1)),
                       squares = numbers(ct::trace(product(a, a), 0, -2, -1)),
                       of_alone = numbers(ct::sum(ct::square(wide(alone)), -1));
  const double size = largest(a) * static_cast<double>(n);
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_LE(std::abs(given[i] - sums[i]), few * size);
    EXPECT_LE(std::abs(squares[i] - of_alone[i]), few * size * size);
  }
}

TEST(Eigenvalues, WithVectors) {
  for (const Dtype dtype : dtypes_and_real()) {
    for (const Shape& shape : {Shape{1, 1}, Shape{2, 2}, Shape{3, 3}, Shape{8, 8}, Shape{41, 41}, Shape{2, 3, 5, 5},
                               Shape{0, 0}, Shape{2, 0, 0}, Shape{0, 3, 3}})
      check_eig(normal(shape, dtype));
    const Array a = normal({7, 7}, dtype);
    check_eig(a.T()(ct::slice(ct::none, ct::none, -1)));
    check_eig(normal({12, 12}, dtype)(ct::slice(ct::none, ct::none, 2), ct::slice(ct::none, ct::none, 2)));
    check_eig(a * 1e-15);
    check_eig(a * 1e15);
    check_eig(a * 0);
    check_eig(ct::eye(4, {}, 0, dtype));
    check_eig(ct::ones({6, 6}, dtype));
    check_eig(ct::triu(a));
    check_eig(ct::tril(a));
    check_eig(ct::eye(6, {}, 1, dtype));  // one eigenvector for six eigenvalues
    check_eig(ct::eye(40, {}, 1, dtype));
    check_eig(ct::eye(5, {}, 1, dtype) + ct::eye(5, {}, 0, dtype) * 2);
    check_eig(ct::eye(5, {}, -1, dtype));
    check_eig(ct::roll(ct::eye(9, {}, 0, dtype), 1, 0));                  // a cyclic shift: roots of unity
    check_eig(ct::matmul(normal({9, 2}, dtype), normal({2, 9}, dtype)));  // of rank 2
    check_eig(ct::matmul(a, adjoint(a)));
    if (ct::part_dtype(dtype) == Dtype::float64)
      for (const double scale : {0x1p1000, 0x1p-1000}) {
        expect_numbers(linalg::eigvals(a * scale), numbers(linalg::eigvals(a) * scale), {7}, linalg::eigvals(a).dtype(),
                       0);
        expect_numbers(linalg::eig(a * scale).vectors, numbers(linalg::eig(a).vectors), {7, 7},
                       linalg::eig(a).values.dtype(), 0);
      }
    EXPECT_THROW(linalg::eig(ct::full({2, 2}, kNan, dtype)), ct::LinAlgError);
    EXPECT_THROW(linalg::eigvals(ct::full({2, 2}, kInf, dtype)), ct::LinAlgError);
    EXPECT_THROW(linalg::eig(normal({2, 3}, dtype)), ct::LinAlgError);
    EXPECT_THROW(linalg::eigvals(normal({3}, dtype)), ct::LinAlgError);
  }
}

TEST(Eigenvalues, OfRealMatrices) {
  const Dtype dtype = ct::part_dtype(complex_dtypes().back()), complex = complex_dtypes().back();
  const double few = 100 * epsilon(dtype);
  // Symmetric and general: with real eigenvalues, both results are real.
  const Array a = normal({9, 9}, dtype);
  EXPECT_EQ(linalg::eig((a + a.T()).eval()).vectors.dtype(), dtype);
  const Array similar = ct::matmul(ct::matmul(a, ct::diag(ct::arange(9).astype(dtype))), linalg::inv(a)).eval();
  const auto [w, v] = linalg::eig(similar);
  EXPECT_EQ(v.dtype(), dtype);
  expect_array(ct::sort(w), {0, 1, 2, 3, 4, 5, 6, 7, 8}, {9}, dtype, 1e5 * epsilon(dtype));
  // One matrix with complex eigenvalues makes the whole stack complex. Real eigenvalues keep zero imaginary parts.
  const Array turn = make<double>({0, -1, 0, 1, 0, 0, 0, 0, 3}, {3, 3}).astype(dtype);
  const Array both = ct::stack({turn, ct::diag(make<double>({1, 2, 3})).astype(dtype)});
  const auto [values, vectors] = linalg::eig(both);
  EXPECT_EQ(values.dtype(), complex);
  const auto close = [&](const std::vector<C>& got, const std::vector<C>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_LE(std::abs(got[i] - expected[i]), few * 10) << i << got[i];
  };
  close(sorted(values(0)), {{0, -1}, {0, 1}, 3});
  close(sorted(values(1)), {1, 2, 3});
  for (const Array& m : {normal({6, 6}, dtype), normal({25, 25}, dtype), both(0)}) {
    const auto [value, vector] = linalg::eig(m);
    const std::vector<C> all = numbers(value);
    const std::vector<C> columns = numbers(vector.T().copy());
    const std::size_t n = all.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (all[i].imag() > 0) {
        ASSERT_LT(i + 1, n);
        EXPECT_EQ(all[i + 1], std::conj(all[i]));
        for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(columns[(i + 1) * n + j], std::conj(columns[i * n + j]));
        ++i;
      } else {
        EXPECT_EQ(all[i].imag(), 0);
        for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(columns[i * n + j].imag(), 0);
      }
    }
  }
  // Integers are computed in float64.
  if (ct::has_float64(ct::current_device())) {
    EXPECT_EQ(linalg::eigvals(make<int>({2, 1, 1, 3}, {2, 2})).dtype(), Dtype::float64);
    EXPECT_EQ(linalg::eigvals(make<int>({0, -1, 1, 0}, {2, 2})).dtype(), Dtype::complex128);
  }
  // values of numpy.linalg.eigvals, also for rows and columns with very different norms
  const Array four = make<double>({1, 2, 3, 4, -4, 5, 6, 7, 2, -3, 1, 0, 0, 1, -1, 2}, {4, 4}).astype(dtype);
  const std::vector<C> of_four = {{0.9456265700703639, -3.2436219604180536},
                                  {0.9456265700703639, 3.2436219604180536},
                                  {3.5543734299296394, -0.7118262901203889},
                                  {3.5543734299296394, 0.7118262901203889}};
  close(sorted(linalg::eigvals(four)), of_four);
  const Array scale = ct::power(2.0, make<double>({0, 40, -30, 15})).astype(dtype);
  close(sorted(linalg::eigvals(four * scale / scale.reshape({4, 1}))), of_four);
  close(sorted(linalg::eigvals(from({{1, 2}, 3, {0, -1}, {2, -1}, {0, 1}, 4, 1, {1, 1}, {-2, 0.5}}, {3, 3}, complex))),
        {{-3.369112451914124, -0.22134749464845221},
         {-1.443650252241894, 2.6509255746848774},
         {3.8127627041560137, 1.070421919963577}});
}

}  // namespace
