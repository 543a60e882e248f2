// QR, singular values, eigenvalues of general matrices, and functions based on them. Stacks of matrices are copied to
// host memory, LAPACK or else array/factor.h decomposes each matrix in float64 or complex128, and the results are
// copied back.

#include <algorithm>
#include <complex>
#include <utility>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/factor.h"
#include "catenary/array/hermitian.h"
#include "catenary/array/host_stack.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"
#include "catenary/device/solver.h"

namespace catenary::linalg {

namespace {

using detail::adjoint;
using detail::epsilon_of;
using detail::host_array;
using detail::host_copy;
using detail::HostStack;
using detail::matrix_of;

/// Singular vectors as rows, not conjugated, and singular values: [batch, …, m], [batch, k], [batch, …, n].
struct Singular {
  Array ut, s, vt;
};

/// Returns the library for the matrices of a stack in host memory, or null.
Solver* solver_of(const HostStack& stack) {
  return stack.matrices.size() == 0 ? nullptr
                                    : solver_for(Device(), stack.matrices.dtype(), std::max(stack.m, stack.n));
}

/// Computes singular vectors and values by a library. Returns false for matrices without a result.
std::vector<bool> singular_by(Solver& solver, const HostStack& a, bool full, bool vectors, Singular& found) {
  const Dtype dtype = a.matrices.dtype();
  const Array u = host_array({a.batch, a.m, vectors ? full ? a.m : a.k : 0}, dtype);
  const Array vh = host_array({a.batch, vectors ? full ? a.n : a.k : 0, a.n}, dtype);
  found.s = host_array({a.batch, a.k});
  std::vector<bool> ok(static_cast<std::size_t>(a.batch));
  const View second = writable(vh);
  solver.solve(0, {SolveOp::svd, readable(a.matrices), writable(found.s), writable(u), ok, &second});
  found.ut = matrix_transpose(u);
  found.vt = conjugate(vh);
  return ok;
}

/// Computes all m and n vectors if `full`, else k of each, and no vectors unless `vectors` is set.
Singular singular(const HostStack& a, bool full, bool vectors, const char* what) {
  const auto check = [&](const auto& done) {
    for (std::size_t i = 0; i < done.size(); ++i)
      if (!done[i])
        fail<LinAlgError>("linalg::{}: matrix {} of {} has no singular values; are its elements finite?", what, i,
                          done.size());
  };
  if (Solver* const solver = solver_of(a)) {
    Singular found;
    check(singular_by(*solver, a, full, vectors, found));
    return found;
  }
  // For a wide matrix, decompose its adjoint.
  const bool wide = a.m < a.n;
  const Array tall = wide ? adjoint(a.matrices).copy() : a.matrices.copy();
  const std::int64_t rows = tall.shape(1), left = vectors ? full ? rows : a.k : 0, right = vectors ? a.k : 0;
  Singular found{host_array({a.batch, left, rows}, tall.dtype()), host_array({a.batch, a.k}),
                 host_array({a.batch, right, a.k}, tall.dtype())};
  tall.eval();
  std::vector<char> done(static_cast<std::size_t>(a.batch));
  a.each([&](auto type, std::int64_t i) {
    using T = decltype(type);
    done[static_cast<std::size_t>(i)] = factor::svd(matrix_of<T>(tall, i), found.s.mutable_data<double>() + i * a.k,
                                                    matrix_of<T>(found.ut, i), matrix_of<T>(found.vt, i));
  });
  check(done);
  if (wide) std::swap(found.ut, found.vt);
  return found;
}

/// Returns 1 / s, or 0 for values up to `cutoff` times the largest of each matrix. s is not empty.
Array inverted(const Array& s, double cutoff) {
  const Array large = s > max(s, -1, true) * cutoff;
  return where(large, 1 / where(large, s, 1), 0);
}

}  // namespace

QrResult qr(const Array& a, const std::string& mode) {
  if (mode != "reduced" && mode != "complete" && mode != "r" && mode != "raw")
    fail<ValueError>("linalg::qr: the mode is \"reduced\", \"complete\", \"r\" or \"raw\", not \"{}\"", mode);
  const HostStack stack(a, "qr");
  const bool with_q = mode == "reduced" || mode == "complete";
  const Dtype dtype = stack.matrices.dtype();
  const Array taus = host_array({stack.batch, stack.k}, dtype);
  const Array q = host_array({stack.batch, stack.m, with_q ? mode == "complete" ? stack.m : stack.k : 0}, dtype);
  stack.matrices.eval();
  Array factors = stack.matrices;
  if (Solver* const solver = solver_of(stack)) {
    factors = host_array(stack.matrices.shape(), dtype);
    std::vector<bool> ok(static_cast<std::size_t>(stack.batch));
    solver->solve(0, {SolveOp::qr, readable(stack.matrices), writable(taus), writable(factors), ok});
    if (with_q) solver->solve(0, {SolveOp::q, readable(factors), readable(taus), writable(q), ok});
  } else {
    stack.each([&](auto type, std::int64_t i) {
      using T = decltype(type);
      T* tau = taus.mutable_data<T>() + i * stack.k;
      factor::qr(matrix_of<T>(factors, i), tau);
      if (with_q) factor::qr_columns(matrix_of<T>(factors, i), tau, matrix_of<T>(q, i));
    });
  }
  if (mode == "raw") return {stack.back(matrix_transpose(factors)), stack.back(taus)};
  const std::int64_t rows = mode == "complete" ? stack.m : stack.k;
  const Array r = stack.back(triu(factors)(slice(), slice(rows)));
  return {with_q ? stack.back(q) : Array(), r};
}

SvdResult svd(const Array& a, bool full_matrices, bool compute_uv, bool hermitian) {
  HostStack stack(a, "svd");
  if (hermitian) stack.symmetrise("svd");
  const Singular found = singular(stack, full_matrices, compute_uv, "svd");
  if (!compute_uv) return {{}, stack.back(found.s), {}};
  return {stack.back(matrix_transpose(found.ut)), stack.back(found.s), stack.back(conjugate(found.vt))};
}

Array svdvals(const Array& a) { return svd(a, false, false).s; }

Array pinv(const Array& a, std::optional<double> rcond, bool hermitian) {
  HostStack stack(a, "pinv");
  if (hermitian) stack.symmetrise("pinv");
  if (stack.k == 0) return stack.back(host_array({stack.batch, stack.n, stack.m}, stack.matrices.dtype()));
  const Singular found = singular(stack, false, true, "pinv");
  const Array inverse = inverted(found.s, rcond.value_or(1e-15));
  return stack.back(
      matmul(matrix_transpose(found.vt), conjugate(found.ut) * inverse.reshape({stack.batch, stack.k, 1})));
}

Array matrix_rank(const Array& a, std::optional<double> tol, bool hermitian, std::optional<double> rtol) {
  if (tol && rtol) fail<ValueError>("linalg::matrix_rank: tol and rtol exclude each other, both were given");
  if (a.ndim() < 2) return any(a != 0).astype(Dtype::int64);
  const Array s = svd(a, false, false, hermitian).s;
  if (s.shape().back() == 0) return count_nonzero(s, -1);
  if (tol) return count_nonzero(s > *tol, -1);
  const auto larger = static_cast<double>(std::max(a.shape(-2), a.shape(-1)));
  return count_nonzero(s > max(s, -1, true) * rtol.value_or(larger * epsilon_of(s.dtype())), -1);
}

LstsqResult lstsq(const Array& a, const Array& b, std::optional<double> rcond) {
  detail::check_same_device(a, b, "linalg::lstsq");
  if (a.ndim() != 2 || b.ndim() < 1 || b.ndim() > 2 || a.shape(0) != b.shape(0))
    fail<LinAlgError>("linalg::lstsq: a [m, n] and b [m] or [m, columns] are needed, shapes {} and {} were given",
                      a.shape(), b.shape());
  if (is_16bit_float(b.dtype()))
    fail<DtypeError>("linalg::lstsq: {} is too narrow; cast to float32 or float64", b.dtype());
  HostStack stack(a, "lstsq", is_inexact(b.dtype()) ? b.dtype() : Dtype::float64);
  const std::int64_t m = stack.m, n = stack.n;
  const Dtype dtype = stack.matrices.dtype();
  const Array right = host_copy(b, dtype).reshape({m, b.ndim() == 1 ? 1 : b.shape(1)});
  const auto back = [&](const Array& host, const Shape& shape) {
    return host.astype(stack.result_of(host)).to_device(stack.device).reshape(shape).copy();
  };
  const Singular found = singular(stack, false, true, "lstsq");
  LstsqResult result;
  Array x = detail::filled({n, right.shape(1)}, 0, dtype, Device());
  if (stack.k > 0) {
    const double cutoff = rcond.value_or(epsilon_of(stack.result) * static_cast<double>(std::max(m, n)));
    const Array inverse = inverted(found.s, cutoff);
    result.rank = count_nonzero(inverse).item<std::int64_t>();
    x = matmul(found.vt(0).T(), matmul(conjugate(found.ut(0)), right) * inverse.reshape({stack.k, 1}));
  }
  result.x = back(x, b.ndim() == 1 ? Shape{n} : Shape{n, right.shape(1)});
  result.singular_values = back(found.s, {stack.k});
  const bool determined = result.rank == n && m > n;
  const Array rest = determined ? sum(square(absolute(right - matmul(stack.matrices(0), x))), 0) : host_array({0});
  result.residuals = back(rest, {rest.size()});
  return result;
}

namespace {

/// Computes eigenvalues and eigenvectors by a library, as factor::eig. Returns false for matrices without a result.
std::vector<bool> eigenvalues_by(Solver& solver, const HostStack& stack, const Array& values, const Array& rows) {
  // Scale by powers of two. Then nothing overflows, and only numbers far below rounding errors underflow.
  const Array largest = max(absolute(stack.matrices), {1, 2});
  const Array scale = power(2.0, floor(log2(where(largest > 0, largest, 1)))).reshape({stack.batch, 1}).eval();
  const Array scaled = (stack.matrices / scale.reshape({stack.batch, 1, 1})).eval();
  std::vector<bool> ok(static_cast<std::size_t>(stack.batch));
  solver.solve(0, {SolveOp::eig, readable(scaled), writable(values), writable(rows), ok});
  if (rows.size() > 0)
    parallel_for(stack.batch, 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i)
        if (ok[static_cast<std::size_t>(i)])
          factor::normalise_rows(matrix_of<std::complex<double>>(rows, i),
                                 values.data<std::complex<double>>() + i * stack.n, !is_complex(scaled.dtype()));
    });
  copyto(values, values * scale);
  return ok;
}

