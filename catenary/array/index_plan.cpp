#include "catenary/array/index_plan.h"

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/array/view.h"
#include "catenary/core/axis_error.h"
#include "catenary/core/format.h"

namespace catenary {

bool IndexPlan::is_empty() const {
  for (int i = 0; i < static_cast<int>(indices.size()); ++i)
    if (view.shape()[i] == 0) return true;
  return result_shape().product() == 0;
}

Shape IndexPlan::rest() const {
  Shape rest = view.shape();
  for (std::size_t i = 0; i < indices.size(); ++i) rest.erase(0);
  return rest;
}

Shape IndexPlan::result_shape() const {
  Shape result = rest();
  for (int i = 0; i < shape.size(); ++i) result.insert(position + i, shape[i]);
  return result;
}

Axes IndexPlan::picked_first() const {
  Axes order;
  const int ndim = rest().size() + shape.size();
  for (int i = 0; i < shape.size(); ++i) order.push_back(position + i);
  for (int i = 0; i < ndim; ++i)
    if (i < position || i >= position + shape.size()) order.push_back(i);
  return order;
}

Array nonzero_positions(const Array& a) {
  if (a.size() == 0) return Array::empty({0}, Dtype::int64, a.device());
  return detail::positions(a.dtype() == Dtype::bool_ ? a : not_equal(a, 0));
}

std::vector<Array> coordinates_of(const Array& positions, const Shape& shape) {
  std::vector<Array> coordinates(static_cast<std::size_t>(shape.size()));
  std::int64_t inner = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    Array& at = coordinates[static_cast<std::size_t>(i)];
    at = inner == 1 ? positions : floor_divide(positions, inner);
    if (i > 0) at = remainder(at, std::max<std::int64_t>(shape[i], 1));
    inner *= std::max<std::int64_t>(shape[i], 1);
  }
  return coordinates;
}

namespace {

using detail::check_same_device;

/// Returns an index array in the form that backends take.
Array positions_of(const Array& indices, const Shape& shape) {
  const Array wide = detail::as_dtype(indices, Dtype::int64);
  return (wide.shape() == shape ? wide : wide.broadcast_to(shape)).contiguous();
}

/// The half-open range of a slice over `n` elements, as Python's slice.indices.
struct Range {
  std::int64_t start, step, count;
};

Range resolve(const Slice& s, std::int64_t n) {
  const std::int64_t step = s.step.value_or(1);
  if (step == 0) throw ValueError("slice step cannot be zero");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto clamp = [&](std::int64_t i) { return std::min(std::max(i < 0 ? i + n : i, low), high); };
  const std::int64_t start = s.start ? clamp(*s.start) : step > 0 ? low : high;
  const std::int64_t stop = s.stop ? clamp(*s.stop) : step > 0 ? high : low;
  // as unsigned, because -2^63 has no positive int64
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
  const std::int64_t distance = step > 0 ? stop - start : start - stop;
  if (distance <= 0) return {0, 1, 0};
  return {start, step, static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / stride) + 1};
}

/// Processes an index expression from left to right.
class Planner {
 public:
  explicit Planner(const Array& a) : a_(a) {}

  IndexPlan plan(const std::vector<Index>& indices) {
    count(indices);
    for (const Index& index : indices) {
      switch (index.kind()) {
        case Index::Kind::integer:
          integer(index.integer());
          break;
        case Index::Kind::slice:
          slice(index.slice());
          break;
        case Index::Kind::newaxis:
          newaxis();
          break;
        case Index::Kind::ellipsis:
          ellipsis(a_.ndim() - consumed_);
          break;
        case Index::Kind::array:
          array(index.array());
          break;
      }
    }
    if (!ellipses_ && axis_ < a_.ndim()) ellipsis(a_.ndim() - axis_);
    return finish();
  }

 private:
  struct Picked {
    Array indices;
    std::int64_t extent, stride;
    int axis;
  };

  void count(const std::vector<Index>& indices) {
    for (const Index& index : indices) {
      if (index.kind() == Index::Kind::integer || index.kind() == Index::Kind::slice) ++consumed_;
      if (index.kind() == Index::Kind::ellipsis && ++ellipses_ > 1)
        throw EllipsisError("an index can only have a single ellipsis ('...')");
      if (index.kind() == Index::Kind::array) {
        const Array& array = index.array();
        if (array.dtype() != Dtype::bool_ && !is_integer(array.dtype()))
          fail<IndexError>("an index array must hold integers or bools, not {}", array.dtype());
        check_same_device(a_, array, "indexing");
        consumed_ += array.dtype() == Dtype::bool_ ? array.ndim() : 1;
        advanced_ = true;
      }
    }
    if (consumed_ > a_.ndim()) {
      fail<IndexCountError>("too many indices: the array has {} axes, {} are indexed; its shape is {}", a_.ndim(),
                            consumed_, a_.shape());
    }
  }

