#include "catenary/backends/gpu/dnn/provider.h"

#include "catenary/backends/gpu/matrix_units.h"
#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

bool ConvolutionProvider::run(const ConvolutionSpec& spec, std::string& why) {
  if ((spec.accumulate || spec.bias) && !accumulates()) return false;
  try {
    const auto computed = [&](const ConvolutionSpec& convolution) {
      context_.computations.note(ComputationKind::convolution, convolve(convolution));
      return true;
    };
    if (!spec.bias) return computed(spec);
    // fill the result with the bias, then add the convolution
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
    return computed(rest);
  } catch (const Refused& refused) {
    why = refused.text;
  } catch (const DeviceError& error) {
    why = error.what();  // no memory for its workspace
  }
  return false;
}

Computation ConvolutionProvider::computation_by(const char* library, const ConvolutionSpec& spec, bool tf32) const {
  const bool eights = spec.x[1] / spec.groups % 8 == 0 && spec.y[1] / spec.groups % 8 == 0;
  return untold("dnn", library, context_.info, spec.dtype, tf32,
                eights ? "channels are multiples of 8" : "alignment: not all channels are multiples of 8");
}

}  // namespace catenary::gpu
