#include "catenary/links/models/save_language_model.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "catenary/array/array.h"
#include "catenary/array/io.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/gguf.h"
#include "catenary/io/safetensors.h"
#include "catenary/links/models/chat_form.h"
#include "catenary/links/models/gpt.h"
#include "catenary/links/models/llama.h"
#include "catenary/links/quantized.h"
#include "catenary/serializers/language_names.h"
#include "catenary/tokenizers/gguf_file.h"

namespace catenary::links {

namespace {

using serializers::LanguageFormat;
using serializers::LanguageLayout;
using Json = nlohmann::ordered_json;

constexpr const char* kWhat = "save_language_model";

/// The model with the properties that files record.
struct Subject {
  const LanguageModel& model;
  const GPT* gpt = nullptr;
  const Llama* llama = nullptr;
  std::int64_t head_size = 0;
  std::vector<std::int64_t> ends;
};

bool has_window(const LlamaOptions& options) {
  return options.windows.empty() ? options.window > 0
                                 : std::ranges::any_of(options.windows, [](std::int64_t window) { return window > 0; });
}

/// The number of different windows among the layers that have a window.
std::size_t different_windows(const LlamaOptions& options) {
  std::set<std::int64_t> windows(options.windows.begin(), options.windows.end());
  windows.erase(0);
  return windows.size();
}

/// Hugging Face's name for a model of Llama's architecture with these options.
std::string family(const LlamaOptions& options) {
  if (options.qkv_bias && !options.out_bias) return "qwen2";
  return has_window(options) ? "mistral" : "llama";
}

Subject subject_of(const LanguageModel& model, const SaveLanguageModelOptions& options) {
  Subject subject{.model = model, .ends = model.end_tokens};
  subject.gpt = dynamic_cast<const GPT*>(&model);
  subject.llama = dynamic_cast<const Llama*>(&model);
  if (!subject.gpt && (!subject.llama || model.type_name() != "Llama"))
    fail<ValueError>("{}: cannot save a {}; only GPT and Llama are supported", kWhat, model.type_name());
  model.for_each_link([](const std::string& path, const Link& link) {
    if (const auto* of = dynamic_cast<const QuantizableW*>(&link); of && of->quantized())
      fail<ValueError>(
          "{}: {} is quantised; save the plain model (load_language_model's .dequantize gives one), and `catenary "
          "quantize` makes a quantised file of it",
          kWhat, path);
  });
  if (options.dtype && *options.dtype != Dtype::float32 && *options.dtype != Dtype::float16 &&
      *options.dtype != Dtype::bfloat16)
    fail<DtypeError>("{}: dtype must be float32, float16 or bfloat16, not {}", kWhat, *options.dtype);
  if (options.tokenizer) {
    if (options.tokenizer->vocabulary_size() > model.vocabulary())
      fail<ValueError>("{}: the tokenizer has {} tokens, more than the model's {}", kWhat,
                       options.tokenizer->vocabulary_size(), model.vocabulary());
    if (const auto end = options.tokenizer->eos_id(); end && subject.ends.empty()) subject.ends = {*end};
  }
  if (const Llama* llama = subject.llama) {
    const LlamaOptions& o = llama->options;
    subject.head_size = o.head_size.value_or(o.width / std::max<std::int64_t>(1, o.heads));
    const auto refuse = [](const char* why) { fail<ValueError>("{}: no model that others run has {}", kWhat, why); };
    if (o.rotary.interleaved) refuse("Llama's shape and rotary pairs that are neighbours");
    if (o.out_bias && !o.qkv_bias) refuse("a bias of attention's last projection alone");
    if (o.out_bias && has_window(o)) refuse("a window and biases of all projections");
    if (!o.windows.empty() && (family(o) != "qwen2" || different_windows(o) > 1))
      refuse("windows of some layers, but for one window and biases of queries, keys and values (Qwen2)");
  }
  return subject;
}

/// Reorders rows of heads from pairs half a head apart to adjacent pairs.
Array paired(const Array& rows, std::int64_t head_size) {
  const Shape shape = rows.shape();
  Shape heads{shape[0] / head_size, 2, head_size / 2};
  for (int axis = 1; axis < shape.size(); ++axis) heads.push_back(shape[axis]);
  return swapaxes(rows.reshape(heads), 1, 2).reshape(shape);
}

/// The file's tensors, in the order of the parameters. A tensor may hold several parameters.
std::vector<std::pair<std::string, io::HostArray>> tensors_of(const Subject& subject, LanguageFormat format,
                                                              const std::string& architecture,
                                                              const std::optional<Dtype>& dtype) {
  std::map<std::string, Array> parameters;
  std::vector<std::string> paths;
  for (const auto& [path, parameter] : subject.model.namedparams()) {
    if (!parameter.is_initialized()) fail<ValueError>("{}: {} has no values yet", kWhat, path);
    parameters.emplace(path.substr(1), parameter.array());
    paths.push_back(path.substr(1));
  }
  std::vector<std::pair<std::string, io::HostArray>> tensors;
  for (const std::string& path : paths) {
    const std::string name = serializers::language_tensor_name(format, architecture, path);
    const auto tensor = serializers::language_tensor(format, architecture, name);
    if (!tensor) fail<ValueError>("{}: {} has no tensor of a {}", kWhat, path, architecture);
    if (tensor->ours.front() != path) continue;  // written with the first parameter of its tensor
    std::vector<Array> parts;
    for (const std::string& of : tensor->ours) {
      const Array& part = parameters.at(of);
      parts.push_back(tensor->layout == LanguageLayout::paired ? paired(part, subject.head_size) : part);
    }
    Array rows = parts.size() > 1 ? concatenate(parts, 0) : parts.front();
    if (tensor->layout == LanguageLayout::transposed) rows = rows.transpose();
    const bool is_vector = format == LanguageFormat::gguf && rows.ndim() == 1;
    const Dtype to = is_vector ? Dtype::float32 : dtype.value_or(rows.dtype());
    if (to == Dtype::float64)
      fail<DtypeError>(
          "{}: {} is float64, which other programs do not support; set .dtype to float32, float16 or bfloat16", kWhat,
          path);
    tensors.emplace_back(name, to_host(rows.astype(to).copy()));
  }
  return tensors;
}

Json settings_of(const GPT& gpt) {
  const GPTOptions& o = gpt.options;
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"vocab_size", o.vocabulary},
          {"n_positions", o.context},
          {"n_embd", o.width},
          {"n_layer", o.layers},
          {"n_head", o.heads},
          {"n_inner", o.hidden.value_or(4 * o.width)},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", o.epsilon},
          {"resid_pdrop", o.dropout},
          {"embd_pdrop", o.dropout},
          {"attn_pdrop", o.dropout},
          {"tie_word_embeddings", o.tied}};
}

