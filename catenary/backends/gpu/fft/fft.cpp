// Fourier transforms: by a library, or a launch for each pass, between the views and scratch memory. Tables are made on
// the host, in float64, and stay in the device's memory.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/device/fft_plan.h"

namespace catenary::gpu {

namespace {

/// A part of complex numbers: where it begins, and its distances along the three axes.
struct Part {
  void* handle;
  std::int64_t at, far, step, near;

  explicit Part(const View& v)
      : handle(v.handle), at(v.offset), far(v.strides[0]), step(v.strides[1]), near(v.strides[2]) {}
  /// One after the other, of n elements, `beside` of them side by side.
  Part(const Scratch& memory, std::int64_t at, std::int64_t n, std::int64_t beside)
      : handle(memory.handle()), at(at), far(n * beside), step(beside), near(1) {}
  /// A number that all elements are.
  explicit Part(const Scratch& memory) : handle(memory.handle()), at(0), far(0), step(0), near(0) {}
};
struct Parts {
  Part re, im;
  Parts exchanged() const { return {im, re}; }
};

/// The tables of a device, each uploaded once, as long as all together take at most kMost bytes; what goes beyond that
/// is there for one transform.
class Tables {
 public:
  explicit Tables(Context& context) : context_(context) {}

  std::shared_ptr<const Scratch> get(const FftTable& table, const char* what, std::int64_t n, Dtype dtype) {
    const std::size_t bytes = table.f64.size() * itemsize(dtype);
    std::lock_guard lock(mutex_);
    const Key key{what, n, dtype};
    if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
    auto made = std::make_shared<Scratch>(context_, static_cast<std::int64_t>(bytes));
    context_.write(made->handle(), 0, table.data(dtype), bytes);
    if (bytes_ + bytes > kMost) return made;
    // once, so that all streams may read it
    context_.driver.synchronize_stream(context_.index, context_.driver.stream(context_.index));
    bytes_ += bytes;
    return kept_.emplace(key, std::move(made)).first->second;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{32} << 20;
  using Key = std::tuple<std::string_view, std::int64_t, Dtype>;
  Context& context_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Scratch>> kept_;
  std::size_t bytes_ = 0;
};

class Transform {
 public:
  Transform(Context& context, const Fft& p)
      : context_(context),
        tables_(context.part<Tables>()),
        dtype_(p.re.dtype),
        rows_(p.re.shape[0] * p.re.shape[2]),
        beside_(p.re.shape[2]),
        item_(static_cast<std::int64_t>(itemsize(dtype_))) {
    context.check_dtype(dtype_, "fft");
    std::int64_t reach = 0;
    for (const View* v : {&p.re, p.im, &p.out_re, &p.out_im})
      if (v) {
        std::int64_t own = v->offset;
        for (int axis = 0; axis < 3; ++axis) own += v->shape[axis] * std::abs(v->strides[axis]);
        reach = std::max(reach, own);
      }
    const auto plan = fft_plan(p.re.shape[1]);
    wide_ = needs_wide({reach, 4 * rows_ * (plan->inner ? plan->inner->n : plan->n)});
  }

  /// y = x times `scale`; y may be x.
  void scaled(const Parts& x, const Parts& y, std::int64_t n, double scale) const {
    Args args = arguments(x, y);
    args.index(n, wide_);
    add_real(args, scale);
    const Defines defines = own_defines();
    launch_units(context_, context_.kernel("fft", "fft_scale", defines), rows_ * n, wide_, args);
  }

  /// y = the transform of x times `scale`; y may be x.
  void run(const FftPlan& plan, const Parts& x, const Parts& y, double scale) const {
    if (!plan.inner) return passes(plan, x, y, scale);
    const std::int64_t length = plan.inner->n;
    const Scratch memory(context_, 4 * rows_ * length * item_);
    const auto parts = [&](int i) {
      return Parts{Part(memory, 2 * i * rows_ * length, length, beside_),
                   Part(memory, (2 * i + 1) * rows_ * length, length, beside_)};
    };
    const auto chirp = tables_.get(plan.chirp, "chirp", plan.n, dtype_),
               spectrum = tables_.get(plan.spectrum, "spectrum", plan.n, dtype_);
    multiply(x, parts(0), *chirp, plan.n, length, 1);
    passes(*plan.inner, parts(0), parts(1), 1);
    multiply(parts(1), parts(0), *spectrum, length, length, 1);
    // back is there with the parts exchanged
    passes(*plan.inner, parts(0).exchanged(), parts(1).exchanged(), 1);
    multiply(parts(1), y, *chirp, plan.n, plan.n, scale);
  }

