#include <algorithm>
#include <functional>
#include <span>

#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/io/safetensors_index.h"
#include "catenary/links/detail_quantized.h"
#include "catenary/links/models/chatglm.h"
#include "catenary/links/models/glm.h"
#include "catenary/links/models/gpt.h"
#include "catenary/links/models/language_file.h"
#include "catenary/links/models/llama.h"
#include "catenary/links/models/settings.h"

namespace catenary::links::detail {

namespace {

std::int64_t layers_of(const Settings& config, const char* key, std::int64_t most_layers) {
  const std::int64_t layers = config.integer(key);
  if (layers > most_layers) config.reject(key, fmt::format("must be at most {} for these tensors", most_layers));
  return layers;
}

/// A number of the rotary positions: inside `given`, or beside it in files of transformers before version 5.
double rotary_number(const Settings& config, const Settings& given, const std::string& inside, const char* key,
                     double otherwise) {
  const bool is_inside = given.has(key);
  if (is_inside && config.has(key) && given.number(key, 0) != config.number(key, 0))
    tell_unused(config.path(), key, "'" + inside + "'");
  return (is_inside ? given : config).number(key, otherwise);
}

/// The context length from which llama3's scaling starts: beside the other settings (Phi-3), inside them, or the
/// model's.
double learnt_context(const Settings& config, const Settings& given, const std::string& inside) {
  constexpr const char* key = "original_max_position_embeddings";
  const bool is_inside = given.has(key);
  if (!config.has(key))
    return static_cast<double>(is_inside ? given.integer(key) : config.integer("max_position_embeddings"));
  if (is_inside && given.integer(key) != config.integer(key)) tell_unused(config.path(), inside + "." + key, key);
  return static_cast<double>(config.integer(key));
}

/// The settings of rotary positions, which transformers writes in two forms: before and since version 5. If a file has
/// both, rope_scaling is used, as in transformers.
functions::RotaryOptions rotary_of(const Settings& config, std::int64_t head_size, double part, bool interleaved) {
  const Settings none(config.path(), json::object());
  const auto below = [&](const char* key) { return config.has(key) ? config.below(key) : none; };
  const Settings scaling_form = below("rope_scaling"), new_form = below("rope_parameters");
  const bool is_new = scaling_form.empty();
  const Settings& given = is_new ? new_form : scaling_form;
  const std::string inside = is_new ? "rope_parameters" : "rope_scaling";
  if (!is_new && !new_form.empty() && !(new_form == given))
    tell_unused(config.path(), "rope_parameters", "'rope_scaling'");
  const double base = rotary_number(config, given, inside, "rope_theta", 10000),
               turned = rotary_number(config, given, inside, "partial_rotary_factor", part);
  if (!(base > 0)) config.reject("rope_theta", "must be positive");
  if (!(turned > 0 && turned <= 1)) config.reject("partial_rotary_factor", "must be in (0, 1]");
  const auto dims = static_cast<std::int64_t>(static_cast<double>(head_size) * turned);
  if (dims % 2 != 0)
    config.reject("partial_rotary_factor",
                  fmt::format("must leave an even part of a head of {}: it leaves {}", head_size, dims));
  functions::RotaryOptions rotary{.base = base, .dims = dims, .interleaved = interleaved};
  const char* kind = given.has("rope_type") ? "rope_type" : "type";
  given.expect(kind, {"default", "linear", "llama3"}, "default");
  if (given.has("rope_type") && given.has("type") && given.text("type", "") != given.text("rope_type", ""))
    tell_unused(config.path(), inside + ".type", "'rope_type'");
  if (const std::string type = given.text(kind, "default"); type != "default") {
    functions::RotaryScaling scaling{.factor = given.number("factor", 1)};
    if (type == "llama3") {
      scaling.learnt = static_cast<std::int64_t>(learnt_context(config, given, inside));
      scaling.low = given.number("low_freq_factor", 1);
      scaling.high = given.number("high_freq_factor", 4);
    }
    if (dims > LanguageFile::kMostRotated)
      config.reject("head_dim", fmt::format("must be at most {} where rates are scaled", LanguageFile::kMostRotated));
    rotary.rates = functions::rotary_rates(dims, base, scaling);
  }
  refuse_unused(config.path(), given.unused(inside + "."));
  return rotary;
}

/// An integer of config.json, or `missing`, transformers' default, if the key is absent. A null value means something
/// else.
std::int64_t integer_or(const Settings& config, const char* key, std::int64_t missing, std::int64_t null) {
  return config.integer(key, config.is_said(key) ? null : missing);
}

/// The attention window of each layer, 0 for none.
std::vector<std::int64_t> windows_of(const Settings& config, const std::string& type, std::int64_t layers) {
  constexpr std::int64_t kWindow = 4096;  // transformers' default
  const auto count = static_cast<std::size_t>(layers);
  std::vector<std::int64_t> windows(count, 0);
  std::int64_t window = 0;
  if (type == "mistral") windows.assign(count, window = integer_or(config, "sliding_window", kWindow, 0));
  if (type == "qwen2") {
    const std::int64_t told = integer_or(config, "sliding_window", kWindow, 0);
    const double full = config.number("max_window_layers", 28);
    if (config.flag("use_sliding_window", false)) window = told;
    for (std::size_t i = 0; i < count; ++i) windows[i] = static_cast<double>(i) >= full ? window : 0;
  }
  if (!config.has("layer_types")) return windows;
  const std::vector<std::string> types = config.texts("layer_types", layers);
  for (std::size_t i = 0; i < count; ++i) {
    const bool slides = types[i] == "sliding_attention";
    if (!slides && types[i] != "full_attention")
      config.reject("layer_types", "is not known here; full_attention and sliding_attention are");
    if (slides && window == 0)
      config.reject("layer_types", "may name sliding_attention only if there is a sliding_window");
    if (type != "qwen2" && slides != (windows[i] > 0))
      config.reject("layer_types", fmt::format("must match the attention windows of {}", type));
    windows[i] = slides ? window : 0;
  }
  return windows;
}

/// Whether the last layer shares the weights of the embeddings.
bool is_tied(const Settings& config, bool otherwise, bool has_own_head) {
  constexpr const char* key = "tie_word_embeddings";
  const bool tied = config.flag(key, otherwise);
  if (tied && has_own_head && config.has(key)) tell_unused(config.path(), key, "the file's own last layer");
  return tied && !has_own_head;
}

std::unique_ptr<LanguageModel> make_llama(const Settings& config, const std::string& type, std::int64_t most_layers,
                                          bool has_own_head) {
  const bool is_glm = type == "glm" || type == "glm4";
  config.expect("hidden_act", {"silu"}, "silu");
  if (config.flag("mlp_bias", false)) config.reject("mlp_bias", "must be false");
  LlamaOptions options;
  options.vocabulary = config.integer("vocab_size");
  options.context = config.integer("max_position_embeddings");
  options.width = config.integer("hidden_size");
  options.layers = layers_of(config, "num_hidden_layers", most_layers);
  options.heads = config.integer("num_attention_heads");
  options.hidden = config.integer("intermediate_size");
  // transformers' default when the file has no value
  const std::int64_t groups = type == "mistral" ? 8 : type == "qwen2" ? 32 : is_glm ? 2 : options.heads;
  const std::int64_t part_of_width = std::max<std::int64_t>(1, options.width / options.heads);
  options.groups = integer_or(config, "num_key_value_heads", groups, options.heads);
  options.head_size = integer_or(config, "head_dim", is_glm ? 128 : part_of_width, part_of_width);
  options.epsilon = config.number("rms_norm_eps", is_glm ? 1.5625e-7 : 1e-6);
  options.tied = is_tied(config, false, has_own_head);
  const std::vector<std::int64_t> windows = windows_of(config, type, options.layers);
  const bool bias = config.flag("attention_bias", is_glm);
  if (is_glm) {
    const functions::RotaryOptions rotary = rotary_of(config, *options.head_size, 0.5, true);
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
                                            .rates = rotary.rates,
                                            .qkv_bias = bias,
                                            .tied = options.tied,
                                            .norm_after = type == "glm4"});
  }
  options.rotary = rotary_of(config, *options.head_size, 1, false);
  options.qkv_bias = bias || type == "qwen2";
  options.out_bias = bias && type == "llama";
  if (std::ranges::adjacent_find(windows, std::not_equal_to()) != windows.end())
    options.windows = windows;
  else if (!windows.empty())
    options.window = windows.front();
  return std::make_unique<Llama>(options);
}

