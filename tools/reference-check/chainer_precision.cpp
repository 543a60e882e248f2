#include "chainer_precision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/functions/functions.h"
#include "catenary/links/connection.h"
#include "catenary/links/normalization.h"
#include "catenary/optimizers/optimizers.h"
#include "chainer_arrays.h"

namespace reference {

namespace ct = catenary;
namespace F = catenary::functions;
namespace L = catenary::links;
namespace O = catenary::optimizers;
using nlohmann::json;

namespace {

// Both programs round in a different order. Losses may differ by 4 units, weights after 40 steps by 8.
constexpr double kUnit16 = 1.0 / 1024, kUnit32 = 1.2e-7;
// Chainer's Adam in float16 loses its state. Ours is compared with float32's losses, as far as 16-bit weights allow.
constexpr const char* kAdamInFloat32 = "float32_Adam_19.npz";
constexpr double kUnitsOfFloat32 = 20;

/// Chainer's Sequential of two linear layers with a normalization and relu between them, with its numbering.
struct Net : ct::Link {
  L::Linear first{20, 16}, second{16, 5};
  L::BatchNormalization normalization{16};
  CT_LINKS(first, second, normalization)
  ct::Variable operator()(const ct::Variable& x) const { return second(F::relu(normalization(first(x)))); }
  std::map<std::string, ct::Parameter> by_name() const {
    return {{"/0/W", first.W},
            {"/0/b", first.b},
            {"/1/W", second.W},
            {"/1/b", second.b},
            {"/2/beta", normalization.beta},
            {"/2/gamma", normalization.gamma}};
  }
};

ct::Optimizer make_optimizer(const std::string& name, const json& kwargs) {
  if (name == "SGD") return O::SGD(kwargs.at("lr").get<double>());
  if (name == "MomentumSGD") return O::MomentumSGD({.lr = kwargs.at("lr").get<double>()});
  if (name == "Adam") return O::Adam();
  throw NotImplemented("optimizer " + name);
}

void set_scaling(const ct::Optimizer& optimizer, const json& scaling) {
  if (scaling.is_null()) return optimizer.set_loss_scale(1);
  if (scaling.contains("scale")) return optimizer.set_loss_scale(scaling["scale"]);
  optimizer.loss_scaling(scaling.at("interval").get<std::int64_t>());
}

void expect_near(const std::string& what, double got, double wanted, double tolerance) {
  if (!(std::abs(got - wanted) <= tolerance))
    throw Mismatch(fmt::format("{}: {:.7g}, not {:.7g} (to {:.2g})", what, got, wanted, tolerance));
}

}  // namespace

void check_precision(const std::string& directory, const json& entry) {
  const ct::io::NpzReader file(directory + "/" + entry.at("file").get<std::string>());
  const ct::Precision precision = ct::precision_from_name(entry.at("dtype").get<std::string>());
  const auto scope = ct::using_config(ct::config.dtype, precision);
  const bool is16 = ct::is_16bit_float(precision), fp32 = entry.at("fp32_update").get<bool>();
  const bool loses_state = is16 && !fp32 && entry.at("optimizer") == "Adam";
  const ct::io::NpzReader followed(directory + "/" +
                                   (loses_state ? kAdamInFloat32 : entry.at("file").get<std::string>()));
  const std::vector<double> losses = load(followed, "loss").to_vector<double>(),
                            scales = load(file, "scale").to_vector<double>();
  const std::vector<bool> skipped = load(file, "skipped").to_vector<bool>();
  const double unit = is16 ? kUnit16 : kUnit32;

  const Net net;
  for (const auto& [name, parameter] : net.by_name()) {
    const ct::Array first = load_as(file, "w" + name, parameter.dtype());
    if (const ct::Dtype wanted = load(file, "w" + name).dtype(); wanted != parameter.dtype())
      throw Mismatch(fmt::format("{} is of {}, not of {}", name, parameter.dtype(), wanted));
    parameter.set_array(first);
  }
  const ct::Optimizer optimizer = make_optimizer(entry.at("optimizer"), entry.at("kwargs"));
  optimizer.setup(net);
  optimizer.use_fp32_update(fp32);
  set_scaling(optimizer, entry.at("loss_scaling"));
  const ct::Variable x(load_as(file, "x", precision), false);
  const ct::Array t = load_as(file, "t", precision);
  for (std::size_t k = 0; k < losses.size(); ++k) {
    const std::string step = fmt::format("step {}: ", k);
    expect_near(step + "loss scale", optimizer.loss_scale().value(), scales[k], 1e-5 * scales[k]);
    ct::Variable loss;
    optimizer.update([&] { return loss = F::softmax_cross_entropy(net(x), t) * entry.at("factor").get<double>(); });
    expect_near(step + "loss", loss.array().item<double>(), losses[k],
                (loses_state ? kUnitsOfFloat32 : 4) * unit * losses.front());
    if (optimizer.is_safe_to_update() == skipped[k] && scales[k] != 1)
      throw Mismatch(step + (skipped[k] ? "not skipped" : "skipped"));
  }
  if (loses_state) return;
  for (const auto& [name, parameter] : net.by_name()) {
    // its gradient is only rounding errors, because normalization cancels any bias, and Adam scales them up to steps
    if (name == "/0/b" && entry.at("optimizer") == "Adam") continue;
    const ct::Array wanted = load_as(file, "f" + name, ct::Dtype::float32);
    const double off = ct::absolute(parameter.array().astype(ct::Dtype::float32) - wanted).max().item<double>();
    const double largest = std::max(1.0, ct::absolute(wanted).max().item<double>());
    expect_near(name, off, 0, 8 * unit * largest);
  }
}

}  // namespace reference
