// The loops of Fourier transforms, compiled for each instruction set (see core/cpu_features.h).
#include "catenary/backends/cpu/fft/fft.h"

#include <utility>

#include "catenary/backends/cpu/vector_bytes.h"
#include "catenary/core/loop_hints.h"
#include "catenary/device/fft_plan.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

using std::int64_t;

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

/// Transforms R elements in place, or `radix` elements if R is 0. unit: the roots of unity of that radix.
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
    // x[j] and x[r - j] have equal cosines and opposite sines
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
CT_INLINE void butterfly(const FftPass& pass, int64_t p, int64_t q, const T* unit, const T* twiddles) {
  const int r = R ? R : pass.radix;
  const int64_t m = pass.length / r, from = pass.stride * p + q, to = pass.stride * p * r + q;
  const int64_t in_step = pass.stride * m, out_step = pass.stride;
  Complex<V> x[R ? R : kMostRadix];
  if (const auto* const factors = static_cast<const T*>(pass.factors)) {
    CT_UNROLL for (int j = 0; j < r; ++j) {
      const int64_t t = p + m * j;
      x[j] = {V{}, V{}};
      if (t >= pass.count) continue;
      x[j] = {load<V>(static_cast<const T*>(pass.x_re) + from + j * in_step),
              load<V>(static_cast<const T*>(pass.x_im) + from + j * in_step)};
      x[j] = times(x[j], factors[2 * t], static_cast<T>(pass.sign) * factors[2 * t + 1]);
    }
  } else {
    CT_UNROLL for (int j = 0; j < r; ++j) x[j] = {load<V>(static_cast<const T*>(pass.x_re) + from + j * in_step),
                                                  load<V>(static_cast<const T*>(pass.x_im) + from + j * in_step)};
  }
  transform<T, V, R>(x, r, unit);
  CT_UNROLL for (int k = 0; k < r; ++k) {
    if (twiddled && k > 0) x[k] = times(x[k], twiddles[2 * k], twiddles[2 * k + 1]);
    store<V>(static_cast<T*>(pass.y_re) + to + k * out_step, x[k].re);
    store<V>(static_cast<T*>(pass.y_im) + to + k * out_step, x[k].im);
  }
}

template <class T, int R, bool twiddled>
CT_INLINE void neighbours(const FftPass& pass, int64_t p, const T* unit, const T* twiddles) {
  int64_t q = 0;
  for (; q + Simd<T>::lanes <= pass.stride; q += Simd<T>::lanes)
    butterfly<T, typename Simd<T>::Vector, R, twiddled>(pass, p, q, unit, twiddles);
  for (; q < pass.stride; ++q) butterfly<T, T, R, twiddled>(pass, p, q, unit, twiddles);
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
    CT_INDEPENDENT
    for (int64_t q = 0; q < beside; ++q) {
      const T x = a[q], y = b[q];
      a[q] = x * c - y * s;
      b[q] = x * s + y * c;
    }
  }
}

template <class T>
void turn(T* re, T* im, const T* table, int64_t step, const T* turn_re, const T* turn_im, int64_t n, int64_t beside) {
  for (int64_t k = 0; k < n; ++k) {
    const T c = table[2 * k * step], s = table[2 * k * step + 1];
    T *a = re + k * beside, *b = im + k * beside;
    const T *u = turn_re + k * beside, *v = turn_im + k * beside;
    CT_INDEPENDENT
    for (int64_t q = 0; q < beside; ++q) {
      const T x = a[q], y = b[q], w = u[q] * c - v[q] * s, z = u[q] * s + v[q] * c;
      a[q] = x * w - y * z;
      b[q] = x * z + y * w;
    }
  }
}

// Vectors of C complex numbers with alternating real and imaginary parts.

template <class T>
using Vector = typename Simd<T>::Vector;
template <class T>
using Lanes = std::make_integer_sequence<int, Simd<T>::lanes>;

/// Extracts the real (part 0) or imaginary (1) parts from two vectors of complex numbers.
template <class T, int part, int... e>
CT_INLINE Vector<T> one_part(Vector<T> a, Vector<T> b, std::integer_sequence<int, e...>) {
  return __builtin_shufflevector(a, b, (2 * e + part)...);
}
/// Interleaves real and imaginary parts, and returns the first (half 0) or second vector.
template <class T, int half, int... e>
CT_INLINE Vector<T> both_parts(Vector<T> re, Vector<T> im, std::integer_sequence<int, e...>) {
  return __builtin_shufflevector(re, im, ((e % 2 ? Simd<T>::lanes : 0) + (half * Simd<T>::lanes + e) / 2)...);
}
/// One step of transposing a square of S × S blocks of complex numbers: returns the new upper (0) or lower (1) rows of
/// two vectors.
template <class T, int S, int lower, int... e>
CT_INLINE Vector<T> exchanged(Vector<T> a, Vector<T> b, std::integer_sequence<int, e...>) {
  constexpr int L = Simd<T>::lanes;
  return __builtin_shufflevector(a, b, (lower ? (e / 2 & S ? L + e : e + 2 * S) : (e / 2 & S ? L + e - 2 * S : e))...);
}
template <class T, int S = 1>
CT_INLINE void transpose(Vector<T>* rows) {
  constexpr int C = Simd<T>::lanes / 2;
  if constexpr (S < C) {
    CT_UNROLL for (int r = 0; r < C; ++r) {
      if (r & S) continue;
      const Vector<T> a = rows[r], b = rows[r + S];
      rows[r] = exchanged<T, S, 0>(a, b, Lanes<T>());
      rows[r + S] = exchanged<T, S, 1>(a, b, Lanes<T>());
    }
    transpose<T, 2 * S>(rows);
  }
}

