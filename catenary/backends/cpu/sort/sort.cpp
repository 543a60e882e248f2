#include "catenary/backends/cpu/sort/sort.h"

#include <numeric>
#include <type_traits>

#include "catenary/backends/cpu/primitives.h"
#include "catenary/backends/cpu/sort/partition.h"
#include "catenary/backends/cpu/sort/quicksort.h"
#include "catenary/backends/cpu/sort/radix.h"

namespace catenary::cpu {
namespace {

constexpr std::int64_t kQuick = 1 << 14;      // longest row for quicksort
constexpr int kThreadsOfQuick = 2;            // up to so many, quicksort is faster for rows of any length
constexpr std::int64_t kQuickOfShorts = 128;  // longest row for quicksort of 8 and 16 bits
constexpr std::int64_t kPart = 1 << 16;       // a thread's minimum share of one row

// Threads take whole rows, or share each row if there are few long rows.
template <class F>
void for_rows(std::int64_t rows, std::int64_t n, F&& f) {
  if (n >= 2 * kPart && rows < 4 * num_threads()) {
    for (std::int64_t r = 0; r < rows; ++r) f(r);
  } else {
    parallel_for(rows, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(n, 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r) f(r);
                 });
  }
}

// Common properties of the keys of a row.
struct Survey {
  int low = 0, high = 0;  // all keys agree in the bits outside
  bool loses = false;     // a -0.0 or a NaN is among the elements
};
Survey survey(const void* row, Dtype dtype, std::int64_t n) {
  const auto bytes = static_cast<std::int64_t>(itemsize(dtype));
  const std::int64_t parts = (n + kPart - 1) / kPart;
  std::vector<KeyBits> found(static_cast<std::size_t>(parts));
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      found[static_cast<std::size_t>(p)] = CT_SIMD_SELECT(key_bits)(
          {static_cast<const char*>(row) + p * kPart * bytes, dtype, false}, std::min(kPart, n - p * kPart));
  });
  KeyBits all = found[0];
  for (const KeyBits& part : found) {
    all.any |= part.any;
    all.all &= part.all;
    all.loses |= part.loses;
  }
  const std::uint64_t differ = all.any ^ all.all;
  if (differ == 0) return {0, 0, all.loses};
  return {std::countr_zero(differ), 64 - std::countl_zero(differ), all.loses};
}

// Remembers the zeros and NaNs of a row, since keys do not contain their bits.
template <class Map>
class Lost {
 public:
  using U = typename Map::Key;
  Lost(const Map& map, const U* row, std::int64_t n, Dtype dtype, bool any)
      : map_(map), parts_(any ? (n + kPart - 1) / kPart : 0) {
    parallel_for(static_cast<std::int64_t>(parts_.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        Part& part = parts_[static_cast<std::size_t>(p)];
        const Ordered x{row + p * kPart, dtype, false};
        const std::int64_t size = std::min(kPart, n - p * kPart);
        std::int64_t counts[4];
        CT_SIMD_SELECT(count_around)(x, size, Map::kSign, Map::kNan, counts);
        part.zeros.resize(static_cast<std::size_t>(counts[1] - counts[0]));
        part.nans.resize(static_cast<std::size_t>(counts[3] - counts[2]));
        if (!part.zeros.empty()) CT_SIMD_SELECT(keep_equal)(x, size, Map::kSign, part.zeros.data());
        if (!part.nans.empty()) CT_SIMD_SELECT(keep_equal)(x, size, Map::kNan, part.nans.data());
      }
    });
  }
  // Restores them in the sorted row: zeros are adjacent, and NaNs are at the end.
  void restore(U* row, std::int64_t n) const {
    if (parts_.empty()) return;
    std::int64_t nans = 0;
    for (const Part& part : parts_) nans += static_cast<std::int64_t>(part.nans.size());
    U* zero = std::partition_point(row, row + n, [&](U x) { return map_.key(x) < Map::kSign; });
    U* nan = row + n - nans;
    for (const Part& part : parts_) {
      zero = std::copy(part.zeros.begin(), part.zeros.end(), zero);
      nan = std::copy(part.nans.begin(), part.nans.end(), nan);
    }
  }

 private:
  struct Part {
    std::vector<U> zeros, nans;
  };
  const Map& map_;
  std::vector<Part> parts_;
};
template <class U>
class Lost<KeyMap<U, false>> {
 public:
  Lost(const KeyMap<U, false>&, const U*, std::int64_t, Dtype, bool) {}
  void restore(U*, std::int64_t) const {}
};

