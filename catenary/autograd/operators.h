#pragma once
// Functions behind Variable's operators and methods, which gradients themselves need: sums over broadcast axes, casts,
// indexing. They are in this folder because autograd/ may not depend on functions/, but in the namespace that users
// know: catenary::functions.

#include <optional>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary {

// `x += y` rebinds the handle x to `x + y`, as in Python. Other handles keep the old variable. Parameters and
// temporaries have no such operator, since rebinding them would be a mistake.
#define CT_VARIABLE_ASSIGNMENT(symbol, function)                                                         \
  template <std::same_as<Variable> V, class B>                                                           \
  requires(IsVariable<B> || IsLiteral<B> || std::same_as<B, Array>) Variable& symbol(V& a, const B& b) { \
    return a = functions::function(a, detail::operand(b));                                               \
  }
CT_VARIABLE_ASSIGNMENT(operator+=, add)
CT_VARIABLE_ASSIGNMENT(operator-=, subtract)
CT_VARIABLE_ASSIGNMENT(operator*=, multiply)
CT_VARIABLE_ASSIGNMENT(operator/=, divide)
#undef CT_VARIABLE_ASSIGNMENT

}  // namespace catenary

namespace catenary::functions {

// add, subtract, multiply, divide, power and negative are in variable.h.

/// Returns the sum of any number of variables.
CT_API Variable add(const std::vector<Variable>& xs);
/// Returns the natural logarithm. (chainer.functions.log)
CT_API Variable log(const Variable& x);
/// Returns x in another dtype, or x itself if it already has that dtype. (chainer.functions.cast)
CT_API Variable cast(const Variable& x, Dtype dtype);
/// Returns x broadcast to a shape. Throws ShapeError. (chainer.functions.broadcast_to)
CT_API Variable broadcast_to(const Variable& x, const Shape& shape);
/// Sums over the axes along which `shape` was broadcast to x's shape: the reverse of broadcast_to.
/// (chainer.functions.sum_to)
CT_API Variable sum_to(const Variable& x, const Shape& shape);
/// Sums over axes. (chainer.functions.sum)
CT_API Variable sum(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// Returns the elements in another shape, where one size may be -1. (chainer.functions.reshape)
CT_API Variable reshape(const Variable& x, const Shape& shape);
/// Permutes the axes; reverses them if none are given. (chainer.functions.transpose)
CT_API Variable transpose(const Variable& x, const Axes& axes = {});
/// Indexes like NumPy: integers, slices, newaxis, ellipsis, integer and bool arrays. (chainer.functions.get_item)
CT_API Variable get_item(const Variable& x, const std::vector<Index>& indices);
/// Returns a copy on a device. (chainer.functions.copy)
CT_API Variable copy(const Variable& x, const Device& device);
/// Returns x as a new variable. (chainer.functions.identity)
CT_API Variable identity(const Variable& x);

/// Returns x, cast to config.dtype unless its dtype is floating. For the forward of functions with floating results.
CT_API Array as_float(const Array& x);
/// Returns x in a dtype, or x itself if it already has that dtype.
CT_API Array as_dtype(Array x, Dtype dtype);
/// Computes sum_to for arrays.
CT_API Array array_sum_to(const Array& x, const Shape& shape);

}  // namespace catenary::functions
