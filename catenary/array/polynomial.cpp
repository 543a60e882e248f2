#include "catenary/array/polynomial.h"

#include <algorithm>

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/host_stack.h"
#include "catenary/array/linalg.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"

namespace catenary {

using detail::as_dtype;
using detail::slice_axis;

namespace {

/// Computes result[k] = sum over j of a[k + j - left] v[j], with zeros outside of a.
Array sliding_products(const Array& a, const Array& v, std::int64_t left, std::int64_t right) {
  const std::int64_t n = a.size(), m = v.size(), size = n + left + right - m + 1;
  const Array padded = detail::filled({n + left + right}, 0, a.dtype(), a.device());
  copyto(slice_axis(padded, 0, left, left + n), a);
  const Array out = Array::empty({size}, a.dtype(), a.device());
  // Windows overlap, so the matrix product may copy them. Limit the memory of the copy.
  const std::int64_t windows = std::max<std::int64_t>((std::int64_t{1} << 22) / m, 1);
  for (std::int64_t from = 0; from < size; from += windows) {
    const std::int64_t to = std::min(from + windows, size);
    copyto(slice_axis(out, 0, from, to), matmul(padded.as_strided({to - from, m}, {1, 1}, from), v));
  }
  return out;
}

/// Computes the correlation, or with `turned` the convolution, which reverses v.
Array correlation(const Array& first, const Array& second, bool turned, const std::string& mode, const char* what) {
  detail::check_same_device(first, second, what);
  for (const Array& x : {first, second}) {
    if (x.ndim() != 1) fail<ShapeError>("{}: 1-d arrays are needed, one of shape {} was given", what, x.shape());
    if (x.size() == 0) fail<ValueError>("{}: an array is empty", what);
  }
  if (mode != "full" && mode != "same" && mode != "valid")
    fail<ValueError>("{}: the mode is \"full\", \"same\" or \"valid\", not \"{}\"", what, mode);
  const Dtype dtype = promote(first.dtype(), second.dtype());
  Array a = as_dtype(first, dtype), v = as_dtype(second, dtype);
  const bool exchanged = a.size() < v.size();
  if (exchanged) std::swap(a, v);
  if (turned) v = detail::reverse_last(v);
  const std::int64_t m = v.size(), left = mode == "full" ? m - 1 : mode == "same" ? m / 2 : 0;
  const std::int64_t right = mode == "full" ? m - 1 : mode == "same" ? m - m / 2 - 1 : 0;
  const Array out = sliding_products(a, v.contiguous(), left, right);
  // Exchanging a and v reverses the correlation.
  return exchanged && !turned ? detail::reverse_last(out).copy() : out;
}

}  // namespace

Array convolve(const Array& a, const Array& v, const std::string& mode) {
  const auto with_an_axis = [](const Array& x) { return x.ndim() == 0 ? x.reshape({1}) : x; };
  return correlation(with_an_axis(a), with_an_axis(v), true, mode, "convolve");
}
Array correlate(const Array& a, const Array& v, const std::string& mode) {
  return correlation(a, v, false, mode, "correlate");
}

Array polyval(const Array& p, const Operand& x) {
  if (p.ndim() != 1) fail<ShapeError>("polyval: p must be a 1-d array, its shape is {}", p.shape());
  const Dtype given = x.is_array() ? x.array().dtype() : x.scalar().default_dtype();
  const Array at = detail::as_array(x, p.size() > 0 ? promote(given, p.dtype()) : given, p.device());
  if (x.is_array()) detail::check_same_device(p, x.array(), "polyval");
  p.eval();
  at.eval();
  Array y = zeros_like(at);
  for (std::int64_t i = 0; i < p.size(); ++i) y = y * at + p(i);
  return y;
}

PolyfitResult polyfit(const Array& x, const Array& y, int deg, const PolyfitOptions& options) {
  if (deg < 0) fail<ValueError>("polyfit: the degree must not be negative, {} was given", deg);
  if (x.ndim() != 1 || y.ndim() < 1 || y.ndim() > 2 || x.shape(0) != y.shape(0))
    fail<ShapeError>("polyfit: x [n] and y [n] or [n, columns] are needed, shapes {} and {} were given", x.shape(),
                     y.shape());
  if (x.size() == 0) fail<ValueError>("polyfit: there are no points");
  if (options.w && options.w->shape() != x.shape())
    fail<ShapeError>("polyfit: weights of shape {} for {} points", options.w->shape(), x.size());
  const std::int64_t n = x.size(), terms = deg + 1;
  const Dtype dtype = detail::mean_dtype(x.dtype());
  Array left = vander(as_dtype(x, dtype), terms), right = as_dtype(y, detail::mean_dtype(y.dtype()));
  if (options.w) {
    const Array w = as_dtype(*options.w, detail::mean_dtype(options.w->dtype()));
    left = left * w.reshape({n, 1});
    right = y.ndim() == 1 ? right * w : right * w.reshape({n, 1});
  }
  PolyfitResult result;
  result.rcond = options.rcond.value_or(static_cast<double>(n) * detail::epsilon_of(dtype));
  // Scale the columns to equal norms, else high powers would hide the others.
  const Array scale = sqrt(sum(square(left), 0)).eval();
  left = left / scale;
  const linalg::LstsqResult found = linalg::lstsq(left, right, result.rcond);
  const bool one = y.ndim() == 1;
  result.coefficients = found.x / (one ? scale : scale.reshape({terms, 1}));
  result.residuals = found.residuals;
  result.rank = found.rank;
  result.singular_values = found.singular_values;
  if (options.cov == PolyfitOptions::Cov::no) return result;
  const Array base = linalg::inv(matmul(left.T(), left)) / outer(scale, scale);
  if (options.cov == PolyfitOptions::Cov::unscaled) {
    result.covariance = one ? base : base.reshape({terms, terms, 1});
    return result;
  }
  if (n <= terms)
    fail<ValueError>("polyfit: {} points are too few to scale the covariance of {} coefficients", n, terms);
  const Array factor = found.residuals / static_cast<double>(n - terms);
  result.covariance = one ? base * factor : base.reshape({terms, terms, 1}) * factor;
  return result;
}

Array polyfit(const Array& x, const Array& y, int deg) { return polyfit(x, y, deg, {}).coefficients; }

}  // namespace catenary
