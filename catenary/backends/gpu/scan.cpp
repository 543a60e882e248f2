// arg_reduce, nonzero, scan and searchsorted. Long axes are divided into parts that run in parallel, and the partial
// results are combined.

#include <algorithm>
#include <optional>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

namespace {

/// Returns the elements of one work-item for `rows` rows of n: whole rows if there are enough to keep the device busy.
std::int64_t part_length(const Context& context, std::int64_t rows, std::int64_t n) {
  const std::int64_t enough = context.loops ? context.info.compute_units * 4 : 8192, least = context.loops ? 16384 : 64;
  if (rows >= enough) return n;
  return std::min(n, std::max(least, ceil_div(n * rows, enough)));
}

/// Rows and columns around an axis of a view.
struct Around {
  std::int64_t rows = 1, row_stride = 0, columns = 1, column_stride = 0;
};

/// Merges the axes before and after `axis`, if each group has a common stride.
std::optional<Around> around(const View& x, int axis) {
  Around a;
  const auto merge = [&](int begin, int end, std::int64_t& extent, std::int64_t& stride) {
    for (int i = end - 1; i >= begin; --i) {
      if (x.shape[i] == 1) continue;
      if (extent > 1 && x.strides[i] != stride * extent) return false;
      if (extent == 1) stride = x.strides[i];
      extent *= x.shape[i];
    }
    return true;
  };
  if (!merge(0, axis, a.rows, a.row_stride)) return {};
  if (!merge(axis + 1, x.shape.size(), a.columns, a.column_stride)) return {};
  return a;
}

/// Makes a C-contiguous copy.
View ordered_copy(Context& context, const View& x, Dtype dtype, std::optional<Scratch>& scratch) {
  scratch.emplace(context, x.size() * static_cast<std::int64_t>(itemsize(dtype)));
  const View copied{scratch->handle(), 0, dtype, x.shape, contiguous_strides(x.shape)};
  compute(context, Copy{copied, x});
  return copied;
}

/// Scans [rows, n, columns] in place.
void scan_in_place(Context& context, ScanOp op, void* handle, std::int64_t offset, Dtype dtype, std::int64_t rows,
                   std::int64_t n, std::int64_t columns) {
  const ops::Reg reg = ops::register_of(dtype);
  const Dtype total_dtype = dtype_of_register(reg);
  const bool wide = needs_wide({offset + rows * n * columns});
  const std::int64_t length = part_length(context, rows * columns, n), parts = ceil_div(n, length);
  const bool sums = op == ScanOp::sum;
  Defines defines = grid_defines(context, wide, {{"PART_SCAN", ""}, {"TOTAL_MEM", memory_type(total_dtype)}});
  for (const auto& define : dtype_defines(context, dtype)) defines.push_back(define);
  if (dtype == Dtype::bool_) {
    defines.emplace_back("COMBINE(a, b)", sums ? "((b8)((a) | (b)))" : "((b8)((a) & (b)))");
  } else if (is_floating(dtype)) {
    defines.emplace_back("COMBINE(a, b)", sums ? "((a) + (b))" : "((a) * (b))");
  } else {
    // wraps
    defines.emplace_back("COMBINE(a, b)", sums ? "((T)((u64)(a) + (u64)(b)))" : "((T)((u64)(a) * (u64)(b)))");
  }
  std::optional<Scratch> totals;
  const auto launch = [&](const char* name) {
    Args args;
    args.add(handle).index(offset, wide).index(n, wide).index(columns, wide).index(parts, wide).index(length, wide);
    args.add(totals ? totals->handle() : handle);
    launch_units(context, context.kernel("select", name, defines), rows * parts * columns, wide, args);
  };
  if (parts > 1) {
    totals.emplace(context, rows * parts * columns * static_cast<std::int64_t>(itemsize(total_dtype)));
    launch("part_totals");
    scan_in_place(context, op, totals->handle(), 0, total_dtype, rows, parts, columns);
  }
  launch("scan_parts");
}

}  // namespace