Json settings_of(const Llama& llama, std::int64_t head_size) {
  const LlamaOptions& o = llama.options;
  const std::string type = family(o);
  if (!o.rotary.rates.empty() || o.rotary.dims.value_or(head_size) != head_size)
    fail<ValueError>("{}: config.json cannot store rotary rates or partial rotation; save as GGUF", kWhat);
  Json config = {{"architectures",
                  {(type == "llama"     ? "Llama"
                    : type == "mistral" ? "Mistral"
                                        : "Qwen2") +
                   std::string("ForCausalLM")}},
                 {"model_type", type},
                 {"vocab_size", o.vocabulary},
                 {"max_position_embeddings", o.context},
                 {"hidden_size", o.width},
                 {"num_hidden_layers", o.layers},
                 {"num_attention_heads", o.heads},
                 {"num_key_value_heads", o.groups.value_or(o.heads)},
                 {"head_dim", head_size},
                 {"intermediate_size", o.hidden},
                 {"hidden_act", "silu"},
                 {"rms_norm_eps", o.epsilon},
                 // transformers before version 5 reads the first key, later versions the second
                 {"rope_theta", o.rotary.base},
                 {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", o.rotary.base}}},
                 {"tie_word_embeddings", o.tied}};
  if (type == "llama") config["attention_bias"] = o.qkv_bias;
  if (type == "mistral") config["sliding_window"] = o.window;
  if (type == "qwen2") {
    config["use_sliding_window"] = has_window(o);
    if (o.window > 0) config["sliding_window"] = o.window;
    if (o.window > 0) config["max_window_layers"] = 0;
    if (!o.windows.empty()) {
      config["sliding_window"] = std::ranges::max(o.windows);
      Json types = Json::array();
      for (const std::int64_t window : o.windows) types.push_back(window > 0 ? "sliding_attention" : "full_attention");
      config["layer_types"] = std::move(types);
    }
  }
  return config;
}

void save_folder(const std::string& path, const Subject& subject, const SaveLanguageModelOptions& options) {
  Json config = subject.gpt ? settings_of(*subject.gpt) : settings_of(*subject.llama, subject.head_size);
  const std::string type = config["model_type"];
  const auto tensors = tensors_of(subject, LanguageFormat::hugging_face, type, options.dtype);
  config["torch_dtype"] = tensors.empty() ? "float32" : dtype_name(tensors.front().second.dtype);
  if (options.tokenizer)
    if (const auto begin = options.tokenizer->bos_id()) config["bos_token_id"] = *begin;
  if (!config.contains("bos_token_id"))
    config["bos_token_id"] = nullptr;  // otherwise transformers uses its own defaults
  config["eos_token_id"] = nullptr;
  if (subject.ends.size() == 1) config["eos_token_id"] = subject.ends.front();
  if (subject.ends.size() > 1) config["eos_token_id"] = subject.ends;
  os::make_directories(path);
  io::write_safetensors(path + "/model.safetensors", tensors, {{"format", "pt"}});
  if (options.tokenizer) options.tokenizer->save(path);
  os::AtomicFile file(path + "/config.json");
  file.write(config.dump(2) + "\n");
  file.commit();
}

GgufTokens tokens_of(const Tokenizer& tokenizer, const Subject& subject) {
  GgufTokens tokens = gguf_tokens(tokenizer);
  constexpr std::int32_t kUnused = 5;
  for (std::int64_t id = std::ssize(tokens.tokens); id < subject.model.vocabulary(); ++id) {
    tokens.tokens.push_back(fmt::format("[PAD{}]", id));
    tokens.token_types.push_back(kUnused);
  }
  return tokens;
}

constexpr std::array kEndKeys = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                 "tokenizer.ggml.eom_token_id"};

