#pragma once
// Private to the library: the engine of user-written kernels in any language. It parses parameter lists. From the
// arguments of a call it derives the types, the loop shape and the outputs, and from a reduction's axes how the work is
// split. ElementwiseKernel, ReductionKernel and the kernels of Python's catenary.cupy use it.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/core/export.h"

namespace catenary {

/// One parameter of a list such as "float32 x, raw T y".
struct KernelParameter {
  std::string type, name;
  std::optional<Dtype> dtype = {};  // empty for a placeholder
  bool raw = false;
};

/// The rules for parsing parameters and calls.
enum class KernelRules : std::uint8_t {
  library,  ///< placeholders have any name; a loop without arrays has the first output's size, or one step
  cupy      ///< placeholders are one letter; a loop without arrays needs a size, and raw outputs must be given
};

/// Everything that the arguments of a call decide.
struct KernelCall {
  Device device = {};                       ///< the arrays' device, else the current one
  std::map<std::string, Dtype> types = {};  ///< types of the placeholders
  std::vector<Dtype> dtypes = {};           ///< of all parameters, inputs first
  bool by_number = false;                   ///< true if a number decided a type
  Shape shape = {};                         ///< loop shape
  std::vector<Array> outputs = {};          ///< given outputs, and new arrays for the others
};

/// The decisions for a reduction: the loop covers the inputs, whose axes are kept or reduced.
struct CT_API KernelReduction : KernelCall {
  Axes order = {};                     ///< the kept axes, then the reduced ones
  std::int64_t results = 1, rows = 1;  ///< elements of the output, and inputs reduced to each

  /// Returns into how many parts the rows of each result are split when each work-item reduces one part: enough for all
  /// cores of a device, and long enough to pay for the partial results. The number depends only on the shape and the
  /// kind of device, so that results do not vary.
  std::int64_t parts(bool on_processor) const;
};

/// The parameters of a kernel.
class CT_API KernelParameters {
 public:
  /// Arguments, inputs first: arrays, or null for numbers.
  using Arguments = std::vector<const Array*>;
  /// Returns the own dtype of the number at this argument index. Called only if nothing else decides the type.
  using DtypeOfNumber = std::function<Dtype(std::size_t)>;

  /// Parses the lists. Throws ValueError for syntax errors and for invalid parameter or kernel names, DtypeError for an
  /// unknown type.
  KernelParameters(const std::string& inputs, const std::string& outputs, std::string kernel,
                   KernelRules rules = KernelRules::library);

  const std::string& kernel() const { return kernel_; }
  const std::vector<KernelParameter>& inputs() const { return inputs_; }
  const std::vector<KernelParameter>& outputs() const { return outputs_; }

  /// Resolves a call with the inputs and any given outputs. `size` is the length of a loop without arrays. Throws
  /// ValueError for a wrong number of arguments and for a loop with no size or with two, DtypeError for types that do
  /// not fit or cannot be decided, and for a number in place of an array (CuPy's rules accept numbers for raw inputs),
  /// ShapeError, and DeviceError for arrays on two devices.
  KernelCall elementwise(const Arguments& arguments, const DtypeOfNumber& dtype_of_number,
                         std::optional<std::int64_t> size = {}) const;
  /// Resolves a call of a reduction with one output. Throws as elementwise() does, AxisError and ShapeError for axes,
  /// and ValueError for an empty reduction without identity.
  KernelReduction reduction(const Arguments& arguments, const DtypeOfNumber& dtype_of_number, const AxisArg& axes,
                            bool keepdims, bool has_identity) const;

 private:
  const KernelParameter& at(std::size_t k) const {
    return k < inputs_.size() ? inputs_[k] : outputs_[k - inputs_.size()];
  }
  std::vector<KernelParameter> read(const std::string& text) const;
  void bind(KernelCall& call, const Arguments& arguments, const DtypeOfNumber& dtype_of_number) const;
  bool broadcast(KernelCall& call, const Arguments& arguments, std::size_t count) const;
  void add_outputs(KernelCall& call, const Arguments& arguments, const Shape& shape) const;

  std::string kernel_;
  KernelRules rules_;
  std::vector<KernelParameter> inputs_, outputs_;
};

}  // namespace catenary
