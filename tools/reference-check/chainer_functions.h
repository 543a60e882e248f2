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

/// Adds the functions with signatures (catenary/functions/signature.h).
void add_signatures(FunctionTable& table);
/// Adds the functions whose cases give their arguments in another form.
void add_other_functions(FunctionTable& table);
void add_n_step_functions(FunctionTable& table);

/// Parses the inside of a Python index expression, "[1:3, ::2]": integers, slices, None and "...". Throws
/// NotImplemented for anything else.
std::vector<catenary::Index> parse_slices(const std::string& text);

}  // namespace reference
