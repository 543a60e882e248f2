#include <algorithm>
#include <bit>
#include <optional>

#include "catenary/backends/gpu/execute.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

constexpr int kGroup = 256, kTile = 1024;
constexpr std::int64_t kRowAlone = 1 << 15;  // up to here a processor's work-item sorts a row by itself

/// What kernels/sort.kernel takes for items.
enum class Items { elements, packed, pairs };

struct Sorter {
  Context& context;
  Items items;
  std::int64_t item_bytes;
  int first_bit, end_bit, bits;
  int per;  // items of a work-item in a radix pass
  Defines defines;

  Sorter(Context& c, Dtype dtype, Items item, bool descending = false) : context(c), items(item) {
    const int word = static_cast<int>(itemsize(dtype)), key_bits = 8 * word;
    item_bytes = item == Items::elements ? word : item == Items::packed ? 8 : 16;
    first_bit = item == Items::packed ? 32 : 0;
    end_bit = first_bit + key_bits;
    // An even number of passes ends where it began.
    bits = context.loops && word > 1 ? 8 : 4;
    per = item_bytes > 8 ? 4 : 8;
    const auto number = [](std::uint64_t value) { return fmt::format("{:#x}u{}", value, value >> 32 ? "l" : ""); };
    const std::uint64_t sign = std::uint64_t{1} << (key_bits - 1);
    defines = {{"GROUP", fmt::format("{}", group())}, {"U", fmt::format("u{}", key_bits)}};
    if (is_floating(dtype)) {
      const std::uint64_t infinity = dtype == Dtype::float16    ? 0x7c00
                                     : dtype == Dtype::bfloat16 ? 0x7f80
                                     : dtype == Dtype::float32  ? 0x7f800000
                                                                : 0x7ff0000000000000;
      defines.insert(defines.end(),
                     {{"FLOATING", ""}, {"SIGN", "(U)" + number(sign)}, {"INF", "(U)" + number(infinity)}});
    } else {
      defines.emplace_back("FLIP", number(kind(dtype) == Kind::signed_int ? sign : 0));
    }
    if (descending) defines.emplace_back("DESCENDING", "");
    if (item != Items::elements) defines.emplace_back(item == Items::packed ? "PACKED" : "PAIRS", "");
  }

  int group() const { return context.loops ? 1 : kGroup; }

  /// What moves items need not know how keys are made, where an item holds its own.
  const Kernel& mover(const char* name) const {
    Defines all = defines;
    if (items != Items::elements) all = {defines.front(), {"U", "u32"}, {"FLIP", "0"}, defines.back()};
    all.emplace_back("BITS", fmt::format("{}", bits));
    if (context.loops) {
      all.emplace_back("LOOPS", "");
    } else {
      all.insert(all.end(), {{"TILE", fmt::format("{}", kTile)}, {"PER", fmt::format("{}", per)}});
    }
    return context.kernel("sort", name, all);
  }

  std::int64_t groups_for(std::int64_t units) const {
    return context.loops ? std::min<std::int64_t>(units, context.info.compute_units * 4)
                         : std::min<std::int64_t>(units, std::int64_t{1} << 20);
  }

  /// Sorts rows of items where they are.
  void sort(void* handle, std::int64_t offset, std::int64_t rows, std::int64_t n) const {
    if (n < 2) return;
    Args args;
    if (context.loops && n <= kRowAlone) {
      const std::int64_t groups = groups_for(rows);
      const Scratch spare(context, groups * n * item_bytes);
      args.add(handle).add(offset).add(spare.handle()).add(rows);
      args.add(static_cast<std::int32_t>(n)).add(static_cast<std::int32_t>(end_bit));
      context.launch(mover("sort_rows"), groups, 1, args);
    } else if (!context.loops && n <= kTile) {
      const auto slot = static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
      const std::int64_t at_a_time = kTile / slot;
      args.add(handle).add(offset).add(rows).add(static_cast<std::int32_t>(n)).add(slot);
      context.launch(mover("sort_tiles"), groups_for((rows + at_a_time - 1) / at_a_time), kGroup, args);
    } else {
      radix(handle, offset, rows, n);
    }
  }

