#include "catenary/io/tar.h"

#include <array>

#include "catenary/core/os/file.h"
#include "catenary/io/gzip.h"

namespace catenary::io {

namespace {

constexpr std::size_t kBlock = 512;
using Header = std::array<std::byte, kBlock>;

/// Reads a number of a header: octal digits between spaces. Throws FileError.
std::uint64_t octal(const Header& header, std::size_t at, std::size_t length, const std::string& name,
                    std::uint64_t offset) {
  std::uint64_t value = 0;
  bool any = false;
  for (std::size_t i = at; i < at + length; ++i) {
    const char c = static_cast<char>(header[i]);
    if (c >= '0' && c <= '7') {
      value = value * 8 + static_cast<std::uint64_t>(c - '0');
      any = true;
    } else if ((c == ' ' && !any) || (any && (c == ' ' || c == '\0'))) {
      if (any) break;
    } else {
      detail::fail_at(name, offset + i, "not a tar archive: expected an octal number");
    }
  }
  if (!any) detail::fail_at(name, offset + at, "not a tar archive: expected an octal number");
  return value;
}

std::string text(const Header& header, std::size_t at, std::size_t length) {
  std::string result(reinterpret_cast<const char*>(header.data()) + at, length);
  return result.substr(0, result.find('\0'));
}

}  // namespace

void read_tar(const std::string& path, const std::function<bool(const std::string& name)>& wanted,
              const std::function<void(const std::string& name, std::vector<std::byte> content)>& take,
              std::uint64_t max_file_bytes) {
  read_tar(os::FileView(path).bytes(), path, wanted, take, max_file_bytes);
}

void read_tar(std::span<const std::byte> bytes, const std::string& source,
              const std::function<bool(const std::string& name)>& wanted,
              const std::function<void(const std::string& name, std::vector<std::byte> content)>& take,
              std::uint64_t max_file_bytes) {
  const bool packed = detail::is_gzip(bytes);
  detail::GzipReader gzip(bytes, source);
  std::uint64_t offset = 0;  // in the unpacked archive
  const auto read = [&](std::span<std::byte> to) {
    std::size_t n = 0;
    if (packed) {
      n = gzip.read(to);
    } else {
      n = std::min<std::uint64_t>(to.size(), bytes.size() - std::min<std::uint64_t>(offset, bytes.size()));
      if (n > 0) std::memcpy(to.data(), bytes.data() + offset, n);
    }
    offset += n;
    return n;
  };
  const std::uint64_t possible = packed ? detail::deflate_bound(bytes.size()) : bytes.size();

  for (;;) {
    Header header;
    const std::uint64_t start = offset;
    const std::size_t got = read(header);
    if (got == 0) return;  // archives end with empty blocks, but some writers omit them
    if (got < kBlock) detail::fail_at(source, start, "the archive ends inside a header");
    if (std::all_of(header.begin(), header.end(), [](std::byte b) { return b == std::byte{0}; })) {
      while (packed && read(header) > 0) {  // read to the end, to check gzip's checksum
      }
      return;
    }
    const std::uint64_t size = octal(header, 124, 12, source, start), sum = octal(header, 148, 8, source, start);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < kBlock; ++i) found += i >= 148 && i < 156 ? ' ' : std::to_integer<unsigned>(header[i]);
    if (found != sum) detail::fail_at(source, start, "the checksum of a tar header is {}, expected {}", found, sum);
    if (size > possible - std::min(possible, offset))
      detail::fail_at(source, start, "a file of {} bytes, more than the archive can hold", size);
    const std::string prefix = text(header, 257, 5) == "ustar" ? text(header, 345, 155) : "";
    const std::string name = (prefix.empty() ? "" : prefix + "/") + text(header, 0, 100);
    const char type = static_cast<char>(header[156]);
    const bool keep = (type == '0' || type == '\0') && wanted(name);
    if (keep && size > max_file_bytes)
      detail::fail_at(source, start, "{} has {} bytes, more than the {} that are allowed", name, size, max_file_bytes);

    std::vector<std::byte> content;
    const std::uint64_t padded = (size + kBlock - 1) / kBlock * kBlock;
    std::array<std::byte, 1 << 16> piece;
    for (std::uint64_t done = 0; done < padded;) {
      const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(padded - done, piece.size()));
      const std::size_t n = read(std::span(piece.data(), want));
      if (n < want && done + n < size) detail::fail_at(source, offset, "the archive ends inside {}", name);
      if (keep) content.insert(content.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n));
      done += want;
    }
    if (!keep) continue;
    content.resize(static_cast<std::size_t>(size));
    take(name, std::move(content));
  }
}

}  // namespace catenary::io
