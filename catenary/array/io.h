#pragma once
// Arrays in files: .npy, .npz and safetensors. io/ implements the formats. Paths are used as given, without an added
// extension. A file appears complete or not at all. A damaged file throws FileError with its name and the position of
// the damage.

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

/// Named arrays, in order.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// Returns a C-ordered copy of the elements in host memory. (cupy.asnumpy)
CT_API io::HostArray to_host(const Array& a);
/// Returns a copy on a device.
CT_API Array from_host(const io::HostArray& a, const Device& device = current_device());

/// Writes a .npy file. Throws DtypeError for bfloat16 unless the options choose a format. (numpy.save)
CT_API void save(const std::string& path, const Array& a, const io::NpyOptions& options = {});
/// Reads a .npy file to the current device. (numpy.load)
CT_API Array load(const std::string& path, const io::NpyOptions& options = {});

/// Options of loadtxt, with the names of numpy.loadtxt.
struct LoadtxtOptions {
  Dtype dtype = Dtype::float64;
  std::string comments = "#";
  std::string delimiter = "";              ///< white space when empty
  std::int64_t skiprows = 0;               ///< lines to skip at the beginning
  std::vector<std::int64_t> usecols = {};  ///< the columns to read; all when empty
  bool unpack = false;                     ///< transposes the result, so that each row is a column of the file
  int ndmin = 0;                           ///< least number of dimensions, 0 to 2; axes of size 1 are dropped down to
                                           ///< it
  std::optional<std::int64_t> max_rows = {};
};
/// Reads a table of numbers from a text file to the current device. A table of one row or column is 1-d. Throws
/// FileError with the line that cannot be read, ValueError for another ndmin. (numpy.loadtxt)
CT_API Array loadtxt(const std::string& path, const LoadtxtOptions& options = {});
/// Writes a 1-d array as a column of text, a 2-d array as rows. Throws as io::write_text does. (numpy.savetxt)
CT_API void savetxt(const std::string& path, const Array& a, const io::SavetxtOptions& options = {});

/// Options of savez.
struct SavezOptions {
  bool compressed = false;  ///< compresses the members (numpy.savez_compressed)
  io::NpyOptions npy = {};
};
/// Writes a .npz file. (numpy.savez)
CT_API void savez(const std::string& path, const NamedArrays& arrays, const SavezOptions& options = {});
/// Reads all arrays of a .npz file in file order to the current device. Throws FileError for a member that is not a
/// numeric array. (numpy.load)
CT_API NamedArrays load_npz(const std::string& path, const io::NpyOptions& options = {});

/// Writes a safetensors file.
CT_API void save_safetensors(const std::string& path, const NamedArrays& arrays,
                             const std::map<std::string, std::string>& metadata = {});
/// Reads all arrays of a safetensors file, or of all files of an index (or of its folder), to the current device.
CT_API NamedArrays load_safetensors(const std::string& path);

}  // namespace catenary
