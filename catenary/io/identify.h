#pragma once
// What a file is, by its content: names tell nothing (Chainer's snapshots have no suffix).

#include <string>

#include "catenary/io/host_array.h"

namespace catenary::io {

/// The kinds of files that are known.
enum class FileKind { unknown, npy, npz, safetensors, idx, idx_gzip, png, jpeg, torch, gguf, safetensors_index };

/// "npy", "npz", …
CT_API const char* file_kind_name(FileKind kind);
/// Looks at the first bytes; a match does not mean that the rest is sound. The path form throws FileError when it
/// cannot be read.
CT_API FileKind identify(const std::string& path);
CT_API FileKind identify(std::span<const std::byte> bytes);

/// What a file is that is not the one that was wanted, and what reads it: "an npz file, which load_npz reads". Empty
/// for one that is not known.
CT_API std::string what_it_is(std::span<const std::byte> bytes);

}  // namespace catenary::io
