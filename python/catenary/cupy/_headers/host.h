// CUDA C++ for the processor's C++ compiler: what stands before a kernel's text there (_host.py). A kernel does one of
// several parts of its loop, by number: gridDim.x parts, of which this is blockIdx.x.
#define NDEBUG  // a kernel's assertions say nothing
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef CATENARY_PRINTF
#  include <stdio.h>
#endif
#ifdef CATENARY_BARRIERS
#  include <sys/mman.h>
#  include <ucontext.h>
#endif

#include <type_traits>
#include <utility>

#define CATENARY_HAS_STDINT
#define __device__
#define __managed__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __global__
#define __constant__
#define __shared__ static thread_local
#define __launch_bounds__(n)
#define __align__(n) __attribute__((aligned(n)))
#ifndef __clang__
#  define __builtin_assume(condition)
#endif

struct ct_place {
  unsigned x, y, z;
};
static thread_local char* ct_dynamic;  // memory of a block, of a launch's size
static thread_local ct_place threadIdx, blockIdx, blockDim = {1, 1, 1}, gridDim = {1, 1, 1};

// The same bits in another type.
template <class To, class From>
static inline To ct_bits(From from) {
  To to;
  static_assert(sizeof to == sizeof from, "bits of another size");
  memcpy(&to, &from, sizeof to);
  return to;
}

// 16-bit floats by hand: compilers before GCC 12 have no type for them.
static inline float ct_half_to_f32(unsigned short h) {
  const unsigned sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
  if (rest < 0x400u) return ct_bits<float>(sign | ct_bits<unsigned>(static_cast<float>(rest) * 0x1p-24f));
  return ct_bits<float>(sign | ((rest << 13) + (rest < 0x7c00u ? 112u << 23 : 224u << 23)));
}
static inline unsigned short ct_f32_to_half(float x) {
  const unsigned bits = ct_bits<unsigned>(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);
  if (rest >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);  // 65520 and what lies above
  if (rest < 0x38800000u)                                                       // 2^-14
    return static_cast<unsigned short>(sign | static_cast<unsigned>(rintf(ct_bits<float>(rest) * 0x1p24f)));
  return static_cast<unsigned short>(sign | ((rest + 0xfffu + (rest >> 13 & 1u)) >> 13) - (112u << 10));
}

