#include "catenary/array/io.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "tests/array/facts.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace ct = catenary;
using ct::Dtype;

class ArrayFiles : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_ / name; }

  const tests::Folder folder_;
};

TEST_F(ArrayFiles, Npy) {
  ct::save(path("a"), ct::flip(ct::arange(6).reshape({2, 3})).T());
  expect(ct::load(path("a")), Dtype::int64, {3, 2}, {5, 2, 4, 1, 3, 0});
  ct::save(path("b"), ct::zeros({0, 2}, Dtype::float16));
  expect(ct::load(path("b")), Dtype::float16, {0, 2}, {});
  ct::save(path("c"), ct::array(1.5) * 2);
  expect(ct::load(path("c")), Dtype::float64, {}, {3});
  EXPECT_THROW(ct::save(path("d"), ct::ones({2}, Dtype::bfloat16)), ct::DtypeError);
  EXPECT_FALSE(std::filesystem::exists(path("d")));
  ct::save(path("d"), ct::ones({2}, Dtype::bfloat16), {.bfloat16_as_void = true});
  expect(ct::load(path("d"), {.bfloat16_as_void = true}), Dtype::bfloat16, {2}, {1, 1});
  EXPECT_THROW(ct::load(path("none")), ct::FileError);
}

TEST_F(ArrayFiles, Npz) {
  for (bool compressed : {false, true}) {
    ct::savez(path("a.npz"), {{"z", ct::array({1.f, 2.f})}, {"model/b", ct::array({{true}, {false}})}},
              {.compressed = compressed});
    const ct::NamedArrays arrays = ct::load_npz(path("a.npz"));
    ASSERT_EQ(arrays.size(), 2u);
    EXPECT_EQ(arrays[0].first, "z");
    EXPECT_EQ(arrays[1].first, "model/b");
    expect(arrays[0].second, Dtype::float32, {2}, {1, 2});
    expect(arrays[1].second, Dtype::bool_, {2, 1}, {1, 0});
  }
  ct::save(path("b"), ct::zeros({2}));
  EXPECT_THROW(ct::load_npz(path("b")), ct::FileError);
}

TEST_F(ArrayFiles, Safetensors) {
  ct::save_safetensors(path("a"), {{"w", ct::ones({2, 2}, Dtype::bfloat16)}, {"b", ct::arange(3).T()}},
                       {{"format", "pt"}});
  const ct::NamedArrays arrays = ct::load_safetensors(path("a"));
  ASSERT_EQ(arrays.size(), 2u);
  for (const auto& [name, a] : arrays) {
    if (name == "w") {
      expect(a, Dtype::bfloat16, {2, 2}, {1, 1, 1, 1});
    } else {
      expect(a, Dtype::int64, {3}, {0, 1, 2});
    }
  }
}

TEST_F(ArrayFiles, SafetensorsInSeveralFiles) {
  const std::string folder = tests::source_path("tests/data/io/sharded");
  for (const std::string& given : {folder, folder + "/model.safetensors.index.json"}) {
    const ct::NamedArrays arrays = ct::load_safetensors(given);
    ASSERT_EQ(arrays.size(), 3u);
    EXPECT_EQ(arrays[1].first, "layer.bias");
    expect(arrays[1].second, Dtype::bfloat16, {4}, {-2, -1, 0, 1});
    expect(arrays[2].second, Dtype::float16, {3}, {-2, -1, 0});
  }
}

// Texts and shapes of numpy.savetxt and numpy.loadtxt.
TEST_F(ArrayFiles, Text) {
  const auto written = [&](const ct::Array& a, const ct::io::SavetxtOptions& options) {
    ct::savetxt(path("t"), a, options);
    std::ifstream file(path("t"));
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto read = [&](const std::string& text, const ct::LoadtxtOptions& options = {}) {
    std::ofstream(path("t")) << text;
    return ct::loadtxt(path("t"), options);
  };
  EXPECT_EQ(written(ct::array({{1.5, -2.0}, {3.0, 4e-10}}),
                    {.fmt = "%.3e", .delimiter = ", ", .header = "a\nb", .footer = "end"}),
            "# a\n# b\n1.500e+00, -2.000e+00\n3.000e+00, 4.000e-10\n# end\n");
  EXPECT_EQ(written(ct::arange(3), {}),
            "0.000000000000000000e+00\n1.000000000000000000e+00\n2.000000000000000000e+00\n");
  EXPECT_EQ(written(ct::array({{1.0, 2.5}, {3.0, 4.0}}).T(), {.fmt = "%d: %6.2f;"}), "1:   3.00;\n2:   4.00;\n");
  EXPECT_EQ(written(ct::arange(2), {.fmt = "%03d%%"}), "000%\n001%\n");
  EXPECT_EQ(written(ct::zeros({0, 2}), {.header = "none"}), "# none\n");
  EXPECT_THROW(written(ct::zeros({2, 2}), {.fmt = "%d %d %d"}), ct::ValueError);
  EXPECT_THROW(written(ct::zeros({2, 2}), {.fmt = "%s"}), ct::ValueError);
  EXPECT_THROW(written(ct::zeros({2, 2}), {.fmt = "%*d"}), ct::ValueError);
  EXPECT_THROW(written(ct::zeros({2, 2}), {.fmt = "x"}), ct::ValueError);
  EXPECT_THROW(written(ct::zeros({2, 2, 2}), {}), ct::ShapeError);

  expect(read("1 2\n3 4\n"), Dtype::float64, {2, 2}, {1, 2, 3, 4});
  expect(read(" 1\t+2e1 -.5"), Dtype::float64, {3}, {1, 20, -0.5});
  expect(read("1\r\n2\r\n"), Dtype::float64, {2}, {1, 2});
  expect(read("7\n"), Dtype::float64, {}, {7});
  expect(read("7\n", {.ndmin = 1}), Dtype::float64, {1}, {7});
  expect(read("7 8\n", {.ndmin = 2}), Dtype::float64, {1, 2}, {7, 8});
  expect(read(""), Dtype::float64, {0}, {});
  expect(read("x\n1, 2,3 # c\n\n# no\n4,5,9\n", {.delimiter = ",", .skiprows = 1, .usecols = {2, -3}}), Dtype::float64,
         {2, 2}, {3, 1, 9, 4});
  expect(read("1 2\n3 4\n5 6\n", {.dtype = Dtype::int8, .unpack = true, .max_rows = 2}), Dtype::int8, {2, 2},
         {1, 3, 2, 4});
  EXPECT_EQ(read("9007199254740993", {.dtype = Dtype::int64}).item<std::int64_t>(), 9007199254740993);
  EXPECT_TRUE(std::isnan(read("nan inf")(0).item<double>()));
  for (const char* text : {"1 2\n3\n", "1 x\n", "1,2\n", "0x10\n", "+-1\n"}) EXPECT_THROW(read(text), ct::FileError);
  EXPECT_THROW(read("1,,2", {.delimiter = ","}), ct::FileError);
  EXPECT_THROW(read("1.5", {.dtype = Dtype::int32}), ct::FileError);
  EXPECT_THROW(read("1 2", {.usecols = {2}}), ct::FileError);
  EXPECT_THROW(read("1", {.ndmin = 3}), ct::ValueError);
  EXPECT_THROW(ct::loadtxt(path("none")), ct::FileError);

  const ct::Array x = ct::sin(ct::arange(12).astype(Dtype::float64)).reshape({3, 4});
  ct::savetxt(path("t"), x);
  expect(ct::loadtxt(path("t")), Dtype::float64, {3, 4}, x.to_vector<double>());
}
