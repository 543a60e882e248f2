#include "catenary/io/safetensors_index.h"

#include <filesystem>
#include <random>

#include "catenary/io/identify.h"
#include "counted_memory.h"
#include "helpers.h"
#include "tests/texts.h"

namespace catenary::io {
namespace {

using namespace test;
using Tensors = std::vector<std::pair<std::string, HostArray>>;
using tests::has;

HostArray numbers(const Shape& shape, Dtype dtype = Dtype::float32) {
  HostArray a = HostArray::empty(dtype, shape);
  visit_dtype(dtype, [&](auto zero) {
    for (std::int64_t i = 0; i < a.size(); ++i)
      a.as<decltype(zero)>()[i] = static_cast<decltype(zero)>(static_cast<float>(i % 50));
  });
  return a;
}

std::string index_of(const std::vector<std::pair<std::string, std::string>>& map) {
  std::string text = "{\"metadata\": {\"total_size\": 8}, \"weight_map\": {";
  for (std::size_t i = 0; i < map.size(); ++i)
    text += (i ? ", \"" : "\"") + map[i].first + "\": \"" + map[i].second + "\"";
  return text + "}}";
}

std::string index_error(const std::string& text) {
  return file_error([&] { read_safetensors_index(as_bytes(text), "index"); });
}

TEST(SafetensorsIndex, ReadsOfWhatThePackageWrote) {
  // two files written by the package, with an index written by transformers
  const ShardedSafetensorsReader file(data_path("io/sharded/model.safetensors.index.json"));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"embed.weight", "layer.bias", "layer.weight"}));
  EXPECT_EQ(values_of(file.read("embed.weight")), expected_numbers(Dtype::float32, 6));
  EXPECT_EQ(file.read("layer.bias").dtype, Dtype::bfloat16);
  EXPECT_EQ(values_of(file.read("layer.bias")), expected_numbers(Dtype::bfloat16, 4));
  EXPECT_EQ(values_of(file.read("layer.weight")), expected_numbers(Dtype::float16, 3));
  EXPECT_EQ(file.metadata_of("layer.bias"), (std::map<std::string, std::string>{{"format", "pt"}}));
  EXPECT_TRUE(has(file.file_of("layer.bias"), "/model-00002-of-00002.safetensors"));
  EXPECT_EQ(file.files().size(), 2u);
}

TEST(SafetensorsIndex, RoundTripInShards) {
  const TemporaryFolder folder;
  Tensors tensors;
  for (int d = 0; d < kRealDtypes; ++d)
    tensors.emplace_back(std::string("t.") + dtype_name(static_cast<Dtype>(d)), numbers({3, 5}, static_cast<Dtype>(d)));
  tensors.emplace_back("none", numbers({2, 0}));
  tensors.emplace_back("large", numbers({100}));
  tensors.emplace_back("last", numbers({}));
  for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{130}, UINT64_MAX}) {
    const std::string where = folder / ("by" + std::to_string(most));
    const std::string path = write_sharded_safetensors(where, tensors, most, {{"format", "pt"}});
    EXPECT_EQ(path, where + "/model.safetensors.index.json");
    EXPECT_EQ(identify(path), FileKind::safetensors_index);
    for (const std::string& given : {path, where, where + "/"}) {
      const ShardedSafetensorsReader file(given);
      ASSERT_EQ(file.names().size(), tensors.size());
      for (const auto& [name, a] : tensors) {
        const HostArray b = file.read(name);
        EXPECT_EQ(b.dtype, a.dtype);
        EXPECT_EQ(b.shape, a.shape);
        EXPECT_EQ(values_of(b), values_of(a)) << name;
        EXPECT_EQ(file.metadata_of(name).at("format"), "pt");
      }
      for (const std::string& shard : file.files()) {
        const SafetensorsReader one(shard);
        std::uint64_t bytes = 0;
        for (const std::string& name : one.names()) bytes += one.bytes(name).size();
        EXPECT_TRUE(bytes <= most || one.names().size() == 1) << shard << " has " << bytes;
      }
      if (most == UINT64_MAX) {
        EXPECT_EQ(file.files().size(), 1u);
      } else if (most == 0) {
        EXPECT_EQ(file.files().size(), tensors.size());
      }
    }
  }
  // a shard may be full to the last byte
  const Tensors halves = {{"a", numbers({16})}, {"b", numbers({16})}, {"c", numbers({16})}};
  const ShardedSafetensorsReader full(
      write_sharded_safetensors(folder / "full", halves, 2 * halves[0].second.nbytes()));
  ASSERT_EQ(full.files().size(), 2u);
  EXPECT_EQ(full.file_of("a"), full.file_of("b"));
  EXPECT_THROW(write_sharded_safetensors(folder / "x", {{"a", numbers({1})}, {"a", numbers({1})}}, 0), ValueError);
  const ShardedSafetensorsReader none(write_sharded_safetensors(folder / "empty", {}, 9));
  EXPECT_TRUE(none.names().empty());
}

