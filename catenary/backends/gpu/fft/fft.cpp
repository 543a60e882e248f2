// Fourier transforms, by a library or by our own kernels. If all passes of a transform fit a block of fast memory, it
// takes one launch, including the products of a chirp. A longer transform takes two steps of such transforms if its
// length has suitable factors, otherwise one launch for each pass. Tables are computed on the host in float64, and
// cached in device memory.

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

/// The real or imaginary parts of complex numbers: an offset, and strides along three axes.
struct Part {
  void* handle;
  std::int64_t at, far, step, near;

  explicit Part(const View& v)
      : handle(v.handle), at(v.offset), far(v.strides[0]), step(v.strides[1]), near(v.strides[2]) {}
  /// Transforms of n elements, `beside` of them interleaved, in blocks one after another.
  Part(const Scratch& memory, std::int64_t at, std::int64_t n, std::int64_t beside)
      : handle(memory.handle()), at(at), far(n * beside), step(beside), near(1) {}
  /// Returns this memory with other strides, `i` far strides from its beginning.
  Part moved(std::int64_t i, std::int64_t new_far, std::int64_t new_step, std::int64_t new_near) const {
    Part there = *this;
    there.at += i * far;
    there.far = new_far;
    there.step = new_step;
    there.near = new_near;
    return there;
  }
  /// One number for all elements.
  explicit Part(const Scratch& memory) : handle(memory.handle()), at(0), far(0), step(0), near(0) {}
};
struct Parts {
  Part re, im;
  Parts exchanged() const { return {im, re}; }
};
/// Numbers of transforms, and of interleaved transforms.
struct Batch {
  std::int64_t rows, beside;
};

/// The tables of a device. Each is uploaded once while all together take at most kMost bytes. Further tables live for
/// one transform.
class Tables {
 public:
  explicit Tables(Context& context) : context_(context) {}

  /// Returns the table of this name for a length. `make` returns a new table (an FftTable, or a reference to one).
  template <class Make>
  std::shared_ptr<const Scratch> get(const char* what, std::int64_t n, Dtype dtype, const Make& make) {
    const Key key{what, n, dtype};
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
    }
    const FftTable& table = make();  // without the lock, because it may take long
    const std::size_t bytes = table.f64.size() * itemsize(dtype);
    auto made = std::make_shared<Scratch>(context_, static_cast<std::int64_t>(bytes));
    context_.write(made->handle(), 0, table.data(dtype), bytes);
    const std::lock_guard lock(mutex_);
    if (bytes_ + bytes > kMost || kept_.count(key) > 0) return made;
    // once, so that all streams may read the table
    context_.driver.synchronize_stream(context_.index, context_.driver.stream(context_.index));
    bytes_ += bytes;
    return kept_.emplace(key, std::move(made)).first->second;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{64} << 20;
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
        item_(static_cast<std::int64_t>(itemsize(dtype_))),
        batch_{p.re.shape[0] * p.re.shape[2], p.re.shape[2]} {
    context.check_dtype(dtype_, "fft");
    std::int64_t reach = 0;
    for (const View* v : {&p.re, p.im, &p.out_re, &p.out_im})
      if (v) {
        std::int64_t own = v->offset;
        for (int axis = 0; axis < 3; ++axis) own += v->shape[axis] * std::abs(v->strides[axis]);
        reach = std::max(reach, own);
      }
    const auto plan = fft_plan(p.re.shape[1]);
    wide_ = needs_wide({reach, 4 * batch_.rows * (plan->inner ? plan->inner->n : plan->n)});
  }

  /// y = x times `scale`. y may be x.
  void scaled(const Parts& x, const Parts& y, std::int64_t n, double scale) const {
    Args args = arguments(batch_, x, y);
    args.index(n, wide_);
    add_real(args, scale);
    launch_units(context_, context_.kernel("fft", "fft_scale", own_defines(batch_)), batch_.rows * n, wide_, args);
  }

  /// y = transform of x times `scale`. y may be x.
  void run(const FftPlan& plan, const Parts& x, const Parts& y, double scale) const {
    if (!plan.inner) return passes(plan, x, y, scale);
    const std::int64_t length = plan.inner->n;
    if (is_block(batch_, length)) return block(batch_, plan, x, y, scale);
    const Scratch memory(context_, 4 * batch_.rows * length * item_);
    const auto parts = [&](int i) {
      return Parts{Part(memory, 2 * i * batch_.rows * length, length, batch_.beside),
                   Part(memory, (2 * i + 1) * batch_.rows * length, length, batch_.beside)};
    };
    const auto chirp = table("chirp", plan, plan.chirp), spectrum = table("spectrum", plan, plan.spectrum);
    multiply(x, parts(0), *chirp, plan.n, length, 1);
    passes(*plan.inner, parts(0), parts(1), 1);
    multiply(parts(1), parts(0), *spectrum, length, length, 1);
    // an inverse transform is a forward transform with exchanged parts
    passes(*plan.inner, parts(0).exchanged(), parts(1).exchanged(), 1);
    multiply(parts(1), y, *chirp, plan.n, plan.n, scale);
  }

