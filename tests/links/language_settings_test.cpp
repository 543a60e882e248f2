// config.json and its neighbours from untrusted sources: errors are messages, and memory is limited by the file's size.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <limits>
#include <random>

#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/gguf.h"
#include "catenary/io/safetensors.h"
#include "catenary/links/models/generator.h"
#include "tests/folder.h"
#include "tests/io/counted_memory.h"
#include "tests/language_models.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace L = links;
using io::test::CountedMemory;
using tests::error_of;
using tests::Folder;
using tests::has;
using tests::language_model;
using tests::text_of;

/// Replaces the value of a key, a number or a word.
std::string with_value(std::string text, const std::string& key, const std::string& value) {
  const std::size_t at = text.find("\"" + key + "\": ");
  if (at == std::string::npos) throw ValueError("the text has no " + key);
  const std::size_t begin = at + key.size() + 4, end = text.find_first_of(",\n", begin);
  return text.replace(begin, end - begin, value);
}

void copy_model(const std::string& name, const Folder& folder) {
  std::filesystem::copy(language_model(name), folder.path,
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

constexpr std::array kKindsOfModels = {"llama", "mistral", "qwen2", "gpt2", "glm", "glm4", "chatglm"};

/// Changes, removes and repeats bytes, and inserts numbers out of range, words and lists.
std::string damaged(std::string text, std::mt19937& random) {
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  static const std::vector<std::string> values = {"0",
                                                  "-1",
                                                  "1073741824",
                                                  "1073741823",
                                                  "9223372036854775807",
                                                  "18446744073709551616",
                                                  "1e30",
                                                  "0.5",
                                                  "\"12\"",
                                                  "null",
                                                  "[3, [4]]",
                                                  "{\"rope_type\": \"linear\"}",
                                                  "true",
                                                  "7",
                                                  "10000",
                                                  "{\"factor\": 1e9}"};
  for (std::size_t n = 1 + any(3); n > 0; --n) {
    const std::size_t at = any(text.size());
    switch (any(6)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + any(40));
        break;
      case 2:
        text.insert(at, text.substr(any(text.size()), 1 + any(40)));
        break;
      default:  // a value
        if (const std::size_t begin = text.find("\": ", at); begin != std::string::npos)
          text.replace(begin + 3, text.find_first_of(",\n", begin) - begin - 3, values[any(values.size())]);
    }
    if (text.empty()) text = "{";
  }
  return text;
}

TEST(LanguageSettings, TwoHundredDamagedFiles) {
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const Folder folder;
    const std::string name = kKindsOfModels[seed % kKindsOfModels.size()];
    copy_model(name, folder);
    const std::string text = damaged(text_of(folder / "config.json"), random);
    folder.write("config.json", text);
    std::uintmax_t size = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path)) size += file.file_size();
    const CountedMemory memory;
    const std::string error = error_of<FileError>([&] { L::load_language_model(folder.path, {.device = Device()}); });
    EXPECT_LT(memory.peak(), static_cast<std::int64_t>(16 * size)) << seed << ": " << text;
    if (error.empty()) continue;
    ++refused;
    EXPECT_EQ(error.find(folder.path), 0u) << error;
  }
  EXPECT_GT(refused, 120);
}

TEST(LanguageSettings, AZeroByteDoesNotEndThem) {
  const Folder folder;
  copy_model("llama", folder);
  const std::string config = text_of(folder / "config.json");
  const auto refused = [&] { return error_of<FileError>([&] { L::load_language_model(folder.path); }); };
  folder.write("config.json", config + '\0' + "anything");
  EXPECT_TRUE(has(refused(), "config.json: at byte")) << refused();
  folder.write("config.json", config);
  folder.write("generation_config.json", std::string("{}\0", 3));
  EXPECT_TRUE(has(refused(), "generation_config.json: at byte 3")) << refused();
}

/// The message about an added setting: the error, or the output on standard error.
std::string said_of(const std::string& path) {
  testing::internal::CaptureStderr();
  const std::string error = error_of<FileError>([&] { L::load_language_model(path); });
  return testing::internal::GetCapturedStderr() + error;
}

/// Typical names of settings for positions and attention, including invented ones.
const std::vector<std::pair<std::string, bool>> kStrangeSettings = {{"rope_ratio", true},
                                                                    {"rope_pct", true},
                                                                    {"use_mrope", true},
                                                                    {"rope_interleaved", true},
                                                                    {"rotary_dim", true},
                                                                    {"rotary_emb_base", true},
                                                                    {"alibi", true},
                                                                    {"attention_multiplier", true},
                                                                    {"attn_logit_softcapping", true},
                                                                    {"query_pre_attn_scalar", true},
                                                                    {"attention_window", true},
                                                                    {"local_attention", true},
                                                                    {"no_rope_layers", true},
                                                                    {"qk_layernorm", true},
                                                                    {"logit_scale", true},
                                                                    {"embedding_multiplier", true},
                                                                    {"residual_scale", true},
                                                                    {"num_experts", true},
                                                                    {"moe_intermediate_size", true},
                                                                    {"quantization_config", true},
                                                                    {"position_offset", true},
                                                                    {"final_logit_softcapping", true},
                                                                    {"colour_of_the_sky", false},
                                                                    {"nextn_predict_layers", false}};

