#include "catenary/array/io.h"

#include "catenary/core/format.h"
#include "catenary/io/npy.h"
#include "catenary/io/safetensors_index.h"

namespace catenary {

io::HostArray to_host(const Array& a) {
  io::HostArray result = io::HostArray::empty(a.dtype(), a.shape());
  a.copy_to_host(result.data.get());
  return result;
}

Array from_host(const io::HostArray& a, const Device& device) {
  return Array::from_host(a.data.get(), a.shape, a.dtype, device);
}

void save(const std::string& path, const Array& a, const io::NpyOptions& options) {
  io::write_npy(path, to_host(a), options);
}

Array load(const std::string& path, const io::NpyOptions& options) { return from_host(io::read_npy(path, options)); }

Array loadtxt(const std::string& path, const LoadtxtOptions& options) {
  if (options.ndmin < 0 || options.ndmin > 2) fail<ValueError>("loadtxt: ndmin is 0, 1 or 2, not {}", options.ndmin);
  const io::TextOptions text{options.comments, options.delimiter, options.skiprows, options.usecols, options.max_rows};
  Array a = from_host(io::read_text(path, options.dtype, text), Device());
  a = a.astype(options.dtype).to_device(current_device());
  if (a.ndim() > options.ndmin) a = a.squeeze();
  if (a.ndim() == 0 && options.ndmin == 1) a = a.reshape({1});
  if (a.ndim() < 2 && options.ndmin == 2) a = a.reshape({a.size(), 1});
  return options.unpack ? a.T() : a;
}

void savetxt(const std::string& path, const Array& a, const io::SavetxtOptions& options) {
  io::write_text(path, to_host(a), options);
}

void savez(const std::string& path, const NamedArrays& arrays, const SavezOptions& options) {
  io::NpzWriter writer(path,
                       {.compression = options.compressed ? io::NpzCompression::deflate : io::NpzCompression::stored,
                        .npy = options.npy});
  for (const auto& [name, a] : arrays) writer.write(name, to_host(a));
  writer.finish();
}

NamedArrays load_npz(const std::string& path, const io::NpyOptions& options) {
  const io::NpzReader reader(path, {.npy = options});
  NamedArrays arrays;
  for (const std::string& name : reader.names()) arrays.emplace_back(name, from_host(reader.read_array(name)));
  return arrays;
}

void save_safetensors(const std::string& path, const NamedArrays& arrays,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<std::pair<std::string, io::HostArray>> tensors;
  for (const auto& [name, a] : arrays) tensors.emplace_back(name, to_host(a));
  io::write_safetensors(path, tensors, metadata);
}

NamedArrays load_safetensors(const std::string& path) {
  const io::ShardedSafetensorsReader reader(path);
  NamedArrays arrays;
  for (const std::string& name : reader.names()) arrays.emplace_back(name, from_host(reader.read(name)));
  return arrays;
}

}  // namespace catenary
