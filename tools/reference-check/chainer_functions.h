#pragma once
// The functions of Chainer's vectors: Chainer's names, and calls of our functions with a case's keyword arguments. Each
// group of functions has a table in a separate file.

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"
#include "chainer_keywords.h"

namespace reference {

using catenary::Array;
using catenary::Variable;

using Inputs = std::vector<Variable>;

inline std::vector<Variable> both(const std::pair<Variable, Variable>& pair) { return {pair.first, pair.second}; }

class FunctionTable {
 public:
  using Call = std::function<std::vector<Variable>(const Inputs& x, Keywords& keywords)>;

  /// Adds a function of (inputs, keywords), or of inputs alone, that returns one Variable or several.
  template <class F>
  void add(const std::string& name, F f) {
    calls_[name] = [f](const Inputs& x, Keywords& keywords) {
      if constexpr (std::is_invocable_v<F, const Inputs&, Keywords&>) {
        return results(f(x, keywords));
      } else {
        return results(f(x));
      }
    };
  }
  /// Functions of one or two variables without keywords.
  void unary(const std::string& name, Variable (*f)(const Variable&)) {
    add(name, [f](const Inputs& x) { return f(x.at(0)); });
  }
  void binary(const std::string& name, Variable (*f)(const Variable&, const Variable&)) {
    add(name, [f](const Inputs& x) { return f(x.at(0), x.at(1)); });
  }
  /// Throws NotImplemented for unknown names.
  const Call& find(const std::string& name) const;

  /// A function's results as a list.
  static std::vector<Variable> results(const Variable& y) { return {y}; }
  template <class Several>
  static std::vector<Variable> results(const Several& ys) requires(!std::is_convertible_v<const Several&, Variable>) {
    return std::vector<Variable>(ys.begin(), ys.end());
  }

 private:
  std::map<std::string, Call> calls_;
};

/// Each adds the functions of a group.
void add_activation_functions(FunctionTable& table);
void add_array_functions(FunctionTable& table);
void add_connection_functions(FunctionTable& table);
void add_convolution_functions(FunctionTable& table);
void add_evaluation_functions(FunctionTable& table);
void add_fft_functions(FunctionTable& table);
void add_loss_functions(FunctionTable& table);
void add_math_functions(FunctionTable& table);
void add_normalization_functions(FunctionTable& table);
void add_pooling_functions(FunctionTable& table);
void add_rnn_functions(FunctionTable& table);
void add_resampling_functions(FunctionTable& table);
void add_roi_functions(FunctionTable& table);

/// Parses the inside of a Python index expression, "[1:3, ::2]": integers, slices, None and "...". Throws
/// NotImplemented for anything else.
std::vector<catenary::Index> parse_slices(const std::string& text);

}  // namespace reference