// A rule rather than a list of names: unread settings are refused or reported by name.
TEST(LanguageSettings, EachThatIsNotUsedIsNamed) {
  for (const char* model : {"llama", "mistral", "qwen2", "gpt2", "glm", "glm4", "chatglm"}) {
    const Folder folder;
    copy_model(model, folder);
    const std::string config = text_of(folder / "config.json");
    EXPECT_EQ(said_of(folder.path), "") << model;
    for (const auto& [name, matters] : kStrangeSettings)
      for (const char* value : {"3", "true", "\"yes\"", "[1, 2]", "{\"a\": 1}", "false", "null"}) {
        folder.write("config.json", "{\"" + name + "\": " + value + ", " + config.substr(config.find('{') + 1));
        const std::string said = said_of(folder.path), text = value;
        EXPECT_EQ(has(said, "'" + name + "'"), text != "null") << model << " " << name << ": " << said;
        EXPECT_EQ(has(said, "may change the scores"), matters && text != "false" && text != "null")
            << model << " " << name << ": " << said;
      }
    const std::string inside = "\"rope_parameters\": {";
    if (!has(config, inside)) continue;
    for (const char* name : {"mscale", "attention_factor", "beta_fast", "mrope_section", "anything"}) {
      const std::size_t at = config.find(inside) + inside.size();
      folder.write("config.json", std::string(config).insert(at, "\"" + std::string(name) + "\": 2, "));
      EXPECT_TRUE(has(said_of(folder.path), "'rope_parameters." + std::string(name) + "'")) << model << " " << name;
    }
  }
}

TEST(LanguageSettings, EachOfGgufThatIsNotUsedIsNamed) {
  for (const std::string model : {"llama", "qwen2", "gpt2", "glm", "glm4"}) {
    const io::GgufReader reader(language_model(model) + ".gguf");
    const std::string architecture(reader.text("general.architecture"));
    const Folder folder;
    const auto said = [&](const std::string& key, const io::GgufValue& value) {
      io::GgufMetadata metadata;
      for (const std::string_view one : reader.keys()) metadata.emplace_back(std::string(one), reader.value(one));
      if (!key.empty()) metadata.emplace_back(architecture + "." + key, value);
      std::vector<io::GgufTensor> tensors;
      for (const std::string& tensor : reader.names()) tensors.push_back({tensor, reader.read(tensor)});
      io::write_gguf(folder / "model.gguf", metadata, tensors);
      return said_of(folder / "model.gguf");
    };
    EXPECT_EQ(said("", false), "") << model;
    for (const char* key :
         {"rope.scaling.yarn_log_multiplier", "rope.scaling.original_context_length", "rope.dimension_sections",
          "attention.scale", "attention.max_alibi_bias", "attention.clamp_kqv", "attention.sliding_window_pattern",
          "attn_logit_softcapping", "final_logit_softcapping", "logit_scale", "expert_shared_count", "anything.at.all"})
      for (const io::GgufValue& value : {io::GgufValue(3u), io::GgufValue(0.5f), io::GgufValue(std::string("yes"))})
        EXPECT_TRUE(has(said(key, value), "'" + std::string(key) + "'")) << model << " " << key << said(key, value);
  }
}

TEST(LanguageSettings, EachThatOccursTwiceIsNamed) {
  for (const char* model : {"llama", "gpt2", "chatglm"}) {
    const Folder folder;
    copy_model(model, folder);
    const std::string config = text_of(folder / "config.json");
    for (const char* key : {"vocab_size", "model_type", "architectures"}) {
      folder.write("config.json", "{\"" + std::string(key) + "\": 3, " + config.substr(config.find('{') + 1));
      EXPECT_EQ(said_of(folder.path), "catenary: " + (folder / "config.json") + ": '" + key +
                                          "' occurs more than once; the last value is used\n")
          << model;
    }
  }
  const Folder folder;
  copy_model("llama", folder);
  const std::string config = text_of(folder / "config.json"), inside = "\"rope_parameters\": {";
  ASSERT_TRUE(has(config, inside));
  folder.write("config.json", std::string(config).insert(config.find(inside) + inside.size(), "\"rope_theta\": 7.0, "));
  EXPECT_TRUE(has(said_of(folder.path), "'rope_theta' occurs more than once")) << said_of(folder.path);
}

