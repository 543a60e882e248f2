#include "catenary/array/indexing.h"

#include <algorithm>

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/index_plan.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/format.h"

namespace catenary {

using detail::check_same_device;
using detail::iota;

namespace {

/// Returns an index argument as an int64 array on the device of `a`. Bools are not accepted as positions here.
Array index_array(const Operand& indices, const Array& a, const char* what) {
  if (!indices.is_array()) {
    if (indices.scalar().kind() != Scalar::Kind::integer) fail<IndexError>("{}: an index must be an integer", what);
    const std::int64_t value = indices.scalar().integer();
    return Array::from_host(&value, {}, Dtype::int64, a.device());
  }
  if (is_floating(indices.array().dtype()))
    fail<IndexError>("{}: indices must be integers, not {}", what, indices.array().dtype());
  check_same_device(a, indices.array(), what);
  return indices.array().dtype() == Dtype::int64 ? indices.array() : indices.array().astype(Dtype::int64);
}

/// Brings indices into [0, n), but leaves them unchanged for IndexMode::raise.
Array in_range(const Array& indices, std::int64_t n, IndexMode mode) {
  if (mode == IndexMode::wrap) return remainder(indices, n);
  if (mode == IndexMode::clip) return clip(indices, Operand(0), Operand(n - 1));
  return indices;
}

/// Returns the shape that `take_along_axis` and `put_along_axis` address: the indices' shape, broadcast except along
/// `axis`.
Shape shape_along(const Array& a, const Array& indices, int axis, const char* what) {
  if (indices.ndim() != a.ndim()) {
    fail<ShapeError>("{}: indices of shape {} and the array of shape {} must have the same number of dimensions", what,
                     indices.shape(), a.shape());
  }
  if (!is_integer(indices.dtype())) fail<IndexError>("{}: indices must be integers, not {}", what, indices.dtype());
  Shape shape = indices.shape();
  for (int i = 0; i < a.ndim(); ++i) {
    const std::int64_t n = a.shape()[i];
    if (i == axis) continue;
    if (shape[i] != n && shape[i] != 1 && n != 1) {
      fail<ShapeError>("{}: indices of shape {} do not broadcast with the array's shape {} beside axis {}", what,
                       indices.shape(), a.shape(), axis);
    }
    if (shape[i] == 1) shape[i] = n;
  }
  return shape;
}

/// Returns advanced indices, one for each axis, that address these elements.
std::vector<Index> indices_along(const Array& a, const Array& indices, int axis) {
  std::vector<Index> result;
  for (int i = 0; i < a.ndim(); ++i) {
    if (i == axis) {
      result.emplace_back(indices);
      continue;
    }
    Shape column = Shape::filled(a.ndim(), 1);
    column[i] = a.shape()[i];
    result.emplace_back(iota(a.shape()[i], a.device()).reshape(column));
  }
  return result;
}

/// Returns the flat indices of `along` in a C-ordered array of `shape`, in one pass. Throws IndexError for an index out
/// of range.
Array flat_positions(const std::vector<Index>& along, const Shape& shape, int axis) {
  Array flat;
  std::int64_t stride = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    const std::int64_t n = shape[i];
    if (i != axis && n == 1) continue;
    Array at = along[static_cast<std::size_t>(i)].array();
    if (i == axis) {
      at = detail::as_dtype(at, Dtype::int64);
      detail::check_range(at, indices_into("put_along_axis", n, axis));
      at = where(at < 0, at + n, at);
    }
    if (stride != 1) at = at * stride;
    flat = flat.defined() ? flat + at : at;
    stride *= n;
  }
  return flat;
}

/// Returns `values` repeated or cut to n elements, 1-d.
Array cycled(const Operand& values, const Array& a, std::int64_t n) {
  if (!values.is_array()) {
    const Array one = Array::empty({1}, a.dtype(), a.device());
    one.fill(values.scalar());
    return one.broadcast_to({n});
  }
  const Array flat = values.array().ravel();
  if (flat.size() == n) return flat;
  if (flat.size() == 1) return flat.broadcast_to({n});
  if (flat.size() > n) return flat(slice(n));
  return resize(flat, {n});
}

/// Sets a.flat[positions] = values.
void put_flat(const Array& a, const Array& positions, const Array& values) {
  if (a.is_contiguous()) return scatter_into(a.reshape({a.size()}), {positions}, values, ScatterMode::assign, "put");
  const std::int64_t n = a.size();
  detail::check_range(positions, indices_into("put", n, 0));
  std::vector<Index> indices;
  for (const Array& at : coordinates_of(remainder(positions, n), a.shape())) indices.emplace_back(at);
  scatter_into(a, indices, values, ScatterMode::assign, "put");
}

/// Returns tri() as bools for the last two axes of `m`, on its device.
Array triangle(const Array& m, std::int64_t k, const char* what) {
  if (m.ndim() < 1) fail<ShapeError>("{}: the array must have at least one dimension", what);
  const std::int64_t columns = m.shape().back();
  const std::int64_t rows = m.ndim() == 1 ? columns : m.shape()[m.ndim() - 2];
  const Device device = m.device();
  return greater_equal(iota(rows, device).reshape({rows, 1}) + k, iota(columns, device));
}

}  // namespace

