#include "catenary/links/models/gpt.h"

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/core/format.h"
#include "catenary/functions/functions.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

constexpr double kDeviation = 0.02;

LinearOptions rows(double deviation = kDeviation) {
  return {.initialW = initializers::Normal(deviation), .n_batch_axes = -1};
}
/// Initial deviation of the layers before a residual sum.
double residual_deviation(const GPTOptions& options) {
  return kDeviation / std::sqrt(2 * static_cast<double>(std::max<std::int64_t>(1, options.layers)));
}

}  // namespace

GPT::Block::Block(const GPTOptions& options)
    : dropout(options.dropout),
      norm1(options.width, options.epsilon),
      attention(options.width, options.heads,
                {.dropout = options.dropout, .initialW = initializers::Normal(kDeviation)}),
      norm2(options.width, options.epsilon),
      fc1(options.width, options.hidden.value_or(4 * options.width), rows()),
      fc2(options.hidden.value_or(4 * options.width), options.width, rows(residual_deviation(options))) {
  attention.out = Linear(options.width, options.width, rows(residual_deviation(options)));
}

Variable GPT::Block::operator()(const Variable& x, KeyValueCache* cache) const {
  namespace F = functions;
  const Variable y = x + F::dropout(attention(norm1(x), {.causal = true, .cache = cache}), dropout);
  return y + F::dropout(fc2(F::gelu(fc1(norm2(y)), F::GeluForm::tanh)), dropout);
}

GPT::GPT(const GPTOptions& options0)
    : options(options0),
      tokens(options.vocabulary, options.width, {.initialW = initializers::Normal(kDeviation)}),
      positions(options.context, options.width, {.initialW = initializers::Normal(kDeviation)}),
      norm(options.width, options.epsilon) {
  for (std::int64_t i = 0; i < options.layers; ++i) blocks.emplace_back(options);
  if (!options.tied)
    head = Linear(options.width, options.vocabulary,
                  {.nobias = true, .initialW = initializers::Normal(kDeviation), .n_batch_axes = -1});
}

Variable GPT::features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const {
  namespace F = functions;
  const DeviceScope scope(ids.device());
  Variable x = tokens(ids) + positions(arange(first, first + ids.shape(1), Dtype::int32));
  x = F::dropout(x, options.dropout);
  for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, caches ? &(*caches)[i] : nullptr);
  return norm(x);
}

Variable GPT::scores(const Variable& features) const { return head ? (*head)(features) : tokens.scores(features); }

}  // namespace catenary::links
