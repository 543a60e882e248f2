#pragma once
// Arrays in files: .npy, .npz and safetensors. The formats are in io/; here they meet arrays. Paths are taken as they
// are (no ending is added), files appear complete or not at all, and a damaged file is a FileError that names it and
// the place.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/io/host_array.h"
#include "catenary/io/npz.h"

namespace catenary {

/// Arrays by name, in order.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// A copy of the elements in host memory, C-ordered. (cupy.asnumpy)
CT_API io::HostArray to_host(const Array& a);
/// A copy on a device.
CT_API Array from_host(const io::HostArray& a, const Device& device = current_device());

/// Writes a .npy file. DtypeError for bfloat16 unless the options say how. (numpy.save)
CT_API void save(const std::string& path, const Array& a, const io::NpyOptions& options = {});
/// Reads a .npy file onto the current device. (numpy.load)
CT_API Array load(const std::string& path, const io::NpyOptions& options = {});

/// Options of savez.
struct SavezOptions {
  bool compressed = false;  ///< numpy.savez_compressed
  io::NpyOptions npy = {};
};
/// Writes a .npz file. (numpy.savez)
CT_API void savez(const std::string& path, const NamedArrays& arrays, const SavezOptions& options = {});
/// Reads all arrays of a .npz file in its order onto the current device; FileError for a member that is no array of
/// numbers. (numpy.load)
CT_API NamedArrays load_npz(const std::string& path, const io::NpyOptions& options = {});

/// Writes a safetensors file.
CT_API void save_safetensors(const std::string& path, const NamedArrays& arrays,
                             const std::map<std::string, std::string>& metadata = {});
/// Reads all arrays of a safetensors file, in the order of its header, onto the current device.
CT_API NamedArrays load_safetensors(const std::string& path);

}  // namespace catenary
