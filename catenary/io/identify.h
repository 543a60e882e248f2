#pragma once
// Identifies files by their content, because names are not reliable (Chainer's snapshots have no suffix).

#include <string>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// The known kinds of files.
enum class FileKind { unknown, npy, npz, safetensors, idx, idx_gzip, png, jpeg, torch, gguf, safetensors_index };

/// Returns "npy", "npz", …
CT_API const char* file_kind_name(FileKind kind);
/// Identify a file by its first bytes. The rest may still be damaged. The overload with a path throws FileError if the
/// file cannot be read.
CT_API FileKind identify(const std::string& path);
CT_API FileKind identify(std::span<const std::byte> bytes);

/// Describes an unexpected file and the function that reads it, for messages: "an npz file, which load_npz reads".
/// Returns an empty string for unknown files.
CT_API std::string what_it_is(std::span<const std::byte> bytes);

}  // namespace catenary::io
