#include "catenary/io/idx.h"

#include <optional>

#include "catenary/core/os/file.h"
#include "catenary/io/gzip.h"

namespace catenary::io {

namespace {

std::optional<Dtype> dtype_of_code(int code) {
  switch (code) {
    case 0x08:
      return Dtype::uint8;
    case 0x09:
      return Dtype::int8;
    case 0x0b:
      return Dtype::int16;
    case 0x0c:
      return Dtype::int32;
    case 0x0d:
      return Dtype::float32;
    case 0x0e:
      return Dtype::float64;
    default:
      return std::nullopt;
  }
}

/// `read` fills a span and returns the number of bytes. `possible` is the most bytes that it can return in total.
template <class Read>
HostArray read_stream(Read read, std::uint64_t possible, const std::string& name) {
  using namespace detail;
  std::byte head[4 + 4 * 255];
  if (read(std::span(head, 4)) != 4) fail_at(name, 0, "not an IDX file: it has less than 4 bytes");
  const int code = std::to_integer<int>(head[2]), ndim = std::to_integer<int>(head[3]);
  const std::optional<Dtype> dtype = dtype_of_code(code);
  if (head[0] != std::byte{0} || head[1] != std::byte{0} || !dtype)
    fail_at(name, 0,
            "not an IDX file: it must begin with 00 00 and a type (08, 09, 0b, 0c, 0d, 0e), not {:02x} {:02x} {:02x}",
            std::to_integer<int>(head[0]), std::to_integer<int>(head[1]), code);
  const std::size_t extents = 4 * static_cast<std::size_t>(ndim);
  if (read(std::span(head + 4, extents)) != extents)
    fail_at(name, 4, "the file ends within the sizes of {} dimensions", ndim);
  Shape shape;
  for (int i = 0; i < ndim; ++i) append_extent(shape, load_be<std::uint32_t>(head + 4 + 4 * i), name, 4);
  const auto count = static_cast<std::uint64_t>(count_elements(shape, name, 4));
  const std::uint64_t needed = count * itemsize(*dtype), start = 4 + extents;
  if (needed > possible - std::min(possible, start))
    fail_at(name, 4, "shape {} of {} needs {} bytes, more than the file can hold", shape, *dtype, needed);
  HostArray result = HostArray::empty(*dtype, shape);
  const std::size_t got = read(std::span(result.data.get(), needed));
  if (got != needed)
    fail_at(name, start + got, "shape {} of {} needs {} bytes, the file has {}", shape, *dtype, needed, got);
  std::byte extra;
  if (read(std::span(&extra, 1)) != 0) fail_at(name, start + needed, "bytes follow the {} elements", count);
  swap_bytes(result.data.get(), static_cast<std::size_t>(count), itemsize(*dtype));
  return result;
}

}  // namespace

HostArray read_idx(std::span<const std::byte> bytes, const std::string& name) {
  if (detail::is_gzip(bytes)) {
    detail::GzipReader gzip(bytes, name);
    return read_stream([&](std::span<std::byte> to) { return gzip.read(to); }, detail::deflate_bound(bytes.size()),
                       name);
  }
  std::size_t position = 0;
  const auto read = [&](std::span<std::byte> to) {
    const std::size_t n = std::min(to.size(), bytes.size() - position);
    if (n > 0) std::memcpy(to.data(), bytes.data() + position, n);
    position += n;
    return n;
  };
  return read_stream(read, bytes.size(), name);
}

HostArray read_idx(const std::string& path) { return read_idx(os::FileView(path).bytes(), path); }

}  // namespace catenary::io