TEST(LanguageSettings, ThoseThatTheTensorsContradictAreNamed) {
  const Folder folder;
  copy_model("llama_tied", folder);
  const std::string path = folder / "model.safetensors";
  std::vector<std::pair<std::string, io::HostArray>> tensors;
  {
    const io::SafetensorsReader reader(path);
    for (const std::string& name : reader.names()) tensors.emplace_back(name, reader.read(name));
    tensors.emplace_back("lm_head.weight", reader.read("model.embed_tokens.weight"));
  }
  io::write_safetensors(path, tensors);
  EXPECT_EQ(said_of(folder.path), "");
  tensors.back().second.data.get()[1] ^= std::byte{1};
  io::write_safetensors(path, tensors);
  EXPECT_TRUE(has(said_of(folder.path), "config.json: 'tie_word_embeddings' is not used")) << said_of(folder.path);

  const Folder gpt2;
  copy_model("gpt2", gpt2);
  const std::string config = text_of(gpt2 / "config.json");
  gpt2.write("config.json", "{\"n_ctx\": 9, " + config.substr(config.find('{') + 1));
  EXPECT_TRUE(has(said_of(gpt2.path), "config.json: 'n_ctx' is not used")) << said_of(gpt2.path);
}

TEST(LanguageSettings, OfGgufMayBeArraysOfEqualNumbers) {
  const io::GgufReader reader(language_model("llama") + ".gguf");
  const Folder folder;
  const auto said = [&](const std::string& key, const io::GgufValue& value) {
    io::GgufMetadata metadata;
    for (const std::string_view one : reader.keys())
      if (one != key) metadata.emplace_back(std::string(one), reader.value(one));
    metadata.emplace_back(key, value);
    std::vector<io::GgufTensor> tensors;
    for (const std::string& tensor : reader.names()) tensors.push_back({tensor, reader.read(tensor)});
    io::write_gguf(folder / "model.gguf", metadata, tensors);
    return said_of(folder / "model.gguf");
  };
  const auto heads = static_cast<std::int32_t>(reader.integer("llama.attention.head_count"));
  EXPECT_EQ(said("llama.attention.head_count", std::vector<std::int32_t>{heads, heads}), "");
  EXPECT_TRUE(has(said("llama.attention.head_count", std::vector<std::int32_t>{heads, 2 * heads}),
                  "'llama.attention.head_count' must be equal in all layers, not 4 to 8"));
  EXPECT_TRUE(has(said("llama.attention.head_count", std::vector<std::int32_t>{}), "'llama.attention.head_count'"));
  EXPECT_TRUE(has(said("llama.vocab_size", 7u), "'llama.vocab_size' is not used, as the shape of token_embd.weight"));
  EXPECT_TRUE(has(said("llama.rope.scaling.factor", -2.0f), "'llama.rope.scaling.factor' must not be negative"));
  EXPECT_TRUE(has(said("llama.attention.layer_norm_rms_epsilon", -1.0f), "must not be negative"));
  EXPECT_EQ(said("llama.rope.scaling.finetuned", true), "");  // llama.cpp reads it and does nothing with it
  for (const char* key :
       {"llama.rope.scaling.factor", "llama.rope.freq_base", "llama.attention.layer_norm_rms_epsilon"})
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
      EXPECT_TRUE(has(said(key, value), "'" + std::string(key) + "' must be finite")) << said(key, value);
}

// Otherwise the first call would fail, without the file's name.
TEST(LanguageSettings, AnOddPartOfAHeadCannotBeTurned) {
  const Folder folder;
  copy_model("glm", folder);
  std::string text = with_value(text_of(folder / "config.json"), "head_dim", "6");
  folder.write("config.json", text);
  const std::string error = error_of<FileError>([&] { L::load_language_model(folder.path); });
  EXPECT_EQ(error.find(folder / "config.json"), 0u) << error;
  EXPECT_TRUE(has(error, "'partial_rotary_factor' must leave an even part of a head of 6: it leaves 3")) << error;

  const io::GgufReader reader(language_model("llama.gguf"));
  io::GgufMetadata metadata;
  for (const std::string_view key : reader.keys())
    metadata.emplace_back(key, key == "llama.rope.dimension_count" ? io::GgufValue(5u) : reader.value(key));
  std::vector<io::GgufTensor> tensors;
  for (const std::string& name : reader.names()) tensors.push_back({name, reader.read(name)});
  io::write_gguf(folder / "odd.gguf", metadata, tensors);
  const std::string odd = error_of<FileError>([&] { L::load_language_model(folder / "odd.gguf"); });
  EXPECT_TRUE(has(odd, "odd.gguf: 'llama.rope.dimension_count' must be even and at most")) << odd;
}

