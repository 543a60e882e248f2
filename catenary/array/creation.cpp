#include "catenary/array/creation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/index_plan.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/format.h"
#include "catenary/device/float64.h"

namespace catenary {

using detail::iota;
using detail::of_iota;

namespace detail {

void throw_ragged(int depth) { fail<ShapeError>("array: the nested lists differ in length at depth {}", depth); }

Array array_from(const void* values, std::size_t count, const Shape& shape, Dtype dtype,
                 const std::optional<Dtype>& wanted) {
  if (static_cast<std::size_t>(checked_size(shape, "array")) != count)
    fail<ShapeError>("array: {} values do not fill the shape {}", count, shape);
  const Array a = Array::from_host(values, shape, dtype);
  return wanted && *wanted != dtype ? a.astype(*wanted) : a;
}

}  // namespace detail

namespace {

/// The values of nested lists in order, their shape and their common dtype.
struct Collected {
  std::vector<const detail::AnyValues*> values;
  Shape shape;
  std::optional<Dtype> dtype;

  void add(const std::vector<detail::AnyValues>& list, int depth) {
    if (shape.size() <= depth) {
      if (!values.empty()) detail::throw_ragged(depth);
      shape.push_back(static_cast<std::int64_t>(list.size()));
    } else if (shape[depth] != static_cast<std::int64_t>(list.size())) {
      detail::throw_ragged(depth);
    }
    for (const detail::AnyValues& value : list) {
      if (value.is_list) {
        add(value.list, depth + 1);
        continue;
      }
      if (shape.size() != depth + 1) detail::throw_ragged(depth + 1);
      values.push_back(&value);
      dtype = dtype ? promote(*dtype, value.dtype) : value.dtype;
    }
  }
};

/// Rounds a floating value to `dtype`.
double rounded(double value, Dtype dtype) {
  return visit_dtype(dtype, [&](auto zero) -> double {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      return static_cast<T>(value);
    } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      return float{T(static_cast<float>(value))};
    } else {
      return value;
    }
  });
}

/// Returns how many integers a range has. uint64 values are stored in the 64 bits of int64.
std::int64_t whole_length(std::int64_t start, std::int64_t stop, std::int64_t step, bool is_unsigned) {
  if (step == 0) throw ValueError("arange: step must not be zero");
  const auto low = static_cast<std::uint64_t>(start), high = static_cast<std::uint64_t>(stop);
  const bool is_past = is_unsigned ? low > high : start > stop;
  if (start == stop || is_past == (step > 0)) return 0;
  const std::uint64_t distance = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                          : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
  const std::uint64_t length = (distance - 1) / stride + 1;
  if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    fail<ValueError>("arange: a range from {} to {} by {} is too long", start, stop, step);
  return static_cast<std::int64_t>(length);
}

std::int64_t real_length(double start, double stop, double step) {
  if (step == 0) throw ValueError("arange: step must not be zero");
  const double length = std::ceil((stop - start) / step);
  if (!(length < 9.2e18))
    fail<ValueError>("arange: cannot compute the length of a range from {} to {} by {}", start, stop, step);
  return length > 0 ? static_cast<std::int64_t>(length) : 0;
}

}  // namespace

Array array(std::initializer_list<detail::AnyValues> list, const std::optional<Dtype>& dtype) {
  const std::vector<detail::AnyValues> all(list);  // `collected` points into this
  Collected collected;
  collected.add(all, 0);
  const Dtype common = collected.dtype.value_or(Dtype::float64);
  const auto made = [&](auto member) {
    std::vector<std::decay_t<decltype(std::declval<detail::AnyValues>().*member)>> values;
    for (const detail::AnyValues* value : collected.values) values.push_back(value->*member);
    return detail::array_from(values, collected.shape, dtype.value_or(common));
  };
  return is_floating(common) ? made(&detail::AnyValues::real) : made(&detail::AnyValues::integer);
}

Array array(const Array& a, const std::optional<Dtype>& dtype) {
  return dtype && *dtype != a.dtype() ? a.astype(*dtype) : copy(a);
}
const Array asarray(const Array& a, const std::optional<Dtype>& dtype) {
  return dtype && *dtype != a.dtype() ? a.astype(*dtype) : a;
}
const Array ascontiguousarray(const Array& a, const std::optional<Dtype>& dtype) {
  const Array whole = asarray(a, dtype).contiguous();
  return whole.ndim() == 0 ? whole.reshape({1}) : whole;
}
Array copy(const Array& a) {
  if (a.is_contiguous()) return a.copy();
  const Array result = empty_like(a);
  copyto(result, a);
  return result;
}

