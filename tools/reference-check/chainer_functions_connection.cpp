// Entries of functions with weights.

#include "catenary/functions/connection.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_connection_functions(FunctionTable& table) {
  table.add("linear",
            [](const Inputs& x) { return x.size() == 2 ? F::linear(x[0], x[1]) : F::linear(x[0], x[1], x[2]); });
  table.add("bilinear", [](const Inputs& x) {
    return x.size() == 3 ? F::bilinear(x[0], x[1], x[2])
                         : F::bilinear(x.at(0), x.at(1), x.at(2), x.at(3), x.at(4), x.at(5));
  });
  table.add("embed_id", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::embed_id(x[0], x[1]) : F::embed_id(x[0], x[1], k.integer("ignore_label"));
  });
}

}  // namespace reference
