#pragma once
// Products over named axes, and functions of square matrices. matmul is in math_basic.h.

#include <string_view>
#include <vector>

#include "catenary/autograd/operators.h"

namespace catenary::functions {

/// Computes matrix products of a batch: a [n, i, j] and b [n, j, k], each transposed if asked for. 2-d operands are
/// batches of columns. Throws ShapeError. (chainer.functions.batch_matmul)
CT_API Variable batch_matmul(const Variable& a, const Variable& b, bool transa = false, bool transb = false);
/// Sums products over the last `axes` axes of a and the first of b, in order. Throws ShapeError.
/// (chainer.functions.tensordot)
CT_API Variable tensordot(const Variable& a, const Variable& b, int axes = 2);
/// Sums products over a_axes of a and b_axes of b, pairwise. Throws ShapeError.
CT_API Variable tensordot(const Variable& a, const Variable& b, const Axes& a_axes, const Axes& b_axes);
/// Computes an Einstein sum: letters name axes, "..." stands for broadcast axes, and a letter that occurs twice in an
/// operand selects its diagonal. Without "->" the result has the broadcast axes and the letters that occur once, in
/// alphabetical order. Throws ValueError for invalid subscripts and ShapeError for operands that do not match.
/// (chainer.functions.einsum)
CT_API Variable einsum(std::string_view subscripts, const std::vector<Variable>& operands);

/// Return the inverse of a square matrix, or of each matrix in a batch [n, m, m]. Throw ShapeError, and ValueError for
/// a singular matrix. (chainer.functions.inv, batch_inv)
CT_API Variable inv(const Variable& a);
CT_API Variable batch_inv(const Variable& a);
/// Return the determinant of a square matrix, or of each matrix in a batch [n, m, m]. Throw ShapeError.
/// (chainer.functions.det, batch_det)
CT_API Variable det(const Variable& a);
CT_API Variable batch_det(const Variable& a);
/// Returns the lower triangular L with L Lᵀ = a for a square matrix. Throws ShapeError, and ValueError unless a is
/// positive definite. (chainer.functions.cholesky)
CT_API Variable cholesky(const Variable& a);

}  // namespace catenary::functions
