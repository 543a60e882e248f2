#include "catenary/array/bits.h"

#include <array>
#include <cstring>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"

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

constexpr std::int64_t kBytesOfThread = 16384;

/// Packs C-ordered rows of n bools on the processor.
Array packed_on_host(const Array& bools, std::int64_t n, std::int64_t bytes, BitOrder order) {
  const Array out = Array::empty(with_last(bools.shape(), bytes), Dtype::uint8, bools.device());
  const auto* const from = static_cast<const std::uint8_t*>(bools.raw_data());
  auto* const to = out.mutable_data<std::uint8_t>();
  // the product moves bit 8i of eight bools to bit 56 + i, or 63 - i
  const std::uint64_t gather = order == BitOrder::little ? 0x0102040810204080u : 0x8040201008040201u;
  parallel_for(out.size(), kBytesOfThread, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = i / bytes, first = (i - row * bytes) * 8;
      std::uint64_t eight = 0;
      if (first + 8 <= n) {
        std::memcpy(&eight, from + row * n + first, 8);
      } else {
        std::memcpy(&eight, from + row * n + first, static_cast<std::size_t>(n - first));
      }
      to[i] = static_cast<std::uint8_t>(eight * gather >> 56);
    }
  });
  return out;
}

/// Unpacks C-ordered bytes on the processor.
Array unpacked_on_host(const Array& bytes, BitOrder order) {
  std::array<std::uint64_t, 256> bits{};
  for (std::uint64_t byte = 0; byte < 256; ++byte)
    for (int i = 0; i < 8; ++i) bits[byte] |= (byte >> (order == BitOrder::little ? i : 7 - i) & 1) << (8 * i);
  const Array out = Array::empty(with_last(bytes.shape(), bytes.shape().back() * 8), Dtype::uint8, bytes.device());
  const auto* const from = bytes.data<std::uint8_t>();
  auto* const to = out.mutable_data<std::uint8_t>();
  parallel_for(bytes.size(), kBytesOfThread, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) std::memcpy(to + 8 * i, &bits[from[i]], 8);
  });
  return out;
}

}  // namespace

Array packbits(const Array& x, std::optional<int> axis, BitOrder order) {
  if (is_floating(x.dtype())) fail<DtypeError>("packbits: bools or integers are needed, {} was given", x.dtype());
  return along(x, axis, "packbits", [&](const Array& rows) {
    const std::int64_t n = rows.shape().back(), bytes = (n + 7) / 8;
    if (x.device().is_cpu() && n > 0) return packed_on_host(not_equal(rows, 0).contiguous(), n, bytes, order);
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
    if (x.device().is_cpu()) return unpacked_on_host(bytes.contiguous(), order);
    Shape split = bytes.shape();
    split.push_back(1);
    const Array bits = bitwise_and(right_shift(bytes.reshape(split), shifts(order, x.device())), 1);
    return bits.reshape(with_last(bytes.shape(), bytes.shape().back() * 8));
  });
}

}  // namespace catenary
