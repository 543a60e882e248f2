#include "catenary/io/identify.h"

#include "catenary/core/os/file.h"
#include "catenary/io/gzip.h"

namespace catenary::io {

namespace {

bool is_idx(std::string_view start) {
  if (start.size() < 4 || start[0] != '\0' || start[1] != '\0') return false;
  return std::string_view("\x08\x09\x0b\x0c\x0d\x0e").find(start[2]) != std::string_view::npos && start[3] >= 1 &&
         start[3] <= kMaxDims;
}

}  // namespace

const char* file_kind_name(FileKind kind) {
  switch (kind) {
    case FileKind::npy:
      return "npy";
    case FileKind::npz:
      return "npz";
    case FileKind::safetensors:
      return "safetensors";
    case FileKind::idx:
      return "idx";
    case FileKind::idx_gzip:
      return "idx (gzip)";
    case FileKind::png:
      return "png";
    case FileKind::jpeg:
      return "jpeg";
    case FileKind::unknown:
      break;
  }
  return "unknown";
}

FileKind identify(std::span<const std::byte> bytes) {
  const std::string_view text = detail::as_text(bytes);
  const auto begins = [&](std::string_view magic) { return text.substr(0, magic.size()) == magic; };
  if (begins("\x93NUMPY")) return FileKind::npy;
  if (begins("PK\x03\x04") || begins("PK\x05\x06")) return FileKind::npz;
  if (begins("\x89PNG\r\n\x1a\n")) return FileKind::png;
  if (begins("\xff\xd8\xff")) return FileKind::jpeg;
  if (detail::is_gzip(bytes)) {
    const std::string name = "identify";
    std::byte start[4];
    try {
      const std::size_t n = detail::GzipReader(bytes, name).read(start);
      return is_idx(detail::as_text({start, n})) ? FileKind::idx_gzip : FileKind::unknown;
    } catch (const FileError&) {
      return FileKind::unknown;
    }
  }
  // safetensors has no magic: a length that fits and a JSON object
  if (text.size() > 9 && text[8] == '{' && detail::load_le<std::uint64_t>(bytes.data()) <= text.size() - 8)
    return FileKind::safetensors;
  return is_idx(text) ? FileKind::idx : FileKind::unknown;
}

FileKind identify(const std::string& path) { return identify(os::FileView(path).bytes()); }

}  // namespace catenary::io
