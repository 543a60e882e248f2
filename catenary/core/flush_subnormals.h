#pragma once
// Private: the processor's mode for results too small to have all their digits.

#if defined(__x86_64__)
#  include <xmmintrin.h>
#endif

namespace catenary {

/// While it lives, this thread's vector operations on x86-64 give 0 where the result would be subnormal (below 1e-38 in
/// float32), which otherwise costs about a hundred times what another result costs. Operands keep their values, which
/// reading subnormal float16 needs. Does nothing on other processors, where such results cost the same as others.
class FlushSubnormals {
#if defined(__x86_64__)
 public:
  FlushSubnormals() { _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON); }
  ~FlushSubnormals() { _mm_setcsr(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned before_ = _mm_getcsr();
#else
 public:
  FlushSubnormals() {}   // not defaulted, so that an object that is only there for its effect
  ~FlushSubnormals() {}  // is no unused variable
#endif
};

}  // namespace catenary
