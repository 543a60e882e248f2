#pragma once
// Private to the attention*.simd.cpp files: the running softmax of a query and its helpers. Both files are compiled
// with -ffp-contract=fast, as products are.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "catenary/backends/cpu/attention/attention.h"
#include "catenary/backends/cpu/gemm/gemm_elements.h"
#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/backends/cpu/gemm/gemm_micro.h"
#include "catenary/ops/math.h"

namespace catenary::cpu::CT_SIMD_NAMESPACE {
namespace {

template <class T, class E>
using Args = AttentionArgs<T, E>;

CT_INLINE float exp_of(float x) { return math::ct_exp_f32(x); }
CT_INLINE double exp_of(double x) { return math::ct_exp_f64(x); }
CT_INLINE float log_of(float x) { return math::ct_log_f32(x); }
CT_INLINE double log_of(double x) { return math::ct_log_f64(x); }

template <class T>
constexpr T kNone = -std::numeric_limits<T>::infinity();

template <class T>
static T sum_of(const T* x, int64_t n) {
  constexpr int L = kLanes<T>;
  Vector<T> sum{};
  int64_t i = 0;
  for (; i + L <= n; i += L) sum += load(x + i);
  T total = 0;
  for (int l = 0; l < L; ++l) total += sum[l];
  for (; i < n; ++i) total += x[i];
  return total;
}
// Ignores NaN.
template <class T>
static T largest_of(const T* x, int64_t n) {
  constexpr int L = kLanes<T>;
  Vector<T> top = splat(kNone<T>);
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    const Vector<T> now = load(x + i);
    top = now > top ? now : top;
  }
  T most = kNone<T>;
  for (int l = 0; l < L; ++l) most = std::max(most, top[l]);
  for (; i < n; ++i) most = x[i] > most ? x[i] : most;
  return most;
}
template <class T>
static void multiply(T* x, int64_t n, T factor) {
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}
// e^x for differences to the maximum, in half the steps of math::ct_exp_f32. Returns 0 below -87 (softmax's greatest
// term is 1) and NaN for NaN. Coefficients as in Cephes' expf.
CT_INLINE Vector<float> exp_of(Vector<float> x) {
  typedef std::int32_t Integers __attribute__((vector_size(kVectorBytes)));
  constexpr float kWhole = 0x1.8p23F;  // adding it leaves an integer in the last bits
  const Vector<float> turned = x * 1.44269504F + kWhole, n = turned - kWhole;
  const Vector<float> r = x - n * 0.693359375F + n * 2.12194440e-4F;
  Vector<float> p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1;
  const Integers power = ((Integers)turned << 23) + (127 << 23);
  const Vector<float> y = p * (Vector<float>)power;
  return x < -87.0F ? Vector<float>{} : y;
}
CT_INLINE Vector<double> exp_of(Vector<double> x) {
  for (int l = 0; l < kLanes<double>; ++l) x[l] = exp_of(x[l]);
  return x;
}

// Replaces x by e^(x - shift), which is at most about 1, and returns the sum.
template <class T>
static T exponentials(T* x, int64_t n, T shift) {
  constexpr int L = kLanes<T>;
  Vector<T> sum{};
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    const Vector<T> y = exp_of(load(x + i) - shift);
    store(x + i, y);
    sum += y;
  }
  if (i < n) {  // pads with values that become 0
    alignas(64) T rest[L];
    std::fill(std::copy(x + i, x + n, rest), rest + L, kNone<T>);
    const Vector<T> y = exp_of(load(rest) - shift);
    store(rest, y);
    std::copy(rest, rest + (n - i), x + i);
    sum += y;
  }
  T total = 0;
  for (int l = 0; l < L; ++l) total += sum[l];
  return total;
}

// Applies the mask to the scores of query i with keys [j, j + n).
template <class T, class E>
static void apply_mask(const Args<T, E>& g, int64_t b, int64_t h, int64_t i, int64_t j, int64_t n, T* scores) {
  if (g.mask_kind == Args<T, E>::Mask::none) return;
  const int64_t at = b * g.mask.batch + h * g.mask.head + i * g.mask.row + j * g.mask.column;
  if (g.mask_kind == Args<T, E>::Mask::flags) {
    const auto* seen = reinterpret_cast<const std::uint8_t*>(g.mask.data) + at;
    for (int64_t c = 0; c < n; ++c) scores[c] = seen[c * g.mask.column] ? scores[c] : kNone<T>;
  } else {
    const E* number = g.mask.data + at;
    for (int64_t c = 0; c < n; ++c) scores[c] += widened(number[c * g.mask.column]);
  }
}

// Updates the running softmax of a query: turns scores into factors of the values, and returns the factor for all
// earlier sums.
template <class T>
static T soften(T* scores, int64_t n, T& most, T& sum) {
  const T top = std::max(most, largest_of(scores, n));
  if (top == kNone<T>) {  // no key is visible, unless a score is NaN
    for (int64_t i = 0; i < n; ++i) scores[i] = scores[i] == scores[i] ? T(0) : scores[i];
    sum += sum_of(scores, n);
    return 1;
  }
  const T factor = most == top ? T(1) : exp_of(most - top);
  sum = sum * factor + exponentials(scores, n, top);
  most = top;
  return factor;
}

// Writes y's row of query i from the sums.
template <class T, class E>
static void finish_row(const Args<T, E>& g, int64_t b, int64_t h, int64_t i, T* out, T most, T sum) {
  g.sums[(b * g.heads + h) * g.queries + i] = sum == 0 ? kNone<T> : most == kNone<T> ? sum : most + log_of(sum);
  multiply(out, g.width, sum == 0 ? T(0) : T(1) / sum);
  const HeadRows<E> y = g.y.at(b, h);
  E* const to = y.data + i * y.row;
  if constexpr (std::is_same_v<T, E>) {
    for (int64_t c = 0; c < g.width; ++c) to[c * y.column] = out[c];
  } else {
    E line[64];
    for (int64_t from = 0; from < g.width; from += 64) {
      const int64_t n = std::min<int64_t>(64, g.width - from);
      narrow(out + from, line, n);
      for (int64_t c = 0; c < n; ++c) to[(from + c) * y.column] = line[c];
    }
  }
}

}  // namespace
}  // namespace catenary::cpu::CT_SIMD_NAMESPACE
