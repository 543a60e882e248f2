#include <zlib.h>

#include <cmath>
#include <cstdlib>

#include "catenary/io/jpeg.h"
#include "catenary/io/npy.h"
#include "catenary/io/png.h"
#include "helpers.h"

namespace catenary::io {
namespace {

using namespace test;

/// The sample that make_io_fixtures.py put at (y, x, c) of an 11 x 5 image with `most` + 1 values.
int stored_sample(int y, int x, int c, int channels, int step, int most) {
  return ((y * 11 + x) * channels + c) * step % (most + 1);
}

TEST(Png, ReadsEveryColourTypeDepthAndInterlacing) {
  for (const std::string suffix : {"", "_interlaced"}) {
    for (const auto& [kind, channels] :
         std::vector<std::pair<std::string, int>>{{"gray", 1}, {"graya", 2}, {"rgb", 3}, {"rgba", 4}}) {
      for (const int depth : {1, 2, 4, 8, 16}) {
        if (depth < 8 && kind != "gray") continue;
        const std::string name = kind + std::to_string(depth) + suffix + ".png";
        const HostArray image = read_png(data_path("io/" + name));
        ASSERT_EQ(image.shape, (Shape{5, 11, channels})) << name;
        const int most = (1 << depth) - 1, step = depth == 16 ? 257 * 7 : 7;
        const auto* p = image.as<std::uint8_t>();
        for (int y = 0; y < 5; ++y)
          for (int x = 0; x < 11; ++x)
            for (int c = 0; c < channels; ++c, ++p)
              ASSERT_EQ(*p, std::lround(stored_sample(y, x, c, channels, step, most) * 255.0 / most))
                  << name << " " << y << " " << x;
      }
    }
    for (const int depth : {2, 8}) {
      const HostArray image = read_png(data_path("io/palette" + std::to_string(depth) + suffix + ".png"));
      ASSERT_EQ(image.shape, (Shape{5, 11, 3}));
      constexpr int palette[4][3] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {10, 20, 30}};
      for (int i = 0; i < 55; ++i)
        for (int c = 0; c < 3; ++c) ASSERT_EQ(image.as<std::uint8_t>()[3 * i + c], palette[i * 7 % 4][c]);
    }
  }
  const HostArray transparent = read_png(data_path("io/palette_transparent.png"));
  ASSERT_EQ(transparent.shape, (Shape{5, 11, 4}));
  constexpr int alpha[4] = {255, 0, 128, 255};
  for (int i = 0; i < 55; ++i) EXPECT_EQ(transparent.as<std::uint8_t>()[4 * i + 3], alpha[i * 7 % 4]);
}

void append_be(std::string& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift & 0xff);
}

/// A grayscale PNG made by hand. `rows` has a filter byte before each row.
std::string gray_png(std::uint32_t width, std::uint32_t height, int depth, const std::string& rows) {
  std::string file("\x89PNG\r\n\x1a\n", 8);
  const auto chunk = [&](const std::string& type, const std::string& data) {
    append_be(file, static_cast<std::uint32_t>(data.size()));
    const std::string all = type + data;
    file += all;
    append_be(file, static_cast<std::uint32_t>(
                        ::crc32(0, reinterpret_cast<const Bytef*>(all.data()), static_cast<uInt>(all.size()))));
  };
  std::string header;
  append_be(header, width);
  append_be(header, height);
  header += {static_cast<char>(depth), 0, 0, 0, 0};
  chunk("IHDR", header);
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  EXPECT_EQ(::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                       rows.size()),
            Z_OK);
  chunk("IDAT", packed.substr(0, size));
  chunk("IEND", "");
  return file;
}

TEST(Png, GivesTheChannelsAskedFor) {
  const HostArray rgb = read_png(data_path("io/luma.png"));
  const HostArray gray = read_png(data_path("io/luma.png"), {.channels = 1});
  EXPECT_EQ(gray.shape, (Shape{24, 35, 1}));
  EXPECT_EQ(values_of(gray), values_of(read_npy(data_path("io/luma.npy"))));  // as converted by Pillow
  const HostArray rgba = convert_channels(rgb, 4);
  EXPECT_EQ(rgba.as<std::uint8_t>()[3], 255);
  EXPECT_EQ(values_of(convert_channels(rgba, 3)), values_of(rgb));
  EXPECT_EQ(values_of(convert_channels(convert_channels(gray, 3), 1)), values_of(gray));
  EXPECT_EQ(convert_channels(gray, 2).shape, (Shape{24, 35, 2}));
  // alpha stays between images that have it
  for (const auto& [name, from, to] : {std::tuple("graya8", 2, 4), std::tuple("rgba8", 4, 2)}) {
    const HostArray image = read_png(data_path(std::string("io/") + name + ".png"), {.channels = to});
    ASSERT_EQ(image.shape, (Shape{5, 11, to})) << name;
    for (int i = 0; i < 55; ++i)
      EXPECT_EQ(image.as<std::uint8_t>()[to * i + to - 1], stored_sample(i / 11, i % 11, from - 1, from, 7, 255))
          << name;
  }
  EXPECT_THROW(convert_channels(gray, 5), ValueError);
  EXPECT_THROW(read_png(data_path("io/luma.png"), {.channels = 7}), ValueError);
}