/// The tokens that end a text. GGUF has only three keys for them, so tokens that readers recognise by name are left out
/// if there are more.
std::vector<std::int64_t> ends_in_gguf(const Subject& subject, const std::optional<Tokenizer>& tokenizer) {
  std::vector<std::int64_t> ends = subject.ends;
  if (ends.size() > kEndKeys.size() && tokenizer) {
    const std::vector<std::int64_t> named = end_of_turn_tokens(*tokenizer);
    std::erase_if(ends, [&](std::int64_t id) { return id != ends.front() && std::ranges::count(named, id) > 0; });
  }
  if (ends.size() > kEndKeys.size())
    fail<ValueError>("{}: GGUF stores at most {} tokens that end a text", kWhat, kEndKeys.size());
  return ends;
}

/// Entries of a GGUF file under construction, and the architecture's name, which begins most keys.
struct GgufEntries {
  std::string architecture;
  io::GgufMetadata metadata;

  void put(const std::string& key, io::GgufValue value) { metadata.emplace_back(key, std::move(value)); }
  void put_size(const char* key, std::int64_t value) {
    put(architecture + "." + key, static_cast<std::uint32_t>(value));
  }
  void put_real(const char* key, double value) { put(architecture + "." + key, static_cast<float>(value)); }
};

void put_options(GgufEntries& entries, const GPTOptions& o) {
  entries.put_size("embedding_length", o.width);
  entries.put_size("feed_forward_length", o.hidden.value_or(4 * o.width));
  entries.put_size("attention.head_count", o.heads);
  entries.put_real("attention.layer_norm_epsilon", o.epsilon);
}

