#include "catenary/array/quantized.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/quantize_row.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"

namespace catenary {

using detail::check_same_device;

namespace {

using std::int64_t;

void check_float(Dtype dtype, const char* function, const char* what) {
  if (!is_floating(dtype)) fail<DtypeError>("{}: {} must be of a floating dtype, not {}", function, what, dtype);
}
void check_defined(const QuantizedArray& w, const char* function) {
  if (!w.defined()) fail<ValueError>("{}: the quantized array is undefined", function);
}

/// Returns the product of all sizes but the first.
int64_t product_of_rest(const Shape& shape) {
  int64_t n = 1;
  for (int axis = 1; axis < shape.size(); ++axis) n *= shape[axis];
  return n;
}

/// Dequantises the rows of w to `out`, which is C-ordered and large enough.
void dequantize_into(const QuantizedArray& w, const Array& out) {
  compute(out.device(), primitives::Dequantize{w.kind(), readable(w.blocks()), writable(out)});
}

/// Calls f with dequantised parts of w and the number of their first row.
template <class F>
void each_part(const QuantizedArray& w, Dtype dtype, const F& f) {
  const int64_t rows = w.rows_at_once(dtype);
  const Array memory = Array::empty({rows, w.columns()}, dtype, w.device());
  for (int64_t first = 0; first < w.rows(); first += rows) {
    const int64_t end = std::min(first + rows, w.rows());
    const Array part = memory(slice(0, end - first));
    dequantize_into(w.part(first, end), part);
    f(part, first, end);
  }
}

/// Returns x as a matrix. Copies only if its rows are not evenly strided.
Array as_matrix(const Array& x, int64_t columns) {
  return x.ndim() == 2 ? x : x.reshape({columns == 0 ? x.size() : x.size() / columns, columns});
}

}  // namespace

int64_t QuantizedArray::rows_at_once(Dtype dtype) const {
  return dequantized_rows_at_once(rows(), columns(), static_cast<int64_t>(itemsize(dtype)));
}

QuantizedArray::QuantizedArray(const Array& blocks, Quantization kind, const Shape& shape)
    : blocks_(blocks.contiguous()), kind_(kind), shape_(shape) {
  const char* name = quantization_info(kind).name;
  if (blocks.dtype() != Dtype::uint8) fail<DtypeError>("QuantizedArray: blocks are uint8, not {}", blocks.dtype());
  if (shape.empty()) fail<ShapeError>("QuantizedArray: at least one axis is needed");
  const Shape expected{rows(), quantized_row_bytes(kind, columns())};
  if (blocks.shape() != expected)
    fail<ShapeError>("QuantizedArray: blocks of {} for shape {} are {}, not {}", name, shape, expected, blocks.shape());
}

int64_t QuantizedArray::columns() const { return product_of_rest(shape_); }

QuantizedArray QuantizedArray::to_device(const Device& device) const {
  return defined() ? QuantizedArray(blocks_.to_device(device), kind_, shape_) : *this;
}

QuantizedArray QuantizedArray::part(int64_t begin, int64_t end) const {
  if (begin < 0 || begin > end || end > rows())
    fail<IndexError>("QuantizedArray: rows {} to {} of {} were asked for", begin, end, rows());
  Shape shape = shape_;
  shape[0] = end - begin;
  return {blocks_(slice(begin, end)), kind_, shape};
}

QuantizedArray quantize(const Array& x, Quantization kind) {
  constexpr const char* what = "quantize";
  check_float(x.dtype(), what, "x");
  if (x.ndim() == 0) fail<ShapeError>("{}: x needs at least one axis", what);
  const Shape shape = x.shape();
  const int64_t rows = shape[0], columns = product_of_rest(shape), bytes = quantized_row_bytes(kind, columns);
  const Array host = x.to_device(Device()).astype(Dtype::float32).contiguous();
  const Array blocks = Array::empty({rows, bytes}, Dtype::uint8, Device());
  const float* from = host.data<float>();
  auto* to = blocks.mutable_data<std::uint8_t>();
  std::atomic<int64_t> bad = -1;
  parallel_for(rows, 1 + 4096 / std::max<int64_t>(columns, 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* row = from + r * columns;
      const bool finite = std::all_of(row, row + columns, [](float value) { return std::isfinite(value); });
      if (!finite || !detail::quantize_row(kind, row, columns, to + r * bytes)) bad = r;
    }
  });
  if (bad >= 0)
    fail<ValueError>("{}: row {} of {} holds an inf or a NaN, or numbers too large for a scale of {}", what, bad.load(),
                     shape, quantization_info(kind).name);
  return {blocks.to_device(x.device()), kind, shape};
}

