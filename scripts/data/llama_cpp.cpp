// Does Catenary's part of scripts/check_llama_cpp.py:
//
//   llama_cpp models FOLDER DATA     writes random models and tokenizers as GGUF files; DATA is tests/data/tokenizers
//   llama_cpp plain FROM TO          writes the file with all weights in float32
//   llama_cpp encode FILE            encodes texts from standard input, each after a line with its length in bytes.
//                                    Writes two lines of tokens for each: without and with special tokens parsed

#include <catenary/catenary.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

namespace ct = catenary;
namespace L = ct::links;

namespace {

/// Sets random weights, with which a text does not repeat one word.
void shake(const L::LanguageModel& model, std::int64_t width) {
  for (const auto& [path, parameter] : model.namedparams()) {
    const ct::Array noise = ct::random::standard_normal(parameter.shape(), {.dtype = ct::Dtype::float32});
    const bool scales = path.ends_with("/gamma");
    parameter.set_array(noise * (1.1 / std::sqrt(static_cast<double>(width))) + (scales ? 1.0 : 0.0));
  }
}

/// Writes a file again, with all weights in float32.
void plain(const std::string& from, const std::string& to) {
  const ct::io::GgufReader reader(from);
  ct::io::GgufMetadata metadata;
  for (const std::string_view key : reader.keys()) metadata.emplace_back(std::string(key), reader.value(key));
  std::vector<ct::io::GgufTensor> tensors;
  for (const std::string& name : reader.names()) {
    const ct::io::GgufReader::Tensor& tensor = reader.tensor(name);
    const ct::Array read = ct::from_host(reader.read(name), ct::Device());
    const ct::Array values = tensor.kind ? ct::dequantize(ct::QuantizedArray(read, *tensor.kind, tensor.shape)) : read;
    tensors.push_back({.name = name, .data = ct::to_host(values.astype(ct::Dtype::float32))});
  }
  ct::io::write_gguf(to, metadata, tensors);
}

/// Writes a file again, with another tokenizer.
void with_tokens(const std::string& from, const std::string& to, const ct::GgufTokens& tokens) {
  const ct::io::GgufReader reader(from);
  ct::io::GgufMetadata metadata;
  for (const std::string_view key : reader.keys())
    if (!key.starts_with("tokenizer.")) metadata.emplace_back(std::string(key), reader.value(key));
  for (auto& pair : ct::gguf_metadata(tokens)) metadata.push_back(pair);
  std::vector<ct::io::GgufTensor> tensors;
  for (const std::string& name : reader.names()) tensors.push_back({.name = name, .data = reader.read(name)});
  ct::io::write_gguf(to, metadata, tensors);
}

/// Writes a small Llama for a tokenizer.
void llama_of(const std::string& path, const ct::GgufTokens& tokens) {
  const L::Llama model(
      {.vocabulary = std::ssize(tokens.tokens), .context = 128, .width = 32, .layers = 1, .heads = 2, .hidden = 32});
  shake(model, 32);
  L::save_language_model(path, model);
  with_tokens(path, path, tokens);
}

/// Converts a tokenizer.json with byte-level BPE to the form of GGUF files.
ct::GgufTokens of_json(const std::string& path, const std::string& pre) {
  const auto document = nlohmann::json::parse(std::ifstream(path));
  ct::GgufTokens tokens{.model = "gpt2", .pre = pre};
  const auto put = [&](const std::string& token, std::size_t id, std::int32_t type) {
    tokens.tokens.resize(std::max(tokens.tokens.size(), id + 1));
    tokens.token_types.resize(tokens.tokens.size(), 1);
    tokens.tokens[id] = token;
    tokens.token_types[id] = type;
  };
  for (const auto& [token, id] : document["model"]["vocab"].items()) put(token, id, 1);
  for (const auto& token : document["added_tokens"]) put(token["content"], token["id"], token["special"] ? 3 : 4);
  for (std::size_t i = 0; i < tokens.tokens.size(); ++i)
    if (tokens.tokens[i].empty()) put(fmt::format("[PAD{}]", i), i, 5);
  for (const auto& merge : document["model"]["merges"])
    tokens.merges.push_back(merge.is_string() ? merge.get<std::string>()
                                              : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  tokens.bos = tokens.eos = 0;
  for (std::size_t i = 0; i < tokens.tokens.size(); ++i)
    if (tokens.token_types[i] == 3) tokens.bos = tokens.eos = static_cast<std::int64_t>(i);
  return tokens;
}

/// Makes a BPE tokenizer with scores: all bytes, and the pieces of a trained vocabulary, with falling scores.
ct::GgufTokens scored(const ct::Tokenizer& trained) {
  ct::GgufTokens tokens{.model = "llama"};
  const auto put = [&](const std::string& token, float score, std::int32_t type) {
    tokens.tokens.push_back(token);
    tokens.scores.push_back(score);
    tokens.token_types.push_back(type);
  };
  put("<unk>", 0, 2);
  put("<s>", 0, 3);
  put("</s>", 0, 3);
  for (int byte = 0; byte < 256; ++byte) put(fmt::format("<0x{:02X}>", byte), 0, 6);
  float score = 0;
  std::set<std::string> seen;
  for (std::int64_t id = 0; id < trained.vocabulary_size(); ++id) {
    const std::vector<std::int64_t> one = {id};
    std::string text = trained.decode(one), piece;
    if (text.empty() || text[0] == '\0' || text.find("\xef\xbf\xbd") != std::string::npos) continue;
    for (const char c : text) piece += c == ' ' ? "\xe2\x96\x81" : std::string(1, c);
    if (seen.insert(piece).second) put(piece, --score, 1);  // a space and U+2581 become one piece
  }
  tokens.unknown = 0;
  tokens.bos = 1;
  tokens.eos = 2;
  return tokens;
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void models(const std::string& folder, const std::string& data) {
  ct::random::seed(28);
  const ct::Tokenizer bytes = ct::train_byte_pairs("", 257),
                      pairs =
                          ct::train_byte_pairs(read_text(data + "/texts.py") + read_text(data + "/cases.json"), 1000);
  const auto gpt = [&](const std::string& name, const L::GPTOptions& options, const L::SaveLanguageModelOptions& how) {
    const L::GPT model(options);
    shake(model, options.width);
    L::save_language_model(folder + "/" + name, model, how);
  };
  const auto llama = [&](const std::string& name, const L::LlamaOptions& options,
                         const L::SaveLanguageModelOptions& how) {
    const L::Llama model(options);
    shake(model, options.width);
    L::save_language_model(folder + "/" + name, model, how);
  };
  const L::GPTOptions small{.vocabulary = 257, .context = 64, .width = 64, .layers = 2, .heads = 4};
  gpt("gpt.gguf", small, {.tokenizer = bytes});
  gpt("gpt_head.gguf",
      {.vocabulary = 1003, .context = 64, .width = 64, .layers = 3, .heads = 4, .hidden = 96, .tied = false},
      {.tokenizer = pairs});
  gpt("gpt_f16.gguf", small, {.dtype = ct::Dtype::float16, .tokenizer = bytes});
  gpt("gpt_bf16.gguf", small, {.dtype = ct::Dtype::bfloat16, .tokenizer = bytes});
  gpt("gpt_alone.gguf", {.vocabulary = 90, .context = 64, .width = 96, .layers = 2, .heads = 3}, {});
  const L::LlamaOptions narrow{.vocabulary = 257, .context = 64, .width = 64, .layers = 2, .heads = 4, .hidden = 96};
  const auto llama_with = [&](const std::string& name, const ct::Tokenizer& tokenizer, auto change) {
    L::LlamaOptions options = narrow;
    options.vocabulary = tokenizer.vocabulary_size();
    change(options);
    llama(name, options, {.tokenizer = tokenizer});
  };
  llama_with("llama.gguf", pairs, [](L::LlamaOptions& o) { o.layers = 3; });
  llama_with("llama_groups.gguf", bytes, [](L::LlamaOptions& o) {
    o.vocabulary = 301;
    o.groups = 2;
    o.head_size = 24;
    o.epsilon = 1e-6;
    o.rotary.base = 500;
    o.tied = true;
  });
  llama_with("llama_bias.gguf", bytes, [](L::LlamaOptions& o) {
    o.groups = 1;
    o.qkv_bias = o.out_bias = true;
  });
  llama_with("llama_rates.gguf", bytes, [](L::LlamaOptions& o) {
    o.rotary.rates = ct::functions::rotary_rates(16, 10000, {.factor = 8, .learnt = 16});
  });
  llama_with("qwen2.gguf", pairs, [](L::LlamaOptions& o) {
    o.groups = 2;
    o.qkv_bias = true;
  });
  llama_with("wide.gguf", bytes, [](L::LlamaOptions& o) {
    o.width = 256;
    o.layers = 4;
    o.heads = 8;
    o.hidden = 512;
    o.groups = 4;
  });
  // tokenizers of other forms, each with a small model
  llama_of(folder + "/words_llama3.gguf", of_json(data + "/llama3.json", "llama-bpe"));
  llama_of(folder + "/words_qwen2.gguf", of_json(data + "/qwen2.json", "qwen2"));
  llama_of(folder + "/words_glm4.gguf", of_json(data + "/glm4.json", "chatglm-bpe"));
  llama_of(folder + "/words_gpt2.gguf", of_json(data + "/gpt2.json", "gpt-2"));
  llama_of(folder + "/words_default.gguf", of_json(data + "/gpt2.json", "default"));
  llama_of(folder + "/scored.gguf", scored(pairs));
}

void encode(const std::string& file) {
  const ct::Tokenizer tokenizer = ct::load_tokenizer(file);
  for (std::string line; std::getline(std::cin, line);) {
    std::string text(std::stoul(line), '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    fmt::print("{}\n{}\n", fmt::join(tokenizer.encode(text), " "),
               fmt::join(tokenizer.encode(text, {.parse_special = true}), " "));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() == 3 && arguments[0] == "models")
      models(arguments[1], arguments[2]);
    else if (arguments.size() == 3 && arguments[0] == "plain")
      plain(arguments[1], arguments[2]);
    else if (arguments.size() == 2 && arguments[0] == "encode")
      encode(arguments[1]);
    else
      throw ct::ValueError("models FOLDER DATA, plain FROM TO or encode FILE");
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "llama_cpp: {}\n", e.what());
    return 1;
  }
}
