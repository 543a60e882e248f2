#include "catenary/links/models/language_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <typeinfo>

#include "catenary/array/array.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/device/placement.h"

namespace catenary::links {

namespace {

/// The most tokens of a prompt in one piece. Every piece packs or dequantises all weights again: with pieces of 128
/// tokens a prompt takes a third longer.
constexpr std::int64_t kPiece = 512;

/// Draws a token by scores. Equal scores are ordered by token, so that the choice is the same on every machine.
std::int64_t draw(const std::vector<double>& scores, const GenerateOptions& options, std::mt19937_64& random) {
  std::vector<std::int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](std::int64_t token) { return scores[static_cast<std::size_t>(token)]; };
  const auto before = [&](std::int64_t a, std::int64_t b) {
    return score(a) != score(b) ? score(a) > score(b) : a < b;
  };
  if (options.temperature == 0) return *std::min_element(order.begin(), order.end(), before);
  if (options.top_k > 0 || options.top_p < 1) std::sort(order.begin(), order.end(), before);
  if (options.top_k > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(options.top_k)));
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const std::int64_t token : order) most = std::max(most, score(token));
  std::vector<double> weights;
  for (const std::int64_t token : order) {
    weights.push_back(std::exp((score(token) - most) / options.temperature));
    sum += weights.back();
  }
  if (options.top_p < 1) {
    double part = 0;
    std::size_t count = 0;
    while (count < weights.size() && (count == 0 || part < options.top_p * sum)) part += weights[count++];
    weights.resize(count);
    sum = part;
  }
  if (options.min_p > 0) {  // the largest weight is 1
    sum = 0;
    for (double& weight : weights) sum += weight = weight >= options.min_p ? weight : 0;
  }
  // std::uniform_real_distribution differs between standard libraries
  double left = static_cast<double>(random() >> 11) * 0x1p-53 * sum;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((left -= weights[i]) < 0) return order[i];
  std::size_t last = weights.size() - 1;  // reached if rounding leaves a remainder
  while (last > 0 && weights[last] == 0) --last;
  return order[last];
}

/// Makes tokens less likely that have occurred before.
void penalise(std::vector<double>& scores, const std::set<std::int64_t>& seen, double penalty) {
  if (penalty == 1) return;
  for (const std::int64_t token : seen) {
    if (token < 0 || token >= std::ssize(scores)) continue;
    double& score = scores[static_cast<std::size_t>(token)];
    score = score > 0 ? score / penalty : score * penalty;
  }
}

void check_options(const LanguageModel& model, const GenerateOptions& options) {
  constexpr const char* what = "generate";
  if (options.context < 0 || options.context > model.context())
    fail<ValueError>("{}: context must be 0 to the model's {}, not {}", what, model.context(), options.context);
  if (!(options.temperature >= 0))
    fail<ValueError>("{}: temperature must not be negative, not {}", what, options.temperature);
  if (!(options.top_p > 0 && options.top_p <= 1))
    fail<ValueError>("{}: top_p must be in (0, 1], not {}", what, options.top_p);
  if (!(options.min_p >= 0 && options.min_p <= 1))
    fail<ValueError>("{}: min_p must be in [0, 1], not {}", what, options.min_p);
  if (!(options.repetition_penalty > 0) || std::isinf(options.repetition_penalty))
    fail<ValueError>("{}: repetition_penalty must be positive, not {}", what, options.repetition_penalty);
  if (options.top_k < 0) fail<ValueError>("{}: top_k must not be negative, not {}", what, options.top_k);
}

}  // namespace

Variable LanguageModel::operator()(const Variable& ids, std::vector<KeyValueCache>* caches) const {
  return scores(checked_features(ids, caches));
}
Variable LanguageModel::last(const Variable& ids, std::vector<KeyValueCache>* caches) const {
  return scores(checked_features(ids, caches)(slice(), slice(-1, none)));
}

