// Entries of normalizations.

#include "catenary/functions/normalization.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

namespace {

std::optional<catenary::Axes> optional_axes(Keywords& k) {
  return k.get("axis").is_null() ? std::optional<catenary::Axes>() : k.integers("axis");
}

}  // namespace

void add_normalization_functions(FunctionTable& table) {
  table.add("batch_normalization", [](const Inputs& x, Keywords& k) {
    F::BatchNormalizationOptions options;
    k.set("eps", options.eps);
    k.set("decay", options.decay);
    options.axis = optional_axes(k);
    return F::batch_normalization(x[0], x[1], x[2], options);
  });
  table.add("fixed_batch_normalization", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::fixed_batch_normalization(x[0], x[1], x[2], x[3], x[4]);
    return F::fixed_batch_normalization(x[0], x[1], x[2], x[3], x[4], k.real("eps", 2e-5), optional_axes(k));
  });
  table.add("decorrelated_batch_normalization", [](const Inputs& x, Keywords& k) {
    F::DecorrelatedBatchNormalizationOptions options;
    k.set("groups", options.groups);
    k.set("eps", options.eps);
    k.set("decay", options.decay);
    return F::decorrelated_batch_normalization(x[0], options);
  });
  table.add("fixed_decorrelated_batch_normalization", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::fixed_decorrelated_batch_normalization(x[0], x[1], x[2]);
    return F::fixed_decorrelated_batch_normalization(x[0], x[1], x[2], k.integer("groups"));
  });
  table.add("layer_normalization", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::layer_normalization(x[0], x[1], x[2]);
    return F::layer_normalization(x[0], x[1], x[2], k.real("eps"));
  });
  table.add("group_normalization", [](const Inputs& x, Keywords& k) {
    return F::group_normalization(x[0], k.integer("groups"), x[1], x[2], k.real("eps", 1e-5));
  });
  table.add("local_response_normalization", [](const Inputs& x, Keywords& k) {
    F::LocalResponseNormalizationOptions options;
    k.set("n", options.n);
    k.set("k", options.k);
    k.set("alpha", options.alpha);
    k.set("beta", options.beta);
    return F::local_response_normalization(x[0], options);
  });
  table.add("normalize", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::normalize(x[0]);
    return F::normalize(x[0], k.real("eps", 1e-5), k.given("axis") ? k.axis() : catenary::AxisArg(1));
  });
}

}  // namespace reference