TEST(SafetensorsIndex, AFileByItself) {
  const TemporaryFolder folder;
  write_safetensors(folder / "model.safetensors", {{"a", numbers({2, 3})}});
  for (const std::string& path : {folder / "model.safetensors", folder.path}) {
    const ShardedSafetensorsReader file(path);
    EXPECT_EQ(file.names(), (std::vector<std::string>{"a"}));
    EXPECT_EQ(file.files(), (std::vector<std::string>{folder / "model.safetensors"}));
    EXPECT_TRUE(file.contains("a") && !file.contains("b"));
    EXPECT_EQ(file.bytes("a").size(), 24u);
    EXPECT_TRUE(has(file_error([&] { file.read("b"); }), "no tensor 'b'"));
  }
  folder.write("model.safetensors.index.json", index_of({{"a", "model.safetensors"}}));
  EXPECT_TRUE(has(file_error([&] { ShardedSafetensorsReader{folder.path}; }), "has both model.safetensors.index.json"));
  EXPECT_EQ(ShardedSafetensorsReader(folder / "model.safetensors.index.json").names().size(), 1u);
  const TemporaryFolder nothing;
  EXPECT_TRUE(has(file_error([&] { ShardedSafetensorsReader{nothing.path}; }), "neither model.safetensors.index.json"));
  EXPECT_TRUE(has(file_error([&] { ShardedSafetensorsReader{nothing / "x"}; }), "x: cannot open"));
}

/// A safetensors file that begins with the byte of an index: its header has '{' bytes.
TEST(SafetensorsIndex, ALengthThatLooksLikeAnObject) {
  const TemporaryFolder folder;
  for (std::size_t length = 1; length < 200; ++length) {
    write_safetensors(folder / "f", {{std::string(length, 'a'), numbers({1})}});
    EXPECT_EQ(ShardedSafetensorsReader(folder / "f").names()[0].size(), length);
  }
}

TEST(SafetensorsIndex, RefusesHostileIndices) {
  EXPECT_EQ(index_error("{\"weight_map\":{}}"), "");
  EXPECT_EQ(index_error("{\"metadata\":{\"x\":[1,{\"weight_map\":3}]},\"weight_map\":{\"a\":\"b/c\"},\"y\":[[],null]}"),
            "");
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"{", "not JSON"},
           {"", "not JSON"},
           {"[]", "a list, not an object"},
           {"3", "a number, not an object"},
           {"{}", "no weight_map"},
           {"{}{}", "not JSON"},
           {std::string("{\"weight_map\":{}}\0anything", 26), "not JSON"},
           {std::string("{\"weight_map\":{\0}}", 18), "not JSON"},
           {"{\"weight_map\":[]}", "weight_map is a list"},
           {"{\"weight_map\":\"a\"}", "weight_map is a text"},
           {"{\"weight_map\":{\"a\":1}}", "weight_map has a number for tensor 'a'"},
           {"{\"weight_map\":{\"a\":{}}}", "weight_map has an object for tensor 'a'"},
           {"{\"weight_map\":{\"a\":[\"b\"]}}", "weight_map has a list for tensor 'a'"},
           {"{\"weight_map\":{\"a\":null}}", "weight_map has null for tensor 'a'"},
           {"{\"weight_map\":{\"a\":\"b\",\"a\":\"b\"}}", "tensor 'a' is named twice"},
           {"{\"weight_map\":{},\"weight_map\":{}}", "weight_map is there twice"},
           {"{\"weight_map\":{\"a\":\"\"}}", "does not lie in the index's folder"},
           {"{\"weight_map\":{\"a\":\"../b\"}}", "does not lie in the index's folder"},
           {"{\"weight_map\":{\"a\":\"..\"}}", "does not lie in the index's folder"},
           {"{\"weight_map\":{\"a\":\"b/../../c\"}}", "does not lie in the index's folder"},
           {"{\"weight_map\":{\"a\":\"/etc/passwd\"}}", "does not lie in the index's folder"},
           {"{\"weight_map\":{\"a\":\"./b\"}}", "does not lie in the index's folder"},
           {"{\"weight_map\":{\"a\":\"b/\"}}", "does not lie in the index's folder"},
           {"{\"weight_map\":{\"a\":\"b\\u0000c\"}}", "does not lie in the index's folder"},
           {"{\"weight_map\":{\"\xff\":\"b\"}}", "not JSON"},
           {"{\"metadata\":" + std::string(100000, '['), "not JSON"},
       }) {
    const std::string found = index_error(text);
    EXPECT_EQ(found.find("index: at byte "), 0u) << text.substr(0, 60) << ": " << found;
    EXPECT_TRUE(has(found, message)) << text.substr(0, 60) << ": " << found;
  }
  const TemporaryFolder folder;
  folder.write("large", "");
  std::filesystem::resize_file(folder / "large", 100'000'001);  // uses no disk blocks
  const os::FileView large(folder / "large");
  EXPECT_TRUE(has(file_error([&] { read_safetensors_index(large.bytes(), "index"); }), "an index of 100000001 bytes"));
  EXPECT_TRUE(has(index_error("{\"weight_map\":{\"ab\":\"b\",  \"c\":1}}"), "at byte 26:"));
}

