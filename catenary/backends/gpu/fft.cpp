// Fourier transforms: a launch for each pass, between the views and scratch memory. Tables are made on the host, in
// float64.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/device/fft_plan.h"

namespace catenary::gpu {

namespace {

/// A part of complex rows: where it begins, and its distances.
struct Part {
  void* handle;
  std::int64_t at, row, step;

  explicit Part(const View& v) : handle(v.handle), at(v.offset), row(v.strides[0]), step(v.strides[1]) {}
  Part(const Scratch& memory, std::int64_t at, std::int64_t n) : handle(memory.handle()), at(at), row(n), step(1) {}
};
struct Parts {
  Part re, im;
  Parts exchanged() const { return {im, re}; }
};

/// A table of the host in the device's memory.
class Uploaded {
 public:
  Uploaded(Context& context, const FftTable& table, Dtype dtype)
      : memory_(context, static_cast<std::int64_t>(table.f64.size() * itemsize(dtype))) {
    context.write(memory_.handle(), 0, table.data(dtype), table.f64.size() * itemsize(dtype));
  }
  void* handle() const { return memory_.handle(); }

 private:
  Scratch memory_;
};

class Transform {
 public:
  Transform(Context& context, const Fft& p)
      : context_(context),
        dtype_(p.re.dtype),
        rows_(p.re.shape[0]),
        item_(static_cast<std::int64_t>(itemsize(dtype_))) {
    context.check_dtype(dtype_, "fft");
    std::int64_t reach = 0;
    for (const View* v : {&p.re, p.im, &p.out_re, &p.out_im})
      if (v)
        reach = std::max(reach, v->offset + rows_ * std::abs(v->strides[0]) + v->shape[1] * std::abs(v->strides[1]));
    const auto plan = fft_plan(p.re.shape[1]);
    wide_ = needs_wide({reach, 4 * rows_ * (plan->inner ? plan->inner->n : plan->n)});
  }

  /// y = the transform of x times `scale`. Nothing of x is read once y is written.
  void run(const FftPlan& plan, const Parts& x, const Parts& y, double scale) const {
    if (!plan.inner) return passes(plan, x, y, scale);
    const std::int64_t length = plan.inner->n;
    const Scratch memory(context_, 4 * rows_ * length * item_);
    const auto parts = [&](int i) {
      return Parts{Part(memory, 2 * i * rows_ * length, length), Part(memory, (2 * i + 1) * rows_ * length, length)};
    };
    const Uploaded chirp(context_, plan.chirp, dtype_), spectrum(context_, plan.spectrum, dtype_);
    multiply(x, parts(0), chirp, plan.n, length, 1);
    passes(*plan.inner, parts(0), parts(1), 1);
    multiply(parts(1), parts(0), spectrum, length, length, 1);
    // back is there with the parts exchanged
    passes(*plan.inner, parts(0).exchanged(), parts(1).exchanged(), 1);
    multiply(parts(1), y, chirp, plan.n, plan.n, scale);
  }

 private:
  void passes(const FftPlan& plan, const Parts& x, const Parts& y, double scale) const {
    const std::int64_t n = plan.n;
    std::vector<int> radices;
    for (const int radix : plan.radices) {
      if (radix == 8) radices.push_back(2);
      radices.push_back(radix == 8 ? 4 : radix);
    }
    while (radices.size() < 2) radices.push_back(1);  // so that y may be x
    const Scratch memory(context_, 4 * rows_ * n * item_);
    const Uploaded roots(context_, plan.roots, dtype_);
    const auto scratch = [&](std::size_t i) {
      const std::int64_t first = i % 2 ? 2 * rows_ * n : 0;
      return Parts{Part(memory, first, n), Part(memory, first + rows_ * n, n)};
    };
    std::int64_t length = n, stride = 1;
    for (std::size_t i = 0; i < radices.size(); ++i) {
      const int radix = radices[i];
      const bool last = i + 1 == radices.size(), compiled = radix == 2 || radix == 4;
      Args args = arguments(i == 0 ? x : scratch(i - 1), last ? y : scratch(i));
      args.add(roots.handle()).index(n, wide_).index(length, wide_).index(stride, wide_);
      add_real(args, last ? scale : 1);
      if (!compiled) args.index(radix, wide_);
      Defines defines = grid_defines(context_, wide_, dtype_defines(context_, dtype_));
      if (compiled) defines.emplace_back("RADIX", radix);
      launch_units(context_, context_.kernel("fft", compiled ? "fft_pass" : "fft_pass_any", defines),
                   rows_ * (compiled ? n / radix : n), wide_, args);
      length /= radix;
      stride *= radix;
    }
  }

  void multiply(const Parts& x, const Parts& y, const Uploaded& table, std::int64_t filled, std::int64_t n,
                double scale) const {
    Args args = arguments(x, y);
    args.add(table.handle()).index(filled, wide_).index(n, wide_);
    add_real(args, scale);
    const Defines defines = grid_defines(context_, wide_, dtype_defines(context_, dtype_));
    launch_units(context_, context_.kernel("fft", "fft_multiply", defines), rows_ * n, wide_, args);
  }

  Args arguments(const Parts& x, const Parts& y) const {
    Args args;
    for (const Part* part : {&x.re, &x.im, &y.re, &y.im})
      args.add(part->handle).index(part->at, wide_).index(part->row, wide_).index(part->step, wide_);
    return args;
  }
  void add_real(Args& args, double value) const {
    if (dtype_ == Dtype::float64) {
      args.add(value);
    } else {
      args.add(static_cast<float>(value));
    }
  }

  Context& context_;
  Dtype dtype_;
  std::int64_t rows_, item_;
  bool wide_;
};

}  // namespace

template <>
void compute(Context& context, const Fft& p) {
  if (p.re.size() == 0) return;
  std::optional<Scratch> zeros;
  const Part re(p.re);
  Part im = p.im ? Part(*p.im) : re;
  if (!p.im) {
    const std::vector<double> zero(1);
    zeros.emplace(context, 8);
    context.write(zeros->handle(), 0, zero.data(), 8);
    im = Part(*zeros, 0, 0);
    im.step = 0;
  }
  Parts x{re, im}, y{Part(p.out_re), Part(p.out_im)};
  if (p.inverse) {  // a transform back is one there with the parts exchanged
    x = x.exchanged();
    y = y.exchanged();
  }
  const Transform transform(context, p);
  transform.run(*fft_plan(p.re.shape[1]), x, y, p.scale);
}

}  // namespace catenary::gpu
