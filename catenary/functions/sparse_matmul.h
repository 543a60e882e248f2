#pragma once
// Sparse matrices and their products.

#include <optional>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// A sparse matrix, or a batch of them. Element i is `data[i]` in row `row[i]` and column `col[i]`. Elements with equal
/// indices are added. data, row and col are [nnz], or [batch, nnz] with rows and columns of -1 as padding for matrices
/// with fewer elements. Only data has a gradient. (chainer.utils.CooMatrix)
struct CT_API CooMatrix {
  Variable data;
  Array row, col;
  Shape shape;  ///< of one matrix: (rows, columns)

  /// Throws ShapeError if data, row and col differ in shape or `shape` does not have 2 entries, DtypeError for rows and
  /// columns that are not integers, and IndexError for elements outside the matrix, or with -1 as only one index.
  CooMatrix(const Variable& data, const Array& row, const Array& col, const Shape& shape);
  /// Returns the dense matrix [rows, columns] or [batch, rows, columns].
  Variable to_dense() const;
};

/// Returns the nonzero elements of x [rows, columns] or [batch, rows, columns] in C order, padded with zeros to `ldnz`
/// elements. The gradient flows through `data`. Throws ShapeError, and DtypeError if x is not floating.
/// (chainer.utils.to_coo)
CT_API CooMatrix to_coo(const Array& x, std::optional<std::int64_t> ldnz = {}, bool requires_grad = false);

/// Multiplies a sparse and a dense matrix, or batches of them. transa and transb transpose the operands first. The
/// result is dense and has the wider dtype. Throws ShapeError if the shapes do not match.
/// (chainer.functions.sparse_matmul)
CT_API Variable sparse_matmul(const CooMatrix& a, const Variable& b, bool transa = false, bool transb = false);
CT_API Variable sparse_matmul(const Variable& a, const CooMatrix& b, bool transa = false, bool transb = false);

}  // namespace catenary::functions
