#include "catenary/array/linalg.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <optional>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/complex_blocks.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/hermitian.h"
#include "catenary/array/host_stack.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/view.h"
#include "catenary/core/format.h"
#include "catenary/device/solver.h"

namespace catenary::linalg {

using detail::as_dtype;

namespace {

/// A stack of square matrices as [batch, n, n] in the working dtype.
struct Stack {
  Array matrices;
  Shape outer;   ///< the axes before the last two
  Dtype result;  ///< the dtype as computed, of 32 or 64 bits for each part; 16-bit floats are refused as in NumPy
  std::int64_t batch, n;

  Stack(const Array& a, Dtype dtype, const char* what) {
    detail::check_square(a, what);
    if (is_16bit_float(dtype))
      fail<DtypeError>("linalg::{}: {} is too narrow; cast to float32 or float64", what, dtype);
    result = is_inexact(dtype) ? dtype : Dtype::float64;
    outer = Shape(a.shape().data(), a.ndim() - 2);
    batch = outer.product();
    n = a.shape().back();
    matrices = as_dtype(a, result).reshape({batch, n, n}).contiguous();
  }
  /// Returns `outer` followed by `inner`.
  Shape shape(std::initializer_list<std::int64_t> inner) const {
    Shape s = outer;
    for (std::int64_t extent : inner) s.push_back(extent);
    return s;
  }
};

/// Runs a request on complex matrices by a library of their device. Returns false for each matrix that it could not
/// handle, or nothing if there is no library.
std::optional<std::vector<bool>> attempt_complex(SolveOp op, const Array& matrices, const View& b, const Array& out) {
  const Device device = out.device();
  Solver* const solver = solver_for(device, matrices.dtype(), matrices.shape(2));
  if (!solver) return {};
  std::vector<bool> ok(static_cast<std::size_t>(matrices.size() > 0 ? matrices.shape(0) : 0));
  if (!ok.empty()) solver->solve(device.index(), {op, readable(matrices), b, writable(out), ok});
  return ok;
}

/// Runs a primitive on real matrices. Returns false for each matrix that it could not handle.
std::vector<bool> attempt(LinalgOp op, const Array& matrices, const View& b, const Array& out) {
  std::vector<bool> ok;
  if (matrices.size() == 0) return ok;
  compute(out.device(), primitives::Linalg{op, readable(matrices), b, writable(out), ok});
  return ok;
}

/// Throws LinAlgError with the index of the first matrix that a primitive could not handle.
void check(const std::vector<bool>& ok, const char* what, const char* problem) {
  for (std::size_t i = 0; i < ok.size(); ++i)
    if (!ok[i]) fail<LinAlgError>("linalg::{}: matrix {} of {} is {}", what, i, ok.size(), problem);
}

/// Inverts real_blocks, using the first column of each block.
Array from_blocks(const Array& blocks) {
  Shape shape = blocks.shape();
  Strides strides = blocks.strides();
  const int row = blocks.ndim() - 2;
  const std::int64_t down = strides[row];
  for (int axis : {row, row + 1}) {
    shape[axis] /= 2;
    strides[axis] *= 2;
  }
  return complex(blocks.as_strided(shape, strides, 0), blocks.as_strided(shape, strides, down));
}

/// Computes Cholesky factors or inverses of a stack, in the order of its matrices.
Array factored(LinalgOp op, const Stack& stack, std::vector<bool>& ok) {
  const bool complex = is_complex(stack.result);
  if (complex) {
    const Array out = Array::empty(stack.matrices.shape(), stack.result, stack.matrices.device());
    const SolveOp by_library = op == LinalgOp::cholesky ? SolveOp::cholesky : SolveOp::inv;
    if (auto done = attempt_complex(by_library, stack.matrices, {}, out)) {
      ok = std::move(*done);
      return out;
    }
  }
  const Array matrices = complex ? detail::real_blocks(stack.matrices).contiguous() : stack.matrices;
  const Array out = Array::empty(matrices.shape(), matrices.dtype(), matrices.device());
  ok = attempt(op, matrices, {}, out);
  return complex ? from_blocks(out) : out;
}

/// Solves a x = b for [batch, n, n] and [batch, n, columns]. A complex right side becomes a real one with columns [re;
/// im] where no library solves it.
Array solved(const Array& a, const Array& b, const char* what) {
  const Array right = b.contiguous();
  const bool complex = is_complex(a.dtype());
  const Array out = Array::empty(right.shape(), a.dtype(), a.device());
  if (!complex) {
    check(attempt(LinalgOp::solve, a.contiguous(), readable(right), out), what, "singular");
    return out;
  }
  if (const auto ok = attempt_complex(SolveOp::solve, a, readable(right), out)) {
    check(*ok, what, "singular");
    return out;
  }
  const std::int64_t batch = b.shape(0), n = b.shape(1), columns = b.shape(2);
  const Array pairs = view(right, part_dtype(b.dtype())).reshape({batch, n, columns, 2});
  const Array parts = moveaxis(pairs, 3, 2).reshape({batch, 2 * n, columns});
  const Array x = solved(detail::real_blocks(a), parts, what).reshape({batch, n, 2, columns});
  const auto part = [&](int i) { return detail::slice_axis(x, 2, i, i + 1).reshape(b.shape()); };
  return catenary::complex(part(0), part(1));
}

/// The results for each matrix of a stack.
struct Determinants {
  Array value, sign, logarithm;
};

/// Computes LU factors [batch, n, n] and pivots [batch, n] of complex matrices, on the CPU.
std::pair<Array, Array> complex_lu(const detail::HostStack& stack) {
  const Array pivots = detail::host_array({stack.batch, stack.n}, Dtype::int32);
  stack.matrices.eval();
  const Array factors = detail::host_array(stack.matrices.shape(), stack.matrices.dtype());
  if (attempt_complex(SolveOp::lu, stack.matrices, writable(pivots), factors)) return {factors, pivots};
  parallel_for(stack.batch, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i)
      factor::lu(detail::matrix_of<std::complex<double>>(stack.matrices, i),
                 pivots.mutable_data<std::int32_t>() + i * stack.n);
  });
  return {stack.matrices, pivots};
}

