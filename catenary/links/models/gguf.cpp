#include "catenary/io/gguf.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "catenary/core/format.h"
#include "catenary/links/models/glm.h"
#include "catenary/links/models/gpt.h"
#include "catenary/links/models/language_file.h"
#include "catenary/links/models/llama.h"
#include "catenary/links/models/unused_settings.h"

namespace catenary::links::detail {

namespace {

class Gguf : public LanguageFile {
 public:
  explicit Gguf(const std::string& path)
      : path_(path), reader_(path), architecture_(reader_.text("general.architecture")) {
    check_architecture();
  }
  const std::string& path() const override { return path_; }
  serializers::LanguageFormat format() const override { return serializers::LanguageFormat::gguf; }
  const std::string& architecture() const override { return architecture_; }

  std::vector<Tensor> tensors() const override {
    std::vector<Tensor> all;
    for (const std::string& name : reader_.names()) {
      const io::GgufReader::Tensor& tensor = reader_.tensor(name);
      all.push_back({name, tensor.shape, std::string(tensor.type_name),
                     tensor.read_as_numbers ? Dtype::float32 : tensor.dtype, tensor.kind});
    }
    return all;
  }

  Array read(const Tensor& tensor, const Device& device) const override {
    if (reader_.tensor(tensor.name).read_as_numbers) {
      const io::HostArray numbers = reader_.read(tensor.name);
      return Array::from_host(numbers.data.get(), numbers.shape, numbers.dtype, device);
    }
    const std::span<const std::byte> bytes = reader_.bytes(tensor.name);
    if (!tensor.kind) return Array::from_host(bytes.data(), tensor.shape, *tensor.dtype, device);
    const std::int64_t rows = tensor.shape[0];
    return Array::from_host(bytes.data(), {rows, rows == 0 ? 0 : std::ssize(bytes) / rows}, Dtype::uint8, device);
  }

