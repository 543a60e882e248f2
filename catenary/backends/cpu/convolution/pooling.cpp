// Poolings, their gradients and second gradients are one kind of iteration: each element of `out` is computed from some
// elements of `in`, its taps, which are determined axis by axis. Elements with equal taps are computed in vectors along
// the last axis or the channels, whichever is contiguous, and a run covers many rows. Each sum is in the order of the
// windows, independent of threads.

#include "catenary/backends/cpu/convolution/pooling.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/memory_order.h"
#include "catenary/core/parallel.h"
#include "catenary/device/pooling.h"

namespace catenary::cpu {

namespace {

constexpr std::int64_t kPiece = 16384;  // elements of both arrays in one run

/// An input of an element along one axis.
struct Source {
  std::int64_t index, tap, share;  // share: the divisor of an average without padding
};

/// The sources of each index of an axis of `out`. Sources often repeat every `period` indices, moved by `shift`.
struct Axis {
  std::int64_t extent = 1, period = 1, shift = 1;
  std::vector<std::size_t> begin{0};
  std::vector<Source> sources;

  /// Returns an axis without windows.
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
  /// Returns whether index i + period has the taps of index i, moved by `shift`.
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

/// A run of `count` indices of an axis, `step` apart, with equal taps. Or, with `pairs`, pairs of an index and the next
/// index.
struct Stretch {
  std::int64_t first, count;
  bool pairs;
};
std::vector<Stretch> stretches(const Axis& axis, bool pairs, std::int64_t most) {
  std::vector<Stretch> all;
  std::vector<bool> done(static_cast<std::size_t>(axis.extent));
  for (std::int64_t first = 0; first < axis.extent; ++first) {
    if (done[static_cast<std::size_t>(first)]) continue;
    Stretch s{first, 0, pairs && first + 1 < axis.extent};
    for (std::int64_t i = first;; i += axis.period) {
      done[static_cast<std::size_t>(i)] = true;
      if (s.pairs) done[static_cast<std::size_t>(i + 1)] = true;
      if (++s.count >= most || !axis.continues(i) || (s.pairs && !axis.continues(i + 1))) break;
    }
    all.push_back(s);
  }
  return all;
}

/// Strides of the examples, the channels and three axes. Missing leading axes have stride 0.
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
  /// back: `out` has the elements and `in` the windows.
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
    const std::int64_t channels = out.shape[1];
    over_channels_ = channels > 1 && (std::abs(from_.c) < std::abs(from_.axis[2]) || axes_[2].extent == 1);
    const bool pairs = !over_channels_ && axes_[2].period == 2 && to_.axis[2] == 1;
    along_w_ = stretches(axes_[2], pairs, axes_[2].extent);
    // pieces of rows or, if rows are short, of several channels
    const std::int64_t elements = in.size() + out.size(), planes = std::max<std::int64_t>(1, out.shape[0] * channels),
                       row = 1 + elements / (planes * std::max<std::int64_t>(1, axes_[0].extent * axes_[1].extent)) *
                                     (over_channels_ ? channels : 1);
    along_h_ = stretches(axes_[1], false, std::max<std::int64_t>(1, kPiece / row));
    block_ =
        over_channels_ ? channels : std::max<std::int64_t>(1, std::min(channels, kPiece * planes / (1 + elements)));
  }

  /// divisor of sums; 0 means the number of elements under the window
  void run(double divisor, bool accumulate) const {
    if (out_.size() == 0) return;
    const auto pieces = static_cast<std::int64_t>(along_h_.size());
    const std::int64_t depth = axes_[0].extent, blocks = (out_.shape[1] + block_ - 1) / block_,
                       units = out_.shape[0] * blocks * depth * pieces, elements = (in_.size() + out_.size()) / units;
    parallel_for(units, kGrain / (1 + elements) + 1, [&](std::int64_t first, std::int64_t last) {
      std::vector<PoolTap> taps;
      for (std::int64_t unit = first; unit < last; ++unit) {
        const std::int64_t n = unit / pieces / depth / blocks, channel = unit / pieces / depth % blocks * block_;
        piece({n, channel, std::min(block_, out_.shape[1] - channel), unit / pieces % depth,
               along_h_[static_cast<std::size_t>(unit % pieces)]},
              divisor, accumulate, taps);
      }
    });
  }