Determinants complex_determinants(const Array& a, const char* what) {
  detail::check_square(a, what);
  const detail::HostStack stack(a, what);
  const auto [lu, pivots] = complex_lu(stack);
  const std::int64_t batch = stack.batch, n = stack.n;
  const Determinants found{detail::host_array({batch}, Dtype::complex128),
                           detail::host_array({batch}, Dtype::complex128), detail::host_array({batch})};
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto factors = detail::matrix_of<std::complex<double>>(lu, i);
    // The exponent of the value is kept separately, so that a long product neither overflows nor underflows early.
    std::complex<double> value = 1, sign = 1;
    double logarithm = 0;
    std::int64_t exponent = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const bool exchanged = pivots.data<std::int32_t>()[i * n + k] != k;
      const std::complex<double> element = exchanged ? -factors.row(k)[k] : factors.row(k)[k];
      const double size = std::abs(element);
      sign *= size == 0 ? 0 : element / size;
      logarithm += std::log(size);
      value *= element;
      const double largest = std::max(std::abs(value.real()), std::abs(value.imag()));
      if (largest == 0 || !std::isfinite(largest)) continue;
      const int digits = std::ilogb(largest);
      exponent += digits;
      value = {std::scalbn(value.real(), -digits), std::scalbn(value.imag(), -digits)};
    }
    const int digits = static_cast<int>(std::clamp<std::int64_t>(exponent, -10000, 10000));
    found.value.mutable_data<std::complex<double>>()[i] = {std::scalbn(value.real(), digits),
                                                           std::scalbn(value.imag(), digits)};
    found.sign.mutable_data<std::complex<double>>()[i] = sign;
    found.logarithm.mutable_data<double>()[i] = logarithm;
  }
  return {stack.back(found.value), stack.back(found.sign), stack.back(found.logarithm)};
}

