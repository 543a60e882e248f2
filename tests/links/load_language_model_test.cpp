// Loads files of `transformers` with random weights and compares scores (tests/data/language_models/make.py).

#include "catenary/links/models/load_language_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "catenary/core/os/file.h"
#include "catenary/io/gguf.h"
#include "catenary/links/models/save_language_model.h"
#include "catenary/optimizers/optimizers.h"
#include "tests/folder.h"
#include "tests/language_models.h"
#include "tests/links/language_copies.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace L = links;
namespace S = serializers;
using test::Copy;
using test::GgufCopy;
using test::with_piece;
using tests::Folder;
using tests::has;
using tests::language_model;
using tests::text_of;

const std::vector<std::string> kFolders = {"llama", "llama_tied", "mistral", "qwen2", "gpt2", "glm", "glm4", "chatglm"};

TEST(LoadLanguageModel, SaysWhatTransformersSays) {
  for (const std::string& name : kFolders)
    EXPECT_EQ(tests::differences(language_model(name), tests::ExpectedText(language_model(name))), "") << name;
}

TEST(LoadLanguageModel, KnowsTheModelByItsSettings) {
  const auto llama = L::load_language_model(language_model("llama"));
  const auto& options = dynamic_cast<const L::Llama&>(*llama).options;
  EXPECT_EQ(llama->type_name(), "Llama");
  EXPECT_EQ(llama->vocabulary(), 53);
  EXPECT_EQ(llama->context(), 64);
  EXPECT_EQ(llama->layers(), 2);
  EXPECT_EQ(options.groups, 2);
  EXPECT_EQ(options.head_size, 6);
  EXPECT_FALSE(options.tied);
  EXPECT_TRUE(llama->end_tokens.empty());
  EXPECT_EQ(dynamic_cast<const L::Llama&>(*L::load_language_model(language_model("mistral"))).options.window, 5);
  EXPECT_EQ(L::load_language_model(language_model("glm"))->type_name(), "Glm");
  EXPECT_EQ(L::load_language_model(language_model("gpt2"))->type_name(), "GPT");
  for (const auto& [name, parameter] : llama->namedparams()) EXPECT_TRUE(parameter.is_initialized()) << name;
}

TEST(LoadLanguageModel, ReadsSettingsOfOlderFiles) {
  // before version 5, transformers has the base beside the scaling, with the key "type" or "rope_type"
  Copy llama("llama_tied");
  const std::size_t begin = llama.config.find("\"rope_parameters\""), end = llama.config.find('}', begin);
  llama.config.replace(begin, end + 1 - begin,
                       R"("rope_theta": 10000.0, "rope_scaling": {"type": "linear", "factor": 2.5})");
  const tests::ExpectedText expected(language_model("llama_tied"));
  EXPECT_LE(tests::difference(*llama.load(), expected), 1e-4);
  llama.config = with_piece(llama.config, "2.5", "2.0");
  EXPECT_GT(tests::difference(*llama.load(), expected), 1e-3);
}

TEST(LoadLanguageModel, TakesABaseModelsNames) {
  for (const char* name : {"llama", "gpt2"}) {
    Copy copy(name);
    for (auto& [tensor, array] : copy.tensors)
      for (const std::string_view prefix : {"model.", "transformer."})
        if (tensor.starts_with(prefix)) tensor.erase(0, prefix.size());
    EXPECT_LE(tests::difference(*copy.load(), tests::ExpectedText(language_model(name))), 1e-4) << name;
  }
}

TEST(LoadLanguageModel, TiedWeightsMayStandTwice) {
  Copy copy("llama_tied");
  copy.tensors.emplace_back("lm_head.weight", copy["model.embed_tokens.weight"]);
  EXPECT_LE(tests::difference(*copy.load(), tests::ExpectedText(language_model("llama_tied"))), 1e-4);
}