  void radix(void* handle, std::int64_t offset, std::int64_t rows, std::int64_t n) const {
    const std::int64_t block = static_cast<std::int64_t>(per) * kGroup, digits = std::int64_t{1} << bits;
    const std::int64_t many =
        context.loops ? std::max<std::int64_t>(1, context.info.compute_units * 4 / rows) : (n + block - 1) / block;
    const auto blocks = static_cast<std::int32_t>(many);
    if (blocks != many) fail<DeviceError>("sort: a row of {} elements is too long", n);
    const Scratch spare(context, rows * n * item_bytes), table(context, rows * digits * blocks * 8);
    std::optional<Scratch> totals;
    if (!context.loops) totals.emplace(context, rows * digits * 8);
    const Kernel &count = mover("count_digits"), &add_up = mover("add_up"), &move = mover("move");
    void *from = handle, *to = spare.handle();
    std::int64_t from_at = offset, to_at = 0;
    for (int shift = first_bit; shift < end_bit; shift += bits) {
      const std::int64_t units = groups_for(rows * blocks);
      Args counting, adding, moving;
      counting.add(from).add(from_at).add(table.handle()).add(rows).add(n).add(blocks).add(shift);
      adding.add(table.handle());
      moving.add(from).add(from_at).add(to).add(to_at).add(table.handle());
      if (totals) {
        adding.add(totals->handle());
        moving.add(totals->handle());
      }
      adding.add(rows).add(blocks);
      moving.add(rows).add(n).add(blocks).add(shift);
      context.launch(count, units, group(), counting);
      context.launch(add_up, groups_for(totals ? rows * digits : rows), group(), adding);
      context.launch(move, units, group(), moving);
      std::swap(from, to);
      std::swap(from_at, to_at);
    }
  }
};

void argsort(Context& context, bool descending, const View& rows, const View& indices) {
  const std::int64_t size = rows.size();
  if (size == 0) return;
  const std::int64_t n = rows.shape.back();
  const bool packed = itemsize(rows.dtype) < 8 && n <= std::int64_t{1} << 32;
  const Sorter sorter(context, rows.dtype, packed ? Items::packed : Items::pairs, descending);
  // Words take the place of the indices.
  std::optional<Scratch> pairs;
  if (!packed) pairs.emplace(context, size * sorter.item_bytes);
  void* handle = packed ? indices.handle : pairs->handle();
  const std::int64_t at = packed ? indices.offset : 0;
  const std::int64_t groups = context.groups_for(size, sorter.group());
  Args packing, unpacking;
  packing.add(rows.handle).add(rows.offset).add(handle).add(at).add(size / n).add(n);
  context.launch(context.kernel("sort", "pack", sorter.defines), groups, sorter.group(), packing);
  sorter.sort(handle, at, size / n, n);
  unpacking.add(handle).add(at).add(indices.handle).add(indices.offset).add(size);
  context.launch(context.kernel("sort", "unpack", sorter.defines), groups, sorter.group(), unpacking);
}

}  // namespace

void sort(Context& context, const View& rows, const View& out) {
  const std::int64_t n = rows.shape.back();
  if (rows.size() == 0) return;
  if (rows.handle != out.handle || rows.offset != out.offset) copy(context, out, rows);
  Sorter(context, rows.dtype, Items::elements).sort(out.handle, out.offset, rows.size() / n, n);
}

void argsort(Context& context, const View& rows, const View& indices) { argsort(context, false, rows, indices); }

void select(Context& context, Selection what, bool descending, const View& rows, const std::vector<std::int64_t>& kth,
            const View& out) {
  if (out.size() == 0) return;
  View sorted = rows;
  sorted.dtype = out.dtype;
  sorted.offset = 0;
  sorted.strides = ordered_strides(rows.shape);
  const Scratch scratch(context, rows.size() * static_cast<std::int64_t>(itemsize(out.dtype)));
  sorted.handle = scratch.handle();
  if (what == Selection::indices) {
    argsort(context, descending, rows, sorted);
  } else {
    copy(context, sorted, rows);
    const std::int64_t n = rows.shape.back();
    Sorter(context, rows.dtype, Items::elements, descending).sort(sorted.handle, 0, rows.size() / n, n);
  }
  const int last = rows.shape.size() - 1;
  sorted.shape[last] = what == Selection::elements ? 1 : out.shape.back();
  View to = out;
  if (what != Selection::elements) return copy(context, to, sorted);
  to.shape[last] = 1;
  for (std::size_t i = 0; i < kth.size(); ++i) {
    View from = sorted;
    from.offset = kth[i];
    copy(context, to, from);
    ++to.offset;
  }
}

}  // namespace catenary::gpu