TEST(SafetensorsIndex, MissingTensorsAreRefused) {
  const TemporaryFolder folder;
  write_safetensors(folder / "one", {{"a", numbers({1})}, {"b", numbers({2})}});
  write_safetensors(folder / "two", {{"c", numbers({3})}});
  write_safetensors(folder / "again", {{"c", numbers({3})}, {"d", numbers({4})}});
  const auto error = [&](const std::vector<std::pair<std::string, std::string>>& map) {
    folder.write("i.json", index_of(map));
    return file_error([&] { ShardedSafetensorsReader(folder / "i.json"); });
  };
  EXPECT_EQ(error({{"a", "one"}, {"c", "two"}, {"b", "one"}}), "");
  EXPECT_TRUE(has(error({{"a", "one"}}), "'" + folder.path + "/one' has a tensor 'b', which the index does not name"));
  EXPECT_TRUE(has(error({{"a", "one"}, {"b", "one"}, {"x", "one"}}), "tensor 'x' is not in 'one'"));
  EXPECT_TRUE(has(error({{"a", "one"}, {"b", "two"}, {"c", "two"}}), "tensor 'b' is in '" + folder.path + "/one'"));
  EXPECT_TRUE(has(error({{"c", "two"}, {"d", "again"}}), "tensor 'c' is in '" + folder.path + "/again'"));
  EXPECT_TRUE(
      has(error({{"a", "one"}, {"b", "one"}, {"c", "three"}}), "/three', which it names for tensor 'c', is missing"));
  folder.write("two", "damaged");
  EXPECT_TRUE(has(error({{"a", "one"}, {"b", "one"}, {"c", "two"}}), "/two: at byte 0: not a safetensors file"));
}

/// Truncated files, flipped bits, inserted and removed bytes, by seed.
TEST(SafetensorsIndex, TwoHundredDamagedFiles) {
  const TemporaryFolder folder;
  Tensors tensors;
  for (int i = 0; i < 20; ++i) tensors.emplace_back("model.layers." + std::to_string(i) + ".weight", numbers({i, 3}));
  const std::string path = write_sharded_safetensors(folder.path, tensors, 300, {{"format", "pt"}});
  const auto index = os::read_file(path);
  std::vector<std::string> files = ShardedSafetensorsReader(path).files();
  files.push_back(path);
  std::int64_t size = 0;
  for (const std::string& file : files) size += static_cast<std::int64_t>(os::file_size(file));
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    // alternates between the index and its files
    const std::string& file = seed % 2 ? path : files[random() % files.size()];
    const auto whole = os::read_file(file);
    std::vector<std::byte> damaged = whole;
    switch (seed / 2 % 4) {
      case 0:
        damaged.resize(random() % whole.size());
        break;
      case 1:
        for (int i = 0; i < 4; ++i) damaged[random() % whole.size()] ^= static_cast<std::byte>(1 << (random() % 8));
        break;
      case 2:
        damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(random() % whole.size()), random() % 16 + 1,
                       static_cast<std::byte>(random()));
        break;
      default: {  // makes a length huge, if there is one
        const std::size_t at = random() % 16;
        for (std::size_t i = at; i < std::min(at + 8, damaged.size()); ++i) damaged[i] = std::byte{0xff};
      }
    }
    os::write_file(file, damaged);
    const CountedMemory memory;
    const std::string error = file_error([&] {
      const ShardedSafetensorsReader reader(path);
      for (const std::string& name : reader.names())
        if (reader.tensor(name).dtype) reader.read(name);
    });
    EXPECT_LT(memory.peak(), 32 * size + (1 << 16)) << seed;
    if (!error.empty()) {
      ++refused;
      EXPECT_TRUE(has(error, folder.path)) << error;
    }
    os::write_file(file, whole);
  }
  EXPECT_GT(refused, 150);
  EXPECT_EQ(ShardedSafetensorsReader(path).names().size(), 20u);
}

}  // namespace
}  // namespace catenary::io
