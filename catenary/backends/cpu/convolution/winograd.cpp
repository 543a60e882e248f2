#include "catenary/backends/cpu/convolution/winograd.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/core/config.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

using primitives::Convolution;
using std::int64_t;
using Pass = ConvolutionPass;

constexpr int64_t kFilterBytes = 16 << 20;              // bytes of transformed filters at a time
constexpr int64_t kSumBytes = 32 << 20;                 // bytes of partial sums
constexpr int64_t kFewTiles = 64;                       // with fewer tiles, each thread transforms filters on demand
constexpr int64_t kLeastChannels = 8, kLeastTiles = 8;  // measured with AVX2: 1.1 to 2.8 times as fast from these sizes
                                                        // on

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// The operands with windows: the one divided into tiles of outputs, and the one that they read.
const View& outputs_of(const Convolution& p) { return p.pass == Pass::to_data ? p.x : p.y; }
const View& inputs_of(const Convolution& p) { return p.pass == Pass::to_data ? p.y : p.x; }

// Returns the side of a tile's output: 4, or 2 if that is not more work, or 0 if neither saves a third of the
// multiplications.
int64_t tile_side(int64_t height, int64_t width) {
  const int64_t four = 36 * ceil_div(height, 4) * ceil_div(width, 4);
  const int64_t two = 16 * ceil_div(height, 2) * ceil_div(width, 2);
  if (2 * 9 * height * width < 3 * std::min(two, four)) return 0;
  return two <= four ? 2 : 4;
}

// Returns the channels of a group.
WinogradImages images_of(const View& v, int64_t group, int64_t groups) {
  const int64_t channels = v.shape[1] / groups;
  return {static_cast<float*>(v.data()) + group * channels * v.strides[1],
          channels,
          v.shape[2],
          v.shape[3],
          v.strides[0],
          v.strides[1],
          v.strides[2],
          v.strides[3]};
}

WinogradFilters filters_of(const View& w, int64_t group, int64_t groups) {
  const int64_t outputs = w.shape[0] / groups;
  return {static_cast<float*>(w.data()) + group * outputs * w.strides[0],
          w.shape[1],
          outputs,
          w.strides[1],
          w.strides[0],
          w.strides[2],
          w.strides[3]};
}

// Returns the filters for the gradient of the data: rotated, with inputs and outputs exchanged.
WinogradFilters turned(WinogradFilters f) {
  f.data += 2 * f.row_stride + 2 * f.column_stride;
  std::swap(f.inputs, f.outputs);
  std::swap(f.input_stride, f.output_stride);
  f.row_stride = -f.row_stride;
  f.column_stride = -f.column_stride;
  return f;
}

// Calls f(panel, first input, last input) for all panels of filters, on all threads.
template <class F>
void each_filter(int64_t panels, int64_t inputs, F&& f) {
  parallel_for(panels * inputs, 64, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t panel = begin / inputs, input = begin % inputs, stop = std::min(inputs, input + end - begin);
      f(panel, input, stop);
      begin += stop - input;
    }
  });
}

// y = x * w for panels [first, last). Threads take blocks of tiles and, if these are few, of channels.
void forward(const WinogradLevel& level, const WinogradLevel::Forward& work, int64_t first, int64_t last,
             int64_t block) {
  const int64_t blocks = ceil_div(work.tiles.count, block), panel_size = level.panel_size(work.filters.inputs);
  const int64_t parts = std::clamp<int64_t>(num_threads() / blocks, 1, last - first);
  parallel_for(blocks * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t job = begin; job < end; ++job) {
      WinogradLevel::Forward mine = work;
      const int64_t part = job % parts, skipped = (last - first) * part / parts;
      mine.first_tile = job / parts * block;
      mine.last_tile = std::min(mine.first_tile + block, work.tiles.count);
      mine.first_panel = first + skipped;
      mine.last_panel = first + (last - first) * (part + 1) / parts;
      if (work.transformed) mine.transformed = work.transformed + skipped * panel_size;
      const Scratch scratch(level.forward_scratch(mine) * 4);
      level.forward(mine, scratch.as<float>());
    }
  });
}

