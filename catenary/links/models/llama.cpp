#include "catenary/links/models/llama.h"

#include "catenary/core/format.h"
#include "catenary/functions/functions.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

constexpr double kDeviation = 0.02;

Linear layer(std::int64_t in, std::int64_t out, bool bias = false) {
  return {in, out, {.nobias = !bias, .initialW = initializers::Normal(kDeviation), .n_batch_axes = -1}};
}
MultiHeadAttention attention_of(const LlamaOptions& options) {
  MultiHeadAttention attention(options.width, options.heads,
                               {.groups = options.groups,
                                .head_size = options.head_size,
                                .nobias = !options.qkv_bias,
                                .initialW = initializers::Normal(kDeviation),
                                .rotary = options.rotary});
  if (options.out_bias != options.qkv_bias)
    attention.out = layer(attention.heads * attention.head_size, options.width, options.out_bias);
  return attention;
}
std::optional<RMSNorm> norm_if(bool wanted, const LlamaOptions& options) {
  return wanted ? std::optional<RMSNorm>(RMSNorm(options.width, options.epsilon)) : std::nullopt;
}

}  // namespace

Llama::Block::Block(const LlamaOptions& options)
    : window(options.window),
      norm1(options.width, options.epsilon),
      attention(attention_of(options)),
      after_attention(norm_if(options.norm_after, options)),
      norm2(options.width, options.epsilon),
      gate(layer(options.width, options.hidden)),
      up(layer(options.width, options.hidden)),
      down(layer(options.hidden, options.width)),
      after_layers(norm_if(options.norm_after, options)) {}

Variable Llama::Block::operator()(const Variable& x, KeyValueCache* cache) const {
  const auto after = [](const std::optional<RMSNorm>& norm, const Variable& y) { return norm ? (*norm)(y) : y; };
  const Variable y =
      x + after(after_attention, attention(norm1(x), {.causal = true, .window = window, .cache = cache}));
  const Variable h = norm2(y);
  return y + after(after_layers, down(functions::swiglu(gate(h), up(h))));
}

Llama::Llama(const LlamaOptions& options0)
    : options(options0),
      tokens(options.vocabulary, options.width, {.initialW = initializers::Normal(kDeviation)}),
      norm(options.width, options.epsilon) {
  if (!options.windows.empty() && std::ssize(options.windows) != options.layers)
    fail<ValueError>("Llama: windows has {} entries, but there are {} layers", options.windows.size(), options.layers);
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks.emplace_back(options);
    if (!options.windows.empty()) blocks.back().window = options.windows[static_cast<std::size_t>(i)];
  }
  if (!options.tied) head = layer(options.width, options.vocabulary);
}

Variable Llama::features(const Variable& ids, std::int64_t, std::vector<KeyValueCache>* caches) const {
  Variable x = tokens(ids);
  for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, caches ? &(*caches)[i] : nullptr);
  return norm(x);
}

Variable Llama::scores(const Variable& features) const { return head ? (*head)(features) : tokens.scores(features); }

}  // namespace catenary::links
