// take, gather and scatter. Kernels check indices before anything is written, and report an index out of range without
// synchronization (range_errors.h).

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

bool wide_for(const View& indices) { return needs_wide({indices.offset + indices.size()}); }

Defines index_defines(const Context& context, bool wide) { return grid_defines(context, wide, {{"PART_INDICES", ""}}); }

/// Throws if elements are to be taken from an empty axis.
void check_extent(const char* what, std::int64_t count, std::int64_t n, int axis) {
  if (count > 0 && n == 0)
    fail<IndexError>("{}: cannot take {} elements from axis {}, which is empty", what, count, axis);
}

/// Launches a kernel that may find range errors.
template <class Launch>
void checked(Context& context, Args& args, const Range& range, const Launch& launch) {
  context.range_errors.add_arguments(args, range);
  launch();
  context.range_errors.launched();
}

/// Advanced indexing over the leading axes of x, evaluated on the device. `axes` are their numbers for messages.
struct Positions {
  Positions(Context& context, const char* what, const View& x, const std::vector<View>& indices,
            std::span<const int> axes, const View& values)
      : count(indices.front().size()) {
    std::int64_t highest = 0;
    for (int axis = 0; axis < x.shape.size(); ++axis) {
      const std::int64_t reach = std::max<std::int64_t>(x.shape[axis] - 1, 0) * x.strides[axis];
      const bool leading = axis < static_cast<int>(indices.size());
      (reach < 0 ? low : highest) += leading ? reach : 0;
      if (leading) {
        step = std::gcd(step, x.strides[axis]);
      } else {
        rest.push_back(x.shape[axis]);
        rest_strides.push_back(x.strides[axis]);
      }
    }
    inner = rest.product();
    span = highest - low + 1;
    step = std::max<std::int64_t>(step, 1);
    wide = needs_wide({x.offset, x.offset + low, x.offset + highest, span, values.offset + count * inner});
    for (int axis = 0; axis < rest.size(); ++axis)
      wide = wide || needs_wide({x.offset + highest + rest[axis] * rest_strides[axis],
                                 x.offset + low + rest[axis] * rest_strides[axis]});
    for (const View& i : indices) wide = wide || wide_for(i);
    find_offsets(context, what, x, indices, axes);
    if (count * inner > 0) find_inner(context);
  }

  Defines defines(const Context& context, const char* part) const {
    return grid_defines(context, wide, {{part, ""}, {"INNER(j)", table ? "table[j]" : "((j) * stride)"}});
  }
  /// adds the kernel's offsets, table and stride
  void add_arguments(Args& args) const {
    args.add(offsets->handle()).add(table ? table->handle() : offsets->handle()).index(inner_stride, wide);
  }

  std::int64_t count, inner = 1;
  std::int64_t low = 0, span = 1, step = 0;  // offsets are low + multiples of step, below low + span
  bool wide = false;
  std::optional<Scratch> offsets, table;

 private:
  void find_offsets(Context& context, const char* what, const View& x, const std::vector<View>& indices,
                    std::span<const int> axes) {
    if (count == 0) return;
    for (std::size_t i = 0; i < indices.size(); ++i)
      check_extent(what, count, x.shape[static_cast<int>(i)], axes.empty() ? static_cast<int>(i) : axes[i]);
    offsets.emplace(context, count * (wide ? 8 : 4));
    const Kernel& kernel = context.kernel("index", "add_axis", index_defines(context, wide));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const int axis = static_cast<int>(i);
      Args args;
      args.add(indices[i].handle).index(indices[i].offset, wide).add(x.shape[axis]).index(x.strides[axis], wide);
      args.add(std::int32_t{i == 0}).add(offsets->handle());
      checked(context, args, indices_into(what, x.shape[axis], axes.empty() ? axis : axes[i]),
              [&] { launch_units(context, kernel, count, wide, args); });
    }
  }

  void find_inner(Context& context) {
    // merge axes with a common stride
    for (int axis = rest.size() - 1; axis >= 0; --axis) {
      if (rest[axis] == 1) {
        rest.erase(axis);
        rest_strides.erase(axis);
      } else if (axis + 1 < rest.size() && rest_strides[axis] == rest_strides[axis + 1] * rest[axis + 1]) {
        rest[axis + 1] *= rest[axis];
        rest.erase(axis);
        rest_strides.erase(axis);
      }
    }
    if (rest.size() <= 1) {
      inner_stride = rest.empty() ? 1 : rest_strides[0];
      return;
    }
    table.emplace(context, inner * (wide ? 8 : 4));
    const Kernel& kernel = context.kernel("index", "add_inner_axis", index_defines(context, wide));
    std::int64_t below = 1;
    for (int axis = rest.size() - 1; axis >= 0; --axis) {
      Args args;
      args.add(table->handle()).index(below, wide).index(rest[axis], wide).index(rest_strides[axis], wide);
      args.add(std::int32_t{axis == rest.size() - 1});
      launch_units(context, kernel, inner, wide, args);
      below *= rest[axis];
    }
  }

  Shape rest;
  Strides rest_strides;
  std::int64_t inner_stride = 1;
};

