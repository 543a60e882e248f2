#pragma once
// The bytes of an array seen as another dtype, and the order in which they lie.

#include "catenary/array/array.h"

namespace catenary {

/// A view of the same bytes as another dtype. Where the sizes differ the last axis takes them up, and its elements must
/// be neighbours: throws ShapeError where they are not, or where the bytes cannot be divided so. (numpy.ndarray.view)
CT_API Array view(const Array& a, Dtype dtype);
template <detail::MaybeCopy A>
const Array view(A&& a, Dtype dtype) {
  return view(a, dtype);
}
/// A view of the real parts, which are written through it; of what is not complex the array itself. (numpy.real)
CT_API Array real(const Array& a);
template <detail::MaybeCopy A>
const Array real(A&& a) {
  return real(a);
}
/// A view of the imaginary parts; of what is not complex new zeros. (numpy.imag)
CT_API Array imag(const Array& a);
template <detail::MaybeCopy A>
const Array imag(A&& a) {
  return imag(a);
}
/// The angle of each number in the plane, in radians; of a negative real number pi. Throws DtypeError for bool.
/// (numpy.angle)
CT_API Array angle(const Array& a);
/// The complex numbers of these real and imaginary parts, which broadcast. Throws DtypeError where one is complex.
/// (torch.complex)
CT_API Array complex(const Array& real, const Array& imag);
/// A copy in which the bytes of each element are in the reverse order; it lies in C order, or in Fortran order where
/// that is a's. (numpy.ndarray.byteswap)
CT_API Array byteswap(const Array& a);

/// How elements lie in memory: the last axis fastest, the first axis fastest (Fortran's order), or as those of the
/// array that is asked about. (NumPy's `order`)
enum class Order : std::uint8_t { C, F, K };
/// Strides of an array in this order, C for K, without gaps.
CT_API Strides strides_of(const Shape& shape, Order order);
/// Do the elements lie in this order, without gaps? Of order K all do. (numpy.ndarray.flags)
CT_API bool is_in_order(const Array& a, Order order);
/// An array in this order, C for K, whose elements have any value. (numpy.empty)
CT_API Array empty(const Shape& shape, Dtype dtype, Order order, const Device& device = current_device());
/// A copy in this order. Of an array that is still to be computed it is part of the same loop. (numpy.copy)
CT_API Array copy(const Array& a, Order order);
/// The array itself where it lies in this order, else such a copy. (numpy.asarray with an order)
CT_API const Array in_order(const Array& a, Order order);

}  // namespace catenary