Array take(const Array& a, const Operand& indices, const std::optional<int>& axis, IndexMode mode) {
  if (!axis) return take(a.ravel(), indices, 0, mode);
  const int at = normalize_axis(*axis, a.ndim(), "take");
  const std::int64_t n = a.shape()[at];
  const Array picks = index_array(indices, a, "take");
  const Shape before(a.shape().data(), at), after(a.shape().data() + at + 1, a.ndim() - at - 1);
  if (before.product() == 0) {  // NumPy looks at the indices once for each block before the axis, so here never
    Shape shape = a.shape();
    shape.erase(at);
    for (int i = 0; i < picks.ndim(); ++i) shape.insert(at + i, picks.shape()[i]);
    return Array::empty(shape, a.dtype(), a.device());
  }
  if (n == 0 && picks.size() != 0 && after.product() != 0)
    fail<IndexError>("take: there is nothing to take along axis {} of an array of shape {}", at, a.shape());
  std::vector<Index> index(static_cast<std::size_t>(at), Index(slice()));
  index.emplace_back(n == 0 ? picks : in_range(picks, n, mode));
  return a.get(index);
}

Array take_along_axis(const Array& a, const Array& indices, int axis) {
  axis = normalize_axis(axis, a.ndim(), "take_along_axis");
  const Shape shape = shape_along(a, indices, axis, "take_along_axis");
  if (shape.product() == 0 || a.shape()[axis] == 0) return a.get(indices_along(a, indices, axis));
  check_same_device(a, indices, "take_along_axis");
  Shape all = shape;
  all[axis] = a.shape()[axis];
  const Array from = a.broadcast_to(all).contiguous();
  const Array picks = detail::as_dtype(indices, Dtype::int64).broadcast_to(shape).contiguous();
  const Array result = Array::empty(shape, a.dtype(), a.device());
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < shape.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= shape[i];
  const auto blocks = [&](const Array& x) { return x.reshape({outer, x.shape()[axis], inner}); };
  compute(a.device(),
          primitives::TakeAlongAxis{readable(blocks(from)), readable(blocks(picks)), writable(blocks(result)), axis});
  return result;
}

void put_along_axis(Target to, const Array& indices, const Operand& values, int axis) {
  const Array& a = to;
  axis = normalize_axis(axis, a.ndim(), "put_along_axis");
  const Shape shape = shape_along(a, indices, axis, "put_along_axis");
  const std::vector<Index> along = indices_along(a, indices, axis);
  if (!a.is_contiguous() || shape.product() == 0) return a.set_at(along, values);
  const Array positions = flat_positions(along, a.shape(), axis);
  const Array flat = a.reshape({a.size()});
  scatter_into(flat, {positions.broadcast_to(shape)}, values, ScatterMode::assign, "put_along_axis");
}

void put(Target to, const Operand& indices, const Operand& values, IndexMode mode) {
  const Array& a = to;
  const Array picks = index_array(indices, a, "put").ravel();
  if (picks.size() == 0) return;
  if (a.size() == 0) fail<IndexError>("put: cannot put into an array of shape {} without elements", a.shape());
  if (values.is_array() && values.array().size() == 0) return;
  put_flat(a, in_range(picks, a.size(), mode), cycled(values, a, picks.size()));
}

void scatter_add(Target a, const std::vector<Index>& indices, const Operand& value) {
  scatter_into(a, indices, value, ScatterMode::add, "scatter_add");
}
void scatter_max(Target a, const std::vector<Index>& indices, const Operand& value) {
  scatter_into(a, indices, value, ScatterMode::max, "scatter_max");
}
void scatter_min(Target a, const std::vector<Index>& indices, const Operand& value) {
  scatter_into(a, indices, value, ScatterMode::min, "scatter_min");
}

std::vector<Array> nonzero(const Array& a) {
  if (a.ndim() == 0) throw ShapeError("nonzero: a 0-d array has no axes; use atleast_1d(a)");
  return coordinates_of(nonzero_positions(a), a.shape());
}

std::vector<Array> where(const Array& condition) { return nonzero(condition); }

Array argwhere(const Array& a) {
  const Array positions = nonzero_positions(a);
  if (a.ndim() == 0) return Array::empty({positions.size(), 0}, Dtype::int64, a.device());
  return stack(coordinates_of(positions, a.shape()), 1);
}

