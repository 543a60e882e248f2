#pragma once
// PNG images, by libpng.

#include <string>
#include <vector>

#include "catenary/io/image.h"

namespace catenary::io {

/// Reads a PNG of any kind. Palettes become RGB (RGBA if an entry is transparent), 1-, 2- and 4-bit gray is scaled to 8
/// bits, and 16 bits are rounded to 8. Supports interlaced files and ignores gamma. Throws FileError.
CT_API HostArray read_png(const std::string& path, const ImageOptions& options = {});
CT_API HostArray read_png(std::span<const std::byte> bytes, const std::string& name, const ImageOptions& options = {});

/// Encodes a uint8 image (H, W) or (H, W, 1 to 4) as PNG. With `palette`, an image (H, W, 3) of at most 256 colours
/// becomes a file with a palette, which is smaller and faster to write. Throws ValueError for other arrays.
CT_API std::vector<std::byte> encode_png(const HostArray& image, int level = 6, bool palette = false);
/// Writes a PNG file atomically.
CT_API void write_png(const std::string& path, const HostArray& image, int level = 6, bool palette = false);

}  // namespace catenary::io
