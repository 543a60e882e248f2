// Included in front of a kernel's text when it is compiled for the host. Defines the CUDA and HIP names that preludes
// and test kernels use, except __global__ and block-size attributes, which compiler.cpp reads. A device runs one thread
// and has its own copy of the code, so shared memory is plain static memory and an atomic operation is a plain one.
#define SIM_VECTORS(T, name)                                                \
  struct name##1 {                                                          \
    T x;                                                                    \
  };                                                                        \
  struct alignas(2 * sizeof(T)) name##2 {                                   \
    T x, y;                                                                 \
  };                                                                        \
  struct name##3 {                                                          \
    T x, y, z;                                                              \
  };                                                                        \
  struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 {              \
    T x, y, z, w;                                                           \
  };                                                                        \
  static inline name##1 make_##name##1(T x) { return {x}; }                 \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SIM_VECTORS(signed char, char)
SIM_VECTORS(unsigned char, uchar)
SIM_VECTORS(short, short)
SIM_VECTORS(unsigned short, ushort)
SIM_VECTORS(int, int)
SIM_VECTORS(unsigned, uint)
SIM_VECTORS(long, long)
SIM_VECTORS(unsigned long, ulong)
SIM_VECTORS(long long, longlong)
SIM_VECTORS(unsigned long long, ulonglong)
SIM_VECTORS(float, float)
SIM_VECTORS(double, double)
#undef SIM_VECTORS
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct SimState {
  uint3 thread, block, block_size, grid;
  void (*sim_barrier)();
  void* dynamic_memory;  // of a block, for `extern __shared__` arrays
};
extern "C" {
SimState sim_state;
float sqrtf(float);
float floorf(float);
float ceilf(float);
float truncf(float);
float rintf(float);
float fmaf(float, float, float);
double sqrt(double);
double floor(double);
double ceil(double);
double trunc(double);
double rint(double);
double fma(double, double, double);
double nan(const char*);
float nanf(const char*);
int printf(const char*, ...);
}
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())  // built into NVRTC
// Built into hipRTC. NVRTC lacks them, so cupy's kernels define them there.
#ifndef SIM_OWN_HALF
typedef _Float16 __half;
typedef __half half;
static inline float __half2float(__half x) { return x; }
template <class T>
static inline __half __float2half(T x) {
  return (__half)x;
}
#endif
// C functions that the vendors' compilers offer for float under both names.
#define SIM_OF_ONE(name)           \
  extern "C" float name##f(float); \
  extern "C" double name(double);  \
  static inline float name(float x) { return name##f(x); }
#define SIM_OF_TWO(name)                  \
  extern "C" float name##f(float, float); \
  extern "C" double name(double, double); \
  static inline float name(float x, float y) { return name##f(x, y); }
SIM_OF_ONE(exp)
SIM_OF_ONE(exp2)
SIM_OF_ONE(expm1)
SIM_OF_ONE(log)
SIM_OF_ONE(log2)
SIM_OF_ONE(log10)
SIM_OF_ONE(log1p)
SIM_OF_ONE(sin)
SIM_OF_ONE(cos)
SIM_OF_ONE(tan)
SIM_OF_ONE(tanh)
SIM_OF_ONE(erf)
SIM_OF_ONE(erfc)
SIM_OF_ONE(lgamma)
SIM_OF_ONE(fabs)
SIM_OF_ONE(round)
SIM_OF_TWO(pow)
SIM_OF_TWO(fmod)
SIM_OF_TWO(fmin)
SIM_OF_TWO(fmax)
SIM_OF_TWO(atan2)
SIM_OF_TWO(copysign)
#define SIM_OF_ALL(type)                                           \
  static inline type min(type x, type y) { return y < x ? y : x; } \
  static inline type max(type x, type y) { return x < y ? y : x; } \
  static inline type abs(type x) { return x < 0 ? (type)-x : x; }
SIM_OF_ALL(int)
SIM_OF_ALL(unsigned)
SIM_OF_ALL(long long)
SIM_OF_ALL(unsigned long long)
SIM_OF_ALL(float)
SIM_OF_ALL(double)
static inline float sqrt(float x) { return sqrtf(x); }
static inline float floor(float x) { return floorf(x); }
static inline float ceil(float x) { return ceilf(x); }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline bool isnan(double x) { return x != x; }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline float __expf(float x) { return expf(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __fdividef(float x, float y) { return x / y; }
template <class T>
static inline T __ldg(const T* p) {
  return *p;
}
#define threadIdx sim_state.thread
#define blockIdx sim_state.block
#define blockDim sim_state.block_size
#define gridDim sim_state.grid
#define __syncthreads() sim_state.sim_barrier()
#define __device__
#define __shared__ static
#define __constant__
#define __forceinline__ inline

template <class To, class From>
static inline To sim_bits(From x) {
  To to;
  __builtin_memcpy(&to, &x, sizeof(to));
  return to;
}
#define __uint_as_float(x) sim_bits<float>((unsigned)(x))
#define __float_as_uint(x) sim_bits<unsigned>((float)(x))
#define __int_as_float(x) sim_bits<float>((int)(x))
#define __float_as_int(x) sim_bits<int>((float)(x))
#define __longlong_as_double(x) sim_bits<double>((long long)(x))
#define __double_as_longlong(x) sim_bits<long long>((double)(x))

// Definitions that intrinsics.h needs, which is included next if a text does not compile without it
#ifdef SIM_FUNCTIONS
#  define ct_bits sim_bits
template <class T>
struct ct_same {
  typedef T type;
};
template <class T, class F>
static inline T ct_atomically(T* p, F next_of) {
  T old = *p;
  *p = next_of(old);
  return old;
}
SIM_OF_ONE(acos)
SIM_OF_ONE(acosh)
SIM_OF_ONE(asin)
SIM_OF_ONE(asinh)
SIM_OF_ONE(atan)
SIM_OF_ONE(atanh)
SIM_OF_ONE(cbrt)
SIM_OF_ONE(cosh)
SIM_OF_ONE(sinh)
SIM_OF_ONE(logb)
SIM_OF_ONE(nearbyint)
SIM_OF_ONE(tgamma)
SIM_OF_TWO(fdim)
SIM_OF_TWO(hypot)
SIM_OF_TWO(nextafter)
SIM_OF_TWO(remainder)
extern "C" {
long labs(long);
long long llabs(long long);
int ilogb(double);
int ilogbf(float);
long lrint(double);
long long llrint(double);
long long llrintf(float);
long lround(double);
long long llround(double);
long long llroundf(float);
double ldexp(double, int);
float ldexpf(float, int);
double scalbn(double, int);
float scalbnf(float, int);
double scalbln(double, long);
float scalblnf(float, long);
}
#endif

// As CUDA's overloads, an atomic function converts its operand to the type of the memory.
template <class T>
struct sim_same {
  using type = T;
};
#define SIM_ATOMIC(name, expression)                                 \
  template <class T>                                                 \
  static inline T atomic##name(T* p, typename sim_same<T>::type x) { \
    T old = *p;                                                      \
    *p = (expression);                                               \
    return old;                                                      \
  }
SIM_ATOMIC(Add, (T)(old + x))
SIM_ATOMIC(Sub, (T)(old - x))
SIM_ATOMIC(Or, (T)(old | x))
SIM_ATOMIC(Xor, (T)(old ^ x))
SIM_ATOMIC(And, (T)(old& x))
SIM_ATOMIC(Min, x < old ? x : old)
SIM_ATOMIC(Max, x > old ? x : old)
SIM_ATOMIC(Exch, x)
template <class T>
static inline T atomicCAS(T* p, T expected, T x) {
  T old = *p;
  if (old == expected) *p = x;
  return old;
}

// PTX's conversions of 16-bit floats, by integer operations on the IEEE 754 format.
static inline float sim_f32_of_f16(unsigned short h) {
  unsigned sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 0x3ffu;
  if (exponent == 31u) return sim_bits<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent) return sim_bits<float>(sign | (exponent + 112u) << 23 | mantissa << 13);
  float small = (float)mantissa * 5.9604644775390625e-8f;
  return sign ? -small : small;
}
static inline unsigned short sim_f16_of_f32(float f) {
  unsigned bits = sim_bits<unsigned>(f), sign = (bits >> 16) & 0x8000u, x = bits & 0x7fffffffu;
  if (x > 0x7f800000u) return (unsigned short)(sign | 0x7fffu);
  if (x >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (x < 0x38800000u) {
    float magic = sim_bits<float>(x) + 0.5f;  // adding 0.5 aligns the last bit with that of subnormal float16 numbers
    return (unsigned short)(sign | (sim_bits<unsigned>(magic) - 0x3f000000u));
  }
  return (unsigned short)(sign | ((x - 0x38000000u + 0xfffu + ((x >> 13) & 1u)) >> 13));
}
