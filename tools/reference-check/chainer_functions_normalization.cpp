// Entries of normalizations.

#include "catenary/functions/normalization.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_normalization_functions(FunctionTable& table) {
  table.add("batch_normalization",
            [](const Inputs& x, Keywords& k) { return F::batch_normalization(x[0], x[1], x[2], k.options()); });
  table.add("fixed_batch_normalization", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::fixed_batch_normalization(x[0], x[1], x[2], x[3], x[4]);
    return F::fixed_batch_normalization(x[0], x[1], x[2], x[3], x[4], k.real("eps", 2e-5),
                                        k.value<std::optional<catenary::Axes>>("axis"));
  });
  table.add("decorrelated_batch_normalization",
            [](const Inputs& x, Keywords& k) { return F::decorrelated_batch_normalization(x[0], k.options()); });
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
  table.add("local_response_normalization",
            [](const Inputs& x, Keywords& k) { return F::local_response_normalization(x[0], k.options()); });
  table.add("normalize", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::normalize(x[0]);
    return F::normalize(x[0], k.real("eps", 1e-5), k.value<catenary::AxisArg>("axis", 1));
  });
}

}  // namespace reference
