#pragma once
// Matrices in blocks of few bits: a half, a quarter or an eighth of float32's memory, for weights that are not trained
// any more. Products read the blocks as they lie.

#include <cstdint>

#include "catenary/array/array.h"
#include "catenary/core/quantization.h"

namespace catenary {

/// Numbers in blocks, and what they stand for. An n-d array is a matrix of shape[0] rows here, each of which begins
/// with a block of its own. A handle, as an Array: copies share the blocks, which nobody changes.
class CT_API QuantizedArray {
 public:
  QuantizedArray() = default;
  /// Of blocks that lie as GGUF has them: uint8, [shape[0], quantized_row_bytes()]. Throws DtypeError, and ShapeError
  /// where the blocks do not fit the shape, which has at least one axis.
  QuantizedArray(const Array& blocks, Quantization kind, const Shape& shape);
  bool defined() const { return blocks_.defined(); }
  const Array& blocks() const { return blocks_; }
  Quantization kind() const { return kind_; }
  const Shape& shape() const { return shape_; }
  std::int64_t rows() const { return shape_.empty() ? 0 : shape_[0]; }
  std::int64_t columns() const;
  std::int64_t nbytes() const { return static_cast<std::int64_t>(blocks_.nbytes()); }
  Device device() const { return blocks_.device(); }
  QuantizedArray to_device(const Device& device) const;
  /// Some of its rows, [begin, end); the blocks are shared. Throws IndexError.
  QuantizedArray part(std::int64_t begin, std::int64_t end) const;
  /// How many rows are 1 MiB in this dtype, and at least one: what is dequantised at a time.
  std::int64_t rows_at_once(Dtype dtype) const;

 private:
  Array blocks_;
  Quantization kind_ = Quantization::q8_0;
  Shape shape_;
};

/// The blocks nearest to x (floats, at least one axis), as GGUF's reference makes them; int8 as PyTorch does for each
/// channel: scale = (max - min) / 255, zero included. It is computed on the processor, wherever x lies, so that all
/// devices have the same bits; the result is where x is. Throws DtypeError for x, and ValueError for an inf or a NaN
/// and where a scale would be none.
CT_API QuantizedArray quantize(const Array& x, Quantization kind);
/// What the blocks stand for, in float32 and then rounded to `dtype`. Throws DtypeError for a dtype that is no float.
CT_API Array dequantize(const QuantizedArray& w, Dtype dtype = Dtype::float32);
/// Rows of w by their numbers (integers of any shape): [rows' shape, shape[1:]]. (take along axis 0) Throws IndexError.
CT_API Array take(const QuantizedArray& w, const Array& rows, Dtype dtype = Dtype::float32);

/// x wᵀ (+ bias) for x [..., columns] of floats and a bias [rows]: [..., rows], in x's dtype, summed in float32
/// (float64 of float64). Without config.int8_products x is not rounded: the result is that of dequantised weights to
/// the rounding of sums. Up to 8 rows of x are multiplied with the blocks as they lie, as are more of them where the
/// device multiplies_rounded; else parts of w of 1 MiB are dequantised to x's dtype one after the other. Throws
/// ShapeError, DtypeError, DeviceError.
CT_API Array linear(const Array& x, const QuantizedArray& w, const Array* bias = nullptr);
/// y w for y [..., rows]: [..., columns]; x's gradient of what linear computes.
CT_API Array linear_back(const Array& y, const QuantizedArray& w);

}  // namespace catenary
