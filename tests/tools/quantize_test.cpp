// `catenary quantize`: weights of a file in blocks.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "catenary/array/io.h"
#include "catenary/array/quantized.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/io/gguf.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors.h"
#include "catenary/links/connection.h"
#include "catenary/serializers/serializer.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace io = ct::io;
using tests::Folder;

namespace {

using Strings = std::vector<std::string>;
using tests::has;

ct::os::ProcessResult quantize(Strings arguments) {
  arguments.insert(arguments.begin(), {tests::build_path("bin/catenary"), "quantize"});
  return ct::os::run_process(arguments, {.timeout = 60});
}
std::string no_quantization(const Strings& arguments) {
  const ct::os::ProcessResult result = quantize(arguments);
  EXPECT_EQ(result.exit_code, 1) << result.output << result.errors;
  return result.errors;
}

io::HostArray waves(const ct::Shape& shape, double phase) {
  io::HostArray array = io::HostArray::empty(ct::Dtype::float32, shape);
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.as<float>()[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i) + phase));
  return array;
}

struct Net : ct::Chain {
  ct::links::Linear fc{40, 32}, last{32, 5};
  CT_LINKS(fc, last)
};

TEST(Quantize, FilesOfLinksAreLoadedByThem) {
  const Folder folder;
  const Net net;
  for (const std::string ending : {"npz", "safetensors"}) {
    const std::string plain = folder / ("plain." + ending), small = folder / ("small." + ending);
    if (ending == "npz") {
      ct::serializers::save_npz(plain, net);
    } else {
      ct::serializers::save_safetensors(plain, net);
    }
    for (const char* const kind : {"Q8_0", "q4_k", "int8"}) {
      const auto result = quantize({plain, "-o", small, "--kind", kind, "--keep", "^last"});
      ASSERT_TRUE(result.ok()) << result.errors;
      EXPECT_TRUE(has(result.output, ending == "npz" ? "fc/W (32, 40)" : "fc.W (32, 40)")) << result.output;
      EXPECT_TRUE(has(result.output, "4 tensors")) << result.output;
      Net loaded;
      if (ending == "npz") {
        ct::serializers::load_npz(small, loaded);
      } else {
        ct::serializers::load_safetensors(small, loaded);
      }
      const auto w = loaded.fc.quantized();
      ASSERT_TRUE(w) << kind;
      EXPECT_EQ(w->kind(), ct::quantization_from_name(kind));
      EXPECT_EQ(w->blocks().to_vector<std::uint8_t>(),
                ct::quantize(net.fc.W.array(), w->kind()).blocks().to_vector<std::uint8_t>());
      EXPECT_FALSE(loaded.last.quantized());
    }
  }
}

TEST(Quantize, GgufKeepsItsMetadata) {
  const Folder folder;
  io::write_gguf(folder / "model.gguf",
                 {{"general.architecture", std::string("llama")}, {"llama.block_count", std::uint32_t{2}}},
                 {{"token_embd.weight", waves({6, 64}, 1)},
                  {"output_norm.weight", waves({64}, 2)},
                  {"odd.weight", waves({4, 33}, 3)},
                  {"output.weight", waves({6, 64}, 4)}});
  const auto result =
      quantize({folder / "model.gguf", "-o", folder / "small.gguf", "--kind", "Q4_0", "--keep", "^output"});
  ASSERT_TRUE(result.ok()) << result.errors;
  EXPECT_TRUE(has(result.output, "odd.weight stays: rows of 33 are not a multiple of 32")) << result.output;
  EXPECT_TRUE(has(result.output, "4 tensors, 2536 bytes instead of 3856")) << result.output;
  const io::GgufReader small(folder / "small.gguf");
  EXPECT_EQ(small.text("general.architecture"), "llama");
  EXPECT_EQ(small.integer("llama.block_count"), 2);
  EXPECT_EQ(small.tensor("token_embd.weight").kind, ct::Quantization::q4_0);
  EXPECT_EQ(small.tensor("token_embd.weight").shape, (ct::Shape{6, 64}));
  for (const char* const name : {"output_norm.weight", "odd.weight", "output.weight"})
    EXPECT_EQ(small.tensor(name).dtype, ct::Dtype::float32) << name;
  const auto blocks = ct::quantize(ct::from_host(waves({6, 64}, 1)), ct::Quantization::q4_0).blocks();
  EXPECT_EQ(std::memcmp(small.bytes("token_embd.weight").data(), blocks.raw_data(), blocks.nbytes()), 0);
  // quantised tensors are not changed
  const auto again = quantize({folder / "small.gguf", "-o", folder / "again.gguf", "--kind", "Q8_0"});
  ASSERT_TRUE(again.ok()) << again.errors;
  EXPECT_TRUE(has(again.output, "token_embd.weight stays: already quantised")) << again.output;
  EXPECT_TRUE(has(again.output, "4 tensors, 1408 bytes instead of 2536")) << again.output;
  const io::GgufReader more(folder / "again.gguf");
  EXPECT_EQ(more.tensor("token_embd.weight").kind, ct::Quantization::q4_0);
  EXPECT_EQ(more.tensor("output.weight").kind, ct::Quantization::q8_0);
}