// ------------------------------------------------------------------ atomic operations
template <class T>
struct ct_same {
  typedef T type;
};
template <class T, class F>
static inline T ct_atomically(T* p, F next_of) {
  T old, next;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do {
    next = next_of(old);
  } while (!__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
#define CATENARY_ATOMIC(name, next)                                       \
  template <class T>                                                      \
  static inline T name(T* p, typename ct_same<T>::type value) {           \
    return ct_atomically(p, [=](T old) { return static_cast<T>(next); }); \
  }
CATENARY_ATOMIC(atomicAdd, old + value)
CATENARY_ATOMIC(atomicSub, old - value)
CATENARY_ATOMIC(atomicMax, old < value ? value : old)
CATENARY_ATOMIC(atomicMin, value < old ? value : old)
CATENARY_ATOMIC(atomicAnd, old& value)
CATENARY_ATOMIC(atomicOr, old | value)
CATENARY_ATOMIC(atomicXor, old ^ value)
CATENARY_ATOMIC(atomicExch, value)
#undef CATENARY_ATOMIC
template <class T>
static inline T atomicCAS(T* p, typename ct_same<T>::type expected, typename ct_same<T>::type value) {
  return ct_atomically(p, [=](T old) { return old == expected ? value : old; });
}

// ------------------------------------------------------------------ functions
// Of arguments of two types the wider one decides, as by CUDA's overloads; a class (float16) is a float.
template <class A, class B>
struct ct_wider {
  template <class T>
  using number = typename std::conditional<std::is_arithmetic<T>::value, T, float>::type;
  typedef typename std::common_type<number<A>, number<B>>::type type;
};
template <class A, class B>
static inline typename ct_wider<A, B>::type max(A a, B b) {
  typedef typename ct_wider<A, B>::type T;
  const T x = a, y = b;
  if constexpr (std::is_floating_point<T>::value) return fmax(x, y);
  return x > y ? x : y;
}
template <class A, class B>
static inline typename ct_wider<A, B>::type min(A a, B b) {
  typedef typename ct_wider<A, B>::type T;
  const T x = a, y = b;
  if constexpr (std::is_floating_point<T>::value) return fmin(x, y);
  return x < y ? x : y;
}

// Names that a C library may have, too, are other names here.
#define rsqrt ct_cuda_rsqrt
#define rsqrtf ct_cuda_rsqrt
#define rcbrt ct_cuda_rcbrt
#define rcbrtf ct_cuda_rcbrt
#define sinpi ct_cuda_sinpi
#define sinpif ct_cuda_sinpi
#define cospi ct_cuda_cospi
#define cospif ct_cuda_cospi
#define exp10 ct_cuda_exp10
#define exp10f ct_cuda_exp10
#define __expf ct_cuda_expf
#define __logf ct_cuda_logf
#define __sinf ct_cuda_sinf
#define __cosf ct_cuda_cosf
#define __tanf ct_cuda_tanf
#define __log2f ct_cuda_log2f
#define __log10f ct_cuda_log10f
#define __exp10f ct_cuda_exp10
#define __powf ct_cuda_powf
template <class T>
using ct_real = typename std::conditional<std::is_integral<T>::value, double, typename ct_wider<T, T>::type>::type;
#define CATENARY_REAL(name, expression)          \
  template <class T>                             \
  static inline ct_real<T> ct_cuda_##name(T a) { \
    const ct_real<T> x = a;                      \
    return expression;                           \
  }
CATENARY_REAL(rsqrt, 1 / sqrt(x))
CATENARY_REAL(rcbrt, 1 / cbrt(x))
CATENARY_REAL(exp10, pow(static_cast<ct_real<T>>(10), x))
CATENARY_REAL(sinpi, sin(static_cast<ct_real<T>>(M_PI) * fmod(x, static_cast<ct_real<T>>(2))))
CATENARY_REAL(cospi, cos(static_cast<ct_real<T>>(M_PI) * fmod(x, static_cast<ct_real<T>>(2))))
#undef CATENARY_REAL
// The modified Bessel functions of order 0 and 1 by their power series, whose terms all have one sign.
#define CATENARY_BESSEL(name, first, order)                           \
  template <class T>                                                  \
  static inline ct_real<T> name(T a) {                                \
    const double x = a, square = x * x / 4;                           \
    double term = first, sum = first;                                 \
    for (int k = 1; term > sum * 1e-17 && sum < HUGE_VAL; ++k)        \
      sum += term *= square / (static_cast<double>(k) * (k + order)); \
    return order ? x * sum : sum;                                     \
  }                                                                   \
  static inline float name##f(float x) { return name(x); }
CATENARY_BESSEL(cyl_bessel_i0, 1.0, 0)
CATENARY_BESSEL(cyl_bessel_i1, 0.5, 1)
#undef CATENARY_BESSEL
static inline float __expf(float x) { return expf(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __log10f(float x) { return log10f(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __frsqrt_rn(float x) { return 1 / sqrtf(x); }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
static inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
static inline int __float_as_int(float x) { return ct_bits<int>(x); }
static inline float __int_as_float(int x) { return ct_bits<float>(x); }
static inline unsigned __float_as_uint(float x) { return ct_bits<unsigned>(x); }
static inline float __uint_as_float(unsigned x) { return ct_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return ct_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return ct_bits<double>(x); }
static inline int __float2int_rn(float x) { return static_cast<int>(rintf(x)); }
static inline int __float2int_rz(float x) { return static_cast<int>(x); }
static inline int __float2int_ru(float x) { return static_cast<int>(ceilf(x)); }
static inline int __float2int_rd(float x) { return static_cast<int>(floorf(x)); }
static inline float __int2float_rn(int x) { return static_cast<float>(x); }
static inline float __half2float(float x) { return x; }
static inline float __float2half(float x) { return ct_half_to_f32(ct_f32_to_half(x)); }
static inline float __float2half_rn(float x) { return __float2half(x); }
static inline float __habs(float x) { return fabsf(x); }
static inline float __hmin(float x, float y) { return fminf(x, y); }
static inline float __hmax(float x, float y) { return fmaxf(x, y); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
static inline int __ffsll(unsigned long long x) { return __builtin_ffsll(static_cast<long long>(x)); }
static inline int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
static inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
static inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
template <class T>
static inline T __ldg(const T* p) {
  return *p;
}

// ------------------------------------------------------------------ vectors
#define CATENARY_VECTORS(name, type)                                                 \
  struct name##1 {                                                                   \
    type x;                                                                          \
  };                                                                                 \
  struct alignas(2 * sizeof(type)) name##2 {                                         \
    type x, y;                                                                       \
  };                                                                                 \
  struct name##3 {                                                                   \
    type x, y, z;                                                                    \
  };                                                                                 \
  struct alignas(sizeof(type) < 4 ? 4 * sizeof(type) : 16) name##4 {                 \
    type x, y, z, w;                                                                 \
  };                                                                                 \
  static inline name##1 make_##name##1(type x) { return {x}; }                       \
  static inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
CATENARY_VECTORS(char, signed char)
CATENARY_VECTORS(uchar, unsigned char)
CATENARY_VECTORS(short, short)
CATENARY_VECTORS(ushort, unsigned short)
CATENARY_VECTORS(int, int)
CATENARY_VECTORS(uint, unsigned)
CATENARY_VECTORS(long, long)
CATENARY_VECTORS(ulong, unsigned long)
CATENARY_VECTORS(longlong, long long)
CATENARY_VECTORS(ulonglong, unsigned long long)
CATENARY_VECTORS(float, float)
CATENARY_VECTORS(double, double)
#undef CATENARY_VECTORS

// What C lacks and the library has.
#ifdef CATENARY_SPECIAL
#  include "catenary/ops/math.h"
#  define CATENARY_SPECIAL_FUNCTION(name, own)                                                        \
    template <class T>                                                                                \
    static inline ct_real<T> name(T x) {                                                              \
      if constexpr (std::is_same<ct_real<T>, float>::value) return catenary::math::ct_##own##_f32(x); \
      return catenary::math::ct_##own##_f64(x);                                                       \
    }                                                                                                 \
    static inline float name##f(float x) { return catenary::math::ct_##own##_f32(x); }
CATENARY_SPECIAL_FUNCTION(erfinv, erfinv)
CATENARY_SPECIAL_FUNCTION(erfcinv, erfcinv)
CATENARY_SPECIAL_FUNCTION(erfcx, erfcx)
CATENARY_SPECIAL_FUNCTION(normcdf, ndtr)
CATENARY_SPECIAL_FUNCTION(normcdfinv, ndtri)
CATENARY_SPECIAL_FUNCTION(log_ndtr, log_ndtr)
#  undef CATENARY_SPECIAL_FUNCTION
#endif

#ifdef CATENARY_OF_COMPLEX
#  include "catenary/ops/complex.h"
#  define CATENARY_MATH ::catenary::math::
#endif

// ------------------------------------------------------------------ calls
/// Calls a kernel with the values that lie at these places.
template <class... A, size_t... I>
static inline void ct_call(void (*kernel)(A...), const void* const* values, std::index_sequence<I...>) {
  kernel(*static_cast<const typename std::remove_const<A>::type*>(values[I])...);
}
template <class... A>
static inline void ct_call(void (*kernel)(A...), const void* const* values) {
  ct_call(kernel, values, std::index_sequence_for<A...>());
}

/// One of several parts of a kernel's loop.
template <class Kernel>
static inline void ct_part(Kernel kernel, const void* const* values, long long part, long long parts) {
  blockIdx.x = static_cast<unsigned>(part);
  gridDim.x = static_cast<unsigned>(parts);
  ct_call(kernel, values);
}

#ifdef CATENARY_BARRIERS
/// The threads of a block that wait for each other: each has a stack of its own, and they take turns, from one barrier
/// to the next.
class ct_turns {
 public:
  /// Calls f for each thread of a block. A block has 1024 threads at most.
  template <class F>
  void run(const F& f) {
    const unsigned count = blockDim.x * blockDim.y * blockDim.z;
    if (!memory_) {
      bytes_ = count * (kStack + sizeof(ucontext_t) + 1);
      memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory_ == MAP_FAILED) abort();
      stacks_ = static_cast<char*>(memory_);
      threads_ = reinterpret_cast<ucontext_t*>(stacks_ + count * kStack);
      done_ = reinterpret_cast<bool*>(threads_ + count);
    }
    call_ = [](const void* f) { (*static_cast<const F*>(f))(); };
    f_ = &f;
    for (unsigned k = 0; k < count; ++k) {
      getcontext(&threads_[k]);
      threads_[k].uc_stack.ss_sp = stacks_ + k * kStack;
      threads_[k].uc_stack.ss_size = kStack;
      threads_[k].uc_link = &block_;
      done_[k] = false;
      makecontext(&threads_[k], &ct_turns::begin, 0);
    }
    for (unsigned left = count; left;) {
      for (current_ = 0; current_ < count; ++current_) {
        if (done_[current_]) continue;
        threadIdx = {current_ % blockDim.x, current_ / blockDim.x % blockDim.y, current_ / blockDim.x / blockDim.y};
        swapcontext(&block_, &threads_[current_]);
        if (done_[current_]) --left;
      }
    }
  }
  void wait() { swapcontext(&threads_[current_], &block_); }
  /// Gives the stacks back once all blocks of a launch are done: each kernel has its own, and there may be thousands of
  /// them.
  void end() {
    if (memory_) munmap(memory_, bytes_);
    memory_ = nullptr;
  }

 private:
  static void begin();
  static constexpr size_t kStack = 256 * 1024;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
  char* stacks_ = nullptr;
  ucontext_t block_, *threads_ = nullptr;
  bool* done_ = nullptr;
  unsigned current_ = 0;
  void (*call_)(const void*) = nullptr;
  const void* f_ = nullptr;
};
static thread_local ct_turns ct_turn;
static inline void __syncthreads() { ct_turn.wait(); }
void ct_turns::begin() {
  ct_turn.call_(ct_turn.f_);
  ct_turn.done_[ct_turn.current_] = true;
}
#endif

/// How many values a kernel takes, and the bytes of each.
template <class... A>
static inline const long long* ct_sizes(void (*)(A...)) {
  static const long long all[] = {sizeof...(A), static_cast<long long>(sizeof(A))...};
  return all;
}

/// One of several parts of a whole kernel's blocks. Behind the kernel's values lie its grid and its block, of three
/// numbers each, and the bytes of memory that each block has beside what the kernel declares.
template <class... A>
static inline void ct_whole(void (*kernel)(A...), const void* const* values, long long part, long long parts) {
  const auto number = [=](size_t k) { return *static_cast<const long long*>(values[sizeof...(A) + k]); };
  const auto size = [=](size_t k) { return static_cast<unsigned>(number(k)); };
  gridDim = {size(0), size(1), size(2)};
  blockDim = {size(3), size(4), size(5)};
  const size_t bytes = static_cast<size_t>(number(6));
  if (bytes && !(ct_dynamic = static_cast<char*>(aligned_alloc(64, (bytes + 63) / 64 * 64)))) abort();
  const long long x = gridDim.x, y = gridDim.y, blocks = x * y * gridDim.z;
  for (long long b = blocks * part / parts; b < blocks * (part + 1) / parts; ++b) {
    blockIdx = {static_cast<unsigned>(b % x), static_cast<unsigned>(b / x % y), static_cast<unsigned>(b / x / y)};
#ifdef CATENARY_BARRIERS
    ct_turn.run([=] { ct_call(kernel, values); });
#else
    for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z)
      for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y)
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) ct_call(kernel, values);
#endif
  }
#ifdef CATENARY_BARRIERS
  ct_turn.end();
#endif
  free(ct_dynamic);
  ct_dynamic = nullptr;
}