TEST(Png, WritesWhatItReads) {
  const TemporaryFolder folder;
  for (const std::string name : {"gray8", "graya8", "rgb8", "rgba8"}) {
    const HostArray image = read_png(data_path("io/" + name + ".png"));
    write_png(folder / "a.png", image);
    const HostArray again = read_png(folder / "a.png");
    EXPECT_EQ(again.shape, image.shape);
    EXPECT_EQ(values_of(again), values_of(image)) << name;
  }
  const HostArray flat = HostArray::from<std::uint8_t>({2, 3}, std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values_of(read_png(encode_png(flat, 0), "memory")), values_of(flat));
  EXPECT_THROW(encode_png(HostArray::scalar(1.0f)), ValueError);
  EXPECT_THROW(encode_png(HostArray::empty(Dtype::uint8, {0, 3})), ValueError);
  EXPECT_THROW(encode_png(HostArray::empty(Dtype::uint8, {2, 3, 5})), ValueError);
  EXPECT_THROW(encode_png(flat, 10), ValueError);
}

TEST(Png, WritesAPaletteForAtMost256Colours) {
  constexpr std::size_t kColourType = 25;  // of the header
  for (const int colours : {1, 2, 255, 256, 257}) {
    HostArray image = HostArray::empty(Dtype::uint8, {23, 13, 3});
    for (int i = 0; i < 23 * 13; ++i) {
      std::uint8_t* const pixel = image.as<std::uint8_t>() + 3 * i;
      const int colour = i * 7 % colours;
      pixel[0] = static_cast<std::uint8_t>(colour % 16);
      pixel[1] = static_cast<std::uint8_t>(colour / 16 % 16);
      pixel[2] = static_cast<std::uint8_t>(colour / 256);
    }
    const std::vector<std::byte> bytes = encode_png(image, 1, true);
    EXPECT_EQ(static_cast<int>(bytes[kColourType]), colours <= 256 ? 3 : 2) << colours;
    const HostArray again = read_png(bytes, "memory");
    EXPECT_EQ(again.shape, image.shape);
    EXPECT_EQ(values_of(again), values_of(image)) << colours;
  }
  const HostArray gray = read_png(data_path("io/gray8.png"));
  EXPECT_EQ(encode_png(gray, 6, true), encode_png(gray));
}

TEST(Png, RefusesDamageAndSizesThatCannotBe) {
  const auto read = [](std::span<const std::byte> b) { read_png(b, "piece"); };
  for (const std::string name : {"rgb8.png", "gray1_interlaced.png", "palette_transparent.png"}) {
    const auto bytes = os::read_file(data_path("io/" + name));
    expect_truncations_fail(bytes, read);
    expect_damage_is_survived(bytes, read);
  }
  EXPECT_NE(file_error([] { read_png(data_path("io/luma.png"), {.max_pixels = 100}); }).find("limit of 100"),
            std::string::npos);
  EXPECT_NE(file_error([] { read_png(data_path("io/rgb.jpg")); }).find("not a PNG"), std::string::npos);
  // a header of 2^24 x 2^24 with a valid CRC, but without pixels
  const std::string huge("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x01\x00\x00\x00\x01\x00\x00\x00\x08\x06\x00\x00\x00",
                         29);
  EXPECT_NE(file_error([&] { read_png(as_bytes(huge), "huge"); }), "");
  // a row of less than 8 bits takes a byte
  const std::string thin = gray_png(1, 1 << 23, 1, std::string(20, '\0'));
  EXPECT_NE(file_error([&] { read_png(as_bytes(thin), "thin"); }).find("pixels cannot be in a file of"),
            std::string::npos);
}

