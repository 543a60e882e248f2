#include "catenary/backends/cpu/movement/index.h"

#include <algorithm>

#include "catenary/backends/cpu/movement/copy.h"
#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"
#include "catenary/device/range.h"

namespace catenary::cpu {
namespace {

// Throws for the first of `count` indices outside [-n, n). Usually takes one vectorised pass.
void check_indices(const char* what, const std::int64_t* indices, std::int64_t count, std::int64_t n, int axis) {
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t low = 0, high = -1;
    for (std::int64_t i = begin; i < end; ++i) {
      low = std::min(low, indices[i]);
      high = std::max(high, indices[i]);
    }
    if (low >= -n && high < n) return;
    for (std::int64_t i = begin; i < end; ++i)
      if (indices[i] < -n || indices[i] >= n) throw_outside(indices_into(what, n, axis), indices[i], i);
  });
}

std::int64_t from_front(std::int64_t index, std::int64_t n) { return index < 0 ? index + n : index; }

std::int64_t place(std::int64_t index, std::int64_t n, IndexMode mode) {
  switch (mode) {
    case IndexMode::wrap:
      index %= n;
      return index < 0 ? index + n : index;
    case IndexMode::clip:
      return std::clamp<std::int64_t>(index, 0, n - 1);
    case IndexMode::raise:
      break;
  }
  return from_front(index, n);
}

// dst[i] = the `bytes` at from(i), for i in [begin, end): rows of a gather.
template <class From>
void copy_rows(char* dst, std::int64_t bytes, std::int64_t begin, std::int64_t end, bool stream, From&& from) {
  const auto all = [&](auto word) {
    using W = decltype(word);
    for (std::int64_t i = begin; i < end; ++i) std::memcpy(dst + i * bytes, from(i), sizeof(W));
  };
  switch (bytes) {
    case 1:
      return all(std::uint8_t{});
    case 2:
      return all(std::uint16_t{});
    case 4:
      return all(std::uint32_t{});
    case 8:
      return all(std::uint64_t{});
    default:
      break;
  }
  // Rows are at unpredictable addresses, so prefetch them.
  constexpr std::int64_t kAhead = 8;
  for (std::int64_t i = begin; i < end; ++i) {
    if (i + kAhead < end) {
      const char* next = from(i + kAhead);
      for (std::int64_t b = 0; b < std::min<std::int64_t>(bytes, 512); b += 64) __builtin_prefetch(next + b);
    }
    copy_bytes(dst + i * bytes, from(i), bytes, stream);
  }
  if (stream) stream_fence();
}

// Returns the checked offset in elements of each position of an advanced index.
std::vector<std::int64_t> offsets_of(const char* what, const AdvancedIndex& index) {
  const std::int64_t count = index.shape.product();
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count), 0);
  Scratch scratch(count * 8);
  for (const IndexedAxis& axis : index.axes) {
    const Strides dense = contiguous_strides(index.shape);
    const std::int64_t* indices = axis.indices;
    if (!is_contiguous(index.shape, axis.strides)) {
      strided_copy({scratch.as<void>(), Dtype::int64, index.shape, dense},
                   {const_cast<std::int64_t*>(indices), Dtype::int64, index.shape, axis.strides});
      indices = scratch.as<std::int64_t>();
    }
    check_indices(what, indices, count, axis.size, axis.axis);
    parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) offsets[i] += from_front(indices[i], axis.size) * axis.stride;
    });
  }
  return offsets;
}

Shape joined(const Shape& a, const Shape& b) {
  Shape shape = a;
  for (std::int64_t extent : b) shape.push_back(extent);
  return shape;
}

void expect_shape(const char* what, const char* name, const StridedView& view, const AdvancedIndex& index) {
  const Shape expected = joined(index.shape, index.inner_shape);
  if (!(view.shape == expected))
    fail<ShapeError>("{}: the indices want {} of shape {}, got {}", what, name, expected, view.shape);
}

