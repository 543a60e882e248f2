#pragma once
// User-written kernels, as in CuPy: from an expression over elements, from a map and a reduction, or as a whole kernel.
// Their text is the portable C of kernels/ (f32, i64, …, KERNEL, GLOBAL, … and math functions such as ct_exp_f32). It
// is compiled for the device of the arguments. On the CPU that needs a C++ compiler (CXX, c++, g++ or clang++).

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/export.h"
#include "catenary/device/launch_shape.h"

namespace catenary {

struct UserKernelText;

/// An argument of a user's kernel: an array or a number.
class CT_API KernelOperand {
 public:
  KernelOperand(Array array) : array_(std::move(array)), scalar_(false) {}
  template <class T>
  requires std::is_arithmetic_v<T> KernelOperand(T value) : scalar_(value) {}
  bool is_array() const { return array_.defined(); }
  const Array& array() const { return array_; }
  const Scalar& scalar() const { return scalar_; }

 private:
  Array array_;
  Scalar scalar_;
};

/// The CPU version of an ElementwiseKernel: a function that takes one element of each input and returns an element of
/// the output. Inputs are cast to the function's parameter types and broadcast.
class CT_API CpuLoop {
 public:
  CpuLoop() = default;
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, CpuLoop>) CpuLoop(F f) : CpuLoop(std::function(std::move(f))) {}
  template <class R, class... A>
  CpuLoop(std::function<R(A...)> f) {
    arity_ = sizeof...(A);
    run_ = [f = std::move(f)](const std::vector<Array>& inputs, const Shape& shape) {
      return apply(f, inputs, shape, std::index_sequence_for<A...>());
    };
  }
  explicit operator bool() const { return static_cast<bool>(run_); }
  int arity() const { return arity_; }
  Array operator()(const std::vector<Array>& inputs, const Shape& shape) const { return run_(inputs, shape); }

 private:
  template <class R, class... A, std::size_t... I>
  static Array apply(const std::function<R(A...)>& f, const std::vector<Array>& inputs, const Shape& shape,
                     std::index_sequence<I...>) {
    const std::tuple arrays = {broadcast_to(inputs[I].astype(dtype_of<std::decay_t<A>>), shape).contiguous()...};
    const std::tuple from = {std::get<I>(arrays).template data<std::decay_t<A>>()...};
    Array out = Array::empty(shape, dtype_of<R>, Device());
    R* to = out.template mutable_data<R>();
    const std::int64_t n = out.size();
    for (std::int64_t i = 0; i < n; ++i) to[i] = f(std::get<I>(from)[i]...);
    return out;
  }

  int arity_ = 0;
  std::function<Array(const std::vector<Array>&, const Shape&)> run_;
};

/// The CPU version of a ReductionKernel: a map of one element of each input, a function that combines two mapped
/// values, a function of the final value, and the initial value. Rows are combined in order.
class CT_API CpuReduction {
 public:
  CpuReduction() = default;
  template <class Map, class Reduce, class Post, class T>
  CpuReduction(Map map, Reduce reduce, Post post, T identity) : map_(std::move(map)) {
    using Mapped = typename decltype(std::function(std::declval<Map>()))::result_type;
    using Result = std::decay_t<decltype(post(static_cast<Mapped>(identity)))>;
    fold_ = [=](const Array& mapped) {
      const std::int64_t outputs = mapped.shape()[0], rows = mapped.shape()[1];
      const Mapped* from = mapped.data<Mapped>();
      Array out = Array::empty({outputs}, dtype_of<Result>, Device());
      Result* to = out.mutable_data<Result>();
      for (std::int64_t i = 0; i < outputs; ++i) {
        Mapped total = static_cast<Mapped>(identity);
        for (std::int64_t row = 0; row < rows; ++row) total = reduce(total, from[i * rows + row]);
        to[i] = post(total);
      }
      return out;
    };
  }
  explicit operator bool() const { return static_cast<bool>(fold_); }
  int arity() const { return map_.arity(); }
  /// Reduces the inputs, broadcast to `shape`, to `outputs` elements. The first axes of `shape` are kept.
  Array operator()(const std::vector<Array>& inputs, const Shape& shape, std::int64_t outputs) const {
    return fold_(map_(inputs, shape).reshape({outputs, outputs ? shape.product() / outputs : 0}));
  }

 private:
  CpuLoop map_;
  std::function<Array(const Array&)> fold_;
};

/// Options of ElementwiseKernel.
struct UserKernelOptions {
  CpuLoop cpu = {};           ///< the CPU version; without it the text is compiled for the CPU, too
  std::string preamble = {};  ///< text before the kernel: helper functions, macros
};

/// Options of ReductionKernel.
struct ReductionKernelOptions {
  CpuReduction cpu = {};      ///< the CPU version: `{.cpu = {map, reduce, post, identity}}`
  std::string preamble = {};  ///< text before the kernel: helper functions, macros
};

