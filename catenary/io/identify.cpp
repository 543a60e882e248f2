#include "catenary/io/identify.h"

#include <algorithm>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/gzip.h"

namespace catenary::io {

namespace {

bool is_idx(std::string_view start) {
  if (start.size() < 4 || start[0] != '\0' || start[1] != '\0') return false;
  return std::string_view("\x08\x09\x0b\x0c\x0d\x0e").find(start[2]) != std::string_view::npos && start[3] >= 1 &&
         start[3] <= kMaxDims;
}

/// Recognises torch.save's output: a zip archive whose first member is the pickled object, or (before 1.6) the magic
/// number of its pickles.
bool is_torch(std::string_view text) {
  if (text.starts_with("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")) return true;
  constexpr std::size_t kHeader = 30;
  if (!text.starts_with("PK\x03\x04") || text.size() < kHeader) return false;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(text[26])) +
                      (static_cast<std::size_t>(static_cast<unsigned char>(text[27])) << 8);
  return text.substr(kHeader, length).ends_with("/data.pkl");
}

/// A JSON object with a weight_map near its beginning.
bool is_safetensors_index(std::string_view text) {
  constexpr std::size_t kNear = 1 << 16;
  const std::string_view start = text.substr(0, kNear);
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && start[first] == '{' &&
         start.find("\"weight_map\"") != std::string_view::npos;
}

/// Whether it begins with letters, signs and line ends only.
bool is_text(std::string_view bytes) {
  constexpr std::size_t kNear = 1 << 12;
  return !bytes.empty() && std::ranges::all_of(bytes.substr(0, kNear), [](unsigned char c) {
    return (c >= ' ' && c != 0x7f) || c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
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
    case FileKind::torch:
      return "PyTorch";
    case FileKind::gguf:
      return "GGUF";
    case FileKind::safetensors_index:
      return "safetensors index";
    case FileKind::unknown:
      break;
  }
  return "unknown";
}

FileKind identify(std::span<const std::byte> bytes) {
  const std::string_view text = detail::as_text(bytes);
  const auto begins = [&](std::string_view magic) { return text.substr(0, magic.size()) == magic; };
  if (begins("\x93NUMPY")) return FileKind::npy;
  if (begins("GGUF")) return FileKind::gguf;
  if (is_torch(text)) return FileKind::torch;
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
  // safetensors has no magic number: check for a plausible length and a JSON object
  if (text.size() > 9 && text[8] == '{' && detail::load_le<std::uint64_t>(bytes.data()) <= text.size() - 8)
    return FileKind::safetensors;
  if (is_safetensors_index(text)) return FileKind::safetensors_index;
  return is_idx(text) ? FileKind::idx : FileKind::unknown;
}

FileKind identify(const std::string& path) { return identify(os::FileView(path).bytes()); }

std::string what_it_is(std::span<const std::byte> bytes) {
  switch (const FileKind kind = identify(bytes)) {
    case FileKind::unknown:
      return is_text(detail::as_text(bytes)) ? "a text" : "";
    case FileKind::npz:
      return "an npz file, which load_npz reads";
    case FileKind::safetensors:
      return "a safetensors file, which load_safetensors reads";
    case FileKind::safetensors_index:
      return "an index of safetensors files, which load_safetensors reads";
    case FileKind::torch:
      return "a file of PyTorch's own; in Python, safetensors.torch.save_file(model.state_dict(), "
             "\"model.safetensors\") "
             "writes one that load_safetensors reads";
    default:
      return fmt::format("of the kind {}", file_kind_name(kind));
  }
}

}  // namespace catenary::io