// Returns the offsets of an inner block's elements from its first.
std::vector<std::int64_t> inner_offsets(const Shape& shape, const Strides& strides) {
  std::vector<std::int64_t> offsets{0};
  for (int axis = 0; axis < shape.size(); ++axis) {
    std::vector<std::int64_t> finer;
    finer.reserve(offsets.size() * static_cast<std::size_t>(shape[axis]));
    for (std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < shape[axis]; ++i) finer.push_back(offset + i * strides[axis]);
    offsets = std::move(finer);
  }
  return offsets;
}

}  // namespace

void take(void* dst, const void* src, Dtype dtype, const std::int64_t* indices, std::int64_t outer, std::int64_t n,
          std::int64_t count, std::int64_t inner, IndexMode mode, int axis) {
  if (outer * count * inner == 0) {
    if (mode == IndexMode::raise) check_indices("take", indices, count, n, axis);
    return;
  }
  if (n == 0) fail<IndexError>("take: cannot take {} elements from axis {}, which is empty", count, axis);
  if (mode == IndexMode::raise) check_indices("take", indices, count, n, axis);
  const std::int64_t bytes = inner * static_cast<std::int64_t>(itemsize(dtype));
  const bool stream = outer * count * bytes >= kStreamBytes && bytes >= 64;
  parallel_for(outer * count, std::max<std::int64_t>(1, kGrain / inner), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t o = at / count, first = at % count, last = std::min(count, first + end - at);
      const char* from = static_cast<const char*>(src) + o * n * bytes;
      char* to = static_cast<char*>(dst) + o * count * bytes;
      if (mode == IndexMode::raise) {
        copy_rows(to, bytes, first, last, stream,
                  [=](std::int64_t i) { return from + from_front(indices[i], n) * bytes; });
      } else {
        copy_rows(to, bytes, first, last, stream,
                  [=](std::int64_t i) { return from + place(indices[i], n, mode) * bytes; });
      }
      at += last - first;
    }
  });
}

void gather(const StridedView& dst, const void* array, const AdvancedIndex& index) {
  expect_shape("gather", "a result", dst, index);
  const std::vector<std::int64_t> offsets = offsets_of("gather", index);
  const std::int64_t count = index.shape.product(), inner = index.inner_shape.product();
  if (count * inner == 0) return;
  const auto size = static_cast<std::int64_t>(itemsize(dst.dtype));
  if (!is_contiguous(dst.shape, dst.strides)) {
    Scratch whole(count * inner * size);
    const StridedView middle = contiguous_view(whole.as<void>(), dst.dtype, dst.shape);
    gather(middle, array, index);
    return strided_copy(dst, middle);
  }
  const auto* from = static_cast<const char*>(array);
  auto* to = static_cast<char*>(dst.data);
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / inner);
  if (is_contiguous(index.inner_shape, index.inner_strides)) {
    const bool stream = count * inner * size >= kStreamBytes && inner * size >= 64;
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      copy_rows(to, inner * size, begin, end, stream, [&](std::int64_t i) { return from + offsets[i] * size; });
    });
    return;
  }
  const std::vector<std::int64_t> places = inner_offsets(index.inner_shape, index.inner_strides);
  visit_word(static_cast<std::size_t>(size), [&](auto zero) {
    using W = decltype(zero);
    parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const W* block = reinterpret_cast<const W*>(from) + offsets[i];
        W* out = reinterpret_cast<W*>(to) + i * inner;
        for (std::int64_t j = 0; j < inner; ++j) out[j] = block[places[j]];
      }
    });
  });
}

