// Entries of Fourier transforms.

#include "catenary/functions/fft.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_fft_functions(FunctionTable& table) {
  const auto parts = [](const std::pair<Variable, Variable>& y) { return Inputs{y.first, y.second}; };
  table.add("fft", [parts](const Inputs& x) { return parts(F::fft({x.at(0), x.at(1)})); });
  table.add("ifft", [parts](const Inputs& x) { return parts(F::ifft({x.at(0), x.at(1)})); });
}

}  // namespace reference
