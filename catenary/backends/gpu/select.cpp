// Selection of positions in sorted order without a full sort.

#include <limits>

#include "catenary/backends/gpu/sorter.h"

namespace catenary::gpu {

namespace {

constexpr std::int64_t kSelectFrom = Sorter::kTile;  // shorter rows are sorted instead
constexpr std::int64_t kPlaces = 7;                  // maximum number selected at once; sorts for more

/// Returns a C-contiguous view of scratch memory.
View scratch_view(const Scratch& scratch, Dtype dtype, const Shape& shape) {
  return {scratch.handle(), 0, dtype, shape, contiguous_strides(shape)};
}

/// Copies the first elements of each row.
void copy_first(Context& context, const View& out, View rows) {
  rows.shape[rows.shape.size() - 1] = out.shape.back();
  compute(context, Copy{out, rows});
}

/// Selects by sorting everything.
void select_sorted(Context& context, Selection what, bool descending, const View& rows,
                   const std::vector<std::int64_t>& kth, const View& out) {
  const Scratch scratch(context, rows.size() * static_cast<std::int64_t>(itemsize(out.dtype)));
  View sorted = scratch_view(scratch, out.dtype, rows.shape);
  if (what == Selection::indices) {
    argsort(context, descending, rows, sorted);
  } else {
    sort(context, descending, rows, sorted);
  }
  if (what != Selection::elements) return copy_first(context, out, sorted);
  View to = out;
  to.shape[to.shape.size() - 1] = 1;
  for (const std::int64_t k : kth) {
    sorted.offset = k;
    copy_first(context, to, sorted);
    ++to.offset;
  }
}

/// found = the keys at positions kth of the sorted rows, one u64 for each row and position.
void find_keys(const Sorter& sorter, const View& rows, const std::vector<std::int64_t>& kth, void* found) {
  Context& context = sorter.context;
  const auto places = static_cast<std::int64_t>(kth.size());
  const std::int64_t n = rows.shape.back(), count = rows.size() / n, lines = count * places;
  Defines defines = sorter.defines;
  defines.insert(defines.end(), {{"SELECT", ""}, {"PLACES", places}});
  const Scratch ranks(context, lines * 8), table(context, lines * 256 * 4);
  const auto launch = [&](const char* name, std::int64_t groups, const Args& args) {
    context.launch(context.kernel("sort", name, defines), groups, sorter.group(), args);
  };
  for (std::int32_t place = 0; place < places; ++place) {
    Args args;
    args.add(found).add(ranks.handle()).add(table.handle()).add(count).add(place).add(kth[place]);
    launch("begin_place", context.groups_for(count * 256, sorter.group()), args);
  }
  // Fewer pieces than in a pass, because each clears its counts and adds them up.
  const auto blocks = static_cast<std::int32_t>(std::min<std::int64_t>(
      sorter.blocks_of(count, n), std::max<std::int64_t>(1, context.info.compute_units * 8 / count)));
  for (std::int32_t shift = sorter.end_bit - 8; shift >= 0; shift -= 8) {
    Args counting, choosing;
    counting.add(rows.handle).add(rows.offset).add(found).add(table.handle()).add(count).add(n).add(blocks).add(shift);
    choosing.add(found).add(ranks.handle()).add(table.handle()).add(lines);
    launch("count_candidates", groups_over(sorter.context, count * blocks), counting);
    launch("choose", context.groups_for(lines, sorter.group()), choosing);
  }
}

}  // namespace

template <>
void compute(Context& context, const Select& p) {
  const auto& [what, descending, rows, kth, out] = p;
  if (out.size() == 0) return;
  const std::int64_t n = rows.shape.back(), count = rows.size() / n;
  const auto places = static_cast<std::int64_t>(kth.size());
  // Sort short rows, which fit local memory, and many rows, whose tables would cost more than sorting.
  if (n <= kSelectFrom || n > std::numeric_limits<std::int32_t>::max() || places > kPlaces || places * 256 > n)
    return select_sorted(context, what, descending, rows, kth, out);
  const Sorter elements(context, rows.dtype, Items::elements, descending);
  const Scratch found(context, count * places * 8);
  find_keys(elements, rows, kth, found.handle());
  if (what == Selection::elements) {
    Defines defines = elements.defines;
    defines.insert(defines.end(), {{"SELECT", ""}, {"PLACES", places}});
    Args args;
    args.add(found.handle()).add(out.handle).add(out.offset).add(out.size());
    context.launch(context.kernel("sort", "put_elements", defines), context.groups_for(out.size(), elements.group()),
                   elements.group(), args);
    return;
  }
  const Items kind = what == Selection::partition ? Items::elements : fits_a_word(rows) ? Items::packed : Items::pairs;
  Sorter sorter(context, rows.dtype, kind, descending);
  sorter.places = static_cast<int>(places);
  sorter.bits = places == 1 ? 2 : places <= 3 ? 3 : 4;  // for 2 * places + 1 classes
  const Sorter::Pass pass(sorter, count, n);
  const bool whole = out.shape.back() == n;
  if (what == Selection::partition) {
    if (whole) return pass.run(rows.handle, rows.offset, out.handle, out.offset, 0, found.handle());
    const Scratch placed(context, rows.size() * sorter.item_bytes);
    pass.run(rows.handle, rows.offset, placed.handle(), 0, 0, found.handle());
    return copy_first(context, out, scratch_view(placed, rows.dtype, rows.shape));
  }
  const Scratch items(context, rows.size() * sorter.item_bytes), placed(context, rows.size() * sorter.item_bytes);
  sorter.pack(rows, items.handle(), 0);
  pass.run(items.handle(), 0, placed.handle(), 0, sorter.first_bit, found.handle());
  if (whole) return sorter.unpack(placed.handle(), 0, out);
  const View all = scratch_view(items, Dtype::int64, rows.shape);
  sorter.unpack(placed.handle(), 0, all);
  copy_first(context, out, all);
}

}  // namespace catenary::gpu