template <>
void compute(Context& context, const ArgReduce& p) {
  const auto& [largest, x, axis, out] = p;
  if (out.size() == 0) return;
  const std::optional<Around> a = around(x, axis);
  if (!a) {
    std::optional<Scratch> scratch;
    const View ordered = ordered_copy(context, x, x.dtype, scratch);
    return compute(context, ArgReduce{largest, ordered, axis, out});
  }
  const std::int64_t n = x.shape[axis], stride = x.strides[axis], outputs = out.size();
  const std::int64_t length = part_length(context, outputs, n), parts = ceil_div(n, length);
  std::int64_t low = x.offset, high = x.offset;
  for (int i = 0; i < x.shape.size(); ++i) (x.strides[i] < 0 ? low : high) += x.shape[i] * x.strides[i];
  const bool wide = needs_wide({low, high, out.offset + outputs * parts, n + length * parts});
  Defines defines = grid_defines(context, wide, {{"PART_ARG", ""}});
  for (const auto& define : dtype_defines(context, x.dtype)) defines.push_back(define);
  // NaN beats every number
  if (is_floating(x.dtype))
    defines.emplace_back("BETTER(a, b)", largest ? "((b) == (b) && ((a) != (a) || (a) > (b)))"
                                                 : "((b) == (b) && ((a) != (a) || (a) < (b)))");
  else
    defines.emplace_back("BETTER(a, b)", largest ? "((a) > (b))" : "((a) < (b))");
  std::optional<Scratch> found;
  if (parts > 1) found.emplace(context, outputs * parts * 8);
  Args args;
  args.add(x.handle).index(x.offset, wide).index(a->row_stride, wide).index(stride, wide);
  args.index(a->column_stride, wide).index(n, wide).index(a->columns, wide).index(parts, wide);
  // adjacent work-items read adjacent elements, but on a processor each part is contiguous
  args.index(context.loops ? length : 1, wide).index(context.loops ? 1 : parts, wide).index(length, wide);
  args.add(found ? found->handle() : out.handle).index(found ? 0 : out.offset, wide);
  launch_units(context, context.kernel("select", "arg_reduce", defines), outputs * parts, wide, args);
  if (!found) return;
  Args rest;
  rest.add(x.handle).index(x.offset, wide).index(a->row_stride, wide).index(stride, wide);
  rest.index(a->column_stride, wide).index(a->columns, wide).index(parts, wide);
  rest.add(found->handle()).add(out.handle).index(out.offset, wide);
  launch_units(context, context.kernel("select", "arg_reduce_parts", defines), outputs, wide, rest);
}

template <>
void compute(Context& context, const Nonzero& p) {
  const auto& [mask, positions] = p;
  positions.clear();
  const std::int64_t n = mask.size();
  if (n == 0) return;
  const bool wide = needs_wide({mask.offset + n});
  const std::int64_t length = context.loops ? 8192 : 256, parts = ceil_div(n, length);
  const Defines defines = grid_defines(context, wide, {{"PART_TRUE", ""}});
  const Scratch counts(context, parts * 8);
  Args args;
  args.add(mask.handle).index(mask.offset, wide).index(n, wide).index(length, wide).add(counts.handle());
  launch_units(context, context.kernel("select", "count_true", defines), parts, wide, args);
  scan_in_place(context, ScanOp::sum, counts.handle(), 0, Dtype::int64, 1, parts, 1);
  std::int64_t count = 0;
  context.read(&count, counts.handle(), static_cast<std::size_t>(parts - 1) * 8, 8);
  if (count == 0) return;
  positions.resize(static_cast<std::size_t>(count));
  const Scratch found(context, count * 8);
  Args rest;
  rest.add(mask.handle).index(mask.offset, wide).index(n, wide).index(length, wide).add(counts.handle());
  rest.add(found.handle());
  launch_units(context, context.kernel("select", "positions", defines), parts, wide, rest);
  context.read(positions.data(), found.handle(), 0, positions.size() * 8);
}

template <>
void compute(Context& context, const Scan& p) {
  const auto& [op, x, axis, out] = p;
  if (out.size() == 0) return;
  if (!(out.strides == contiguous_strides(out.shape))) {
    std::optional<Scratch> scratch;
    const View ordered = ordered_copy(context, x, out.dtype, scratch);
    compute(context, Scan{op, ordered, axis, ordered});
    return compute(context, Copy{out, ordered});
  }
  if (!(x.handle == out.handle && x.offset == out.offset && x.strides == out.strides && x.dtype == out.dtype))
    compute(context, Copy{out, x});
  std::int64_t rows = 1, columns = 1;
  for (int i = 0; i < axis; ++i) rows *= out.shape[i];
  for (int i = axis + 1; i < out.shape.size(); ++i) columns *= out.shape[i];
  scan_in_place(context, op, out.handle, out.offset, out.dtype, rows, out.shape[axis], columns);
}

template <>
void compute(Context& context, const Searchsorted& p) {
  const auto& [sorted, values, right, out] = p;
  if (out.size() == 0) return;
  const bool wide = needs_wide({sorted.offset + sorted.size(), values.offset + values.size(), out.offset + out.size()});
  Defines defines = grid_defines(context, wide, {{"PART_SEARCH", ""}});
  for (const auto& define : dtype_defines(context, sorted.dtype)) defines.push_back(define);
  // all NaNs are equal and last
  defines.emplace_back("BEFORE(a, b)",
                       is_floating(sorted.dtype) ? "((a) < (b) || ((b) != (b) && (a) == (a)))" : "((a) < (b))");
  Args args;
  // nothing is read if there are no elements, but a launch needs a buffer
  args.add(sorted.handle ? sorted.handle : values.handle).index(sorted.handle ? sorted.offset : 0, wide);
  args.add(values.handle).index(values.offset, wide).add(out.handle).index(out.offset, wide);
  args.index(sorted.size(), wide).add(std::int32_t{right});
  launch_units(context, context.kernel("select", "searchsorted", defines), values.size(), wide, args);
}

}  // namespace catenary::gpu
