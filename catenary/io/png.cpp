#include "catenary/io/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>

#include "catenary/core/os/file.h"
#include "catenary/io/detail.h"

namespace catenary::io {

namespace {

// libpng reports errors by longjmp, which must not skip destructors. So each step that calls libpng is a separate
// function with plain locals only, and its data are in these two objects outside.

struct Reading {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const std::byte* next = nullptr;
  std::size_t left = 0;
  char message[200] = {};
  png_uint_32 width = 0, height = 0;
  std::uint64_t packed_bytes = 0;  // the least size of the file's unpacked data
  int channels = 0;

  Reading() = default;
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct Writing {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::byte> out;
  char message[200] = {};

  Writing() = default;
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing() { png_destroy_write_struct(&png, &info); }
};

template <class Operation>
void on_error(png_structp png, png_const_charp text) {
  auto* operation = static_cast<Operation*>(png_get_error_ptr(png));
  std::strncpy(operation->message, text, sizeof operation->message - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, png_size_t size) {
  auto* reading = static_cast<Reading*>(png_get_io_ptr(png));
  if (size > reading->left) png_error(png, "the file ends early");
  std::memcpy(to, reading->next, size);
  reading->next += size;
  reading->left -= size;
}

bool read_info(Reading& r) {
  r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error<Reading>, on_warning);
  if (!r.png) return false;
  if (setjmp(png_jmpbuf(r.png))) return false;
  r.info = png_create_info_struct(r.png);
  if (!r.info) return false;
  png_set_read_fn(r.png, &r, read_bytes);
  png_set_user_limits(r.png, 1u << 24, 1u << 24);
  png_set_chunk_malloc_max(r.png, 1u << 20);
  // skip chunks that are not needed for decoding: text and profiles may unpack to large sizes
  png_set_keep_unknown_chunks(r.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(r.png, r.info);
  r.width = png_get_image_width(r.png, r.info);
  r.height = png_get_image_height(r.png, r.info);
  const int bits = png_get_bit_depth(r.png, r.info) * png_get_channels(r.png, r.info);
  r.packed_bytes = (static_cast<std::uint64_t>(r.width) * static_cast<unsigned>(bits) + 7) / 8 * r.height;
  png_set_expand(r.png);
  png_set_scale_16(r.png);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  r.channels = png_get_channels(r.png, r.info);
  if (png_get_bit_depth(r.png, r.info) != 8 ||
      png_get_rowbytes(r.png, r.info) != static_cast<png_size_t>(r.width) * static_cast<unsigned>(r.channels))
    png_error(r.png, "a pixel layout that is not known");
  return true;
}

bool read_rows(Reading& r, png_bytepp rows) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_image(r.png, rows);
  png_read_end(r.png, nullptr);
  return true;
}

void write_bytes(png_structp png, png_bytep from, png_size_t size) {
  auto* writing = static_cast<Writing*>(png_get_io_ptr(png));
  bool written = true;
  try {
    const auto* begin = reinterpret_cast<const std::byte*>(from);
    writing->out.insert(writing->out.end(), begin, begin + size);
  } catch (...) {
    written = false;  // no exception may pass through libpng
  }
  if (!written) png_error(png, "out of memory");
}

bool write_rows(Writing& w, png_uint_32 width, png_uint_32 height, int type, int level,
                const std::vector<png_color>& palette, png_bytepp rows) {
  w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error<Writing>, on_warning);
  if (!w.png) return false;
  if (setjmp(png_jmpbuf(w.png))) return false;
  w.info = png_create_info_struct(w.png);
  if (!w.info) return false;
  png_set_write_fn(w.png, &w, write_bytes, nullptr);
  png_set_compression_level(w.png, level);
  png_set_IHDR(w.png, w.info, width, height, 8, type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!palette.empty()) png_set_PLTE(w.png, w.info, palette.data(), static_cast<int>(palette.size()));
  png_write_info(w.png, w.info);
  png_write_image(w.png, rows);
  png_write_end(w.png, nullptr);
  return true;
}

/// Writes the index in `palette` of each pixel, which gets the image's colours. Returns false if there are more than
/// 256.
bool index_colours(const HostArray& image, std::uint8_t* indices, std::vector<png_color>& palette) {
  const std::uint8_t* pixel = image.as<std::uint8_t>();
  const std::int64_t count = image.shape[0] * image.shape[1];
  std::size_t last = 0;
  for (std::int64_t i = 0; i < count; ++i, pixel += 3) {
    const auto is_here = [&](const png_color& c) {
      return c.red == pixel[0] && c.green == pixel[1] && c.blue == pixel[2];
    };
    if (palette.empty() || !is_here(palette[last])) {
      last = static_cast<std::size_t>(std::ranges::find_if(palette, is_here) - palette.begin());
      if (last == palette.size()) {
        if (last == 256) return false;
        palette.push_back({pixel[0], pixel[1], pixel[2]});
      }
    }
    indices[i] = static_cast<std::uint8_t>(last);
  }
  return true;
}

std::vector<png_bytep> row_pointers(std::uint8_t* pixels, std::size_t height, std::size_t row_bytes) {
  std::vector<png_bytep> rows(height);
  for (std::size_t i = 0; i < height; ++i) rows[i] = pixels + i * row_bytes;
  return rows;
}

}  // namespace

HostArray read_png(std::span<const std::byte> bytes, const std::string& name, const ImageOptions& options) {
  using detail::fail_at;
  if (options.channels < 0 || options.channels > 4)
    fail<ValueError>("read_png: {} channels (0 to 4 can be asked for)", options.channels);
  constexpr std::size_t kSignature = 8;
  if (bytes.size() < kSignature || png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, kSignature) != 0)
    fail_at(name, 0, "not a PNG file");
  Reading r;
  r.next = bytes.data();
  r.left = bytes.size();
  const auto give_up = [&] {
    fail_at(name, bytes.size() - r.left, "damaged PNG: {}", *r.message ? r.message : "out of memory");
  };
  if (!read_info(r)) give_up();
  if (static_cast<std::int64_t>(r.width) * r.height > options.max_pixels)
    fail_at(name, 16, "{} x {} pixels, more than the limit of {}", r.width, r.height, options.max_pixels);
  if (r.packed_bytes > detail::deflate_bound(bytes.size()))
    fail_at(name, 16, "{} x {} pixels cannot be in a file of {} bytes", r.width, r.height, bytes.size());
  HostArray image = HostArray::empty(Dtype::uint8, {r.height, r.width, r.channels});
  // libpng leaves pixels unchanged that the file does not contain
  std::memset(image.data.get(), 0, image.nbytes());
  std::vector<png_bytep> rows = row_pointers(image.as<std::uint8_t>(), r.height,
                                             static_cast<std::size_t>(r.width) * static_cast<unsigned>(r.channels));
  if (!read_rows(r, rows.data())) give_up();
  return options.channels == 0 ? image : convert_channels(image, options.channels);
}

