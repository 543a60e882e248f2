// QR and singular values, and what is made of them. One matrix is array/factor.h's business, in float64 and host
// memory; here stacks of matrices go there and come back.

#include <algorithm>
#include <limits>
#include <utility>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/factor.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"
#include "catenary/device/trace.h"

namespace catenary::linalg {

namespace {

/// A copy of the elements in host memory, C-ordered and float64.
Array host_copy(const Array& a) { return a.to_device(Device()).astype(Dtype::float64).copy(); }

Array host_array(const Shape& shape) { return Array::empty(shape, Dtype::float64, Device()); }

/// Matrix i of a stack in host memory.
factor::Matrix matrix_of(const Array& stack, std::int64_t i) {
  const std::int64_t rows = stack.shape(1), columns = stack.shape(2);
  return {stack.mutable_data<double>() + i * rows * columns, rows, columns};
}

/// A stack of matrices as [batch, m, n] in host memory, and how results go back to where it came from.
struct HostStack {
  Array matrices;  ///< a copy
  Shape outer;     ///< the axes before the last two
  Dtype result;
  Device device;
  std::int64_t batch, m, n, k;

  HostStack(const Array& a, const char* what) : device(a.device()) {
    if (a.ndim() < 2)
      fail<ShapeError>("linalg::{}: matrices are needed, an array of shape {} was given", what, a.shape());
    if (is_16bit_float(a.dtype()))
      fail<DtypeError>("linalg::{}: {} is too narrow; cast to float32 or float64", what, a.dtype());
    if (is_complex(a.dtype())) fail<DtypeError>("linalg::{}: not yet there for complex matrices", what);
    trace_host(device, fmt::format("linalg.{}", what).c_str());
    result = is_floating(a.dtype()) ? a.dtype() : Dtype::float64;
    outer = Shape(a.shape().data(), a.ndim() - 2);
    batch = outer.product();
    m = a.shape(-2);
    n = a.shape(-1);
    k = std::min(m, n);
    matrices = host_copy(a).reshape({batch, m, n});
  }
  /// The lower triangles, and what they are mirrored to.
  void symmetrise(const char* what) {
    if (m != n)
      fail<ShapeError>("linalg::{}: a hermitian matrix is square, one of {} rows and {} columns was given", what, m, n);
    matrices = (tril(matrices) + matrix_transpose(tril(matrices, -1))).eval();
  }
  /// [batch, …] as the stack's dtype on its device, with the axes of the stack.
  Array back(const Array& host) const {
    Shape shape = outer;
    for (int i = 1; i < host.ndim(); ++i) shape.push_back(host.shape()[i]);
    return host.astype(result).to_device(device).reshape(shape).copy();
  }
};

/// Singular vectors in rows and singular values: [batch, …, m], [batch, k], [batch, …, n].
struct Singular {
  Array ut, s, vt;
};

/// All m and n vectors if `full`, else k of each; none at all unless `vectors`.
Singular singular(const HostStack& a, bool full, bool vectors, const char* what) {
  // Of a wide matrix the transposed one is decomposed.
  const bool wide = a.m < a.n;
  const Array tall = wide ? matrix_transpose(a.matrices).copy() : a.matrices.copy();
  const std::int64_t rows = tall.shape(1), left = vectors ? full ? rows : a.k : 0, right = vectors ? a.k : 0;
  Singular found{host_array({a.batch, left, rows}), host_array({a.batch, a.k}), host_array({a.batch, right, a.k})};
  tall.eval();
  std::vector<char> done(static_cast<std::size_t>(a.batch));
  parallel_for(a.batch, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i)
      done[static_cast<std::size_t>(i)] = factor::svd(matrix_of(tall, i), found.s.mutable_data<double>() + i * a.k,
                                                      matrix_of(found.ut, i), matrix_of(found.vt, i));
  });
  for (std::size_t i = 0; i < done.size(); ++i)
    if (!done[i])
      fail<LinAlgError>("linalg::{}: matrix {} of {} has no singular values; are its elements finite?", what, i,
                        done.size());
  if (wide) std::swap(found.ut, found.vt);
  return found;
}

