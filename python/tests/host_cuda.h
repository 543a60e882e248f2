// CUDA C++ for a host's compiler, one work-item after the other: what carray.cuh is checked with where there is no
// card.
#define NDEBUG  // a kernel's assertions are no part of what is compared
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#define CATENARY_HAS_STDINT
#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(n)

static unsigned short ct_f32_to_half(float x) {
  _Float16 h = static_cast<_Float16>(x);
  unsigned short bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}
static float ct_half_to_f32(unsigned short bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return static_cast<float>(h);
}

static struct { unsigned x, y, z; } threadIdx, blockIdx, blockDim = {1, 1, 1}, gridDim = {1, 1, 1};

template <class T>
T atomicAdd(T* p, T value) {
  const T before = *p;
  *p = before + value;
  return before;
}
static unsigned atomicCAS(unsigned* p, unsigned expected, unsigned value) {
  const unsigned before = *p;
  if (before == expected) *p = value;
  return before;
}
// CUDA's overloads: of arguments of two types the wider one decides.
template <class A, class B>
std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) return std::fmax(T(a), T(b));
  return T(a) > T(b) ? T(a) : T(b);
}
template <class A, class B>
std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) return std::fmin(T(a), T(b));
  return T(a) < T(b) ? T(a) : T(b);
}
template <class T>
T rsqrt(T x) {
  return 1 / std::sqrt(x);
}
// the C library declares functions of these names
static float cuda_expf(float x) { return std::exp(x); }
static float cuda_logf(float x) { return std::log(x); }
#define __expf cuda_expf
#define __logf cuda_logf
static int __float_as_int(float x) {
  int bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
static float __int_as_float(int bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