Determinants determinants(const Array& a, const char* what) {
  if (is_complex(a.dtype())) return complex_determinants(a, what);
  const Stack stack(a, a.dtype(), what);
  const Array table = Array::empty({stack.batch, 3}, stack.result, stack.matrices.device());
  if (stack.n == 0) {  // the empty product: 1, sign 1, logarithm 0
    copyto(detail::slice_axis(table, 1, 0, 2), 1);
    copyto(detail::slice_axis(table, 1, 2, 3), 0);
  }
  attempt(LinalgOp::det, stack.matrices, {}, table);
  const auto column = [&](int i) { return detail::slice_axis(table, 1, i, i + 1).copy().reshape(stack.outer); };
  return {column(0), column(1), column(2)};
}

}  // namespace

Array cholesky(const Array& a) {
  const bool complex = is_complex(a.dtype()) && a.ndim() >= 2;
  const Stack stack(complex ? detail::hermitian_of(a) : a, a.dtype(), "cholesky");
  std::vector<bool> ok;
  const Array out = factored(LinalgOp::cholesky, stack, ok);
  check(ok, "cholesky", "not positive definite");
  return out.reshape(a.shape());
}

Array inv(const Array& a) {
  const Stack stack(a, a.dtype(), "inv");
  std::vector<bool> ok;
  const Array out = factored(LinalgOp::inv, stack, ok);
  check(ok, "inv", "singular");
  return out.reshape(a.shape());
}

Array det(const Array& a) { return determinants(a, "det").value; }

SlogdetResult slogdet(const Array& a) {
  const Determinants found = determinants(a, "slogdet");
  return {found.sign, found.logarithm};
}

namespace {

/// a and b of a x = b, broadcast to a common batch.
struct System {
  Stack stack;
  Array right;    ///< [batch, n, columns]
  Shape b_shape;  ///< of the result; a vector b has one column
  bool vector;

  System(const Array& a, const Array& b, const char* what) : System(a, b, columns_of(a, b, what), what) {}
  Array result(const Array& x) const { return x.reshape(vector ? stack.shape({stack.n}) : b_shape); }

 private:
  System(const Array& a, const Array& b, const Array& columns, const char* what)
      : stack(a.broadcast_to(shapes(a, columns, what).first), promote(a.dtype(), b.dtype()), what),
        b_shape(shapes(a, columns, what).second),
        vector(b.ndim() == 1) {
    right = as_dtype(columns, stack.result)
                .broadcast_to(b_shape)
                .reshape({stack.batch, stack.n, b_shape.back()})
                .contiguous();
  }
  static Array columns_of(const Array& a, const Array& b, const char* what) {
    detail::check_same_device(a, b, what);
    detail::check_square(a, what);
    const Array columns = b.ndim() == 1 ? b.reshape({b.size(), 1}) : b;
    if (columns.ndim() < 2 || columns.shape()[columns.ndim() - 2] != a.shape().back())
      fail<ShapeError>("linalg::{}: shapes {} and {} do not fit", what, a.shape(), b.shape());
    return columns;
  }
  static std::pair<Shape, Shape> shapes(const Array& a, const Array& columns, const char* what) {
    const Shape outer = broadcast_shapes(Shape(a.shape().data(), a.ndim() - 2),
                                         Shape(columns.shape().data(), columns.ndim() - 2), what);
    Shape a_shape = outer, b_shape = outer;
    for (int i = 2; i > 0; --i) {
      a_shape.push_back(a.shape()[a.ndim() - i]);
      b_shape.push_back(columns.shape()[columns.ndim() - i]);
    }
    return {a_shape, b_shape};
  }
};

/// Solves u x = b for upper triangular u [batch, n, n] and b [batch, n, columns]. Splits recursively, so that matrix
/// products do most of the work. The blocks at the end are their own LU factors, without row exchanges.
Array solve_upper(const Array& u, const Array& b) {
  constexpr std::int64_t kBlock = 64;
  const std::int64_t n = u.shape(1), half = n / 2;
  if (n <= kBlock) return solved(u, b, "solve_triangular");
  const Array out = Array::empty(b.shape(), b.dtype(), b.device());
  const auto part = [&](const Array& x, std::int64_t from, std::int64_t to) {
    return detail::slice_axis(x, 1, from, to);
  };
  const Array bottom = solve_upper(detail::slice_axis(part(u, half, n), 2, half, n), part(b, half, n));
  const Array above = part(b, 0, half) - matmul(detail::slice_axis(part(u, 0, half), 2, half, n), bottom);
  copyto(part(out, half, n), bottom);
  copyto(part(out, 0, half), solve_upper(detail::slice_axis(part(u, 0, half), 2, 0, half), above));
  return out;
}

}  // namespace

