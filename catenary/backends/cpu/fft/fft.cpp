// Fourier transforms: several at a time in scratch memory, interleaved so that every pass runs in vectors. A single
// long transform is computed as many short ones, in two steps.

#include "catenary/backends/cpu/fft/fft.h"

#include <algorithm>
#include <utility>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/parallel.h"
#include "catenary/device/fft_plan.h"

namespace catenary::cpu {

namespace {

constexpr std::int64_t kBlockBytes = 16 << 20;  // interleaved transforms, if they fill a vector

/// Complex numbers of `beside` interleaved transforms, with separate real and imaginary parts.
template <class T>
struct Pair {
  T *re, *im;
};

/// Runs the passes alternately from `a` to `b` and back, and returns the buffer with the result. With factors, only
/// `count` elements are stored.
template <class T>
Pair<T> run_passes(const FftPlan& plan, Dtype dtype, Pair<T> a, Pair<T> b, std::int64_t beside,
                   const FftTable* factors = nullptr, std::int64_t count = 0, int sign = 1) {
  FftPass pass{1,       plan.n,  plan.n,  beside,  plan.roots.data(dtype),
               nullptr, nullptr, nullptr, nullptr, factors ? factors->data(dtype) : nullptr,
               count,   sign};
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
    pass.factors = nullptr;
  }
  return a;
}

template <class T>
Pair<T> transform(const FftPlan& plan, Dtype dtype, Pair<T> a, Pair<T> b, std::int64_t beside) {
  if (!plan.inner) return run_passes(plan, dtype, a, b, beside);
  const Pair<T> there = run_passes(*plan.inner, dtype, a, b, beside, &plan.chirp, plan.n);
  // the inverse transform is the forward transform with exchanged parts, which represent i conj(z)
  const Pair<T> other = there.re == a.re ? b : a;
  const Pair<T> result = run_passes<T>(*plan.inner, dtype, {there.im, there.re}, {other.im, other.re}, beside,
                                       &plan.spectrum, plan.inner->n, -1);
  CT_SIMD_SELECT(fft_multiply)(dtype == Dtype::float64, result.im, result.re, plan.chirp.data(dtype), plan.n, beside);
  return {result.im, result.re};
}

/// Numbers of transforms in two directions: `near` adjacent ones, `far` times.
struct Count {
  std::int64_t far, near;
};
/// Memory of the real or imaginary parts; `far` is the distance between runs.
struct Part {
  FftPart first;
  std::int64_t far;

  template <class T>
  FftPart at(std::int64_t i, std::int64_t q) const {
    FftPart there = first;
    if (!first.first) return there;
    there.first = static_cast<T*>(first.first) + i * far + first.at(q);
    there.begin = q % first.run;
    return there;
  }
};
struct Places {
  Part re, im;

  template <class T>
  FftPlace at(std::int64_t i, std::int64_t q) const {
    return {re.at<T>(i, q), im.at<T>(i, q)};
  }
};

/// Returns the number of interleaved transforms of a length: a vector, or as many as fit.
std::int64_t most_beside(std::int64_t length, std::int64_t item, std::int64_t lanes) {
  return std::clamp<std::int64_t>(kBlockBytes / (4 * item * length), 1, lanes);
}

/// Twiddle factors between the two steps: element k of transform q is multiplied by w^(k q), where w^j is roots[j] of n
/// roots.
template <class T>
class Turns {
 public:
  Turns(const FftPlan& plan, Dtype dtype, std::int64_t length, std::int64_t most)
      : roots_(static_cast<const T*>(plan.roots.data(dtype))),
        f64_(dtype == Dtype::float64),
        length_(length),
        most_(most),
        memory_(2 * length * most * static_cast<std::int64_t>(sizeof(T))) {
    T* re = memory_.as<T>();
    for (std::int64_t k = 0; k < length; ++k)
      for (std::int64_t q = 0; q < most; ++q, ++re) {
        const std::int64_t j = k * q % plan.n;
        re[0] = roots_[2 * j];
        re[length * most] = roots_[2 * j + 1];
      }
  }
  /// Multiplies the transforms from number `first` on. A smaller last block has another layout.
  void apply(Pair<T> y, std::int64_t first, std::int64_t beside) const {
    const T *re = memory_.as<T>(), *im = re + length_ * most_;
    if (beside == most_) {
      CT_SIMD_SELECT(fft_turn)(f64_, y.re, y.im, roots_, first, re, im, length_, beside);
      return;
    }
    for (std::int64_t k = 0; k < length_; ++k) CT_SIMD_SELECT(fft_turn)
    (f64_, y.re + k * beside, y.im + k * beside, roots_ + 2 * k * first, 0, re + k * most_, im + k * most_, 1, beside);
  }

