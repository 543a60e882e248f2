#include "catenary/backends/gpu/sorter.h"

namespace catenary::gpu {

void sort(Context& context, bool descending, const View& rows, const View& out) {
  if (rows.size() == 0) return;
  const Sorter sorter(context, rows.dtype, Items::elements, descending);
  const std::int64_t n = rows.shape.back(), count = rows.size() / n;
  const bool in_place = rows.handle == out.handle && rows.offset == out.offset;
  if (sorter.is_short(n)) {
    if (!in_place) compute(context, Copy{out, rows});
    return sorter.sort_short(out.handle, out.offset, count, n);
  }
  if (!in_place) return sorter.sort_long(rows.handle, rows.offset, out.handle, out.offset, count, n);
  const Scratch scratch(context, rows.size() * sorter.item_bytes);
  compute(context, Copy{{scratch.handle(), 0, rows.dtype, rows.shape, contiguous_strides(rows.shape)}, rows});
  sorter.sort_long(scratch.handle(), 0, out.handle, out.offset, count, n);
}

void argsort(Context& context, bool descending, const View& rows, const View& indices) {
  if (rows.size() == 0) return;
  const std::int64_t n = rows.shape.back(), count = rows.size() / n;
  const bool packed = fits_a_word(rows);
  const Sorter sorter(context, rows.dtype, packed ? Items::packed : Items::pairs, descending);
  // Packed items replace the indices in place.
  std::optional<Scratch> pairs, unsorted;
  if (!packed) pairs.emplace(context, rows.size() * sorter.item_bytes);
  void* handle = packed ? indices.handle : pairs->handle();
  const std::int64_t at = packed ? indices.offset : 0;
  if (sorter.is_short(n)) {
    sorter.pack(rows, handle, at);
    sorter.sort_short(handle, at, count, n);
  } else {
    unsorted.emplace(context, rows.size() * sorter.item_bytes);
    sorter.pack(rows, unsorted->handle(), 0);
    sorter.sort_long(unsorted->handle(), 0, handle, at, count, n);
  }
  sorter.unpack(handle, at, indices);
}

template <>
void compute(Context& context, const Sort& p) {
  sort(context, false, p.rows, p.out);
}

template <>
void compute(Context& context, const Argsort& p) {
  argsort(context, false, p.rows, p.indices);
}

}  // namespace catenary::gpu