Array solve(const Array& a, const Array& b) {
  const System system(a, b, "solve");
  return system.result(solved(system.stack.matrices, system.right, "solve"));
}

Array solve_triangular(const Array& a, const Array& b, const SolveTriangularOptions& options) {
  const Array given = options.conjugate && is_complex(a.dtype()) ? conjugate(a) : a;
  const System system(options.trans && a.ndim() >= 2 ? matrix_transpose(given) : given, b, "solve_triangular");
  if (system.right.size() == 0) return system.result(system.right.copy());
  // A lower triangle becomes an upper one when both axes are reversed.
  const bool lower = options.lower != options.trans;
  const auto turned = [&](const Array& x, const Axes& axes) { return lower ? flip(x, axes) : x; };
  Array u = triu(turned(system.stack.matrices, {1, 2}));
  if (options.unit_diagonal) {
    u = u.copy();
    copyto(diagonal(u, 0, 1, 2), 1);
  }
  return system.result(turned(solve_upper(u, turned(system.right, {1})), {1}).copy());
}

Array multi_dot(const std::vector<Array>& arrays) {
  const std::size_t n = arrays.size();
  if (n < 2) fail<ValueError>("linalg::multi_dot: at least two arrays are needed, {} were given", n);
  std::vector<Array> matrices = arrays;
  const bool row = arrays.front().ndim() == 1, column = arrays.back().ndim() == 1;
  if (row) matrices.front() = arrays.front().reshape({1, -1});
  if (column) matrices.back() = arrays.back().reshape({-1, 1});
  for (std::size_t i = 0; i < n; ++i) {
    if (matrices[i].ndim() != 2)
      fail<ShapeError>("linalg::multi_dot: matrices are needed, array {} has shape {}", i, arrays[i].shape());
    if (i > 0 && matrices[i].shape(0) != matrices[i - 1].shape(1))
      fail<ShapeError>("linalg::multi_dot: shapes {} and {} of arrays {} and {} do not fit", arrays[i - 1].shape(),
                       arrays[i].shape(), i - 1, i);
  }
  // The cheapest way to multiply arrays i … j, from short chains to long ones, and its first cut.
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<std::size_t>> cut(n, std::vector<std::size_t>(n, 0));
  for (std::size_t length = 1; length < n; ++length)
    for (std::size_t i = 0; i + length < n; ++i) {
      const std::size_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < j; ++k) {
        const double here = cost[i][k] + cost[k + 1][j] +
                            static_cast<double>(matrices[i].shape(0)) * static_cast<double>(matrices[k].shape(1)) *
                                static_cast<double>(matrices[j].shape(1));
        if (here < cost[i][j]) {
          cost[i][j] = here;
          cut[i][j] = k;
        }
      }
    }
  const std::function<Array(std::size_t, std::size_t)> product = [&](std::size_t i, std::size_t j) {
    return i == j ? matrices[i] : matmul(product(i, cut[i][j]), product(cut[i][j] + 1, j));
  };
  const Array out = product(0, n - 1);
  Shape shape;
  if (!row) shape.push_back(out.shape(0));
  if (!column) shape.push_back(out.shape(1));
  return out.reshape(shape);
}

LuResult lu(const Array& a) {
  if (is_complex(a.dtype())) {
    detail::check_square(a, "lu");
    const detail::HostStack stack(a, "lu");
    const auto [factors, pivots] = complex_lu(stack);
    return {stack.back(factors), stack.back(pivots, Dtype::int32)};
  }
  const Stack stack(a, a.dtype(), "lu");
  const Array out = Array::empty(stack.matrices.shape(), stack.result, a.device());
  const Array pivots = Array::empty({stack.batch, stack.n}, Dtype::int32, a.device());
  attempt(LinalgOp::lu, stack.matrices, writable(pivots), out);
  return {out.reshape(a.shape()), pivots.reshape(stack.shape({stack.n}))};
}

