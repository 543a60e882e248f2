#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/safetensors_index.h"
#include "catenary/links/detail_quantized.h"
#include "catenary/links/models/chatglm.h"
#include "catenary/links/models/glm.h"
#include "catenary/links/models/gpt.h"
#include "catenary/links/models/language_file.h"
#include "catenary/links/models/llama.h"
#include "catenary/tokenizers/json.h"

namespace catenary::links::detail {

namespace {

using nlohmann::json;

json read_json(const std::string& path) {
  const std::vector<std::byte> bytes = os::read_file(path);
  json value = tokenizers::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (!value.is_object()) fail<FileError>("{}: this is no JSON object", path);
  return value;
}

/// A JSON object of settings. What is null is not there.
class Settings {
 public:
  Settings(std::string path, json values) : path_(std::move(path)), values_(std::move(values)) {}

  const std::string& path() const { return path_; }
  bool has(const char* key) const { return values_.contains(key) && !values_[key].is_null(); }
  std::int64_t integer(const char* key) const {
    const json& value = at(key);
    if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > kLargest)
      reject(key, fmt::format("must be a whole number from 1 to {}", kLargest));
    return value.get<std::int64_t>();
  }
  std::int64_t integer(const char* key, std::int64_t otherwise) const { return has(key) ? integer(key) : otherwise; }
  double number(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    if (!at(key).is_number()) reject(key, "must be a number");
    return at(key).get<double>();
  }
  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!at(key).is_boolean()) reject(key, "must be true or false");
    return at(key).get<bool>();
  }
  std::string text(const char* key, const char* otherwise) const {
    if (!has(key)) return otherwise;
    if (!at(key).is_string()) reject(key, "must be a text");
    return at(key).get<std::string>();
  }
  /// One number, or several.
  std::vector<std::int64_t> integers(const char* key) const {
    std::vector<std::int64_t> all;
    if (!has(key)) return all;
    for (const json& value : at(key).is_array() ? at(key) : json::array({at(key)})) {
      if (!value.is_number_integer() || std::abs(value.get<double>()) > kLargest)
        reject(key, fmt::format("must be a whole number of at most {}, or a list of them", kLargest));
      all.push_back(value.get<std::int64_t>());
    }
    return all;
  }
  Settings below(const char* key) const {
    if (!at(key).is_object()) reject(key, "must be an object");
    return {path_, at(key)};
  }
  /// Throws where it is not what is known here.
  void expect(const char* key, const std::vector<std::string>& known, const char* otherwise) const {
    if (const std::string given = text(key, otherwise); std::ranges::count(known, given) == 0)
      reject(key, fmt::format("is not known here; {} are", fmt::join(known, ", ")));
  }
  [[noreturn]] void reject(const char* key, const std::string& why) const {
    fail<FileError>("{}: '{}' {}{}", path_, key, why, has(key) ? ", not " + at(key).dump().substr(0, 100) : "");
  }

 private:
  static constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  const json& at(const char* key) const {
    if (!has(key)) fail<FileError>("{}: '{}' is missing", path_, key);
    return values_[key];
  }
  std::string path_;
  json values_;
};

std::int64_t layers_of(const Settings& config, const char* key, std::int64_t most_layers) {
  const std::int64_t layers = config.integer(key);
  if (layers > most_layers) config.reject(key, fmt::format("must be at most {} for these tensors", most_layers));
  return layers;
}

/// The rotary positions' settings, which stand in two forms: transformers before and from version 5.
functions::RotaryOptions rotary_of(const Settings& config, std::int64_t head_size, double part, bool interleaved) {
  const bool is_new = config.has("rope_parameters");
  const Settings none("", json::object());
  const Settings given = is_new                       ? config.below("rope_parameters")
                         : config.has("rope_scaling") ? config.below("rope_scaling")
                                                      : none;
  const double base = (is_new ? given : config).number("rope_theta", 10000),
               turned = given.number("partial_rotary_factor", config.number("partial_rotary_factor", part));
  if (!(base > 0)) config.reject("rope_theta", "must be positive");
  if (!(turned > 0 && turned <= 1)) config.reject("partial_rotary_factor", "must be in (0, 1]");
  const auto dims = static_cast<std::int64_t>(static_cast<double>(head_size) * turned);
  if (dims % 2 != 0)
    config.reject("partial_rotary_factor",
                  fmt::format("must leave an even part of a head of {}: it leaves {}", head_size, dims));
  functions::RotaryOptions rotary{.base = base, .dims = dims, .interleaved = interleaved};
  const char* kind = given.has("rope_type") ? "rope_type" : "type";
  given.expect(kind, {"default", "linear", "llama3"}, "default");
  if (const std::string type = given.text(kind, "default"); type != "default") {
    functions::RotaryScaling scaling{.factor = given.number("factor", 1)};
    if (type == "llama3") {
      scaling.learnt = given.integer("original_max_position_embeddings");
      scaling.low = given.number("low_freq_factor", 1);
      scaling.high = given.number("high_freq_factor", 4);
    }
    if (dims > LanguageFile::kMostRotated)
      config.reject("head_dim", fmt::format("must be at most {} where rates are scaled", LanguageFile::kMostRotated));
    rotary.rates = functions::rotary_rates(dims, base, scaling);
  }
  return rotary;
}

