#pragma once
// Views of an array's bytes as another dtype, and the memory order of elements.

#include "catenary/array/array.h"

namespace catenary {

/// Returns a view of the bytes as another dtype. If the item sizes differ, the last axis changes its size, and it must
/// be contiguous. Throws ShapeError if it is not, or if its bytes cannot be divided evenly. (numpy.ndarray.view)
CT_API Array view(const Array& a, Dtype dtype);
template <detail::MaybeCopy A>
const Array view(A&& a, Dtype dtype) {
  return view(a, dtype);
}
/// Returns a view of the real parts, which can be written to, or the array itself if it is not complex. (numpy.real)
CT_API Array real(const Array& a);
template <detail::MaybeCopy A>
const Array real(A&& a) {
  return real(a);
}
/// Returns a view of the imaginary parts, or new zeros if the array is not complex. (numpy.imag)
CT_API Array imag(const Array& a);
template <detail::MaybeCopy A>
const Array imag(A&& a) {
  return imag(a);
}
/// Returns the angle of each number in the complex plane, in radians: pi for negative real numbers. Throws DtypeError
/// for bool. (numpy.angle)
CT_API Array angle(const Array& a);
/// Returns complex numbers from real and imaginary parts, which broadcast. Throws DtypeError if either is complex.
/// (torch.complex)
CT_API Array complex(const Array& real, const Array& imag);
/// Returns a copy in which the bytes of each element are reversed. It is in Fortran order if a is, else in C order.
/// (numpy.ndarray.byteswap)
CT_API Array byteswap(const Array& a);

/// The order of elements in memory: the last axis fastest (C), the first axis fastest (Fortran), or the order of the
/// given array (K). (NumPy's `order`)
enum class Order : std::uint8_t { C, F, K };
/// Returns strides for an array in this order without gaps; K counts as C.
CT_API Strides strides_of(const Shape& shape, Order order);
/// Returns whether the elements are in this order without gaps. Order K is always satisfied. (numpy.ndarray.flags)
CT_API bool is_in_order(const Array& a, Order order);
/// Returns an uninitialised array in this order; K counts as C. (numpy.empty)
CT_API Array empty(const Shape& shape, Dtype dtype, Order order, const Device& device = current_device());
/// Returns a copy in this order. A copy of a pending array joins its loop. (numpy.copy)
CT_API Array copy(const Array& a, Order order);
/// Returns the array itself if it is in this order, else a copy. (numpy.asarray with an order)
CT_API const Array in_order(const Array& a, Order order);

}  // namespace catenary
