#pragma once
// Private to the library: what ElementwiseKernel and ReductionKernel share beside their parameters. The text of a
// kernel grows together with the list of what it is launched with.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/kernel_parameters.h"
#include "catenary/array/user_kernel.h"
#include "catenary/core/export.h"
#include "catenary/device/kernel_launcher.h"
#include "catenary/device/primitives.h"

namespace catenary {

/// Throws DeviceError for a device without a compiler.
CT_API KernelLauncher& launcher_for(const Device& device, const std::string& kernel);
/// Launches a kernel of the launcher's, with the arguments of RawKernel::launch.
CT_API void launch_kernel(KernelLauncher& launcher, const Device& device, const void* kernel, const LaunchShape& shape,
                          const std::vector<RawKernel::Argument>& arguments);

/// The name that a dtype's values have in a kernel's variables.
const char* variable_type(Dtype dtype);

/// Placeholders as types of the text.
std::string typedefs(const std::map<std::string, Dtype>& types);

/// Arguments as KernelParameters takes them, and the dtypes of the numbers among them.
KernelParameters::Arguments arrays_of(const std::vector<KernelOperand>& arguments);
KernelParameters::DtypeOfNumber dtypes_of(const std::vector<KernelOperand>& arguments);
/// The first so many as arrays, for a kernel's function on the CPU.
std::vector<Array> cpu_inputs(const std::vector<KernelOperand>& arguments, std::size_t count);

/// The parameters of a kernel's text and its arguments, made together.
class KernelLaunch {
 public:
  void pointer(const std::string& name, const View& view, bool written);
  void extent(const std::string& name, std::int64_t value);
  /// All inputs, seen in the loop's shape. Gives the statements that load the element i of each.
  std::string inputs(const std::vector<KernelParameter>& parameters, const std::vector<KernelOperand>& arguments,
                     const KernelCall& call, const Shape& shape);
  /// The list so far, each with a comma after it; and their names alone, for a call.
  const std::string& parameters() const { return parameters_; }
  const std::string& names() const { return names_; }
  void run(KernelLauncher& launcher, const Device& device, const void* kernel, std::int64_t groups,
           int group_size) const;

 private:
  void value(const std::string& name, const Scalar& scalar, Dtype dtype);
  template <class T>
  void number(const char* type, const std::string& name, T value);

  std::string parameters_, names_;
  std::vector<std::pair<std::uint64_t, std::size_t>> numbers_;
  std::vector<Array> kept_;  // until the launch: what inputs became on the way
};

/// What the text of a loop begins with, for a device whose groups have this many work-items: FOR_UNITS over i64.
std::string kernel_loops(int group_size);

}  // namespace catenary
