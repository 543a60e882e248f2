#pragma once
// dnn/: the vendors' libraries of convolutions, found at run time and tried before our own kernels. Each file has one
// interface, with declarations of its public ABI. No vendor files are needed to build, and no library may end the
// process.

#include <memory>
#include <string>

#include "catenary/backends/gpu/context.h"
#include "catenary/backends/gpu/dnn/spec.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/device/providers.h"

namespace catenary::gpu {

/// A library that computes convolutions.
class ConvolutionProvider : public Provider<ConvolutionSpec> {
 public:
  explicit ConvolutionProvider(Context& context) : context_(context) {}
  bool run(const ConvolutionSpec& spec, std::string& why) final;

 protected:
  /// A failed operation of the library. An empty text means that the library does not support this convolution.
  struct Refused {
    std::string text;
  };
  /// Computes the convolution without its bias, or throws Refused. Returns the stored description of the computation.
  virtual const Computation& convolve(const ConvolutionSpec& spec) = 0;
  /// Returns whether the library can add to the present result. If not, our own kernels handle sums and biases.
  virtual bool accumulates() const { return true; }

  Context& context_;
};

/// A library's descriptor of an array, and the array's view.
struct DescribedArray {
  void* descriptor;
  const View& view;
};
/// A pass's arrays in the order that a library expects.
struct Operands {
  Operands(const DescribedArray& a, const DescribedArray& b, const DescribedArray& c)
      : first(a.descriptor),
        second(b.descriptor),
        result(c.descriptor),
        first_data(a.view.data()),
        second_data(b.view.data()),
        result_data(c.view.data()) {}
  void *first, *second, *result;
  const void *first_data, *second_data;
  void* result_data;
};

/// Returns MIOpen, also for `catenary doctor`.
CT_API const RocmLibrary& miopen();

}  // namespace catenary::gpu
