#include "catenary/links/models/unused_settings.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "catenary/core/format.h"
#include "catenary/core/lower.h"

namespace catenary::links::detail {

namespace {

/// Settings that cannot change scores: of training, of other uses of the model, of the program that runs it.
bool is_harmless(std::string_view name) {
  static constexpr std::string_view kNames[] = {"architectures",
                                                "auto_map",
                                                "dtype",
                                                "gradient_checkpointing",
                                                "initializer_range",
                                                "is_decoder",
                                                "is_encoder_decoder",
                                                "n_ctx",
                                                "name_or_path",
                                                "_name_or_path",
                                                "output_attentions",
                                                "output_hidden_states",
                                                "pretraining_tp",
                                                "pruned_heads",
                                                "reorder_and_upcast_attn",
                                                "return_dict",
                                                "task_specific_params",
                                                "tensor_data_layout",
                                                "tie_encoder_decoder",
                                                "torch_dtype",
                                                "torchscript",
                                                "transformers_version",
                                                "use_cache",
                                                "vocab_size"};
  static constexpr std::string_view kBegins[] = {"summary_", "_attn_implementation", "attn_implementation"};
  static constexpr std::string_view kEnds[] = {"_token_id", "dropout", "dropout_prob", "pdrop", "scaling.finetuned"};
  return std::ranges::count(kNames, name) > 0 ||
         std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); }) ||
         std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

/// Whether a setting of this name may change scores.
bool matters(std::string_view setting) {
  const std::string name = lower(setting);
  static constexpr const char* kWords[] = {"activation", "alibi",       "attention", "attn", "bias",  "expert",
                                           "head",       "layer_types", "logit",     "mask", "moe",   "mscale",
                                           "multiplier", "norm",        "position",  "qk",   "quant", "rope",
                                           "rotary",     "scal",        "softcap",   "tie",  "window"};
  return std::ranges::any_of(kWords, [&](const char* word) { return name.find(word) != std::string::npos; });
}

}  // namespace

void refuse_unused(const std::string& path, const std::vector<UnusedSetting>& settings) {
  std::vector<std::string> refused, told;
  for (const UnusedSetting& setting : settings) {
    if (is_harmless(setting.name)) continue;
    (matters(setting.name) && !setting.is_off ? refused : told).push_back("'" + setting.name + "'");
  }
  if (!refused.empty())
    fail<FileError>("{}: unknown settings that may change the scores: {}", path, fmt::join(refused, ", "));
  if (!told.empty()) fmt::print(stderr, "catenary: {}: not used: {}\n", path, fmt::join(told, ", "));
}

void tell_unused(const std::string& path, const std::string& name, const std::string& used) {
  fmt::print(stderr, "catenary: {}: '{}' is not used, as {} says otherwise\n", path, name, used);
}

void tell_repeated(const std::string& path, const std::string& name) {
  fmt::print(stderr, "catenary: {}: '{}' occurs more than once; the last value is used\n", path, name);
}

}  // namespace catenary::links::detail
