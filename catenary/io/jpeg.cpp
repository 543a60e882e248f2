#include "catenary/io/jpeg.h"

#include <csetjmp>
#include <cstdio>

// clang-format off
#include <jpeglib.h>  // uses FILE of cstdio
#include <jerror.h>
// clang-format on

#include "catenary/core/os/file.h"
#include "catenary/io/detail.h"

namespace catenary::io {

namespace {

constexpr int kMaxScans = 1000;  // real progressive files have about ten, and each scan costs a pass over the image

/// As with libpng: functions that call libjpeg have plain locals only, because longjmp runs no destructors.
struct Reading {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = {};
  bool created = false;

  Reading() = default;
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    if (created) jpeg_destroy_decompress(&jpeg);
  }
};

[[noreturn]] void stop(j_common_ptr jpeg) {
  auto* r = static_cast<Reading*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, r->message);
  std::longjmp(r->jump, 1);
}

void on_message(j_common_ptr jpeg, int level) {
  // otherwise libjpeg would invent the rest of the picture
  const int code = jpeg->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) stop(jpeg);
}

void on_output(j_common_ptr) {}

void on_progress(j_common_ptr jpeg) {
  auto* r = static_cast<Reading*>(jpeg->client_data);
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > kMaxScans) {
    std::snprintf(r->message, sizeof r->message, "more than %d scans", kMaxScans);
    std::longjmp(r->jump, 1);
  }
}

bool read_header(Reading& r, const unsigned char* bytes, unsigned long size) {
  r.jpeg.err = jpeg_std_error(&r.errors);
  r.errors.error_exit = stop;
  r.errors.emit_message = on_message;
  r.errors.output_message = on_output;
  r.jpeg.client_data = &r;
  if (setjmp(r.jump)) return false;
  jpeg_create_decompress(&r.jpeg);
  r.created = true;
  r.progress.progress_monitor = on_progress;
  r.jpeg.progress = &r.progress;
  r.jpeg.client_data = &r;
  jpeg_mem_src(&r.jpeg, bytes, size);
  jpeg_read_header(&r.jpeg, TRUE);
  const bool gray = r.jpeg.jpeg_color_space == JCS_GRAYSCALE;
  const bool four = r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK;
  r.jpeg.out_color_space = gray ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
  return true;
}

bool read_rows(Reading& r, unsigned char* pixels, std::size_t row_bytes) {
  if (setjmp(r.jump)) return false;
  jpeg_start_decompress(&r.jpeg);
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    unsigned char* row = pixels + r.jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&r.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

/// Adobe's programs write inverted CMYK, and mark the file.
HostArray rgb_of_cmyk(const HostArray& cmyk, bool inverted) {
  HostArray rgb = HostArray::empty(Dtype::uint8, {cmyk.shape[0], cmyk.shape[1], 3});
  const auto* in = cmyk.as<std::uint8_t>();
  auto* out = rgb.as<std::uint8_t>();
  for (std::int64_t i = 0; i < cmyk.shape[0] * cmyk.shape[1]; ++i, in += 4, out += 3) {
    const unsigned k = inverted ? in[3] : 255u - in[3];
    for (int c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(((inverted ? in[c] : 255u - in[c]) * k + 127) / 255);
  }
  return rgb;
}

}  // namespace

HostArray read_jpeg(std::span<const std::byte> bytes, const std::string& name, const ImageOptions& options) {
  using detail::fail_at;
  if (options.channels < 0 || options.channels > 4)
    fail<ValueError>("read_jpeg: {} channels (0 to 4 can be asked for)", options.channels);
  if (bytes.size() < 4 || bytes[0] != std::byte{0xff} || bytes[1] != std::byte{0xd8})
    fail_at(name, 0, "not a JPEG file");
  Reading r;
  const auto give_up = [&] {
    const std::size_t left = r.created && r.jpeg.src ? std::min(r.jpeg.src->bytes_in_buffer, bytes.size()) : 0;
    fail_at(name, bytes.size() - left, "damaged JPEG: {}", r.message);
  };
  if (!read_header(r, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size())) give_up();
  const std::int64_t width = r.jpeg.image_width, height = r.jpeg.image_height;
  if (width * height > options.max_pixels)
    fail_at(name, 2, "{} x {} pixels, more than the limit of {}", width, height, options.max_pixels);
  // an 8 x 8 block takes at least one bit, and only one component needs full resolution in each direction
  if (width * height / 1024 > static_cast<std::int64_t>(bytes.size()))
    fail_at(name, 2, "{} x {} pixels cannot be in a file of {} bytes", width, height, bytes.size());
  const bool gray = r.jpeg.out_color_space == JCS_GRAYSCALE, cmyk = r.jpeg.out_color_space == JCS_CMYK;
  HostArray image = HostArray::empty(Dtype::uint8, {height, width, gray ? 1 : cmyk ? 4 : 3});
  if (!read_rows(r, image.as<std::uint8_t>(), static_cast<std::size_t>(width * image.shape[2]))) give_up();
  if (cmyk) image = rgb_of_cmyk(image, r.jpeg.saw_Adobe_marker);
  return options.channels == 0 ? image : convert_channels(image, options.channels);
}

HostArray read_jpeg(const std::string& path, const ImageOptions& options) {
  return read_jpeg(os::FileView(path).bytes(), path, options);
}

}  // namespace catenary::io
