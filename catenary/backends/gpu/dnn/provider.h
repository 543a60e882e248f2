#pragma once
// dnn/: the vendors' libraries of convolutions, found at run time and tried before our own kernels. Each file has one
// interface, with declarations of its public ABI; nothing of it is needed to build, and none may end the process.

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
  /// An operation of the library that went wrong. Without a text: it does not take this convolution.
  struct Refused {
    std::string text;
  };
  /// Computes it without its bias, or throws Refused. Gives how, which was kept.
  virtual const Computation& convolve(const ConvolutionSpec& spec) = 0;
  /// Can the library add to what the result holds? Where it cannot, sums and biases are left to our own kernels.
  virtual bool accumulates() const { return true; }

  Context& context_;
};

/// A library's descriptor of an array, and where the array lies.
struct DescribedArray {
  void* descriptor;
  const View& view;
};
/// A pass's arrays in the order in which a library wants them.
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

/// MIOpen, for `catenary doctor` too.
CT_API const RocmLibrary& miopen();

}  // namespace catenary::gpu