 private:
  std::unique_ptr<LanguageModel> by_settings() const override {
    std::unique_ptr<LanguageModel> model = architecture_ == "gpt2" ? make_gpt2() : make_llama();
    refuse_unused(path_, unused());
    tell_of_blocks_without_products();
    return model;
  }
  void tell_of_blocks_without_products() const {
    std::map<std::string_view, int> counts;
    for (const std::string& name : reader_.names())
      if (const io::GgufReader::Tensor& tensor = reader_.tensor(name); tensor.read_as_numbers)
        ++counts[tensor.type_name];
    for (const auto& [type, count] : counts)
      fmt::print(stderr, "catenary: {}: {} tensors of {} are dequantised, and take the memory of plain weights\n",
                 path_, count, type);
  }
  /// The architecture's keys that no code has read.
  std::vector<UnusedSetting> unused() const {
    std::vector<UnusedSetting> all;
    const std::string before = architecture_ + ".";
    for (const std::string_view key : reader_.keys()) {
      if (!key.starts_with(before) || asked_.contains(key)) continue;
      const bool is_flag = reader_.find(key)->type == io::GgufType::boolean;
      all.push_back({std::string(key.substr(before.size())), is_flag && !reader_.flag(key)});
    }
    return all;
  }
  std::vector<std::int64_t> end_tokens() const override {
    std::vector<std::int64_t> all;
    for (const char* key :
         {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
      if (reader_.find(key)) all.push_back(reader_.integer(key));
    return all;
  }

  std::string key(const char* name) const { return architecture_ + "." + name; }
  bool has(const char* name) const { return reader_.find(*asked_.insert(key(name)).first) != nullptr; }
  std::int64_t integer(const char* name) const {
    constexpr std::int64_t kLargest = std::int64_t{1} << 30;
    const std::int64_t value = one_integer(name);
    if (value < 1 || value > kLargest) reject(name, fmt::format("must be from 1 to {}, not {}", kLargest, value));
    return value;
  }
  std::int64_t integer(const char* name, std::int64_t otherwise) const { return has(name) ? integer(name) : otherwise; }
  /// A number, or an array with one number for each layer if the numbers are equal.
  std::int64_t one_integer(const char* name) const {
    const std::string& full = *asked_.insert(key(name)).first;
    const io::GgufReader::Value* const found = reader_.find(full);
    if (!found || found->type != io::GgufType::array) return reader_.integer(full);
    const std::vector<std::int64_t> values = reader_.integers(full);
    if (values.empty()) reject(name, "has no value");
    if (std::ranges::adjacent_find(values, std::not_equal_to()) != values.end())
      reject(name, fmt::format("must be equal in all layers, not {} to {}", *std::ranges::min_element(values),
                               *std::ranges::max_element(values)));
    return values.front();
  }
  double real(const char* name, double otherwise) const {
    const double value = has(name) ? reader_.real(key(name)) : otherwise;
    if (!std::isfinite(value)) reject(name, fmt::format("must be finite, not {}", value));
    return value;
  }
  double epsilon(const char* name, double otherwise) const {
    const double value = real(name, otherwise);
    if (value < 0) reject(name, fmt::format("is {}, but must not be negative", value));
    return value;
  }
  [[noreturn]] void reject(const char* name, const std::string& why) const {
    fail<FileError>("{}: '{}' {}", path_, key(name), why);
  }
  std::int64_t layers() const {
    const std::int64_t count = integer("block_count"), most = most_layers();
    if (count > most) reject("block_count", fmt::format("must be at most {} for these tensors, not {}", most, count));
    return count;
  }
  /// The number of rows of the embeddings.
  std::int64_t vocabulary() const {
    const Shape& shape = reader_.tensor("token_embd.weight").shape;
    if (shape.size() != 2) fail<FileError>("{}: token_embd.weight must have two axes, not {}", path_, shape);
    if (has("vocab_size") && reader_.integer(key("vocab_size")) != shape[0])
      tell_unused(path_, key("vocab_size"), "the shape of token_embd.weight");
    return shape[0];
  }
  bool has_tensor(const char* name) const { return reader_.contains(name); }

  /// The divisor of positions. As in llama.cpp, scaling is linear if the file names no type, a factor of 0 means no
  /// scaling, and the older key is used if the newer one is missing.
  double rotary_factor() const {
    const std::string kind = has("rope.scaling.type") ? std::string(reader_.text(key("rope.scaling.type"))) : "linear";
    if (kind != "none" && kind != "linear")
      reject("rope.scaling.type", fmt::format("is not known here; none and linear are, not '{}'", kind));
    const double older = real("rope.scale_linear", 0), factor = real("rope.scaling.factor", older);
    if (factor < 0)
      reject(has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear", "must not be negative");
    if (has("rope.scaling.factor") && older != 0 && older != factor)
      tell_unused(path_, key("rope.scale_linear"), "'rope.scaling.factor'");
    if (kind == "none" && factor != 0 && factor != 1)
      tell_unused(path_, key("rope.scaling.factor"), "'rope.scaling.type'");
    if (real("rope.scaling.attn_factor", 1) != 1) reject("rope.scaling.attn_factor", "must be 1");
    return kind == "none" || factor == 0 ? 1 : factor;
  }

  functions::RotaryOptions rotary(std::int64_t dims, bool interleaved) const {
    functions::RotaryOptions options{.base = real("rope.freq_base", 10000), .dims = dims, .interleaved = interleaved};
    if (!(options.base > 0)) reject("rope.freq_base", "must be positive");
    if (const double factor = rotary_factor(); factor != 1) {
      if (dims > kMostRotated)
        reject("rope.dimension_count",
               fmt::format("must be at most {} where rates are scaled, not {}", kMostRotated, dims));
      options.rates = functions::rotary_rates(dims, options.base, {.factor = factor});
    }
    if (constexpr const char* name = "rope_freqs.weight"; has_tensor(name)) {
      // the divisor of each rate: Llama 3's scaling
      const io::GgufReader::Tensor& tensor = reader_.tensor(name);
      if (tensor.shape != Shape{dims / 2} || tensor.dtype != Dtype::float32)
        fail<FileError>("{}: {} must be {} numbers of F32, not {} of {}", path_, name, dims / 2, tensor.shape,
                        tensor.type_name);
      if (options.rates.empty()) options.rates = functions::rotary_rates(dims, options.base);
      const io::HostArray by = reader_.read(name);
      for (std::size_t i = 0; i < options.rates.size(); ++i) options.rates[i] /= by.as<float>()[i];
    }
    return options;
  }

  std::unique_ptr<LanguageModel> make_llama() const {
    LlamaOptions options;
    options.vocabulary = vocabulary();
    options.context = integer("context_length");
    options.width = integer("embedding_length");
    options.layers = layers();
    options.heads = integer("attention.head_count");
    options.hidden = integer("feed_forward_length");
    options.groups = integer("attention.head_count_kv", options.heads);
    options.head_size = integer("attention.key_length", std::max<std::int64_t>(1, options.width / options.heads));
    if (has("attention.causal") && !reader_.flag(key("attention.causal"))) reject("attention.causal", "must be true");
    if (integer("attention.value_length", *options.head_size) != *options.head_size)
      reject("attention.value_length", "must be attention.key_length");
    for (const char* name : {"expert_count", "expert_used_count"})
      if (has(name) && reader_.integer(key(name)) != 0)
        reject(name, "must be 0: mixtures of experts are not known here");
    options.epsilon = epsilon("attention.layer_norm_rms_epsilon", 1e-6);
    options.tied = !has_tensor("output.weight");
    const bool is_glm = architecture_ == "chatglm" || architecture_ == "glm4";
    const std::int64_t dims = integer("rope.dimension_count", is_glm ? *options.head_size / 2 : *options.head_size);
    if (dims % 2 != 0 || dims > *options.head_size)
      reject("rope.dimension_count",
             fmt::format("must be even and at most {}, a head's size, not {}", *options.head_size, dims));
    options.qkv_bias = has_tensor("blk.0.attn_q.bias") || has_tensor("blk.0.attn_qkv.bias");
    options.out_bias = has_tensor("blk.0.attn_output.bias");
    // The Glm model has no window, so a file's window is left as an unused setting, which is refused.
    if (!is_glm && has("attention.sliding_window")) options.window = integer("attention.sliding_window");
    options.rotary = rotary(dims, is_glm);
    if (!is_glm) return std::make_unique<Llama>(options);
    return std::make_unique<Glm>(GlmOptions{.vocabulary = options.vocabulary,
                                            .context = options.context,
                                            .width = options.width,
                                            .layers = options.layers,
                                            .heads = options.heads,
                                            .groups = *options.groups,
                                            .hidden = options.hidden,
                                            .head_size = options.head_size,
                                            .epsilon = options.epsilon,
                                            .base = options.rotary.base,
                                            .turned = dims,
                                            .rates = options.rotary.rates,
                                            .qkv_bias = options.qkv_bias,
                                            .tied = options.tied,
                                            .norm_after = architecture_ == "glm4"});
  }

  std::unique_ptr<LanguageModel> make_gpt2() const {
    GPTOptions options;
    options.vocabulary = vocabulary();
    options.context = integer("context_length");
    options.width = integer("embedding_length");
    options.layers = layers();
    options.heads = integer("attention.head_count");
    if (integer("attention.head_count_kv", options.heads) != options.heads)
      reject("attention.head_count_kv", "must be attention.head_count");
    options.hidden = integer("feed_forward_length", 4 * options.width);
    options.epsilon = epsilon("attention.layer_norm_epsilon", 1e-5);
    options.tied = !has_tensor("output.weight");
    return std::make_unique<GPT>(options);
  }

  std::string path_;
  io::GgufReader reader_;
  std::string architecture_;
  mutable std::set<std::string, std::less<>> asked_;  // keys that have been read
};

}  // namespace

std::unique_ptr<LanguageFile> open_gguf(const std::string& path) { return std::make_unique<Gguf>(path); }

}  // namespace catenary::links::detail
