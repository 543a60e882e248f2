#pragma once
// Matrices stored in blocks of few bits, for weights that are not trained any more. They need a half, a quarter or an
// eighth of float32's memory, and products read the blocks directly.

#include <cstdint>

#include "catenary/array/array.h"
#include "catenary/core/quantization.h"

namespace catenary {

/// Numbers stored in blocks. An n-d array is a matrix of shape[0] rows here, and each row begins with a new block. This
/// is a handle, as Array is: copies share the blocks, which never change.
class CT_API QuantizedArray {
 public:
  QuantizedArray() = default;
  /// Takes blocks in GGUF's layout: uint8, [shape[0], quantized_row_bytes()]. Throws DtypeError for other dtypes,
  /// ShapeError for blocks that do not fit the shape, which needs at least one axis.
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
  /// Returns the rows [begin, end), sharing the blocks. Throws IndexError.
  QuantizedArray part(std::int64_t begin, std::int64_t end) const;
  /// Returns how many rows are dequantised at a time: 1 MiB of them in this dtype, at least one.
  std::int64_t rows_at_once(Dtype dtype) const;

 private:
  Array blocks_;
  Quantization kind_ = Quantization::q8_0;
  Shape shape_;
};

/// Quantises x (floats, at least one axis) to the nearest blocks. The formats follow GGUF's reference, and int8 follows
/// PyTorch's per-channel scheme: scale = (max - min) / 255, with zero in the range. The CPU computes the blocks for
/// every device, so that all devices have equal bits. The result is on x's device. Throws DtypeError for x, ValueError
/// for an inf or NaN and for a scale that does not fit.
CT_API QuantizedArray quantize(const Array& x, Quantization kind);
/// Dequantises to float32 and then rounds to `dtype`. Throws DtypeError unless dtype is a float.
CT_API Array dequantize(const QuantizedArray& w, Dtype dtype = Dtype::float32);
/// Dequantises the rows of w with these numbers (integers of any shape): [rows' shape, shape[1:]], as take along axis
/// 0. Throws IndexError.
CT_API Array take(const QuantizedArray& w, const Array& rows, Dtype dtype = Dtype::float32);

/// Computes x wᵀ (+ bias) for floats x [..., columns] and a bias [rows]: [..., rows] in x's dtype, summed in float32
/// (in float64 for float64). Without config.int8_products x is not rounded, and the result matches dequantised weights
/// up to rounding of the sums. The device multiplies few rows of x with the blocks directly. For more rows, 1 MiB of w
/// at a time is dequantised to x's dtype, unless the device is faster with x rounded to bytes. Throws ShapeError,
/// DtypeError, DeviceError.
CT_API Array linear(const Array& x, const QuantizedArray& w, const Array* bias = nullptr);
/// Computes y w for y [..., rows]: [..., columns], the gradient of x in linear.
CT_API Array linear_back(const Array& y, const QuantizedArray& w);

}  // namespace catenary
