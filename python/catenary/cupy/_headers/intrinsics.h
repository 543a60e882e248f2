// CUDA's device functions that C++ lacks and HIP has, after cuda_only.h, for the processor's C++ compiler (after
// host.kernel and host.h) and for simulated cards. It includes nothing: functions of C are the compiler's built-ins.
#ifndef CATENARY_INTRINSICS
#define CATENARY_INTRINSICS

CATENARY_OWN float __frsqrt_rn(float x) { return (float)(1 / __builtin_sqrt((double)x)); }

// ------------------------------------------------------------------ conversions
// Values out of range saturate, and NaN gives 0.
template <class To>
CATENARY_OWN To ct__whole(double x) {
  const bool is_signed = (To)-1 < 0;
  const To most = is_signed ? (To)(((To)1 << (sizeof(To) * 8 - 2)) - 1 + ((To)1 << (sizeof(To) * 8 - 2))) : (To)-1;
  const To least = is_signed ? (To)(-most - 1) : (To)0;
  const double end = is_signed ? (sizeof(To) == 8 ? 0x1p63 : 0x1p31) : (sizeof(To) == 8 ? 0x1p64 : 0x1p32);
  return x != x ? (To)0 : x >= end ? most : x <= (is_signed ? -end : 0) ? least : (To)x;
}
template <char kMode>
CATENARY_OWN double ct__to_whole(double x) {
  return kMode == 'n'   ? __builtin_rint(x)
         : kMode == 'z' ? __builtin_trunc(x)
         : kMode == 'u' ? __builtin_ceil(x)
                        : __builtin_floor(x);
}
template <char kMode, class To, class From>
CATENARY_OWN To ct__to_real(From x) {
  const To value = (To)x;
  if (kMode == 'n') return value;
  return ct__rounded<kMode>(value, (double)((__int128)x - (__int128)value));  // exact, as 128 bits hold both
}
template <char kMode>
CATENARY_OWN float ct__to_float(double x) {
  const float value = (float)x;
  if (__builtin_isinf(value)) return __builtin_isinf(x) ? value : ct__beyond<kMode>(value);
  return ct__rounded<kMode>(value, x - (double)value);
}
#define CATENARY_MODE(m)                                                                                     \
  CATENARY_OWN int __double2int_r##m(double x) { return ct__whole<int>(ct__to_whole<#m[0]>(x)); }            \
  CATENARY_OWN unsigned __double2uint_r##m(double x) { return ct__whole<unsigned>(ct__to_whole<#m[0]>(x)); } \
  CATENARY_OWN long long __double2ll_r##m(double x) { return ct__whole<long long>(ct__to_whole<#m[0]>(x)); } \
  CATENARY_OWN unsigned long long __double2ull_r##m(double x) {                                              \
    return ct__whole<unsigned long long>(ct__to_whole<#m[0]>(x));                                            \
  }                                                                                                          \
  CATENARY_OWN int __float2int_r##m(float x) { return __double2int_r##m(x); }                                \
  CATENARY_OWN unsigned __float2uint_r##m(float x) { return __double2uint_r##m(x); }                         \
  CATENARY_OWN long long __float2ll_r##m(float x) { return __double2ll_r##m(x); }                            \
  CATENARY_OWN unsigned long long __float2ull_r##m(float x) { return __double2ull_r##m(x); }                 \
  CATENARY_OWN float __double2float_r##m(double x) { return ct__to_float<#m[0]>(x); }                        \
  CATENARY_OWN float __int2float_r##m(int x) { return ct__to_real<#m[0], float>(x); }                        \
  CATENARY_OWN float __uint2float_r##m(unsigned x) { return ct__to_real<#m[0], float>(x); }                  \
  CATENARY_OWN float __ll2float_r##m(long long x) { return ct__to_real<#m[0], float>(x); }                   \
  CATENARY_OWN float __ull2float_r##m(unsigned long long x) { return ct__to_real<#m[0], float>(x); }         \
  CATENARY_OWN double __ll2double_r##m(long long x) { return ct__to_real<#m[0], double>(x); }                \
  CATENARY_OWN double __ull2double_r##m(unsigned long long x) { return ct__to_real<#m[0], double>(x); }
CATENARY_MODES(CATENARY_MODE)
#undef CATENARY_MODE
CATENARY_OWN double __int2double_rn(int x) { return x; }
CATENARY_OWN double __uint2double_rn(unsigned x) { return x; }
#ifndef SIM_FUNCTIONS
CATENARY_OWN int __float_as_int(float x) { return ct_bits<int>(x); }
CATENARY_OWN float __int_as_float(int x) { return ct_bits<float>(x); }
CATENARY_OWN unsigned __float_as_uint(float x) { return ct_bits<unsigned>(x); }
CATENARY_OWN float __uint_as_float(unsigned x) { return ct_bits<float>(x); }
CATENARY_OWN long long __double_as_longlong(double x) { return ct_bits<long long>(x); }
CATENARY_OWN double __longlong_as_double(long long x) { return ct_bits<double>(x); }
#endif
CATENARY_OWN int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
CATENARY_OWN int __double2loint(double x) { return (int)__double_as_longlong(x); }
CATENARY_OWN double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

