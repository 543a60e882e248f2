#include "catenary/links/models/chatglm.h"

#include <algorithm>
#include <cmath>

#include "catenary/core/format.h"
#include "catenary/functions/functions.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

namespace {

constexpr double kDeviation = 0.02;

Linear layer(std::int64_t in, std::int64_t out, bool bias = true) {
  return {in, out, {.nobias = !bias, .initialW = initializers::Normal(kDeviation), .n_batch_axes = -1}};
}
std::int64_t half_of_head(const ChatGlmOptions& options) {
  if (options.heads < 1 || options.width % (4 * options.heads) != 0)
    fail<ValueError>("ChatGlm: width, {}, must be a multiple of 4 times the {} heads", options.width, options.heads);
  return options.width / options.heads / 2;
}

}  // namespace

ChatGlm::Block::Block(const ChatGlmOptions& options)
    : residual(std::sqrt(2 * static_cast<double>(options.layers))),
      norm1(options.width, options.epsilon),
      attention(options.width, options.heads,
                {.initialW = initializers::Normal(kDeviation),
                 .rotary = functions::RotaryOptions{.base = options.base, .dims = half_of_head(options)}}),
      norm2(options.width, options.epsilon),
      fc1(layer(options.width, options.hidden)),
      fc2(layer(options.hidden, options.width)) {}

Variable ChatGlm::Block::operator()(const Variable& x, const MultiHeadAttention::Call& call) const {
  namespace F = functions;
  const Variable y = norm1(x), z = norm2(y * residual + attention(y, call));
  return z * residual + fc2(F::gelu(fc1(z), F::GeluForm::tanh));
}

ChatGlm::ChatGlm(const ChatGlmOptions& options0)
    : options(options0),
      tokens(options.vocabulary, options.width, {.initialW = initializers::Normal(kDeviation)}),
      norm(options.width, options.epsilon) {
  for (std::int64_t i = 0; i < options.layers; ++i) blocks.emplace_back(options);
  if (!options.tied) head = layer(options.width, options.vocabulary, false);
}

/// The index of `begin` in each row, followed by the index of the mask in each row.
std::vector<std::int64_t> ChatGlm::places(const Variable& ids) const {
  const std::vector<std::int64_t> all = ids.array().to_device(Device()).astype(Dtype::int64).to_vector<std::int64_t>();
  const std::int64_t batch = ids.shape(0), length = ids.shape(1);
  std::vector<std::int64_t> begins, masks;
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto row = all.begin() + b * length, end = row + length;
    const auto begin = std::find(row, end, options.begin);
    auto mask = std::find(row, end, options.gmask);
    if (mask == end) mask = std::find(row, end, options.mask);
    if (begin == end || mask == end)
      fail<ValueError>(
          "ChatGlm: each row of ids needs a mask token, {} or {}, and the begin token {}; row {} of {} has not. Fill "
          "caches with whole prompts first",
          options.mask, options.gmask, options.begin, b, ids.shape());
    begins.push_back(begin - row);
    masks.push_back(mask - row);
  }
  begins.insert(begins.end(), masks.begin(), masks.end());
  return begins;
}

Variable ChatGlm::features(const Variable& ids, std::int64_t first, std::vector<KeyValueCache>* caches) const {
  const DeviceScope scope(ids.device());
  const std::int64_t batch = ids.shape(0), length = ids.shape(1), seen = first + length;
  std::vector<std::int64_t> at;
  if (first > 0) at = caches->front().notes;
  if (at.empty()) at = places(ids);
  if (std::ssize(at) != 2 * batch)
    fail<ShapeError>("ChatGlm: the caches hold {} rows, but ids have shape {}", at.size() / 2, ids.shape());
  std::vector<std::int64_t> places, distances;
  const auto mask = std::make_unique<bool[]>(static_cast<std::size_t>(batch * length * seen));
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t begin = at[static_cast<std::size_t>(b)];
    for (std::int64_t i = first; i < seen; ++i) {
      places.push_back(i < begin ? i : at[static_cast<std::size_t>(batch + b)]);
      distances.push_back(std::max<std::int64_t>(0, i - begin + 1));
      for (std::int64_t key = 0; key < seen; ++key)
        mask[static_cast<std::size_t>((b * length + i - first) * seen + key)] = key <= i || key < begin;
    }
  }
  const auto positions = [&](const std::vector<std::int64_t>& of) {
    return Array::from_host(of.data(), {batch, 1, length}, Dtype::int64);
  };
  MultiHeadAttention::Call call{.positions = {positions(places), positions(distances)}};
  // a single new token attends to every earlier one, so it needs no mask
  if (length > 1) call.mask = Variable(Array::from_host(mask.get(), {batch, 1, length, seen}, Dtype::bool_), false);
  Variable x = tokens(ids);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    call.cache = caches ? &(*caches)[i] : nullptr;
    x = blocks[i](x, call);
  }
  if (caches && !caches->empty()) caches->front().notes = at;
  return norm(x);
}

Variable ChatGlm::scores(const Variable& features) const { return head ? (*head)(features) : tokens.scores(features); }

}  // namespace catenary::links
