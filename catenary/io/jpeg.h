#pragma once
// Reads JPEG images, by libjpeg.

#include <string>

#include "catenary/io/image.h"

namespace catenary::io {

/// Reads a JPEG: gray (1 channel), YCbCr and RGB (3), CMYK (as RGB, 3). Throws FileError for a truncated file or
/// damaged data, but ignores stray bytes between segments. Does not apply the EXIF orientation.
CT_API HostArray read_jpeg(const std::string& path, const ImageOptions& options = {});
CT_API HostArray read_jpeg(std::span<const std::byte> bytes, const std::string& name, const ImageOptions& options = {});

}  // namespace catenary::io