/// 1 / s, and 0 for those up to `cutoff` times the largest of a matrix. At least one of each.
Array inverted(const Array& s, double cutoff) {
  const Array large = s > max(s, -1, true) * cutoff;
  return where(large, 1 / where(large, s, 1), 0);
}

double epsilon_of(Dtype dtype) {
  return dtype == Dtype::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                 : std::numeric_limits<double>::epsilon();
}

}  // namespace

QrResult qr(const Array& a, const std::string& mode) {
  if (mode != "reduced" && mode != "complete" && mode != "r" && mode != "raw")
    fail<ValueError>("linalg::qr: the mode is \"reduced\", \"complete\", \"r\" or \"raw\", not \"{}\"", mode);
  const HostStack stack(a, "qr");
  const bool with_q = mode == "reduced" || mode == "complete";
  const Array taus = host_array({stack.batch, stack.k});
  const Array q = host_array({stack.batch, stack.m, with_q ? mode == "complete" ? stack.m : stack.k : 0});
  stack.matrices.eval();
  parallel_for(stack.batch, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      double* tau = taus.mutable_data<double>() + i * stack.k;
      factor::qr(matrix_of(stack.matrices, i), tau);
      if (with_q) factor::qr_columns(matrix_of(stack.matrices, i), tau, matrix_of(q, i));
    }
  });
  if (mode == "raw") return {stack.back(matrix_transpose(stack.matrices)), stack.back(taus)};
  const std::int64_t rows = mode == "complete" ? stack.m : stack.k;
  const Array r = stack.back(triu(stack.matrices)(slice(), slice(rows)));
  return {with_q ? stack.back(q) : Array(), r};
}

SvdResult svd(const Array& a, bool full_matrices, bool compute_uv, bool hermitian) {
  HostStack stack(a, "svd");
  if (hermitian) stack.symmetrise("svd");
  const Singular found = singular(stack, full_matrices, compute_uv, "svd");
  if (!compute_uv) return {{}, stack.back(found.s), {}};
  return {stack.back(matrix_transpose(found.ut)), stack.back(found.s), stack.back(found.vt)};
}

Array svdvals(const Array& a) { return svd(a, false, false).s; }

Array pinv(const Array& a, std::optional<double> rcond, bool hermitian) {
  HostStack stack(a, "pinv");
  if (hermitian) stack.symmetrise("pinv");
  if (stack.k == 0) return stack.back(host_array({stack.batch, stack.n, stack.m}));
  const Singular found = singular(stack, false, true, "pinv");
  const Array inverse = inverted(found.s, rcond.value_or(1e-15));
  return stack.back(matmul(matrix_transpose(found.vt), found.ut * inverse.reshape({stack.batch, stack.k, 1})));
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
  if (is_complex(b.dtype())) fail<DtypeError>("linalg::lstsq: not yet there for complex matrices");
  HostStack stack(a, "lstsq");
  stack.result = promote(stack.result, is_floating(b.dtype()) ? b.dtype() : Dtype::float64);
  const std::int64_t m = stack.m, n = stack.n;
  const Array right = host_copy(b).reshape({m, b.ndim() == 1 ? 1 : b.shape(1)});
  const auto back = [&](const Array& host, const Shape& shape) {
    return host.astype(stack.result).to_device(stack.device).reshape(shape).copy();
  };
  const Singular found = singular(stack, false, true, "lstsq");
  LstsqResult result;
  Array x = detail::filled({n, right.shape(1)}, 0, Dtype::float64, Device());
  if (stack.k > 0) {
    const double cutoff = rcond.value_or(epsilon_of(stack.result) * static_cast<double>(std::max(m, n)));
    const Array inverse = inverted(found.s, cutoff);
    result.rank = count_nonzero(inverse).item<std::int64_t>();
    x = matmul(found.vt(0).T(), matmul(found.ut(0), right) * inverse.reshape({stack.k, 1}));
  }
  result.x = back(x, b.ndim() == 1 ? Shape{n} : Shape{n, right.shape(1)});
  result.singular_values = back(found.s, {stack.k});
  const bool determined = result.rank == n && m > n;
  const Array rest = determined ? sum(square(right - matmul(stack.matrices(0), x)), 0) : host_array({0});
  result.residuals = back(rest, {rest.size()});
  return result;
}

}  // namespace catenary::linalg