Array dequantize(const QuantizedArray& w, Dtype dtype) {
  check_defined(w, "dequantize");
  check_float(dtype, "dequantize", "the result");
  const Array out = Array::empty({w.rows(), w.columns()}, dtype, w.device());
  if (out.size() > 0) dequantize_into(w, out);
  return out.reshape(w.shape());
}

Array take(const QuantizedArray& w, const Array& rows, Dtype dtype) {
  check_defined(w, "take");
  const Array blocks = take(w.blocks(), rows.reshape({-1}), 0);
  Shape shape = w.shape(), result = rows.shape();
  shape[0] = rows.size();
  for (int axis = 1; axis < shape.size(); ++axis) result.push_back(shape[axis]);
  return dequantize(QuantizedArray(blocks, w.kind(), shape), dtype).reshape(result);
}

Array linear(const Array& x, const QuantizedArray& w, const Array* bias) {
  constexpr const char* what = "linear";
  check_defined(w, what);
  check_float(x.dtype(), what, "x");
  check_same_device(x, w.blocks(), what);
  if (x.ndim() == 0 || x.shape().back() != w.columns())
    fail<ShapeError>("{}: x must be (..., {}) for weights of {}, not {}", what, w.columns(), w.shape(), x.shape());
  if (bias) {
    check_same_device(x, *bias, what);
    if (bias->shape() != Shape{w.rows()})
      fail<ShapeError>("{}: the bias must be ({},), not {}", what, w.rows(), bias->shape());
  }
  Shape shape = x.shape();
  shape[x.ndim() - 1] = w.rows();
  const Array out = Array::empty(shape, x.dtype(), x.device());
  if (out.size() == 0) return out;
  const Array given = bias ? detail::as_dtype(*bias, x.dtype()).contiguous() : Array();
  if (w.columns() == 0) {
    bias ? copyto(out, given) : out.fill(0);
    return out;
  }
  const Array rows = as_matrix(x, w.columns()), y = out.reshape({-1, w.rows()});
  const View b = bias ? readable(given) : View();
  compute(x.device(), primitives::QuantizedProduct{w.kind(), readable(rows), readable(w.blocks()), writable(y),
                                                   bias ? &b : nullptr});
  return out;
}

Array linear_back(const Array& y, const QuantizedArray& w) {
  constexpr const char* what = "linear_back";
  check_defined(w, what);
  check_float(y.dtype(), what, "y");
  check_same_device(y, w.blocks(), what);
  if (y.ndim() == 0 || y.shape().back() != w.rows())
    fail<ShapeError>("{}: y must be (..., {}) for weights of {}, not {}", what, w.rows(), w.shape(), y.shape());
  Shape shape = y.shape();
  shape[y.ndim() - 1] = w.columns();
  // 16-bit floats are summed in float32 and rounded once
  const Dtype sums = is_16bit_float(y.dtype()) ? Dtype::float32 : y.dtype();
  const Array out = Array::empty(shape, sums, y.device());
  out.fill(0);
  if (out.size() == 0 || y.size() == 0) return detail::as_dtype(out, y.dtype());
  const Array rows = detail::as_dtype(as_matrix(y, w.rows()), sums), x = out.reshape({-1, w.columns()});
  each_part(w, sums, [&](const Array& part, int64_t first, int64_t end) {
    compute(y.device(), primitives::Matmul{stack_of_one(readable(rows(slice(), slice(first, end)))),
                                           stack_of_one(readable(part)), stack_of_one(writable(x)), nullptr, true});
  });
  return detail::as_dtype(out, y.dtype());
}

}  // namespace catenary
