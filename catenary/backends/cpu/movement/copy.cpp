#include "catenary/backends/cpu/movement/copy.h"

#include <algorithm>
#include <cstdlib>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

constexpr std::int64_t kSmall = 4096;  // fewer bytes or elements are not worth planning

// The joint iteration over two arrays: axes in the order of dst's memory, without axes of size 1, and with adjacent
// axes merged.
struct Walk {
  char* dst;
  const char* src;
  Dims extents, dst_strides, src_strides;
  bool stream = false;  // bypasses the caches
};

void collapse(Walk& walk, const Shape& shape, const Strides& dst_strides, const Strides& src_strides,
              std::int64_t dst_size, std::int64_t src_size) {
  struct Axis {
    std::int64_t extent, dst, src;
  };
  Axis axes[kMaxDims];
  int n = 0;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    Axis axis{shape[i], dst_strides[i], src_strides[i]};
    if (axis.dst < 0) {  // walks the axis from its other end
      walk.dst += (axis.extent - 1) * axis.dst * dst_size;
      walk.src += (axis.extent - 1) * axis.src * src_size;
      axis.dst = -axis.dst;
      axis.src = -axis.src;
    }
    int at = n++;  // insertion sort, stable, largest stride first
    for (; at > 0 && axes[at - 1].dst < axis.dst; --at) axes[at] = axes[at - 1];
    axes[at] = axis;
  }
  int kept = 0;
  for (int i = 0; i < n; ++i) {
    if (kept > 0) {
      Axis& outer = axes[kept - 1];
      if (outer.dst == axes[i].dst * axes[i].extent && outer.src == axes[i].src * axes[i].extent) {
        outer = {outer.extent * axes[i].extent, axes[i].dst, axes[i].src};
        continue;
      }
    }
    axes[kept++] = axes[i];
  }
  for (int i = 0; i < kept; ++i) {
    walk.extents.push_back(axes[i].extent);
    walk.dst_strides.push_back(axes[i].dst);
    walk.src_strides.push_back(axes[i].src);
  }
}

template <class W>
void copy_row(W* dst, std::int64_t dst_stride, const W* src, std::int64_t src_stride, std::int64_t n, bool stream) {
  if (dst_stride == 1 && src_stride == 1) return copy_bytes(dst, src, n * static_cast<std::int64_t>(sizeof(W)), stream);
  if (dst_stride == 1 && src_stride == 0) {
    std::fill_n(dst, n, *src);
  } else if (dst_stride == 1 && src_stride == -1) {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = src[-i];
  } else if (dst_stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = src[i * src_stride];
  } else {
    for (std::int64_t i = 0; i < n; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

// Calls body(dst offset, src offset, begin, end) for runs of tasks [begin, end) of the last loop. The outer axes and
// the `tasks` pieces inside them are divided among the threads.
template <class F>
void for_each_piece(const Dims& extents, const Dims& dst_strides, const Dims& src_strides, std::int64_t tasks,
                    std::int64_t grain, F&& body) {
  const std::int64_t outer = extents.product();
  parallel_for(outer * tasks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t position = begin / tasks;
    Dims index = Dims::filled(extents.size(), 0);
    std::int64_t d = 0, s = 0;
    for (int i = extents.size() - 1; i >= 0; --i) {
      index[i] = position % extents[i];
      position /= extents[i];
      d += index[i] * dst_strides[i];
      s += index[i] * src_strides[i];
    }
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t first = at % tasks;
      const std::int64_t last = std::min(tasks, first + end - at);
      body(d, s, first, last);
      at += last - first;
      for (int i = extents.size() - 1; i >= 0; --i) {
        d += dst_strides[i];
        s += src_strides[i];
        if (++index[i] < extents[i]) break;
        d -= extents[i] * dst_strides[i];
        s -= extents[i] * src_strides[i];
        index[i] = 0;
      }
    }
    stream_fence();
  });
}

// Returns an axis with stride 1 in src but not in dst, which calls for copying in tiles.
int transposed_axis(const Walk& walk) {
  const int last = walk.extents.size() - 1;
  if (walk.dst_strides[last] != 1 || walk.extents[last] < 4) return -1;
  if (walk.src_strides[last] == 1 || walk.src_strides[last] == 0) return -1;
  for (int i = 0; i < last; ++i)
    if (walk.src_strides[i] == 1 && walk.extents[i] >= 4) return i;
  return -1;
}

void copy_transposed(Walk& walk, int axis, std::size_t size, bool stream) {
  const auto bytes = static_cast<std::int64_t>(size);
  const int last = walk.extents.size() - 1;
  const std::int64_t rows = walk.extents[last], columns = walk.extents[axis];
  const std::int64_t dst_stride = walk.dst_strides[axis], src_stride = walk.src_strides[last];
  Dims extents = walk.extents, dst_strides = walk.dst_strides, src_strides = walk.src_strides;
  for (Dims* d : {&extents, &dst_strides, &src_strides}) {
    d->pop_back();
    d->erase(axis);
  }
  const auto transpose = CT_SIMD_SELECT(transpose_words);
  // A task is a panel of columns, that is, some rows of dst.
  const std::int64_t panel = 64, tasks = (columns + panel - 1) / panel;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (rows * std::min(panel, columns)));
  for_each_piece(extents, dst_strides, src_strides, tasks, grain,
                 [&](std::int64_t d, std::int64_t s, std::int64_t first, std::int64_t last_task) {
                   const std::int64_t c = first * panel, end = std::min(columns, last_task * panel);
                   transpose(walk.dst + (d + c * dst_stride) * bytes, dst_stride, walk.src + (s + c) * bytes,
                             src_stride, rows, end - c, size, stream);
                 });
}

