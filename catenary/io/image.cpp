#include "catenary/io/image.h"

#include <algorithm>
#include <cmath>

#include "catenary/core/format.h"

namespace catenary::io {

HostArray convert_channels(const HostArray& image, int channels) {
  if (image.dtype != Dtype::uint8 || image.shape.size() != 3 || image.shape[2] < 1 || image.shape[2] > 4)
    fail<ValueError>("convert_channels: expected a uint8 array (H, W, 1 to 4), not {} {}", image.dtype, image.shape);
  if (channels < 1 || channels > 4) fail<ValueError>("convert_channels: {} channels (1 to 4 can be made)", channels);
  const auto from = static_cast<int>(image.shape[2]);
  if (from == channels) return image;
  HostArray result = HostArray::empty(Dtype::uint8, {image.shape[0], image.shape[1], channels});
  const auto* in = image.as<std::uint8_t>();
  auto* out = result.as<std::uint8_t>();
  for (std::int64_t i = 0; i < image.shape[0] * image.shape[1]; ++i, in += from, out += channels) {
    const bool colour = from >= 3;
    const std::uint8_t r = in[0], g = colour ? in[1] : r, b = colour ? in[2] : r;
    if (channels >= 3) {
      out[0] = r;
      out[1] = g;
      out[2] = b;
    } else {
      // ITU-R 601 luma in 16-bit fixed point, rounded like Pillow
      out[0] = colour ? static_cast<std::uint8_t>((19595u * r + 38470u * g + 7471u * b + 0x8000u) >> 16) : r;
    }
    if (channels % 2 == 0) out[channels - 1] = from % 2 == 0 ? in[from - 1] : 255;
  }
  return result;
}

namespace {

/// The weights of the source pixels first, first + 1, … in a pixel of a line.
struct Taps {
  std::int64_t first;
  std::vector<float> weights;
};

std::vector<Taps> triangles(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), reach = std::max(scale, 1.0);
  std::vector<Taps> taps;
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = static_cast<std::int64_t>(std::max(0.0, std::floor(centre - reach + 0.5)));
    const auto last = std::min(from, static_cast<std::int64_t>(std::floor(centre + reach + 0.5)));
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t j = first; j < last; ++j) {
      weights.push_back(std::max(0.0, 1 - std::abs((static_cast<double>(j) + 0.5 - centre) / reach)));
      sum += weights.back();
    }
    Taps tap{first, {}};
    for (double weight : weights) tap.weights.push_back(static_cast<float>(weight / sum));
    taps.push_back(std::move(tap));
  }
  return taps;
}

}  // namespace

HostArray resize(const HostArray& image, std::int64_t height, std::int64_t width) {
  if (image.dtype != Dtype::uint8 || image.shape.size() != 3 || image.size() == 0)
    fail<ValueError>("resize: expected a uint8 image (H, W, C), not {} {}", image.dtype, image.shape);
  if (height < 1 || width < 1) fail<ValueError>("resize: to height {} and width {}", height, width);
  const std::int64_t rows = image.shape[0], channels = image.shape[2];
  HostArray result = HostArray::empty(Dtype::uint8, {height, width, channels});
  const auto to_byte = [](float value) {
    return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5f), 0.0f, 255.0f));
  };
  // lines first, then columns, with bytes in between, like Pillow
  const std::vector<Taps> across = triangles(image.shape[1], width), down = triangles(rows, height);
  std::vector<std::uint8_t> narrowed(static_cast<std::size_t>(rows * width * channels));
  const std::uint8_t* from = image.as<std::uint8_t>();
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const Taps& taps = across[static_cast<std::size_t>(x)];
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::uint8_t* at = from + (y * image.shape[1] + taps.first) * channels + c;
        float sum = 0;
        for (const float weight : taps.weights) {
          sum += weight * static_cast<float>(*at);
          at += channels;
        }
        narrowed[static_cast<std::size_t>((y * width + x) * channels + c)] = to_byte(sum);
      }
    }
  }
  std::uint8_t* to = result.as<std::uint8_t>();
  const std::int64_t line = width * channels;
  for (std::int64_t y = 0; y < height; ++y) {
    const Taps& taps = down[static_cast<std::size_t>(y)];
    for (std::int64_t i = 0; i < line; ++i) {
      const std::uint8_t* at = narrowed.data() + taps.first * line + i;
      float sum = 0;
      for (const float weight : taps.weights) {
        sum += weight * static_cast<float>(*at);
        at += line;
      }
      *to++ = to_byte(sum);
    }
  }
  return result;
}

}  // namespace catenary::io
