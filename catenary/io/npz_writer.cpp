#include <zlib.h>

#include <unordered_set>

#include "catenary/core/os/file.h"
#include "catenary/io/detail.h"
#include "catenary/io/npz.h"

namespace catenary::io {

namespace {

constexpr std::uint32_t kNone32 = 0xffffffffu;
constexpr std::uint16_t kUtf8Flag = 1u << 11;

struct Member {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0, size = 0, offset = 0;
};

std::uint32_t crc_of(std::uint32_t crc, std::span<const std::byte> bytes) {
  if (bytes.empty()) return crc;  // zlib takes a null pointer as a request for the initial value
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Raw deflate of two pieces in sequence.
std::vector<std::byte> deflate_pieces(std::span<const std::byte> a, std::span<const std::byte> b, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    fail<ValueError>("NpzWriter: deflate cannot begin with level {} (1 to 9)", level);
  struct End {
    z_stream* s;
    ~End() { deflateEnd(s); }
  } end{&stream};
  std::vector<std::byte> out(std::max<std::size_t>(4096, (a.size() + b.size()) / 2));
  std::size_t used = 0;
  const auto feed = [&](std::span<const std::byte> bytes, bool last) {
    do {
      const std::size_t piece = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(piece);
      bytes = bytes.subspan(piece);
      const int flush = last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
      for (;;) {
        if (used == out.size()) out.resize(out.size() + out.size() / 2);
        const std::size_t room = std::min<std::size_t>(out.size() - used, std::size_t{1} << 30);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
        stream.avail_out = static_cast<uInt>(room);
        const int status = ::deflate(&stream, flush);
        used += room - stream.avail_out;
        if (status == Z_STREAM_END || (flush == Z_NO_FLUSH && stream.avail_in == 0 && stream.avail_out > 0)) break;
      }
    } while (!bytes.empty());
  };
  feed(a, false);
  feed(b, true);
  out.resize(used);
  return out;
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

constexpr std::uint16_t kDate = (0 << 9) | (1 << 5) | 1;  // 1 January 1980, the first date in zip

/// The fields common to a member's header and its directory entry. With `zip64` the sizes are in the extra field.
void append_common(std::string& to, const Member& m, bool zip64, std::size_t extra_size) {
  using detail::append_le;
  append_le<std::uint16_t>(to, extra_size > 0 ? 45 : 20);  // the version of zip64, or of deflate
  append_le(to, m.flags);
  append_le(to, m.method);
  append_le<std::uint16_t>(to, 0);
  append_le(to, kDate);
  append_le(to, m.crc);
  append_le(to, zip64 ? kNone32 : static_cast<std::uint32_t>(m.packed));
  append_le(to, zip64 ? kNone32 : static_cast<std::uint32_t>(m.size));
  append_le(to, static_cast<std::uint16_t>(m.name.size()));
  append_le(to, static_cast<std::uint16_t>(extra_size));
}

bool needs_zip64(const Member& m) { return m.packed >= kNone32 || m.size >= kNone32; }

}  // namespace

struct NpzWriter::State {
  State(const std::string& path, const NpzWriteOptions& o) : file(path), options(o) {}
  os::AtomicFile file;
  NpzWriteOptions options;
  std::vector<Member> members;
  std::unordered_set<std::string> keys;
  bool finished = false;

  void add(const std::string& key, std::span<const std::byte> head, std::span<const std::byte> data) {
    using detail::append_le;
    if (finished) fail<ValueError>("NpzWriter: {}: '{}' comes after finish()", file.path(), key);
    if (key.empty() || key.size() > 65000 || key.find('\0') != std::string::npos)
      fail<ValueError>("NpzWriter: {}: a key must have 1 to 65000 bytes and no zero byte ('{}')", file.path(),
                       key.substr(0, 80));
    if (!keys.insert(key).second) fail<ValueError>("NpzWriter: {}: '{}' is written twice", file.path(), key);
    Member m;
    m.name = key + ".npy";
    m.flags = is_ascii(key) ? 0 : kUtf8Flag;
    m.size = head.size() + data.size();
    m.crc = crc_of(crc_of(0, head), data);
    m.offset = file.offset();
    std::vector<std::byte> packed;
    if (options.compression == NpzCompression::deflate) {
      packed = deflate_pieces(head, data, options.level);
      m.method = 8;
      m.packed = packed.size();
    } else {
      m.packed = m.size;
    }
    const bool zip64 = needs_zip64(m);
    std::string local = "PK\x03\x04";
    append_common(local, m, zip64, zip64 ? 20 : 0);
    local += m.name;
    if (zip64) {
      append_le<std::uint16_t>(local, 1);
      append_le<std::uint16_t>(local, 16);
      append_le(local, m.size);
      append_le(local, m.packed);
    }
    file.write(local);
    if (options.compression == NpzCompression::deflate) {
      file.write(packed);
    } else {
      file.write(head);
      file.write(data);
    }
    members.push_back(std::move(m));
  }

  void write_directory() {
    using detail::append_le;
    const std::uint64_t start = file.offset();
    std::string directory;
    for (const Member& m : members) {
      const bool sizes64 = needs_zip64(m), offset64 = m.offset >= kNone32;
      const std::uint16_t extra = static_cast<std::uint16_t>((sizes64 ? 16 : 0) + (offset64 ? 8 : 0));
      directory += "PK\x01\x02";
      append_le<std::uint16_t>(directory, (3 << 8) | 45);  // made on Unix
      append_common(directory, m, sizes64, extra ? extra + 4u : 0u);
      append_le<std::uint16_t>(directory, 0);               // comment
      append_le<std::uint16_t>(directory, 0);               // disk
      append_le<std::uint16_t>(directory, 0);               // internal attributes
      append_le<std::uint32_t>(directory, 0100644u << 16);  // mode
      append_le(directory, offset64 ? kNone32 : static_cast<std::uint32_t>(m.offset));
      directory += m.name;
      if (extra) {
        append_le<std::uint16_t>(directory, 1);
        append_le(directory, extra);
        if (sizes64) append_le(directory, m.size);
        if (sizes64) append_le(directory, m.packed);
        if (offset64) append_le(directory, m.offset);
      }
    }
    const std::uint64_t size = directory.size(), count = members.size();
    if (count >= 0xffff || size >= kNone32 || start >= kNone32) {
      const std::uint64_t at = start + size;
      directory += "PK\x06\x06";
      append_le<std::uint64_t>(directory, 44);
      append_le<std::uint16_t>(directory, (3 << 8) | 45);
      append_le<std::uint16_t>(directory, 45);
      append_le<std::uint32_t>(directory, 0);
      append_le<std::uint32_t>(directory, 0);
      append_le(directory, count);
      append_le(directory, count);
      append_le(directory, size);
      append_le(directory, start);
      directory += "PK\x06\x07";
      append_le<std::uint32_t>(directory, 0);
      append_le(directory, at);
      append_le<std::uint32_t>(directory, 1);
    }
    directory += "PK\x05\x06";
    append_le<std::uint32_t>(directory, 0);
    const auto count16 = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, 0xffff));
    append_le(directory, count16);
    append_le(directory, count16);
    append_le(directory, static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kNone32)));
    append_le(directory, static_cast<std::uint32_t>(std::min<std::uint64_t>(start, kNone32)));
    append_le<std::uint16_t>(directory, 0);
    file.write(directory);
  }
};

NpzWriter::NpzWriter(const std::string& path, const NpzWriteOptions& options) {
  if (options.level < 1 || options.level > 9) fail<ValueError>("NpzWriter: level {} is not 1 to 9", options.level);
  state_ = std::make_unique<State>(path, options);
}

NpzWriter::NpzWriter(NpzWriter&&) noexcept = default;
NpzWriter& NpzWriter::operator=(NpzWriter&&) noexcept = default;
NpzWriter::~NpzWriter() = default;

void NpzWriter::write(const std::string& key, const HostArray& array) {
  const std::string header = npy_header(array, state_->options.npy);
  state_->add(key, std::as_bytes(std::span(header)), array.bytes());
}

void NpzWriter::write(const std::string& key, const std::string& utf8) {
  const std::string content = npy_string(utf8);
  state_->add(key, std::as_bytes(std::span(content)), {});
}

void NpzWriter::write(const std::string& key, None) {
  const std::string content = npy_none();
  state_->add(key, std::as_bytes(std::span(content)), {});
}

void NpzWriter::finish() {
  if (state_->finished) fail<ValueError>("NpzWriter: {}: finish() was called before", state_->file.path());
  state_->write_directory();
  state_->file.commit();
  state_->finished = true;
}

}  // namespace catenary::io
