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

  /// More than most algorithms want. Others are not worth that much memory.
  static constexpr std::size_t kMostWorkspace = std::size_t{256} << 20;

  /// Returns the position of the pass in tables of functions.
  static std::size_t pass(const ConvolutionSpec& spec) { return static_cast<std::size_t>(spec.pass); }
  /// Returns the plan after `describe(*plan)`. A plan without an algorithm is returned as well, so that an unsupported
  /// convolution is asked for once.
  template <class Plan, class Describe>
  static std::shared_ptr<Plan> described(std::shared_ptr<Plan> plan, const Describe& describe) {
    try {
      describe(*plan);
    } catch (const Refused& refused) {
      if (!refused.text.empty()) throw;
    }
    return plan;
  }
  /// Describes a computation by `library`, without its algorithm.
  Computation computation_by(const char* library, const ConvolutionSpec& spec, bool tf32) const;

  Context& context_;
};

/// The descriptors of a convolution, and whether the library has an algorithm for it.
struct ConvolutionPlan {
  void *x = nullptr, *w = nullptr, *y = nullptr, *convolution = nullptr;
  bool found = false;
  const Computation* computation = nullptr;
  std::size_t workspace = 0;
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