  void integer(std::int64_t i) {
    const std::int64_t n = a_.shape()[axis_];
    if (i < -n || i >= n) fail<IndexError>("index {} is out of bounds for axis {} with size {}", i, axis_, n);
    offset_ += (i < 0 ? i + n : i) * a_.strides()[axis_];
    ++axis_;
    if (advanced_) place();
  }

  void slice(const Slice& s) {
    const Range range = resolve(s, a_.shape()[axis_]);
    const std::int64_t stride = a_.strides()[axis_++];
    offset_ += range.start * stride;
    // the step along an axis of one element may be huge, and its product with the stride could overflow
    keep(range.count, range.count > 1 ? range.step * stride : stride);
  }

  void newaxis() { keep(1, 0); }

  void ellipsis(int axes) {
    separate();
    for (int i = 0; i < axes; ++i, ++axis_) keep(a_.shape()[axis_], a_.strides()[axis_]);
  }

  void array(const Array& indices) {
    place();
    if (indices.dtype() != Dtype::bool_) {
      pick(indices, a_.shape()[axis_], a_.strides()[axis_], axis_);
      ++axis_;
    } else if (indices.ndim() == 0) {
      // one more axis, of size 1 or 0
      picks(Shape{indices.item<bool>() ? 1 : 0});
    } else {
      mask(indices);
    }
  }

  void mask(const Array& mask) {
    std::int64_t extent = 1;
    bool even = true;  // true if the axes can be merged to one
    for (int i = 0; i < mask.ndim(); ++i) {
      const int axis = axis_ + i;
      // NumPy: a mask of size 0 selects nothing, whatever the axis's size is
      if (mask.shape()[i] != a_.shape()[axis] && mask.shape()[i] != 0) {
        fail<IndexError>("a mask of size {} does not fit axis {} with size {}", mask.shape()[i], axis,
                         a_.shape()[axis]);
      }
      extent *= a_.shape()[axis];
      if (i > 0 && a_.strides()[axis - 1] != a_.strides()[axis] * a_.shape()[axis]) even = false;
    }
    const Array positions = nonzero_positions(mask);
    const int last = axis_ + mask.ndim() - 1;
    if (even) {
      pick(positions, extent, a_.strides()[last], axis_);
    } else {
      const std::vector<Array> coordinates = coordinates_of(positions, mask.shape());
      for (int i = 0; i < mask.ndim(); ++i)
        pick(coordinates[static_cast<std::size_t>(i)], a_.shape()[axis_ + i], a_.strides()[axis_ + i], axis_ + i);
    }
    axis_ += mask.ndim();
  }

  void keep(std::int64_t extent, std::int64_t stride) {
    separate();
    rest_.push_back(extent);
    rest_strides_.push_back(stride);
  }

  void pick(const Array& indices, std::int64_t extent, std::int64_t stride, int axis) {
    picks(indices.shape());
    picked_.push_back({indices, extent, stride, axis});
  }

  void picks(const Shape& shape) { shapes_.push_back(shape); }

  /// Notes an index array, or an integer beside one. The first one decides where the common axes go.
  void place() {
    if (group_ == Group::none) position_ = rest_.size();
    if (group_ == Group::closed) position_ = 0;
    group_ = group_ == Group::none || group_ == Group::open ? Group::open : Group::apart;
  }
  /// Notes an entry that keeps or adds an axis (also an ellipsis for no axis).
  void separate() {
    if (group_ == Group::open) group_ = Group::closed;
  }