TEST(LoadLanguageModel, AnUntiedGpt2HasAHead) {
  Copy copy("gpt2");
  copy.config = with_piece(copy.config, "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  EXPECT_TRUE(has(copy.refused(), "lm_head.weight")) << copy.refused();
  copy.tensors.emplace_back("lm_head.weight", copy["transformer.wte.weight"]);
  EXPECT_LE(tests::difference(*copy.load(), tests::ExpectedText(language_model("gpt2"))), 1e-4);
}

TEST(LoadLanguageModel, WeightsHaveTheDtypeThatIsAskedFor) {
  const auto dtype_of = [](const L::LanguageModel& model) {
    std::set<Dtype> all;
    for (const Parameter& p : model.params()) all.insert(p.array().dtype());
    return all.size() == 1 ? *all.begin() : Dtype::bool_;
  };
  const tests::ExpectedText expected(language_model("qwen2"));
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
    const auto model = L::load_language_model(language_model("qwen2"), {.dtype = dtype});
    EXPECT_EQ(dtype_of(*model), dtype);
    EXPECT_LE(tests::difference(*model, expected), dtype == Dtype::float16 ? 0.05 : 0.4);
  }
  EXPECT_EQ(dtype_of(*L::load_language_model(language_model("qwen2"), {.dtype = std::nullopt})), Dtype::float32);
  EXPECT_THROW(L::load_language_model(language_model("qwen2"), {.dtype = Dtype::int8}), DtypeError);

  // stored dtype, and 16 bits converted to 32
  Copy copy("glm");
  for (auto& [tensor, array] : copy.tensors) {
    const Array half = Array::from_host(array.data.get(), array.shape, array.dtype, Device()).astype(Dtype::bfloat16);
    array = io::HostArray::empty(Dtype::bfloat16, array.shape);
    half.copy_to_host(array.data.get());
  }
  EXPECT_EQ(dtype_of(*copy.load({.dtype = std::nullopt})), Dtype::bfloat16);
  EXPECT_EQ(dtype_of(*copy.load()), Dtype::float32);
}

TEST(LoadLanguageModel, TakesNoMemoryForWeightsThatAreOverwritten) {
  if (current_device() != Device()) return;  // only host memory is counted
  std::vector<MemoryEvent> events;
  std::vector<MemoryEvent>* const others = watch_memory(&events);
  const auto model = L::load_language_model(language_model("llama"));
  watch_memory(others);
  std::size_t now = 0, most = 0, largest = 0;
  for (const MemoryEvent& event : events) {
    if (event.kind == MemoryEvent::taken) now += event.block_bytes;
    if (event.kind == MemoryEvent::freed) now -= event.block_bytes;
    most = std::max(most, now);
    largest = std::max(largest, event.block_bytes);
  }
  std::size_t weights = 0;
  for (const Parameter& parameter : model->params()) weights += static_cast<std::size_t>(parameter.array().nbytes());
  EXPECT_GE(now, weights);
  EXPECT_LE(most, now + 2 * largest);
}

TEST(LoadLanguageModel, SaysWhatIsMissingTooMuchAndOfAnotherShape) {
  Copy copy("llama");
  copy.remove("model.layers.1.self_attn.k_proj.weight");
  copy.remove("model.norm.weight");
  copy.tensors.emplace_back("model.layers.0.mlp.more.weight", io::HostArray::scalar(1.0f));
  copy.tensors.emplace_back("model.layers.2.input_layernorm.weight", copy["model.layers.1.input_layernorm.weight"]);
  copy["lm_head.weight"].shape = {20, 53};
  const std::string said = copy.refused();
  for (const char* piece :
       {"2 tensors are missing", "model.layers.1.self_attn.k_proj.weight", "model.norm.weight", "2 are unexpected",
        "model.layers.0.mlp.more.weight", "model.layers.2.input_layernorm.weight",
        "1 do not fit: lm_head.weight is (20, 53), not (53, 20)"})
    EXPECT_TRUE(has(said, piece)) << said;

  Copy gpt("gpt2");
  gpt["transformer.h.0.attn.c_attn.weight"].shape = {63, 21};
  EXPECT_TRUE(has(gpt.refused(), "c_attn.weight is (63, 21), not (21, 63)")) << gpt.refused();
  gpt["transformer.h.0.attn.c_attn.weight"].shape = {21, 63};
  gpt.remove("transformer.h.1.attn.c_attn.bias");
  EXPECT_TRUE(has(gpt.refused(), "1 tensors are missing: transformer.h.1.attn.c_attn.bias")) << gpt.refused();
}