/// Loads the transforms from `begin` on, element by element.
template <class T>
void load_each(const FftPart& from, int64_t n, int64_t begin, int64_t beside, T* part) {
  if (!from.first) {
    for (int64_t t = 0; t < n; ++t)
      for (int64_t q = begin; q < beside; ++q) part[t * beside + q] = T(0);
    return;
  }
  int64_t at[Simd<T>::lanes];
  for (int64_t q = begin; q < beside; q += Simd<T>::lanes) {
    const int count = static_cast<int>(beside - q < Simd<T>::lanes ? beside - q : Simd<T>::lanes);
    for (int k = 0; k < count; ++k) at[k] = from.at(q + k);
    for (int64_t t = 0; t < n; ++t) {
      const T* const row = static_cast<const T*>(from.first) + t * from.step;
      for (int k = 0; k < count; ++k) part[t * beside + q + k] = row[at[k]];
    }
  }
}
template <class T>
void store_each(const T* part, int64_t n, int64_t begin, int64_t beside, T scale, const FftPart& to) {
  int64_t at[Simd<T>::lanes];
  for (int64_t q = begin; q < beside; q += Simd<T>::lanes) {
    const int count = static_cast<int>(beside - q < Simd<T>::lanes ? beside - q : Simd<T>::lanes);
    for (int k = 0; k < count; ++k) at[k] = to.at(q + k);
    for (int64_t t = 0; t < n; ++t) {
      T* const row = static_cast<T*>(to.first) + t * to.step;
      for (int k = 0; k < count; ++k) row[at[k]] = part[t * beside + q + k] * scale;
    }
  }
}

/// Loads as many transforms with alternating parts as fill vectors. `re` is the first part.
template <class T>
void load_pairs(const FftPart& from, int64_t n, int64_t beside, T* re, T* im) {
  constexpr int L = Simd<T>::lanes, C = L / 2;
  const T* const first = static_cast<const T*>(from.first);
  const int64_t whole = beside / L * L;
  if (from.near == 2) {
    for (int64_t t = 0; t < n; ++t)
      for (int64_t q = 0; q < whole; q += L) {
        const T* p = first + t * from.step + 2 * q;
        const auto a = load<Vector<T>>(p), b = load<Vector<T>>(p + L);
        store(re + t * beside + q, one_part<T, 0>(a, b, Lanes<T>()));
        store(im + t * beside + q, one_part<T, 1>(a, b, Lanes<T>()));
      }
  } else {
    for (int64_t q = 0; q < whole; q += L) {
      int64_t t = 0;
      for (; t + C <= n; t += C) {
        Vector<T> rows[L];
        const T* p = first + q * from.near + 2 * t;
        CT_UNROLL for (int r = 0; r < L; ++r) rows[r] = load<Vector<T>>(p + r * from.near);
        transpose<T>(rows);
        transpose<T>(rows + C);
        CT_UNROLL for (int k = 0; k < C; ++k) {
          store(re + (t + k) * beside + q, one_part<T, 0>(rows[k], rows[C + k], Lanes<T>()));
          store(im + (t + k) * beside + q, one_part<T, 1>(rows[k], rows[C + k], Lanes<T>()));
        }
      }
      for (; t < n; ++t)
        for (int r = 0; r < L; ++r) {
          re[t * beside + q + r] = first[(q + r) * from.near + 2 * t];
          im[t * beside + q + r] = first[(q + r) * from.near + 2 * t + 1];
        }
    }
  }
}
template <class T>
void store_pairs(const T* re, const T* im, int64_t n, int64_t beside, T scale, const FftPart& to) {
  constexpr int L = Simd<T>::lanes, C = L / 2;
  T* const first = static_cast<T*>(to.first);
  const int64_t whole = beside / L * L;
  if (to.near == 2) {
    for (int64_t t = 0; t < n; ++t)
      for (int64_t q = 0; q < whole; q += L) {
        T* p = first + t * to.step + 2 * q;
        const auto a = load<Vector<T>>(re + t * beside + q) * scale, b = load<Vector<T>>(im + t * beside + q) * scale;
        store(p, both_parts<T, 0>(a, b, Lanes<T>()));
        store(p + L, both_parts<T, 1>(a, b, Lanes<T>()));
      }
  } else {
    for (int64_t q = 0; q < whole; q += L) {
      int64_t t = 0;
      for (; t + C <= n; t += C) {
        Vector<T> rows[L];
        CT_UNROLL for (int k = 0; k < C; ++k) {
          const auto a = load<Vector<T>>(re + (t + k) * beside + q) * scale,
                     b = load<Vector<T>>(im + (t + k) * beside + q) * scale;
          rows[k] = both_parts<T, 0>(a, b, Lanes<T>());
          rows[C + k] = both_parts<T, 1>(a, b, Lanes<T>());
        }
        transpose<T>(rows);
        transpose<T>(rows + C);
        T* p = first + q * to.near + 2 * t;
        CT_UNROLL for (int r = 0; r < L; ++r) store(p + r * to.near, rows[r]);
      }
      for (; t < n; ++t)
        for (int r = 0; r < L; ++r) {
          first[(q + r) * to.near + 2 * t] = re[t * beside + q + r] * scale;
          first[(q + r) * to.near + 2 * t + 1] = im[t * beside + q + r] * scale;
        }
    }
  }
}