/// Returns whether quicksort is the fastest way to sort n words of type U. Radix sort shares long rows among threads.
template <class U>
bool sorts_quickly(std::int64_t n) {
  if (sizeof(U) < 4) return n <= kQuickOfShorts;
  return n <= kQuick || num_threads() <= kThreadsOfQuick;
}

template <class Map>
void sort_quickly(const Map& map, typename Map::Key* dst, const typename Map::Key* src, std::int64_t n, Dtype dtype) {
  using U = typename Map::Key;
  using Word = std::conditional_t<(sizeof(U) > 4), std::uint64_t, std::uint32_t>;
  // Lost reads the elements of floats after the sort.
  const bool is_in_place = sizeof(U) == sizeof(Word) && (dst != src || !is_floating(dtype));
  const Scratch room(is_in_place ? 0 : n * static_cast<std::int64_t>(sizeof(Word)));
  Word* const words = is_in_place ? reinterpret_cast<Word*>(dst) : room.as<Word>();
  if constexpr (sizeof(U) < 4) {
    for (std::int64_t i = 0; i < n; ++i) words[i] = map.key(src[i]);
  } else {
    CT_SIMD_SELECT(make_keys)({src, dtype, false}, n, words);
  }
  CT_SIMD_SELECT(quicksort)(words, n, sizeof(Word));
  const bool loses =
      is_floating(dtype) && (words[n - 1] == Map::kNan || std::binary_search(words, words + n, Map::kSign));
  const Lost<Map> lost(map, src, n, dtype, loses);
  if constexpr (sizeof(U) < 4) {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = map.raw(static_cast<U>(words[i]));
  } else {
    CT_SIMD_SELECT(make_elements)(words, dtype, n, dst);
  }
  lost.restore(dst, n);
}

template <class Map>
void sort_row(const Map& map, typename Map::Key* dst, const typename Map::Key* src, std::int64_t n, Dtype dtype) {
  using U = typename Map::Key;
  if (n == 0) return;
  if (sorts_quickly<U>(n)) return sort_quickly(map, dst, src, n, dtype);
  const Survey keys = survey(src, dtype, n);
  if (keys.low == keys.high) {
    if (dst != src) copy_bytes(dst, src, n * static_cast<std::int64_t>(sizeof(U)), false);
    return;
  }
  const Lost<Map> lost(map, src, n, dtype, keys.loses);
  const auto load = [&](std::int64_t begin, std::int64_t m, U* keys) -> const U* {
    CT_SIMD_SELECT(make_keys)({src + begin, dtype, false}, m, keys);
    return keys;
  };
  const auto store = [&](std::int64_t i, U key) { dst[i] = map.raw(key); };
  radix_sort<U>(n, keys.low, keys.high, load, 0, store);
  lost.restore(dst, n);
}

// Items of an argsort, a key with its index: in one word if they fit.
template <class U>
struct NarrowItems {
  using Item = std::uint64_t;
  static constexpr int kLow = 32;
  static Item make(U key, std::int64_t i) {
    return static_cast<std::uint64_t>(key) << 32 | static_cast<std::uint64_t>(i);
  }
  static std::int64_t index(Item item) { return static_cast<std::int64_t>(item & 0xffffffffu); }
};
template <class U>
struct WideItems {
  using Item = WideItem;
  static constexpr int kLow = 0;
  static Item make(U key, std::int64_t i) { return {key, static_cast<std::uint64_t>(i)}; }
  static std::int64_t index(const Item& item) { return static_cast<std::int64_t>(item.index); }
};

// Calls f with the items for rows of n keys of type U.
template <class U, class F>
void visit_items(std::int64_t n, F&& f) {
  if constexpr (sizeof(U) < 8)
    if (n <= std::int64_t{1} << 32) return f(NarrowItems<U>{});
  f(WideItems<U>{});
}

/// Sorts items: a part of the key in the upper half, the index in the lower. `less` compares the indices of equal
/// parts, or is null where the part is the whole key.
template <class Less>
void argsort_items(std::uint64_t* items, std::int64_t n, std::int64_t* indices, const Less& less) {
  CT_SIMD_SELECT(quicksort)(items, n, sizeof(*items));
  for (std::int64_t i = 0; i < n; ++i) indices[i] = static_cast<std::int64_t>(items[i] & 0xffffffffu);
  if constexpr (!std::is_same_v<Less, std::nullptr_t>) {
    for (std::int64_t i = 0, next; i < n; i = next) {
      for (next = i + 1; next < n && items[next] >> 32 == items[i] >> 32;) ++next;
      if (next - i > 1) std::sort(indices + i, indices + next, less);
    }
  }
}