Model LanguageModel::model() const {
  const Model made = as_model();
  const Link* const link = made.defined() ? &made.link() : nullptr;
  if (!link || typeid(*link) != typeid(*this))  // a base's override would leave members out
    fail<ValueError>("{}: to train it through a LanguageModel, override as_model() with `return Model(*this);`",
                     type_name());
  return made;
}

Variable LanguageModel::checked_features(const Variable& ids, std::vector<KeyValueCache>* caches) const {
  if (ids.ndim() != 2) fail<ShapeError>("{}: ids must be (batch, length), not {}", type_name(), ids.shape());
  if (caches && std::ssize(*caches) != layers())
    fail<ValueError>("{}: expected one cache for each of the {} layers, not {} caches", type_name(), layers(),
                     caches->size());
  const std::int64_t first = caches && !caches->empty() ? caches->front().size() : 0, length = first + ids.shape(1);
  if (length > context())
    fail<ValueError>("{}: a sequence of {} tokens is longer than the context of {}", type_name(), length, context());
  return features(ids, first, caches);
}

std::vector<std::int64_t> generate(const LanguageModel& model, const std::vector<std::int64_t>& prompt,
                                   const GenerateOptions& options) {
  constexpr const char* what = "generate";
  if (prompt.empty()) fail<ValueError>("{}: the prompt has no tokens", what);
  const auto length = static_cast<std::int64_t>(prompt.size());
  check_options(model, options);
  const std::int64_t context = options.context > 0 ? options.context : model.context();
  if (length > context) fail<ValueError>("{}: the prompt has {} tokens, the context {}", what, length, context);
  const auto mode = test_mode();
  const auto no_graph = no_backprop_mode();
  std::mt19937_64 random(options.seed);
  std::vector<KeyValueCache> own(static_cast<std::size_t>(model.layers()));
  std::vector<KeyValueCache>& caches = options.caches ? *options.caches : own;
  if (std::ssize(caches) != model.layers())
    fail<ValueError>("{}: expected one cache for each of the {} layers, not {} caches", what, model.layers(),
                     caches.size());
  std::int64_t place = caches.empty() ? 0 : caches.front().size();
  if (place >= length)
    fail<ValueError>("{}: the caches hold {} tokens; the prompt must have more, but has {}", what, place, length);
  std::vector<std::int64_t> next, all;
  std::set<std::int64_t> seen(prompt.begin(), prompt.end());
  const Device device = get_device(model);
  const auto on_device = [&](const std::vector<std::int64_t>& tokens) {
    return Variable(Array::from_host(tokens.data(), {1, std::ssize(tokens)}, Dtype::int64, device), false);
  };
  // pieces of equal size: products over a short piece would round differently
  const std::int64_t start = place, rest = length - start;
  const std::int64_t pieces = model.reads_in_pieces() && options.tokens > 0 ? (rest + kPiece - 1) / kPiece : 1;
  for (std::int64_t i = 1; i < pieces; ++i) {
    const std::int64_t end = start + rest * i / pieces;
    model.read(on_device({prompt.begin() + place, prompt.begin() + end}), caches);
    place = end;
    device.synchronize();  // so that stopping takes effect before more work is queued
    if (options.on_prompt && !options.on_prompt(place)) return {};
  }
  next.assign(prompt.begin() + place, prompt.end());
  while (static_cast<std::int64_t>(all.size()) < options.tokens) {
    const auto n = static_cast<std::int64_t>(next.size());
    if (place + n > context) break;
    std::vector<double> last =
        model.last(on_device(next), &caches).array().to_device(Device()).astype(Dtype::float64).to_vector<double>();
    place += n;
    if (!std::all_of(last.begin(), last.end(), [](double x) { return !std::isnan(x); }))
      fail<ValueError>("{}: the model's scores are NaN after {} tokens", what, place);
    penalise(last, seen, options.repetition_penalty);
    const std::int64_t token = draw(last, options, random);
    all.push_back(token);
    seen.insert(token);
    if (options.on_token && !options.on_token(token)) break;
    if (std::ranges::count(model.end_tokens, token) > 0) break;
    next = {token};
  }
  return all;
}

}  // namespace catenary::links