const char* combine(ScatterMode mode, Dtype dtype) {
  const bool is_bool = dtype == Dtype::bool_;
  switch (mode) {
    case ScatterMode::assign:
      return "(b)";
    case ScatterMode::add:
      // integers wrap
      if (is_bool) return "((b8)((a) | (b)))";
      return is_floating(dtype) ? "((a) + (b))" : "((T)((u64)(a) + (u64)(b)))";
    case ScatterMode::max:
      if (is_bool) return "((b8)((a) | (b)))";
      return is_floating(dtype) ? "((a) > (b) || (a) != (a) ? (a) : (b))" : "((a) > (b) ? (a) : (b))";
    case ScatterMode::min:
      if (is_bool) return "((b8)((a) & (b)))";
      return is_floating(dtype) ? "((a) < (b) || (a) != (a) ? (a) : (b))" : "((a) < (b) ? (a) : (b))";
  }
  fail<ValueError>("internal: a scatter of no mode");
}

/// Chooses the atomic update of an element in the text. Returns nothing if the device has none.
Defines update_defines(const Context& context, ScatterMode mode, Dtype dtype) {
  const std::size_t size = itemsize(dtype);
  const bool adds_integers = mode == ScatterMode::add && !is_floating(dtype);
  if (adds_integers && size == 4) return {{"UPDATE_ADD_32", ""}};
  if (adds_integers && size == 8) return {{"UPDATE_ADD_64", ""}};
  if (size == 8 && !context.info.has_atomic64) return {};
  Defines defines{{"BITS", size * 8},
                  {"FROM_BITS", "FROM_BITS_", dtype_name(dtype)},
                  {"TO_BITS", "TO_BITS_", is_floating(dtype) ? dtype_name(dtype) : "integer"}};
  // atomic additions, if the language has them
  if (mode == ScatterMode::add && dtype == Dtype::float32) defines.emplace_back("UPDATE_ADD_F32", "");
  if (mode == ScatterMode::add && dtype == Dtype::float64) defines.emplace_back("UPDATE_ADD_F64", "");
  return defines;
}

void append(Defines& defines, const Defines& more) { defines.insert(defines.end(), more.begin(), more.end()); }

void scatter_owned(Context& context, const View& x, const Positions& at, const View& values, ScatterMode mode,
                   const Defines& dtype) {
  // Each owner takes a whole cache line of columns, or else a range of the indexed elements.
  const std::int64_t line = 64 / static_cast<std::int64_t>(itemsize(x.dtype));
  const std::int64_t workers = context.loops ? context.info.compute_units : context.info.compute_units * 64;
  const bool columns = at.inner >= line * workers;
  const std::int64_t extent = columns ? at.inner : at.span;
  const bool few = at.count * at.inner < 4096;
  Defines defines = at.defines(context, "PART_OWNED");
  append(defines, dtype);
  defines.emplace_back("COMBINE(a, b)", combine(mode, x.dtype));
  if (columns) defines.emplace_back("COLUMNS", "");
  Args args;
  args.add(x.handle).index(x.offset, at.wide).add(values.handle).index(values.offset, at.wide);
  at.add_arguments(args);
  args.index(at.inner, at.wide).index(at.count, at.wide).index(columns ? 0 : at.low, at.wide).index(extent, at.wide);
  args.add(context.range_errors.record());
  launch_units(context, context.kernel("index", "scatter_owned", defines),
               context.loops && few ? 1 : std::min(workers, extent), at.wide, args);
}