void forward(const WinogradLevel& level, WinogradLevel::Forward work) {
  const WinogradLevel::Tiling& tiling = level.tiling;
  const int64_t inputs = work.filters.inputs, panels = ceil_div(work.filters.outputs, tiling.columns);
  work.panels_at_a_time = std::max<int64_t>(1, 32 / tiling.columns);
  if (work.tiles.count <= kFewTiles) return forward(level, work, 0, panels, work.tiles.count);

  // As many tiles as the L2 cache holds after their transformation, but enough to justify loading the filters.
  const int64_t cache = std::max<int64_t>(static_cast<int64_t>(os::second_level_cache_bytes()), 256 << 10);
  const int64_t tile_bytes = 4 * tiling.input * tiling.input * (inputs + 32);
  const int64_t most = std::clamp(cache * 3 / 4 / tile_bytes, 4 * tiling.rows, 16 * tiling.rows);
  const int64_t blocks = round_up(ceil_div(work.tiles.count, most), num_threads());
  const int64_t block = round_up(ceil_div(work.tiles.count, blocks), tiling.rows);

  const int64_t panel_size = level.panel_size(inputs);
  const int64_t group = std::clamp<int64_t>(kFilterBytes / 4 / panel_size, 1, panels);
  const Scratch transformed(group * panel_size * 4);
  work.transformed = transformed.as<float>();
  for (int64_t first = 0; first < panels; first += group) {
    const int64_t last = std::min(first + group, panels);
    each_filter(last - first, inputs, [&](int64_t panel, int64_t begin, int64_t end) {
      level.transform_filters(work.filters, first + panel, begin, end, transformed.as<float>() + panel * panel_size);
    });
    forward(level, work, first, last, block);
  }
}

// Sums the filters' gradients over all tiles. Parts of the tiles, divided by sizes only, have separate sums. If there
// are fewer parts than threads, threads divide the channels too, which does not change bits.
void backward(const WinogradLevel& level, const WinogradFilters& filters, WinogradLevel::Backward work, bool accumulate,
              std::uint8_t* missing) {
  const int64_t columns = level.tiling.columns, panels = ceil_div(filters.outputs, columns);
  const int64_t panel_size = 9 * filters.inputs * columns;
  const int64_t blocks = ceil_div(work.tiles.count, kWinogradSumTiles);
  const int64_t parts = std::clamp<int64_t>(kSumBytes / 4 / (panels * panel_size), 1, std::min<int64_t>(blocks, 16));
  const int64_t shares = std::clamp<int64_t>(num_threads() / parts, 1, panels);
  const Scratch memory(parts * panels * panel_size * 4);
  auto* const sums = memory.as<float>();
  parallel_for(parts * shares, 1, [&](int64_t begin, int64_t end) {
    for (int64_t job = begin; job < end; ++job) {
      WinogradLevel::Backward mine = work;
      const int64_t part = job / shares, share = job % shares;
      mine.first_tile = blocks * part / parts * kWinogradSumTiles;
      mine.last_tile = std::min(blocks * (part + 1) / parts * kWinogradSumTiles, work.tiles.count);
      mine.first_panel = panels * share / shares;
      mine.last_panel = panels * (share + 1) / shares;
      mine.sums = sums + (part * panels + mine.first_panel) * panel_size;
      const Scratch scratch(level.backward_scratch(mine) * 4);
      level.backward(mine, scratch.as<float>());
    }
  });
  each_filter(panels, filters.inputs, [&](int64_t panel, int64_t begin, int64_t end) {
    level.store_filters(filters, sums, parts, panels * panel_size, panel, begin, end, accumulate, missing);
  });
}

