// Saves language models and loads them again.

#include "catenary/links/models/save_language_model.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "catenary/core/os/file.h"
#include "catenary/io/gguf.h"
#include "catenary/links/models/generator.h"
#include "catenary/links/models/glm.h"
#include "tests/folder.h"
#include "tests/language_models.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace L = links;
using tests::Folder;
using tests::has;
using tests::language_model;

nlohmann::json config_of(const std::string& folder) {
  const std::vector<std::byte> bytes = os::read_file(folder + "/config.json");
  return nlohmann::json::parse(reinterpret_cast<const char*>(bytes.data()),
                               reinterpret_cast<const char*>(bytes.data()) + bytes.size());
}

/// All weights by name, as bytes of float32.
std::map<std::string, std::vector<float>> weights_of(const L::LanguageModel& model) {
  std::map<std::string, std::vector<float>> all;
  for (const auto& [path, p] : model.namedparams()) all[path] = p.array().astype(Dtype::float32).to_vector<float>();
  return all;
}

/// The error message.
template <class E>
std::string refused(const std::string& path, const L::LanguageModel& model,
                    const L::SaveLanguageModelOptions& options = {}) {
  try {
    L::save_language_model(path, model, options);
  } catch (const E& error) {
    return error.what();
  }
  return "it was written";
}

TEST(SaveLanguageModel, SavedModelsLoadEqual) {
  const Folder folder;
  for (const std::string name : {"mistral", "qwen2", "gpt2"}) {
    const auto model = L::load_language_model(language_model(name));
    L::save_language_model(folder / name, *model);
    EXPECT_EQ(weights_of(*L::load_language_model(folder / name)), weights_of(*model)) << name;
    EXPECT_EQ(tests::differences(folder / name, tests::ExpectedText(language_model(name))), "");
    EXPECT_EQ(config_of(folder / name)["model_type"], name);
  }
  for (const std::string name : {"llama", "llama_tied", "qwen2", "gpt2"}) {
    const auto model = L::load_language_model(language_model(name));
    const std::string file = folder / (name + ".gguf");
    L::save_language_model(file, *model);
    EXPECT_EQ(weights_of(*L::load_language_model(file)), weights_of(*model)) << name;
    EXPECT_EQ(tests::differences(file, tests::ExpectedText(language_model(name))), "");
  }
}

TEST(SaveLanguageModel, TheFilesOfOthersHaveTheSameTensors) {
  const Folder folder;
  for (const std::string name : {"llama", "qwen2", "gpt2"}) {
    L::save_language_model(folder / "model.gguf", *L::load_language_model(language_model(name)));
    const io::GgufReader ours(folder / "model.gguf"), theirs(language_model(name + ".gguf"));
    std::set<std::string> names(theirs.names().begin(), theirs.names().end());
    EXPECT_EQ(std::set<std::string>(ours.names().begin(), ours.names().end()), names) << name;
    for (const std::string& tensor : ours.names()) {
      const io::HostArray a = ours.read(tensor), b = theirs.read(tensor);
      ASSERT_EQ(a.shape, b.shape) << name << " " << tensor;
      ASSERT_EQ(a.dtype, b.dtype) << name << " " << tensor;
      for (std::int64_t i = 0; i < a.size(); ++i)  // the divisor of a rate is stored in float64 here
        ASSERT_NEAR(a.as<float>()[i], b.as<float>()[i], tensor == "rope_freqs.weight" ? 1e-5 : 0) << name << tensor;
    }
  }
}

