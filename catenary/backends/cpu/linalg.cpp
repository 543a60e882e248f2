#include "catenary/backends/cpu/linalg.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "catenary/backends/cpu/primitives.h"

namespace catenary::cpu {

namespace {

/// Factors a (n × n, in place); returns false where a pivot is 0. `odd` says whether the number of exchanges is.
template <class T>
bool factor(T* a, std::int32_t* pivots, std::int64_t n, bool& odd) {
  bool regular = true;
  odd = false;
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t p = j;
    for (std::int64_t i = j + 1; i < n; ++i)
      if (std::abs(a[i * n + j]) > std::abs(a[p * n + j])) p = i;
    pivots[j] = static_cast<std::int32_t>(p);
    if (p != j) {
      std::swap_ranges(a + j * n, a + (j + 1) * n, a + p * n);
      odd = !odd;
    }
    const T pivot = a[j * n + j];
    if (pivot == T(0)) {
      regular = false;
      continue;
    }
    for (std::int64_t i = j + 1; i < n; ++i) {
      const T factor = a[i * n + j] /= pivot;
      for (std::int64_t c = j + 1; c < n; ++c) a[i * n + c] -= factor * a[j * n + c];
    }
  }
  return regular;
}

/// x (n × k, in place) = solution for the factors.
template <class T>
void substitute(T* x, const T* lu, const std::int32_t* pivots, std::int64_t n, std::int64_t k) {
  for (std::int64_t i = 0; i < n; ++i)
    if (pivots[i] != i) std::swap_ranges(x + i * k, x + (i + 1) * k, x + pivots[i] * k);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) {
      const T factor = lu[i * n + j];
      for (std::int64_t c = 0; c < k; ++c) x[i * k + c] -= factor * x[j * k + c];
    }
  for (std::int64_t i = n; i-- > 0;) {
    for (std::int64_t j = i + 1; j < n; ++j) {
      const T factor = lu[i * n + j];
      for (std::int64_t c = 0; c < k; ++c) x[i * k + c] -= factor * x[j * k + c];
    }
    const T pivot = lu[i * n + i];
    for (std::int64_t c = 0; c < k; ++c) x[i * k + c] /= pivot;
  }
}

}  // namespace

template <class T>
void cholesky(T* out, const T* a, std::int64_t batch, std::int64_t n, std::vector<bool>& ok) {
  ok.assign(static_cast<std::size_t>(batch), true);
  std::fill_n(out, batch * n * n, T(0));
  for (std::int64_t b = 0; b < batch; ++b, a += n * n, out += n * n)
    for (std::int64_t i = 0; i < n && ok[static_cast<std::size_t>(b)]; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        T rest = a[i * n + j];
        for (std::int64_t k = 0; k < j; ++k) rest -= out[i * n + k] * out[j * n + k];
        if (i != j) {
          out[i * n + j] = rest / out[j * n + j];
        } else if (rest > T(0)) {
          out[i * n + i] = std::sqrt(rest);
        } else {
          ok[static_cast<std::size_t>(b)] = false;
        }
      }
}

template <class T>
void lu(T* out, std::int32_t* pivots, const T* a, std::int64_t batch, std::int64_t n, std::vector<bool>& ok) {
  ok.assign(static_cast<std::size_t>(batch), true);
  std::copy_n(a, batch * n * n, out);
  for (std::int64_t b = 0; b < batch; ++b) {
    bool odd;
    ok[static_cast<std::size_t>(b)] = factor(out + b * n * n, pivots + b * n, n, odd);
  }
}

template <class T>
void solve(T* out, const T* a, const T* b, std::int64_t batch, std::int64_t n, std::int64_t k, std::vector<bool>& ok) {
  ok.assign(static_cast<std::size_t>(batch), true);
  std::copy_n(b, batch * n * k, out);
  std::vector<T> factors(static_cast<std::size_t>(n * n));
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < batch; ++i) {
    std::copy_n(a + i * n * n, n * n, factors.data());
    bool odd;
    if (factor(factors.data(), pivots.data(), n, odd)) {
      substitute(out + i * n * k, factors.data(), pivots.data(), n, k);
    } else {
      ok[static_cast<std::size_t>(i)] = false;
    }
  }
}

template <class T>
void inv(T* out, const T* a, std::int64_t batch, std::int64_t n, std::vector<bool>& ok) {
  std::vector<T> identity(static_cast<std::size_t>(batch * n * n));
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < n; ++i) identity[static_cast<std::size_t>((b * n + i) * n + i)] = T(1);
  solve(out, a, identity.data(), batch, n, n, ok);
}

template <class T>
void det(T* out, const T* a, std::int64_t batch, std::int64_t n) {
  std::vector<T> factors(static_cast<std::size_t>(n * n));
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  for (std::int64_t b = 0; b < batch; ++b, out += 3) {
    std::copy_n(a + b * n * n, n * n, factors.data());
    bool odd;
    factor(factors.data(), pivots.data(), n, odd);
    T product = odd ? T(-1) : T(1), sign = product, logarithm = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T pivot = factors[static_cast<std::size_t>(i * n + i)];
      product *= pivot;
      sign = pivot > T(0) ? sign : pivot < T(0) ? -sign : pivot * T(0);
      logarithm += std::log(std::abs(pivot));
    }
    out[0] = product;
    out[1] = sign;
    out[2] = logarithm;
  }
}

namespace {

template <class T>
void linalg(const Linalg& p) {
  const std::int64_t batch = p.a.shape[0], n = p.a.shape[1];
  const T* from = static_cast<const T*>(p.a.data());
  T* to = static_cast<T*>(p.out.data());
  switch (p.op) {
    case LinalgOp::cholesky:
      return cholesky(to, from, batch, n, p.ok);
    case LinalgOp::inv:
      return inv(to, from, batch, n, p.ok);
    case LinalgOp::solve:
      return solve(to, from, static_cast<const T*>(p.b.data()), batch, n, p.b.shape[2], p.ok);
    case LinalgOp::det:
      p.ok.assign(static_cast<std::size_t>(batch), true);
      return det(to, from, batch, n);
    case LinalgOp::lu:
      return lu(to, static_cast<std::int32_t*>(p.b.data()), from, batch, n, p.ok);
  }
}

}  // namespace

template <>
void compute(const Linalg& p) {
  p.a.dtype == Dtype::float32 ? linalg<float>(p) : linalg<double>(p);
}

#define CT_LINALG_DEFINE(T)                                                                                         \
  template CT_API void cholesky(T*, const T*, std::int64_t, std::int64_t, std::vector<bool>&);                      \
  template CT_API void lu(T*, std::int32_t*, const T*, std::int64_t, std::int64_t, std::vector<bool>&);             \
  template CT_API void solve(T*, const T*, const T*, std::int64_t, std::int64_t, std::int64_t, std::vector<bool>&); \
  template CT_API void inv(T*, const T*, std::int64_t, std::int64_t, std::vector<bool>&);                           \
  template CT_API void det(T*, const T*, std::int64_t, std::int64_t);
CT_LINALG_DEFINE(float)
CT_LINALG_DEFINE(double)

}  // namespace catenary::cpu
