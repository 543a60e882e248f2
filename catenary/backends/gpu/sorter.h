#pragma once
// Private: code shared by sorting (sort.cpp) and selecting (select.cpp), with kernels/sort.kernel.

#include <algorithm>
#include <bit>
#include <optional>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

/// Kinds of items in kernels/sort.kernel.
enum class Items { elements, packed, pairs };

struct Sorter {
  static constexpr int kGroup = 256, kTile = 1024;
  static constexpr int kTileBytes = 16 << 10;  // per radix pass, with its tables within OpenCL's minimum of 32 KiB
  static constexpr std::int64_t kRowAlone = 1 << 15;  // up to this length a single work-item of a processor sorts a row

  Context& context;
  Items items;
  std::int64_t item_bytes;
  int first_bit, end_bit, bits;
  int per;         // items per work-item in a radix pass
  int places = 0;  // for a selection, whose keys replace digits
  Defines defines;

  Sorter(Context& c, Dtype dtype, Items item, bool descending = false) : context(c), items(item) {
    const int word = static_cast<int>(itemsize(dtype)), key_bits = 8 * word;
    item_bytes = item == Items::elements ? word : item == Items::packed ? 8 : 16;
    first_bit = item == Items::packed ? 32 : 0;
    end_bit = first_bit + key_bits;
    bits = 8;
    per = std::min<int>(16, kTileBytes / kGroup / static_cast<int>(item_bytes));
    const char* const sign = word == 1   ? "0x80u"
                             : word == 2 ? "0x8000u"
                             : word == 4 ? "0x80000000u"
                                         : "0x8000000000000000ul";
    defines = {{"GROUP", group()}, {"U", memory_type(word_of(word))}};
    if (is_floating(dtype)) {
      const char* const infinity = dtype == Dtype::float16    ? "0x7c00u"
                                   : dtype == Dtype::bfloat16 ? "0x7f80u"
                                   : dtype == Dtype::float32  ? "0x7f800000u"
                                                              : "0x7ff0000000000000ul";
      defines.insert(defines.end(), {{"FLOATING", ""}, {"SIGN", "(U)", sign}, {"INF", "(U)", infinity}});
    } else {
      defines.emplace_back("FLIP", kind(dtype) == Kind::signed_int ? sign : "0x0u");
    }
    if (descending) defines.emplace_back("DESCENDING", "");
    if (item != Items::elements) defines.emplace_back(item == Items::packed ? "PACKED" : "PAIRS", "");
  }

  int group() const { return context.loops ? 1 : kGroup; }

  /// Returns a kernel that moves items. It need not know how keys are made if items contain their keys.
  const Kernel& mover(const char* name) const {
    Defines all = defines;
    if (items != Items::elements) all = {defines.front(), {"U", "u32"}, {"FLIP", "0"}, defines.back()};
    all.emplace_back("BITS", bits);
    if (places > 0) all.emplace_back("PLACES", places);
    if (context.loops) {
      all.emplace_back("LOOPS", "");
    } else {
      all.insert(all.end(), {{"TILE", kTile}, {"PER", per}});
    }
    return context.kernel("sort", name, all);
  }

  /// Returns whether rows of n items are sorted in local memory. Longer rows are sorted digit by digit.
  bool is_short(std::int64_t n) const { return n <= (context.loops ? kRowAlone : kTile); }

  /// Sorts short rows.
  void sort_short(void* handle, std::int64_t offset, std::int64_t rows, std::int64_t n) const {
    if (n < 2) return;
    Args args;
    if (context.loops) {
      const std::int64_t groups = groups_over(context, rows);
      const Scratch spare(context, groups * n * item_bytes);
      args.add(handle).add(offset).add(spare.handle()).add(rows);
      args.add(static_cast<std::int32_t>(n)).add(static_cast<std::int32_t>(end_bit));
      context.launch(mover("sort_rows"), groups, 1, args);
    } else {
      const auto slot = static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
      const std::int64_t at_a_time = kTile / slot;
      args.add(handle).add(offset).add(rows).add(static_cast<std::int32_t>(n)).add(slot);
      context.launch(mover("sort_tiles"), groups_over(context, ceil_div(rows, at_a_time)), kGroup, args);
    }
  }

