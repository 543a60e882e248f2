#pragma once
// Private to the library: code that ElementwiseKernel and ReductionKernel share, apart from their parameters. The
// kernel's source text and its list of launch arguments are built together.

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

/// Returns the device's launcher. Throws DeviceError for a device without a compiler.
CT_API KernelLauncher& launcher_for(const Device& device, const std::string& kernel);
/// Launches a kernel of this launcher with the arguments of RawKernel::launch.
CT_API void launch_kernel(KernelLauncher& launcher, const Device& device, const void* kernel, const LaunchShape& shape,
                          const std::vector<RawKernel::Argument>& arguments);

/// Returns the type of a kernel's variables that hold values of this dtype.
const char* variable_type(Dtype dtype);

/// Returns typedefs of the placeholders in source text.
std::string typedefs(const std::map<std::string, Dtype>& types);

/// Return the arguments as KernelParameters takes them, and the dtypes of the numbers among them.
KernelParameters::Arguments arrays_of(const std::vector<KernelOperand>& arguments);
KernelParameters::DtypeOfNumber dtypes_of(const std::vector<KernelOperand>& arguments);
/// Returns the first `count` arguments as arrays, for a kernel's CPU function.
std::vector<Array> cpu_inputs(const std::vector<KernelOperand>& arguments, std::size_t count);

/// Builds the parameter list of a kernel's source text together with its arguments.
class KernelLaunch {
 public:
  void pointer(const std::string& name, const View& view, bool written);
  void extent(const std::string& name, std::int64_t value);
  /// Adds all inputs, broadcast to the loop shape. Returns the statements that load element i of each.
  std::string inputs(const std::vector<KernelParameter>& parameters, const std::vector<KernelOperand>& arguments,
                     const KernelCall& call, const Shape& shape);
  /// Return the list so far, with a comma after each parameter, and the parameter names alone for a call.
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
  std::vector<Array> kept_;  // converted inputs, kept until the launch
};

/// Returns the beginning of a loop's source text: FOR_UNITS over i64, for thread blocks of this size.
std::string kernel_loops(int group_size);

}  // namespace catenary