void copy_words(Walk& walk, std::size_t size) {
  const auto bytes = static_cast<std::int64_t>(size);
  const bool stream = walk.stream || walk.extents.product() * bytes >= kStreamBytes;
  if (walk.extents.empty()) {
    std::memcpy(walk.dst, walk.src, size);
    return;
  }
  if (const int axis = transposed_axis(walk); axis >= 0) return copy_transposed(walk, axis, size, stream);
  const int last = walk.extents.size() - 1;
  const std::int64_t n = walk.extents[last], dst_stride = walk.dst_strides[last], src_stride = walk.src_strides[last];
  Dims extents = walk.extents, dst_strides = walk.dst_strides, src_strides = walk.src_strides;
  for (Dims* d : {&extents, &dst_strides, &src_strides}) d->pop_back();
  // Threads divide the last axis or, if that is short, the axis before it.
  std::int64_t rows = 1, row_dst = 0, row_src = 0;
  const bool short_rows = n < 64 && last > 0;
  if (short_rows) {
    rows = extents.back(), row_dst = dst_strides.back(), row_src = src_strides.back();
    for (Dims* d : {&extents, &dst_strides, &src_strides}) d->pop_back();
  }
  const std::int64_t cut = short_rows ? rows : n, piece = short_rows ? 64 : 4096, tasks = (cut + piece - 1) / piece;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (std::min(cut, piece) * (short_rows ? n : 1)));
  visit_word(size, [&](auto zero) {
    using W = decltype(zero);
    auto* dst = reinterpret_cast<W*>(walk.dst);
    const auto* src = reinterpret_cast<const W*>(walk.src);
    for_each_piece(extents, dst_strides, src_strides, tasks, grain,
                   [&](std::int64_t d, std::int64_t s, std::int64_t first, std::int64_t last_task) {
                     const std::int64_t begin = first * piece, end = std::min(cut, last_task * piece);
                     if (short_rows) {
                       for (std::int64_t i = begin; i < end; ++i) {
                         W* to = dst + d + i * row_dst;
                         const W* from = src + s + i * row_src;
                         for (std::int64_t j = 0; j < n; ++j) to[j * dst_stride] = from[j * src_stride];
                       }
                     } else {
                       copy_row(dst + d + begin * dst_stride, dst_stride, src + s + begin * src_stride, src_stride,
                                end - begin, stream);
                     }
                   });
  });
}