TEST(SaveLanguageModel, KeepsTheTokenizerAndItsChats) {
  random::seed(4);
  const Folder folder;
  const Tokenizer words = train_byte_pairs("once upon a time there was a story", 270,
                                           {.special = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}});
  const L::Llama model({.vocabulary = 270, .context = 60, .width = 12, .layers = 1, .heads = 2, .hidden = 14});
  L::save_language_model(folder / "a", model, {.tokenizer = words});
  EXPECT_THROW(L::load_generator(folder / "a").encode("hi", true), ValueError);
  const std::string form = "{% for m in messages %}{{ '<|im_start|>' + m.role }}{% endfor %}";
  nlohmann::json config = {{"eos_token", "<|endoftext|>"}, {"chat_template", form}};
  folder.write("a/tokenizer_config.json", config.dump());
  std::string from = folder / "a";
  const std::vector<std::int64_t> ids = L::load_generator(from).encode("hi", true);
  for (const char* to : {"b.gguf", "c.gguf", "d", "e.gguf"}) {  // to GGUF, from GGUF to GGUF, to a folder, and again
    const L::Generator read = L::load_generator(from);
    L::save_language_model(folder / to, read.model(), {.tokenizer = read.tokenizer()});
    from = folder / to;
    const L::Generator again = L::load_generator(from);
    EXPECT_EQ(again.tokenizer().chat_template(), form) << to;
    EXPECT_EQ(again.encode("hi", true), ids) << to;
    EXPECT_EQ(again.model().end_tokens, read.model().end_tokens) << to;
    EXPECT_EQ(weights_of(again.model()), weights_of(model)) << to;
  }
}

TEST(SaveLanguageModel, LlamasOfAllBiasesAndAHeadOfItsOwn) {
  const Folder folder;
  const L::LlamaOptions plain{.vocabulary = 31, .context = 16, .width = 12, .layers = 2, .heads = 2, .hidden = 14};
  struct Case {
    bool qkv, out, tied;
    std::int64_t window;
    const char* type;
  };
  for (const Case c :
       {Case{false, false, false, 0, "llama"}, Case{true, true, true, 0, "llama"}, Case{true, false, false, 0, "qwen2"},
        Case{true, false, true, 5, "qwen2"}, Case{false, false, true, 3, "mistral"}}) {
    L::LlamaOptions options = plain;
    options.qkv_bias = c.qkv;
    options.out_bias = c.out;
    options.tied = c.tied;
    options.window = c.window;
    const L::Llama model(options);
    L::save_language_model(folder / c.type, model);
    EXPECT_EQ(config_of(folder / c.type)["model_type"], c.type);
    const auto again = L::load_language_model(folder / c.type);
    EXPECT_EQ(weights_of(*again), weights_of(model));
    EXPECT_EQ(dynamic_cast<const L::Llama&>(*again).options.window, c.window);
    if (c.window > 0) {
      EXPECT_TRUE(has(refused<ValueError>(folder / "x.gguf", model), "cannot store the attention window"));
    } else {
      L::save_language_model(folder / "x.gguf", model);
      EXPECT_EQ(weights_of(*L::load_language_model(folder / "x.gguf")), weights_of(model));
    }
  }
  const L::GPT untied({.vocabulary = 31,
                       .context = 16,
                       .width = 12,
                       .layers = 1,
                       .heads = 2,
                       .dropout = 0,
                       .hidden = 7,
                       .tied = false});
  for (const char* name : {"gpt", "gpt.gguf"}) {
    L::save_language_model(folder / name, untied);
    EXPECT_EQ(weights_of(*L::load_language_model(folder / name)), weights_of(untied));
  }
}

TEST(SaveLanguageModel, WithATokenizerItWrites) {
  const Folder folder;
  const std::string text = "the best of times, the worst of times, the age of wisdom";
  const Tokenizer tokenizer = train_byte_pairs(text, 280);
  // more rows of embeddings than tokens
  const L::GPT model({.vocabulary = 290, .context = 32, .width = 12, .layers = 1, .heads = 2, .dropout = 0});
  std::vector<std::string> stories;
  for (const char* name : {"gpt", "gpt.gguf"}) {
    L::save_language_model(folder / name, model, {.tokenizer = tokenizer});
    const L::Generator generator = L::load_generator(folder / name);
    EXPECT_EQ(generator.encode("the best"), tokenizer.encode("the best")) << name;
    EXPECT_EQ(generator.model().end_tokens, std::vector<std::int64_t>{*tokenizer.eos_id()});
    stories.push_back(generator("the age", {.generate = {.tokens = 20, .seed = 1}}));
  }
  EXPECT_EQ(stories[0], stories[1]);
  EXPECT_FALSE(stories[0].empty());
  const io::GgufReader reader(folder / "gpt.gguf");
  EXPECT_EQ(reader.texts("tokenizer.ggml.tokens").size(), 290u);
  EXPECT_EQ(reader.integers("tokenizer.ggml.token_type").back(), 5);
  // single bytes have no pairs, but llama.cpp requires the key
  const L::GPT bytes({.vocabulary = 257, .context = 32, .width = 12, .layers = 1, .heads = 2, .dropout = 0});
  L::save_language_model(folder / "bytes.gguf", bytes, {.tokenizer = train_byte_pairs("", 257)});
  EXPECT_TRUE(io::GgufReader(folder / "bytes.gguf").texts("tokenizer.ggml.merges").empty());
  EXPECT_EQ(L::load_generator(folder / "bytes.gguf").encode("é").size(), 2u);
}

