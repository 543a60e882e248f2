#include "catenary/backends/gpu/dnn/provider.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

/// Opens a library for a device; null, with the reason, where it cannot serve. Each has a file of its own here.
using OpenConvolution = std::unique_ptr<ConvolutionProvider>(Context& context, std::string& why);
OpenConvolution open_cudnn, open_miopen;

namespace {

std::vector<std::pair<const char*, ConvolutionProviders::Open>> known_for(Context& context) {
  struct Known {
    const char* driver;
    const char* name;
    OpenConvolution* open;
  };
  constexpr Known known[] = {{"cuda", "cuDNN", open_cudnn}, {"hip", "MIOpen", open_miopen}};
  std::vector<std::pair<const char*, ConvolutionProviders::Open>> list;
  for (const Known& library : known)
    if (context.driver.name() == std::string(library.driver))
      list.emplace_back(library.name, [&context, open = library.open](std::string& why) { return open(context, why); });
  return list;
}

}  // namespace

ConvolutionProviders::ConvolutionProviders(Context& context)
    : Providers("dnn", fmt::format("{}:{}", context.driver.name(), context.index), known_for(context), "") {
  const std::string asked = environment::text("CATENARY_GPU_DNN");
  choose(asked, "CATENARY_GPU_DNN=" + asked);
}

bool ConvolutionProvider::run(const ConvolutionSpec& spec, std::string& why) {
  if ((spec.accumulate || spec.bias) && !accumulates()) return false;
  try {
    if (!spec.bias) {
      convolve(spec);
      return true;
    }
    // the result begins as the bias, and the convolution is added
    View bias = *spec.bias;
    const Shape& shape = spec.result().shape;
    Strides strides = Strides::filled(shape.size(), 0);
    strides[1] = bias.strides.empty() ? 0 : bias.strides[0];
    bias.shape = shape;
    bias.strides = strides;
    compute(context_, Copy{spec.result(), bias});
    ConvolutionSpec rest = spec;
    rest.bias = nullptr;
    rest.accumulate = true;
    convolve(rest);
    return true;
  } catch (const Refused& refused) {
    why = refused.text;
  } catch (const DeviceError& error) {
    why = error.what();  // no memory for it to work in
  }
  return false;
}

}  // namespace catenary::gpu
