#include "catenary/io/idx.h"

#include <numeric>

#include "helpers.h"
#include "tests/paths.h"

namespace catenary::io {
namespace {

using namespace test;

const std::vector<std::pair<std::string, Dtype>> kTypes = {{"08", Dtype::uint8},   {"09", Dtype::int8},
                                                           {"0b", Dtype::int16},   {"0c", Dtype::int32},
                                                           {"0d", Dtype::float32}, {"0e", Dtype::float64}};

TEST(Idx, ReadsEveryTypePlainAndCompressed) {
  for (const auto& [code, dtype] : kTypes) {
    for (const std::string suffix : {".idx", ".idx.gz"}) {
      const HostArray a = read_idx(data_path("io/" + code + suffix));
      EXPECT_EQ(a.dtype, dtype);
      EXPECT_EQ(a.shape, (Shape{2, 3}));
      EXPECT_EQ(values_of(a), expected_numbers(dtype, 6)) << code << suffix;
    }
  }
  EXPECT_EQ(values_of(read_idx(data_path("io/members.idx.gz"))), (std::vector<double>{1, 2, 3, 4}));
}

TEST(Idx, ReadsMnist) {
  const std::string folder = tests::source_path("data/mnist/");
  const HostArray images = read_idx(folder + "t10k-images-idx3-ubyte.gz");
  const HostArray labels = read_idx(folder + "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(images.shape, (Shape{10000, 28, 28}));
  EXPECT_EQ(labels.shape, Shape{10000});
  const auto* label = labels.as<std::uint8_t>();
  EXPECT_EQ(std::vector<int>(label, label + 10), (std::vector<int>{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}));
  const auto* pixel = images.as<std::uint8_t>();
  const double mean = std::accumulate(pixel, pixel + images.size(), 0.0) / static_cast<double>(images.size());
  EXPECT_NEAR(mean, 33.791, 1e-3);  // known mean of the test images
}

TEST(Idx, FailsOnEveryTruncationAndSurvivesDamage) {
  const auto read = [](std::span<const std::byte> b) { read_idx(b, "piece"); };
  for (const std::string name : {"io/08.idx", "io/0e.idx", "io/0d.idx.gz"}) {
    const auto bytes = os::read_file(data_path(name));
    expect_truncations_fail(bytes, read);
    expect_damage_is_survived(bytes, read);
    std::vector<std::byte> longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_NE(file_error([&] { read(longer); }), "") << name;
  }
}

TEST(Idx, RefusesHostileHeaders) {
  for (const std::vector<unsigned char>& head : std::vector<std::vector<unsigned char>>{
           {0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255},
           {0, 0, 14, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
           {0, 0, 8, 255},
           {0, 0, 10, 1, 0, 0, 0, 1, 1},
           {1, 0, 8, 1, 0, 0, 0, 1, 1},
           {0, 0, 8, 1, 0, 0, 0, 2, 1},
       }) {
    const std::string message = file_error([&] { read_idx(std::as_bytes(std::span(head)), "hostile"); });
    EXPECT_EQ(message.find("hostile: at byte "), 0u) << message;
  }
  std::vector<unsigned char> many = {0, 0, 8, 17};
  many.resize(4 + 4 * 17);
  EXPECT_NE(file_error([&] { read_idx(std::as_bytes(std::span(many)), "many"); }).find("dimensions"),
            std::string::npos);
}

}  // namespace
}  // namespace catenary::io