 private:
  /// Computes a transform without a chirp.
  void passes(const FftPlan& plan, const Parts& x, const Parts& y, double scale) const {
    if (is_block(batch_, plan.n)) return block(batch_, plan, x, y, scale);
    const auto [n1, n2] = factors_at_root(plan.n);
    // not if a factor needs a chirp although the whole does not, nor if the twiddle factors would fill the tables'
    // memory
    const bool is_plain = !fft_plan(n1)->inner && !fft_plan(n2)->inner && 2 * plan.n * item_ <= kMostOfTurns;
    const Batch first{batch_.rows / batch_.beside * n2, n2}, second{batch_.rows / batch_.beside * n1, n1};
    if (is_plain && n1 >= kShortStep && is_block(first, n1) && is_block(second, n2))
      return in_two_steps(plan, n1, n2, x, y, scale);
    one_by_one(plan, x, y, scale);
  }

  // ---- one launch for all passes ----

  /// Returns whether passes of this length fit a block. On a processor, a work-item computes a vector of transforms, so
  /// there must be enough of them.
  bool is_block(const Batch& batch, std::int64_t length) const {
    if (!context_.loops) return length <= most_in_group();
    return batch.rows >= lanes() / 2 && 4 * length * lanes() * item_ <= kMostOfBlock;
  }

  /// y = transform of x times `scale` and `turns`, which has a factor for each element of interleaved transforms.
  void block(const Batch& batch, const FftPlan& plan, const Parts& x, const Parts& y, double scale,
             const Scratch* turns = nullptr) const {
    const FftPlan& inner = plan.inner ? *plan.inner : plan;
    const auto roots = table("roots", inner, inner.roots);
    std::shared_ptr<const Scratch> chirp, spectrum;
    std::optional<Scratch> memory;
    Args args = arguments(batch, x, y);
    args.add(roots->handle()).index(inner.n, wide_);
    add_real(args, scale);
    Defines defines = own_defines(batch);
    if (plan.inner) {
      chirp = table("chirp", plan, plan.chirp);
      spectrum = table("spectrum", plan, plan.spectrum);
      args.add(chirp->handle()).add(spectrum->handle()).index(plan.n, wide_);
      defines.emplace_back("CHIRP", "");
    } else if (turns) {
      args.add(turns->handle());
      defines.emplace_back("TURNS", "");
    }
    std::int64_t beside = 1;
    if (context_.loops) {
      beside = lanes();
      const bool wide = dtype_ == Dtype::float64;
      defines.emplace_back("LANES", beside);
      defines.emplace_back("V", wide ? "double8" : "float16");
      defines.emplace_back("VLOAD", wide ? "vload8" : "vload16");
      defines.emplace_back("VSTORE", wide ? "vstore8" : "vstore16");
      memory.emplace(context_, loops_over(context_, ceil_div(batch.rows, beside)) * 4 * inner.n * beside * item_);
      args.add(memory->handle());
    } else {
      const std::int64_t room = std::min({most_in_group() / inner.n, batch.rows, kMostBeside});
      while (2 * beside <= room) beside *= 2;
      defines.emplace_back("SIZE", most_in_group());
      for (const auto& [name, part] : {std::pair("X_ROWS", &x.re), std::pair("Y_ROWS", &y.re)})
        defines.emplace_back(name, batch.beside == 1 || std::abs(part->step) < std::abs(part->near) ? 1 : 0);
    }
    defines.emplace_back("BESIDE", beside);
    args.index(batch.rows, wide_);
    launch_groups(context_, context_.kernel("fft", "fft_block", defines), ceil_div(batch.rows, beside), wide_, args);
  }

  // ---- long transforms ----

  /// t = t1 n2 + t2 and f = f1 + n1 f2: transforms along t1, multiplies by w^(f1 t2), then transforms along t2.
  void in_two_steps(const FftPlan& plan, std::int64_t n1, std::int64_t n2, const Parts& x, const Parts& y,
                    double scale) const {
    const std::int64_t n = plan.n, together = batch_.beside == 1 ? batch_.rows : batch_.beside,
                       times = batch_.rows / together;
    const Scratch memory(context_, 2 * together * n * item_);
    const Parts middle{Part(memory, 0, n, 1), Part(memory, together * n, n, 1)};
    const auto turns = tables_.get("turns", n, dtype_, [&] { return FftTable(turns_of(plan.roots.f64, n1, n2)); });
    for (std::int64_t i = 0; i < times; ++i) {
      const auto places = [&](const Parts& all, std::int64_t step, std::int64_t near) {
        const auto place = [&](const Part& part) {
          const std::int64_t far = batch_.beside == 1 ? part.far : part.near;
          return part.moved(i, far, step * part.step, near * part.step);
        };
        return Parts{place(all.re), place(all.im)};
      };
      const auto in_middle = [&](std::int64_t step, std::int64_t near) {
        return Parts{middle.re.moved(0, n, step, near), middle.im.moved(0, n, step, near)};
      };
      block({together * n2, n2}, *fft_plan(n1), places(x, n2, 1), in_middle(n2, 1), 1, turns.get());
      block({together * n1, n1}, *fft_plan(n2), in_middle(1, n2), places(y, n1, 1), scale);
    }
  }

