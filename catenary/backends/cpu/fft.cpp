// Fourier transforms of rows: some rows side by side in scratch memory, so that every pass runs in vectors.

#include "catenary/backends/cpu/fft.h"

#include <algorithm>
#include <utility>

#include "catenary/backends/cpu/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/parallel.h"
#include "catenary/device/fft_plan.h"

namespace catenary::cpu {

namespace {

constexpr std::int64_t kBlockBytes = 1 << 20;  // of rows side by side, where there is more than one

/// Complex numbers, `beside` rows of them side by side, in two parts.
template <class T>
struct Pair {
  T *re, *im;
};

/// Runs the passes from `a` to `b` and back; the result's place is returned.
template <class T>
Pair<T> run_passes(const FftPlan& plan, Dtype dtype, Pair<T> a, Pair<T> b, std::int64_t beside) {
  FftPass pass{1, plan.n, plan.n, beside, plan.roots.data(dtype), nullptr, nullptr, nullptr, nullptr};
  for (const int radix : plan.radices) {
    pass.radix = radix;
    pass.x_re = a.re;
    pass.x_im = a.im;
    pass.y_re = b.re;
    pass.y_im = b.im;
    CT_SIMD_SELECT(fft_pass)(dtype == Dtype::float64, pass);
    std::swap(a, b);
    pass.length /= radix;
    pass.stride *= radix;
  }
  return a;
}

template <class T>
Pair<T> transform(const FftPlan& plan, Dtype dtype, Pair<T> a, Pair<T> b, std::int64_t beside) {
  if (!plan.inner) return run_passes(plan, dtype, a, b, beside);
  const bool f64 = dtype == Dtype::float64;
  const std::int64_t length = plan.inner->n;
  const auto multiply = CT_SIMD_SELECT(fft_multiply);
  multiply(f64, a.re, a.im, plan.chirp.data(dtype), plan.n, beside);
  for (T* part : {a.re, a.im}) std::fill(part + plan.n * beside, part + length * beside, T(0));
  const Pair<T> there = run_passes(*plan.inner, dtype, a, b, beside);
  multiply(f64, there.re, there.im, plan.spectrum.data(dtype), length, beside);
  // back is there with the parts exchanged
  const Pair<T> other = there.re == a.re ? b : a;
  const Pair<T> result = run_passes<T>(*plan.inner, dtype, {there.im, there.re}, {other.im, other.re}, beside);
  multiply(f64, result.im, result.re, plan.chirp.data(dtype), plan.n, beside);
  return {result.im, result.re};
}

template <class T>
void run(const Fft& p) {
  const std::int64_t rows = p.re.shape[0], n = p.re.shape[1];
  const auto plan = fft_plan(n);
  const std::int64_t length = plan->inner ? plan->inner->n : n, item = static_cast<std::int64_t>(sizeof(T)),
                     most = std::clamp<std::int64_t>(kBlockBytes / (4 * item * length), 1, 32 / item),
                     blocks = (rows + most - 1) / most;
  // a transform back is one there with the parts exchanged
  const View *x_re = &p.re, *x_im = p.im, *y_re = &p.out_re, *y_im = &p.out_im;
  if (p.inverse) {
    std::swap(x_re, x_im);
    std::swap(y_re, y_im);
  }
  const T scale = static_cast<T>(p.scale);
  parallel_for(blocks, 1 + kGrain / (most * length), [&](std::int64_t first, std::int64_t last) {
    const Scratch memory(4 * length * most * item);
    T* const parts = memory.as<T>();
    const auto part = [&](int i) { return parts + i * length * most; };
    for (std::int64_t block = first; block < last; ++block) {
      const std::int64_t row = block * most, beside = std::min(most, rows - row);
      const auto load = [&](T* to, const View* view) {
        if (!view) return static_cast<void>(std::fill(to, to + n * beside, T(0)));
        const T* from = static_cast<const T*>(view->data()) + row * view->strides[0];
        for (std::int64_t t = 0; t < n; ++t)
          for (std::int64_t q = 0; q < beside; ++q)
            to[t * beside + q] = from[t * view->strides[1] + q * view->strides[0]];
      };
      const auto store = [&](const T* from, const View* view) {
        T* to = static_cast<T*>(view->data()) + row * view->strides[0];
        for (std::int64_t t = 0; t < n; ++t)
          for (std::int64_t q = 0; q < beside; ++q)
            to[t * view->strides[1] + q * view->strides[0]] = from[t * beside + q] * scale;
      };
      load(part(0), x_re);
      load(part(1), x_im);
      const Pair<T> y = transform<T>(*plan, p.re.dtype, {part(0), part(1)}, {part(2), part(3)}, beside);
      store(y.re, y_re);
      store(y.im, y_im);
    }
  });
}

}  // namespace

template <>
void compute(const Fft& p) {
  if (p.re.size() == 0) return;
  return p.re.dtype == Dtype::float64 ? run<double>(p) : run<float>(p);
}

}  // namespace catenary::cpu
