// The loops of Fourier transforms, compiled once for each instruction set; see core/cpu_features.h.
#include "catenary/backends/cpu/fft.h"

#include "catenary/device/fft_plan.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

using std::int64_t;

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
struct Simd {
  static constexpr int lanes = kVectorBytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  typedef T Unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};

#define CT_INLINE static inline __attribute__((always_inline))
#define CT_UNROLL _Pragma("GCC unroll 16")

/// V is T or a vector of it.
template <class V, class T>
CT_INLINE V load(const T* p) {
  if constexpr (sizeof(V) == sizeof(T))
    return *p;
  else
    return *reinterpret_cast<const typename Simd<T>::Unaligned*>(p);
}
template <class V, class T>
CT_INLINE void store(T* p, V x) {
  if constexpr (sizeof(V) == sizeof(T))
    *p = x;
  else
    *reinterpret_cast<typename Simd<T>::Unaligned*>(p) = x;
}

template <class V>
struct Complex {
  V re, im;
};
template <class V>
CT_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
CT_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {a.re - b.re, a.im - b.im};
}
/// times -i
template <class V>
CT_INLINE Complex<V> turned(Complex<V> a) {
  return {a.im, -a.re};
}
template <class V, class T>
CT_INLINE Complex<V> times(Complex<V> a, T re, T im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}

template <class V>
CT_INLINE void transform_4(Complex<V>& a, Complex<V>& b, Complex<V>& c, Complex<V>& d) {
  const Complex<V> s = a + c, t = a - c, u = b + d, v = turned(b - d);
  a = s + u;
  b = t + v;
  c = s - u;
  d = t - v;
}