  IndexPlan finish() {
    IndexPlan plan;
    plan.advanced = advanced_;
    Shape shape;
    Strides strides;
    if (advanced_) {
      plan.position = position_;
      for (const Shape& s : shapes_) {
        try {
          plan.shape = broadcast_shapes(plan.shape, s, "indexing");
        } catch (const ShapeError&) {
          fail<IndexError>("the shapes of the index arrays do not broadcast together: {}", fmt::join(shapes_, " "));
        }
      }
      for (const Picked& p : picked_) {
        // checked at once from the shapes: a GPU never reads an empty array, so it could not report the error
        if (p.extent == 0 && plan.shape.product() > 0)
          throw_outside(indices_into("indexing", p.extent, p.axis), p.indices.ravel()(0).item<std::int64_t>(), 0);
        // a 0-d array counts as an integer: it is checked even if its axis is broadcast away
        if (p.indices.ndim() == 0 && plan.shape.product() == 0)
          detail::check_range(p.indices, indices_into("indexing", p.extent, p.axis));
        plan.indices.push_back(positions_of(p.indices, plan.shape));
        plan.axes.push_back(p.axis);
        shape.push_back(p.extent);
        strides.push_back(p.stride);
      }
    }
    for (int i = 0; i < rest_.size(); ++i) {
      shape.push_back(rest_[i]);
      strides.push_back(rest_strides_[i]);
    }
    plan.view = a_.as_strided(shape, strides, offset_);
    return plan;
  }

  enum class Group { none, open, closed, apart };

  const Array& a_;
  int consumed_ = 0, ellipses_ = 0, axis_ = 0, position_ = 0;
  bool advanced_ = false;
  Group group_ = Group::none;
  std::int64_t offset_ = 0;
  Shape rest_;
  Strides rest_strides_;
  std::vector<Picked> picked_;
  std::vector<Shape> shapes_;
};

/// Strips leading axes of size 1 that the target does not have, as NumPy allows in assignments.
Array without_leading_ones(const Array& value, int ndim) {
  Shape shape = value.shape();
  Strides strides = value.strides();
  while (shape.size() > ndim && shape[0] == 1) {
    shape.erase(0);
    strides.erase(0);
  }
  return shape.size() == value.ndim() ? value : value.as_strided(shape, strides);
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  for (int i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[i + to.size() - from.size()]) return false;
  }
  return true;
}

/// Returns `value` as an array of the target's dtype that does not share the target's memory.
Array values_for(const Array& target, const Operand& value, const char* what) {
  if (!value.is_array()) {
    const Array values = Array::empty({}, target.dtype(), target.device());
    values.fill(value.scalar());
    return values;
  }
  check_same_device(target, value.array(), what);
  const Array values = detail::as_dtype(value.array(), target.dtype());
  return values.shares_memory(target) ? values.copy() : values;
}

/// Assigns through a mask over leading axes if the value is constant along them. This needs no positions.
bool masked_assign(const Array& target, const std::vector<Index>& indices, const Operand& value) {
  if (indices.size() != 1 || indices[0].kind() != Index::Kind::array) return false;
  const Array& mask = indices[0].array();
  if (mask.dtype() != Dtype::bool_ || mask.ndim() == 0 || mask.ndim() > target.ndim()) return false;
  if (!(mask.device() == target.device())) return false;
  Shape shape = mask.shape(), rest;
  for (int i = 0; i < target.ndim(); ++i) {
    if (i < mask.ndim() && mask.shape()[i] != target.shape()[i]) return false;
    if (i >= mask.ndim()) {
      shape.push_back(1);
      rest.push_back(target.shape()[i]);
    }
  }
  if (value.is_array() && !broadcasts_to(value.array().shape(), rest)) return false;
  const Array condition = mask.reshape(shape);
  if (value.is_array()) {
    copyto(target, values_for(target, value, "assignment"), condition);
  } else {
    copyto(target, value, condition);
  }
  return true;
}

}  // namespace

IndexPlan plan_index(const Array& a, const std::vector<Index>& indices) { return Planner(a).plan(indices); }

void check_positions(const IndexPlan& plan) {
  for (std::size_t i = 0; i < plan.indices.size(); ++i)
    detail::check_range(plan.indices[i],
                        indices_into("indexing", plan.view.shape()[static_cast<int>(i)], plan.axes[i]));
}

Array Array::operator[](std::int64_t i) const& { return get({Index(i)}); }