// Adds missing gradients of filters by direct sums. `missing` has an element for each panel of outputs and each input
// of each group.
void add_missing(const Convolution& p, const std::vector<std::uint8_t>& missing, int64_t columns) {
  if (std::find(missing.begin(), missing.end(), 1) == missing.end()) return;
  const Scratch memory(p.w.size() * 4);
  auto* const direct = memory.as<float>();
  View w = p.w;
  w.handle = direct;
  w.offset = 0;
  w.strides = contiguous_strides(w.shape);
  convolve_directly({p.pass, p.window, p.groups, p.x, w, p.y, nullptr, false, false});
  const int64_t inputs = p.w.shape[1], outputs = p.w.shape[0] / p.groups, panels = ceil_div(outputs, columns);
  for (int64_t k = 0; k < p.w.shape[0]; ++k) {
    for (int64_t c = 0; c < inputs; ++c) {
      if (!missing[static_cast<std::size_t>((k / outputs * panels + k % outputs / columns) * inputs + c)]) continue;
      float* const to = static_cast<float*>(p.w.data()) + k * p.w.strides[0] + c * p.w.strides[1];
      for (int64_t tap = 0; tap < 9; ++tap)
        to[tap / 3 * p.w.strides[2] + tap % 3 * p.w.strides[3]] += direct[(k * inputs + c) * 9 + tap];
    }
  }
}

}  // namespace

bool winograd(const Convolution& p) {
  const Window& window = p.window;
  if (!config.winograd || p.x.dtype != Dtype::float32 || window.axes() != 2) return false;
  for (int i = 0; i < 2; ++i)
    if (window.size[i] != 3 || window.stride[i] != 1 || window.dilate[i] != 1) return false;
  const View &in = inputs_of(p), &out = outputs_of(p);
  const int64_t side = tile_side(out.shape[2], out.shape[3]);
  if (side == 0 || in.size() == 0) return false;

  const int64_t inputs = p.w.shape[1], outputs = p.w.shape[0] / p.groups;
  const int64_t rows = ceil_div(out.shape[2], side), columns = ceil_div(out.shape[3], side);
  WinogradTiles tiles{rows, columns, rows * columns * out.shape[0], window.pad[0], window.pad[1]};
  if (std::min(inputs, outputs) < kLeastChannels || tiles.count < kLeastTiles) return false;
  if (p.pass == Pass::to_data) tiles.pad_y = 2 - window.pad[0], tiles.pad_x = 2 - window.pad[1];

  const WinogradLevel& level = side == 2 ? CT_SIMD_SELECT(winograd_2) : CT_SIMD_SELECT(winograd_4);
  const int64_t panels = ceil_div(outputs, level.tiling.columns);
  std::vector<std::uint8_t> missing;
  if (p.pass == Pass::to_filter) missing.resize(static_cast<std::size_t>(p.groups * panels * inputs));
  for (int64_t group = 0; group < p.groups; ++group) {
    const WinogradImages from = images_of(in, group, p.groups), to = images_of(out, group, p.groups);
    const WinogradFilters filters = filters_of(p.w, group, p.groups);
    if (p.pass == Pass::to_filter) {
      backward(level, filters, {.x = from, .y = to, .tiles = tiles}, p.accumulate,
               missing.data() + group * panels * inputs);
      continue;
    }
    WinogradStore store{nullptr, 0, p.accumulate, p.relu};
    if (p.bias) {
      store.bias_stride = p.bias->strides[0];
      store.bias = static_cast<const float*>(p.bias->data()) + group * to.channels * store.bias_stride;
    }
    const WinogradFilters taken = p.pass == Pass::to_data ? turned(filters) : filters;
    forward(level, {.x = from, .y = to, .tiles = tiles, .filters = taken, .store = store});
  }
  if (p.pass == Pass::to_filter) add_missing(p, missing, level.tiling.columns);
  return true;
}

}  // namespace catenary::cpu
