#include "catenary/backends/cpu/reduce/arg_reduce.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/programs/kernel_table.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

namespace {

constexpr std::int64_t kBlock = 1024;   // elements per block: find its extremum first, then the position
constexpr std::int64_t kShort = 48;     // shorter rows are processed side by side
constexpr std::int64_t kPiece = 65536;  // minimum elements of a row for a thread
constexpr std::int64_t kGrain = 16384;
constexpr std::int64_t kTile = 512;      // columns whose best values fit the cache
constexpr std::int64_t kFewColumns = 8;  // with fewer columns, loops over columns do not pay

template <class T>
bool better(bool largest, T candidate, T best) {
  return !(largest ? candidate <= best : candidate >= best) && best == best;
}

/// The array without the reduced axis, and the reduced axis.
struct Geometry {
  const char* data;
  Dtype dtype;  // bool is read as uint8
  Shape shape;
  Strides strides;
  std::int64_t n, step;

  Geometry(const View& x, int axis)
      : data(static_cast<const char*>(x.data())),
        dtype(x.dtype == Dtype::bool_ ? Dtype::uint8 : x.dtype),
        shape(x.shape),
        strides(x.strides),
        n(shape[axis]),
        step(strides[axis]) {
    shape.erase(axis);
    strides.erase(axis);
  }
  /// Returns the address of element `i`, in C order, of the remaining axes.
  const char* at(std::int64_t i) const {
    std::int64_t offset = 0;
    for (int a = shape.size() - 1; a >= 0; --a) {
      offset += i % shape[a] * strides[a];
      i /= shape[a];
    }
    return address(offset);
  }
  const char* address(std::int64_t offset) const { return data + offset * static_cast<std::int64_t>(itemsize(dtype)); }
  std::int64_t bytes(std::int64_t elements) const { return elements * static_cast<std::int64_t>(itemsize(dtype)); }
};

/// Elements as values of their register type T, in place or loaded.
template <class T>
class Values {
 public:
  explicit Values(Dtype dtype) : load_(kernel_table().load[static_cast<int>(dtype)]) {
    in_place_ = itemsize(dtype) == sizeof(T) && !is_16bit_float(dtype);
  }
  const T* get(const char* memory, std::int64_t stride, std::int64_t n, T* buffer) const {
    if (in_place_ && (stride == 1 || n == 1)) return reinterpret_cast<const T*>(memory);
    load_(buffer, memory, stride, n);
    return buffer;
  }

 private:
  LoadKernel load_;
  bool in_place_;
};

template <class T>
struct Found {
  T value;
  std::int64_t at;
};

/// Searches elements [begin, end) of the row at `row`: finds the best block first, then the position in that block.
template <class T>
Found<T> in_row(const Geometry& g, const Values<T>& values, bool largest, const char* row, std::int64_t begin,
                std::int64_t end) {
  const auto best_of = CT_SIMD_SELECT(arg_best);
  const ops::Reg reg = ops::register_of(g.dtype);
  alignas(64) T buffer[kBlock];
  const auto block = [&](std::int64_t at) {
    return values.get(row + g.bytes(at * g.step), g.step, std::min(kBlock, end - at), buffer);
  };
  Found<T> best{};
  for (std::int64_t at = begin; at < end && best.value == best.value; at += kBlock) {
    T found;
    best_of(reg, largest, &found, block(at), std::min(kBlock, end - at));
    if (at == begin || better(largest, found, best.value)) best = {found, at};
  }
  best.at += CT_SIMD_SELECT(arg_find)(reg, &best.value, block(best.at), std::min(kBlock, end - best.at));
  return best;
}

template <class T>
void along_rows(const Geometry& g, bool largest, std::int64_t* out) {
  const Values<T> values(g.dtype);
  const std::int64_t rows = g.shape.product(), pieces = (g.n + kPiece - 1) / kPiece;
  std::vector<Found<T>> found(static_cast<std::size_t>(pieces > 1 ? rows * pieces : 0));
  parallel_for(rows * pieces, std::max<std::int64_t>(1, kGrain / g.n), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t begin = i % pieces * kPiece;
      const Found<T> best = in_row<T>(g, values, largest, g.at(i / pieces), begin, std::min(g.n, begin + kPiece));
      if (pieces > 1) {
        found[static_cast<std::size_t>(i)] = best;
      } else {
        out[i] = best.at;
      }
    }
  });
  if (pieces == 1) return;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Found<T>* all = found.data() + row * pieces;
    Found<T> best = all[0];
    for (std::int64_t p = 1; p < pieces; ++p)
      if (better(largest, all[p].value, best.value)) best = all[p];
    out[row] = best.at;
  }
}

/// Processes a tile of adjacent columns row by row.
template <class T, class I>
void along_columns(const Geometry& g, bool largest, std::int64_t* out) {
  const Values<T> values(g.dtype);
  const auto update = CT_SIMD_SELECT(arg_columns);
  const ops::Reg reg = ops::register_of(g.dtype);
  const std::int64_t columns = g.shape.back(), stride = g.strides.back(), tiles = (columns + kTile - 1) / kTile;
  parallel_for(g.shape.product() / columns * tiles, std::max<std::int64_t>(1, kGrain / (kTile * g.n)),
               [&](std::int64_t first, std::int64_t last) {
                 alignas(64) T buffer[kTile], best[kTile];
                 alignas(64) I at[kTile];
                 for (std::int64_t i = first; i < last; ++i) {
                   const std::int64_t column = i % tiles * kTile, count = std::min(kTile, columns - column),
                                      begin = i / tiles * columns + column;
                   const char* top = g.at(begin);
                   std::copy_n(values.get(top, stride, count, buffer), count, best);
                   std::fill_n(at, count, I(0));
                   for (std::int64_t row = 1; row < g.n; ++row)
                     update(reg, largest, best, at, values.get(top + g.bytes(row * g.step), stride, count, buffer), row,
                            count);
                   std::copy_n(at, count, out + begin);
                 }
               });
}

template <class T, class I>
void find(const Geometry& g, bool largest, std::int64_t* out) {
  const bool columns = !g.shape.empty() && g.shape.back() >= kFewColumns && g.n <= std::numeric_limits<I>::max() &&
                       (std::abs(g.strides.back()) < std::abs(g.step) || g.n <= kShort);
  return columns ? along_columns<T, I>(g, largest, out) : along_rows<T>(g, largest, out);
}

}  // namespace

template <>
void compute(const ArgReduce& p) {
  const Geometry g(p.x, p.axis);
  if (g.shape.product() == 0) return;
  if (is_complex(g.dtype)) detail::refuse_complex(g.dtype);
  const bool largest = p.largest;
  std::int64_t* to = static_cast<std::int64_t*>(p.out.data());
  switch (ops::register_of(g.dtype)) {
    case ops::Reg::f32:
      return find<float, std::int32_t>(g, largest, to);
    case ops::Reg::f64:
      return find<double, std::int64_t>(g, largest, to);
    case ops::Reg::i64:
      return find<std::int64_t, std::int64_t>(g, largest, to);
    case ops::Reg::u64:
      return find<std::uint64_t, std::int64_t>(g, largest, to);
    default:
      return find<std::int32_t, std::int32_t>(g, largest, to);
  }
}

}  // namespace catenary::cpu
