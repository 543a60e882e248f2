#pragma once
// Names, order and defaults of the arguments of functions, and calls whose arguments another language or program reads.
// The row of a function is at the end of its source (signature_row.h).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// The variables that an argument accepts: none (it is another value), floats, integers and bools without a gradient,
/// or any dtype.
enum class Takes : std::uint8_t { no_variable, floats, labels, values };

/// An argument of a function, or a member of its options.
struct Argument {
  std::string name;  ///< Chainer's
  std::size_t at;    ///< the index in Signature::arguments
  Takes takes = Takes::no_variable;
  bool is_list = false;  ///< of variables
  bool is_required = false;
  bool is_keyword_only = false;
};

/// The arguments of one call. A client derives a class that converts its values. The readers return false if the value
/// has another type.
class CT_API Arguments {
 public:
  /// Returns whether the call gives this argument. Otherwise its default is used.
  virtual bool is_given(const Argument& argument) = 0;
  /// Returns whether the argument is None, which only optional arguments accept.
  virtual bool is_none(const Argument& argument) = 0;
  virtual bool read(const Argument& argument, bool& to) = 0;
  virtual bool read(const Argument& argument, std::int64_t& to) = 0;
  virtual bool read(const Argument& argument, double& to) = 0;
  virtual bool read(const Argument& argument, std::string& to) = 0;
  virtual bool read(const Argument& argument, Dims& to) = 0;
  virtual bool read(const Argument& argument, Array& to) = 0;  ///< an array that the function may write
  virtual bool read(const Argument& argument, Variable& to) = 0;
  virtual bool read(const Argument& argument, std::vector<Variable>& to) = 0;
  /// Returns whether dtypes and devices of all variables that were read fit together.
  virtual bool fit() = 0;

  /// Receives an array that the call requests (return_indices), which becomes the last result.
  Array requested = {};

 protected:
  ~Arguments() = default;
};

/// A function with Chainer's names.
struct Signature {
  std::string path;                 ///< Chainer's module and function: "chainer.functions.activation.relu.relu"
  std::vector<Argument> arguments;  ///< in the order of the C++ arguments, options as their members
  std::vector<std::size_t> order;   ///< the arguments in Chainer's order. Members that Chainer lacks are absent
  bool is_single = true;            ///< returns a Variable, not several
  bool may_return_array = false;    ///< an argument requests an array beside the result
  bool refuses_labels = false;      ///< Chainer raises ValueError for labels out of range, not IndexError
  /// Reads the arguments, calls the function and sets its results. Returns false if an argument has another type.
  std::function<bool(const Signature&, Arguments&, Variables&)> call;

  /// Returns the function's name without its module.
  std::string_view name() const { return std::string_view(path).substr(path.rfind('.') + 1); }
};

/// Returns the signatures of all functions with Chainer's names, except those whose arguments are objects of Python's:
/// generators, devices and keys.
CT_API std::span<const Signature> signatures();

}  // namespace catenary::functions