TEST(LanguageSettings, AFewBytesAskForNoMoreThanTheFileIsOf) {
  const Folder folder;
  copy_model("llama", folder);
  const std::string config = text_of(folder / "config.json");
  const auto refused = [&](const std::string& text) {
    folder.write("config.json", text);
    const CountedMemory memory;
    const std::string error = error_of<FileError>([&] { L::load_language_model(folder.path, {.device = Device()}); });
    EXPECT_LT(memory.peak(), static_cast<std::int64_t>(40 * text.size() + (1 << 20)));
    return error;
  };
  const auto expect = [&](const std::string& text, const std::string& said) {
    const std::string error = refused(text);
    EXPECT_TRUE(has(error, said)) << error.substr(0, 500);
  };
  expect(with_value(config, "num_hidden_layers", "10000"), "'num_hidden_layers' must be at most 21 for these tensors");
  expect(with_value(config, "head_dim", "1073741824"), "'head_dim' must be at most 1024 where rates are scaled");
  // heads larger than any memory
  expect(with_value(with_value(with_value(with_value(config, "head_dim", "1073741824"), "rope_type", "\"default\""),
                               "num_attention_heads", "1073741824"),
                    "num_key_value_heads", "1073741824"),
         folder.path);
  expect(with_value(config, "eos_token_id", "18446744073709551615"),
         "'eos_token_id' must be a whole number of at most");

  // nested lists: code that walks through them is recursive
  const std::size_t n = 200000;
  const std::string deep = std::string(n, '[') + std::string(n, ']');
  expect(with_value(config, "hidden_size", deep), "more than 200 nested lists and objects");
  expect(with_value(config, "transformers_version", deep), "more than 200 nested lists and objects");
  EXPECT_EQ(refused(with_value(config, "transformers_version", std::string(190, '[') + std::string(190, ']'))), "");
  EXPECT_EQ(refused(with_value(config, "transformers_version", "\"" + std::string(300, '[') + "\\\"" + "\"")), "");
  folder.write("generation_config.json", "{\"eos_token_id\": " + deep + "}");
  expect(config, "generation_config.json: at byte");
  folder.write("generation_config.json", "{}");
  EXPECT_EQ(refused(config), "");
  folder.write("tokenizer_config.json", "{\"chat_template\": " + deep + "}");
  std::filesystem::copy(tests::source_path("tests/data/tokenizers/han.json"), folder / "tokenizer.json");
  const std::string error = error_of<FileError>([&] { L::load_generator(folder.path); });
  EXPECT_TRUE(has(error, "tokenizer_config.json: at byte")) << error.substr(0, 500);
}

TEST(LanguageSettings, NeitherDoThoseOfGguf) {
  const io::GgufReader reader(language_model("llama_tied") + ".gguf");
  const Folder folder;
  const auto refused = [&](const std::vector<std::pair<std::string, io::GgufValue>>& changes) {
    io::GgufMetadata metadata;
    for (const std::string_view key : reader.keys()) metadata.emplace_back(std::string(key), reader.value(key));
    for (const auto& change : changes) {
      std::erase_if(metadata, [&](const auto& one) { return one.first == change.first; });
      metadata.push_back(change);
    }
    std::vector<io::GgufTensor> tensors;
    for (const std::string& tensor : reader.names()) tensors.push_back({tensor, reader.read(tensor)});
    io::write_gguf(folder / "model.gguf", metadata, tensors);
    const CountedMemory memory;
    const std::string error =
        error_of<FileError>([&] { L::load_language_model(folder / "model.gguf", {.device = Device()}); });
    EXPECT_LT(memory.peak(), 1 << 20);
    return error;
  };
  EXPECT_EQ(refused({}), "");
  EXPECT_TRUE(has(refused({{"llama.block_count", std::uint32_t{9999}}}), "'llama.block_count' must be at most"));
  EXPECT_TRUE(has(refused({{"llama.rope.dimension_count", std::uint32_t{1} << 30}}),
                  "'llama.rope.dimension_count' must be even and at most"));
  const std::string error = refused({{"llama.rope.scaling.type", std::string("none")},
                                     {"llama.attention.key_length", std::uint32_t{1} << 30},
                                     {"llama.attention.value_length", std::uint32_t{1} << 30},
                                     {"llama.attention.head_count", std::uint32_t{1} << 30},
                                     {"llama.attention.head_count_kv", std::uint32_t{1} << 30}});
  EXPECT_EQ(error.find(folder.path), 0u) << error;
}

}  // namespace
}  // namespace catenary