/// The tensors of a small GGUF model with `count` layers.
std::vector<io::GgufTensor> layers_of(int count) {
  std::vector<io::GgufTensor> tensors = {{"token_embd.weight", waves({2, 256}, 1)}};
  for (int i = 0; i < count; ++i)
    for (const char* role : {"attn_q", "attn_v", "ffn_down"})
      tensors.push_back({"blk." + std::to_string(i) + "." + role + ".weight", waves({2, 256}, i)});
  return tensors;
}

/// The layers whose tensor of a role is of this kind.
std::vector<int> with_more_bits(const io::GgufReader& file, const std::string& role, int count,
                                ct::Quantization kind = ct::Quantization::q6_k) {
  std::vector<int> layers;
  for (int i = 0; i < count; ++i)
    if (file.tensor("blk." + std::to_string(i) + "." + role + ".weight").kind == kind) layers.push_back(i);
  return layers;
}

TEST(Quantize, MixturesAreThoseOfLlamaCpp) {
  const Folder folder;
  const std::string plain = folder / "plain.gguf", small = folder / "small.gguf";
  auto tensors = layers_of(16);
  tensors.push_back({"blk.0.attn_qkv.weight", waves({2, 256}, 3)});
  tensors.push_back({"odd.weight", waves({2, 96}, 3)});
  io::write_gguf(plain, {{"general.file_type", std::uint32_t{1}}}, tensors);
  const auto medium = quantize({plain, "-o", small, "--kind", "q4_k_m"});
  ASSERT_TRUE(medium.ok()) << medium.errors;
  EXPECT_TRUE(medium.output.starts_with("Q4_K_M: Q4_K, and Q6_K for the last layer")) << medium.output;
  const std::vector<int> more = {0, 1, 4, 7, 10, 13, 14, 15};  // use_more_bits of 16 layers
  {
    const io::GgufReader file(small);
    EXPECT_EQ(file.integer("general.file_type"), 15);
    EXPECT_EQ(with_more_bits(file, "attn_v", 16), more);
    EXPECT_EQ(with_more_bits(file, "ffn_down", 16), more);
    EXPECT_EQ(with_more_bits(file, "attn_q", 16), std::vector<int>{});
    EXPECT_EQ(file.tensor("blk.3.attn_v.weight").kind, ct::Quantization::q4_k);
    EXPECT_EQ(file.tensor("blk.0.attn_qkv.weight").kind, ct::Quantization::q6_k);
    EXPECT_EQ(file.tensor("token_embd.weight").kind, ct::Quantization::q6_k);  // there is no separate last layer
    EXPECT_EQ(file.tensor("odd.weight").kind, ct::Quantization::q8_0);
  }
  tensors.push_back({"output.weight", waves({2, 256}, 1)});
  io::write_gguf(plain, {}, tensors);
  ASSERT_TRUE(quantize({plain, "-o", small, "--kind", "Q4_K_S"}).ok());
  const io::GgufReader file(small);
  EXPECT_EQ(file.integer("general.file_type"), 14);
  EXPECT_EQ(with_more_bits(file, "attn_v", 16, ct::Quantization::q5_k), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(with_more_bits(file, "ffn_down", 16, ct::Quantization::q5_k), (std::vector<int>{0, 1}));
  EXPECT_EQ(file.tensor("output.weight").kind, ct::Quantization::q6_k);
  EXPECT_EQ(file.tensor("token_embd.weight").kind, ct::Quantization::q4_k);
}

TEST(Quantize, EachMixtureHasItsKinds) {
  using enum ct::Quantization;
  const Folder folder;
  const std::string plain = folder / "plain.gguf", small = folder / "small.gguf";
  auto tensors = layers_of(16);
  tensors.push_back({"blk.9.attn_output.weight", waves({2, 256}, 3)});
  tensors.push_back({"output.weight", waves({2, 256}, 1)});
  io::write_gguf(plain, {}, tensors);
  const std::vector<int> half = {0, 1, 4, 7, 10, 13, 14, 15}, none;
  std::vector<int> all(16);
  std::iota(all.begin(), all.end(), 0);
  struct Case {
    const char* name;
    int file_type;
    ct::Quantization base, kind;  // and the layers whose attn_v and ffn_down are of the kind
    std::vector<int> values, last;
    ct::Quantization attention_output;
  };
  for (const Case& c : {Case{"Q3_K_S", 11, q3_k, q5_k, none, none, q3_k},
                        {"Q3_K_M", 12, q3_k, q5_k, {0, 1}, {0}, q4_k},
                        {"Q3_K_L", 13, q3_k, q5_k, all, all, q5_k},
                        {"Q5_K_S", 16, q5_k, q6_k, none, none, q5_k},
                        {"Q5_K_M", 17, q5_k, q6_k, half, half, q5_k}}) {
    const auto result = quantize({plain, "-o", small, "--kind", c.name});
    ASSERT_TRUE(result.ok()) << c.name << result.errors;
    EXPECT_TRUE(result.output.starts_with(std::string(c.name) + ": ")) << result.output;
    const io::GgufReader file(small);
    EXPECT_EQ(file.integer("general.file_type"), c.file_type) << c.name;
    EXPECT_EQ(with_more_bits(file, "attn_v", 16, c.kind), c.values) << c.name;
    EXPECT_EQ(with_more_bits(file, "ffn_down", 16, c.kind), c.last) << c.name;
    EXPECT_EQ(with_more_bits(file, "attn_q", 16, c.base), all) << c.name;
    EXPECT_EQ(file.tensor("blk.9.attn_output.weight").kind, c.attention_output) << c.name;
    EXPECT_EQ(file.tensor("blk.9.attn_v.weight").kind, c.base == q3_k && c.values.size() == 2 ? q4_k
                                                       : c.values == all                      ? c.kind
                                                                                              : c.base)
        << c.name;
    EXPECT_EQ(file.tensor("output.weight").kind, q6_k) << c.name;
  }
}

TEST(Quantize, EveryKindOfGgufIsWrittenAndRead) {
  const Folder folder;
  const std::string plain = folder / "plain.gguf", small = folder / "small.gguf";
  io::write_gguf(plain, {}, {{"w.weight", waves({3, 256}, 1)}});
  for (const ct::Quantization kind : ct::kAllQuantizations) {
    if (kind == ct::Quantization::int8) continue;
    const auto result = quantize({plain, "-o", small, "--kind", ct::quantization_info(kind).name});
    ASSERT_TRUE(result.ok()) << result.errors;
    const io::GgufReader file(small);
    EXPECT_EQ(file.tensor("w.weight").kind, kind);
    const auto blocks = ct::quantize(ct::from_host(waves({3, 256}, 1)), kind).blocks();
    EXPECT_EQ(std::memcmp(file.bytes("w.weight").data(), blocks.raw_data(), blocks.nbytes()), 0)
        << ct::quantization_info(kind).name;
  }
}

TEST(Quantize, MixturesKnowNamesOfTransformers) {
  const Folder folder;
  io::write_safetensors(folder / "w.safetensors", {{"model.embed_tokens.weight", waves({2, 256}, 1)},
                                                   {"model.layers.0.self_attn.v_proj.weight", waves({2, 256}, 2)},
                                                   {"model.layers.1.self_attn.q_proj.weight", waves({2, 256}, 3)},
                                                   {"lm_head.weight", waves({2, 256}, 4)}});
  const auto result = quantize({folder / "w.safetensors", "-o", folder / "x.safetensors", "--kind", "Q4_K_M"});
  ASSERT_TRUE(result.ok()) << result.errors;
  const auto kind_of = [&](const std::string& name) {
    const std::string line = result.output.substr(0, result.output.find(" " + name + " "));
    return line.substr(line.rfind('\n') + 1);
  };
  EXPECT_TRUE(has(kind_of("lm_head.weight"), "Q6_K")) << result.output;
  EXPECT_TRUE(has(kind_of("model.embed_tokens.weight"), "Q4_K")) << result.output;
  EXPECT_TRUE(has(kind_of("model.layers.0.self_attn.v_proj.weight"), "Q4_K")) << result.output;
  EXPECT_TRUE(has(kind_of("model.layers.1.self_attn.q_proj.weight"), "Q4_K")) << result.output;
}

TEST(Quantize, BlocksStayAndItIsSaid) {
  const Folder folder;
  io::write_safetensors(folder / "w.safetensors", {{"a.W", waves({2, 64}, 1)}, {"b.W", waves({2, 64}, 2)}});
  ASSERT_TRUE(quantize({folder / "w.safetensors", "-o", folder / "x.safetensors", "--keep", "a"}).ok());
  const auto again = quantize({folder / "x.safetensors", "-o", folder / "y.npz", "--kind", "Q4_0"});
  ASSERT_TRUE(again.ok()) << again.errors;
  EXPECT_TRUE(has(again.output, "b.W stays: already quantised")) << again.output;
  EXPECT_TRUE(has(again.output, "2 tensors, 208 bytes instead of 648")) << again.output;
  const io::NpzReader reader(folder / "y.npz");
  EXPECT_EQ(reader.read_array("b/W_kind").as<std::int64_t>()[0], static_cast<std::int64_t>(ct::Quantization::q8_0));
  EXPECT_EQ(reader.read_array("a/W_kind").as<std::int64_t>()[0], static_cast<std::int64_t>(ct::Quantization::q4_0));
}

TEST(Quantize, TensorsThatNoLinkLoadsQuantisedStay) {
  const Folder folder;
  io::write_safetensors(folder / "w.safetensors", {{"rnn.0.w1", waves({2, 64}, 1)}, {"fc.weight", waves({2, 64}, 2)}});
  const auto result = quantize({folder / "w.safetensors", "-o", folder / "x.safetensors"});
  ASSERT_TRUE(result.ok()) << result.errors;
  EXPECT_TRUE(has(result.output, "rnn.0.w1 stays: only tensors named W or weight")) << result.output;
  const io::SafetensorsReader reader(folder / "x.safetensors");
  EXPECT_TRUE(reader.contains("rnn.0.w1"));
  EXPECT_TRUE(reader.contains("fc.weight_blocks"));
}

// In the order of the usage line, into a folder that does not exist yet.
TEST(Quantize, OptionsStandBeforeTheFile) {
  const Folder folder;
  io::write_safetensors(folder / "w.safetensors", {{"a.W", waves({2, 64}, 1)}, {"b.W", waves({2, 64}, 2)}});
  const auto result =
      quantize({"--keep", "a", "--keep", "c", folder / "w.safetensors", "-o", folder / "new/dir/x.npz"});
  ASSERT_TRUE(result.ok()) << result.errors;
  const io::NpzReader reader(folder / "new/dir/x.npz");
  EXPECT_EQ(reader.read_array("a/W").dtype, ct::Dtype::float32);
  EXPECT_EQ(reader.read_array("b/W_blocks").dtype, ct::Dtype::uint8);
}

TEST(Quantize, InvalidArgumentsAreNamed) {
  const Folder folder;
  io::write_safetensors(folder / "w.safetensors", {{"w", waves({2, 40}, 1)}});
  io::write_gguf(folder / "w.gguf", {{"general.architecture", std::string("llama")}}, {{"w", waves({2, 32}, 1)}});
  EXPECT_TRUE(has(no_quantization({folder / "w.safetensors", "-o", folder / "x.safetensors", "--kind", "Q5_0"}),
                  "unknown kind 'Q5_0'; expected one of " + ct::quantization_names() + ", Q3_K_S, "));
  EXPECT_TRUE(has(no_quantization({folder / "w.safetensors", "-o", folder / "x.pth"}),
                  "must end with .npz, .safetensors or .gguf"));
  EXPECT_TRUE(
      has(no_quantization({folder / "w.safetensors", "-o", folder / "x.gguf"}), "GGUF files become GGUF files"));
  EXPECT_TRUE(has(no_quantization({folder / "w.gguf", "-o", folder / "x.gguf", "--kind", "int8"}),
                  "GGUF does not support int8"));
  EXPECT_TRUE(has(no_quantization({folder / "w.safetensors", "-o", folder / "x.safetensors", "--keep", "("}),
                  "not a regular expression"));
  io::HostArray bad = waves({2, 40}, 1);
  bad.as<float>()[50] = NAN;
  io::write_safetensors(folder / "nan.safetensors", {{"W", bad}});
  EXPECT_TRUE(has(no_quantization({folder / "nan.safetensors", "-o", folder / "x.safetensors"}),
                  "row 1 of (2, 40) holds an inf or a NaN"));
  EXPECT_FALSE(ct::os::exists(folder / "x.safetensors"));
  EXPECT_FALSE(ct::os::exists(folder / "x.gguf"));
}

}  // namespace
