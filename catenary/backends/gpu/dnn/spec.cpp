#include "catenary/backends/gpu/dnn/spec.h"

#include <algorithm>
#include <limits>

#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

using Numbers = ConvolutionSpec::Numbers;

/// Prepends an axis of size 1 to a single axis, because the libraries support two and three only.
Numbers numbers(const Shape& shape, int skip, int missing) {
  Numbers list;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (axis == skip && shape.size() == skip + 1) list.push_back(missing);
    list.push_back(static_cast<int>(shape[axis]));
  }
  return list;
}

Numbers strides_of(const Numbers& shape, bool channels_last) {
  Numbers strides(shape.size());
  int step = 1;
  if (channels_last) {
    strides[1] = 1;
    step = shape[1];
  }
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (channels_last && axis == 1) continue;
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

bool fits(const View& v) { return v.size() > 0 && v.size() <= std::numeric_limits<std::int32_t>::max() / 2; }

/// Returns whether the view has this layout. The stride of an axis of size 1 does not matter.
bool lies(const View& v, bool channels_last) {
  const Numbers strides = strides_of(numbers(v.shape, 0, 1), channels_last);
  for (int axis = 0; axis < v.shape.size(); ++axis)
    if (v.shape[axis] != 1 && v.strides[axis] != strides[static_cast<std::size_t>(axis)]) return false;
  return true;
}

std::string text(const Numbers& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace

Numbers ConvolutionSpec::strides(const Numbers& shape) const { return strides_of(shape, channels_last); }

std::vector<std::int64_t> ConvolutionSpec::key() const {
  std::vector<std::int64_t> key = {static_cast<std::int64_t>(pass), static_cast<std::int64_t>(dtype), groups,
                                   channels_last, accumulate};
  for (const Numbers* list : {&x, &w, &y, &pad, &stride, &dilate}) key.insert(key.end(), list->begin(), list->end());
  return key;
}

std::optional<ConvolutionSpec> as_spec(const primitives::Convolution& p) {
  if (p.relu || (p.bias && p.accumulate) || !fits(p.x) || !fits(p.w) || !fits(p.y)) return std::nullopt;
  const Window& window = p.window;
  for (int axis = 0; axis < window.axes(); ++axis) {
    const std::int64_t room = p.x.shape[axis + 2] + 2 * window.pad[axis] - window.reach(axis);
    if (room < 0 || room / window.stride[axis] + 1 != p.y.shape[axis + 2]) return std::nullopt;
    if (std::max({window.pad[axis], window.stride[axis], window.dilate[axis]}) > 1 << 20) return std::nullopt;
  }
  ConvolutionSpec spec;
  if (!(lies(p.x, false) && lies(p.w, false) && lies(p.y, false))) {
    spec.channels_last = true;
    if (!(lies(p.x, true) && lies(p.w, true) && lies(p.y, true))) return std::nullopt;
  }
  spec.pass = p.pass;
  spec.dtype = p.x.dtype;
  spec.groups = static_cast<int>(p.groups);
  spec.x = numbers(p.x.shape, 2, 1);
  spec.w = numbers(p.w.shape, 2, 1);
  spec.y = numbers(p.y.shape, 2, 1);
  spec.pad = numbers(window.pad, 0, 0);
  spec.stride = numbers(window.stride, 0, 1);
  spec.dilate = numbers(window.dilate, 0, 1);
  spec.x_view = p.x;
  spec.w_view = p.w;
  spec.y_view = p.y;
  spec.bias = p.bias;
  spec.accumulate = p.accumulate;
  return spec;
}

std::string describe(const ConvolutionSpec& spec) {
  constexpr const char* names[] = {"convolution", "convolution_to_data", "convolution_to_filter"};
  return fmt::format("a {} of {} {} by {}{}", names[static_cast<int>(spec.pass)], dtype_name(spec.dtype), text(spec.x),
                     text(spec.w), spec.groups > 1 ? fmt::format(" in {} groups", spec.groups) : "");
}

}  // namespace catenary::gpu
