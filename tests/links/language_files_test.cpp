// Settings of language models that have several positions and forms, read as transformers and llama.cpp do.

#include <gtest/gtest.h>

#include <filesystem>

#include "catenary/core/os/file.h"
#include "catenary/links/models/save_language_model.h"
#include "tests/links/language_copies.h"
#include "tests/paths.h"

namespace catenary {
namespace {

namespace L = links;
using test::Copy;
using test::GgufCopy;
using test::with_piece;
using tests::Folder;
using tests::has;
using tests::language_model;
using tests::text_of;

/// The output of loading on standard error.
std::string told_by(const Copy& copy) {
  testing::internal::CaptureStderr();
  copy.load();
  return testing::internal::GetCapturedStderr();
}

TEST(LanguageFiles, SettingsThatStandTwice) {
  const tests::ExpectedText expected(language_model("qwen2"));  // its base is 1000000
  const std::string inside = "\"rope_theta\": 1000000.0";
  const auto with = [&](const std::string& piece, const std::string& other, const std::string& beside) {
    Copy copy("qwen2");
    copy.config = with_piece(with_piece(copy.config, piece, other), "{", "{" + beside);
    return copy;
  };
  // beside rope_parameters that lack it
  Copy copy = with(inside + ",", "", "\"rope_theta\": 1000000, ");
  EXPECT_LE(tests::difference(*copy.load(), expected), 1e-4);
  EXPECT_EQ(told_by(copy), "");
  // in both, where transformers uses the inner one
  copy = with(inside, inside, "\"rope_theta\": 10, ");
  EXPECT_LE(tests::difference(*copy.load(), expected), 1e-4);
  EXPECT_TRUE(has(told_by(copy), "'rope_theta' is not used")) << told_by(copy);
  // rope_scaling takes precedence over rope_parameters, unless it is empty
  copy = with(inside, "\"rope_theta\": 10", "\"rope_scaling\": {\"rope_type\": \"default\", \"rope_theta\": 1e6}, ");
  EXPECT_LE(tests::difference(*copy.load(), expected), 1e-4);
  EXPECT_TRUE(has(told_by(copy), "'rope_parameters' is not used")) << told_by(copy);
  copy = with(inside, inside, "\"rope_scaling\": {}, ");
  EXPECT_LE(tests::difference(*copy.load(), expected), 1e-4);
}

TEST(LanguageFiles, DefaultsAreThoseOfTransformers) {
  const auto options_of = [](const char* name, const std::string& piece, const std::string& other) {
    Copy copy(name);
    copy.config = with_piece(copy.config, piece, other);
    return dynamic_cast<const L::Llama&>(*copy.load()).options;
  };
  EXPECT_EQ(options_of("mistral", "\"sliding_window\": 5,", "").window, 4096);
  EXPECT_EQ(options_of("mistral", "\"sliding_window\": 5", "\"sliding_window\": null").window, 0);
  EXPECT_EQ(options_of("glm", "\"rms_norm_eps\": 1.5625e-07,", "").epsilon, 1.5625e-7);
  EXPECT_EQ(options_of("llama", "\"rms_norm_eps\": 1e-05,", "").epsilon, 1e-6);
  Copy mistral("mistral");
  const std::string config = mistral.config;
  mistral.config = with_piece(config, "\"num_key_value_heads\": 3,", "");
  EXPECT_TRUE(has(mistral.refused(), "6 heads do not share the keys of 8")) << mistral.refused();
  mistral.config = with_piece(config, "\"num_key_value_heads\": 3", "\"num_key_value_heads\": null");
  EXPECT_TRUE(has(mistral.refused(), "k_proj.weight is (12, 24), not (24, 24)")) << mistral.refused();
}

TEST(LanguageFiles, AHeadWithOtherValuesIsNotTied) {
  for (const auto& [name, tokens] :
       {std::pair("llama_tied", "model.embed_tokens.weight"), std::pair("gpt2", "transformer.wte.weight")}) {
    Copy copy(name);
    io::HostArray head = io::HostArray::empty(copy[tokens].dtype, copy[tokens].shape);
    std::copy_n(copy[tokens].as<float>(), head.size(), head.as<float>());
    head.as<float>()[3] += 1;
    copy.tensors.emplace_back("lm_head.weight", head);
    const auto model = copy.load();
    bool has_head = false;
    for (const auto& [path, parameter] : model->namedparams())
      if (path == "/head/W") {
        has_head = true;
        EXPECT_EQ(parameter.array().to_vector<float>(),
                  std::vector<float>(head.as<float>(), head.as<float>() + head.size()));
      }
    EXPECT_TRUE(has_head) << name;
  }
}

TEST(LanguageFiles, EachLayerHasItsWindow) {
  Folder folder;
  std::filesystem::copy(language_model("qwen2"), folder.path, std::filesystem::copy_options::recursive);
  const std::string plain = with_piece(with_piece(text_of(language_model("qwen2") + "/config.json"),
                                                  "\"use_sliding_window\": false", "\"use_sliding_window\": true"),
                                       "\"sliding_window\": null", "\"sliding_window\": 5");
  const std::size_t begin = plain.find("\"layer_types\""), end = plain.find("],", begin) + 2;
  const std::string config = std::string(plain).erase(begin, end - begin);
  const auto windows = [&](const std::string& text) {
    folder.write("config.json", text);
    std::vector<std::int64_t> all;
    const auto model = L::load_language_model(folder.path);
    for (const auto& block : dynamic_cast<const L::Llama&>(*model).blocks) all.push_back(block.window);
    return all;
  };
  const auto from = [&](const std::string& layer) {
    return with_piece(config, "\"max_window_layers\": 28", "\"max_window_layers\": " + layer);
  };
  const auto types = [&](const std::string& first, const std::string& second) {
    return with_piece(from("0"), "{", "{\"layer_types\": [\"" + first + "\", \"" + second + "\"], ");
  };
  using Windows = std::vector<std::int64_t>;
  EXPECT_EQ(windows(config), (Windows{0, 0}));
  EXPECT_EQ(windows(from("0")), (Windows{5, 5}));
  EXPECT_EQ(windows(from("1")), (Windows{0, 5}));
  EXPECT_EQ(windows(from("2")), (Windows{0, 0}));
  EXPECT_EQ(windows(with_piece(from("0"), "\"sliding_window\": 5,", "")), (Windows{4096, 4096}));
  EXPECT_EQ(windows(types("full_attention", "full_attention")), (Windows{0, 0}));
  EXPECT_EQ(windows(types("sliding_attention", "full_attention")), (Windows{5, 0}));
  EXPECT_THROW(windows(types("chunked_attention", "full_attention")), FileError);
  EXPECT_THROW(windows(with_piece(types("sliding_attention", "full_attention"), "\"sliding_window\": 5",
                                  "\"sliding_window\": null")),
               FileError);
  // also after saving
  const auto mixed = L::load_language_model((windows(from("1")), folder.path));
  L::save_language_model(folder / "again", *mixed);
  EXPECT_EQ(dynamic_cast<const L::Llama&>(*L::load_language_model(folder / "again")).options.windows, (Windows{0, 5}));
  EXPECT_THROW(L::save_language_model(folder / "again.gguf", *mixed), ValueError);

  Copy mistral("mistral");
  mistral.config = with_piece(mistral.config, "{", R"({"layer_types": ["sliding_attention", "sliding_attention"], )");
  mistral.load();
  mistral.config = with_piece(mistral.config, "\"sliding_attention\"", "\"full_attention\"");
  EXPECT_TRUE(has(mistral.refused(), "'layer_types' must match the attention windows of mistral")) << mistral.refused();
}

// llama.cpp scales linearly without a type, and uses the older key if the newer one is missing.
TEST(LanguageFiles, RotaryScalingUnderItsOlderKeysToo) {
  const tests::ExpectedText expected(language_model("llama_tied"));
  GgufCopy copy("llama_tied");
  copy.remove("llama.rope.scaling.type");
  EXPECT_LE(tests::difference(*copy.load(), expected), 1e-4);
  copy.remove("llama.rope.scaling.factor");
  EXPECT_GT(tests::difference(*copy.load(), expected), 1e-3);
  copy.set("llama.rope.scale_linear", 2.5f);
  EXPECT_LE(tests::difference(*copy.load(), expected), 1e-4);
  copy.set("llama.rope.scaling.factor", 0.0f);  // no scaling, although the older key exists
  EXPECT_GT(tests::difference(*copy.load(), expected), 1e-3);
  copy.remove("llama.rope.scaling.factor");
  copy.set("llama.rope.scaling.type", std::string("none"));
  EXPECT_GT(tests::difference(*copy.load(), expected), 1e-3);

  // each architecture in the form of config.json
  for (const std::string name : {"qwen2", "glm", "glm4"}) {
    const tests::ExpectedText plain(language_model(name));
    Copy folder(name == "qwen2" ? "glm" : name);
    GgufCopy old(name);
    const std::string architecture = std::get<std::string>(old.metadata.front().second);
    old.set(architecture + ".rope.scale_linear", 3.0f);
    const auto scaled = old.load();
    EXPECT_GT(tests::difference(*scaled, plain), 1e-3) << name;
    if (name == "qwen2") continue;  // its folder has several files
    folder.config = with_piece(folder.config, "\"rope_type\": \"default\"", "\"rope_type\": \"linear\", \"factor\": 3");
    const auto other = folder.load();
    const auto no_graph = no_backprop_mode();
    const Array ids = plain.ids.to_device(current_device());
    EXPECT_TRUE(allclose((*scaled)(ids).array(), (*other)(ids).array(), 1e-4, 1e-5)) << name;
  }
}

L::LlamaOptions options_of(const std::unique_ptr<L::LanguageModel>& model) {
  return dynamic_cast<const L::Llama&>(*model).options;
}

TEST(LanguageFiles, APartOfAHeadMayBeToldBesideOrInside) {
  const std::string inside = "\"partial_rotary_factor\": 0.5,";
  Copy copy("glm");
  copy.config = with_piece(copy.config, inside, "");
  EXPECT_EQ(options_of(copy.load()).rotary.dims, 4);  // transformers' default for GLM
  copy.config = with_piece(copy.config, "{", "{\"partial_rotary_factor\": 0.25, ");
  EXPECT_EQ(options_of(copy.load()).rotary.dims, 2);
  copy.config = with_piece(copy.config, "\"rope_theta\"", "\"partial_rotary_factor\": 1.0, \"rope_theta\"");
  EXPECT_EQ(options_of(copy.load()).rotary.dims, 8);
  EXPECT_TRUE(has(told_by(copy), "'partial_rotary_factor' is not used")) << told_by(copy);
}

// Llama's bias applies to all four projections, other models' does not.
TEST(LanguageFiles, ABiasOfAttentionIsTheModelsOwn) {
  const Folder folder;
  std::filesystem::copy(language_model("qwen2"), folder.path, std::filesystem::copy_options::recursive);
  folder.write("config.json", with_piece(text_of(folder / "config.json"), "{", "{\"attention_bias\": true, "));
  EXPECT_LE(tests::difference(*L::load_language_model(folder.path), tests::ExpectedText(language_model("qwen2"))),
            1e-4);
  Copy llama("llama");
  llama.config = with_piece(llama.config, "\"attention_bias\": false", "\"attention_bias\": true");
  EXPECT_TRUE(has(llama.refused(), "8 tensors are missing")) << llama.refused();
}

TEST(LanguageFiles, TwoScalingsOfGgufAreBothTaken) {
  GgufCopy copy("llama");  // its rates are divided by rope_freqs.weight
  const std::vector<double> before = options_of(copy.load()).rotary.rates;
  copy.set("llama.rope.scaling.factor", 2.0f);
  const std::vector<double> after = options_of(copy.load()).rotary.rates;
  ASSERT_EQ(before.size(), after.size());
  ASSERT_FALSE(before.empty());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i] / 2, 1e-9);
}

TEST(LanguageFiles, HowMuchOfAHeadGgufTurnsWhereItSaysNothing) {
  for (const auto& [name, architecture] :
       {std::pair("glm", "chatglm"), std::pair("glm4", "glm4"), std::pair("llama", "llama")}) {
    GgufCopy copy(name);
    copy.remove(std::string(architecture) + ".rope.dimension_count");
    EXPECT_LE(tests::difference(*copy.load(), tests::ExpectedText(language_model(name))), 1e-4) << name;
  }
}

}  // namespace
}  // namespace catenary