// Copies between different dtypes with any strides. Pieces go through contiguous buffers that stay in the cache.
void copy_cast(Walk& walk, Dtype to, Dtype from) {
  const auto to_size = static_cast<std::int64_t>(itemsize(to)), from_size = static_cast<std::int64_t>(itemsize(from));
  // Innermost axes that fit a buffer are cast at once, and the next outer axis is divided into pieces.
  constexpr std::int64_t kBuffer = 32768;
  int inner = walk.extents.size();
  std::int64_t inner_size = 1;
  while (inner > 0 && inner_size * walk.extents[inner - 1] <= kBuffer) inner_size *= walk.extents[--inner];
  Dims inner_extents, inner_dst, inner_src;
  for (int i = inner; i < walk.extents.size(); ++i) {
    inner_extents.push_back(walk.extents[i]);
    inner_dst.push_back(walk.dst_strides[i]);
    inner_src.push_back(walk.src_strides[i]);
  }
  Dims extents = walk.extents, dst_strides = walk.dst_strides, src_strides = walk.src_strides;
  for (Dims* d : {&extents, &dst_strides, &src_strides})
    while (d->size() > inner) d->pop_back();
  std::int64_t cut = 1, cut_dst = 0, cut_src = 0;
  if (inner > 0) {
    cut = extents.back(), cut_dst = dst_strides.back(), cut_src = src_strides.back();
    for (Dims* d : {&extents, &dst_strides, &src_strides}) d->pop_back();
  }
  const std::int64_t step = std::max<std::int64_t>(1, kBuffer / inner_size), tasks = (cut + step - 1) / step;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (inner_size * std::min(step, cut)));
  const auto cast_block = CT_SIMD_SELECT(cast_elements);
  for_each_piece(extents, dst_strides, src_strides, tasks, grain,
                 [&](std::int64_t d, std::int64_t s, std::int64_t first, std::int64_t last_task) {
                   for (std::int64_t i = first * step; i < std::min(cut, last_task * step); i += step) {
                     const std::int64_t m = std::min(step, cut - i);
                     Dims shape = inner_extents, piece_dst = inner_dst, piece_src = inner_src;
                     shape.insert(0, m);
                     piece_dst.insert(0, cut_dst);
                     piece_src.insert(0, cut_src);
                     char* dst = walk.dst + (d + i * cut_dst) * to_size;
                     const char* src = walk.src + (s + i * cut_src) * from_size;
                     const std::int64_t n = m * inner_size;
                     const Strides dense = contiguous_strides(shape);
                     const bool dst_dense = is_contiguous(shape, piece_dst),
                                src_dense = is_contiguous(shape, piece_src);
                     Scratch source(src_dense ? 0 : n * from_size), result(dst_dense ? 0 : n * to_size);
                     if (!src_dense) {
                       Walk in{source.as<char>(), src, {}, {}, {}};
                       collapse(in, shape, dense, piece_src, from_size, from_size);
                       copy_words(in, itemsize(from));
                       src = source.as<char>();
                     }
                     cast_block(dst_dense ? dst : result.as<char>(), to, src, from, n);
                     if (!dst_dense) {
                       Walk out{dst, result.as<char>(), {}, {}, {}};
                       collapse(out, shape, piece_dst, dense, to_size, to_size);
                       copy_words(out, itemsize(to));
                     }
                   }
                 });
}

struct ByteRange {
  std::uintptr_t begin, end;
};
ByteRange byte_range(const StridedView& view) {
  const auto size = static_cast<std::int64_t>(itemsize(view.dtype));
  std::int64_t low = 0, high = 0;
  for (int i = 0; i < view.shape.size(); ++i)
    (view.strides[i] < 0 ? low : high) += (view.shape[i] - 1) * view.strides[i] * size;
  const auto base = reinterpret_cast<std::uintptr_t>(view.data);
  return {base + static_cast<std::uintptr_t>(low), base + static_cast<std::uintptr_t>(high + size)};
}

