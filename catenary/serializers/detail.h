#pragma once
// Private: an archive in memory.

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "catenary/serializers/serializer.h"

namespace catenary::serializers::detail {

/// Does load_npz on the bytes of a file. `file` is its name for messages.
CT_API void load_npz(std::span<const std::byte> bytes, const std::string& file,
                     const std::function<void(Serializer&)>& serialize, const std::string& path, bool strict);

}  // namespace catenary::serializers::detail
