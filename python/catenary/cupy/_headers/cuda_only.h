// CUDA's device functions that C++ and HIP lack: before intrinsics.h for the processor's C++ compiler and for simulated
// cards, and after carray.cuh for hipRTC. It includes nothing.
#ifndef CATENARY_CUDA_ONLY
#define CATENARY_CUDA_ONLY
#define CATENARY_OWN static inline __device__
// Defines a function as a template, so that a later HIP's own function of this name and signature is preferred.
#define CATENARY_NAMED \
  template <int = 0>   \
  CATENARY_OWN
#ifdef CT_HIP
template <class To, class From>
CATENARY_OWN To ct_bits(From from) {
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
template <class T>
struct ct_same {
  typedef T type;
};
#endif

// ------------------------------------------------------------------ rounding
// `value` is a result rounded to nearest, and `error` has the sign of (exact result - value). Modes: n, z, u, d
// (nearest, to zero, up, down).
#define CATENARY_STEP(T, Bits, least)                           \
  CATENARY_OWN T ct__step(T value, bool up) {                   \
    if (value == 0) return up ? least : -least;                 \
    const Bits bits = ct_bits<Bits>(value);                     \
    return ct_bits<T>((value > 0) == up ? bits + 1 : bits - 1); \
  }
CATENARY_STEP(float, unsigned, 0x1p-149f)
CATENARY_STEP(double, unsigned long long, 0x1p-1074)
#undef CATENARY_STEP
template <char kMode, class T, class E>
CATENARY_OWN T ct__rounded(T value, E error) {
  if (kMode == 'n' || error == 0 || error != error) return value;
  if (kMode == 'u') return error > 0 ? ct__step(value, true) : value;
  if (kMode == 'd') return error < 0 ? ct__step(value, false) : value;
  return value > 0 && error < 0 ? ct__step(value, false) : value < 0 && error > 0 ? ct__step(value, true) : value;
}
// If finite operands overflow, rounding to nearest gives infinity, and the other modes may give the largest number.
template <char kMode, class T>
CATENARY_OWN T ct__beyond(T infinite) {
  if (kMode == 'z' || kMode == (infinite > 0 ? 'd' : 'u')) return ct__step(infinite, infinite < 0);
  return infinite;
}
CATENARY_OWN float ct__fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
CATENARY_OWN double ct__fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
template <class T>
CATENARY_OWN T ct__error_of_sum(T x, T y, T sum) {
  const T other = sum - x;
  return (x - (sum - other)) + (y - other);
}
// Returns a power of two by which small operands are scaled, so that the rounding error of their product stays
// representable.
template <class T>
CATENARY_OWN T ct__large() {
  return sizeof(T) == sizeof(float) ? (T)0x1p100f : (T)0x1p700;
}
template <class T>
CATENARY_OWN T ct__error_of_product(T x, T y, T product) {
  if (product == 0) return x == 0 || y == 0 ? 0 : (x < 0) == (y < 0) ? 1 : -1;
  if (__builtin_fabs((double)product) * (double)ct__large<T>() >= 1) return ct__fma(x, y, -product);
  const bool first = __builtin_fabs((double)x) < __builtin_fabs((double)y);
  return ct__fma((first ? x : y) * ct__large<T>(), first ? y : x, -product * ct__large<T>());
}
template <char kMode, class T>
CATENARY_OWN T ct__add(T x, T y) {
  const T sum = x + y;
  if (__builtin_isinf(sum) && __builtin_isfinite(x) && __builtin_isfinite(y)) return ct__beyond<kMode>(sum);
  if (sum == 0 && x != 0) return kMode == 'd' ? (T)-0.0 : sum;
  return ct__rounded<kMode>(sum, ct__error_of_sum(x, y, sum));
}
template <char kMode, class T>
CATENARY_OWN T ct__mul(T x, T y) {
  const T product = x * y;
  if (__builtin_isinf(product))
    return __builtin_isfinite(x) && __builtin_isfinite(y) ? ct__beyond<kMode>(product) : product;
  return ct__rounded<kMode>(product, ct__error_of_product(x, y, product));
}
template <char kMode, class T>
CATENARY_OWN T ct__div(T x, T y) {
  const T quotient = x / y;
  if (__builtin_isinf(quotient)) return y != 0 && __builtin_isfinite(x) ? ct__beyond<kMode>(quotient) : quotient;
  if (x == 0 || !__builtin_isfinite(y) || !__builtin_isfinite(x)) return quotient;
  // the rest divided by y has the sign of the rounding error
  const T scale = __builtin_fabs((double)x) * (double)ct__large<T>() < 1 ? ct__large<T>() : (T)1;
  const T rest = ct__fma(-quotient, y * scale, x * scale);
  return ct__rounded<kMode>(quotient, y < 0 ? -rest : rest);
}
// AMD's sqrtf is not correctly rounded. A root in double is, also after its conversion to float.
CATENARY_OWN float ct__root(float x) { return (float)sqrt((double)x); }
CATENARY_OWN double ct__root(double x) { return sqrt(x); }
template <char kMode, class T>
CATENARY_OWN T ct__sqrt(T x) {
  const T root = ct__root(x);
  if (!(x > 0) || __builtin_isinf(root)) return root;
  return ct__rounded<kMode>(root, -ct__error_of_product(root, root, x));
}
// Returns the rounding error of x * y + z (Boldo and Muller).
template <class T>
CATENARY_OWN T ct__error_of_fused(T x, T y, T z, T sum) {
  const T high = x * y, low = ct__fma(x, y, -high);
  const T a = z + low, b = high + a;
  return ((b - sum) + ct__error_of_sum(high, a, b)) + ct__error_of_sum(z, low, a);
}
template <char kMode, class T>
CATENARY_OWN T ct__fused(T x, T y, T z) {
  const T sum = ct__fma(x, y, z), large = ct__large<T>();
  if (__builtin_isinf(sum))
    return __builtin_isfinite(x) && __builtin_isfinite(y) && __builtin_isfinite(z) ? ct__beyond<kMode>(sum) : sum;
  if (__builtin_fabs((double)(x * y)) * (double)large >= 1)
    return ct__rounded<kMode>(sum, ct__error_of_fused(x, y, z, sum));
  const bool first = __builtin_fabs((double)x) < __builtin_fabs((double)y);
  const T one = (first ? x : y) * large, other = first ? y : x;
  if (z > 1 || z < -1 || one * other == 0) return ct__rounded<kMode>(sum, ct__error_of_product(x, y, (T)0));
  return ct__rounded<kMode>(sum, ct__error_of_fused(one, other, z * large, sum * large));
}
#define CATENARY_MODES(define) define(n) define(z) define(u) define(d)
#define CATENARY_MODE(m)                                                                                 \
  CATENARY_NAMED float __fadd_r##m(float x, float y) { return ct__add<#m[0]>(x, y); }                    \
  CATENARY_NAMED float __fsub_r##m(float x, float y) { return ct__add<#m[0]>(x, -y); }                   \
  CATENARY_NAMED float __fmul_r##m(float x, float y) { return ct__mul<#m[0]>(x, y); }                    \
  CATENARY_NAMED float __fdiv_r##m(float x, float y) { return ct__div<#m[0]>(x, y); }                    \
  CATENARY_NAMED float __frcp_r##m(float x) { return ct__div<#m[0]>(1.0f, x); }                          \
  CATENARY_NAMED float __fsqrt_r##m(float x) { return ct__sqrt<#m[0]>(x); }                              \
  CATENARY_NAMED float __fmaf_r##m(float x, float y, float z) { return ct__fused<#m[0]>(x, y, z); }      \
  CATENARY_NAMED float __fmaf_ieee_r##m(float x, float y, float z) { return ct__fused<#m[0]>(x, y, z); } \
  CATENARY_NAMED double __dadd_r##m(double x, double y) { return ct__add<#m[0]>(x, y); }                 \
  CATENARY_NAMED double __dsub_r##m(double x, double y) { return ct__add<#m[0]>(x, -y); }                \
  CATENARY_NAMED double __dmul_r##m(double x, double y) { return ct__mul<#m[0]>(x, y); }                 \
  CATENARY_NAMED double __ddiv_r##m(double x, double y) { return ct__div<#m[0]>(x, y); }                 \
  CATENARY_NAMED double __drcp_r##m(double x) { return ct__div<#m[0]>(1.0, x); }                         \
  CATENARY_NAMED double __dsqrt_r##m(double x) { return ct__sqrt<#m[0]>(x); }                            \
  CATENARY_NAMED double __fma_r##m(double x, double y, double z) { return ct__fused<#m[0]>(x, y, z); }
CATENARY_MODES(CATENARY_MODE)
#undef CATENARY_MODE

// ------------------------------------------------------------------ whole numbers
CATENARY_NAMED unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
CATENARY_NAMED unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
CATENARY_NAMED unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
// Returns the position of the offset-th set bit, counted from `base` upwards, or downwards if the offset is negative,
// and all ones if there is none.
CATENARY_NAMED unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return mask >> (base & 31u) & 1u ? base : 0xffffffffu;
  int left = offset > 0 ? offset : -offset;
  for (int k = (int)base; k >= 0 && k<32; k += offset> 0 ? 1 : -1)
    if ((mask >> k & 1u) && --left == 0) return (unsigned)k;
  return 0xffffffffu;
}
CATENARY_NAMED unsigned umin(unsigned x, unsigned y) { return x < y ? x : y; }
CATENARY_NAMED unsigned umax(unsigned x, unsigned y) { return x < y ? y : x; }
CATENARY_NAMED long long llmin(long long x, long long y) { return x < y ? x : y; }
CATENARY_NAMED long long llmax(long long x, long long y) { return x < y ? y : x; }
CATENARY_NAMED unsigned long long ullmin(unsigned long long x, unsigned long long y) { return x < y ? x : y; }
CATENARY_NAMED unsigned long long ullmax(unsigned long long x, unsigned long long y) { return x < y ? y : x; }
// Sums products of bytes with bytes, or with halves of a word. A vector of CUDA's is passed as its bytes.
template <class T, class A>
CATENARY_OWN T ct__piece(A x, int k) {
  T parts[sizeof(A) / sizeof(T)];
  __builtin_memcpy(parts, &x, sizeof(A));
  return parts[k];
}
#define CATENARY_DOT(S, C, H, words, bytes, halves)                                                              \
  CATENARY_NAMED S __dp4a(words x, words y, S sum) {                                                             \
    for (int k = 0; k < 4; ++k) sum += (S)((S)ct__piece<C>(x, k) * (S)ct__piece<C>(y, k));                       \
    return sum;                                                                                                  \
  }                                                                                                              \
  CATENARY_NAMED S __dp4a(bytes x, bytes y, S sum) { return __dp4a(ct_bits<words>(x), ct_bits<words>(y), sum); } \
  CATENARY_NAMED S __dp2a_lo(words x, words y, S sum) {                                                          \
    for (int k = 0; k < 2; ++k) sum += (S)((S)ct__piece<H>(x, k) * (S)ct__piece<C>(y, k));                       \
    return sum;                                                                                                  \
  }                                                                                                              \
  CATENARY_NAMED S __dp2a_hi(words x, words y, S sum) {                                                          \
    for (int k = 0; k < 2; ++k) sum += (S)((S)ct__piece<H>(x, k) * (S)ct__piece<C>(y, k + 2));                   \
    return sum;                                                                                                  \
  }                                                                                                              \
  CATENARY_NAMED S __dp2a_lo(halves x, bytes y, S sum) {                                                         \
    return __dp2a_lo(ct_bits<words>(x), ct_bits<words>(y), sum);                                                 \
  }                                                                                                              \
  CATENARY_NAMED S __dp2a_hi(halves x, bytes y, S sum) { return __dp2a_hi(ct_bits<words>(x), ct_bits<words>(y), sum); }
