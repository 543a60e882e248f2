#pragma once
// Memory for time: parts of a network that are computed again when their gradients are wanted.

#include <functional>
#include <type_traits>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// f(xs…) of which nothing between xs and the results is kept: backward computes it again, with the random numbers and
/// the setting of config.train of the first time, and without another change of running statistics. Parameters that f
/// uses get their gradients. The gradients cannot be differentiated again: ValueError. (chainer.functions.forget)
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

/// Is forget() computing something again? What changes numbers beside its results, as running statistics are, must not
/// do it another time then.
CT_API bool recomputing();
/// `value`, or when forget() computes something again, what this call gave the first time: for what depends on numbers
/// that have changed since.
CT_API Array remembered(const Array& value);

}  // namespace catenary::functions
