#include "catenary/array/convolution.h"

#include <cstdlib>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"

namespace catenary {

namespace {

/// Returns whether the channels (axis 1) of one position are contiguous, or nothing if the strides do not show it: axes
/// of size 1 say nothing.
std::optional<bool> channels_last(const Array& a) {
  const auto tells = [&](int axis) { return a.shape(axis) > 1 && a.strides()[axis] != 0; };
  std::optional<bool> last;
  for (int axis = 2; axis < a.ndim(); ++axis)
    if (tells(1) && tells(axis)) last = last.value_or(true) && std::abs(a.strides()[1]) < std::abs(a.strides()[axis]);
  return last;
}

/// Returns a new array [n, channels, extents…] with the memory order of `data`, or that of w if `data` does not show
/// one. It is channels-last if the device converts everything to that order anyway.
Array empty_like(const Array& data, const Array& w, std::int64_t channels, const Shape& extents, Dtype dtype) {
  Shape shape = {data.shape(0), channels};
  for (const std::int64_t extent : extents) shape.push_back(extent);
  const Array out = Array::empty(shape, dtype, data.device());
  const bool anyway = data.device().backend().convolves_channels_last(data.device().index(), data.dtype());
  if (!anyway && !channels_last(data).value_or(channels_last(w).value_or(false))) return out;
  Axes order = {0};
  for (int axis = 2; axis < shape.size(); ++axis) order.push_back(axis);
  order.push_back(1);
  return out.as_strided(shape, strides_in_order(shape, order));
}

/// Runs a pass. One of the arrays is its result, which is a new array.
void run(ConvolutionPass pass, const Convolving& how, const Array& x, const Array& w, const Array& y,
         const std::optional<Array>& b = {}) {
  const auto view = [&](const Array& a, ConvolutionPass result) { return pass == result ? writable(a) : readable(a); };
  const View data = view(x, ConvolutionPass::to_data), filter = view(w, ConvolutionPass::to_filter),
             windows = view(y, ConvolutionPass::forward), bias = b ? readable(*b) : View();
  compute(x.device(),
          primitives::Convolution{pass, how.window, how.groups, data, filter, windows, b ? &bias : nullptr});
}

/// Returns whether there is anything to sum. If not, fills the result with 0 or the bias.
bool has_sums(const Array& out, const Array& a, const Array& other, const std::optional<Array>& b = {}) {
  if (out.size() == 0) return false;
  if (a.size() > 0 && other.size() > 0) return true;
  out.fill(0);
  if (b) copyto(moveaxis(out, 1, -1), *b);
  return false;
}

void check_devices(const Array& a, const Array& other, const std::optional<Array>& b = {}) {
  detail::check_same_device(a, other, "convolution");
  if (b) detail::check_same_device(a, *b, "convolution");
}

}  // namespace

Array convolve(const Array& x, const Array& w, const Convolving& how, const std::optional<Array>& b,
               std::optional<Dtype> result) {
  check_devices(x, w, b);
  const Array y = empty_like(x, w, w.shape(0), how.counts, result.value_or(x.dtype()));
  if (has_sums(y, x, w, b)) run(ConvolutionPass::forward, how, x, w, y, b);
  return y;
}

Array convolve_to_data(const Array& y, const Array& w, const Convolving& how, const std::optional<Array>& b) {
  check_devices(y, w, b);
  const Array x = empty_like(y, w, w.shape(1) * how.groups, how.extents, y.dtype());
  if (has_sums(x, y, w, b)) run(ConvolutionPass::to_data, how, x, w, y, b);
  return x;
}

Array convolve_to_filter(const Array& x, const Array& y, const Convolving& how, const Strides& like) {
  check_devices(x, y);
  Shape shape = {y.shape(1), x.shape(1) / how.groups};
  for (const std::int64_t taps : how.window.size) shape.push_back(taps);
  const Array w = Array::empty(shape, x.dtype(), x.device()).as_strided(shape, strides_like(shape, like));
  if (has_sums(w, x, y)) run(ConvolutionPass::to_filter, how, x, w, y);
  return w;
}

}  // namespace catenary
