#pragma once
// Private to the CPU backend: convolutions with windows of 3 x 3 by Winograd's minimal filtering. An image is cut into
// tiles; a tile, transformed, is n x n numbers, and a convolution is n * n products of matrices of (tiles x channels)
// instead of 9 of (pixels x channels): 4 times fewer multiplications for outputs of 4 x 4 (n = 6), 2.25 times fewer
// for those of 2 x 2 (n = 4). See Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016).

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// Computes a convolution where this is the faster way, which depends on its sizes only, and config.winograd allows
/// it; else nothing happens and the answer is false.
bool winograd(const primitives::Convolution& convolution);
/// Computes a convolution of float32 by direct sums (convolution.cpp).
void convolve_directly(const primitives::Convolution& convolution);

/// Tiles that a filter's gradient is summed over at a time: its bits depend on it.
inline constexpr std::int64_t kWinogradSumTiles = 64;

/// Images of some channels; strides in elements.
struct WinogradImages {
  float* data;
  std::int64_t channels, height, width;
  std::int64_t image_stride, channel_stride, row_stride, column_stride;
};
/// Filters of 3 x 3 that take `inputs` channels to `outputs`; strides in elements.
struct WinogradFilters {
  float* data;
  std::int64_t inputs, outputs;
  std::int64_t input_stride, output_stride, row_stride, column_stride;
};
/// The tiles of all images, in C order.
struct WinogradTiles {
  std::int64_t rows, columns;  ///< of one image
  std::int64_t count;          ///< of all
  std::int64_t pad_y, pad_x;   ///< where the first tile reads begins so far outside of the image
};

/// What is done to outputs while they are stored.
struct WinogradStore {
  const float* bias;  ///< an element for each channel
  std::int64_t bias_stride;
  bool accumulate, relu;
};

/// One level's work for one size of tiles, a thread's share each. Channels of results come in panels of
/// tiling.columns. Scratch memory is aligned to 64 bytes, its sizes are in elements.
struct WinogradLevel {
  struct Tiling {
    std::int64_t output;  ///< side of a tile's output
    std::int64_t input;   ///< and of what it reads
    std::int64_t rows;    ///< tiles that products take at a time
    std::int64_t columns;
  } tiling;

  /// Transforms filters for outputs [panel * columns, (panel + 1) * columns) and inputs [begin, end).
  void (*transform_filters)(const WinogradFilters&, std::int64_t panel, std::int64_t begin, std::int64_t end,
                            float* panel_out);
  /// Elements of a panel of transformed filters.
  std::int64_t (*panel_size)(std::int64_t inputs);

  /// y = x * w for some tiles and panels of y's channels. `transformed` are the filters' panels from first_panel on;
  /// where it is null a panel is transformed as it is needed, which is the faster way for few tiles.
  struct Forward {
    WinogradImages x, y;
    WinogradTiles tiles;
    WinogradFilters filters;
    WinogradStore store;
    const float* transformed = nullptr;
    std::int64_t first_tile = 0, last_tile = 0, first_panel = 0, last_panel = 0;
    std::int64_t panels_at_a_time = 1;
  };
  std::int64_t (*forward_scratch)(const Forward&);
  void (*forward)(const Forward&, float* scratch);

  /// sums[panel][tap][input][output] = what some tiles add to the filters.
  struct Backward {
    WinogradImages x, y;
    WinogradTiles tiles;
    std::int64_t first_tile = 0, last_tile = 0, first_panel = 0, last_panel = 0;
    float* sums = nullptr;
  };
  std::int64_t (*backward_scratch)(const Backward&);
  void (*backward)(const Backward&, float* scratch);
  /// w = (or +=) the sums of `parts` parts, in their order, for a panel of outputs and inputs [begin, end). Where they
  /// are not finite it is zeros, and missing[panel * w.inputs + input] becomes 1.
  void (*store_filters)(const WinogradFilters& w, const float* sums, std::int64_t parts, std::int64_t part_size,
                        std::int64_t panel, std::int64_t begin, std::int64_t end, bool accumulate,
                        std::uint8_t* missing);
};

CT_SIMD_DECLARE(extern const WinogradLevel winograd_2; extern const WinogradLevel winograd_4;)

}  // namespace catenary::cpu
