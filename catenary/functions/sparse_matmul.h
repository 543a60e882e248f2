#pragma once
// Matrices of which few elements are kept, and their products.

#include <optional>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// A sparse matrix, or a batch of them: element i is `data[i]` in row `row[i]` and column `col[i]`, and elements at one
/// place are added. data, row and col are [nnz], or [batch, nnz]; what a batch's shorter matrices have too many has
/// -1 as row and column, and counts nothing. Only data has a gradient. (chainer.utils.CooMatrix)
struct CT_API CooMatrix {
  Variable data;
  Array row, col;
  Shape shape;  ///< of one matrix: (rows, columns)

  /// Throws ShapeError where data, row and col differ or shape has not 2 entries, DtypeError for rows and columns that
  /// are not integers, and IndexError for an element outside, or one with -1 as row or as column only.
  CooMatrix(const Variable& data, const Array& row, const Array& col, const Shape& shape);
  /// The matrix with its zeros: [rows, columns] or [batch, rows, columns].
  Variable to_dense() const;
};

/// The elements of x [rows, columns] or [batch, rows, columns] that are not 0, in C order, and zeros until there are
/// `ldnz`. The gradient is that of `data`. Throws ShapeError, and DtypeError where x is not floating.
/// (chainer.utils.to_coo)
CT_API CooMatrix to_coo(const Array& x, std::optional<std::int64_t> ldnz = {}, bool requires_grad = false);

/// The product of two matrices, or of batches of them, of which one is sparse; transa and transb exchange the axes of
/// one first. The result is dense and has the wider dtype of both. Throws ShapeError where they do not fit.
/// (chainer.functions.sparse_matmul)
CT_API Variable sparse_matmul(const CooMatrix& a, const Variable& b, bool transa = false, bool transb = false);
CT_API Variable sparse_matmul(const Variable& a, const CooMatrix& b, bool transa = false, bool transb = false);

}  // namespace catenary::functions
