#pragma once
// Private to the library: the engine of kernels that a user writes, whatever language their text is in. Lists of
// parameters are read; the arguments of a call decide types, the shape of the loop and the outputs; a reduction's axes
// decide how it is cut. ElementwiseKernel and ReductionKernel stand on it, and those of Python's catenary.cupy.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/core/export.h"

namespace catenary {

/// One of "float32 x, raw T y".
struct KernelParameter {
  std::string type, name;
  std::optional<Dtype> dtype = {};  // none of a placeholder
  bool raw = false;
};

/// By whose rules parameters are read and a call is taken.
enum class KernelRules : std::uint8_t {
  library,  ///< a placeholder may have any name; a loop over no array has one step, or as many as the first output
  cupy      ///< a placeholder is one letter; a loop over no array needs a size, and an output that is raw must be given
};

/// What the arguments of a call decide.
struct KernelCall {
  Device device = {};                       ///< that of the arrays, else the current one
  std::map<std::string, Dtype> types = {};  ///< of placeholders
  std::vector<Dtype> dtypes = {};           ///< of all parameters, inputs first
  bool by_number = false;                   ///< did a number decide a type?
  Shape shape = {};                         ///< of the loop
  std::vector<Array> outputs = {};          ///< those that are given, and new ones for the others
};

/// The same of a reduction: its loop is over the inputs, whose axes stay or go.
struct CT_API KernelReduction : KernelCall {
  Axes order = {};                     ///< the axes that stay, then those that go
  std::int64_t results = 1, rows = 1;  ///< elements of the output, and what each is reduced from

  /// How many parts the rows of each result are cut into where a work-item reduces a part by itself: enough for all of
  /// a device's cores, long enough to be worth their partial results. It depends on the shape and on the kind of device
  /// only, so that results do so too.
  std::int64_t parts(bool on_processor) const;
};

/// The parameters of a kernel.
class CT_API KernelParameters {
 public:
  /// Arguments, inputs first: arrays, and null for numbers.
  using Arguments = std::vector<const Array*>;
  /// The dtype that the number among the arguments at this place has by itself; asked for where nothing else says it.
  using DtypeOfNumber = std::function<Dtype(std::size_t)>;

  /// Throws ValueError for lists that cannot be read, names that parameters cannot have and a kernel's name that a
  /// function cannot have, DtypeError for a type that is none.
  KernelParameters(const std::string& inputs, const std::string& outputs, std::string kernel,
                   KernelRules rules = KernelRules::library);

  const std::string& kernel() const { return kernel_; }
  const std::vector<KernelParameter>& inputs() const { return inputs_; }
  const std::vector<KernelParameter>& outputs() const { return outputs_; }

  /// Takes the inputs, and outputs as far as they are given. `size`: of a loop over no array. Throws ValueError for
  /// another number of arguments and for a loop of no or of two sizes, DtypeError for types that do not fit or that
  /// nothing decides and for a number in an array's place (by CuPy's rules an input that is raw may be a number),
  /// ShapeError, DeviceError for arrays on two devices.
  KernelCall elementwise(const Arguments& arguments, const DtypeOfNumber& dtype_of_number,
                         std::optional<std::int64_t> size = {}) const;
  /// The same for a kernel of one output. Throws AxisError and ShapeError for axes, too, and ValueError where there is
  /// nothing to reduce and no identity.
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
