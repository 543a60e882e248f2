#pragma once
// Private to the library: what reductions, sorting and linear algebra share about axes.

#include "catenary/array/array.h"
#include "catenary/device/range.h"

namespace catenary {
enum class Selection : std::uint8_t;
}

namespace catenary::detail {

/// One bit for each of the axes.
unsigned axis_bits(const Axes& axes);
/// `shape` without the axes of `bits`, or with 1 in their place.
Shape kept_shape(const Shape& shape, unsigned bits, bool keepdims);
/// Number of elements that one element of the result comes from.
std::int64_t reduced_count(const Shape& shape, unsigned bits);
/// x with `axis` moved to the end: a view.
Array axis_to_end(const Array& x, int axis);
/// x with its last axis moved to position `axis`: a view.
Array axis_from_end(const Array& x, int axis);
/// x[…, start:stop, …] along `axis`; 0 <= start <= stop <= extent: a view.
Array slice_axis(const Array& x, int axis, std::int64_t start, std::int64_t stop);
/// x with the axes of `axes` moved to the end and made one: [kept axes…, their product]. A view where strides allow it.
Array rows_over(const Array& x, const Axes& axes);
/// x with its last axis reversed: a view.
Array reverse_last(const Array& x);
/// What primitives::Select gives of the rows along the last axis: so many places of each.
Array selected(const Array& rows, Selection what, const std::vector<std::int64_t>& kth, bool descending,
               std::int64_t places);
/// An array of shape `shape` with `value` everywhere.
Array filled(const Shape& shape, const Operand& value, Dtype dtype, const Device& device);
/// x itself when it has that dtype, else a cast copy.
Array as_dtype(Array x, Dtype dtype);
/// What is added up in at such indices: of 16-bit floats float32, where an index array may name an element many times.
Dtype dtype_of_sums(Dtype dtype, const std::vector<Index>& indices);
/// 0, 1, …, n - 1 as int64.
Array iota(std::int64_t n, const Device& device);
/// 0, 1, … as int64 and of shape (rows, kIotaBlock), at least n of them; pending, as the sum of a column and a row.
Array iota_grid(std::int64_t n, const Device& device);
inline constexpr std::int64_t kIotaBlock = 4096;
/// f(iota(n)) for an elementwise f, in one pass over memory.
template <class F>
Array of_iota(std::int64_t n, const Device& device, F&& f) {
  if (n <= kIotaBlock) return f(iota(n, device));
  return slice_axis(f(iota_grid(n, device)).reshape({-1}), 0, 0, n);
}
/// Flat positions (int64) of the true elements of a bool array.
Array positions(const Array& mask);
/// The array that an operand stands for, as `dtype` on `device`.
Array as_array(const Operand& x, Dtype dtype, const Device& device);
/// The dtype that all of them promote to, in whatever order they come: floats count before integers do.
/// numpy.result_type
Dtype common_dtype(const std::vector<Array>& arrays);
/// Throws LinAlgError naming linalg::`what` unless a is a square matrix or a stack of them.
void check_square(const Array& a, const char* what);
/// Throws DeviceError naming `what` when b is on another device than a.
void check_same_device(const Array& a, const Array& b, const char* what);
/// Throws for an element of x, integers, that is outside a range: at once on the CPU, else when the host next waits for
/// the device.
void check_range(const Array& x, const Range& range);
/// The dtype that sums of `dtype` have: int64 and uint64 for bools and integers.
Dtype sum_dtype(Dtype dtype);
/// The floating dtype that a mean of `dtype` has: float64 for bools and integers.
Dtype mean_dtype(Dtype dtype);

}  // namespace catenary::detail