/// The window of all layers, or 0. That of some layers is refused.
std::int64_t window_of(const Settings& config, const std::string& type) {
  if (type == "mistral") return config.integer("sliding_window", 0);
  if (type != "qwen2" || !config.flag("use_sliding_window", false) || !config.has("sliding_window")) return 0;
  if (const auto full = config.number("max_window_layers", 28); full > 0)
    config.reject("use_sliding_window", "with a window in some of the layers (max_window_layers) is not known here");
  return config.integer("sliding_window");
}

std::unique_ptr<LanguageModel> make_llama(const Settings& config, const std::string& type, std::int64_t most_layers) {
  config.expect("hidden_act", {"silu"}, "silu");
  if (config.flag("mlp_bias", false)) config.reject("mlp_bias", "must be false");
  LlamaOptions options;
  options.vocabulary = config.integer("vocab_size");
  options.context = config.integer("max_position_embeddings");
  options.width = config.integer("hidden_size");
  options.layers = layers_of(config, "num_hidden_layers", most_layers);
  options.heads = config.integer("num_attention_heads");
  options.hidden = config.integer("intermediate_size");
  options.groups = config.integer("num_key_value_heads", options.heads);
  options.head_size = config.integer("head_dim", std::max<std::int64_t>(1, options.width / options.heads));
  options.epsilon = config.number("rms_norm_eps", 1e-6);
  options.tied = config.flag("tie_word_embeddings", false);
  const bool bias = config.flag("attention_bias", type == "glm" || type == "glm4");
  if (type == "glm" || type == "glm4") {
    const functions::RotaryOptions rotary = rotary_of(config, *options.head_size, 0.5, true);
    if (!rotary.rates.empty()) config.reject("rope_scaling", "is not known for GLM");
    return std::make_unique<Glm>(GlmOptions{.vocabulary = options.vocabulary,
                                            .context = options.context,
                                            .width = options.width,
                                            .layers = options.layers,
                                            .heads = options.heads,
                                            .groups = *options.groups,
                                            .hidden = options.hidden,
                                            .head_size = options.head_size,
                                            .epsilon = options.epsilon,
                                            .base = rotary.base,
                                            .turned = rotary.dims,
                                            .qkv_bias = bias,
                                            .tied = options.tied,
                                            .norm_after = type == "glm4"});
  }
  options.rotary = rotary_of(config, *options.head_size, 1, false);
  options.qkv_bias = bias || type == "qwen2";
  options.out_bias = bias && type == "llama";
  options.window = window_of(config, type);
  return std::make_unique<Llama>(options);
}

