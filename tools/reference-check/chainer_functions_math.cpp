// Entries of mathematical functions.

#include "catenary/functions/math_basic.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_math_functions(FunctionTable& table) {
  table.unary("exp", F::exp);
  table.unary("expm1", F::expm1);
  table.unary("log", F::log);
  table.unary("log1p", F::log1p);
  table.unary("sqrt", F::sqrt);
  table.unary("square", F::square);
  table.unary("absolute", F::absolute);
  table.add("add", [](const Inputs& x) { return F::add(x); });
  table.add("sum", [](const Inputs& x, Keywords& k) { return F::sum(x[0], k.axis(), k.flag("keepdims")); });
  table.add("matmul",
            [](const Inputs& x, Keywords& k) { return F::matmul(x[0], x[1], k.flag("transa"), k.flag("transb")); });
}

}  // namespace reference
