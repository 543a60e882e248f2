// Poolings, their gradients and those' gradients are one walk: each element of `out` is made of some of `in`, its taps.
// Which ones is found axis by axis. Elements with the same taps run in vectors: neighbours along the last axis, or
// channels, whichever lie side by side. Each is a sum in the order of the windows, whatever thread computes it.

#include "catenary/backends/cpu/pooling.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "catenary/backends/cpu/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/memory_order.h"
#include "catenary/core/parallel.h"
#include "catenary/device/pooling.h"

namespace catenary::cpu {

namespace {

constexpr std::int64_t kPlanes = 32768;  // bytes of neighbouring channels that take turns row by row

/// What an element is made of, along one axis.
struct Source {
  std::int64_t index, tap, share;  // share: the divisor of an average inside
};

/// The sources of each index of an axis of `out`. Those of `period` further on are often the same `shift` further on.
struct Axis {
  std::int64_t extent = 1, period = 1, shift = 1;
  std::vector<std::size_t> begin{0};
  std::vector<Source> sources;

  /// An axis that nothing slides over.
  static Axis alone() {
    Axis axis;
    axis.add({0, 0, 1});
    axis.close();
    return axis;
  }
  /// out: windows, in: elements.
  static Axis forward(const Window& w, int a, std::int64_t windows, std::int64_t elements) {
    Axis axis;
    axis.extent = windows;
    axis.shift = w.stride[a];
    for (std::int64_t o = 0; o < windows; ++o) {
      for (std::int64_t tap = 0; tap < w.size[a]; ++tap) {
        const std::int64_t i = o * w.stride[a] - w.pad[a] + tap * w.dilate[a];
        if (i >= 0 && i < elements) axis.add({i, tap, 1});
      }
      axis.close();
    }
    return axis;
  }
  /// out: elements, in: windows.
  static Axis back(const Window& w, int a, std::int64_t windows, std::int64_t elements) {
    const Axis there = forward(w, a, windows, elements);
    Axis axis;
    axis.extent = elements;
    axis.period = w.stride[a];
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::int64_t at = i + w.pad[a], last = std::min(at / w.stride[a], windows - 1);
      for (std::int64_t o = std::max<std::int64_t>(0, (at - w.reach(a)) / w.stride[a]); o <= last; ++o) {
        const std::int64_t distance = at - o * w.stride[a];
        if (distance % w.dilate[a] == 0 && distance < w.reach(a))
          axis.add({o, distance / w.dilate[a], static_cast<std::int64_t>(there.of(o).size())});
      }
      axis.close();
    }
    return axis;
  }

  std::span<const Source> of(std::int64_t i) const {
    const std::size_t first = begin[static_cast<std::size_t>(i)];
    return {sources.data() + first, begin[static_cast<std::size_t>(i) + 1] - first};
  }
  /// Has the index a period behind `i` the same taps, a shift further on?
  bool continues(std::int64_t i) const {
    if (i + period >= extent) return false;
    const std::span<const Source> here = of(i), there = of(i + period);
    return std::equal(here.begin(), here.end(), there.begin(), there.end(), [&](const Source& a, const Source& b) {
      return a.index + shift == b.index && a.tap == b.tap && a.share == b.share;
    });
  }

