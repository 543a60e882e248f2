#include "catenary/distributed/packing.h"

#include "catenary/core/format.h"

namespace catenary::distributed {

void Packer::raw(const void* data, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), first, first + bytes);
}

void Unpacker::raw(void* data, std::size_t bytes) {
  if (bytes > bytes_.size())
    fail<ValueError>("unpack: {} bytes are wanted and {} are left: it was packed as something else", bytes,
                     bytes_.size());
  if (bytes > 0) std::memcpy(data, bytes_.data(), bytes);
  bytes_ = bytes_.subspan(bytes);
}

std::size_t Unpacker::count(std::size_t least_bytes_each) {
  std::uint64_t n = 0;
  raw(&n, sizeof n);
  if (n > bytes_.size() / least_bytes_each)
    fail<ValueError>("unpack: {} elements cannot be in {} bytes: it was packed as something else", n, bytes_.size());
  return n;
}

void pack(Packer& to, const std::string& value) {
  pack(to, static_cast<std::uint64_t>(value.size()));
  to.raw(value.data(), value.size());
}

void unpack(Unpacker& from, std::string& value) {
  value.resize(from.count(1));
  from.raw(value.data(), value.size());
}

void pack(Packer& to, const Array& value) {
  pack(to, value.defined());
  if (!value.defined()) return;
  const Array host = value.to_device(Device()).contiguous();
  pack(to, host.dtype());
  pack(to, std::vector<std::int64_t>(host.shape().begin(), host.shape().end()));
  to.raw(host.raw_data(), host.nbytes());
}

void unpack(Unpacker& from, Array& value) {
  bool defined = false;
  from(defined);
  value = Array();
  if (!defined) return;
  Dtype dtype{};
  std::vector<std::int64_t> shape;
  from(dtype)(shape);
  Array host = Array::empty(Shape(shape), dtype, Device());
  from.raw(host.raw_mutable_data(), host.nbytes());
  value = host.to_device(current_device());
}

void pack(Packer& to, const Example& value) { to(value.values)(value.names); }
void unpack(Unpacker& from, Example& value) { from(value.values)(value.names); }

void pack(Packer& to, const Observation& value) {
  std::vector<std::pair<std::string, double>> entries;
  for (const auto& [name, reported] : value) entries.emplace_back(name, reported.value());
  pack(to, entries);
}

void unpack(Unpacker& from, Observation& value) {
  std::vector<std::pair<std::string, double>> entries;
  unpack(from, entries);
  value.clear();
  for (const auto& [name, number] : entries) value[name] = number;
}

void pack(Packer& to, const Summary::Sums& value) { to(value.x)(value.x2)(value.n); }
void unpack(Unpacker& from, Summary::Sums& value) { from(value.x)(value.x2)(value.n); }

}  // namespace catenary::distributed
