// Entries of activation functions.

#include "catenary/functions/activation.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_activation_functions(FunctionTable& table) {
  table.unary("relu", F::relu);
  table.unary("sigmoid", F::sigmoid);
  table.unary("tanh", F::tanh);
  table.add("softmax", [](const Inputs& x, Keywords& k) { return F::softmax(x[0], k.integer("axis", 1)); });
  table.add("log_softmax", [](const Inputs& x, Keywords& k) { return F::log_softmax(x[0], k.integer("axis", 1)); });
}

}  // namespace reference
