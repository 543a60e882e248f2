#include "catenary/backends/cpu/reduce/scan.h"

#include <algorithm>
#include <type_traits>

#include "catenary/backends/cpu/movement/copy.h"
#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

template <ScanOp Op, class R>
R accumulate(R a, R b) {
  if constexpr (std::is_same_v<R, bool>) {
    return Op == ScanOp::sum ? a || b : a && b;
  } else if constexpr (std::is_integral_v<R>) {
    using U = std::make_unsigned_t<std::common_type_t<R, int>>;  // unsigned, to wrap; 16-bit numbers would be
                                                                 // multiplied as int
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<R>(Op == ScanOp::sum ? x + y : x * y);
  } else {
    return Op == ScanOp::sum ? a + b : a * b;
  }
}

// Scans in place over (outer, n, inner), in blocks of columns whose accumulators stay in the L1 cache.
template <ScanOp Op, class T>
void scan_columns(T* data, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  using R = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;
  if (inner == 1) {
    parallel_for(outer, std::max<std::int64_t>(1, kGrain / n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) {
        T* row = data + o * n;
        R sum = static_cast<R>(row[0]);
        for (std::int64_t i = 1; i < n; ++i)
          row[i] = static_cast<T>(sum = accumulate<Op, R>(sum, static_cast<R>(row[i])));
      }
    });
    return;
  }
  constexpr std::int64_t kBlock = 512;
  const std::int64_t blocks = (inner + kBlock - 1) / kBlock;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (n * std::min(inner, kBlock)));
  parallel_for(outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % blocks * kBlock, width = std::min(kBlock, inner - first);
      T* block = data + task / blocks * n * inner + first;
      R sums[kBlock];
      for (std::int64_t j = 0; j < width; ++j) sums[j] = static_cast<R>(block[j]);
      for (std::int64_t i = 1; i < n; ++i) {
        T* row = block + i * inner;
        for (std::int64_t j = 0; j < width; ++j) {
          sums[j] = accumulate<Op, R>(sums[j], static_cast<R>(row[j]));
          row[j] = static_cast<T>(sums[j]);
        }
      }
    }
  });
}

}  // namespace

void scan(ScanOp op, const StridedView& dst, const StridedView& src, std::int64_t axis) {
  if (!(dst.shape == src.shape))
    fail<ShapeError>("scan: the destination has shape {} and the source {}; they must be equal", dst.shape, src.shape);
  const int along = normalize_axis(axis, dst.shape.size(), "scan");
  const std::int64_t size = dst.shape.product();
  if (size == 0) return;
  if (!is_contiguous(dst.shape, dst.strides)) {
    Scratch whole(size * static_cast<std::int64_t>(itemsize(dst.dtype)));
    const StridedView middle = contiguous_view(whole.as<void>(), dst.dtype, dst.shape);
    scan(op, middle, src, axis);
    return strided_copy(dst, middle);
  }
  strided_copy(dst, src);
  std::int64_t outer = 1;
  for (int i = 0; i < along; ++i) outer *= dst.shape[i];
  const std::int64_t n = dst.shape[along];
  const std::int64_t inner = size / (outer * n);
  visit_dtype(dst.dtype, [&](auto zero) {
    auto* data = static_cast<decltype(zero)*>(dst.data);
    op == ScanOp::sum ? scan_columns<ScanOp::sum>(data, outer, n, inner)
                      : scan_columns<ScanOp::prod>(data, outer, n, inner);
  });
}

template <>
void compute(const Scan& p) {
  scan(p.op, strided(p.out), strided(p.x), p.axis);
}

}  // namespace catenary::cpu