 private:
  const T* roots_;
  bool f64_;
  std::int64_t length_, most_;
  Scratch memory_;
};

template <class T>
void transform_all(const FftPlan& plan, const Places& x, const Places& y, Count count, double scale, std::int64_t most,
                   const Turns<T>* turns) {
  constexpr Dtype dtype = sizeof(T) == 8 ? Dtype::float64 : Dtype::float32;
  constexpr bool f64 = dtype == Dtype::float64;
  const std::int64_t length = plan.inner ? plan.inner->n : plan.n, blocks = (count.near + most - 1) / most;
  parallel_for(count.far * blocks, 1 + kGrain / (most * length), [&](std::int64_t begin, std::int64_t end) {
    const Scratch memory(4 * length * most * static_cast<std::int64_t>(sizeof(T)));
    T* const parts = memory.as<T>();
    const auto pair = [&](int i) { return Pair<T>{parts + i * length * most, parts + (i + 1) * length * most}; };
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t far = block / blocks, q = block % blocks * most, beside = std::min(most, count.near - q);
      CT_SIMD_SELECT(fft_load)(f64, x.at<T>(far, q), plan.n, beside, pair(0).re, pair(0).im);
      const Pair<T> result = transform<T>(plan, dtype, pair(0), pair(2), beside);
      if (turns) turns->apply(result, q, beside);
      CT_SIMD_SELECT(fft_store)(f64, result.re, result.im, plan.n, beside, scale, y.at<T>(far, q));
    }
  });
}

/// t = t1 n2 + t2 and f = f1 + n1 f2: transforms along t1, multiplies by w^(f1 t2), then transforms along t2.
template <class T>
void in_two_steps(const FftPlan& plan, std::int64_t n1, std::int64_t n2, const FftPlace& x, const FftPlace& y,
                  double scale, std::int64_t lanes) {
  const auto item = static_cast<std::int64_t>(sizeof(T));
  const Scratch memory(2 * plan.n * item);
  const auto middle = [&](std::int64_t step, std::int64_t near) {
    T* const first = memory.as<T>();
    return Places{{{first, step, near}, 0}, {{first + 1, step, near}, 0}};
  };
  const auto in = [&](const FftPart& part) { return Part{{part.first, n2 * part.step, part.step}, 0}; };
  const auto out = [&](const FftPart& part) { return Part{{part.first, n1 * part.step, part.step}, 0}; };
  const std::int64_t most = std::min(most_beside(n1, item, lanes), n2);
  const Turns<T> turns(plan, sizeof(T) == 8 ? Dtype::float64 : Dtype::float32, n1, most);
  transform_all<T>(*fft_plan(n1), {in(x.re), in(x.im)}, middle(2 * n2, 2), {1, n2}, 1, most, &turns);
  transform_all<T>(*fft_plan(n2), middle(2, 2 * n2), {out(y.re), out(y.im)}, {1, n1}, scale,
                   most_beside(n2, item, lanes), nullptr);
}

/// to[t] = factors[t] * x[t] * factor for t < count, and zeros up to n.
template <class T>
void multiply(const FftPlace& x, const FftTable& factors, std::int64_t count, std::int64_t n, T factor,
              const FftPlace& to) {
  const T* const by = static_cast<const T*>(factors.data(sizeof(T) == 8 ? Dtype::float64 : Dtype::float32));
  const T *re = static_cast<const T*>(x.re.first), *im = static_cast<const T*>(x.im.first);
  T *to_re = static_cast<T*>(to.re.first), *to_im = static_cast<T*>(to.im.first);
  parallel_for(n, kGrain / 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const T a = re && t < count ? re[t * x.re.step] * factor : T(0);
      const T b = im && t < count ? im[t * x.im.step] * factor : T(0);
      const T c = t < count ? by[2 * t] : T(0), d = t < count ? by[2 * t + 1] : T(0);
      to_re[t * to.re.step] = a * c - b * d;
      to_im[t * to.im.step] = a * d + b * c;
    }
  });
}