Array empty(const Shape& shape, Dtype dtype) { return Array::empty(shape, dtype); }
Array zeros(const Shape& shape, Dtype dtype) { return detail::filled(shape, false, dtype, current_device()); }
Array ones(const Shape& shape, Dtype dtype) { return detail::filled(shape, true, dtype, current_device()); }
Array full(const Shape& shape, const Operand& value, const std::optional<Dtype>& dtype) {
  const Dtype natural = value.is_array() ? value.array().dtype() : value.scalar().default_dtype();
  return detail::filled(shape, value, dtype.value_or(natural),
                        value.is_array() ? value.array().device() : current_device());
}
Array empty_like(const Array& a, const std::optional<Dtype>& dtype) {
  const Array fresh = Array::empty(a.shape(), dtype.value_or(a.dtype()), a.device());
  return a.is_contiguous() ? fresh : fresh.as_strided(a.shape(), strides_like(a));
}
Array zeros_like(const Array& a, const std::optional<Dtype>& dtype) { return full_like(a, false, dtype); }
Array ones_like(const Array& a, const std::optional<Dtype>& dtype) { return full_like(a, true, dtype); }
Array full_like(const Array& a, const Operand& value, const std::optional<Dtype>& dtype) {
  const Array result = empty_like(a, dtype);
  copyto(result, value);
  return result;
}

Array eye(std::int64_t rows, const std::optional<std::int64_t>& columns, std::int64_t k, Dtype dtype) {
  const Array result = zeros({rows, columns.value_or(rows)}, dtype);
  diagonal(result, k).fill(true);
  return result;
}
Array identity(std::int64_t n, Dtype dtype) { return eye(n, {}, 0, dtype); }

Array tri(std::int64_t rows, const std::optional<std::int64_t>& columns, std::int64_t k, Dtype dtype) {
  const std::int64_t n = columns.value_or(rows);
  checked_size({rows, n}, "tri");
  const Device device = current_device();
  return greater_equal(iota(rows, device).reshape({rows, 1}) + k, iota(n, device)).astype(dtype);
}

Array arange(const Scalar& stop, const std::optional<Dtype>& dtype) { return arange(0, stop, 1, dtype); }

Array arange(const Scalar& start, const Scalar& stop, const Scalar& step, const std::optional<Dtype>& dtype) {
  if (dtype && is_complex(*dtype)) return arange(start, stop, step, part_dtype(*dtype)).astype(*dtype);
  for (const Scalar& bound : {start, stop, step})
    if (bound.kind() == Scalar::Kind::complex) fail<ValueError>("arange: start, stop and step must not be complex");
  const bool whole =
      start.kind() != Scalar::Kind::real && stop.kind() != Scalar::Kind::real && step.kind() != Scalar::Kind::real;
  const Dtype to = dtype.value_or(whole ? Dtype::int64 : Dtype::float64);
  const std::int64_t length = whole ? whole_length(start.integer(), stop.integer(), step.integer(), to == Dtype::uint64)
                                    : real_length(start.real(), stop.real(), step.real());
  if (to == Dtype::bool_ && length > 2) fail<DtypeError>("arange: a bool range has at most 2 elements, not {}", length);
  checked_size({length}, "arange");
  const Device device = current_device();
  if (is_floating(to)) {
    // As in NumPy, the step is the difference of the first two values in the result's dtype.
    const Dtype computed = to == Dtype::float64 ? to : Dtype::float32;
    const double first = rounded(start.real(), to);
    const double delta = rounded(rounded(start.real() + step.real(), to) - first, computed);
    return of_iota(length, device,
                   [&](const Array& i) { return detail::as_dtype(i.astype(computed) * delta + first, to); });
  }
  // uint64 beyond int64 keeps its 64 bits
  const auto integer = [&](double value) {
    return to == Dtype::uint64 && value >= 0x1p63 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value))
                                                  : static_cast<std::int64_t>(value);
  };
  const std::int64_t first = start.kind() == Scalar::Kind::real ? integer(start.real()) : start.integer();
  const std::int64_t delta =
      whole ? step.integer()
            : static_cast<std::int64_t>(static_cast<std::uint64_t>(integer(start.real() + step.real())) -
                                        static_cast<std::uint64_t>(first));
  if (first == 0 && delta == 1) return of_iota(length, device, [&](const Array& i) { return detail::as_dtype(i, to); });
  return of_iota(length, device, [&](const Array& i) { return detail::as_dtype(i * delta + first, to); });
}

Array linspace(double start, double stop, std::int64_t num, const LinspaceOptions& options) {
  if (num < 0) fail<ValueError>("linspace: num must not be negative, {} was given", num);
  const std::int64_t steps = options.endpoint ? num - 1 : num;
  const double delta = stop - start;
  const double n = static_cast<double>(steps), step = steps > 0 ? delta / n : 0;
  const Array y = of_iota(num, current_device(), [&](const Array& i) {
    const Array counter = i.astype(Dtype::float64);
    if (steps <= 0) return counter * delta + start;
    // a step that underflows: scale the fractions instead
    return (step == 0 ? counter / n * delta : counter * step) + start;
  });
  if (options.endpoint && num > 1) y(num - 1).fill(stop);
  const Dtype to = options.dtype.value_or(Dtype::float64);
  if (to == Dtype::float64) return y;
  return (is_integer(to) ? floor(y) : y).astype(to);
}