/// An elementwise operation on arrays that are broadcast together. Parameters are lists such as "float32 x, T y, raw T
/// z". A type is a dtype's name, or another name that stands for the arguments' dtype. A `raw` array is not broadcast,
/// and the text indexes it. In the operation, parameters are variables (16-bit floats are f32), `i` is the index of the
/// element and `n` the number of elements (both i64). (cupy.ElementwiseKernel)
class CT_API ElementwiseKernel {
 public:
  /// Throws ValueError for a syntax error in the parameters and for an invalid name of a parameter or the kernel.
  ElementwiseKernel(const std::string& in_params, const std::string& out_params, const std::string& operation,
                    const std::string& name = "kernel", const UserKernelOptions& options = {});
  /// Returns the output for the inputs, or the first of several outputs. Existing outputs may follow the inputs as
  /// further arguments. Throws ShapeError, DtypeError if no input determines an output's dtype, and DeviceError with
  /// the compiler's message.
  template <class... A>
  Array operator()(A&&... arguments) const {
    return call({KernelOperand(std::forward<A>(arguments))...}).front();
  }
  /// Returns all outputs. Arguments and errors are as in operator().
  std::vector<Array> call(const std::vector<KernelOperand>& arguments) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// A reduction: `map_expr` maps the inputs' elements, `reduce_expr` combines two values a and b beginning with
/// `identity`, and `post_map_expr` is a statement that sets the output from a. Accumulates in the output's register
/// type. (cupy.ReductionKernel)
class CT_API ReductionKernel {
 public:
  ReductionKernel(const std::string& in_params, const std::string& out_param, const std::string& map_expr,
                  const std::string& reduce_expr, const std::string& post_map_expr, const std::string& identity,
                  const std::string& name = "kernel", const ReductionKernelOptions& options = {});
  /// Reduces over `axes`, by default all of them. An existing output may follow the inputs as a further argument.
  Array operator()(const std::vector<KernelOperand>& inputs, const AxisArg& axes = {}, bool keepdims = false) const;
  Array operator()(const Array& x, const AxisArg& axes = {}, bool keepdims = false) const {
    return (*this)(std::vector<KernelOperand>{x}, axes, keepdims);
  }

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Options of RawKernel and RawModule.
struct RawKernelOptions {
  bool portable =
      true;  ///< false: the text is in the device's own language (CUDA C++, HIP, OpenCL C) and used unchanged
  /// On CUDA, HIP and the CPU: the text has variables that outlive a launch (`__device__ i32 n = 3;`, `static` in a
  /// function). All kernels of a RawModule share them.
  bool variables = false;
};

/// A whole kernel. An array argument becomes two parameters: its buffer, and the i64 offset of its first element. A
/// number becomes i32, i64, f32 or f64 by its C++ type. On the CPU the work-items of a thread block (at most 1024) run
/// one after another, from one BARRIER to the next. (cupy.RawKernel)
class CT_API RawKernel {
 public:
  /// An argument whose type is known only at run time.
  class CT_API Argument {
   public:
    Argument(Array array) : array_(std::move(array)) {}
    template <class T>
    requires std::is_arithmetic_v<T> Argument(T value) : Argument(&value, sizeof(T)) {}
    /// Takes the bytes of a number or of a structure unchanged. Throws ValueError for more than 4096 bytes.
    Argument(const void* value, std::size_t size);
    const Array& array() const { return array_; }
    const void* data() const { return more_.empty() ? static_cast<const void*>(&words_) : more_.data(); }
    std::size_t size() const { return size_; }

   private:
    Array array_;
    alignas(16) std::array<std::uint64_t, 2> words_{};
    std::vector<std::uint64_t> more_;  // used if two words are too few
    std::size_t size_ = 0;
  };

  RawKernel(const std::string& code, const std::string& name, const RawKernelOptions& options = {});
  /// Runs `groups` thread blocks of `group_size` work-items on the device of the first array. Throws DeviceError.
  template <class... A>
  void operator()(std::int64_t groups, int group_size, const A&... arguments) const {
    launch({groups, group_size}, std::vector<Argument>{Argument(arguments)...});
  }
  /// Runs the kernel along several axes, `kernel({{3, 2, 1}, {16, 4, 1}}, x, y)`, with optional shared memory;
  /// kernels/axes.kernel has the portable words for both. Throws DeviceError, also for thread blocks that are too large
  /// for the device.
  template <class... A>
  void operator()(const LaunchShape& shape, const A&... arguments) const {
    launch(shape, std::vector<Argument>{Argument(arguments)...});
  }
  /// Runs the kernel with a list of arguments.
  void launch(const LaunchShape& shape, const std::vector<Argument>& arguments) const;
  /// Returns the driver's attributes of the compiled kernel, by CUDA's names: "max_threads_per_block", "num_regs", …
  /// (OpenCL has only block sizes and memory). Throws DeviceError. (cupy.RawKernel.attributes)
  std::map<std::string, std::int64_t> attributes(const Device& device) const;
  /// Returns the number of thread blocks and their size for a loop over `items` items of `each` elements on a device.
  /// Throws DeviceError for a device that compiles no kernels.
  static std::pair<std::int64_t, int> groups_for(const Device& device, std::int64_t items, std::int64_t each = 1);

 private:
  UserKernelText text() const;

  std::string code_, name_;
  friend class RawModule;
  RawKernelOptions options_;
  std::uint32_t number_;  // identifies the code; copies share it
  std::uint32_t module_;  // as in UserKernelText
};

/// A text with several kernels. (cupy.RawModule)
class CT_API RawModule {
 public:
  explicit RawModule(std::string code, const RawKernelOptions& options = {});
  RawKernel get_function(const std::string& name) const;
  /// Returns the bytes of a device variable (options.variables), which kernels and arrays change. Throws DeviceError
  /// for an unknown variable, and on devices without such variables.
  Array get_global(const std::string& name, const Device& device) const;

 private:
  std::string code_;
  RawKernelOptions options_;
  std::uint32_t module_;  // copies share it
};

/// Returns the function unchanged, for programs that are ported from CuPy: elementwise operations are always fused.
/// (cupy.fuse)
template <class F>
F fuse(F f) {
  return f;
}

}  // namespace catenary
