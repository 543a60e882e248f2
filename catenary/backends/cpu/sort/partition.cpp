// Selection without sorting: narrows the requested keys down between two keys of a sample (Floyd and Rivest, "Algorithm
// 489: SELECT", 1975), then repeats this with the keys between them. A final pass places elements or indices before, at
// and after the keys.
#include "catenary/backends/cpu/sort/partition.h"

#include <algorithm>

#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/sort/quicksort.h"
#include "catenary/backends/cpu/sort/radix.h"
#include "catenary/backends/cpu/sort/sort.h"
#include "catenary/core/format.h"

namespace catenary::cpu {
namespace {

constexpr std::int64_t kFew = 4096;      // fewer keys are not worth a sample
constexpr std::int64_t kSample = 512;    // keys in a sample
constexpr std::size_t kManyPlaces = 24;  // from this number of positions on a sort is faster
constexpr std::int64_t kPart = 1 << 15;  // a thread's minimum share of a row
constexpr int kRounds = 8;               // samples without progress before falling back to sorting

using Kth = std::span<const std::int64_t>;

/// Boundaries of the pieces of a row that threads process.
struct Pieces {
  std::int64_t n, count;
  explicit Pieces(std::int64_t size)
      : n(size), count(std::clamp<std::int64_t>(size / kPart, 1, std::int64_t{2} * num_threads())) {}
  std::int64_t begin(std::int64_t i) const { return n / count * i + std::min(i, n % count); }
  template <class F>
  void each(F&& f) const {
    parallel_for(count, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) f(i, begin(i), begin(i + 1) - begin(i));
    });
  }
};

template <class U>
Ordered from(const Ordered& x, std::int64_t i) {
  return {static_cast<const U*>(x.data) + i, x.dtype, x.descending};
}

using Counts = std::array<std::int64_t, 4>;

/// Returns the numbers of keys < low, <= low, < high, <= high for each piece, then for all of them.
template <class U>
std::vector<Counts> counted(const Ordered& x, const Pieces& pieces, U low, U high) {
  std::vector<Counts> counts(static_cast<std::size_t>(pieces.count) + 1, Counts{});
  pieces.each([&](std::int64_t i, std::int64_t begin, std::int64_t m) {
    CT_SIMD_SELECT(count_around)(from<U>(x, begin), m, low, high, counts[static_cast<std::size_t>(i)].data());
  });
  for (std::int64_t i = 0; i < pieces.count; ++i)
    for (std::size_t c = 0; c < 4; ++c) counts.back()[c] += counts[static_cast<std::size_t>(i)][c];
  return counts;
}

/// The dtype of unsigned integers of a size.
template <class U>
constexpr Dtype kWord = sizeof(U) == 1   ? Dtype::uint8
                        : sizeof(U) == 2 ? Dtype::uint16
                        : sizeof(U) == 4 ? Dtype::uint32
                                         : Dtype::uint64;

/// Selects keys of rows of one dtype.
template <class Map>
struct Selector {
  using U = typename Map::Key;
  const Map& map;
  bool descending;

  U key(U raw) const { return descending ? static_cast<U>(~map.key(raw)) : map.key(raw); }
  U raw(U key) const { return map.raw(descending ? static_cast<U>(~key) : key); }
  /// Returns the key of an element of x, which may contain keys already.
  U key_in(const Ordered& x, std::int64_t i) const {
    const U word = static_cast<const U*>(x.data)[i];
    return x.dtype == kWord<U> && !x.descending ? word : key(word);
  }

