#pragma once
// JPEG images, by libjpeg. Reading only.

#include <string>

#include "catenary/io/image.h"

namespace catenary::io {

/// Reads a JPEG: gray (1 channel), YCbCr and RGB (3), CMYK (as RGB, 3). A file that ends early or whose data are
/// damaged beyond decoding is a FileError; stray bytes between segments are not. The orientation that EXIF may ask for
/// is not applied.
CT_API HostArray read_jpeg(const std::string& path, const ImageOptions& options = {});
CT_API HostArray read_jpeg(std::span<const std::byte> bytes, const std::string& name, const ImageOptions& options = {});

}  // namespace catenary::io
