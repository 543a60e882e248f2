#pragma once
// Products over named axes, and functions of square matrices. matmul is in math_basic.h.

#include <string_view>
#include <vector>

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Matrix products of a batch: a [n, i, j] and b [n, j, k], each transposed if asked for; 2-d operands are batches of
/// columns. Throws ShapeError. (chainer.functions.batch_matmul)
CT_API Variable batch_matmul(const Variable& a, const Variable& b, bool transa = false, bool transb = false);
/// Sum over the last `axes` axes of a and the first of b, in order. Throws ShapeError. (chainer.functions.tensordot)
CT_API Variable tensordot(const Variable& a, const Variable& b, int axes = 2);
/// Sum over a_axes of a and b_axes of b, pairwise. Throws ShapeError.
CT_API Variable tensordot(const Variable& a, const Variable& b, const Axes& a_axes, const Axes& b_axes);
/// Einstein's sums: letters name axes, "..." stands for broadcast ones, a letter twice in an operand is its diagonal;
/// without "->" the result has the broadcast axes and the letters that occur once, in alphabetical order. Throws
/// ValueError for subscripts that make no sense and ShapeError where they do not fit. (chainer.functions.einsum)
CT_API Variable einsum(std::string_view subscripts, const std::vector<Variable>& operands);

/// Inverse of a square matrix, and of each in a batch [n, m, m]. Throws ShapeError, and ValueError for a singular one.
/// (chainer.functions.inv, batch_inv)
CT_API Variable inv(const Variable& a);
CT_API Variable batch_inv(const Variable& a);
/// Determinant of a square matrix, and of each in a batch [n, m, m]. Throws ShapeError. (chainer.functions.det,
/// batch_det)
CT_API Variable det(const Variable& a);
CT_API Variable batch_det(const Variable& a);
/// Lower triangular L with L Lᵀ = a, of a square matrix. Throws ShapeError, and ValueError unless a is positive
/// definite. (chainer.functions.cholesky)
CT_API Variable cholesky(const Variable& a);

}  // namespace catenary::functions
