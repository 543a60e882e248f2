#pragma once
// Private to onnx/: the functions that a call of a network ran, as a list.

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catenary/autograd/attributes.h"
#include "catenary/autograd/variable.h"

namespace catenary::onnx::exporting {

using FunctionAttribute = catenary::Attribute;
using Integers = std::vector<std::int64_t>;
/// Computes outputs from inputs.
using RecordedFunction = std::function<std::vector<Variable>(std::span<const Variable>)>;

/// A variable of a recorded call.
struct RecordedValue {
  Shape shape;
  Dtype dtype = Dtype::float32;
  std::string parameter;  ///< its name, empty for other variables
  Array constant;         ///< the values of an input, parameter or constant
};

/// A function with its attributes. Numbers are positions in Recording::values. Results without a use are -1.
struct RecordedCall {
  std::string name;
  std::vector<int> inputs, outputs;
  std::vector<std::pair<std::string, FunctionAttribute>> attributes;
  bool described = true;  ///< whether the function has attributes to read
};

struct Recording {
  std::vector<RecordedValue> values;
  std::vector<RecordedCall> calls;  ///< in the order of computation
  std::vector<int> inputs, outputs;
};

/// Returns parameters with their names.
using RecordedParameters = std::function<std::vector<std::pair<std::string, Variable>>()>;

/// Runs the function and records the calls that lead to its outputs. The function may initialize parameters.
Recording record(const RecordedParameters& parameters, const RecordedFunction& function,
                 const std::vector<Array>& inputs);

/// Two recordings of one function with different inputs. Their calls and values correspond.
struct Recordings {
  Recording first, second;
};

/// Throws ValueError unless the two recordings have the same functions on the same values.
void check_equal_structure(const Recordings& both);

/// Makes an array that has the same elements on the axes where two arrays differ in size, with size 1 on these axes.
/// Returns an undefined array if the two arrays differ in any other way. Two arrays of one shape must be equal.
Array common_part(const Array& first, const Array& second);

}  // namespace catenary::onnx::exporting
