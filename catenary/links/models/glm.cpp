#include "catenary/links/models/glm.h"

#include <algorithm>

namespace catenary::links {

namespace {

LlamaOptions as_llama(const GlmOptions& options) {
  const std::int64_t head_size = options.head_size.value_or(options.width / std::max<std::int64_t>(1, options.heads));
  return {.vocabulary = options.vocabulary,
          .context = options.context,
          .width = options.width,
          .layers = options.layers,
          .heads = options.heads,
          .hidden = options.hidden,
          .groups = options.groups,
          .head_size = options.head_size,
          .epsilon = options.epsilon,
          .rotary = {.base = options.base,
                     .dims = options.turned.value_or(head_size / 2),
                     .interleaved = true,
                     .rates = options.rates},
          .qkv_bias = options.qkv_bias,
          .tied = options.tied,
          .norm_after = options.norm_after};
}

}  // namespace

Glm::Glm(const GlmOptions& options) : Llama(as_llama(options)) {}

}  // namespace catenary::links
