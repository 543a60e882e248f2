#include "catenary/device/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

namespace catenary {

namespace {

struct Complex {
  double re, im;
};

/// Returns exp(i pi k / (4 n)) for 0 <= k <= 8 n. Arguments of cos and sin never exceed an octant.
Complex root(std::int64_t k, std::int64_t n) {
  if (k > 4 * n) {
    const Complex mirrored = root(8 * n - k, n);
    return {mirrored.re, -mirrored.im};
  }
  if (k > 2 * n) {
    const Complex turned = root(k - 2 * n, n);
    return {-turned.im, turned.re};
  }
  if (k > n) {
    const Complex mirrored = root(2 * n - k, n);
    return {mirrored.im, mirrored.re};
  }
  const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(4 * n);
  return {std::cos(angle), std::sin(angle)};
}

/// Returns the prime factors, fours and eights before twos. Factors may exceed kMostRadix.
std::vector<std::int64_t> factors(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (const std::int64_t few : {8, 4, 2})
    while (n % few == 0) {
      all.push_back(few);
      n /= few;
    }
  for (std::int64_t p = 3; p * p <= n; p += 2)
    while (n % p == 0) {
      all.push_back(p);
      n /= p;
    }
  if (n > 1) all.push_back(n);
  return all;
}

/// Estimates the time of the passes. Each one reads and writes all elements, which costs as much as six operations.
double cost(std::int64_t n) {
  double each = 0;
  for (const std::int64_t f : factors(n)) {
    const double primes = f == 8 ? 6 : f == 4 ? 4 : static_cast<double>(f);
    each += 6 + (f > 11 ? 1.1 * primes : primes);
  }
  return each * static_cast<double>(n);
}

/// Returns the cheapest length of at least n with only small prime factors.
std::int64_t good_length(std::int64_t n) {
  std::int64_t best = 2;
  while (best < n) best *= 2;
  double least = cost(best);
  for (std::int64_t eleven = 1; eleven < best; eleven *= 11)
    for (std::int64_t seven = eleven; seven < best; seven *= 7)
      for (std::int64_t five = seven; five < best; five *= 5)
        for (std::int64_t three = five; three < best; three *= 3) {
          std::int64_t length = three;
          while (length < n) length *= 2;
          if (const double c = cost(length); c < least) {
            least = c;
            best = length;
          }
        }
  return best;
}

/// Transforms x in float64 by a plain implementation, for tables.
std::vector<double> transformed(const FftPlan& plan, std::vector<double> x) {
  std::vector<double> y(x.size());
  const std::vector<double>& w = plan.roots.f64;
  std::int64_t length = plan.n, stride = 1;
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(2 * i); };
  for (const int radix : plan.radices) {
    const std::int64_t m = length / radix;
    for (std::int64_t p = 0; p < m; ++p)
      for (std::int64_t k = 0; k < radix; ++k)
        for (std::int64_t q = 0; q < stride; ++q) {
          double re = 0, im = 0;
          for (std::int64_t j = 0; j < radix; ++j) {
            const std::size_t from = at(q + stride * (p + m * j)),
                              by = at((plan.n / length * p * k + plan.n / radix * (j * k % radix)) % plan.n);
            re += x[from] * w[by] - x[from + 1] * w[by + 1];
            im += x[from] * w[by + 1] + x[from + 1] * w[by];
          }
          const std::size_t to = at(q + stride * (radix * p + k));
          y[to] = re;
          y[to + 1] = im;
        }
    std::swap(x, y);
    length = m;
    stride *= radix;
  }
  return x;
}

FftPlan make_plan(std::int64_t n) {
  FftPlan plan{n, {}, FftTable(), nullptr, FftTable(), FftTable()};
  const std::vector<std::int64_t> all = factors(n);
  const std::int64_t largest = all.empty() ? 1 : *std::max_element(all.begin(), all.end());
  const std::int64_t length = largest > 11 ? good_length(2 * n - 1) : 0;
  if (largest > kMostRadix || (n >= 50 && length > 0 && 1.2 * cost(length) < cost(n))) {
    plan.inner = fft_plan(length);
    // exp(-pi i k^2 / n)
    const std::vector<double> halves = roots_of_unity(2 * n);
    std::vector<double> chirp(static_cast<std::size_t>(2 * n)), other(static_cast<std::size_t>(2 * length));
    std::int64_t square = 0;  // k^2 modulo 2 n
    for (std::int64_t k = 0; k < n; ++k) {
      for (const int part : {0, 1}) {
        const auto to = static_cast<std::size_t>(2 * k + part);
        chirp[to] = halves[static_cast<std::size_t>(2 * square + part)];
        const double value = (part ? -chirp[to] : chirp[to]) / static_cast<double>(length);
        other[to] = value;
        if (k > 0) other[static_cast<std::size_t>(2 * (length - k) + part)] = value;
      }
      square = (square + 2 * k + 1) % (2 * n);
    }
    plan.chirp = FftTable(std::move(chirp));
    plan.spectrum = FftTable(transformed(*plan.inner, std::move(other)));
  } else {
    for (const std::int64_t f : all) plan.radices.push_back(static_cast<int>(f));
    plan.roots = FftTable(roots_of_unity(n));
  }
  return plan;
}

}  // namespace

FftTable::FftTable(std::vector<double> values) : f64(std::move(values)), f32(f64.begin(), f64.end()) {}

std::pair<std::int64_t, std::int64_t> factors_at_root(std::int64_t n) {
  std::int64_t best = 1;
  for (std::int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) best = d;
  return {best, n / best};
}

std::vector<double> roots_of_unity(std::int64_t n) {
  std::vector<double> roots(static_cast<std::size_t>(2 * n));
  for (std::int64_t j = 0; j < n; ++j) {
    const Complex r = root(8 * j, n);
    roots[static_cast<std::size_t>(2 * j)] = r.re;
    roots[static_cast<std::size_t>(2 * j + 1)] = -r.im;
  }
  return roots;
}

std::shared_ptr<const FftPlan> fft_plan(std::int64_t n) {
  constexpr std::int64_t kMost = std::int64_t{1} << 22;  // of all lengths together
  static std::mutex mutex;
  static auto* plans = new std::map<std::int64_t, std::shared_ptr<const FftPlan>>;
  static std::int64_t lengths = 0;
  {
    std::lock_guard lock(mutex);
    if (const auto known = plans->find(n); known != plans->end()) return known->second;
  }
  auto plan = std::make_shared<const FftPlan>(make_plan(n));  // without the lock, because it may take long
  std::lock_guard lock(mutex);
  if (lengths + n > kMost) {
    plans->clear();
    lengths = 0;
  }
  lengths += n;
  return plans->emplace(n, std::move(plan)).first->second;
}

}  // namespace catenary