 private:
  void add(const Source& source) { sources.push_back(source); }
  void close() { begin.push_back(sources.size()); }
};

/// Indices of the last axis, `period` apart, which continue each other.
struct Stretch {
  std::int64_t first, count;
};
std::vector<Stretch> stretches(const Axis& axis) {
  std::vector<Stretch> all;
  for (std::int64_t phase = 0; phase < std::min(axis.period, axis.extent); ++phase)
    for (std::int64_t i = phase; i < axis.extent; i += axis.period) {
      const std::int64_t first = i;
      while (axis.continues(i)) i += axis.period;
      all.push_back({first, (i - first) / axis.period + 1});
    }
  return all;
}

/// Distances along the examples, the channels and three axes, which leading ones make up where fewer slide.
struct Five {
  explicit Five(const Strides& s) : n(s[0]), c(s[1]) {
    for (int a = 2; a < s.size(); ++a) axis[a + 3 - s.size()] = s[a];
  }
  std::int64_t at(const Source& i, const Source& j, const Source& k) const {
    return i.index * axis[0] + j.index * axis[1] + k.index * axis[2];
  }
  std::int64_t n, c, axis[3] = {0, 0, 0};
};

class Walk {
 public:
  /// back: out is over the elements and in over the windows.
  Walk(PoolLoop loop, const Window& window, bool back, const View& in, const View& out, const View* places)
      : loop_(loop),
        in_(in),
        out_(out),
        places_(places),
        from_(in.strides),
        to_(out.strides),
        place_(places ? places->strides : out.strides),
        places_of_out_(loop == PoolLoop::max || loop == PoolLoop::pick) {
    const int missing = 3 - window.axes();
    for (int a = 0; a < 3; ++a) {
      if (a < missing) {
        axes_[a] = Axis::alone();
        continue;
      }
      const std::int64_t of_in = in.shape[a - missing + 2], of_out = out.shape[a - missing + 2];
      taps_[a] = window.size[a - missing];
      axes_[a] =
          back ? Axis::back(window, a - missing, of_in, of_out) : Axis::forward(window, a - missing, of_out, of_in);
    }
    stretches_ = stretches(axes_[2]);
    const std::int64_t channels = out.shape[1], planes = out.shape[0] * channels;
    over_channels_ = channels > 1 && (std::abs(from_.c) < std::abs(from_.axis[2]) || axes_[2].extent == 1);
    block_ = over_channels_
                 ? channels
                 : std::clamp<std::int64_t>(kPlanes * planes / std::max<std::int64_t>(1, in.nbytes() + out.nbytes()), 1,
                                            std::max<std::int64_t>(1, channels));
    staged_ = !over_channels_ && axes_[2].period > 1 && to_.axis[2] == 1;
  }

  /// divisor: of sums; 0: as many as there are elements under the window.
  void run(double divisor, bool accumulate) const {
    if (out_.size() == 0) return;
    const std::int64_t rows = axes_[0].extent * axes_[1].extent, blocks = (out_.shape[1] + block_ - 1) / block_,
                       units = out_.shape[0] * blocks * rows, elements = (in_.size() + out_.size()) / units;
    parallel_for(units, kGrain / (1 + elements) + 1, [&](std::int64_t first, std::int64_t last) {
      std::vector<PoolTap> taps;
      const Scratch stage(staged_ ? block_ * staged_row() * item() : 0);
      for (std::int64_t unit = first; unit < last; ++unit) {
        const std::int64_t n = unit / rows / blocks, channel = unit / rows % blocks * block_, at = unit % rows;
        row({n, channel, std::min(block_, out_.shape[1] - channel), at / axes_[1].extent, at % axes_[1].extent},
            divisor, accumulate, taps, stage.as<char>());
      }
    });
  }

 private:
  /// A row along the last axis, of some channels.
  struct Row {
    std::int64_t n, channel, channels, d, h;
  };

  std::int64_t item() const { return static_cast<std::int64_t>(itemsize(in_.dtype)); }
  std::int64_t staged_length() const { return (axes_[2].extent + axes_[2].period - 1) / axes_[2].period; }
  std::int64_t staged_row() const { return staged_length() * axes_[2].period; }

  void find_taps(const Row& row, std::int64_t w, double divisor, std::vector<PoolTap>& taps) const {
    taps.clear();
    for (const Source& i : axes_[0].of(row.d))
      for (const Source& j : axes_[1].of(row.h))
        for (const Source& k : axes_[2].of(w))
          taps.push_back({from_.at(i, j, k), places_of_out_ ? 0 : place_.at(i, j, k),
                          static_cast<std::int32_t>((i.tap * taps_[1] + j.tap) * taps_[2] + k.tap),
                          divisor > 0 ? divisor : static_cast<double>(i.share * j.share * k.share)});
  }