TEST(LoadLanguageModel, RefusesWhatItDoesNotKnow) {
  struct Case {
    const char *folder, *piece, *other, *said;
  };
  for (const Case& c : {
           Case{"llama", "\"model_type\": \"llama\"", "\"model_type\": \"mamba\"",
                "unknown architecture 'mamba'; known are chatglm, glm, glm4, gpt2, llama, mistral, qwen2"},
           Case{"llama", "\"model_type\": \"llama\"", "\"model_type\": null", "'model_type' is missing"},
           Case{"llama", "\"hidden_size\": 20", "\"hidden_size\": \"20\"", "'hidden_size' must be a whole number"},
           Case{"llama", "\"hidden_size\": 20", "\"hidden_size\": -20", "'hidden_size' must be a whole number"},
           Case{"llama", "\"hidden_size\": 20", "\"hidden_size\": 1e400", "this is not JSON"},
           Case{"llama", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1000000",
                "must be at most 21 for these tensors"},
           Case{"llama", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3",
                "4 heads do not share the keys of 3"},
           Case{"llama", "\"vocab_size\": 53", "\"vocabulary\": 53", "'vocab_size' is missing"},
           Case{"llama", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"relu\"",
                "'hidden_act' is not supported; expected one of silu, not"},
           Case{"llama", "\"llama3\"", "\"yarn\"",
                "'rope_type' is not supported; expected one of default, linear, llama3"},
           Case{"llama", "\"factor\": 8.0", "\"factor\": -8.0", "factor must be positive"},
           Case{"llama", "\"mlp_bias\": false", "\"mlp_bias\": true", "'mlp_bias' must be false"},
           Case{"llama", "{", "[{", "this is not JSON"},
           Case{"gpt2", "\"gelu_new\"", "\"relu\"", "'activation_function' is not supported"},
           Case{"gpt2", "\"scale_attn_by_inverse_layer_idx\": false", "\"scale_attn_by_inverse_layer_idx\": true",
                "must be false"},
           Case{"gpt2", "\"n_head\": 3", "\"n_head\": 4", "is no multiple of 4 heads"},
       }) {
    Copy copy(c.folder);
    copy.config = with_piece(copy.config, c.piece, c.other);
    EXPECT_TRUE(has(copy.refused(), c.said)) << c.other << ": " << copy.refused();
  }
  const Folder empty;
  EXPECT_THROW(L::load_language_model(empty.path), FileError);
  EXPECT_THROW(L::load_language_model(empty / "nothing"), FileError);
  empty.write("config.json", Copy("llama").config);
  EXPECT_THROW(L::load_language_model(empty.path), FileError);
}

TEST(LoadLanguageModel, PartsOfAnIndexAreChecked) {
  Folder folder;
  std::filesystem::copy(language_model("qwen2"), folder.path, std::filesystem::copy_options::recursive);
  const std::string index = text_of(folder / "model.safetensors.index.json");
  const auto refused = [&](const std::string& text) {
    folder.write("model.safetensors.index.json", text);
    return tests::error_of<FileError>([&] { L::load_language_model(folder.path); });
  };
  EXPECT_EQ(refused(index), "");
  EXPECT_TRUE(has(refused(with_piece(index, "model-00003", "../model-00003")), "model-00003"));
  EXPECT_TRUE(has(refused(with_piece(index, "model-00003", "model-00002")), "model-00002-of"));
  EXPECT_TRUE(has(refused("{\"weight_map\": 3}"), "weight_map"));
  EXPECT_TRUE(has(refused(with_piece(index, "model-00001", "model-00009")), "model-00009"));
}

TEST(LoadGguf, SaysWhatTransformersSays) {
  for (const std::string& name : kFolders) {
    if (name == "chatglm") continue;  // GGUF does not support it
    EXPECT_EQ(tests::differences(language_model(name) + ".gguf", tests::ExpectedText(language_model(name))), "")
        << name;
  }
}

TEST(LoadGguf, BlocksStayBlocks) {
  for (const char* name : {"llama_q8_0", "qwen2_q4_0", "glm_q8_0"}) {
    const std::string file = language_model(name) + ".gguf";
    EXPECT_EQ(tests::differences(file, tests::ExpectedText(language_model(name))), "") << name;
    const auto model = L::load_language_model(file);
    const auto& llama = dynamic_cast<const L::Llama&>(*model);
    EXPECT_TRUE(llama.tokens.quantized());
    EXPECT_TRUE(llama.blocks[1].attention.k.quantized());
    EXPECT_TRUE(llama.blocks[1].up.quantized());
    EXPECT_THROW(L::load_language_model(file, {.dtype = Dtype::bfloat16}), ValueError);
    EXPECT_EQ(L::load_language_model(file, {.dtype = std::nullopt})->params().front().dtype(), Dtype::float32);
  }
}