Array tensorsolve(const Array& a, const Array& b, const std::optional<Axes>& axes) {
  Axes order, moved;
  for (std::int64_t axis : axes.value_or(Axes{}))
    moved.push_back(normalize_axis(axis, a.ndim(), "linalg::tensorsolve"));
  for (int i = 0; i < a.ndim(); ++i)
    if (std::find(moved.begin(), moved.end(), i) == moved.end()) order.push_back(i);
  for (std::int64_t axis : moved) order.push_back(axis);
  const Array given = a.transpose(order);
  const int known = std::min(b.ndim(), a.ndim());
  const Shape unknown(given.shape().data() + known, a.ndim() - known);
  const std::int64_t n = unknown.product();
  if (a.size() != n * n || b.size() != n)
    fail<LinAlgError>(
        "linalg::tensorsolve: an array of shape {} and a right side of shape {} do not give as many equations "
        "as unknowns",
        given.shape(), b.shape());
  return solve(given.reshape({n, n}), b.reshape({n})).reshape(unknown);
}

Array tensorinv(const Array& a, int ind) {
  if (ind < 1) fail<ValueError>("linalg::tensorinv: ind must be positive, {} was given", ind);
  const int first = std::min(ind, a.ndim());
  Shape shape(a.shape().data() + first, a.ndim() - first);
  const std::int64_t n = shape.product();
  for (int i = 0; i < first; ++i) shape.push_back(a.shape()[i]);
  if (n * n != a.size())
    fail<LinAlgError>("linalg::tensorinv: with ind = {} the shape {} cannot be split into two parts of equal size", ind,
                      a.shape());
  return inv(a.reshape({n, n})).reshape(shape);
}

Array matrix_power(const Array& a, std::int64_t n) {
  detail::check_square(a, "matrix_power");
  if (n < 0) return matrix_power(inv(a), -n);
  if (n == 0) {
    const std::int64_t extent = a.shape().back();
    const Array out = detail::filled(a.shape(), 0, a.dtype(), a.device());
    Shape shape(a.shape().data(), a.ndim() - 1);
    Strides strides(out.strides().data(), a.ndim() - 1);
    strides[a.ndim() - 2] = extent + 1;
    out.as_strided(shape, strides).fill(1);
    return out;
  }
  Array power = a, result;
  for (; n > 0; n >>= 1) {
    if (n & 1) result = result.defined() ? matmul(result, power) : power;
    if (n > 1) power = matmul(power, power);
  }
  return result.is(a) ? a.copy() : result;
}

namespace {

/// Returns |x| in a floating dtype. 16-bit floats stay widened until the end.
Array magnitudes(const Array& x, Dtype& result) {
  const Dtype dtype = detail::mean_dtype(x.dtype());
  result = part_dtype(dtype);
  return absolute(as_dtype(x, is_16bit_float(dtype) ? Dtype::float32 : dtype));
}

Array vector_norm(const Array& x, double ord, int axis, bool keepdims) {
  Dtype result;
  const Array a = magnitudes(x, result);
  const auto finish = [&](const Array& value) { return as_dtype(value, result); };
  if (std::isinf(ord)) return finish(ord > 0 ? max(a, axis, keepdims) : min(a, axis, keepdims));
  if (ord == 0) return finish(count_nonzero(a, axis, keepdims));
  if (ord == 1) return finish(sum(a, axis, keepdims));
  if (ord == 2) return finish(sqrt(sum(square(a), axis, keepdims)));
  return finish(power(sum(power(a, ord), axis, keepdims), 1 / ord));
}

Array matrix_norm(const Array& x, const NormOrder& ord, int row, int column, bool keepdims) {
  const double number = ord.number();
  const unsigned bits = 1u << row | 1u << column;
  const auto finish = [&](const Array& found) { return found.reshape(detail::kept_shape(x.shape(), bits, keepdims)); };
  if (ord.kind() == NormOrder::Kind::nuclear || std::abs(number) == 2) {
    const Array s = svdvals(moveaxis(x, {row, column}, {-2, -1}));
    if (ord.kind() == NormOrder::Kind::nuclear) return finish(sum(s, -1));
    if (number < 0) return finish(min(s, -1));
    return finish(s.shape().back() == 0 ? sum(s, -1) : max(s, -1));
  }
  if (std::abs(number) != 1 && !std::isinf(number))
    fail<ValueError>("linalg::norm: order {} is invalid for a matrix; expected 1, -1, 2, -2, inf, -inf, fro or nuc",
                     ord.str());
  Dtype result;
  const Array a = magnitudes(x, result);
  const bool columns = std::abs(number) == 1;  // the largest sum of a column, else of a row
  const Array sums = sum(a, columns ? row : column, true);
  const int over = columns ? column : row;
  return finish(as_dtype(number > 0 ? max(sums, over, true) : min(sums, over, true), result));
}

}  // namespace

