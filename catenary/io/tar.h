#pragma once
// Reads tar archives (POSIX ustar), plain or gzipped.

#include <functional>
#include <string>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// Reads an archive: for each regular file for which `wanted(name)` is true, calls `take(name, content)`. Throws
/// FileError for a damaged or truncated archive, and for a wanted file of more than `max_file_bytes`.
CT_API void read_tar(const std::string& path, const std::function<bool(const std::string& name)>& wanted,
                     const std::function<void(const std::string& name, std::vector<std::byte> content)>& take,
                     std::uint64_t max_file_bytes = std::uint64_t{1} << 32);
CT_API void read_tar(std::span<const std::byte> bytes, const std::string& source,
                     const std::function<bool(const std::string& name)>& wanted,
                     const std::function<void(const std::string& name, std::vector<std::byte> content)>& take,
                     std::uint64_t max_file_bytes = std::uint64_t{1} << 32);

}  // namespace catenary::io