  /// Sorts long rows of `from` into `out`, without changing `from`.
  void sort_long(void* from, std::int64_t from_at, void* out, std::int64_t out_at, std::int64_t rows,
                 std::int64_t n) const {
    Sorter digits = *this;
    // On a processor, tables of 2048 counts fit the L1 cache.
    if (context.loops && end_bit - first_bit > 16) digits.bits = 11;
    const Pass pass(digits, rows, n);
    const int passes = (end_bit - first_bit + digits.bits - 1) / digits.bits;
    std::optional<Scratch> spare;
    if (passes > 1) spare.emplace(context, rows * n * item_bytes);
    for (int p = 0; p < passes; ++p) {
      const bool to_out = (passes - p) % 2 == 1;  // the last pass writes to out, and so does every second pass before
                                                  // it
      void* to = to_out ? out : spare->handle();
      pass.run(from, from_at, to, to_out ? out_at : 0, first_bit + p * digits.bits);
      from = to;
      from_at = to_out ? out_at : 0;
    }
  }

  /// Moves items to the positions given by their digits or, in a selection, their classes.
  struct Pass {
    const Sorter& sorter;
    const std::int64_t rows, n, digits;
    const std::int32_t blocks;
    const Scratch table;
    std::optional<Scratch> totals;

    Pass(const Sorter& s, std::int64_t row_count, std::int64_t length)
        : sorter(s),
          rows(row_count),
          n(length),
          digits(std::int64_t{1} << s.bits),
          blocks(s.blocks_of(row_count, length)),
          table(s.context, rows * digits * blocks * 8) {
      if (!s.context.loops) totals.emplace(s.context, rows * digits * 8);
    }
    /// `pivots`: a selection's keys, one u64 for each row and place.
    void run(void* from, std::int64_t from_at, void* to, std::int64_t to_at, int shift, void* pivots = nullptr) const {
      Context& context = sorter.context;
      const std::int64_t units = groups_over(context, rows * blocks);
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
      if (pivots) {
        counting.add(pivots);
        moving.add(pivots);
      }
      context.launch(sorter.mover("count_digits"), units, sorter.group(), counting);
      context.launch(sorter.mover("add_up"), groups_over(context, totals ? rows * digits : rows), sorter.group(),
                     adding);
      context.launch(sorter.mover("move"), units, sorter.group(), moving);
    }
  };

  /// Returns the number of pieces of a row in a pass.
  std::int32_t blocks_of(std::int64_t rows, std::int64_t n) const {
    const std::int64_t block = static_cast<std::int64_t>(per) * kGroup;
    const std::int64_t many =
        context.loops ? std::max<std::int64_t>(1, context.info.compute_units * 4 / rows) : (n + block - 1) / block;
    const auto blocks = static_cast<std::int32_t>(many);
    if (blocks != many) fail<DeviceError>("sort: a row of {} elements is too long", n);
    return blocks;
  }

  /// pack() combines elements with their indices into items, and unpack() extracts the indices.
  void pack(const View& rows, void* items, std::int64_t at) const {
    Args args;
    args.add(rows.handle).add(rows.offset).add(items).add(at).add(rows.size() / rows.shape.back());
    args.add(rows.shape.back());
    context.launch(context.kernel("sort", "pack", defines), context.groups_for(rows.size(), group()), group(), args);
  }
  void unpack(void* items, std::int64_t at, const View& indices) const {
    Args args;
    args.add(items).add(at).add(indices.handle).add(indices.offset).add(indices.size());
    context.launch(context.kernel("sort", "unpack", defines), context.groups_for(indices.size(), group()), group(),
                   args);
  }
};

/// Returns whether an element and its index fit a word.
inline bool fits_a_word(const View& rows) {
  return itemsize(rows.dtype) < 8 && rows.shape.back() <= std::int64_t{1} << 32;
}

/// Sorts elements. out may be `rows`.
void sort(Context& context, bool descending, const View& rows, const View& out);
void argsort(Context& context, bool descending, const View& rows, const View& indices);

}  // namespace catenary::gpu