std::unique_ptr<LanguageModel> make_gpt2(const Settings& config, std::int64_t most_layers, bool has_own_head) {
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
  options.tied = is_tied(config, true, has_own_head);
  if (config.has("n_ctx") && config.integer("n_ctx") != options.context)
    tell_unused(config.path(), "n_ctx", "'n_positions'");
  return std::make_unique<GPT>(options);
}

/// ChatGLM-6B. Its successors use the same model type with differently named settings.
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
  if (config.flag("tie_word_embeddings", tied) != tied)
    config.reject("tie_word_embeddings", "does not go with the file's tensors");
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

 private:
  std::string settings() const override { return config_.path(); }
  std::unique_ptr<LanguageModel> by_settings() const override {
    std::unique_ptr<LanguageModel> model = by_type();
    refuse_unused(config_.path(), config_.unused());
    return model;
  }
  std::unique_ptr<LanguageModel> by_type() const {
    if (architecture_ == "gpt2") return make_gpt2(config_, most_layers(), has_own_head());
    if (architecture_ != "chatglm") return make_llama(config_, architecture_, most_layers(), has_own_head());
    const bool has_head = weights_.contains("lm_head.weight") || weights_.contains("lm_head.weight_blocks");
    return make_chatglm(config_, !has_head, most_layers());
  }
  /// Whether the last layer differs from the embeddings. transformers then keeps them separate, whatever config.json
  /// says.
  bool has_own_head() const {
    std::optional<Tensor> tokens, head;
    for (const Tensor& tensor : tensors()) {
      const auto to = serializers::language_tensor(format(), architecture_, tensor.name);
      if (to && to->ours.front() == "tokens/W") tokens = tensor;
      if (to && to->ours.front() == "head/W") head = tensor;
    }
    if (!head || !tokens) return head.has_value();
    const std::span<const std::byte> a = bytes_of(*tokens), b = bytes_of(*head);
    return tokens->dtype_name != head->dtype_name || tokens->shape != head->shape || !std::ranges::equal(a, b);
  }
  std::span<const std::byte> bytes_of(const Tensor& tensor) const {
    return weights_.bytes(tensor.kind ? tensor.name + kBlocks : tensor.name);
  }
  std::vector<std::int64_t> end_tokens() const override {
    const std::string generation = path_ + "/generation_config.json";
    const Settings told(generation, os::exists(generation) ? read_json(generation) : json::object());
    return (told.has("eos_token_id") ? told : config_).integers("eos_token_id");
  }

  // suffixes of the tensors that `catenary quantize` writes, named as in links/quantized.h
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
