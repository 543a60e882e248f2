#include "catenary/array/bits.h"

#include "catenary/array/axes.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"
#include "catenary/device/row_functions.h"

namespace catenary {

namespace {

/// Returns the shift of each bit, in bit order.
Array shifts(BitOrder order, const Device& device) {
  const Array ascending = detail::iota(8, device).astype(Dtype::uint8);
  return order == BitOrder::little ? ascending : detail::reverse_last(ascending);
}

/// Applies f to the array with `axis` last, or to the flattened array.
template <class F>
Array along(const Array& x, const std::optional<int>& axis, const char* what, F&& f) {
  if (!axis) return f(x.reshape({-1}));
  const int from = normalize_axis(*axis, x.ndim(), what);
  return detail::axis_from_end(f(detail::axis_to_end(x, from)), from);
}

Shape with_last(Shape shape, std::int64_t extent) {
  shape[shape.size() - 1] = extent;
  return shape;
}

/// Packs or unpacks rows by the loops of a device that has them.
Array by_rows(const Array& x, std::int64_t extent, bool is_unpacking, BitOrder order) {
  const Array rows = x.contiguous(), out = Array::empty(with_last(x.shape(), extent), Dtype::uint8, x.device());
  const View from = readable(rows), to = writable(out);
  compute_rows(x.device(), PackedBits{.is_unpacking = is_unpacking,
                                      .is_little = order == BitOrder::little,
                                      .bits = is_unpacking ? to : from,
                                      .bytes = is_unpacking ? from : to});
  return out;
}

}  // namespace

Array packbits(const Array& x, std::optional<int> axis, BitOrder order) {
  if (is_floating(x.dtype())) fail<DtypeError>("packbits: bools or integers are needed, {} was given", x.dtype());
  return along(x, axis, "packbits", [&](const Array& rows) {
    const std::int64_t n = rows.shape().back(), bytes = (n + 7) / 8;
    if (has_row_functions(x.device()))
      return by_rows(rows.itemsize() == 1 ? rows : not_equal(rows, 0), bytes, false, order);
    const Array whole = detail::filled(with_last(rows.shape(), bytes * 8), 0, Dtype::uint8, x.device());
    copyto(detail::slice_axis(whole, whole.ndim() - 1, 0, n), not_equal(rows, 0));
    Shape split = with_last(whole.shape(), bytes);
    split.push_back(8);
    return sum(left_shift(whole.reshape(split), shifts(order, x.device())), -1).astype(Dtype::uint8);
  });
}

Array unpackbits(const Array& x, std::optional<int> axis, BitOrder order) {
  if (x.dtype() != Dtype::uint8) fail<DtypeError>("unpackbits: uint8 is needed, {} was given", x.dtype());
  return along(x, axis, "unpackbits", [&](const Array& bytes) {
    if (has_row_functions(x.device())) return by_rows(bytes, bytes.shape().back() * 8, true, order);
    Shape split = bytes.shape();
    split.push_back(1);
    const Array bits = bitwise_and(right_shift(bytes.reshape(split), shifts(order, x.device())), 1);
    return bits.reshape(with_last(bytes.shape(), bytes.shape().back() * 8));
  });
}

}  // namespace catenary
