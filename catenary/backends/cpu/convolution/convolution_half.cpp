// Convolutions of 16-bit floats. Widens some images at a time to float32, convolves them like float32 (by Winograd
// too), and rounds once. The float32 copies fit a cache, unless a single image is larger.

#include "catenary/backends/cpu/convolution/convolution_half.h"

#include <algorithm>
#include <cstdint>

#include "catenary/backends/cpu/movement/copy.h"
#include "catenary/backends/cpu/scratch.h"
#include "catenary/core/memory_order.h"

namespace catenary::cpu {
namespace {

using std::int64_t;

constexpr int64_t kWideBytes = 8 << 20;  // bytes of x and y widened at a time; the bits of a gradient depend on it

thread_local KeptScratch wide_x, wide_w, wide_y, wide_bias;

/// A float32 view with the memory order of the given view, or the given view itself if it is float32.
class Wide {
 public:
  Wide(const View& of, bool read, KeptScratch& memory) : of_(of) {
    if (of.dtype == Dtype::float32) {
      view = of;
      return;
    }
    view.handle = memory.get<float>(of.size());
    view.shape = of.shape;
    view.strides = strides_like(of.shape, of.strides);
    if (read) strided_copy(strided(view), strided(of_));
  }
  /// Rounds the results into the original view.
  void finish() const {
    if (of_.dtype != Dtype::float32) strided_copy(strided(of_), strided(view));
  }

  View view;

 private:
  const View of_;
};

View images(View of, int64_t first, int64_t count) {
  of.offset += first * of.strides[0];
  of.shape[0] = count;
  return of;
}

}  // namespace

Way convolve_halves(const Convolution& p) {
  const bool to_x = p.pass == ConvolutionPass::to_data, to_y = p.pass == ConvolutionPass::forward,
             to_w = p.pass == ConvolutionPass::to_filter;
  const int64_t all = p.x.shape[0], floats = (p.x.size() + p.y.size()) / std::max<int64_t>(1, all);
  const int64_t most = std::max<int64_t>(1, kWideBytes / 4 / std::max<int64_t>(1, floats));
  const Wide w(p.w, !to_w || p.accumulate, wide_w);
  View bias;
  if (p.bias) bias = Wide(*p.bias, true, wide_bias).view;
  Way way{};
  // Runs at least once, because a filter's gradient is written even without images.
  for (int64_t first = 0; first == 0 || first < all; first += most) {
    const int64_t count = std::min(most, all - first);
    const Wide x(images(p.x, first, count), !to_x || p.accumulate, wide_x);
    const Wide y(images(p.y, first, count), !to_y || p.accumulate, wide_y);
    way = convolve_floats({p.pass, p.window, p.groups, x.view, w.view, y.view, p.bias ? &bias : nullptr,
                           p.accumulate || (to_w && first > 0), p.relu});
    if (to_x) x.finish();
    if (to_y) y.finish();
  }
  if (to_w) w.finish();
  return way;
}

}  // namespace catenary::cpu