void scatter(void* array, const AdvancedIndex& index, const StridedView& values, ScatterMode mode) {
  expect_shape("scatter", "values", values, index);
  const std::vector<std::int64_t> offsets = offsets_of("scatter", index);
  const std::int64_t count = index.shape.product(), inner = index.inner_shape.product();
  if (count * inner == 0) return;
  const auto size = static_cast<std::int64_t>(itemsize(values.dtype));
  if (!is_contiguous(values.shape, values.strides)) {
    Scratch whole(count * inner * size);
    const StridedView middle = contiguous_view(whole.as<void>(), values.dtype, values.shape);
    strided_copy(middle, values);
    return scatter(array, index, middle, mode);
  }
  // No two threads write one element, and each element receives its values in order: threads divide the inner block if
  // it is long, otherwise the range of offsets.
  const int threads = count * inner < kGrain ? 1 : num_threads();
  const bool is_dense = is_contiguous(index.inner_shape, index.inner_strides);
  const std::vector<std::int64_t> places =
      is_dense ? std::vector<std::int64_t>{} : inner_offsets(index.inner_shape, index.inner_strides);
  const bool by_columns = inner * size >= 64 * threads;
  std::int64_t first_offset = offsets.front(), last_offset = first_offset;
  for (const std::int64_t offset : offsets) {
    first_offset = std::min(first_offset, offset);
    last_offset = std::max(last_offset, offset);
  }
  const std::int64_t span = last_offset - first_offset + 1;
  const ScatterFunction scatter_share = CT_SIMD_SELECT(scatter_function)(values.dtype, mode);
  parallel_for(threads, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t extent = by_columns ? inner : span;
    // Divide at cache lines, so that no two threads write to one line.
    const std::int64_t line = 64 / size, lines = (extent + line - 1) / line;
    const std::int64_t from_here = std::min(extent, lines * begin / threads * line);
    const std::int64_t to_here = std::min(extent, lines * end / threads * line);
    ScatterShare share{offsets.data(), count, first_offset, first_offset + span,
                       values.data,    inner, inner,        is_dense ? nullptr : places.data()};
    auto* to = static_cast<char*>(array);
    if (by_columns) {
      share.values = static_cast<const char*>(values.data) + from_here * size;
      share.n = to_here - from_here;
      if (is_dense) {
        to += from_here * size;
      } else {
        share.places += from_here;
      }
    } else {
      share.low = first_offset + from_here;
      share.high = first_offset + to_here;
    }
    scatter_share(to, share);
  });
}

void take_along_axis(void* dst, const void* src, Dtype dtype, const std::int64_t* indices, std::int64_t outer,
                     std::int64_t n, std::int64_t count, std::int64_t inner, int axis) {
  check_indices("take_along_axis", indices, outer * count * inner, n, axis);
  const TakeAlongRows rows{dst, src, indices, n, count, inner};
  parallel_for(outer * count, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(inner, 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 CT_SIMD_SELECT(take_along_rows)(rows, begin, end, itemsize(dtype));
               });
}

namespace {

AdvancedIndex advanced_index(const View& x, const std::vector<View>& indices, std::span<const int> axes) {
  AdvancedIndex index;
  index.shape = indices.front().shape;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const int axis = static_cast<int>(i);
    index.axes.push_back(
        {indices_of(indices[i]), indices[i].strides, x.shape[axis], x.strides[axis], axes.empty() ? axis : axes[i]});
  }
  for (int axis = static_cast<int>(indices.size()); axis < x.shape.size(); ++axis) {
    index.inner_shape.push_back(x.shape[axis]);
    index.inner_strides.push_back(x.strides[axis]);
  }
  return index;
}

}  // namespace

template <>
void compute(const CheckRange& p) {
  const std::int64_t* const x = indices_of(p.x);
  for (std::int64_t i = 0; i < p.x.size(); ++i)
    if (!p.range.contains(x[i])) throw_outside(p.range, x[i], i);
}

template <>
void compute(const Take& p) {
  const Shape& x = p.x.shape;
  take(p.out.data(), p.x.data(), p.x.dtype, indices_of(p.indices), x[0], x[1], p.indices.size(), x[2], p.mode, p.axis);
}

template <>
void compute(const TakeAlongAxis& p) {
  const Shape& x = p.x.shape;
  take_along_axis(p.out.data(), p.x.data(), p.x.dtype, indices_of(p.indices), x[0], x[1], p.indices.shape[1], x[2],
                  p.axis);
}

template <>
void compute(const Gather& p) {
  gather(strided(p.out), p.x.data(), advanced_index(p.x, p.indices, p.axes));
}

template <>
void compute(const Scatter& p) {
  scatter(p.x.data(), advanced_index(p.x, p.indices, p.axes), strided(p.values), p.mode);
}

}  // namespace catenary::cpu
