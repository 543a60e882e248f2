// Entries of activation functions.

#include "catenary/functions/activation.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_activation_functions(FunctionTable& table) {
  table.unary("relu", F::relu);
  table.unary("relu6", F::relu6);
  table.unary("sigmoid", F::sigmoid);
  table.unary("hard_sigmoid", F::hard_sigmoid);
  table.unary("tanh", F::tanh);
  table.binary("prelu", F::prelu);
  table.binary("swish", F::swish);
  table.add("clipped_relu", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::clipped_relu(x[0]) : F::clipped_relu(x[0], k.real("z"));
  });
  table.add("leaky_relu", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::leaky_relu(x[0]) : F::leaky_relu(x[0], k.real("slope"));
  });
  table.add("elu",
            [](const Inputs& x, Keywords& k) { return k.empty() ? F::elu(x[0]) : F::elu(x[0], k.real("alpha")); });
  table.add("selu", [](const Inputs& x, Keywords& k) {
    if (k.empty()) return F::selu(x[0]);
    return F::selu(x[0], k.real("alpha", 1.6732632423543772), k.real("scale", 1.0507009873554805));
  });
  table.add("softplus", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::softplus(x[0]) : F::softplus(x[0], k.real("beta"));
  });
  table.add("crelu", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::crelu(x[0]) : F::crelu(x[0], k.integer("axis"));
  });
  table.add("maxout",
            [](const Inputs& x, Keywords& k) { return F::maxout(x[0], k.integer("pool_size"), k.integer("axis", 1)); });
  table.add("softmax", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::softmax(x[0]) : F::softmax(x[0], k.integer("axis"));
  });
  table.add("log_softmax", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::log_softmax(x[0]) : F::log_softmax(x[0], k.integer("axis"));
  });
}

}  // namespace reference