void scatter_elected(Context& context, const View& x, const Positions& at, const View& values, const Defines& dtype) {
  Defines defines = at.defines(context, "PART_ELECTED");
  append(defines, dtype);
  const Scratch winners(context, ((at.span - 1) / at.step + 1) * 4);
  for (const char* name : {"clear_winners", "elect"}) {
    Args args;
    args.add(winners.handle()).add(at.offsets->handle()).index(at.low, at.wide).index(at.step, at.wide);
    launch_units(context, context.kernel("index", name, defines), at.count, at.wide, args);
  }
  Args args;
  args.add(x.handle).index(x.offset, at.wide).add(values.handle).index(values.offset, at.wide);
  at.add_arguments(args);
  args.index(at.inner, at.wide).add(winners.handle()).index(at.low, at.wide).index(at.step, at.wide);
  args.add(context.range_errors.record());
  launch_units(context, context.kernel("index", "scatter_elected", defines), at.count * at.inner, at.wide, args);
}

void scatter_atomic(Context& context, const View& x, const Positions& at, const View& values, ScatterMode mode,
                    const Defines& dtype, const Defines& update) {
  Defines defines = at.defines(context, "PART_ATOMIC");
  append(defines, dtype);
  append(defines, update);
  defines.emplace_back("COMBINE(a, b)", combine(mode, x.dtype));
  Args args;
  args.add(x.handle).index(x.offset, at.wide).add(values.handle).index(values.offset, at.wide);
  at.add_arguments(args);
  args.index(at.inner, at.wide).add(context.range_errors.record());
  launch_units(context, context.kernel("index", "scatter_atomic", defines), at.count * at.inner, at.wide, args);
}

/// Takes rows of x by one index each, or elements by one index each (`along`), as words of `word` bytes. `range` is set
/// if indices out of range are errors.
void take_words(Context& context, const View& x, const View& indices, const View& out, IndexMode mode,
                const std::optional<Range>& range, bool along, std::int64_t word) {
  const std::int64_t outer = x.shape[0], n = x.shape[1], count = out.size() / (outer * x.shape[2]);
  const auto size = static_cast<std::int64_t>(itemsize(x.dtype));
  const std::int64_t inner = x.shape[2] * size / word, units = outer * count * inner;
  const std::int64_t x_at = x.offset * size / word, out_at = out.offset * size / word;
  const bool wide = needs_wide({x_at + outer * n * inner, out_at + units, n, indices.offset + indices.size()});
  const char* place = mode == IndexMode::clip   ? "((i) < 0 ? 0 : (i) >= (n) ? (n) - 1 : (i))"
                      : mode == IndexMode::wrap ? "((i) % (n) < 0 ? (i) % (n) + (n) : (i) % (n))"
                                                : "ct_index(i, n, record, range, at)";
  Defines defines = grid_defines(context, wide, {{"PART_TAKE", ""}, {"PLACE(i, n, at)", place}});
  defines.emplace_back("RECORD", range ? "GLOBAL u32* record, u32 range," : "");
  if (along) defines.emplace_back("ALONG", "");
  append(defines, dtype_defines(context, word_of(word)));
  Args args;
  args.add(x.handle).index(x_at, wide).add(indices.handle).index(indices.offset, wide).add(out.handle);
  args.index(out_at, wide).add(n).index(count, wide).index(inner, wide);
  const auto launch = [&] {
    launch_units(context, context.kernel("index", "take", defines), context.loops ? outer * count : units, wide, args);
  };
  range ? checked(context, args, *range, launch) : launch();
}

}  // namespace