/// Computes eigenvalues, and with `vectors` eigenvectors, of general matrices.
EigResult general(const Array& a, bool vectors, const char* what) {
  detail::check_square(a, what);
  const HostStack stack(a, what);
  if (!isfinite(stack.matrices).all())
    fail<LinAlgError>("linalg::{}: elements must be finite, an infinity or a NaN was given", what);
  const Array values = host_array({stack.batch, stack.n}, Dtype::complex128);
  const Array rows = host_array({stack.batch, vectors ? stack.n : 0, stack.n}, Dtype::complex128);
  stack.matrices.eval();
  std::vector<char> done(static_cast<std::size_t>(stack.batch));
  if (Solver* const solver = solver_of(stack)) {
    const std::vector<bool> ok = eigenvalues_by(*solver, stack, values, rows);
    std::copy(ok.begin(), ok.end(), done.begin());
  } else {
    stack.each([&](auto type, std::int64_t i) {
      using T = decltype(type);
      done[static_cast<std::size_t>(i)] =
          factor::eig(matrix_of<T>(stack.matrices, i), values.mutable_data<std::complex<double>>() + i * stack.n,
                      matrix_of<std::complex<double>>(rows, i), vectors);
    });
  }
  for (std::size_t i = 0; i < done.size(); ++i)
    if (!done[i])
      fail<LinAlgError>("linalg::{}: the eigenvalues of matrix {} of {} did not converge", what, i, done.size());
  const Array columns = matrix_transpose(rows);
  const Array imaginary = imag(values);
  const bool all_real = !is_complex(stack.result) && !any(imaginary != 0).item<bool>();
  const Dtype result = all_real || is_complex(stack.result) ? stack.result
                       : stack.result == Dtype::float32     ? Dtype::complex64
                                                            : Dtype::complex128;
  const auto back = [&](const Array& host) { return stack.back(all_real ? real(host) : host, result); };
  return {back(values), vectors ? back(columns) : Array()};
}

}  // namespace

EigResult eig(const Array& a) { return general(a, true, "eig"); }

Array eigvals(const Array& a) { return general(a, false, "eigvals").values; }

}  // namespace catenary::linalg