TEST(LoadGguf, BlocksBecomeWeightsThatAreTrained) {
  for (const char* name : {"llama_q8_0", "qwen2_q4_0", "glm_q8_0"}) {
    const std::string file = language_model(name) + ".gguf";
    const auto blocks = L::load_language_model(file), plain = L::load_language_model(file, {.dequantize = true});
    const auto& llama = dynamic_cast<const L::Llama&>(*plain);
    ASSERT_FALSE(llama.tokens.quantized() || llama.blocks[1].attention.k.quantized()) << name;
    const Variable ids(array({{1, 2, 3, 4}}), false);
    EXPECT_LE(max(abs((*blocks)(ids).array() - (*plain)(ids).array())).item<float>(), 1e-4F) << name;
    const auto half = L::load_language_model(file, {.dtype = Dtype::bfloat16, .dequantize = true});
    for (const Parameter& parameter : half->params()) EXPECT_EQ(parameter.dtype(), Dtype::bfloat16) << name;

    const Array rows = llama.tokens.W.array();
    EXPECT_EQ(rows.to_vector<float>(),
              dequantize(*dynamic_cast<const L::Llama&>(*blocks).tokens.quantized()).to_vector<float>());
    const Array before = rows.copy();
    const optimizers::SGD optimizer({.lr = 0.1});
    optimizer.setup(llama);
    optimizer.update([&] { return functions::sum(functions::square((*plain)(ids))); });
    EXPECT_GT(max(abs(llama.tokens.W.array() - before)).item<float>(), 0) << name;
  }
}

TEST(LoadLanguageModel, TrainsWhateverItsClassIs) {
  for (const std::string& name : kFolders) {
    const auto loaded = L::load_language_model(language_model(name));
    const Variable ids(tests::ExpectedText(language_model(name)).ids.to_device(current_device()), false);
    const auto mode = test_mode();  // GPT drops out
    const optimizers::SGD optimizer({.lr = 0.1});
    optimizer.setup(*loaded);
    EXPECT_EQ(optimizer.target().link().type_name(), loaded->type_name());
    const auto error = [&] { return functions::mean(functions::square((*loaded)(ids))).array().item<float>(); };
    const float before = error();
    optimizer.update([&] { return functions::mean(functions::square((*loaded)(ids))); });
    EXPECT_LT(error(), before) << name;
    EXPECT_EQ(optimizer.target()(ids).array().to_vector<float>(), (*loaded)(ids).array().to_vector<float>());
  }
  // Whose model outlives the pointer that was loaded
  const optimizers::SGD optimizer;
  optimizer.setup(*L::load_language_model(language_model("llama")));
  EXPECT_EQ(optimizer.target()(Variable(array({{1, 2, 3}}))).shape(), Shape({1, 3, 53}));
}

struct OwnLlama : L::Llama {
  using L::Llama::Llama;
  std::string type_name() const override { return "OwnLlama"; }
};
TEST(LoadLanguageModel, NamesAClassThatHasNoModel) {
  const OwnLlama own({.vocabulary = 8, .context = 8, .width = 8, .layers = 1, .heads = 2, .hidden = 8});
  const L::LanguageModel& general = own;
  const std::string said = tests::error_of<ValueError>([&] { optimizers::SGD().setup(general); });
  EXPECT_TRUE(has(said, "OwnLlama") && has(said, "as_model()")) << said;
  EXPECT_NO_THROW(optimizers::SGD().setup(own));
}