Array flatnonzero(const Array& a) { return nonzero_positions(a); }

std::vector<Array> unravel_index(const Operand& indices, const Shape& shape) {
  const Array positions = indices.is_array() ? indices.array() : array(indices.scalar().integer());
  if (!is_integer(positions.dtype()))
    fail<DtypeError>("unravel_index: indices must be integers, not {}", positions.dtype());
  const std::int64_t size = checked_size(shape, "unravel_index");
  const Array wide = positions.astype(Dtype::int64);
  const Array bad = (wide < 0) | (wide >= size);
  if (bad.any()) {
    fail<ValueError>("unravel_index: index {} is out of bounds for an array of {} elements",
                     wide.ravel()(flatnonzero(bad)[0]).item<std::int64_t>(), size);
  }
  return coordinates_of(wide, shape);
}

Array ravel_multi_index(const std::vector<Array>& coordinates, const Shape& shape, IndexMode mode) {
  if (static_cast<int>(coordinates.size()) != shape.size() || coordinates.empty()) {
    fail<ValueError>("ravel_multi_index: {} coordinate arrays do not fit the {} axes of shape {}", coordinates.size(),
                     shape.size(), shape);
  }
  checked_size(shape, "ravel_multi_index");
  Array flat;
  for (int i = 0; i < shape.size(); ++i) {
    const Array& given = coordinates[static_cast<std::size_t>(i)];
    if (!is_integer(given.dtype()) && given.dtype() != Dtype::bool_)
      fail<DtypeError>("ravel_multi_index: coordinates must be integers, not {}", given.dtype());
    const Array at = in_range(given.astype(Dtype::int64), shape[i], mode);
    if (mode == IndexMode::raise && ((at < 0) | (at >= shape[i])).any())
      fail<ValueError>("ravel_multi_index: a coordinate on axis {} is out of bounds for shape {}", i, shape);
    flat = i == 0 ? at : flat * shape[i] + at;
  }
  return flat;
}

std::vector<Array> ix_(const std::vector<Array>& sequences) {
  std::vector<Array> result;
  const int n = static_cast<int>(sequences.size());
  for (int i = 0; i < n; ++i) {
    const Array& given = sequences[static_cast<std::size_t>(i)];
    if (given.ndim() != 1)
      fail<ShapeError>("ix_: each sequence must be 1-d, argument {} has shape {}", i, given.shape());
    const Array picks = given.dtype() == Dtype::bool_ ? nonzero_positions(given) : given;
    Shape shape = Shape::filled(n, 1);
    shape[i] = picks.size();
    result.push_back(picks.reshape(shape));
  }
  return result;
}

Array choose(const Array& a, const std::vector<Array>& choices, IndexMode mode) {
  if (choices.empty()) throw ValueError("choose: no choices are given");
  if (!is_integer(a.dtype()) && a.dtype() != Dtype::bool_)
    fail<DtypeError>("choose: indices must be integers, not {}", a.dtype());
  const std::int64_t n = static_cast<std::int64_t>(choices.size());
  const Array picks = in_range(a.astype(Dtype::int64), n, mode);
  if (mode == IndexMode::raise && ((picks < 0) | (picks >= n)).any())
    fail<ValueError>("choose: an index is outside the {} choices", n);
  Array result = where(picks == 0, choices[0], choices[0]);
  for (std::int64_t i = 1; i < n; ++i) result = where(picks == i, choices[static_cast<std::size_t>(i)], result);
  return result;
}

Array select(const std::vector<Array>& conditions, const std::vector<Array>& choices, const Operand& fallback) {
  if (conditions.size() != choices.size())
    fail<ValueError>("select: {} conditions and {} choices; there must be one for each", conditions.size(),
                     choices.size());
  if (conditions.empty()) throw ValueError("select with an empty condition list is not possible");
  Dtype dtype = choices[0].dtype();
  for (const Array& choice : choices) dtype = promote(dtype, choice.dtype());
  for (const Array& condition : conditions)
    if (condition.dtype() != Dtype::bool_)
      fail<DtypeError>("select: conditions must be bool, not {}", condition.dtype());
  if (fallback.is_array()) {
    dtype = promote(dtype, fallback.array().dtype());
  } else {
    dtype = result_type(Array::empty({0}, dtype, choices[0].device()), fallback);
  }
  Array result;
  for (std::size_t i = conditions.size(); i-- > 0;) {
    const Array choice = choices[i].astype(dtype);
    result = i + 1 == conditions.size() ? where(conditions[i], choice, fallback) : where(conditions[i], choice, result);
  }
  return result;
}

Array compress(const Array& condition, const Array& a, const std::optional<int>& axis) {
  if (condition.ndim() != 1)
    fail<ShapeError>("compress: condition must be a 1-d array, its shape is {}", condition.shape());
  return take(a, nonzero_positions(condition), axis);
}

