#pragma once
// What Variable's operators and methods are made of. These functions are the ones that gradients themselves need (sums
// over broadcast axes, casts, indexing), so they live here, below functions/, under the name under which users know
// them: catenary::functions.

#include <optional>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary {

// `x += y` makes the handle x that of `x + y`, as Python does: other handles of the old variable keep it. Parameters
// and temporaries have none, where that would be a mistake.
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

/// Sum of any number of variables.
CT_API Variable add(const std::vector<Variable>& xs);
/// Natural logarithm. (chainer.functions.log)
CT_API Variable log(const Variable& x);
/// x in another dtype; itself when it has it. (chainer.functions.cast)
CT_API Variable cast(const Variable& x, Dtype dtype);
/// x broadcast to a shape. Throws ShapeError. (chainer.functions.broadcast_to)
CT_API Variable broadcast_to(const Variable& x, const Shape& shape);
/// Sum over the axes along which `shape` was broadcast to x's shape: the reverse of broadcast_to.
/// (chainer.functions.sum_to)
CT_API Variable sum_to(const Variable& x, const Shape& shape);
/// Sum over axes. (chainer.functions.sum)
CT_API Variable sum(const Variable& x, const AxisArg& axis = {}, bool keepdims = false);
/// The same elements in another shape; one extent may be -1. (chainer.functions.reshape)
CT_API Variable reshape(const Variable& x, const Shape& shape);
/// Axes in another order, reversed when none are given. (chainer.functions.transpose)
CT_API Variable transpose(const Variable& x, const Axes& axes = {});
/// NumPy's indexing: integers, slices, newaxis, ellipsis, integer and bool arrays. (chainer.functions.get_item)
CT_API Variable get_item(const Variable& x, const std::vector<Index>& indices);
/// A copy on a device. (chainer.functions.copy)
CT_API Variable copy(const Variable& x, const Device& device);
/// x as a new variable. (chainer.functions.identity)
CT_API Variable identity(const Variable& x);

/// x in config.dtype when it is not of a floating dtype: what functions do that give floats. For forward.
CT_API Array as_float(const Array& x);
/// x in a dtype; x itself when it has it.
CT_API Array as_dtype(Array x, Dtype dtype);
/// sum_to for arrays.
CT_API Array array_sum_to(const Array& x, const Shape& shape);

}  // namespace catenary::functions