/// Turns a file without Q5_0 into one with Q5_0 blocks: those of the package with their values.
TEST(LoadGguf, BlocksWithoutProductsBecomeWeights) {
  const io::GgufReader blocks(tests::source_path("tests/data/io/gguf/numbers_of_blocks.gguf"));
  random::seed(1);
  const L::Llama plain({.vocabulary = 6, .context = 8, .width = 64, .layers = 1, .heads = 2, .hidden = 64});
  const Folder folder;
  const std::string file = folder / "plain.gguf", old = folder / "old.gguf";
  const io::HostArray numbers = blocks.read("q5_0.values");
  plain.tokens.W.set_array(Array::from_host(numbers.data.get(), {6, 64}, Dtype::float32, Device()));
  L::save_language_model(file, plain);
  std::string text = text_of(file);
  // the type follows the name, the number of axes and the axes; the rows' data are replaced in place
  const std::string name = "token_embd.weight";
  const io::GgufReader reader(file);
  const std::size_t type = text.find(name) + name.size() + 4 + 16;
  ASSERT_EQ(text[type], 0);
  text[type] = 6;
  const std::span<const std::byte> rows = blocks.bytes("q5_0");
  text.replace(static_cast<std::size_t>(reader.tensor(name).begin), rows.size(),
               reinterpret_cast<const char*>(rows.data()), rows.size());
  std::ofstream(old, std::ios::binary) << text;
  testing::internal::CaptureStderr();
  const auto model = L::load_language_model(old);
  EXPECT_TRUE(has(testing::internal::GetCapturedStderr(), "1 tensors of Q5_0 are dequantised"));
  const auto& loaded = dynamic_cast<const L::Llama&>(*model);
  EXPECT_EQ(loaded.tokens.W.array().to_vector<float>(), plain.tokens.W.array().to_vector<float>());
}

TEST(LoadGguf, LargeBlocksStayBlocks) {
  // blocks of 256 numbers need rows of a multiple, queries and keys are also reordered
  random::seed(1);
  const L::Llama plain(
      {.vocabulary = 40, .context = 32, .width = 256, .layers = 1, .heads = 4, .hidden = 512, .groups = 2});
  const Folder folder;
  const std::string file = folder / "plain.gguf", small = folder / "small.gguf";
  L::save_language_model(file, plain);
  const io::GgufReader reader(file);
  const auto quantized = [&](const std::function<Quantization(const std::string&)>& kind_of, bool whole) {
    io::GgufMetadata metadata;
    for (const std::string_view key : reader.keys()) metadata.emplace_back(std::string(key), reader.value(key));
    std::vector<io::GgufTensor> tensors;
    for (const std::string& name : reader.names()) {
      const io::HostArray values = reader.read(name);
      const Array array = Array::from_host(values.data.get(), values.shape, values.dtype, Device());
      if (array.ndim() < 2) {
        tensors.push_back({.name = name, .data = values});
        continue;
      }
      const QuantizedArray w = quantize(array, kind_of(name));
      const Array given = whole ? dequantize(w) : w.blocks();
      io::HostArray host = io::HostArray::empty(given.dtype(), given.shape());
      given.copy_to_host(host.data.get());
      tensors.push_back({.name = name, .data = host});
      if (!whole) tensors.back().kind = w.kind(), tensors.back().shape = w.shape();
    }
    io::write_gguf(small, metadata, tensors);
    return L::load_language_model(small);
  };
  const std::vector<std::int64_t> text = {1, 20, 7, 39, 0, 5};
  const Array ids = Array::from_host(text.data(), {1, 6}, Dtype::int64);
  const auto no_graph = no_backprop_mode();
  for (const auto& [usual, last] :
       {std::pair(Quantization::q4_k, Quantization::q6_k), std::pair(Quantization::q6_k, Quantization::q4_k),
        std::pair(Quantization::q3_k, Quantization::q5_k), std::pair(Quantization::mxfp4, Quantization::iq4_nl)}) {
    const auto kind_of = [usual = usual, last = last](const std::string& name) {
      return name.starts_with("blk.") ? usual : last;
    };
    const auto blocks = quantized(kind_of, false), whole = quantized(kind_of, true);
    const auto& llama = dynamic_cast<const L::Llama&>(*blocks);
    EXPECT_EQ(llama.blocks[0].attention.q.quantized()->kind(), usual);
    EXPECT_EQ(llama.head->quantized()->kind(), last);
    EXPECT_EQ(llama.tokens.quantized()->kind(), last);
    EXPECT_FALSE(dynamic_cast<const L::Llama&>(*whole).head->quantized());
    EXPECT_TRUE(allclose((*blocks)(ids).array(), (*whole)(ids).array(), 1e-4, 1e-5));
    EXPECT_FALSE(allclose((*blocks)(ids).array(), plain(ids).array(), 1e-4, 1e-5));
    EXPECT_EQ(L::generate(*blocks, text, {.tokens = 8, .temperature = 0}),
              tests::greedy_without_cache(*blocks, text, 8));
  }
}