/// Number of transforms loaded as vectors with alternating parts, and whether the imaginary part comes first.
struct InTurn {
  int64_t count;
  bool im_first;
};
template <class T>
InTurn in_turn(const FftPlace& place, int64_t beside) {
  const auto [re, im] = place;
  const bool in_a_run = re.begin + beside <= re.run && im.begin + beside <= im.run;
  if (!re.first || !im.first || re.step != im.step || re.near != im.near || (re.step != 2 && re.near != 2) || !in_a_run)
    return {0, false};
  const bool im_first = static_cast<T*>(re.first) == static_cast<T*>(im.first) + 1;
  const bool re_first = static_cast<T*>(im.first) == static_cast<T*>(re.first) + 1;
  return {re_first || im_first ? beside / Simd<T>::lanes * Simd<T>::lanes : 0, im_first};
}

template <class T>
void load_all(const FftPlace& from, int64_t n, int64_t beside, T* re, T* im) {
  const InTurn pairs = in_turn<T>(from, beside);
  if (pairs.count > 0 && pairs.im_first)
    load_pairs(from.im, n, beside, im, re);
  else if (pairs.count > 0)
    load_pairs(from.re, n, beside, re, im);
  load_each(from.re, n, pairs.count, beside, re);
  load_each(from.im, n, pairs.count, beside, im);
}
template <class T>
void store_all(const T* re, const T* im, int64_t n, int64_t beside, T scale, const FftPlace& to) {
  const InTurn pairs = in_turn<T>(to, beside);
  if (pairs.count > 0 && pairs.im_first)
    store_pairs(im, re, n, beside, scale, to.im);
  else if (pairs.count > 0)
    store_pairs(re, im, n, beside, scale, to.re);
  store_each(re, n, pairs.count, beside, scale, to.re);
  store_each(im, n, pairs.count, beside, scale, to.im);
}

/// Calls f with a pointer to float or double.
template <class F>
CT_INLINE auto typed(bool f64, F f) {
  return f64 ? f(static_cast<double*>(nullptr)) : f(static_cast<float*>(nullptr));
}

}  // namespace

int64_t fft_lanes(bool f64) { return f64 ? Simd<double>::lanes : Simd<float>::lanes; }

void fft_pass(bool f64, const FftPass& pass) { return f64 ? run<double>(pass) : run<float>(pass); }

void fft_load(bool f64, const FftPlace& from, int64_t n, int64_t beside, void* re, void* im) {
  typed(f64, [&]<class T>(T*) { load_all(from, n, beside, static_cast<T*>(re), static_cast<T*>(im)); });
}

void fft_store(bool f64, const void* re, const void* im, int64_t n, int64_t beside, double scale, const FftPlace& to) {
  typed(f64, [&]<class T>(T*) {
    store_all(static_cast<const T*>(re), static_cast<const T*>(im), n, beside, static_cast<T>(scale), to);
  });
}

void fft_multiply(bool f64, void* re, void* im, const void* table, int64_t n, int64_t beside) {
  typed(f64, [&]<class T>(T*) {
    multiply(static_cast<T*>(re), static_cast<T*>(im), static_cast<const T*>(table), n, beside);
  });
}

void fft_turn(bool f64, void* re, void* im, const void* table, int64_t step, const void* turn_re, const void* turn_im,
              int64_t n, int64_t beside) {
  typed(f64, [&]<class T>(T*) {
    turn(static_cast<T*>(re), static_cast<T*>(im), static_cast<const T*>(table), step, static_cast<const T*>(turn_re),
         static_cast<const T*>(turn_im), n, beside);
  });
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