  /// found = the keys at positions kth of the sorted x.
  void find(const Ordered& x, std::int64_t n, Kth kth, U* found, int rounds = kRounds) const {
    if (kth.empty()) return;
    if (n <= kFew || kth.size() >= kManyPlaces || rounds == 0) return find_among(x, n, kth, found);
    if (kth.back() - kth.front() > n / 16) {  // positions far apart are searched separately
      const auto next = std::find_if(kth.begin(), kth.end(), [&](std::int64_t k) { return k - kth[0] > n / 16; });
      const auto near = static_cast<std::size_t>(next - kth.begin());
      find(x, n, kth.first(near), found, rounds);
      return find(x, n, kth.subspan(near), found + near, rounds);
    }
    std::array<U, kSample> sample;
    for (std::int64_t i = 0; i < kSample; ++i) sample[i] = key_in(x, (2 * i + 1) * n / (2 * kSample));
    sort(sample.data(), sample.data(), kWord<U>, 1, kSample);
    const auto in_sample = [&](std::int64_t k) { return static_cast<std::int64_t>(double(k) / double(n) * kSample); };
    const std::int64_t slack = kSample / 16;  // nearly three standard deviations for the median
    const U low = sample[std::max<std::int64_t>(in_sample(kth.front()) - slack, 0)];
    const U high = sample[std::min<std::int64_t>(in_sample(kth.back()) + slack, kSample - 1)];
    const Pieces pieces(n);
    const std::vector<Counts> counts = counted(x, pieces, low, high);
    // Five regions. In regions with a single key, the key is known.
    const auto edges = [](const Counts& c, std::int64_t size) {
      return std::array<std::int64_t, 6>{0, c[0], c[1], c[2], c[3], size};
    };
    const auto all = edges(counts.back(), n);
    for (std::size_t i = 0, next; i < kth.size(); i = next) {
      const auto region = [&](std::int64_t k) {
        return static_cast<std::size_t>(std::count_if(all.begin() + 1, all.end() - 1, [k](auto c) { return c <= k; }));
      };
      const auto here = region(kth[i]);
      for (next = i + 1; next < kth.size() && region(kth[next]) == here;) ++next;
      if (here == 1 || here == 3) {
        std::fill(found + i, found + next, here == 1 ? low : high);
        continue;
      }
      const U first = here == 0 ? U{0} : static_cast<U>((here == 2 ? low : high) + 1);
      const U last = here == 4 ? std::numeric_limits<U>::max() : static_cast<U>((here == 2 ? high : low) - 1);
      const std::int64_t before = all[here], upto = all[here + 1];
      const Scratch kept((upto - before) * static_cast<std::int64_t>(sizeof(U)));
      std::vector<std::int64_t> places(static_cast<std::size_t>(pieces.count) + 1, 0);
      for (std::size_t p = 0; p + 1 < places.size(); ++p) {
        const std::int64_t size =
            pieces.begin(static_cast<std::int64_t>(p) + 1) - pieces.begin(static_cast<std::int64_t>(p));
        const auto own = edges(counts[p], size);
        places[p + 1] = places[p] + own[here + 1] - own[here];
      }
      pieces.each([&](std::int64_t p, std::int64_t begin, std::int64_t m) {
        CT_SIMD_SELECT(keep_between)
        (from<U>(x, begin), m, first, last, kept.as<U>() + places[p], places[p + 1] - places[p]);
      });
      std::vector<std::int64_t> rest(kth.begin() + static_cast<std::ptrdiff_t>(i),
                                     kth.begin() + static_cast<std::ptrdiff_t>(next));
      for (std::int64_t& k : rest) k -= before;
      find({kept.as<void>(), kWord<U>, false}, upto - before, rest, found + i, rounds - 1);
    }
  }

  void find_among(const Ordered& x, std::int64_t n, Kth kth, U* found) const {
    using Word = std::conditional_t<(sizeof(U) > 4), std::uint64_t, std::uint32_t>;
    const Scratch copy(n * static_cast<std::int64_t>(sizeof(Word)));
    Word* keys = copy.as<Word>();
    if (sizeof(U) < 4) {
      for (std::int64_t i = 0; i < n; ++i) keys[i] = key_in(x, i);
    } else {
      CT_SIMD_SELECT(make_keys)(x, n, keys);
    }
    if (kth.size() >= kManyPlaces && n > kFew) {
      sort(keys, keys, kWord<Word>, 1, n);
    } else {
      CT_SIMD_SELECT(quickselect)
      (keys, n, sizeof(Word), kth.data(), static_cast<std::int64_t>(kth.size()));
    }
    for (std::size_t i = 0; i < kth.size(); ++i) found[i] = static_cast<U>(keys[kth[i]]);
  }

  /// Places the elements or (Out = int64) indices of a row around one key.
  template <class Out>
  void place(const Ordered& x, std::int64_t n, U pivot, Out* out, bool indices) const {
    const Pieces pieces(n);
    const std::vector<Counts> counts = counted(x, pieces, pivot, pivot);
    std::vector<std::array<Out*, 3>> places(static_cast<std::size_t>(pieces.count));
    std::array<Out*, 3> place = {out, out + counts.back()[0], out + counts.back()[1]};
    for (std::size_t p = 0; p < places.size(); ++p) {
      const auto i = static_cast<std::int64_t>(p);
      places[p] = place;
      place[0] += counts[p][0];
      place[1] += counts[p][1] - counts[p][0];
      place[2] += pieces.begin(i + 1) - pieces.begin(i) - counts[p][1];
    }
    pieces.each([&](std::int64_t p, std::int64_t begin, std::int64_t m) {
      const auto& to = places[static_cast<std::size_t>(p)];
      if (indices) {
        std::int64_t* const at[3] = {reinterpret_cast<std::int64_t*>(to[0]), reinterpret_cast<std::int64_t*>(to[1]),
                                     reinterpret_cast<std::int64_t*>(to[2])};
        CT_SIMD_SELECT(place_indices)(from<U>(x, begin), m, pivot, begin, at);
      } else {
        void* const at[3] = {to[0], to[1], to[2]};
        CT_SIMD_SELECT(place_elements)(from<U>(x, begin), m, pivot, at);
      }
    });
  }

