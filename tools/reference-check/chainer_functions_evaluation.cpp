// Entries of evaluation functions.

#include "catenary/autograd/operators.h"
#include "catenary/functions/evaluation.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_evaluation_functions(FunctionTable& table) {
  table.add("accuracy", [](const Inputs& x, Keywords& k) {
    return k.given("ignore_label") ? F::accuracy(x[0], x[1], k.integer("ignore_label")) : F::accuracy(x[0], x[1]);
  });
  table.binary("binary_accuracy", F::binary_accuracy);
  table.add("r2_score", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::r2_score(x[0], x[1]) : F::r2_score(x[0], x[1], k.value<F::Multioutput>("multioutput"));
  });
  table.add("classification_summary", [](const Inputs& x, Keywords& k) {
    const auto label_num = k.value<std::optional<std::int64_t>>("label_num");
    const auto all =
        F::classification_summary(x[0], x[1], label_num, k.real("beta", 1.0), k.integer("ignore_label", -1));
    const catenary::Dtype dtype = x[0].dtype();  // our scores are always float64, the vectors have x's dtype
    return std::vector<Variable>{F::cast(all.precision, dtype), F::cast(all.recall, dtype), F::cast(all.fbeta, dtype),
                                 all.support};
  });
}

}  // namespace reference
