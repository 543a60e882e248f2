#include "catenary/links/quantize.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <utility>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/quantized.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"
#include "catenary/links/convolution.h"
#include "catenary/links/link_hooks.h"

namespace catenary::links {

namespace {

/// The links that are not quantised.
class Kept {
 public:
  Kept(const char* function, const QuantizeOptions& options) {
    for (const std::string& pattern : options.keep) {
      try {
        patterns_.emplace_back(pattern);
      } catch (const std::regex_error& error) {
        fail<ValueError>("{}: '{}' is not a regular expression: {}", function, pattern, error.what());
      }
    }
  }
  bool contains(const std::string& path) const {
    return std::any_of(patterns_.begin(), patterns_.end(),
                       [&](const std::regex& pattern) { return std::regex_search(path, pattern); });
  }

 private:
  std::vector<std::regex> patterns_;
};

/// Records the smallest and largest input of each convolution that a thread calls.
class RangeHook : public LinkHook {
 public:
  struct Seen {
    Array low, high;
  };
  std::string name() const override { return "calibrate"; }
  void forward_preprocess(const LinkCall& call) override {
    const auto* const link = dynamic_cast<const ConvolutionND*>(&call.link);
    if (!link) return;
    const Array& x = call.inputs[0].array();
    Seen& seen = of[key(*link)];
    if (x.size() == 0) return;
    const auto wider = [](Array& to, const Array& x, const auto& f) { to = to.defined() ? f(to, x) : x; };
    wider(seen.low, min(x).astype(Dtype::float32), [](const Array& a, const Array& b) { return minimum(a, b); });
    wider(seen.high, max(x).astype(Dtype::float32), [](const Array& a, const Array& b) { return maximum(a, b); });
  }
  /// The model may call a copy of the link, so the key is an array that copies share.
  static const Array* key(const ConvolutionND& link) { return &link.x_range.slot(); }
  std::map<const Array*, Seen> of;
};

}  // namespace

std::vector<QuantizedWeight> quantize(Link& model, Quantization kind, const QuantizeOptions& options) {
  const Kept keep("quantize", options);
  std::vector<std::pair<std::string, QuantizableW*>> links;
  std::map<const VariableNode*, std::optional<QuantizedArray>> weights;  // tied ones once, nullopt if kept
  model.for_each_link([&](const std::string& path, const Link& seen) {
    auto* const link = dynamic_cast<QuantizableW*>(&const_cast<Link&>(seen));  // the model is mutable
    if (!link || link->quantized() || !link->W.defined()) return;
    if (keep.contains(path))
      weights.emplace(&link->W.node(), std::nullopt);
    else
      links.emplace_back(path, link);
  });
  std::vector<QuantizedWeight> done;
  std::vector<std::pair<QuantizableW*, QuantizedArray>> changes;
  for (const auto& [path, link] : links) {
    const auto [weight, is_new] = weights.try_emplace(&link->W.node());
    if (is_new) {
      for (const auto& hook : link->hooks())
        if (dynamic_cast<const link_hooks::WeightHook*>(hook.get()))
          fail<ValueError>(
              "quantize: {} has the hook '{}', which computes its weight anew in each call; keep the link, or delete "
              "the hook",
              path, hook->name());
      const Array before = detail::initialized(*link, link->W);
      const QuantizedArray after = catenary::quantize(before, kind);
      weight->second = after;
      const Array wide = before.astype(Dtype::float32), difference = dequantize(after) - wide;
      const auto squares = [](const Array& x) { return static_cast<double>(sum(square(x)).item<float>()); };
      const double all = squares(wide);
      done.push_back({path, before.shape(), static_cast<std::int64_t>(before.nbytes()), after.nbytes(),
                      all > 0 ? std::sqrt(squares(difference) / all) : 0});
    }
    if (weight->second) changes.emplace_back(link, *weight->second);
  }
  for (const auto& [link, after] : changes) link->set_quantized(after);
  return done;
}

std::vector<CalibratedInput> calibrate(Link& model, const std::function<void()>& run, const QuantizeOptions& options) {
  const Kept keep("calibrate", options);
  std::vector<std::pair<std::string, ConvolutionND*>> convolutions;
  std::vector<Array> before;
  model.for_each_link([&](const std::string& path, const Link& seen) {
    auto* const convolution = dynamic_cast<ConvolutionND*>(&const_cast<Link&>(seen));  // the model is mutable
    if (!convolution || !convolution->quantized()) return;
    convolutions.emplace_back(path, convolution);
    before.push_back(convolution->x_range);
  });
  // measure inputs that are not affected by earlier rounding
  for (const auto& [path, convolution] : convolutions) convolution->clear_input_range();
  std::vector<CalibratedInput> found;
  try {
    const auto hook = std::make_shared<RangeHook>();
    {
      const LinkHookScope scope(hook);
      run();
    }
    for (const auto& [path, convolution] : convolutions) {
      if (keep.contains(path)) continue;
      const auto seen = hook->of.find(RangeHook::key(*convolution));
      if (seen == hook->of.end())
        fail<ValueError>("calibrate: {} was not called, so the range of its x is unknown", path);
      if (!seen->second.low.defined())
        fail<ValueError>("calibrate: {} received only empty batches, so the range of its x is unknown", path);
      const float low = seen->second.low.item<float>(), high = seen->second.high.item<float>();
      if (!std::isfinite(high - low))  // also if one end is not finite
        fail<ValueError>("calibrate: x of {} goes from {} to {}: there is no scale for that", path, low, high);
      found.push_back({path, {std::min(low, 0.0f), std::max(high, 0.0f)}});
    }
  } catch (...) {
    for (std::size_t i = 0; i < convolutions.size(); ++i) convolutions[i].second->x_range = before[i];
    throw;
  }
  auto next = found.begin();
  for (const auto& [path, convolution] : convolutions)
    if (next != found.end() && next->path == path) convolution->set_input_range((next++)->range);
  return found;
}

}  // namespace catenary::links