NormOrder::NormOrder(const std::string& name) {
  if (name != "fro" && name != "nuc")
    fail<ValueError>("linalg: the order of a norm is a number, \"fro\" or \"nuc\", not \"{}\"", name);
  kind_ = name == "fro" ? Kind::frobenius : Kind::nuclear;
}

std::string NormOrder::str() const {
  if (kind_ == Kind::number) return fmt::format("{}", number_);
  return kind_ == Kind::frobenius ? "fro" : kind_ == Kind::nuclear ? "nuc" : "none";
}

Array norm(const Array& x, const NormOrder& ord, const AxisArg& axis, bool keepdims) {
  using Kind = NormOrder::Kind;
  const Axes axes = axis.normalized(x.ndim(), "linalg::norm");
  if (!axis.all() && (axes.empty() || axes.size() > 2))
    fail<ShapeError>("linalg::norm: one axis or two are needed, {} were given", axes.size());
  if (ord.kind() == Kind::none || (ord.kind() == Kind::frobenius && axes.size() == 2)) {
    Dtype result;
    const Array a = magnitudes(x, result);
    return as_dtype(sqrt(sum(square(a), axis, keepdims)), result);
  }
  if (axes.size() == 1 && ord.kind() != Kind::number)
    fail<ValueError>("linalg::norm: order {} is invalid for a vector; expected a number", ord.str());
  if (axes.size() == 1) return vector_norm(x, ord.number(), static_cast<int>(axes[0]), keepdims);
  if (axes.size() == 2) return matrix_norm(x, ord, static_cast<int>(axes[0]), static_cast<int>(axes[1]), keepdims);
  fail<ShapeError>("linalg::norm: order {} needs one axis or two, the array's shape is {}", ord.str(), x.shape());
}

Array cond(const Array& x, const NormOrder& p) {
  if (x.ndim() < 2) fail<ShapeError>("linalg::cond: matrices are needed, an array of shape {} was given", x.shape());
  if (x.size() == 0) fail<LinAlgError>("linalg::cond: cond is not defined on empty arrays, the shape is {}", x.shape());
  const double infinity = std::numeric_limits<double>::infinity();
  Array found;
  if (p.kind() == NormOrder::Kind::none || std::abs(p.number()) == 2) {
    const Array s = svdvals(x);
    const Array first = s(ellipsis, 0), last = s(ellipsis, -1);
    found = p.number() == -2 ? last / first : first / last;
  } else {
    const Stack stack(x, x.dtype(), "cond");
    std::vector<bool> ok;
    const Array inverses = factored(LinalgOp::inv, stack, ok);
    const std::vector<std::uint8_t> regular(ok.begin(), ok.end());
    const Array is_regular = Array::from_host(regular.data(), {stack.batch}, Dtype::bool_, x.device());
    found =
        where(is_regular, norm(stack.matrices, p, {1, 2}) * norm(inverses, p, {1, 2}), infinity).reshape(stack.outer);
  }
  return where(logical_and(isnan(found), logical_not(any(isnan(x), {-2, -1}))), infinity, found);
}

}  // namespace catenary::linalg
