#include "catenary/io/gzip.h"

namespace catenary::io::detail {

GzipReader::GzipReader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {
  if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) fail<DeviceError>("cpu: out of memory: gzip cannot begin");
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

std::size_t GzipReader::read(std::span<std::byte> to) {
  std::size_t filled = 0;
  while (filled < to.size()) {
    if (member_ended_) {
      if (position_ == bytes_.size()) break;
      if (!is_gzip(bytes_.subspan(position_)))
        fail_at(name_, position_, "bytes that are not gzip follow the gzip data");
      inflateReset(&stream_);
      member_ended_ = false;
    }
    const std::size_t in = std::min<std::size_t>(bytes_.size() - position_, std::size_t{1} << 30);
    const std::size_t out = std::min<std::size_t>(to.size() - filled, std::size_t{1} << 30);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes_.data() + position_));
    stream_.avail_in = static_cast<uInt>(in);
    stream_.next_out = reinterpret_cast<Bytef*>(to.data() + filled);
    stream_.avail_out = static_cast<uInt>(out);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t used = in - stream_.avail_in, made = out - stream_.avail_out;
    position_ += used;
    filled += made;
    if (status == Z_STREAM_END) {
      member_ended_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail_at(name_, position_, "damaged gzip data: {}", stream_.msg ? stream_.msg : zError(status));
    } else if (used == 0 && made == 0) {
      fail_at(name_, position_, "the gzip data end early");
    }
  }
  return filled;
}

}  // namespace catenary::io::detail
