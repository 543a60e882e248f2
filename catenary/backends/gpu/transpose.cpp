#include "catenary/backends/gpu/transpose.h"

#include <cstdlib>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/grid.h"

namespace catenary::gpu {

namespace {

constexpr std::int64_t kFromSize = 1 << 14;  // elements; smaller arrays stay in the caches in any order

}  // namespace

bool transpose(Context& context, const Shape& shape, const ops::Access& to, const ops::Access& from) {
  const int ndim = shape.size();
  if (ndim < 2 || ndim > 3 || shape.product() < kFromSize) return false;
  const auto side_by_side = [&](const Strides& strides) {
    for (int axis = 0; axis < ndim; ++axis)
      if (strides[axis] == 1) return axis;
    return -1;
  };
  const int r = side_by_side(from.strides), c = side_by_side(to.strides);
  const std::int64_t tile = context.loops ? 16 : 32;
  if (r < 0 || c < 0 || r == c || shape[r] < tile / 2 || shape[c] < tile / 2) return false;
  const int b = ndim == 3 ? 3 - r - c : -1;
  const std::int64_t batch = b < 0 ? 1 : shape[b], x_batch = b < 0 ? 0 : from.strides[b],
                     out_batch = b < 0 ? 0 : to.strides[b], x_stride = from.strides[c], out_stride = to.strides[r];
  const std::int64_t tiles_r = ceil_div(shape[r], tile), tiles_c = ceil_div(shape[c], tile),
                     units = batch * tiles_r * tiles_c;
  const auto reach = [&](std::int64_t over_batch, std::int64_t stride, std::int64_t steps, std::int64_t beside) {
    return batch * std::abs(over_batch) + (steps + tile) * std::abs(stride) + beside + tile;
  };
  const bool wide = needs_wide({from.offset + reach(x_batch, x_stride, shape[c], shape[r]),
                                from.offset - reach(x_batch, x_stride, shape[c], 0),
                                to.offset + reach(out_batch, out_stride, shape[r], shape[c]),
                                to.offset - reach(out_batch, out_stride, shape[r], 0)});
  const Kernel& kernel = context.kernel(
      "transpose", "transpose",
      grid_defines(context, wide,
                   {{"MEM", memory_type(word_of(static_cast<std::int64_t>(itemsize(to.dtype))))}, {"TILE", tile}}));
  Args args;
  args.add(from.handle).index(from.offset, wide).index(x_batch, wide).index(x_stride, wide);
  args.add(to.handle).index(to.offset, wide).index(out_batch, wide).index(out_stride, wide);
  args.index(shape[r], wide).index(shape[c], wide).index(tiles_r, wide).index(tiles_c, wide);
  launch_groups(context, kernel, units, wide, args);
  return true;
}

}  // namespace catenary::gpu
