#pragma once
// Saves memory at the cost of time: recomputes parts of a network in the backward pass.

#include <functional>
#include <type_traits>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// Calls f(xs…) without keeping intermediate results. The backward pass calls f again with the random numbers, settings
/// (config) and device of the first call, and without updating running statistics again. Parameters and other variables
/// that f uses get their gradients.
///
/// Links with state (StateVariable) restart from their state at the first call, and gradients flow through the state. f
/// must capture such a link by reference, because a copy would keep its last state alive.
///
/// Throws ValueError if the second call returns another number of variables or other shapes, and if gradients are to be
/// differentiated again. (chainer.functions.forget)
CT_API Variables forget(std::function<Variables(const std::vector<Variable>&)> f, const std::vector<Variable>& xs);
/// Calls forget for `f(x…)`, which returns a Variable or several: `forget([&](const auto& x) { return block(x); }, x)`.
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

/// Whether forget() is calling a function again (config.in_recomputing). Functions with side effects, such as updating
/// running statistics, must skip them then.
CT_API bool recomputing();
/// Returns `value`, or when forget() calls a function again the value passed at the first call. Use it for results that
/// depend on numbers that may have changed.
CT_API Array remembered(const Array& value);

}  // namespace catenary::functions
