#include "catenary/backends/cpu/movement/move.h"

#include "catenary/backends/cpu/cpu_backend.h"
#include "catenary/core/os/memory.h"
#include "catenary/device/backend.h"

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

namespace catenary::cpu {

namespace {
// The pool allocates small blocks with malloc, which may not begin on a cache line.
constexpr std::size_t kPooledFrom = std::size_t{1} << 17;
}  // namespace

Scratch::Scratch(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes > 0 ? bytes : 1)) {
  data_ = bytes_ < kPooledFrom ? os::allocate(bytes_) : backend().pool(0).allocate(bytes_);
}
Scratch::~Scratch() {
  if (bytes_ < kPooledFrom) {
    os::deallocate(data_, bytes_);
  } else if (data_) {
    backend().pool(0).free(data_, bytes_);
  }
}

#if defined(__SSE2__)

void copy_bytes(void* dst, const void* src, std::int64_t bytes, bool stream) {
  auto* d = static_cast<char*>(dst);
  auto* s = static_cast<const char*>(src);
  if (!stream || bytes < 64) {
    std::memcpy(d, s, static_cast<std::size_t>(bytes));
    return;
  }
  if (const auto head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(d) & 15)) {
    std::memcpy(d, s, static_cast<std::size_t>(head));
    d += head, s += head, bytes -= head;
  }
  for (; bytes >= 64; d += 64, s += 64, bytes -= 64) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s + 16));
    const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s + 32));
    const __m128i e = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s + 48));
    _mm_stream_si128(reinterpret_cast<__m128i*>(d), a);
    _mm_stream_si128(reinterpret_cast<__m128i*>(d + 16), b);
    _mm_stream_si128(reinterpret_cast<__m128i*>(d + 32), c);
    _mm_stream_si128(reinterpret_cast<__m128i*>(d + 48), e);
  }
  std::memcpy(d, s, static_cast<std::size_t>(bytes));
}

void stream_fence() { _mm_sfence(); }

#else

void copy_bytes(void* dst, const void* src, std::int64_t bytes, bool) {
  std::memcpy(dst, src, static_cast<std::size_t>(bytes));
}

void stream_fence() {}

#endif

}  // namespace catenary::cpu
