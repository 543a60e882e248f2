#include "catenary/functions/sparse_matmul.h"

#include <algorithm>
#include <vector>

#include "catenary/array/axes.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"
#include "catenary/functions/labels.h"

namespace catenary::functions {

namespace {

/// Rows or columns, with 0 instead of the padding's -1.
Array places(const Array& index) { return catenary::maximum(catenary::detail::as_dtype(index, Dtype::int64), 0); }
/// Where elements are not padding.
Array present(const CooMatrix& m) { return catenary::detail::as_dtype(m.row, Dtype::int64) >= 0; }

/// data, with 0 and no gradient for padding.
Variable elements_of(const CooMatrix& m) {
  return where(present(m), m.data, catenary::detail::filled({}, 0, m.data.dtype(), m.data.device()));
}

/// Indices, with the index of each element's matrix first if there is a batch.
std::vector<Index> in_batch(const Array& elements, std::initializer_list<Array> indices) {
  std::vector<Index> all;
  if (elements.ndim() == 2) {
    const std::int64_t batch = elements.shape(0);
    all.emplace_back(catenary::arange(batch, Dtype::int64)
                         .to_device(elements.device())
                         .reshape({batch, 1})
                         .broadcast_to(elements.shape()));
  }
  for (const Array& index : indices) all.emplace_back(places(index));
  return all;
}

}  // namespace

CooMatrix::CooMatrix(const Variable& data, const Array& row, const Array& col, const Shape& shape)
    : data(data), row(row), col(col), shape(shape) {
  if (shape.size() != 2) fail<ShapeError>("CooMatrix: shape must be (rows, columns), not {}", shape);
  if (data.ndim() < 1 || data.ndim() > 2 || row.shape() != data.shape() || col.shape() != data.shape())
    fail<ShapeError>("CooMatrix: data, row and col must all be (nnz,) or (batch, nnz), not {}, {} and {}", data.shape(),
                     row.shape(), col.shape());
  detail::Labels rows{"CooMatrix", "row", row, shape[0], -1}, columns{"CooMatrix", "col", col, shape[1], -1};
  const Array no_row = logical_not(rows.counted()), no_column = logical_not(columns.counted());
  rows.forbidden = no_row & logical_not(no_column);
  columns.forbidden = no_column & logical_not(no_row);
  rows.what_is_forbidden = columns.what_is_forbidden = "-1 where the other is not";
  rows.check();
  columns.check();
}

Variable CooMatrix::to_dense() const {
  Shape whole = shape;
  if (data.ndim() == 2) whole.insert(0, data.shape(0));
  return scatter_add(catenary::detail::filled(whole, 0, data.dtype(), data.device()), in_batch(row, {row, col}),
                     elements_of(*this));
}

CooMatrix to_coo(const Array& x, std::optional<std::int64_t> ldnz, bool requires_grad) {
  if (x.ndim() != 2 && x.ndim() != 3)
    fail<ShapeError>("to_coo: x must be (rows, columns) or (batch, rows, columns), not {}", x.shape());
  if (!is_floating(x.dtype())) fail<DtypeError>("to_coo: x must be floating, not {}", x.dtype());
  const std::int64_t columns = x.shape(-1), each = x.shape(-2) * columns, batch = x.ndim() == 3 ? x.shape(0) : 1;
  const std::vector<double> values = x.to_vector<double>();
  std::vector<std::vector<std::int64_t>> places(static_cast<std::size_t>(batch));
  std::int64_t count = ldnz.value_or(0);
  for (std::int64_t b = 0; b < batch; ++b) {
    auto& mine = places[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < each; ++i)
      if (values[static_cast<std::size_t>(b * each + i)] != 0) mine.push_back(i);
    count = std::max(count, static_cast<std::int64_t>(mine.size()));
  }
  std::vector<double> data;
  std::vector<std::int32_t> row, col;
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto& mine = places[static_cast<std::size_t>(b)];
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const bool is_there = i < mine.size();
      data.push_back(is_there ? values[static_cast<std::size_t>(b * each + mine[i])] : 0);
      row.push_back(is_there ? static_cast<std::int32_t>(mine[i] / columns) : -1);
      col.push_back(is_there ? static_cast<std::int32_t>(mine[i] % columns) : -1);
    }
  }
  Shape shape{count};
  if (x.ndim() == 3) shape.insert(0, batch);
  const Array kept = Array::from_host(data.data(), shape, Dtype::float64, Device()).astype(x.dtype());
  return {Variable(kept.to_device(x.device()), requires_grad),
          Array::from_host(row.data(), shape, Dtype::int32, x.device()),
          Array::from_host(col.data(), shape, Dtype::int32, x.device()),
          {x.shape(-2), columns}};
}

Variable sparse_matmul(const CooMatrix& a, const Variable& b, bool transa, bool transb) {
  CT_DEFINED(b);
  const Variable dense = transb ? swapaxes(b, -1, -2) : b;
  const Array &row = transa ? a.col : a.row, &col = transa ? a.row : a.col;
  const std::int64_t rows = a.shape[transa ? 1 : 0], inner = a.shape[transa ? 0 : 1];
  const int ndim = a.data.ndim() + 1;
  if (dense.ndim() != ndim || dense.shape(-2) != inner || (ndim == 3 && dense.shape(0) != a.data.shape(0)))
    fail<ShapeError>("sparse_matmul: {} elements of a sparse matrix {} do not fit a dense one {} (transposed: {}, {})",
                     a.data.shape(), a.shape, b.shape(), transa, transb);
  const Dtype result = promote(a.data.dtype(), b.dtype()), sums = is_16bit_float(result) ? Dtype::float32 : result;
  Shape column = a.data.shape(), shape{rows, dense.shape(-1)};
  column.push_back(1);
  if (ndim == 3) shape.insert(0, dense.shape(0));
  // each element times its row of b is added to the element's row of the result, and padding is multiplied with zeros,
  // even if b has NaN
  const Variable met = where(present(a).reshape(column), get_item(cast(dense, sums), in_batch(col, {col})),
                             catenary::detail::filled({}, 0, sums, dense.device()));
  const Variable terms = reshape(cast(elements_of(a), sums), column) * met;
  return cast(scatter_add(catenary::detail::filled(shape, 0, sums, dense.device()), in_batch(row, {row}), terms),
              result);
}

Variable sparse_matmul(const Variable& a, const CooMatrix& b, bool transa, bool transb) {
  return swapaxes(sparse_matmul(b, a, !transb, !transa), -1, -2);
}

}  // namespace catenary::functions