 private:
  void passes(const FftPlan& plan, const Parts& x, const Parts& y, double scale) const {
    const std::int64_t n = plan.n, lanes = kVectorBytes / item_;
    if (context_.loops && rows_ >= lanes / 2 && 4 * n * lanes * item_ <= kMostOfBlock)
      return blocks(plan, x, y, scale, lanes);
    std::vector<int> radices;
    for (const int radix : plan.radices) {
      if (radix == 8) radices.push_back(2);
      radices.push_back(radix == 8 ? 4 : radix);
    }
    while (radices.size() < 2) radices.push_back(1);  // so that y may be x
    const Scratch memory(context_, 4 * rows_ * n * item_);
    const auto roots = tables_.get(plan.roots, "roots", n, dtype_);
    const auto scratch = [&](std::size_t i) {
      const std::int64_t first = i % 2 ? 2 * rows_ * n : 0;
      return Parts{Part(memory, first, n, beside_), Part(memory, first + rows_ * n, n, beside_)};
    };
    std::int64_t length = n, stride = 1;
    for (std::size_t i = 0; i < radices.size(); ++i) {
      const int radix = radices[i];
      const bool last = i + 1 == radices.size(), compiled = radix == 2 || radix == 4;
      Args args = arguments(i == 0 ? x : scratch(i - 1), last ? y : scratch(i));
      args.add(roots->handle()).index(n, wide_).index(length, wide_).index(stride, wide_);
      add_real(args, last ? scale : 1);
      if (!compiled) args.index(radix, wide_);
      Defines defines = own_defines();
      if (compiled) defines.emplace_back("RADIX", radix);
      launch_units(context_, context_.kernel("fft", compiled ? "fft_pass" : "fft_pass_any", defines),
                   rows_ * (compiled ? n / radix : n), wide_, args);
      length /= radix;
      stride *= radix;
    }
  }

  /// The same by processors, for some transforms side by side at a time.
  void blocks(const FftPlan& plan, const Parts& x, const Parts& y, double scale, std::int64_t lanes) const {
    const std::int64_t units = ceil_div(rows_, lanes);
    const Scratch memory(context_, loops_over(context_, units) * 4 * plan.n * lanes * item_);
    const auto roots = tables_.get(plan.roots, "roots", plan.n, dtype_);
    Args args = arguments(x, y);
    args.add(roots->handle()).index(plan.n, wide_);
    add_real(args, scale);
    args.add(memory.handle()).index(rows_, wide_);
    Defines defines = own_defines();
    const bool wide = dtype_ == Dtype::float64;
    defines.emplace_back("LANES", lanes);
    defines.emplace_back("V", wide ? "double8" : "float16");
    defines.emplace_back("VLOAD", wide ? "vload8" : "vload16");
    defines.emplace_back("VSTORE", wide ? "vstore8" : "vstore16");
    launch_units(context_, context_.kernel("fft", "fft_blocks", defines), units, wide_, args);
  }

  void multiply(const Parts& x, const Parts& y, const Scratch& table, std::int64_t filled, std::int64_t n,
                double scale) const {
    Args args = arguments(x, y);
    args.add(table.handle()).index(filled, wide_).index(n, wide_);
    add_real(args, scale);
    const Defines defines = own_defines();
    launch_units(context_, context_.kernel("fft", "fft_multiply", defines), rows_ * n, wide_, args);
  }

  Args arguments(const Parts& x, const Parts& y) const {
    Args args;
    for (const Part* part : {&x.re, &x.im, &y.re, &y.im})
      args.add(part->handle)
          .index(part->at, wide_)
          .index(part->far, wide_)
          .index(part->step, wide_)
          .index(part->near, wide_);
    args.index(beside_, wide_);
    return args;
  }
  Defines own_defines() const {
    Defines defines = grid_defines(context_, wide_, dtype_defines(context_, dtype_));
    if (beside_ == 1) defines.emplace_back("ROWS", 1);
    return defines;
  }
  void add_real(Args& args, double value) const {
    if (dtype_ == Dtype::float64) {
      args.add(value);
    } else {
      args.add(static_cast<float>(value));
    }
  }

  static constexpr std::int64_t kVectorBytes = 64, kMostOfBlock = std::int64_t{8} << 20;
  Context& context_;
  Tables& tables_;
  Dtype dtype_;
  std::int64_t rows_, beside_, item_;
  bool wide_;
};

/// Libraries know complex numbers whose parts lie side by side, and no scale: what lies otherwise is brought to the
/// place of the result first, and the result is scaled there. False where none has computed it.
bool by_library(Context& context, Libraries<Fft>& libraries, const Fft& p, const Transform& transform, const Parts& x,
                const Parts& y) {
  if (!libraries.any()) return false;
  const std::int64_t n = p.re.shape[1];
  const std::string* library = libraries.run(p);
  const bool is_apart = p.re.handle != p.out_re.handle && (!p.im || p.im->handle != p.out_re.handle);
  if (!library && is_apart && p.out_im.handle == p.out_re.handle) {
    transform.scaled(x, y, n, 1);
    library = libraries.run({p.inverse, p.scale, p.out_re, &p.out_im, p.out_re, p.out_im});
  }
  if (!library) return false;
  context.submitted_by(*library);
  if (p.scale != 1) transform.scaled(y, y, n, p.scale);
  return true;
}

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
    im = Part(*zeros);
  }
  const Transform transform(context, p);
  Parts x{re, im}, y{Part(p.out_re), Part(p.out_im)};
  Libraries<Fft>& libraries = libraries_for<Fft>(context);
  if (by_library(context, libraries, p, transform, x, y)) return;
  libraries.count_own();
  if (p.inverse) {  // a transform back is one there with the parts exchanged
    x = x.exchanged();
    y = y.exchanged();
  }
  transform.run(*fft_plan(p.re.shape[1]), x, y, p.scale);
}

}  // namespace catenary::gpu
