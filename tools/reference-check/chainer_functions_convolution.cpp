// Entries of convolutions.

#include "catenary/functions/convolution.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

namespace {

/// A list of integers, or one of them, where it was given and is not null.
template <class Dims>
void set_integers(Keywords& k, const std::string& name, Dims& member) {
  if (k.given(name) && !k.get(name).is_null()) member = k.integers(name);
}

F::ConvolutionOptions convolution_options(Keywords& k) {
  F::ConvolutionOptions options;
  set_integers(k, "stride", options.stride);
  set_integers(k, "pad", options.pad);
  k.set("cover_all", options.cover_all);
  set_integers(k, "dilate", options.dilate);
  k.set("groups", options.groups);
  return options;
}

F::DeconvolutionOptions deconvolution_options(Keywords& k) {
  F::DeconvolutionOptions options;
  set_integers(k, "stride", options.stride);
  set_integers(k, "pad", options.pad);
  set_integers(k, "outsize", options.outsize);
  set_integers(k, "dilate", options.dilate);
  k.set("groups", options.groups);
  return options;
}

F::DepthwiseConvolutionOptions depthwise_options(Keywords& k) {
  F::DepthwiseConvolutionOptions options;
  set_integers(k, "stride", options.stride);
  set_integers(k, "pad", options.pad);
  return options;
}

catenary::PerAxis stride_option(Keywords& k) { return k.given("stride") ? k.integers("stride") : catenary::Shape{1}; }

}  // namespace

void add_convolution_functions(FunctionTable& table) {
  // with a bias or without
#define CT_ENTRY(function, options)                                                                                  \
  table.add(#function, [](const Inputs& x, Keywords& k) {                                                            \
    return x.size() == 2 ? F::function(x[0], x[1], options(k)) : F::function(x.at(0), x.at(1), x.at(2), options(k)); \
  });
  CT_ENTRY(convolution_1d, convolution_options)
  CT_ENTRY(convolution_2d, convolution_options)
  CT_ENTRY(convolution_3d, convolution_options)
  CT_ENTRY(convolution_nd, convolution_options)
  CT_ENTRY(deconvolution_1d, deconvolution_options)
  CT_ENTRY(deconvolution_2d, deconvolution_options)
  CT_ENTRY(deconvolution_3d, deconvolution_options)
  CT_ENTRY(deconvolution_nd, deconvolution_options)
  CT_ENTRY(dilated_convolution_2d, convolution_options)
  CT_ENTRY(depthwise_convolution_2d, depthwise_options)
  CT_ENTRY(local_convolution_2d, stride_option)
#undef CT_ENTRY
}

}  // namespace reference