  /// Fills the first m positions around several keys: counts and then fills the regions before, at and after each key.
  template <class Out, class Value>
  void place_around(const Ordered& x, std::int64_t n, std::span<const U> pivots, Out* out, std::int64_t m,
                    const Value& value) const {
    const auto region = [&](U k) {
      const auto at = std::lower_bound(pivots.begin(), pivots.end(), k);
      return 2 * (at - pivots.begin()) + (at != pivots.end() && *at == k);
    };
    std::vector<std::int64_t> places(2 * pivots.size() + 2, 0);
    for (std::int64_t i = 0; i < n; ++i) ++places[region(key_in(x, i)) + 1];
    for (std::size_t r = 1; r < places.size(); ++r) places[r] += places[r - 1];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = places[region(key_in(x, i))]++;
      if (at < m) out[at] = value(i);
    }
  }

  /// Writes the indices of the m smallest elements of a row, where m - 1 is the last requested position. m is small, so
  /// most elements are skipped.
  void first_indices(const Ordered& x, std::int64_t n, U pivot, std::int64_t* out, std::int64_t m) const {
    const Pieces pieces(n);
    const std::vector<Counts> counts = counted(x, pieces, pivot, pivot);
    std::vector<std::array<std::int64_t, 2>> places(static_cast<std::size_t>(pieces.count));
    std::array<std::int64_t, 2> place = {0, counts.back()[0]};
    for (std::size_t p = 0; p < places.size(); ++p) {
      places[p] = place;
      place[0] += counts[p][0];
      place[1] += counts[p][1] - counts[p][0];
    }
    pieces.each([&](std::int64_t p, std::int64_t begin, std::int64_t size) {
      std::array<std::int64_t, 2> at = places[static_cast<std::size_t>(p)];
      const std::int64_t found = counts[static_cast<std::size_t>(p)][1];
      const Scratch kept(found * 8);
      const std::int64_t* candidates = kept.as<std::int64_t>();
      CT_SIMD_SELECT(keep_places)(from<U>(x, begin), size, pivot, begin, kept.as<std::int64_t>());
      for (std::int64_t i = 0; i < found; ++i) {
        if (key_in(x, candidates[i]) < pivot) {
          out[at[0]++] = candidates[i];
        } else if (at[1] < m) {
          out[at[1]++] = candidates[i];
        }
      }
    });
  }

  void row(Selection what, const U* data, Dtype dtype, std::int64_t n, Kth kth, void* out, std::int64_t m) const {
    const Ordered x{data, dtype, descending};
    std::vector<U> pivots(kth.size());
    find(x, n, kth, pivots.data());
    if (what == Selection::elements) {
      for (std::size_t i = 0; i < pivots.size(); ++i) static_cast<U*>(out)[i] = raw(pivots[i]);
      return;
    }
    pivots.erase(std::unique(pivots.begin(), pivots.end()), pivots.end());
    const bool indices = what == Selection::indices;
    auto* to_index = static_cast<std::int64_t*>(out);
    auto* to = static_cast<U*>(out);
    if (pivots.size() == 1 && m == n) {
      if (indices) {
        place(x, n, pivots[0], to_index, true);
      } else {
        place(x, n, pivots[0], to, false);
      }
    } else if (pivots.size() == 1 && indices && m == kth.back() + 1) {
      first_indices(x, n, pivots[0], to_index, m);
    } else if (indices) {
      place_around(x, n, std::span<const U>(pivots), to_index, m, [](std::int64_t i) { return i; });
    } else {
      place_around(x, n, std::span<const U>(pivots), to, m, [data](std::int64_t i) { return data[i]; });
    }
  }
};

}  // namespace

void select(Selection what, bool descending, void* out, std::int64_t m, const void* src, Dtype dtype, std::int64_t rows,
            std::int64_t n, std::span<const std::int64_t> kth) {
  if (rows == 0) return;
  visit_keys(dtype, [&](auto map) {
    using Map = decltype(map);
    using U = typename Map::Key;
    const Selector<Map> selector{map, descending};
    const std::int64_t step = m * static_cast<std::int64_t>(what == Selection::indices ? 8 : sizeof(U));
    const auto one = [&](std::int64_t r) {
      selector.row(what, static_cast<const U*>(src) + r * n, dtype, n, kth, static_cast<char*>(out) + r * step, m);
    };
    if (rows < 2 * num_threads() && n >= 2 * kPart) {  // threads share each row
      for (std::int64_t r = 0; r < rows; ++r) one(r);
    } else {
      parallel_for(rows, std::max<std::int64_t>(1, 4096 / n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) one(r);
      });
    }
  });
}

template <>
void compute(const Select& p) {
  const Rows rows(p.rows);
  select(p.what, p.descending, p.out.data(), p.out.shape.back(), rows.data, p.rows.dtype, rows.count, rows.n, p.kth);
}

}  // namespace catenary::cpu