// ------------------------------------------------------------------ whole numbers
CATENARY_OWN int __popc(unsigned x) { return __builtin_popcount(x); }
CATENARY_OWN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CATENARY_OWN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
CATENARY_OWN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
CATENARY_OWN int __ffs(int x) { return __builtin_ffs(x); }
CATENARY_OWN int __ffsll(long long x) { return __builtin_ffsll(x); }
CATENARY_OWN unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
CATENARY_OWN unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
// Returns the four of the eight bytes of y and x that the digits of `chosen` select. Adding 8 to a digit replicates the
// sign bit.
CATENARY_OWN unsigned __byte_perm(unsigned x, unsigned y, unsigned chosen) {
  const unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (int k = 0; k < 4; ++k) {
    const unsigned digit = chosen >> 4 * k & 15u, byte = (unsigned)(both >> 8 * (digit & 7u)) & 255u;
    result |= (digit & 8u ? (byte & 128u ? 255u : 0u) : byte) << 8 * k;
  }
  return result;
}
CATENARY_OWN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return (unsigned)((((unsigned long long)high << 32 | low) << (by & 31u)) >> 32);
}
CATENARY_OWN unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
  return by < 32u ? __funnelshift_l(low, high, by) : low;
}
CATENARY_OWN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31u));
}
CATENARY_OWN unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
  return by < 32u ? __funnelshift_r(low, high, by) : high;
}
CATENARY_OWN int __mul24(int x, int y) {
  return (int)((unsigned)((int)((unsigned)x << 8) >> 8) * (unsigned)((int)((unsigned)y << 8) >> 8));
}
CATENARY_OWN unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
CATENARY_OWN int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
CATENARY_OWN unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
CATENARY_OWN long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
CATENARY_OWN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
CATENARY_OWN int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
CATENARY_OWN int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
CATENARY_OWN unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
CATENARY_OWN unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }
CATENARY_OWN unsigned __sad(int x, int y, unsigned z) {
  return (unsigned)(x < y ? (long long)y - x : (long long)x - y) + z;
}
CATENARY_OWN unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x < y ? y - x : x - y) + z; }

// ------------------------------------------------------------------ functions of real numbers
CATENARY_OWN float ct__hypot(float x, float y) { return __builtin_hypotf(x, y); }
CATENARY_OWN double ct__hypot(double x, double y) { return __builtin_hypot(x, y); }
#define CATENARY_NORMS(T, f)                                                                           \
  CATENARY_OWN T rhypot##f(T x, T y) { return 1 / ct__hypot(x, y); }                                   \
  CATENARY_OWN T norm3d##f(T x, T y, T z) { return ct__hypot(ct__hypot(x, y), z); }                    \
  CATENARY_OWN T norm4d##f(T x, T y, T z, T w) { return ct__hypot(ct__hypot(x, y), ct__hypot(z, w)); } \
  CATENARY_OWN T rnorm3d##f(T x, T y, T z) { return 1 / norm3d##f(x, y, z); }                          \
  CATENARY_OWN T rnorm4d##f(T x, T y, T z, T w) { return 1 / norm4d##f(x, y, z, w); }                  \
  CATENARY_OWN T norm##f(int count, const T* x) {                                                      \
    T size = 0;                                                                                        \
    for (int k = 0; k < count; ++k) size = ct__hypot(size, x[k]);                                      \
    return size;                                                                                       \
  }                                                                                                    \
  CATENARY_OWN T rnorm##f(int count, const T* x) { return 1 / norm##f(count, x); }
CATENARY_NORMS(float, f)
CATENARY_NORMS(double, )
#undef CATENARY_NORMS
CATENARY_OWN float rhypot(float x, float y) { return rhypotf(x, y); }
CATENARY_OWN float norm3d(float x, float y, float z) { return norm3df(x, y, z); }
CATENARY_OWN float norm4d(float x, float y, float z, float w) { return norm4df(x, y, z, w); }
CATENARY_OWN float rnorm3d(float x, float y, float z) { return rnorm3df(x, y, z); }
CATENARY_OWN float rnorm4d(float x, float y, float z, float w) { return rnorm4df(x, y, z, w); }
CATENARY_OWN float fdividef(float x, float y) { return x / y; }
#define __sincosf ct__sincosf
CATENARY_OWN void __sincosf(float x, float* s, float* c) {
  *s = __builtin_sinf(x);
  *c = __builtin_cosf(x);
}

// ------------------------------------------------------------------ threads
#ifndef SIM_FUNCTIONS  // the simulator defines it for all kernels
struct dim3 {
  unsigned int x, y, z;
  dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};
#endif
CATENARY_OWN void __prof_trigger(int) {}
CATENARY_OWN void __brkpt() { __builtin_trap(); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#if defined(__x86_64__)
CATENARY_OWN long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
#else
// Counts calls, so that a difference of two times is positive.
CATENARY_OWN long long clock64() {
  static long long calls;
  return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}
#endif
CATENARY_OWN long ct__clock() { return (long)clock64(); }
#define clock ct__clock
template <class T>
CATENARY_OWN T atomicInc(T* p, typename ct_same<T>::type most) {
  return ct_atomically(p, [=](T old) { return old >= most ? (T)0 : (T)(old + 1); });
}
template <class T>
CATENARY_OWN T atomicDec(T* p, typename ct_same<T>::type most) {
  return ct_atomically(p, [=](T old) { return old == 0 || old > most ? most : (T)(old - 1); });
}
#undef CATENARY_MODES
#undef CATENARY_OWN
#endif