CATENARY_DOT(int, signed char, short, int, char4, short2)
CATENARY_DOT(unsigned, unsigned char, unsigned short, unsigned, uchar4, ushort2)
#undef CATENARY_DOT

// ------------------------------------------------------------------ memory
// Loads and stores with cache hints, which are ignored. Due to the empty pack, a template of HIP's own is preferred.
#define CATENARY_LOAD(name)                  \
  template <class T, class... None>          \
  CATENARY_OWN T name(const T* p, None...) { \
    return *p;                               \
  }
CATENARY_LOAD(__ldca)
CATENARY_LOAD(__ldcg)
CATENARY_LOAD(__ldcs)
CATENARY_LOAD(__ldcv)
CATENARY_LOAD(__ldlu)
#undef CATENARY_LOAD
#define CATENARY_STORE(name)                                               \
  template <class T, class... None>                                        \
  CATENARY_OWN void name(T* p, typename ct_same<T>::type value, None...) { \
    *p = value;                                                            \
  }
CATENARY_STORE(__stwb)
CATENARY_STORE(__stcg)
CATENARY_STORE(__stcs)
CATENARY_STORE(__stwt)
#undef CATENARY_STORE

// ------------------------------------------------------------------ threads
CATENARY_NAMED void __nanosleep(unsigned) {}
CATENARY_NAMED void __trap() { __builtin_trap(); }
#ifndef assert
#  define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
#endif