bool same_places(const StridedView& a, const StridedView& b) {
  if (a.data != b.data) return false;
  for (int i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

/// Returns a view of the real or imaginary parts.
StridedView part(const StridedView& view, bool imaginary) {
  StridedView parts = view;
  parts.dtype = part_dtype(view.dtype);
  for (std::int64_t& stride : parts.strides) stride *= 2;
  if (imaginary) parts.data = static_cast<char*>(view.data) + itemsize(parts.dtype);
  return parts;
}

/// Copies between a complex dtype and another dtype. A real result is the real part, a bool is `!= 0`.
void copy_complex(const StridedView& dst, const StridedView& src, std::int64_t size) {
  if (is_complex(dst.dtype)) {
    strided_copy(part(dst, false), is_complex(src.dtype) ? part(src, false) : src);
    if (is_complex(src.dtype)) return strided_copy(part(dst, true), part(src, true));
    const std::int8_t zero = 0;
    StridedView zeros{const_cast<std::int8_t*>(&zero), Dtype::int8, dst.shape, dst.strides};
    for (std::int64_t& stride : zeros.strides) stride = 0;
    return strided_copy(part(dst, true), zeros);
  }
  if (dst.dtype != Dtype::bool_) return strided_copy(dst, part(src, false));
  const Scratch re(size), im(size);
  const StridedView either = contiguous_view(re.as<void>(), Dtype::bool_, src.shape);
  strided_copy(either, part(src, false));
  strided_copy(contiguous_view(im.as<void>(), Dtype::bool_, src.shape), part(src, true));
  for (std::int64_t i = 0; i < size; ++i) re.as<std::uint8_t>()[i] |= im.as<std::uint8_t>()[i];
  strided_copy(dst, either);
}

}  // namespace

void strided_copy(const StridedView& dst, const StridedView& src, bool stream) {
  if (!(dst.shape == src.shape))
    fail<ShapeError>("copy: the destination has shape {} and the source {}; they must be equal", dst.shape, src.shape);
  const std::int64_t size = dst.shape.product();
  if (size == 0) return;
  const std::int64_t bytes = size * static_cast<std::int64_t>(itemsize(dst.dtype));
  if (bytes <= kSmall && dst.dtype == src.dtype && is_contiguous(dst.shape, dst.strides) &&
      is_contiguous(src.shape, src.strides)) {
    std::memmove(dst.data, src.data, static_cast<std::size_t>(bytes));
    return;
  }
  const ByteRange to = byte_range(dst), from = byte_range(src);
  if (to.begin < from.end && from.begin < to.end) {
    if (dst.dtype == src.dtype && same_places(dst, src)) return;
    Scratch away(size * static_cast<std::int64_t>(itemsize(src.dtype)));
    const StridedView middle = contiguous_view(away.as<void>(), src.dtype, src.shape);
    strided_copy(middle, src);
    strided_copy(dst, middle);
    return;
  }
  if (dst.dtype != src.dtype && (is_complex(dst.dtype) || is_complex(src.dtype))) return copy_complex(dst, src, size);
  Walk walk{static_cast<char*>(dst.data), static_cast<const char*>(src.data), {}, {}, {}, stream};
  collapse(walk, dst.shape, dst.strides, src.strides, static_cast<std::int64_t>(itemsize(dst.dtype)),
           static_cast<std::int64_t>(itemsize(src.dtype)));
  if (dst.dtype == src.dtype) return copy_words(walk, itemsize(dst.dtype));
  copy_cast(walk, dst.dtype, src.dtype);
}

template <>
void compute(const Copy& p) {
  strided_copy(strided(p.to), strided(p.from));
}

template <>
void compute(const Join& p) {
  const bool stream = p.out.nbytes() >= kStreamBytes;
  View to = p.out;
  for (const View& part : p.parts) {
    to.shape = part.shape;
    strided_copy(strided(to), strided(part), stream);
    to.offset += part.shape[p.axis] * p.out.strides[p.axis];
  }
}

void cast(void* dst, Dtype dst_dtype, const void* src, Dtype src_dtype, std::int64_t n) {
  strided_copy(contiguous_view(dst, dst_dtype, {n}), contiguous_view(src, src_dtype, {n}));
}

}  // namespace catenary::cpu