double largest_difference(const HostArray& a, const HostArray& b) {
  const auto x = values_of(a), y = values_of(b);
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return x.size() == y.size() ? most : INFINITY;
}

TEST(Jpeg, ReadsAsPillowDoes) {
  for (const auto& [name, channels, tolerance] : std::vector<std::tuple<std::string, int, double>>{
           {"gray", 1, 1}, {"rgb", 3, 2}, {"progressive", 3, 2}, {"cmyk", 3, 2}}) {
    const HostArray image = read_jpeg(data_path("io/" + name + ".jpg"));
    EXPECT_EQ(image.shape, (Shape{24, 35, channels}));
    EXPECT_LE(largest_difference(image, read_npy(data_path("io/" + name + ".jpg.npy"))), tolerance) << name;
  }
  EXPECT_EQ(read_jpeg(data_path("io/rgb.jpg"), {.channels = 1}).shape, (Shape{24, 35, 1}));
  EXPECT_EQ(read_jpeg(data_path("io/gray.jpg"), {.channels = 3}).shape, (Shape{24, 35, 3}));
}

TEST(Jpeg, RefusesDamageAndSizesThatCannotBe) {
  const auto read = [](std::span<const std::byte> b) { read_jpeg(b, "piece"); };
  for (const std::string name : {"gray.jpg", "progressive.jpg"}) {
    const auto bytes = os::read_file(data_path("io/" + name));
    expect_truncations_fail(bytes, read);
    expect_damage_is_survived(bytes, read);
  }
  EXPECT_NE(file_error([] { read_jpeg(data_path("io/rgb.jpg"), {.max_pixels = 100}); }).find("limit of 100"),
            std::string::npos);
  EXPECT_NE(file_error([] { read_jpeg(data_path("io/luma.png")); }).find("not a JPEG"), std::string::npos);
  auto large = os::read_file(data_path("io/gray.jpg"));
  for (std::size_t i = 0; i + 9 < large.size(); ++i) {
    if (large[i] != std::byte{0xff} || large[i + 1] != std::byte{0xc0}) continue;
    for (std::size_t k = 5; k < 9; ++k) large[i + k] = std::byte{0x3f};
    break;
  }
  EXPECT_NE(file_error([&] { read(large); }).find("cannot be in a file"), std::string::npos);
}

TEST(Resize, AsPillowsBilinear) {
  const HostArray image = HostArray::empty(Dtype::uint8, {7, 5, 3});
  for (std::int64_t i = 0; i < image.size(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 37);
  const std::vector<std::pair<std::pair<int, int>, std::vector<int>>> expected = {
      {{3, 2}, {99, 115, 129, 129, 110, 115, 138, 130, 133, 131, 134, 126, 119, 133, 135, 135, 128, 136}},
      {{2, 5}, {68,  105, 142, 161, 156, 128, 88,  71,  108, 145, 164, 159, 131, 91,  74,
                136, 173, 133, 105, 100, 119, 156, 139, 176, 136, 108, 103, 122, 159, 142}},
      {{9, 4},
       {28,  65,  102, 157, 88,  125, 137, 68,  105, 160, 197, 42,  57,  94,  131, 115, 117, 154, 95,  97,  134, 189,
        98,  71,  90,  127, 136, 113, 150, 120, 93,  130, 167, 137, 67,  104, 124, 146, 134, 147, 150, 71,  127, 164,
        167, 64,  101, 123, 157, 130, 167, 180, 67,  104, 160, 197, 84,  97,  134, 107, 141, 163, 200, 97,  100, 137,
        193, 114, 117, 130, 118, 140, 160, 197, 127, 97,  134, 171, 144, 114, 151, 128, 137, 174, 129, 166, 75,  130,
        132, 169, 110, 112, 149, 133, 170, 143, 30,  67,  104, 159, 90,  127, 139, 70,  107, 162, 199, 44}},
  };
  for (const auto& [size, values] : expected) {
    const HostArray resized = resize(image, size.first, size.second);
    ASSERT_EQ(resized.shape, (Shape{size.first, size.second, 3}));
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(resized.as<std::uint8_t>()[i], values[i], 1) << size.first << " " << i;
  }
  const HostArray same = resize(image, 7, 5);
  EXPECT_TRUE(std::equal(same.bytes().begin(), same.bytes().end(), image.bytes().begin()));
  EXPECT_THROW(resize(image, 0, 5), ValueError);
  EXPECT_THROW(resize(HostArray::empty(Dtype::float32, {2, 2, 1}), 1, 1), ValueError);
}

}  // namespace
}  // namespace catenary::io