TEST(LoadGguf, QueriesKeysAndValuesMayBeOneTensor) {
  for (const char* name : {"glm", "glm4"}) {
    GgufCopy copy(name);
    const bool is_one =
        std::ranges::any_of(copy.tensors, [](const auto& tensor) { return has(tensor.name, "attn_qkv"); });
    if (is_one) continue;
    for (const std::string block : {"blk.0.", "blk.1."})
      for (const char* leaf : {".weight", ".bias"}) {
        std::vector<Array> parts;
        for (const char* part : {"attn_q", "attn_k", "attn_v"}) {
          const io::HostArray& from = copy[block + part + leaf].data;
          parts.push_back(Array::from_host(from.data.get(), from.shape, from.dtype, Device()));
          copy.remove(block + part + leaf);
        }
        const Array all = concatenate(parts);
        io::HostArray host = io::HostArray::empty(all.dtype(), all.shape());
        all.copy_to_host(host.data.get());
        copy.tensors.push_back({block + "attn_qkv" + leaf, host});
      }
    EXPECT_LE(tests::difference(*copy.load(), tests::ExpectedText(language_model(name))), 1e-4) << name;
  }
}

TEST(LoadGguf, SettingsAreTheMetadatas) {
  GgufCopy copy("llama_tied");
  const tests::ExpectedText expected(language_model("llama_tied"));
  copy.set("llama.rope.scaling.factor", 2.0f);
  EXPECT_GT(tests::difference(*copy.load(), expected), 1e-3);
  copy = GgufCopy("llama");
  copy.remove("rope_freqs.weight");
  EXPECT_GT(tests::difference(*copy.load(), tests::ExpectedText(language_model("llama"))), 1e-3);
  copy.set("tokenizer.ggml.eos_token_id", std::uint32_t{7});
  copy.set("tokenizer.ggml.eot_token_id", std::uint32_t{9});
  const auto model = copy.load();
  EXPECT_EQ(model->end_tokens, (std::vector<std::int64_t>{7, 9}));
  EXPECT_EQ(model->context(), 64);
  EXPECT_EQ(model->vocabulary(), 53);
}

TEST(LoadGguf, RefusesWhatItDoesNotKnow) {
  struct Case {
    const char *file, *key;
    io::GgufValue value;
    const char* said;
  };
  for (const Case& c : {
           Case{"llama", "general.architecture", std::string("mamba"),
                "unknown architecture 'mamba'; known are chatglm, glm4, gpt2, llama, qwen2"},
           Case{"llama", "llama.context_length", std::uint32_t{0}, "'llama.context_length' must be from 1 to"},
           Case{"llama", "llama.context_length", std::string("64"), "llama.context_length"},
           Case{"llama", "llama.block_count", std::uint32_t{100000},
                "'llama.block_count' must be at most 22 for these tensors"},
           Case{"llama", "llama.block_count", std::uint32_t{1}, "are unexpected: blk.1."},
           Case{"llama", "llama.block_count", std::uint32_t{3}, "tensors are missing: "},
           Case{"llama", "llama.attention.head_count_kv", std::uint32_t{3}, "4 heads do not share the keys of 3"},
           Case{"llama", "llama.attention.value_length", std::uint32_t{4}, "must be attention.key_length"},
           Case{"llama", "llama.expert_count", std::uint32_t{4}, "mixtures of experts are not known here"},
           Case{"llama", "llama.rope.scaling.type", std::string("yarn"), "is not known here; none and linear are"},
           Case{"llama", "llama.rope.freq_base", -1.0f, "must be positive"},
           Case{"llama", "llama.rope.dimension_count", std::uint32_t{4}, "rope_freqs.weight must be 2 numbers"},
           Case{"llama", "llama.rope.dimension_count", std::uint32_t{600},
                "must be even and at most 6, a head's size, not 600"},
           Case{"gpt2", "gpt2.attention.head_count", std::uint32_t{4}, "is no multiple of 4 heads"},
           Case{"glm", "chatglm.attention.sliding_window", std::uint32_t{4}, "attention.sliding_window"},
           Case{"glm4", "glm4.attention.sliding_window", std::uint32_t{4}, "attention.sliding_window"},
       }) {
    GgufCopy copy(c.file);
    copy.set(c.key, c.value);
    EXPECT_TRUE(has(copy.refused(), c.said)) << c.key << ": " << copy.refused();
  }
  GgufCopy copy("qwen2");
  copy.remove("token_embd.weight");
  EXPECT_TRUE(has(copy.refused(), "token_embd.weight")) << copy.refused();
  copy = GgufCopy("qwen2");
  copy.remove("general.architecture");
  EXPECT_TRUE(has(copy.refused(), "general.architecture")) << copy.refused();
  copy = GgufCopy("qwen2");
  copy["blk.0.ffn_down.weight"].data.shape = {37, 28};
  EXPECT_TRUE(has(copy.refused(), "blk.0.ffn_down.weight is (37, 28), not (28, 37)")) << copy.refused();
}

