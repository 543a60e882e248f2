#include "catenary/links/quantize.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/quantized.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"
#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"

namespace catenary::links {

std::vector<QuantizedWeight> quantize(Link& model, Quantization kind, const QuantizeOptions& options) {
  std::vector<std::regex> keep;
  for (const std::string& pattern : options.keep) {
    try {
      keep.emplace_back(pattern);
    } catch (const std::regex_error& error) {
      fail<ValueError>("quantize: '{}' is no regular expression: {}", pattern, error.what());
    }
  }
  std::vector<QuantizedWeight> done;
  std::vector<std::function<void()>> changes;
  const auto add = [&](const std::string& path, auto& link) {
    if (link.quantized()) return;
    const Array before = detail::initialized(link, link.W);
    const QuantizedArray after = catenary::quantize(before, kind);
    const Array wide = before.astype(Dtype::float32), difference = dequantize(after) - wide;
    const auto squares = [](const Array& x) { return static_cast<double>(sum(square(x)).template item<float>()); };
    const double all = squares(wide);
    done.push_back({path, before.shape(), static_cast<std::int64_t>(before.nbytes()), after.nbytes(),
                    all > 0 ? std::sqrt(squares(difference) / all) : 0});
    changes.push_back([&link, after] { link.set_quantized(after); });
  };
  model.for_each_link([&](const std::string& path, const Link& seen) {
    auto& link = const_cast<Link&>(seen);  // of a model that may be changed
    if (std::any_of(keep.begin(), keep.end(), [&](const std::regex& r) { return std::regex_search(path, r); })) return;
    if (auto* const linear = dynamic_cast<Linear*>(&link)) add(path, *linear);
    if (auto* const embed = dynamic_cast<EmbedID*>(&link)) add(path, *embed);
    if (auto* const convolution = dynamic_cast<ConvolutionND*>(&link)) add(path, *convolution);
  });
  for (const auto& change : changes) change();
  return done;
}

}  // namespace catenary::links
