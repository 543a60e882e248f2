#pragma once
// Tar archives (POSIX ustar), plain or gzipped. Reading only.

#include <functional>
#include <string>
#include <vector>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// Walks through an archive: `wanted(name)` says of each regular file whether `take(name, content)` shall get it.
/// Throws FileError for an archive that is damaged or ends early, and for a wanted file of more than `max_file_bytes`.
CT_API void read_tar(const std::string& path, const std::function<bool(const std::string& name)>& wanted,
                     const std::function<void(const std::string& name, std::vector<std::byte> content)>& take,
                     std::uint64_t max_file_bytes = std::uint64_t{1} << 32);
CT_API void read_tar(std::span<const std::byte> bytes, const std::string& source,
                     const std::function<bool(const std::string& name)>& wanted,
                     const std::function<void(const std::string& name, std::vector<std::byte> content)>& take,
                     std::uint64_t max_file_bytes = std::uint64_t{1} << 32);

}  // namespace catenary::io
