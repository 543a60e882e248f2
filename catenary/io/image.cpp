#include "catenary/io/image.h"

#include "catenary/core/format.h"

namespace catenary::io {

HostArray convert_channels(const HostArray& image, int channels) {
  if (image.dtype != Dtype::uint8 || image.shape.size() != 3 || image.shape[2] < 1 || image.shape[2] > 4)
    fail<ValueError>("convert_channels: a uint8 array (H, W, 1 to 4) is expected, not {} {}", image.dtype, image.shape);
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
      // the luma of ITU-R 601 in 16-bit fixed point, as Pillow rounds it
      out[0] = colour ? static_cast<std::uint8_t>((19595u * r + 38470u * g + 7471u * b + 0x8000u) >> 16) : r;
    }
    if (channels % 2 == 0) out[channels - 1] = from % 2 == 0 ? in[from - 1] : 255;
  }
  return result;
}

}  // namespace catenary::io
