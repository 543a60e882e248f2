#include "catenary/device/pooling.h"

#include <cstdlib>
#include <optional>
#include <vector>

#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"

namespace catenary::gpu {

namespace {

/// A launch over the entries of `out`, which is the array of elements or the array of windows.
class PoolLaunch {
 public:
  PoolLaunch(Context& context, const Window& window, const View& elements, const View& windows, const View& out)
      : context_(context), window_(window), elements_(elements), windows_(windows), out_(out) {
    const int last = out.shape.size() - 1;
    channels_last_ =
        out.shape[1] > 1 && (out.shape[last] == 1 || std::abs(out.strides[1]) < std::abs(out.strides[last]));
    inner_ = out.shape[channels_last_ ? 1 : last];
    wide_ = needs_wide({out.size()});
    for (int a = 0; a < window.axes(); ++a)
      wide_ = wide_ || needs_wide({windows.shape[a + 2] * window.stride[a] + window.reach(a) + window.pad[a]});
  }

  /// Adds an array's arguments: address, offset and strides.
  void add(const View& v) {
    std::int64_t lowest = v.offset, highest = v.offset;
    for (int a = 0; a < v.shape.size(); ++a) (v.strides[a] < 0 ? lowest : highest) += v.strides[a] * (v.shape[a] - 1);
    wide_ = wide_ || needs_wide({lowest, highest});
    arrays_.push_back(&v);
  }
  void run(const char* kernel, const char* part) {
    if (out_.size() == 0) return;
    Args args;
    for (const View* v : arrays_) {
      args.add(v->handle);
      const auto& s = v->strides;
      const int missing = 5 - s.size();
      for (const std::int64_t number : {v->offset, s[0], s[1]}) args.index(number, wide_);
      for (int a = 2; a < 5; ++a) args.index(a - missing < 2 ? 0 : s[a - missing], wide_);
    }
    args.index(out_.shape[1], wide_).add(std::int32_t{channels_last_});
    for (int a = window_.axes() - 3; a < window_.axes(); ++a) {
      const bool none = a < 0;
      for (const std::int64_t number :
           {none ? 1 : elements_.shape[a + 2], none ? 1 : windows_.shape[a + 2], none ? 1 : window_.size[a],
            none ? 1 : window_.stride[a], none ? 0 : window_.pad[a], none ? 1 : window_.dilate[a]})
        args.index(number, wide_);
    }
    if (divisor) {
      if (out_.dtype == Dtype::float64) {
        args.add(*divisor);
      } else {
        args.add(static_cast<float>(*divisor));
      }
    }
    if (accumulate) args.add(std::int32_t{*accumulate});
    args.index(inner_, wide_);
    Defines defines = grid_defines(context_, wide_, dtype_defines(context_, out_.dtype));
    defines.emplace_back(part, "");
    if (places) defines.emplace_back("PLACES", "");
    launch_units(context_, context_.kernel("pooling", kernel, defines),
                 context_.loops ? out_.size() / inner_ : out_.size(), wide_, args);
  }

  // arguments of some kernels only
  std::optional<double> divisor;
  std::optional<bool> accumulate;
  bool places = false;

 private:
  Context& context_;
  const Window& window_;
  const View &elements_, &windows_, &out_;
  std::vector<const View*> arrays_;
  std::int64_t inner_;
  bool channels_last_, wide_;
};

}  // namespace

template <>
void compute(Context& context, const Pool& p) {
  PoolLaunch launch(context, p.window, p.x, p.y, p.y);
  launch.add(p.x);
  launch.add(p.y);
  if (p.op != Pooling::max) {
    launch.divisor = divisor_of(p.op, p.window);
    return launch.run("sum_pool", "PART_SUM");
  }
  launch.places = p.places != nullptr;
  if (p.places) launch.add(*p.places);
  launch.run("max_pool", "PART_MAX");
}

template <>
void compute(Context& context, const PoolBack& p) {
  PoolLaunch launch(context, p.window, p.gx, p.gy, p.gx);
  launch.add(p.gy);
  launch.add(p.gx);
  launch.accumulate = p.accumulate;
  if (p.op != Pooling::max) {
    launch.divisor = divisor_of(p.op, p.window);
    return launch.run("sum_pool_back", "PART_SUM_BACK");
  }
  launch.add(*p.places);
  launch.run("max_pool_back", "PART_MAX_BACK");
}

template <>
void compute(Context& context, const PoolPick& p) {
  PoolLaunch launch(context, p.window, p.x, p.y, p.y);
  launch.add(p.x);
  launch.add(p.y);
  launch.add(p.places);
  launch.run("pool_pick", "PART_PICK");
}

}  // namespace catenary::gpu