HostArray read_png(const std::string& path, const ImageOptions& options) {
  return read_png(os::FileView(path).bytes(), path, options);
}

std::vector<std::byte> encode_png(const HostArray& image, int level, bool palette) {
  const Shape& s = image.shape;
  const std::int64_t channels = s.size() == 3 ? s[2] : 1;
  if (image.dtype != Dtype::uint8 || s.size() < 2 || s.size() > 3 || channels < 1 || channels > 4)
    fail<ValueError>("encode_png: a uint8 array (H, W) or (H, W, 1 to 4) is expected, not {} {}", image.dtype, s);
  if (s[0] < 1 || s[1] < 1 || s[0] > 0x7fffffff || s[1] > 0x7fffffff / 4)
    fail<ValueError>("encode_png: an image of {} pixels cannot be a PNG", s);
  if (level < 0 || level > 9) fail<ValueError>("encode_png: level {} is not 0 to 9", level);
  constexpr int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                           PNG_COLOR_TYPE_RGB_ALPHA};
  std::vector<png_color> colours;
  HostArray indices;
  if (palette && channels == 3) {
    indices = HostArray::empty(Dtype::uint8, {s[0], s[1]});
    if (!index_colours(image, indices.as<std::uint8_t>(), colours)) colours.clear();
  }
  const bool is_indexed = !colours.empty();
  Writing w;
  std::vector<png_bytep> rows =
      row_pointers((is_indexed ? indices : image).as<std::uint8_t>(), static_cast<std::size_t>(s[0]),
                   static_cast<std::size_t>(s[1] * (is_indexed ? 1 : channels)));
  if (!write_rows(w, static_cast<png_uint_32>(s[1]), static_cast<png_uint_32>(s[0]),
                  is_indexed ? PNG_COLOR_TYPE_PALETTE : types[channels], level, colours, rows.data()))
    fail<ValueError>("encode_png: {}", *w.message ? w.message : "out of memory");
  return std::move(w.out);
}

void write_png(const std::string& path, const HostArray& image, int level, bool palette) {
  os::write_file(path, encode_png(image, level, palette));
}

}  // namespace catenary::io