template <>
void compute(Context& context, const CheckRange& p) {
  const View& values = p.x;  // lambdas of Clang 14 cannot capture structured bindings
  const Range& range = p.range;
  if (values.size() == 0) return;
  const bool wide = wide_for(values);
  Args args;
  args.add(values.handle).index(values.offset, wide).add(range.low).add(range.high);
  // without an ignored value, pass a value that cannot be reported
  args.add(range.ignored.value_or(range.low < range.high ? range.low : std::numeric_limits<std::int64_t>::min()));
  checked(context, args, range, [&] {
    launch_units(context, context.kernel("index", "check_range", index_defines(context, wide)), values.size(), wide,
                 args);
  });
}

template <>
void compute(Context& context, const Take& p) {
  const auto& [x, indices, out, mode, axis] = p;
  const std::int64_t n = x.shape[1];
  const std::optional<Range> range =
      mode == IndexMode::raise ? std::optional(indices_into("take", n, axis)) : std::nullopt;
  check_extent("take", mode == IndexMode::raise ? indices.size() : out.size(), n, axis);
  if (out.size() == 0) {
    if (range) compute(context, CheckRange{indices, *range});
    return;
  }
  // words as large as the rows and offsets allow
  const auto size = static_cast<std::int64_t>(itemsize(x.dtype));
  const std::int64_t word = std::gcd(std::gcd(x.shape[2] * size, 8), std::gcd(x.offset * size, out.offset * size));
  take_words(context, x, indices, out, mode, range, false, word);
}

template <>
void compute(Context& context, const TakeAlongAxis& p) {
  const auto& [x, indices, out, axis] = p;
  if (out.size() == 0) return;
  check_extent("take_along_axis", indices.size(), x.shape[1], axis);
  take_words(context, x, indices, out, IndexMode::raise, indices_into("take_along_axis", x.shape[1], axis), true,
             static_cast<std::int64_t>(itemsize(x.dtype)));
}

template <>
void compute(Context& context, const Gather& p) {
  const auto& [x, indices, out, axes] = p;
  const Positions at(context, "gather", x, indices, axes, out);
  if (at.count * at.inner == 0) return;
  Defines defines = at.defines(context, "PART_GATHER");
  append(defines, dtype_defines(context, word_of(static_cast<std::int64_t>(itemsize(x.dtype)))));
  Args args;
  args.add(x.handle).index(x.offset, at.wide).add(out.handle).index(out.offset, at.wide);
  at.add_arguments(args);
  args.index(at.inner, at.wide);
  launch_units(context, context.kernel("index", "gather", defines), context.loops ? at.count : at.count * at.inner,
               at.wide, args);
}

template <>
void compute(Context& context, const Scatter& p) {
  const auto& [x, indices, values, mode, axes] = p;
  if (values.size() > 0 && !(values.strides == contiguous_strides(values.shape))) {
    const Scratch scratch(context, values.size() * static_cast<std::int64_t>(itemsize(values.dtype)));
    const View ordered{scratch.handle(), 0, values.dtype, values.shape, contiguous_strides(values.shape)};
    compute(context, Copy{ordered, values});
    return compute(context, Scatter{x, indices, ordered, mode, axes});
  }
  const Positions at(context, "scatter", x, indices, axes, values);
  if (at.count * at.inner == 0) return;
  const Dtype as = mode == ScatterMode::assign ? word_of(static_cast<std::int64_t>(itemsize(x.dtype))) : x.dtype;
  const Defines dtype = dtype_defines(context, as);
  if (!context.loops) {
    if (mode == ScatterMode::assign && at.count < (std::int64_t{1} << 32) - 1)
      return scatter_elected(context, x, at, values, dtype);
    if (mode != ScatterMode::assign)
      if (const Defines update = update_defines(context, mode, x.dtype); !update.empty())
        return scatter_atomic(context, x, at, values, mode, dtype, update);
  }
  scatter_owned(context, x, at, values, mode, dtype);
}

}  // namespace catenary::gpu
