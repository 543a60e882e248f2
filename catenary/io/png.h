#pragma once
// PNG images, by libpng.

#include <string>
#include <vector>

#include "catenary/io/image.h"

namespace catenary::io {

/// Reads a PNG of any kind: palettes become RGB (RGBA when an entry is transparent), 1-, 2- and 4-bit gray is spread to
/// 8 bits, 16 bits are rounded to 8, interlaced is fine; gamma is left alone. Throws FileError.
CT_API HostArray read_png(const std::string& path, const ImageOptions& options = {});
CT_API HostArray read_png(std::span<const std::byte> bytes, const std::string& name, const ImageOptions& options = {});

/// A uint8 image (H, W) or (H, W, 1 to 4) as a PNG; throws ValueError for anything else.
CT_API std::vector<std::byte> encode_png(const HostArray& image, int level = 6);
/// Writes it atomically.
CT_API void write_png(const std::string& path, const HostArray& image, int level = 6);

}  // namespace catenary::io
