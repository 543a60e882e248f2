#pragma once
// Private to the library: what ElementwiseKernel and ReductionKernel share. Their parameters are read, the arguments
// decide the types, and the text of a kernel grows together with the list of what it is launched with.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/user_kernel.h"
#include "catenary/device/kernel_launcher.h"
#include "catenary/device/primitives.h"

namespace catenary {

/// One of "float32 x, raw T y".
struct KernelParameter {
  std::string type, name;
  std::optional<Dtype> dtype;  // of a type that is no placeholder
  bool raw = false;
};

/// Throws ValueError for a list that cannot be read.
std::vector<KernelParameter> parse_parameters(const std::string& text, const std::string& kernel);
/// Throws ValueError for a name that a function cannot have.
void check_kernel_name(const std::string& name);
void check_argument_count(std::size_t given, std::size_t least, std::size_t most, const std::string& kernel);
/// Throws DeviceError for a device without a compiler.
KernelLauncher& launcher_for(const Device& device, const std::string& kernel);

/// The name that a dtype's values have in a kernel's variables.
const char* variable_type(Dtype dtype);

/// The dtypes of placeholders, as the arguments decide them.
class KernelTypes {
 public:
  explicit KernelTypes(const std::string& kernel) : kernel_(kernel) {}
  void bind(const KernelParameter& p, Dtype dtype);
  Dtype of(const KernelParameter& p) const;
  bool knows(const KernelParameter& p) const { return p.dtype || types_.count(p.type); }
  std::string typedefs() const;

 private:
  std::string kernel_;
  std::map<std::string, Dtype> types_;
};

/// The inputs of a call, and what is known from them.
struct KernelInputs {
  Device device;
  Shape shape;  // of all that are broadcast
  std::vector<KernelOperand> operands;
};

KernelInputs kernel_inputs(const std::vector<KernelParameter>& parameters, const std::vector<KernelOperand>& arguments,
                           KernelTypes& types, const std::string& kernel);

/// All inputs as arrays, for a kernel's function on the CPU.
std::vector<Array> cpu_inputs(const KernelInputs& inputs);

/// The parameters of a kernel's text and its arguments, made together.
class KernelLaunch {
 public:
  void pointer(const std::string& name, const View& view, bool written);
  void extent(const std::string& name, std::int64_t value);
  /// All inputs. Gives the statements that load the element i of each.
  std::string inputs(const std::vector<KernelParameter>& parameters, const KernelInputs& inputs,
                     const KernelTypes& types);
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