  static std::vector<double> turns_of(const std::vector<double>& roots, std::int64_t n1, std::int64_t n2) {
    std::vector<double> turns;
    turns.reserve(roots.size());
    for (std::int64_t f1 = 0; f1 < n1; ++f1)
      for (std::int64_t t2 = 0; t2 < n2; ++t2)
        for (const std::int64_t part : {0, 1}) turns.push_back(roots[static_cast<std::size_t>(2 * f1 * t2 + part)]);
    return turns;
  }

  void one_by_one(const FftPlan& plan, const Parts& x, const Parts& y, double scale) const {
    const std::int64_t n = plan.n;
    std::vector<int> radices;
    for (const int radix : plan.radices) {
      if (radix == 8) radices.push_back(2);
      radices.push_back(radix == 8 ? 4 : radix);
    }
    while (radices.size() < 2) radices.push_back(1);  // at least two passes, so that y may be x
    const Scratch memory(context_, 4 * batch_.rows * n * item_);
    const auto roots = table("roots", plan, plan.roots);
    const auto scratch = [&](std::size_t i) {
      const std::int64_t first = i % 2 ? 2 * batch_.rows * n : 0;
      return Parts{Part(memory, first, n, batch_.beside), Part(memory, first + batch_.rows * n, n, batch_.beside)};
    };
    std::int64_t length = n, stride = 1;
    for (std::size_t i = 0; i < radices.size(); ++i) {
      const int radix = radices[i];
      const bool last = i + 1 == radices.size(), compiled = radix == 2 || radix == 4;
      Args args = arguments(batch_, i == 0 ? x : scratch(i - 1), last ? y : scratch(i));
      args.add(roots->handle()).index(n, wide_).index(length, wide_).index(stride, wide_);
      add_real(args, last ? scale : 1);
      if (!compiled) args.index(radix, wide_);
      Defines defines = own_defines(batch_);
      if (compiled) defines.emplace_back("RADIX", radix);
      launch_units(context_, context_.kernel("fft", compiled ? "fft_pass" : "fft_pass_any", defines),
                   batch_.rows * (compiled ? n / radix : n), wide_, args);
      length /= radix;
      stride *= radix;
    }
  }

  void multiply(const Parts& x, const Parts& y, const Scratch& table, std::int64_t filled, std::int64_t n,
                double scale) const {
    Args args = arguments(batch_, x, y);
    args.add(table.handle()).index(filled, wide_).index(n, wide_);
    add_real(args, scale);
    launch_units(context_, context_.kernel("fft", "fft_multiply", own_defines(batch_)), batch_.rows * n, wide_, args);
  }

  // ---- arguments of launches ----

  Args arguments(const Batch& batch, const Parts& x, const Parts& y) const {
    Args args;
    for (const Part* part : {&x.re, &x.im, &y.re, &y.im})
      args.add(part->handle)
          .index(part->at, wide_)
          .index(part->far, wide_)
          .index(part->step, wide_)
          .index(part->near, wide_);
    args.index(batch.beside, wide_);
    return args;
  }
  Defines own_defines(const Batch& batch) const {
    Defines defines = grid_defines(context_, wide_, dtype_defines(context_, dtype_));
    if (batch.beside == 1) defines.emplace_back("ROWS", 1);
    return defines;
  }
  void add_real(Args& args, double value) const {
    if (dtype_ == Dtype::float64) {
      args.add(value);
    } else {
      args.add(static_cast<float>(value));
    }
  }
  std::shared_ptr<const Scratch> table(const char* what, const FftPlan& plan, const FftTable& values) const {
    return tables_.get(what, plan.n, dtype_, [&]() -> const FftTable& { return values; });
  }
  std::int64_t lanes() const { return kVectorBytes / item_; }
  std::int64_t most_in_group() const { return kLocalBytes / (4 * item_); }

  // Every card has at least this much local memory per group.
  static constexpr std::int64_t kLocalBytes = 32 << 10, kMostBeside = 256, kShortStep = 8;
  static constexpr std::int64_t kVectorBytes = 64, kMostOfBlock = std::int64_t{8} << 20,
                                kMostOfTurns = std::int64_t{16} << 20;
  Context& context_;
  Tables& tables_;
  Dtype dtype_;
  std::int64_t item_;
  Batch batch_;
  bool wide_;
};

/// Computes by a library. Libraries support interleaved complex numbers without a scale, so other layouts are first
/// copied to the result, and the result is scaled in place. Returns false if no library computed it.
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
  if (p.inverse) {  // an inverse transform is a forward transform with exchanged parts
    x = x.exchanged();
    y = y.exchanged();
  }
  transform.run(*fft_plan(p.re.shape[1]), x, y, p.scale);
}

}  // namespace catenary::gpu