  void row(const Row& row, double divisor, bool accumulate, std::vector<PoolTap>& taps, char* stage) const {
    const Axis& w = axes_[2];
    const bool f64 = in_.dtype == Dtype::float64;
    const auto start = [&](const Five& f, bool of_out) {
      return row.n * f.n + row.channel * f.c + (of_out ? row.d * f.axis[0] + row.h * f.axis[1] : 0);
    };
    const char* in = static_cast<const char*>(in_.data()) + start(from_, false) * item();
    char* out = static_cast<char*>(out_.data()) + start(to_, true) * item();
    for (const Stretch& s : stretches_) {
      find_taps(row, s.first, divisor, taps);
      const auto count = static_cast<std::int64_t>(taps.size());
      PoolRun r{in,
                out + s.first * to_.axis[2] * item(),
                nullptr,
                taps.data(),
                count,
                s.count,
                row.channels,
                {w.shift * from_.axis[2], from_.c},
                {w.period * to_.axis[2], to_.c},
                {(places_of_out_ ? w.period : w.shift) * place_.axis[2], place_.c},
                divisor > 0 ? divisor : static_cast<double>(count),
                accumulate && !staged_};
      if (places_)
        r.places = static_cast<std::int32_t*>(places_->data()) + start(place_, places_of_out_) +
                   (places_of_out_ ? s.first * place_.axis[2] : 0);
      if (staged_) {
        r.out = stage + (s.first % w.period * staged_length() + s.first / w.period) * item();
        r.to = {1, staged_row()};
      }
      if (over_channels_) {
        std::swap(r.lanes, r.repeats);
        for (PoolRun::Distance* distance : {&r.from, &r.to, &r.place}) std::swap(distance->lane, distance->repeat);
      }
      CT_SIMD_SELECT(pool_run)(f64, loop_, r);
    }
    if (!staged_) return;
    for (std::int64_t c = 0; c < row.channels; ++c) CT_SIMD_SELECT(interleave_rows)
    (f64, out + c * to_.c * item(), stage + c * staged_row() * item(), staged_length(), w.period, w.extent, accumulate);
  }

  PoolLoop loop_;
  const View &in_, &out_;
  const View* places_;
  Five from_, to_, place_;
  bool places_of_out_, over_channels_ = false;
  bool staged_ = false;  // rows are put together from their phases, as vectors cannot be written with gaps
  std::int64_t block_ = 1;
  std::int64_t taps_[3] = {1, 1, 1};
  Axis axes_[3];
  std::vector<Stretch> stretches_;
};

/// A float32 copy of a view of 16-bit floats, which are storage.
class Wide {
 public:
  Wide(const View& narrow, bool with_values)
      : narrow_(narrow),
        memory_(narrow.size() * 4),
        view_{memory_.as<void>(), 0, Dtype::float32, narrow.shape, strides_like(narrow.shape, narrow.strides)} {
    if (with_values) compute(Copy{view_, narrow_});
  }
  const View& view() const { return view_; }
  void write() const { compute(Copy{narrow_, view_}); }

 private:
  const View& narrow_;
  Scratch memory_;
  View view_;
};

}  // namespace

template <>
void compute(const Pool& p) {
  if (is_16bit_float(p.x.dtype)) {
    const Wide x(p.x, true), y(p.y, false);
    compute(Pool{p.op, p.window, x.view(), y.view(), p.places});
    return y.write();
  }
  const Walk walk(p.op == Pooling::max ? PoolLoop::max : PoolLoop::sum, p.window, false, p.x, p.y, p.places);
  walk.run(divisor_of(p.op, p.window), false);
}

template <>
void compute(const PoolBack& p) {
  if (is_16bit_float(p.gy.dtype)) {
    const Wide gy(p.gy, true), gx(p.gx, p.accumulate);
    compute(PoolBack{p.op, p.window, gy.view(), gx.view(), p.places, p.accumulate});
    return gx.write();
  }
  const PoolLoop loop = p.op == Pooling::max ? PoolLoop::placed : PoolLoop::sum_of_shares;
  const Walk walk(loop, p.window, true, p.gy, p.gx, p.op == Pooling::max ? p.places : nullptr);
  walk.run(divisor_of(p.op, p.window), p.accumulate);
}

template <>
void compute(const PoolPick& p) {
  if (is_16bit_float(p.x.dtype)) {
    const Wide x(p.x, true), y(p.y, false);
    compute(PoolPick{p.window, x.view(), p.places, y.view()});
    return y.write();
  }
  Walk(PoolLoop::pick, p.window, false, p.x, p.y, &p.places).run(1, false);
}

}  // namespace catenary::cpu
