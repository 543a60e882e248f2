#pragma once
// Memory for time: parts of a network that are computed again when their gradients are wanted.

#include <functional>
#include <type_traits>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// f(xs…) of which nothing between xs and the results is kept: backward computes it again, with the random numbers, the
/// settings (config) and the device of the first time, and without another change of running statistics. Parameters and
/// other variables that f uses get their gradients. Links that remember (StateVariable) begin with what they remembered
/// the first time, and gradients flow through it; f refers to such a link rather than holding a copy, or what the link
/// remembers in the end would hold itself. Throws ValueError where f gives another number of variables, or other
/// shapes, than it did the first time, and where the gradients are to be differentiated again.
/// (chainer.functions.forget)
CT_API Variables forget(std::function<Variables(const std::vector<Variable>&)> f, const std::vector<Variable>& xs);
/// The same for `f(x…)` that returns one Variable or several: `forget([&](const auto& x) { return block(x); }, x)`.
template <class F, std::convertible_to<Variable>... X>
requires(std::is_invocable_v<const F&, const X&...>) auto forget(F f, const X&... xs) {
  using Result = std::invoke_result_t<const F&, const X&...>;
  const auto call = [f]<std::size_t... I>(const std::vector<Variable>& v, std::index_sequence<I...>) {
    return f(v[I]...);
  };
  Variables ys =
      forget([call](const std::vector<Variable>& v) { return Variables(call(v, std::index_sequence_for<X...>())); },
             std::vector<Variable>{Variable(xs)...});
  if constexpr (std::is_convertible_v<Result, Variable>) {
    return std::move(ys[0]);
  } else {
    return ys;
  }
}

/// Is forget() computing something again (config.in_recomputing)? What changes numbers beside its results, as running
/// statistics are, must not do it another time then.
CT_API bool recomputing();
/// `value`, or when forget() computes something again, what this call gave the first time: for what depends on numbers
/// that have changed since.
CT_API Array remembered(const Array& value);

}  // namespace catenary::functions