Array linspace(const Operand& start, const Operand& stop, std::int64_t num, const LinspaceOptions& options) {
  if (num < 0) fail<ValueError>("linspace: num must not be negative, {} was given", num);
  const Device device = start.is_array() ? start.array().device() : stop.is_array() ? stop.array().device() : Device();
  const Dtype common = result_type(start, stop), dtype = is_inexact(common) ? common : widest_float(device);
  const Array from = detail::as_array(start, dtype, device), to = detail::as_array(stop, dtype, device);
  const Array delta = subtract(to, from);
  Shape column = Shape::filled(delta.ndim() + 1, 1);
  column[0] = num;
  const Array i = iota(num, device).astype(dtype).reshape(column);
  const std::int64_t steps = options.endpoint ? num - 1 : num;
  const Array y = add(multiply(i, steps > 0 ? divide(delta, steps) : delta), from);
  if (options.endpoint && num > 1) copyto(y(num - 1), to);
  const Dtype wanted = options.dtype.value_or(dtype);
  return moveaxis(is_integer(wanted) ? floor(y) : y, 0, options.axis).astype(wanted);
}

Array logspace(double start, double stop, std::int64_t num, const LogspaceOptions& options) {
  const Array y = power(options.base, linspace(start, stop, num, {.endpoint = options.endpoint}));
  return options.dtype ? y.astype(*options.dtype) : y;
}

Array geomspace(double start, double stop, std::int64_t num, const LinspaceOptions& options) {
  if (start == 0 || stop == 0) throw ValueError("geomspace: geometric sequence cannot include zero");
  if ((start < 0) != (stop < 0))
    fail<ValueError>("geomspace: start {} and stop {} must have the same sign", start, stop);
  const double sign = start < 0 ? -1 : 1;
  Array y = logspace(std::log10(sign * start), std::log10(sign * stop), num, {.endpoint = options.endpoint});
  if (num > 0) y(0).fill(sign * start);
  if (num > 1 && options.endpoint) y(num - 1).fill(sign * stop);
  if (sign < 0) y = y * sign;
  return options.dtype ? y.astype(*options.dtype) : y;
}

std::vector<Array> meshgrid(const std::vector<Array>& axes, const MeshgridOptions& options) {
  if (options.indexing != "xy" && options.indexing != "ij")
    fail<ValueError>("meshgrid: indexing must be \"xy\" or \"ij\", not \"{}\"", options.indexing);
  const int n = static_cast<int>(axes.size());
  const auto place = [&](int i) { return options.indexing == "xy" && n > 1 && i < 2 ? 1 - i : i; };
  Shape whole = Shape::filled(n, 1);
  for (int i = 0; i < n; ++i) {
    const Array& axis = axes[static_cast<std::size_t>(i)];
    if (axis.ndim() > 1)
      fail<ShapeError>("meshgrid: argument {} has shape {}, 1-d arrays are expected", i, axis.shape());
    whole[place(i)] = axis.size();
  }
  std::vector<Array> result;
  for (int i = 0; i < n; ++i) {
    Shape shape = Shape::filled(n, 1);
    shape[place(i)] = whole[place(i)];
    const Array axis = axes[static_cast<std::size_t>(i)].reshape(shape);
    result.push_back(options.sparse ? axis.copy() : axis.broadcast_to(whole).copy());
  }
  return result;
}

Array indices(const Shape& shape, Dtype dtype) {
  Shape whole = shape;
  whole.insert(0, shape.size());
  const Array result = Array::empty(whole, dtype);
  if (dtype == Dtype::bool_ && std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n > 2; }))
    fail<DtypeError>("indices: bool has only the coordinates 0 and 1, the shape is {}", shape);
  for (int i = 0; i < shape.size(); ++i) {
    Shape column = Shape::filled(shape.size(), 1);
    column[i] = shape[i];
    copyto(result(i), iota(shape[i], result.device()).reshape(column));
  }
  return result;
}

Array vander(const Array& x, const std::optional<std::int64_t>& columns, bool increasing) {
  if (x.ndim() != 1) fail<ShapeError>("vander: x must be a 1-d array, its shape is {}", x.shape());
  const std::int64_t n = columns.value_or(x.size());
  const Dtype dtype = promote(x.dtype(), Dtype::int64);
  const Array result = Array::empty({x.size(), n}, dtype, x.device());
  const Array wide = x.astype(dtype);
  Array column = ones_like(wide);
  for (std::int64_t i = 0; i < n; ++i) {
    copyto(result(slice(), increasing ? i : n - 1 - i), column);
    if (i + 1 < n) column = column * wide;
  }
  return result;
}

}  // namespace catenary
