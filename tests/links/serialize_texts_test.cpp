// Lists of strings beside weights.

#include <gtest/gtest.h>

#include <algorithm>

#include "catenary/io/npz.h"
#include "catenary/links/connection.h"
#include "catenary/serializers/serializer.h"
#include "tests/folder.h"

namespace ct = catenary;
using Texts = std::vector<std::string>;

namespace {

struct Named {
  ct::links::Linear& link;
  Texts& names;
  void serialize(ct::Serializer& s) {
    link.serialize(s);
    s("names", names);
  }
};

TEST(SerializeTexts, BesideWeights) {
  const tests::Folder folder;
  const std::string file = folder / "a.npz";
  for (const Texts& names : {Texts{}, Texts{""}, Texts{"a", "\"b\"\n", "größer, 大"}}) {
    ct::links::Linear saved(2, 3), loaded(2, 3);
    Texts given = names, read = {"before"};
    ct::serializers::save_npz(file, Named{saved, given});
    ct::serializers::load_npz(file, Named{loaded, read});
    EXPECT_EQ(read, names);
    EXPECT_EQ(loaded.W.array().to_vector<float>(), saved.W.array().to_vector<float>());
  }
}

TEST(SerializeTexts, NothingIsReplacedWhereTheyAreDamaged) {
  const tests::Folder folder;
  const std::string file = folder / "a.npz";
  ct::links::Linear link(2, 3);
  const auto before = link.W.array().to_vector<float>();
  for (const char* text : {"[1]", "{}", "[\"a\"", "x"}) {
    ct::io::NpzWriter writer(file);
    const auto zeros = ct::io::HostArray::empty(ct::Dtype::float32, {3, 2});
    std::fill_n(zeros.as<float>(), 6, 0.f);
    const auto bias = ct::io::HostArray::empty(ct::Dtype::float32, {3});
    std::fill_n(bias.as<float>(), 3, 0.f);
    writer.write("W", zeros);
    writer.write("b", bias);
    writer.write("names", std::string(text));
    writer.finish();
    Texts read = {"before"};
    EXPECT_THROW(ct::serializers::load_npz(file, Named{link, read}), ct::FileError) << text;
    EXPECT_EQ(read, Texts{"before"});
    EXPECT_EQ(link.W.array().to_vector<float>(), before);
  }
  Texts latin = {"caf\xe9"};
  ct::os::remove_file(file);
  EXPECT_THROW(ct::serializers::save_npz(file, Named{link, latin}), ct::ValueError);
  EXPECT_FALSE(ct::os::exists(file));
}

}  // namespace
