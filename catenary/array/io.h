#pragma once
// Arrays in files: .npy, .npz and safetensors. The formats are in io/; here they meet arrays. Paths are taken as they
// are (no ending is added), files appear complete or not at all, and a damaged file is a FileError that names it and
// the place.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/io/host_array.h"
#include "catenary/io/npz.h"
#include "catenary/io/text.h"

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

/// Options of loadtxt: those of io::read_text, and numpy.loadtxt's that concern the array.
struct LoadtxtOptions {
  Dtype dtype = Dtype::float64;
  std::string comments = "#";
  std::string delimiter = "";              ///< white space when empty
  std::int64_t skiprows = 0;               ///< lines before anything is read
  std::vector<std::int64_t> usecols = {};  ///< the columns that are wanted; all when empty
  bool unpack = false;                     ///< transposes, so that rows are the file's columns
  int ndmin = 0;                           ///< axes of extent 1 go, down to so many axes: 0, 1 or 2
  std::optional<std::int64_t> max_rows = {};
};
/// Reads a table of numbers in text onto the current device; a table of one row or column is 1-d. Throws FileError
/// with the line where it is none, ValueError for another ndmin. (numpy.loadtxt)
CT_API Array loadtxt(const std::string& path, const LoadtxtOptions& options = {});
/// Writes a 1-d array as a column of text, a 2-d one in rows. Throws as io::write_text does. (numpy.savetxt)
CT_API void savetxt(const std::string& path, const Array& a, const io::SavetxtOptions& options = {});

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
/// Reads all arrays of a safetensors file, or of all files of an index (or its folder), onto the current device.
CT_API NamedArrays load_safetensors(const std::string& path);

}  // namespace catenary