const Array Array::get(const std::vector<Index>& indices) const {
  const IndexPlan plan = plan_index(*this, indices);
  if (!plan.advanced) return plan.view;
  const Shape rest = plan.rest();
  const Shape result_shape = plan.result_shape();
  if (plan.is_empty()) {
    check_positions(plan);
    return Array::empty(result_shape, dtype(), device());
  }
  if (plan.indices.empty()) return plan.view.copy().reshape(result_shape);  // only 0-d bools
  if (plan.indices.size() == 1) {
    // One indexed axis: if the view with that axis in its original position is C-ordered, copy whole runs of elements.
    Axes order;
    for (int i = 0; i < rest.size() + 1; ++i) order.push_back(i == plan.position ? 0 : i < plan.position ? i + 1 : i);
    const Array in_place = plan.view.transpose(order);
    if (in_place.is_contiguous()) {
      std::int64_t outer = 1, inner = 1;
      for (int i = 0; i < rest.size(); ++i) (i < plan.position ? outer : inner) *= rest[i];
      const Array blocks = in_place.reshape({outer, in_place.shape()[plan.position], inner});
      const Array result = Array::empty(result_shape, dtype(), device());
      const Array out = result.reshape({outer, plan.shape.product(), inner});
      compute(device(), primitives::Take{readable(blocks), readable(plan.indices[0]), writable(out), IndexMode::raise,
                                         plan.axes[0]});
      return result;
    }
  }
  Shape out_shape = plan.shape;
  for (std::int64_t extent : rest) out_shape.push_back(extent);
  const Array out = Array::empty(out_shape, dtype(), device());
  std::vector<View> views;
  for (const Array& i : plan.indices) views.push_back(readable(i));
  compute(device(), primitives::Gather{readable(plan.view), views, writable(out), plan.axes});
  if (plan.position == 0) return out;
  Axes order;
  for (int i = 0; i < out_shape.size(); ++i) {
    const int b = plan.shape.size();
    order.push_back(i < plan.position ? b + i : i < plan.position + b ? i - plan.position : i);
  }
  return out.transpose(order);
}

void Array::set_at(const std::vector<Index>& indices, const Operand& value) const& {
  if (masked_assign(*this, indices, value)) return;
  scatter_into(*this, indices, value, ScatterMode::assign, "assignment");
}

void scatter_into(const Array& target, const std::vector<Index>& indices, const Operand& value, ScatterMode mode,
                  const char* what) {
  const IndexPlan plan = plan_index(target, indices);
  if (!plan.advanced && mode == ScatterMode::assign && !value.is_array()) return plan.view.fill(value.scalar());
  const Array given = values_for(target, value, what);
  const Shape shape = plan.advanced ? plan.result_shape() : plan.view.shape();
  const Array values = without_leading_ones(given, shape.size());
  if (!broadcasts_to(values.shape(), shape)) {
    if (plan.advanced) {
      fail<ShapeError>("{}: values of shape {} do not broadcast to the {} elements that are picked", what,
                       given.shape(), shape);
    }
    fail<ShapeError>("{}: values of shape {} do not broadcast to the shape {}", what, given.shape(), shape);
  }
  if (plan.advanced && plan.is_empty()) return check_positions(plan);
  if (shape.product() == 0) return;
  if (!plan.advanced) {
    switch (mode) {
      case ScatterMode::assign:
        return copyto(plan.view, values);
      case ScatterMode::add:
        plan.view += values;
        return;
      case ScatterMode::max:
        return copyto(plan.view, maximum(plan.view, values));
      case ScatterMode::min:
        return copyto(plan.view, minimum(plan.view, values));
    }
  }
  const Array ordered = values.broadcast_to(shape).transpose(plan.picked_first());
  Array view = plan.view;
  std::vector<Array> picks = plan.indices;
  if (picks.empty()) {
    // only 0-d bools: position 0 of an axis of size 1
    Shape extents = view.shape();
    Strides strides = view.strides();
    extents.insert(0, 1);
    strides.insert(0, 0);
    view = view.as_strided(extents, strides);
    const Array zero = Array::empty(plan.shape, Dtype::int64, target.device());
    zero.fill(0);
    picks.push_back(zero);
  }
  std::vector<View> views;
  for (const Array& i : picks) views.push_back(readable(i));  // checks all before the first element is written
  const auto scatter = [&](const Array& to, const Array& from) {
    const View read = readable(from);
    compute(target.device(), primitives::Scatter{writable(to), views, read, mode, plan.axes});
  };
  if (!is_complex(view.dtype()) || mode == ScatterMode::assign) return scatter(view, ordered);
  if (mode != ScatterMode::add) detail::refuse_complex(view.dtype());
  scatter(real(view), real(ordered));
  scatter(imag(view), imag(ordered));
}

}  // namespace catenary