TEST(SaveLanguageModel, DtypesAndEnds) {
  const Folder folder;
  L::GPT model({.vocabulary = 31, .context = 16, .width = 12, .layers = 1, .heads = 2, .dropout = 0});
  model.end_tokens = {3, 7};
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    for (const char* name : {"gpt", "gpt.gguf"}) {
      L::save_language_model(folder / name, model, {.dtype = dtype});
      const auto again = L::load_language_model(folder / name, {.dtype = std::nullopt});
      EXPECT_EQ(again->end_tokens, model.end_tokens);
      EXPECT_EQ(again->params().front().array().dtype(), dtype);
      for (const auto& [path, p] : model.namedparams()) {
        const Array rounded = p.array().astype(dtype).astype(Dtype::float32);
        EXPECT_EQ(weights_of(*again)[path], rounded.to_vector<float>()) << path;
      }
    }
    const io::GgufReader reader(folder / "gpt.gguf");
    EXPECT_EQ(reader.tensor("token_embd.weight").dtype, dtype);
    EXPECT_EQ(reader.tensor("output_norm.bias").dtype, Dtype::float32);
  }
}

TEST(SaveLanguageModel, OptionsOtherThanTheDefaultsAreKept) {
  const Folder folder;
  const L::GPT gpt({.vocabulary = 31,
                    .context = 16,
                    .width = 12,
                    .layers = 1,
                    .heads = 3,
                    .dropout = 0.25,
                    .hidden = 7,
                    .epsilon = 0.125});
  const L::Llama llama({.vocabulary = 31,
                        .context = 16,
                        .width = 12,
                        .layers = 2,
                        .heads = 4,
                        .hidden = 14,
                        .groups = 2,
                        .head_size = 8,
                        .epsilon = 0.125,
                        .rotary = {.base = 500}});
  const std::vector<std::int64_t> ids = {3, 1, 4, 1, 5};
  const auto scores_of = [&](const L::LanguageModel& model) {
    const auto mode = no_backprop_mode();
    const auto testing = test_mode();
    return model(Array::from_host(ids.data(), {1, 5}, Dtype::int64, current_device())).array().to_vector<float>();
  };
  const std::vector<float> gpt_scores = scores_of(gpt), llama_scores = scores_of(llama);
  for (const char* name : {"gpt", "gpt.gguf"}) {
    L::save_language_model(folder / name, gpt);
    const auto again = L::load_language_model(folder / name);
    EXPECT_EQ(scores_of(*again), gpt_scores) << name;
    EXPECT_EQ(dynamic_cast<const L::GPT&>(*again).options.epsilon, 0.125) << name;
  }
  // GGUF has no dropout
  const auto trainable = L::load_language_model(folder / "gpt");
  EXPECT_EQ(dynamic_cast<const L::GPT&>(*trainable).options.dropout, 0.25);
  for (const char* name : {"llama", "llama.gguf"}) {
    L::save_language_model(folder / name, llama);
    const auto again = L::load_language_model(folder / name);
    EXPECT_EQ(scores_of(*again), llama_scores) << name;
    const L::LlamaOptions& options = dynamic_cast<const L::Llama&>(*again).options;
    EXPECT_EQ(options.head_size, 8) << name;
    EXPECT_EQ(options.groups, 2) << name;
    EXPECT_EQ(options.epsilon, 0.125) << name;
    EXPECT_EQ(options.rotary.base, 500) << name;
  }
}

