// Convolutions of 16-bit floats on the CPU, with one image more than are widened to float32 at a time.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/config.h"
#include "catenary/device/backend.h"

namespace catenary {
namespace {

using Pass = ConvolutionPass;

Array waves(const Shape& shape, double phase) {
  return sin(arange(shape.product(), Dtype::float32) * 0.37 + phase).reshape(shape);
}

/// Returns the result of a pass, added to the contents of `into` if requested.
Array convolved(Pass pass, const Window& window, const Array& x, const Array& w, const Array& y, const Array* bias,
                bool accumulate) {
  const Array into = pass == Pass::forward ? y.copy() : pass == Pass::to_data ? x.copy() : w.copy();
  const View of_x = pass == Pass::to_data ? writable(into) : readable(x),
             of_w = pass == Pass::to_filter ? writable(into) : readable(w),
             of_y = pass == Pass::forward ? writable(into) : readable(y), of_bias = bias ? readable(*bias) : View();
  compute(Device(), primitives::Convolution{pass, window, 1, of_x, of_w, of_y, bias ? &of_bias : nullptr, accumulate,
                                            pass == Pass::forward});
  return into;
}

TEST(HalfConvolution, ManyImagesAreComputedInParts) {
  // 2 * 2^18 numbers per image, and 2^21 are widened at a time
  constexpr std::int64_t kImages = 9, kChannels = 16, kSide = 128;
  for (const std::int64_t size : {3, 1}) {  // with and without Winograd's algorithm
    const Window window = Window::make("test", 2, {size}, {1}, {size / 2});
    const Shape images = {kImages, kChannels, kSide, kSide}, filter = {kChannels, kChannels, size, size};
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
      const Array x = waves(images, 0).astype(dtype), w = (waves(filter, 1) * 0.1).astype(dtype),
                  y = (waves(images, 2) * 0.1).astype(dtype), bias = waves({kChannels}, 3).astype(dtype);
      const auto wide = [](const Array& a) { return a.astype(Dtype::float32); };
      for (const Pass pass : {Pass::forward, Pass::to_data, Pass::to_filter}) {
        for (const bool accumulate : {false, true}) {
          const Array* const of = pass == Pass::to_filter ? nullptr : &bias;
          const Array wide_bias = wide(bias);
          const Array got = convolved(pass, window, x, w, y, of, accumulate);
          ASSERT_EQ(got.dtype(), dtype);
          const std::vector<double> a = got.to_vector<double>(), b = convolved(pass, window, wide(x), wide(w), wide(y),
                                                                               of ? &wide_bias : nullptr, accumulate)
                                                                         .to_vector<double>();
          const double unit = dtype == Dtype::float16 ? 0x1p-11 : 0x1p-8;
          for (std::size_t i = 0; i < a.size(); ++i)
            ASSERT_LE(std::abs(a[i] - b[i]), unit * std::abs(b[i]) + (pass == Pass::to_filter ? 1e-2 : 1e-4))
                << static_cast<int>(pass) << " " << accumulate << " " << dtype_name(dtype) << " " << i;
        }
      }
    }
  }
}

TEST(HalfConvolution, WithoutImagesAFiltersGradientIsZero) {
  const Window window = Window::make("test", 2, {3}, {1}, {1});
  const Array x = zeros({0, 2, 4, 4}, Dtype::float16), y = zeros({0, 3, 4, 4}, Dtype::float16),
              w = ones({3, 2, 3, 3}, Dtype::float16);
  for (double g : convolved(Pass::to_filter, window, x, w, y, nullptr, false).to_vector<double>()) EXPECT_EQ(g, 0);
  for (double g : convolved(Pass::to_filter, window, x, w, y, nullptr, true).to_vector<double>()) EXPECT_EQ(g, 1);
}

}  // namespace
}  // namespace catenary
