#pragma once
// Private: an archive that is no file.

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "catenary/serializers/serializer.h"

namespace catenary::serializers::detail {

/// load_npz of the bytes of a file, whose name is for messages.
CT_API void load_npz(std::span<const std::byte> bytes, const std::string& file,
                     const std::function<void(Serializer&)>& serialize, const std::string& path, bool strict);

}  // namespace catenary::serializers::detail