/// The transform of R elements, in their place; of `radix` where R is 0. unit: the roots of unity of that radix.
template <class T, class V, int R>
CT_INLINE void transform(Complex<V>* x, [[maybe_unused]] int radix, [[maybe_unused]] const T* unit) {
  if constexpr (R == 2) {
    const Complex<V> a = x[0], b = x[1];
    x[0] = a + b;
    x[1] = a - b;
  } else if constexpr (R == 4) {
    transform_4(x[0], x[1], x[2], x[3]);
  } else if constexpr (R == 8) {
    const T half = static_cast<T>(0.70710678118654752440);
    transform_4(x[0], x[2], x[4], x[6]);
    transform_4(x[1], x[3], x[5], x[7]);
    const Complex<V> odd[4] = {x[1], times(x[3], half, -half), turned(x[5]), times(x[7], -half, -half)},
                     even[4] = {x[0], x[2], x[4], x[6]};
    CT_UNROLL for (int k = 0; k < 4; ++k) {
      x[k] = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  } else {
    // x[j] and x[r - j] share their cosines, and their sines but for the sign
    const int r = R ? R : radix, h = (r - 1) / 2;
    constexpr int kMost = ((R ? R : kMostRadix) - 1) / 2 + 1;
    Complex<V> sum[kMost], difference[kMost];
    const Complex<V> first = x[0];
    Complex<V> all = first;
    CT_UNROLL for (int j = 1; j <= h; ++j) {
      sum[j] = x[j] + x[r - j];
      difference[j] = x[j] - x[r - j];
      all = all + sum[j];
    }
    x[0] = all;
    CT_UNROLL for (int k = 1; k <= h; ++k) {
      Complex<V> even = first, odd{V{}, V{}};
      CT_UNROLL for (int j = 1; j <= h; ++j) {
        const int at = j * k % r;
        const T c = unit[2 * at], s = unit[2 * at + 1];
        even = {even.re + sum[j].re * c, even.im + sum[j].im * c};
        odd = {odd.re - difference[j].im * s, odd.im + difference[j].re * s};
      }
      x[k] = even + odd;
      x[r - k] = even - odd;
    }
  }
}

template <class T, class V, int R, bool twiddled>
CT_INLINE void butterfly(const FftPass& pass, int64_t from, int64_t to, const T* unit, const T* twiddles) {
  const int r = R ? R : pass.radix;
  const int64_t in_step = pass.stride * (pass.length / r), out_step = pass.stride;
  Complex<V> x[R ? R : kMostRadix];
  CT_UNROLL for (int j = 0; j < r; ++j) x[j] = {load<V>(static_cast<const T*>(pass.x_re) + from + j * in_step),
                                                load<V>(static_cast<const T*>(pass.x_im) + from + j * in_step)};
  transform<T, V, R>(x, r, unit);
  CT_UNROLL for (int k = 0; k < r; ++k) {
    if (twiddled && k > 0) x[k] = times(x[k], twiddles[2 * k], twiddles[2 * k + 1]);
    store<V>(static_cast<T*>(pass.y_re) + to + k * out_step, x[k].re);
    store<V>(static_cast<T*>(pass.y_im) + to + k * out_step, x[k].im);
  }
}

template <class T, int R, bool twiddled>
CT_INLINE void neighbours(const FftPass& pass, int64_t p, const T* unit, const T* twiddles) {
  const int64_t from = pass.stride * p, to = from * pass.radix;
  int64_t q = 0;
  for (; q + Simd<T>::lanes <= pass.stride; q += Simd<T>::lanes)
    butterfly<T, typename Simd<T>::Vector, R, twiddled>(pass, from + q, to + q, unit, twiddles);
  for (; q < pass.stride; ++q) butterfly<T, T, R, twiddled>(pass, from + q, to + q, unit, twiddles);
}

template <class T, int R>
void run(const FftPass& pass) {
  const auto* roots = static_cast<const T*>(pass.roots);
  const int r = pass.radix;
  T unit[2 * (R ? R : kMostRadix)], twiddles[2 * (R ? R : kMostRadix)];
  const auto pick = [&](T* to, int64_t step) {
    for (int j = 0; j < r; ++j) {
      to[2 * j] = roots[2 * j * step];
      to[2 * j + 1] = roots[2 * j * step + 1];
    }
  };
  pick(unit, pass.n / r);
  neighbours<T, R, false>(pass, 0, unit, unit);
  for (int64_t p = 1; p < pass.length / r; ++p) {
    pick(twiddles, p * (pass.n / pass.length));
    neighbours<T, R, true>(pass, p, unit, twiddles);
  }
}

template <class T>
void run(const FftPass& pass) {
  switch (pass.radix) {
    case 2:
      return run<T, 2>(pass);
    case 3:
      return run<T, 3>(pass);
    case 4:
      return run<T, 4>(pass);
    case 5:
      return run<T, 5>(pass);
    case 7:
      return run<T, 7>(pass);
    case 8:
      return run<T, 8>(pass);
    case 11:
      return run<T, 11>(pass);
    default:
      return run<T, 0>(pass);
  }
}

template <class T>
void multiply(T* re, T* im, const T* table, int64_t n, int64_t beside) {
  for (int64_t k = 0; k < n; ++k) {
    const T c = table[2 * k], s = table[2 * k + 1];
    T *a = re + k * beside, *b = im + k * beside;
#pragma GCC ivdep
    for (int64_t q = 0; q < beside; ++q) {
      const T x = a[q], y = b[q];
      a[q] = x * c - y * s;
      b[q] = x * s + y * c;
    }
  }
}

}  // namespace

void fft_pass(bool f64, const FftPass& pass) { return f64 ? run<double>(pass) : run<float>(pass); }

void fft_multiply(bool f64, void* re, void* im, const void* table, std::int64_t n, std::int64_t beside) {
  if (f64) {
    multiply(static_cast<double*>(re), static_cast<double*>(im), static_cast<const double*>(table), n, beside);
  } else {
    multiply(static_cast<float*>(re), static_cast<float*>(im), static_cast<const float*>(table), n, beside);
  }
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
