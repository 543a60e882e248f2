#pragma once
// Private: movement of bytes. Elements are handled as words of 1, 2, 4 or 8 bytes wherever their type does not matter.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "catenary/core/cpu_features.h"
#include "catenary/core/dtype.h"
#include "catenary/device/primitives.h"

namespace catenary::cpu {

/// Outputs of at least this size bypass the caches, which they would only pollute.
inline constexpr std::int64_t kStreamBytes = std::int64_t{32} << 20;

/// Minimum number of elements for one thread in copies and similar operations.
inline constexpr std::int64_t kGrain = 32768;

/// Uninitialised memory for the duration of a call, aligned to a cache line. Large blocks come from the device's pool.
class Scratch {
 public:
  /// Throws DeviceError if there is not enough memory.
  explicit Scratch(std::int64_t bytes);
  Scratch(Scratch&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Scratch();
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  std::size_t bytes_;
};

/// An element of 16 bytes.
struct Word16 {
  std::uint64_t low, high;
};

/// Calls f with a zero word of `size` bytes (1, 2, 4, 8 or 16).
template <class F>
decltype(auto) visit_word(std::size_t size, F&& f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 16:
      return f(Word16{});
    default:
      return f(std::uint64_t{});
  }
}

/// memcpy for one of many calls; `stream` bypasses the caches. End a series of streaming calls with stream_fence().
void copy_bytes(void* dst, const void* src, std::int64_t bytes, bool stream);
/// Orders this thread's streaming writes before its later writes.
void stream_fence();

/// One thread's share of a scatter: the n values of position p, from values[p * stride] on, are combined in order with
/// the elements at offsets[p] + places[j] (offsets[p] + j without `places`) if offsets[p] is in [low, high).
struct ScatterShare {
  const std::int64_t* offsets;
  std::int64_t count, low, high;
  const void* values;
  std::int64_t stride, n;
  const std::int64_t* places;
};
using ScatterFunction = void (*)(void* elements, const ScatterShare& share);

/// Rows [begin, end) of take_along_axis: dst[r, j] = src[r / count, indices[r, j], j], where negative indices count
/// from n.
struct TakeAlongRows {
  void* dst;
  const void* src;
  const std::int64_t* indices;
  std::int64_t n, count, inner;
};

// clang-format off
CT_SIMD_DECLARE(
  /// Casts n contiguous elements like strided_copy.
  void cast_elements(void* dst, Dtype dst_dtype, const void* src, Dtype src_dtype, std::int64_t n);
  /// dst[c * dst_stride + r] = src[r * src_stride + c] for r < rows, c < columns, with strides in words of `size`
  /// bytes.
  void transpose_words(void* dst, std::int64_t dst_stride, const void* src, std::int64_t src_stride, std::int64_t rows,
                       std::int64_t columns, std::size_t size, bool stream);
  /// Returns the function that scatters elements of this dtype in this mode.
  ScatterFunction scatter_function(Dtype dtype, ScatterMode mode);
  /// Words of `size` bytes.
  void take_along_rows(const TakeAlongRows& rows, std::int64_t begin, std::int64_t end, std::size_t size);
)
// clang-format on

}  // namespace catenary::cpu
