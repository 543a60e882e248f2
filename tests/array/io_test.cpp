#include "catenary/array/io.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "catenary/array/creation.h"
#include "catenary/array/manipulation.h"
#include "tests/array/facts.h"
#include "tests/folder.h"

namespace ct = catenary;
using ct::Dtype;

namespace {

class ArrayFiles : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_ / name; }

  const tests::Folder folder_;
};

}  // namespace

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