/// A transform by convolution with a chirp, whose transforms of n1 n2 elements take two steps.
template <class T>
void convolve_in_two_steps(const FftPlan& plan, std::int64_t n1, std::int64_t n2, const FftPlace& x, const FftPlace& y,
                           double scale, std::int64_t lanes) {
  const std::int64_t length = plan.inner->n;
  const Scratch memory(4 * length * static_cast<std::int64_t>(sizeof(T)));
  const auto in_turn = [](T* first) { return FftPlace{{first, 2, 0}, {first + 1, 2, 0}}; };
  const auto exchanged = [](const FftPlace& place) { return FftPlace{place.im, place.re}; };
  const FftPlace a = in_turn(memory.as<T>()), b = in_turn(memory.as<T>() + 2 * length);
  multiply<T>(x, plan.chirp, plan.n, length, 1, a);
  in_two_steps<T>(*plan.inner, n1, n2, a, b, 1, lanes);
  multiply<T>(b, plan.spectrum, length, length, 1, b);
  in_two_steps<T>(*plan.inner, n1, n2, exchanged(b), exchanged(a), 1, lanes);
  multiply<T>(a, plan.chirp, plan.n, plan.n, static_cast<T>(scale), y);
}

template <class T>
void run(const Fft& p) {
  const std::int64_t outer = p.re.shape[0], n = p.re.shape[1], inner = p.re.shape[2],
                     item = static_cast<std::int64_t>(sizeof(T)), lanes = CT_SIMD_SELECT(fft_lanes)(sizeof(T) == 8);
  const auto plan = fft_plan(n);
  // an inverse transform is a forward transform with exchanged parts
  const View *x_re = &p.re, *x_im = p.im, *y_re = &p.out_re, *y_im = &p.out_im;
  if (p.inverse) {
    std::swap(x_re, x_im);
    std::swap(y_re, y_im);
  }
  const int near = inner >= std::min(outer, lanes) ? 2 : 0;
  // too few to fill a vector: join several runs, unless complex elements of a transform are contiguous
  const bool runs = inner > 1 && inner < std::min(outer * inner, lanes) && p.re.strides[1] != 2;
  const Count count = runs ? Count{1, outer * inner} : near == 2 ? Count{outer, inner} : Count{inner, outer};
  const auto part = [&](const View* v) {
    if (!v) return Part{};
    if (runs) return Part{{v->data(), v->strides[1], v->strides[2], inner, v->strides[0]}, 0};
    return Part{{v->data(), v->strides[1], v->strides[near]}, v->strides[2 - near]};
  };
  const Places x{part(x_re), part(x_im)}, y{part(y_re), part(y_im)};
  const FftPlan& passes = plan->inner ? *plan->inner : *plan;
  const std::int64_t most = most_beside(passes.n, item, lanes);
  // a step that is too short cannot fill vectors with the other step's transforms
  const auto [n1, n2] =
      std::min(most, count.near) < lanes ? factors_at_root(passes.n) : std::pair<std::int64_t, std::int64_t>(0, 0);
  if (n1 < lanes) return transform_all<T>(*plan, x, y, count, p.scale, most, nullptr);
  const auto transform_long = plan->inner ? convolve_in_two_steps<T> : in_two_steps<T>;
  for (std::int64_t i = 0; i < count.far; ++i)
    for (std::int64_t q = 0; q < count.near; ++q)
      transform_long(*plan, n1, n2, x.at<T>(i, q), y.at<T>(i, q), p.scale, lanes);
}

}  // namespace

template <>
void compute(const Fft& p) {
  if (p.re.size() == 0) return;
  return p.re.dtype == Dtype::float64 ? run<double>(p) : run<float>(p);
}

}  // namespace catenary::cpu