// The model's end tokens come before the tokenizer's, and the first of them is GGUF's eos token.
TEST(SaveLanguageModel, TheModelsEndTokensAreKept) {
  const Folder folder;
  const Tokenizer tokenizer = train_byte_pairs(
      "the best of times", 264, {.special = {"<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end|>", "<s>"}});
  L::GPT model({.vocabulary = 264, .context = 16, .width = 12, .layers = 1, .heads = 2, .dropout = 0});
  ASSERT_TRUE(tokenizer.bos_id() && tokenizer.eos_id());
  const std::int64_t own = tokenizer.id("<s>").value();
  ASSERT_NE(*tokenizer.eos_id(), own);
  model.end_tokens = {own};
  for (const char* name : {"one", "one.gguf"}) {
    L::save_language_model(folder / name, model, {.tokenizer = tokenizer});
    EXPECT_EQ(L::load_language_model(folder / name)->end_tokens, model.end_tokens) << name;
  }
  EXPECT_EQ(config_of(folder / "one")["eos_token_id"], own);
  EXPECT_EQ(config_of(folder / "one")["bos_token_id"], *tokenizer.bos_id());
  // GGUF has fewer keys than this model has end tokens: a reader finds the others by their names, but not the first
  const std::int64_t first = tokenizer.id("<|im_end|>").value();
  model.end_tokens = {first};
  for (const char* name : {"<|endoftext|>", "<|eot_id|>", "<|end|>", "<s>"})
    model.end_tokens.push_back(tokenizer.id(name).value());
  L::save_language_model(folder / "five.gguf", model, {.tokenizer = tokenizer});
  EXPECT_EQ(io::GgufReader(folder / "five.gguf").integer("tokenizer.ggml.eos_token_id"), first);
  std::vector<std::int64_t> ends = L::load_generator(folder / "five.gguf").model().end_tokens;
  std::ranges::sort(ends);
  std::vector<std::int64_t> expected = model.end_tokens;
  std::ranges::sort(expected);
  EXPECT_EQ(ends, expected);
}

TEST(SaveLanguageModel, RefusesWhatOthersWouldNotRun) {
  const Folder folder;
  const auto glm = L::load_language_model(language_model("glm")),
             llama = L::load_language_model(language_model("llama")),
             quantised = L::load_language_model(language_model("llama_q8_0.gguf"));
  EXPECT_TRUE(has(refused<ValueError>(folder / "x", *glm), "cannot save a Glm; only GPT and Llama are supported"));
  EXPECT_TRUE(has(refused<ValueError>(folder / "x", *llama), "cannot store rotary rates"));
  EXPECT_TRUE(has(refused<ValueError>(folder / "x.gguf", *quantised), "is quantised"));
  EXPECT_TRUE(has(refused<DtypeError>(folder / "x.gguf", *llama, {.dtype = Dtype::float64}), "not float64"));
  const auto wide = L::load_language_model(language_model("gpt2"), {.dtype = Dtype::float64});
  EXPECT_TRUE(has(refused<DtypeError>(folder / "x", *wide), "is float64"));
  EXPECT_TRUE(has(refused<ValueError>(folder / "x.gguf", *llama, {.tokenizer = train_byte_pairs("", 257)}),
                  "the tokenizer has 257 tokens, more than the model's 53"));
  L::LlamaOptions options{.vocabulary = 31, .context = 16, .width = 12, .layers = 1, .heads = 2, .hidden = 14};
  options.out_bias = true;
  EXPECT_TRUE(has(refused<ValueError>(folder / "x", L::Llama(options)), "alone"));
  options.out_bias = false;
  options.rotary.interleaved = true;
  EXPECT_TRUE(has(refused<ValueError>(folder / "x", L::Llama(options)), "neighbours"));
  EXPECT_FALSE(os::exists(folder / "x"));
  EXPECT_FALSE(os::exists(folder / "x.gguf"));
}

}  // namespace
}  // namespace catenary
