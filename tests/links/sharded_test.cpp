// load_safetensors from several files.

#include <gtest/gtest.h>

#include "catenary/catenary.h"
#include "catenary/io/safetensors_index.h"
#include "tests/folder.h"

namespace ct = catenary;
namespace L = ct::links;

namespace {

struct ShardedMLP : ct::Chain {
  L::Linear l1{3, 5}, l2{5, 2};
  CT_LINKS(l1, l2)
  std::vector<std::vector<float>> values() const {
    std::vector<std::vector<float>> all;
    for (const ct::Parameter& p : {l1.W, l1.b, l2.W, l2.b}) all.push_back(p.array().to_vector<float>());
    return all;
  }
};

TEST(ShardedSafetensors, LoadAsOneFileDoes) {
  const tests::Folder folder;
  const ShardedMLP model;
  ct::serializers::save_safetensors(folder / "whole.safetensors", model);
  const ct::io::SafetensorsReader whole(folder / "whole.safetensors");
  std::vector<std::pair<std::string, ct::io::HostArray>> tensors;
  for (const std::string& name : whole.names()) tensors.emplace_back(name, whole.read(name));
  const std::string index = ct::io::write_sharded_safetensors(folder / "parts", tensors, 30);
  EXPECT_GE(ct::io::ShardedSafetensorsReader(index).files().size(), 3u);
  for (const std::string& path : {index, folder / "parts"}) {
    const ShardedMLP other;
    EXPECT_NE(other.values(), model.values());
    ct::serializers::load_safetensors(path, other);
    EXPECT_EQ(other.values(), model.values());
  }
  // missing tensors are reported with the index, and nothing changes
  tensors.pop_back();
  const std::string less = ct::io::write_sharded_safetensors(folder / "less", tensors, 30);
  const ShardedMLP other;
  const auto before = other.values();
  try {
    ct::serializers::load_safetensors(less, other);
    FAIL() << "nothing was missing";
  } catch (const ct::FileError& e) {
    EXPECT_NE(std::string(e.what()).find(less + ": there is no tensor '"), std::string::npos) << e.what();
  }
  EXPECT_EQ(other.values(), before);
}

}  // namespace