std::unique_ptr<LanguageModel> make_gpt2(const Settings& config, std::int64_t most_layers) {
  config.expect("activation_function", {"gelu_new", "gelu_pytorch_tanh"}, "gelu_new");
  for (const char* key : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"})
    if (config.flag(key, false)) config.reject(key, "must be false");
  if (!config.flag("scale_attn_weights", true)) config.reject("scale_attn_weights", "must be true");
  GPTOptions options;
  options.vocabulary = config.integer("vocab_size");
  options.context = config.integer("n_positions");
  options.width = config.integer("n_embd");
  options.layers = layers_of(config, "n_layer", most_layers);
  options.heads = config.integer("n_head");
  options.hidden = config.integer("n_inner", 4 * options.width);
  options.epsilon = config.number("layer_norm_epsilon", 1e-5);
  options.dropout = config.number("resid_pdrop", 0.1);
  options.tied = config.flag("tie_word_embeddings", true);
  return std::make_unique<GPT>(options);
}

/// ChatGLM-6B. Those after it have settings of other names, and say they were of the same type.
std::unique_ptr<LanguageModel> make_chatglm(const Settings& config, bool tied, std::int64_t most_layers) {
  if (config.has("padded_vocab_size") || !config.has("inner_hidden_size"))
    config.reject("model_type",
                  "of ChatGLM2 and ChatGLM3 in their own form is not known here; chatglm-6b's is, and GGUF");
  if (!config.flag("position_encoding_2d", true)) config.reject("position_encoding_2d", "must be true");
  if (config.number("quantization_bit", 0) != 0)
    config.reject("quantization_bit", "must be 0: `catenary quantize` makes blocks of weights that are not quantised");
  if (config.has("pre_seq_len")) config.reject("pre_seq_len", "(a prefix that is trained) is not known here");
  ChatGlmOptions options;
  options.vocabulary = config.integer("vocab_size");
  options.context = config.integer("max_sequence_length", 2048);
  options.width = config.integer("hidden_size");
  options.layers = layers_of(config, "num_layers", most_layers);
  options.heads = config.integer("num_attention_heads");
  options.hidden = config.integer("inner_hidden_size");
  options.epsilon = config.number("layernorm_epsilon", 1e-5);
  options.tied = tied;
  options.mask = config.integer("mask_token_id", options.mask);
  options.gmask = config.integer("gmask_token_id", options.gmask);
  options.begin = config.integer("bos_token_id", options.begin);
  return std::make_unique<ChatGlm>(options);
}

class HuggingFace : public LanguageFile {
 public:
  explicit HuggingFace(const std::string& folder)
      : path_(folder), config_(folder + "/config.json", read_json(folder + "/config.json")), weights_(folder) {
    if (!config_.has("model_type")) config_.reject("model_type", "is missing");
    architecture_ = config_.text("model_type", "");
    check_architecture();
  }
  const std::string& path() const override { return path_; }
  serializers::LanguageFormat format() const override { return serializers::LanguageFormat::hugging_face; }
  const std::string& architecture() const override { return architecture_; }

  std::vector<Tensor> tensors() const override {
    std::vector<Tensor> all;
    for (const std::string& name : weights_.names()) {
      const io::ShardedSafetensorsReader::Tensor& tensor = weights_.tensor(name);
      if (const std::string weight = without(name, kBlocks); !weight.empty() && weights_.contains(weight + kKind)) {
        all.push_back(quantised(weight));
      } else if (const std::string of = without(name, kKind); of.empty() || !weights_.contains(of + kBlocks)) {
        all.push_back({name, tensor.shape, tensor.dtype_name, tensor.dtype});
      }
    }
    return all;
  }

  Array read(const Tensor& tensor, const Device& device) const override {
    if (!tensor.kind) return Array::from_host(weights_.bytes(tensor.name).data(), tensor.shape, *tensor.dtype, device);
    const std::string blocks = tensor.name + kBlocks;
    return Array::from_host(weights_.bytes(blocks).data(), weights_.tensor(blocks).shape, Dtype::uint8, device);
  }

  std::string chat_template() const override {
    if (const std::string file = path_ + "/chat_template.jinja"; os::exists(file)) {
      const std::vector<std::byte> bytes = os::read_file(file);
      return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    const std::string file = path_ + "/tokenizer_config.json";
    if (!os::exists(file)) return "";
    const json told = read_json(file).value("chat_template", json());
    if (told.is_string()) return told.get<std::string>();
    // several by name, of which one is the usual one
    if (told.is_array())
      for (const json& one : told)
        if (one.is_object() && one.value("name", json()) == "default" && one.value("template", json()).is_string())
          return one["template"].get<std::string>();
    return "";
  }

 private:
  std::string settings() const override { return config_.path(); }
  std::unique_ptr<LanguageModel> by_settings() const override {
    if (architecture_ == "gpt2") return make_gpt2(config_, most_layers());
    if (architecture_ != "chatglm") return make_llama(config_, architecture_, most_layers());
    const bool has_head = weights_.contains("lm_head.weight") || weights_.contains("lm_head.weight_blocks");
    return make_chatglm(config_, !has_head, most_layers());
  }
  std::vector<std::int64_t> end_tokens() const override {
    const std::string generation = path_ + "/generation_config.json";
    const Settings told(generation, os::exists(generation) ? read_json(generation) : json::object());
    return (told.has("eos_token_id") ? told : config_).integers("eos_token_id");
  }

  // what `catenary quantize` writes in place of a tensor, as links have it: links/quantized.h
  static constexpr const char *kBlocks = "_blocks", *kKind = "_kind";
  static std::string without(const std::string& name, std::string_view end) {
    return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : "";
  }
  Tensor quantised(const std::string& name) const {
    const io::HostArray kind = weights_.read(name + kKind);
    const auto refuse = [&](const char* which) {
      return [this, &name, which](const std::string& why) { fail<FileError>("{}: {}{}: {}", path_, name, which, why); };
    };
    if (kind.dtype != Dtype::int64) refuse(kKind)(fmt::format("must be int64, not {}", kind.dtype));
    const auto* const numbers = kind.as<std::int64_t>();
    const QuantizedForm form({numbers, numbers + kind.shape.product()}, refuse(kKind));
    if (form.shape.size() != 2) refuse(kKind)(fmt::format("must be the kind of a matrix, not of {}", form.shape));
    const io::ShardedSafetensorsReader::Tensor& blocks = weights_.tensor(name + kBlocks);
    if (!blocks.dtype) refuse(kBlocks)(fmt::format("must be uint8, not {}", blocks.dtype_name));
    form.check_blocks(*blocks.dtype, blocks.shape, refuse(kBlocks));
    return {name, form.shape, quantization_info(form.kind).name, {}, form.kind};
  }

  std::string path_, architecture_;
  Settings config_;
  io::ShardedSafetensorsReader weights_;
};

}  // namespace

std::unique_ptr<LanguageFile> open_hugging_face(const std::string& folder) {
  return std::make_unique<HuggingFace>(folder);
}

}  // namespace catenary::links::detail
