#pragma once
// IDX files: the format of the MNIST database, plain or compressed by gzip.

#include <string>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// Reads an IDX file: types 08 (uint8), 09 (int8), 0B (int16), 0C (int32), 0D (float32), 0E (float64), big-endian.
/// Detects compression by the content. Throws FileError, also for surplus bytes after the elements.
CT_API HostArray read_idx(const std::string& path);
CT_API HostArray read_idx(std::span<const std::byte> bytes, const std::string& name);

}  // namespace catenary::io