Array extract(const Array& condition, const Array& a) {
  return take(a.ravel(), nonzero_positions(condition.ravel()), 0);
}

void place(Target to, const Array& mask, const Operand& values) {
  const Array& a = to;
  if (mask.size() != a.size())
    fail<ShapeError>("place: mask of shape {} and array of shape {} must have equal sizes", mask.shape(), a.shape());
  const Array positions = nonzero_positions(mask);
  if (positions.size() == 0) return;
  if (values.is_array() && values.array().size() == 0) throw ValueError("place: cannot insert from an empty array");
  put_flat(a, positions, cycled(values, a, positions.size()));
}

void putmask(Target to, const Array& mask, const Operand& values) {
  const Array& a = to;
  if (mask.size() != a.size())
    fail<ShapeError>("putmask: mask of shape {} and array of shape {} must have equal sizes", mask.shape(), a.shape());
  if (a.size() == 0 || (values.is_array() && values.array().size() == 0)) return;
  const Array condition = (mask.dtype() == Dtype::bool_ ? mask : not_equal(mask, 0)).reshape(a.shape());
  if (!values.is_array()) return copyto(a, values, condition);
  const Array repeated = cycled(values, a, a.size()).reshape(a.shape());
  copyto(a, repeated.shares_memory(a) ? repeated.copy() : repeated,
         condition.shares_memory(a) ? condition.copy() : condition);
}

Array diagonal(const Array& a, std::int64_t offset, int axis1, int axis2) {
  if (a.ndim() < 2)
    fail<ShapeError>("diagonal: an array of at least two dimensions is needed, the shape is {}", a.shape());
  const int i = normalize_axis(axis1, a.ndim(), "diagonal"), j = normalize_axis(axis2, a.ndim(), "diagonal");
  if (i == j) fail<ShapeError>("diagonal: two different axes are needed, both are {}", i);
  const std::int64_t down = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
  const std::int64_t length = std::max<std::int64_t>(0, std::min(a.shape()[i] - down, a.shape()[j] - right));
  Shape shape;
  Strides strides;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    if (axis == i || axis == j) continue;
    shape.push_back(a.shape()[axis]);
    strides.push_back(a.strides()[axis]);
  }
  shape.push_back(length);
  strides.push_back(a.strides()[i] + a.strides()[j]);
  return a.as_strided(shape, strides, length == 0 ? 0 : down * a.strides()[i] + right * a.strides()[j]);
}

const Array diag(const Array& v, std::int64_t k) {
  if (v.ndim() == 2) return diagonal(v, k);
  if (v.ndim() != 1) fail<ShapeError>("diag: the input must be 1- or 2-d, its shape is {}", v.shape());
  const std::int64_t n = v.size() + std::abs(k);
  const Array result = Array::empty({n, n}, v.dtype(), v.device());
  result.fill(0);
  copyto(diagonal(result, k), v);
  return result;
}

Array diagflat(const Array& v, std::int64_t k) { return diag(v.ravel(), k); }

void fill_diagonal(Target to, const Operand& value, bool wrap) {
  const Array& a = to;
  if (a.ndim() < 2) fail<ShapeError>("fill_diagonal: at least two axes are needed, the shape is {}", a.shape());
  std::int64_t step = 1, end = a.size();
  if (a.ndim() == 2) {
    step = a.shape()[1] + 1;
    if (!wrap) end = std::min(end, a.shape()[1] * a.shape()[1]);
  } else {
    std::int64_t extents = 1;
    for (int i = 0; i + 1 < a.ndim(); ++i) {
      if (a.shape()[i] != a.shape()[i + 1])
        fail<ShapeError>("fill_diagonal: all axes must have equal sizes, the shape is {}", a.shape());
      extents *= a.shape()[i];
      step += extents;
    }
  }
  const std::int64_t count = end <= 0 ? 0 : (end - 1) / step + 1;
  if (count > 0) put(a, iota(count, a.device()) * step, value);
}

Array tril(const Array& m, std::int64_t k) { return where(triangle(m, k, "tril"), m, Scalar(false)); }
Array triu(const Array& m, std::int64_t k) { return where(triangle(m, k - 1, "triu"), Scalar(false), m); }

std::vector<Array> tril_indices(std::int64_t n, std::int64_t k, const std::optional<std::int64_t>& m) {
  return nonzero(tri(n, m.value_or(n), k, Dtype::bool_));
}
std::vector<Array> triu_indices(std::int64_t n, std::int64_t k, const std::optional<std::int64_t>& m) {
  return nonzero(logical_not(tri(n, m.value_or(n), k - 1, Dtype::bool_)));
}

}  // namespace catenary
