#pragma once
// Private to the CPU backend: convolutions with 3 × 3 windows by Winograd's minimal filtering. An image is divided into
// tiles. A transformed tile has n × n numbers, and a convolution becomes n * n products of matrices (tiles × channels)
// instead of 9 of (pixels × channels). This takes 4 times fewer multiplications for outputs of 4 × 4 (n = 6), and 2.25
// times fewer for 2 × 2 (n = 4). See Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016).

#include <cstdint>

#include "catenary/core/cpu_features.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// Computes a convolution if this is the faster way, which depends only on its sizes, and config.winograd allows it.
/// Otherwise does nothing and returns false.
bool winograd(const primitives::Convolution& convolution);
/// Computes a convolution of float32 by direct sums (convolution.cpp).
void convolve_directly(const primitives::Convolution& convolution);

/// Tiles that a filter's gradient is summed over at a time. The bits of the gradient depend on it.
inline constexpr std::int64_t kWinogradSumTiles = 64;

/// Images of some channels, with strides in elements.
struct WinogradImages {
  float* data;
  std::int64_t channels, height, width;
  std::int64_t image_stride, channel_stride, row_stride, column_stride;
};
/// 3 × 3 filters from `inputs` channels to `outputs`, with strides in elements.
struct WinogradFilters {
  float* data;
  std::int64_t inputs, outputs;
  std::int64_t input_stride, output_stride, row_stride, column_stride;
};
/// The tiles of all images, in C order.
struct WinogradTiles {
  std::int64_t rows, columns;  ///< in one image
  std::int64_t count;          ///< in all images
  std::int64_t pad_y, pad_x;   ///< distance of the first tile's input outside the image
};

/// Operations on outputs while they are stored.
struct WinogradStore {
  const float* bias;  ///< an element for each channel
  std::int64_t bias_stride;
  bool accumulate, relu;
};

/// One level's work for one tile size, each call for one thread's share. Channels of results are in panels of
/// tiling.columns. Scratch memory is aligned to 64 bytes, with sizes in elements.
struct WinogradLevel {
  struct Tiling {
    std::int64_t output;  ///< side of a tile's output
    std::int64_t input;   ///< side of its input
    std::int64_t rows;    ///< tiles multiplied at a time
    std::int64_t columns;
  } tiling;

  /// Transforms filters for outputs [panel * columns, (panel + 1) * columns) and inputs [begin, end).
  void (*transform_filters)(const WinogradFilters&, std::int64_t panel, std::int64_t begin, std::int64_t end,
                            float* panel_out);
  /// Elements of a panel of transformed filters.
  std::int64_t (*panel_size)(std::int64_t inputs);

  /// y = x * w for some tiles and panels of y's channels. `transformed` contains the filters' panels from first_panel
  /// on. If it is null, panels are transformed on demand, which is faster for few tiles.
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

  /// sums[panel][tap][input][output] = contributions of some tiles to the filters.
  struct Backward {
    WinogradImages x, y;
    WinogradTiles tiles;
    std::int64_t first_tile = 0, last_tile = 0, first_panel = 0, last_panel = 0;
    float* sums = nullptr;
  };
  std::int64_t (*backward_scratch)(const Backward&);
  void (*backward)(const Backward&, float* scratch);
  /// w = (or +=) the sums of `parts` parts, in order, for a panel of outputs and inputs [begin, end). Sums that are not
  /// finite are stored as zeros, and missing[panel * w.inputs + input] is set to 1.
  void (*store_filters)(const WinogradFilters& w, const float* sums, std::int64_t parts, std::int64_t part_size,
                        std::int64_t panel, std::int64_t begin, std::int64_t end, bool accumulate,
                        std::uint8_t* missing);
};

CT_SIMD_DECLARE(extern const WinogradLevel winograd_2; extern const WinogradLevel winograd_4;)

}  // namespace catenary::cpu