void put_options(GgufEntries& entries, const LlamaOptions& o, std::int64_t head_size) {
  entries.put_size("embedding_length", o.width);
  entries.put_size("feed_forward_length", o.hidden);
  entries.put_size("attention.head_count", o.heads);
  entries.put_size("attention.head_count_kv", o.groups.value_or(o.heads));
  entries.put_size("attention.key_length", head_size);
  entries.put_size("attention.value_length", head_size);
  entries.put_real("attention.layer_norm_rms_epsilon", o.epsilon);
  entries.put_size("rope.dimension_count", o.rotary.dims.value_or(head_size));
  entries.put_real("rope.freq_base", o.rotary.base);
}

/// Returns the divisors of the default rotary rates, as GGUF stores other rates.
io::HostArray rate_divisors(const functions::RotaryOptions& rotary, std::int64_t head_size) {
  const std::vector<double> usual = functions::rotary_rates(rotary.dims.value_or(head_size), rotary.base);
  io::HostArray by = io::HostArray::empty(Dtype::float32, {std::ssize(usual)});
  for (std::size_t i = 0; i < usual.size(); ++i) by.as<float>()[i] = static_cast<float>(usual[i] / rotary.rates[i]);
  return by;
}

void save_gguf(const std::string& path, const Subject& subject, const SaveLanguageModelOptions& options) {
  GgufEntries entries{"gpt2", {}};
  if (subject.llama) {
    if (has_window(subject.llama->options))
      fail<ValueError>("{}: GGUF cannot store the attention window of this Llama; save it as a folder", kWhat);
    entries.architecture = family(subject.llama->options);
  }
  entries.put("general.architecture", entries.architecture);
  entries.put_size("vocab_size", subject.model.vocabulary());
  entries.put_size("context_length", subject.model.context());
  entries.put_size("block_count", subject.model.layers());
  std::vector<std::pair<std::string, io::HostArray>> tensors =
      tensors_of(subject, LanguageFormat::gguf, entries.architecture, options.dtype);
  if (subject.gpt) {
    put_options(entries, subject.gpt->options);
  } else {
    const LlamaOptions& o = subject.llama->options;
    put_options(entries, o, subject.head_size);
    if (!o.rotary.rates.empty()) {
      if (entries.architecture != "llama")
        fail<ValueError>("{}: GGUF cannot store rotary rates for architecture {}", kWhat, entries.architecture);
      tensors.emplace_back("rope_freqs.weight", rate_divisors(o.rotary, subject.head_size));
    }
  }
  if (options.tokenizer) {
    for (auto& [key, value] : gguf_metadata(tokens_of(*options.tokenizer, subject)))
      if (!key.ends_with(".eos_token_id")) entries.put(key, std::move(value));
  } else {
    entries.put("tokenizer.ggml.model", std::string("none"));
  }
  const std::vector<std::int64_t> ends = ends_in_gguf(subject, options.tokenizer);
  for (std::size_t i = 0; i < ends.size(); ++i) entries.put(kEndKeys[i], static_cast<std::uint32_t>(ends[i]));
  std::vector<io::GgufTensor> all;
  for (auto& [name, array] : tensors) all.push_back({.name = name, .data = std::move(array)});
  io::write_gguf(path, entries.metadata, all);
}

}  // namespace

void save_language_model(const std::string& path, const LanguageModel& model, const SaveLanguageModelOptions& options) {
  const Subject subject = subject_of(model, options);
  if (path.ends_with(".gguf"))
    save_gguf(path, subject, options);
  else
    save_folder(path, subject, options);
}

}  // namespace catenary::links