 private:
  /// Some rows along the last axis, of some channels.
  struct Piece {
    std::int64_t n, channel, channels, d;
    Stretch h;
  };

  std::int64_t item() const { return static_cast<std::int64_t>(itemsize(in_.dtype)); }

  /// Appends the taps of an element and returns their number.
  std::int64_t add_taps(const Piece& piece, std::int64_t w, double divisor, std::vector<PoolTap>& taps) const {
    const std::size_t before = taps.size();
    for (const Source& i : axes_[0].of(piece.d))
      for (const Source& j : axes_[1].of(piece.h.first))
        for (const Source& k : axes_[2].of(w))
          taps.push_back({from_.at(i, j, k), places_of_out_ ? 0 : place_.at(i, j, k),
                          static_cast<std::int32_t>((i.tap * taps_[1] + j.tap) * taps_[2] + k.tap),
                          divisor > 0 ? divisor : static_cast<double>(i.share * j.share * k.share)});
    return static_cast<std::int64_t>(taps.size() - before);
  }

  void piece(const Piece& piece, double divisor, bool accumulate, std::vector<PoolTap>& taps) const {
    const Axis &h = axes_[1], &w = axes_[2];
    // offset of the piece in an array: the base of its taps, or its position in `out` at w
    const auto start = [&](const Five& f) { return piece.n * f.n + piece.channel * f.c; };
    const auto place = [&](const Five& f, std::int64_t at_w) {
      return start(f) + piece.d * f.axis[0] + piece.h.first * f.axis[1] + at_w * f.axis[2];
    };
    const auto distances = [&](const Five& f, bool of_out) {
      const std::int64_t lane = (of_out ? w.period : w.shift) * f.axis[2],
                         row = (of_out ? h.period : h.shift) * f.axis[1];
      return over_channels_ ? PoolRun::Distances{f.c, lane, row} : PoolRun::Distances{lane, row, f.c};
    };
    for (const Stretch& s : along_w_) {
      PoolRun r{};
      taps.clear();
      r.count = add_taps(piece, s.first, divisor, taps);
      r.second_count = s.pairs ? add_taps(piece, s.first + 1, divisor, taps) : -1;
      r.taps = taps.data();
      r.in = static_cast<const char*>(in_.data()) + start(from_) * item();
      r.out = static_cast<char*>(out_.data()) + place(to_, s.first) * item();
      if (places_)
        r.places =
            static_cast<std::int32_t*>(places_->data()) + (places_of_out_ ? place(place_, s.first) : start(place_));
      r.lanes = over_channels_ ? piece.channels : s.count;
      r.repeats = over_channels_ ? s.count : piece.h.count;
      r.planes = over_channels_ ? piece.h.count : piece.channels;
      r.from = distances(from_, false);
      r.to = distances(to_, true);
      r.place = distances(place_, places_of_out_);
      r.divisor = divisor > 0 ? divisor : static_cast<double>(r.count);
      r.accumulate = accumulate;
      CT_SIMD_SELECT(pool_run)(in_.dtype, loop_, r);
    }
  }

  PoolLoop loop_;
  const View &in_, &out_;
  const View* places_;
  Five from_, to_, place_;
  bool places_of_out_, over_channels_ = false;
  std::int64_t block_ = 1;
  std::int64_t taps_[3] = {1, 1, 1};
  Axis axes_[3];
  std::vector<Stretch> along_h_, along_w_;
};

}  // namespace

template <>
void compute(const Pool& p) {
  const Walk walk(p.op == Pooling::max ? PoolLoop::max : PoolLoop::sum, p.window, false, p.x, p.y, p.places);
  walk.run(divisor_of(p.op, p.window), false);
}

template <>
void compute(const PoolBack& p) {
  const PoolLoop loop = p.op == Pooling::max ? PoolLoop::placed : PoolLoop::sum_of_shares;
  const Walk walk(loop, p.window, true, p.gy, p.gx, p.op == Pooling::max ? p.places : nullptr);
  walk.run(divisor_of(p.op, p.window), p.accumulate);
}

template <>
void compute(const PoolPick& p) {
  Walk(PoolLoop::pick, p.window, false, p.x, p.y, &p.places).run(1, false);
}

}  // namespace catenary::cpu
