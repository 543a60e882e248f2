// Entries of convolutions.

#include "catenary/functions/convolution.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

void add_convolution_functions(FunctionTable& table) {
  // with a bias or without
#define CT_ENTRY(function)                                                                                             \
  table.add(#function, [](const Inputs& x, Keywords& k) {                                                              \
    return x.size() == 2 ? F::function(x[0], x[1], k.options()) : F::function(x.at(0), x.at(1), x.at(2), k.options()); \
  });
  CT_ENTRY(convolution_1d)
  CT_ENTRY(convolution_2d)
  CT_ENTRY(convolution_3d)
  CT_ENTRY(convolution_nd)
  CT_ENTRY(deconvolution_1d)
  CT_ENTRY(deconvolution_2d)
  CT_ENTRY(deconvolution_3d)
  CT_ENTRY(deconvolution_nd)
  CT_ENTRY(dilated_convolution_2d)
  CT_ENTRY(depthwise_convolution_2d)
#undef CT_ENTRY
  table.add("local_convolution_2d", [](const Inputs& x, Keywords& k) {
    const auto stride = k.value<catenary::PerAxis>("stride", 1);
    return x.size() == 2 ? F::local_convolution_2d(x[0], x[1], stride)
                         : F::local_convolution_2d(x.at(0), x.at(1), x.at(2), stride);
  });
}

}  // namespace reference
