#pragma once
// Private to the library: helpers about axes that reductions, sorting and linear algebra share.

#include "catenary/array/array.h"
#include "catenary/device/range.h"

namespace catenary {
enum class Selection : std::uint8_t;
}

namespace catenary::detail {

/// Returns the axes as a bit mask.
unsigned axis_bits(const Axes& axes);
/// Returns `shape` without the axes of `bits`, or with size 1 for each of them (keepdims).
Shape kept_shape(const Shape& shape, unsigned bits, bool keepdims);
/// Returns how many elements each element of the result is reduced from.
std::int64_t reduced_count(const Shape& shape, unsigned bits);
/// Returns a view of x with `axis` moved to the end.
Array axis_to_end(const Array& x, int axis);
/// Returns a view of x with the last axis moved to position `axis`.
Array axis_from_end(const Array& x, int axis);
/// Returns the view x[…, start:stop, …] along `axis`; 0 <= start <= stop <= size of the axis.
Array slice_axis(const Array& x, int axis, std::int64_t start, std::int64_t stop);
/// Returns x as [kept axes…, product of `axes`]: the axes of `axes` are moved to the end and merged. A view where
/// strides allow it.
Array rows_over(const Array& x, const Axes& axes);
/// Returns a view of x with the last axis reversed.
Array reverse_last(const Array& x);
/// Applies primitives::Select to the rows along the last axis and returns the first `places` columns of the result.
Array selected(const Array& rows, Selection what, const std::vector<std::int64_t>& kth, bool descending,
               std::int64_t places);
/// Returns an array of shape `shape` with `value` in every element.
Array filled(const Shape& shape, const Operand& value, Dtype dtype, const Device& device);
/// Returns x if it already has that dtype, else a cast copy.
Array as_dtype(Array x, Dtype dtype);
/// Returns the dtype for sums that are scattered to these indices: float32 for 16-bit floats if an index array may name
/// an element many times, else `dtype`.
Dtype dtype_of_sums(Dtype dtype, const std::vector<Index>& indices);
/// Returns 0, 1, …, n - 1 as int64.
Array iota(std::int64_t n, const Device& device);
/// Returns at least n of the numbers 0, 1, … as int64 of shape (rows, kIotaBlock). The result is pending: the sum of a
/// column and a row.
Array iota_grid(std::int64_t n, const Device& device);
inline constexpr std::int64_t kIotaBlock = 4096;
/// Returns f(iota(n)) for an elementwise f, in one pass over memory.
template <class F>
Array of_iota(std::int64_t n, const Device& device, F&& f) {
  if (n <= kIotaBlock) return f(iota(n, device));
  return slice_axis(f(iota_grid(n, device)).reshape({-1}), 0, 0, n);
}
/// Returns the flat indices (int64) of the true elements of a bool array.
Array positions(const Array& mask);
/// Returns the operand as an array of `dtype` on `device`.
Array as_array(const Operand& x, Dtype dtype, const Device& device);
/// Returns the dtype that all arrays promote to, in any order of the arrays: floats are promoted before integers.
/// numpy.result_type
Dtype common_dtype(const std::vector<Array>& arrays);
/// Throws LinAlgError, which names linalg::`what`, unless a is a square matrix or a stack of them.
void check_square(const Array& a, const char* what);
/// Throws DeviceError, which names `what`, if a and b are on different devices.
void check_same_device(const Array& a, const Array& b, const char* what);
/// Throws if an element of the integer array x is outside a range: at once on the CPU, else when the host next waits
/// for the device.
void check_range(const Array& x, const Range& range);
/// Returns the dtype of sums of `dtype`: int64 for bools and signed integers, uint64 for unsigned integers.
Dtype sum_dtype(Dtype dtype);
/// Returns the floating dtype of means of `dtype`: float64 for bools and integers.
Dtype mean_dtype(Dtype dtype);

}  // namespace catenary::detail
