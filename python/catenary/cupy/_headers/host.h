// CUDA C++ for the processor's C++ compiler: the text before a kernel (_host.py), after the library's
// kernels/host.kernel, which defines how a kernel is called.
#define NDEBUG  // disables a kernel's assertions
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

#include <type_traits>

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

static inline void __syncthreads() { ct_wait(); }

// ------------------------------------------------------------------ atomic operations
template <class T>
struct ct_same {
  typedef T type;
};
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
// Mixed arguments convert to the wider type, as by CUDA's overloads. A class (float16) counts as float.
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

// Renames functions that the C library may also define.
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
// The modified Bessel functions of orders 0 and 1 by their power series, whose terms all have one sign.
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
static inline void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}
static inline void sincospif(float x, float* s, float* c) {
  *s = sinpi(x);
  *c = cospi(x);
}
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
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

// Functions of the library that C lacks.
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