TEST(LoadLanguageModel, EndTokensEndAText) {
  Copy copy("mistral");
  const tests::ExpectedText expected(language_model("mistral"));
  const std::int64_t end = expected.greedy[3];
  const auto first = std::ranges::find(expected.greedy, end);
  copy.config =
      with_piece(copy.config, "\"eos_token_id\": null", "\"eos_token_id\": [46, " + std::to_string(end) + "]");
  const auto model = copy.load();
  EXPECT_EQ(model->end_tokens, (std::vector<std::int64_t>{46, end}));
  const auto wanted = std::find_if(expected.greedy.begin(), first, [](std::int64_t token) { return token == 46; });
  EXPECT_EQ(L::generate(*model, expected.first, {.tokens = 20, .temperature = 0}),
            (std::vector<std::int64_t>(expected.greedy.begin(), wanted == first ? first + 1 : wanted + 1)));
}

TEST(LanguageNames, EveryRowIsReadAndFits) {
  // each row of Hugging Face's table is used by a file or may be missing in files
  std::set<std::string> unused, used;
  for (const S::LanguageName& row : S::language_names()) {
    std::string theirs = row.theirs, ours = row.ours;
    for (std::string* text : {&theirs, &ours})
      for (std::size_t at; (at = text->find('*')) != std::string::npos;) text->replace(at, 1, "17");
    const std::string architectures = row.architectures;
    const std::string architecture = architectures.substr(0, architectures.find(' '));
    const auto tensor = S::language_tensor(row.format, architecture, theirs);
    ASSERT_TRUE(tensor) << theirs;
    EXPECT_EQ(fmt::format("{}", fmt::join(tensor->ours, " ")), ours);
    EXPECT_EQ(tensor->layout, row.layout);
    for (const std::string& path : tensor->ours)
      EXPECT_TRUE(has(S::language_tensor_name(row.format, architecture, path), theirs)) << path;
    EXPECT_EQ(tensor->ours.empty(), row.layout == S::LanguageLayout::ignored) << theirs;
  }
  const auto gguf = S::LanguageFormat::gguf;
  const auto hugging_face = S::LanguageFormat::hugging_face;
  EXPECT_EQ(S::language_architectures(gguf), (std::vector<std::string>{"chatglm", "glm4", "gpt2", "llama", "qwen2"}));
  EXPECT_EQ(S::language_tensor(gguf, "llama", "blk.3.attn_q.weight")->layout, S::LanguageLayout::paired);
  EXPECT_EQ(S::language_tensor(gguf, "qwen2", "blk.3.attn_q.weight")->layout, S::LanguageLayout::same);
  for (const char* name :
       {"blk..attn_q.weight", "blk.03.attn_q.weight", "blk.x.attn_q.weight", "blk.3.attn_q.weight2", ""})
    EXPECT_FALSE(S::language_tensor(gguf, "llama", name)) << name;
  EXPECT_FALSE(S::language_tensor(hugging_face, "lla", "model.norm.weight"));
  EXPECT_FALSE(S::language_tensor(hugging_face, "", "model.norm.weight"));
  EXPECT_EQ(S::language_tensor_name(hugging_face, "llama", "nothing/W"), "");
}

TEST(LanguageNames, AFileHasAllThatItsModelHas) {
  // every parameter of the models comes from a row, and every row names an existing parameter
  for (const std::string& name : kFolders) {
    const auto model = L::load_language_model(language_model(name));
    const std::string architecture = name == "llama_tied" ? "llama" : name;
    for (const auto& [path, parameter] : model->namedparams())
      EXPECT_NE(S::language_tensor_name(S::LanguageFormat::hugging_face, architecture, path.substr(1)), "") << path;
  }
}

}  // namespace
}  // namespace catenary