template <class Map>
void argsort_quickly(std::int64_t* indices, const typename Map::Key* src, std::int64_t n, Dtype dtype) {
  using U = typename Map::Key;
  if constexpr (sizeof(U) <= 4) {
    const Scratch room(n * 8);
    CT_SIMD_SELECT(make_items)({src, dtype, false}, n, room.as<std::uint64_t>());
    argsort_items(room.as<std::uint64_t>(), n, indices, nullptr);
  } else {
    const Survey bits = survey(src, dtype, n);
    if (bits.low == bits.high) return std::iota(indices, indices + n, std::int64_t{0});
    const Scratch room(2 * n * 8);
    std::uint64_t *const keys = room.as<std::uint64_t>(), *const items = keys + n;
    CT_SIMD_SELECT(make_keys)({src, dtype, false}, n, keys);
    const int shift = std::max(0, bits.high - 32);  // the upper bits decide nearly always
    for (std::int64_t i = 0; i < n; ++i) items[i] = keys[i] >> shift << 32 | static_cast<std::uint64_t>(i);
    if (shift <= bits.low) return argsort_items(items, n, indices, nullptr);
    argsort_items(items, n, indices,
                  [keys](std::int64_t a, std::int64_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  }
}

template <class Items, class Map>
void argsort_row(const Map& map, std::int64_t* indices, const typename Map::Key* src, std::int64_t n, Dtype dtype) {
  using Item = typename Items::Item;
  if (n == 0) return;
  if (n <= (sizeof(typename Map::Key) < 4 ? kQuickOfShorts : kQuick))
    return argsort_quickly<Map>(indices, src, n, dtype);
  const Survey keys = survey(src, dtype, n);
  if (keys.low == keys.high) return std::iota(indices, indices + n, std::int64_t{0});
  const auto load = [&](std::int64_t begin, std::int64_t m, Item* items) -> const Item* {
    for (std::int64_t i = 0; i < m; ++i) items[i] = Items::make(map.key(src[begin + i]), begin + i);
    return items;
  };
  const auto store = [&](std::int64_t i, const Item& item) { indices[i] = Items::index(item); };
  radix_sort<Item>(n, Items::kLow + keys.low, Items::kLow + keys.high, load, 0, store);
}

template <class U>
const U* row_of(const void* data, std::int64_t row, std::int64_t n) {
  return static_cast<const U*>(data) + row * n;
}

}  // namespace

void sort(void* dst, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n) {
  visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    for_rows(rows, n,
             [&](std::int64_t r) { sort_row(map, static_cast<U*>(dst) + r * n, row_of<U>(src, r, n), n, dtype); });
  });
}

void argsort(std::int64_t* indices, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n) {
  visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    visit_items<U>(n, [&](auto items) {
      for_rows(rows, n, [&](std::int64_t r) {
        argsort_row<decltype(items)>(map, indices + r * n, row_of<U>(src, r, n), n, dtype);
      });
    });
  });
}

template <>
void compute(const Sort& p) {
  const Rows rows(p.rows);
  sort(p.out.data(), rows.data, p.rows.dtype, rows.count, rows.n);
}

template <>
void compute(const Argsort& p) {
  const Rows rows(p.rows);
  argsort(static_cast<std::int64_t*>(p.indices.data()), rows.data, p.rows.dtype, rows.count, rows.n);
}

void searchsorted(std::int64_t* indices, const void* sorted, std::int64_t n, const void* values, std::int64_t m,
                  Dtype dtype, bool right) {
  visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    const auto* row = static_cast<const U*>(sorted);
    const auto* wanted = static_cast<const U*>(values);
    parallel_for(m, 512, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        const U key = map.key(wanted[v]);
        std::int64_t low = 0, length = n;
        while (length > 0) {
          const std::int64_t half = length / 2, middle = low + half;
          const U there = map.key(row[middle]);
          const bool after = right ? there <= key : there < key;
          low = after ? middle + 1 : low;
          length = after ? length - half - 1 : half;
        }
        indices[v] = low;
      }
    });
  });
}

template <>
void compute(const Searchsorted& p) {
  searchsorted(static_cast<std::int64_t*>(p.out.data()), p.sorted.data(), p.sorted.size(), p.values.data(),
               p.values.size(), p.sorted.dtype, p.right);
}

}  // namespace catenary::cpu
