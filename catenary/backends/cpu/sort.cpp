#include "catenary/backends/cpu/sort.h"

#include <atomic>
#include <numeric>
#include <optional>
#include <type_traits>

#include "catenary/backends/cpu/radix.h"
#include "catenary/core/format.h"

namespace catenary::cpu {
namespace {

constexpr std::int64_t kRadixFrom = 128;                // shorter rows are sorted by comparisons
constexpr std::int64_t kChunk = std::int64_t{1} << 16;  // a thread's least share of one row

// Many rows: threads take rows. Few and long ones: threads share each row.
template <class F>
void for_rows(std::int64_t rows, std::int64_t n, F&& f) {
  const int threads = num_threads();
  if (n >= 2 * kChunk && rows < 4 * threads) {
    const int chunks = static_cast<int>(std::min<std::int64_t>(threads, n / kChunk));
    for (std::int64_t r = 0; r < rows; ++r) f(r, chunks);
  } else {
    parallel_for(rows, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(n, 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r) f(r, 1);
                 });
  }
}

void copy_row_bytes(void* dst, const void* src, std::int64_t bytes) {
  if (dst != src) copy_bytes(dst, src, bytes, false);
}

// The zeros and NaNs of a row as they were, for their bits are not in the keys.
template <class Map>
class Lost {
 public:
  using U = typename Map::Key;
  Lost(const Map& map, const U* row, std::int64_t n) : map_(map) {
    std::atomic<bool> any = false;
    parallel_for(n, kChunk, [&](std::int64_t begin, std::int64_t end) {
      if (std::any_of(row + begin, row + end, [&](U x) { return map.loses(x); })) any = true;
    });
    any_ = any;
    if (!any_) return;
    for (std::int64_t i = 0; i < n; ++i) {
      const U key = map.key(row[i]);
      if (key == Map::kSign) zeros_.push_back(row[i]);
      if (key == Map::kNan) nans_.push_back(row[i]);
    }
  }
  void restore(U* row, std::int64_t n) const {
    if (!any_) return;
    auto zero = zeros_.begin(), nan = nans_.begin();
    for (std::int64_t i = 0; i < n; ++i) {
      const U key = map_.key(row[i]);
      if (key == Map::kSign) row[i] = *zero++;
      if (key == Map::kNan) row[i] = *nan++;
    }
  }

 private:
  const Map& map_;
  bool any_ = false;
  std::vector<U> zeros_, nans_;
};
template <class U>
class Lost<KeyMap<U, false>> {
 public:
  Lost(const KeyMap<U, false>&, const U*, std::int64_t) {}
  void restore(U*, std::int64_t) const {}
};

template <class Map>
void sort_row(const Map& map, typename Map::Key* dst, const typename Map::Key* src, std::int64_t n, int chunks) {
  using U = typename Map::Key;
  if (n == 0) return;
  const Lost<Map> lost(map, src, n);
  if (n < kRadixFrom) {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = map.key(src[i]);
    std::sort(dst, dst + n);
    for (std::int64_t i = 0; i < n; ++i) dst[i] = map.raw(dst[i]);
  } else {
    const auto load = [&](std::int64_t i) { return map.key(src[i]); };
    const auto store = [&](std::int64_t i, U key) { dst[i] = map.raw(key); };
    RadixSort<U, decltype(load), decltype(store)> radix(n, 0, Map::kBits, chunks, load, store);
    const int passes = radix.passes();
    if (passes == 0) return copy_row_bytes(dst, src, n * static_cast<std::int64_t>(sizeof(U)));
    std::optional<Scratch> first, second;
    const auto scratch = [&](std::optional<Scratch>& s) {
      return s.emplace(n * static_cast<std::int64_t>(sizeof(U))).template as<U>();
    };
    // dst may hold items on the way, unless the last pass reads them or the first still reads src there.
    if (passes == 1 && dst == src) {
      U* away = scratch(first);
      copy_row_bytes(away, src, n * static_cast<std::int64_t>(sizeof(U)));
      src = away;
      radix.run(nullptr, nullptr);
    } else if (passes % 2 == 0) {
      radix.run(scratch(first), dst);
    } else if (dst != src) {
      radix.run(dst, passes > 1 ? scratch(first) : nullptr);
    } else {
      radix.run(scratch(first), scratch(second));
    }
  }
  lost.restore(dst, n);
}

// How an argsort carries a key and its index: in one word where they fit.
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

template <class Items, class Map>
void argsort_row(const Map& map, std::int64_t* indices, const typename Map::Key* src, std::int64_t n, int chunks) {
  using Item = typename Items::Item;
  if (n == 0) return;
  const auto bytes = n * static_cast<std::int64_t>(sizeof(Item));
  if (n < kRadixFrom) {
    Scratch scratch(bytes);
    Item* items = scratch.as<Item>();
    for (std::int64_t i = 0; i < n; ++i) items[i] = Items::make(map.key(src[i]), i);
    std::sort(items, items + n);  // no two are equal: the index decides
    for (std::int64_t i = 0; i < n; ++i) indices[i] = Items::index(items[i]);
    return;
  }
  const auto load = [&](std::int64_t i) { return Items::make(map.key(src[i]), i); };
  const auto store = [&](std::int64_t i, const Item& item) { indices[i] = Items::index(item); };
  RadixSort<Item, decltype(load), decltype(store)> radix(n, Items::kLow, Items::kLow + Map::kBits, chunks, load, store);
  const int passes = radix.passes();
  if (passes == 0) return std::iota(indices, indices + n, std::int64_t{0});
  std::optional<Scratch> first, second;
  Item* a = passes > 1 ? first.emplace(bytes).template as<Item>() : nullptr;
  Item* b = nullptr;
  if (passes > 2) {
    // The result's own memory serves as the buffer that the last pass does not read.
    b = sizeof(Item) == sizeof(std::int64_t) ? reinterpret_cast<Item*>(indices)
                                             : second.emplace(bytes).template as<Item>();
    if (passes % 2 != 0) std::swap(a, b);
  }
  radix.run(a, b);
}

std::int64_t normalized_kth(std::int64_t kth, std::int64_t n, const char* what) {
  if (kth < -n || kth >= n) fail<IndexError>("{}: kth = {} is out of range for rows of {} elements", what, kth, n);
  return kth < 0 ? kth + n : kth;
}

template <class U>
const U* row_of(const void* data, std::int64_t row, std::int64_t n) {
  return static_cast<const U*>(data) + row * n;
}

}  // namespace

void sort(void* dst, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n) {
  visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    for_rows(rows, n, [&](std::int64_t r, int chunks) {
      sort_row(map, static_cast<U*>(dst) + r * n, row_of<U>(src, r, n), n, chunks);
    });
  });
}

void argsort(std::int64_t* indices, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n) {
  visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    visit_items<U>(n, [&](auto items) {
      for_rows(rows, n, [&](std::int64_t r, int chunks) {
        argsort_row<decltype(items)>(map, indices + r * n, row_of<U>(src, r, n), n, chunks);
      });
    });
  });
}

void partition(void* dst, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n, std::int64_t kth) {
  if (rows * n == 0) return;
  kth = normalized_kth(kth, n, "partition");
  visit_keys(dtype, [&](auto map) {
    using Map = decltype(map);
    using U = typename Map::Key;
    parallel_for(rows, std::max<std::int64_t>(1, 4096 / n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        U* to = static_cast<U*>(dst) + r * n;
        const U* from = row_of<U>(src, r, n);
        const Lost<Map> lost(map, from, n);
        for (std::int64_t i = 0; i < n; ++i) to[i] = map.key(from[i]);
        std::nth_element(to, to + kth, to + n);
        for (std::int64_t i = 0; i < n; ++i) to[i] = map.raw(to[i]);
        lost.restore(to, n);
      }
    });
  });
}

void argpartition(std::int64_t* indices, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n,
                  std::int64_t kth) {
  if (rows * n == 0) return;
  kth = normalized_kth(kth, n, "argpartition");
  visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    visit_items<U>(n, [&](auto kind) {
      using Items = decltype(kind);
      using Item = typename Items::Item;
      parallel_for(rows, std::max<std::int64_t>(1, 4096 / n), [&](std::int64_t begin, std::int64_t end) {
        Scratch scratch(n * static_cast<std::int64_t>(sizeof(Item)));
        Item* items = scratch.as<Item>();
        for (std::int64_t r = begin; r < end; ++r) {
          const U* from = row_of<U>(src, r, n);
          for (std::int64_t i = 0; i < n; ++i) items[i] = Items::make(map.key(from[i]), i);
          std::nth_element(items, items + kth, items + n);
          for (std::int64_t i = 0; i < n; ++i) indices[r * n + i] = Items::index(items[i]);
        }
      });
    });
  });
}

void topk(void* values, std::int64_t* indices, const void* src, Dtype dtype, std::int64_t rows, std::int64_t n,
          std::int64_t k, bool largest) {
  if (k < 0 || k > n) fail<ValueError>("topk: k = {} is out of range for rows of {} elements", k, n);
  if (rows * k == 0) return;
  visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    visit_items<U>(n, [&](auto kind) {
      using Items = decltype(kind);
      using Item = typename Items::Item;
      const U flip = largest ? std::numeric_limits<U>::max() : U{0};
      parallel_for(rows, std::max<std::int64_t>(1, 4096 / n), [&](std::int64_t begin, std::int64_t end) {
        Scratch scratch(n * static_cast<std::int64_t>(sizeof(Item)));
        Item* items = scratch.as<Item>();
        for (std::int64_t r = begin; r < end; ++r) {
          const U* from = row_of<U>(src, r, n);
          for (std::int64_t i = 0; i < n; ++i) items[i] = Items::make(static_cast<U>(map.key(from[i]) ^ flip), i);
          if (k < n) std::nth_element(items, items + k, items + n);
          std::sort(items, items + k);
          for (std::int64_t i = 0; i < k; ++i) {
            const std::int64_t at = Items::index(items[i]);
            if (values) static_cast<U*>(values)[r * k + i] = from[at];
            if (indices) indices[r * k + i] = at;
          }
        }
      });
    });
  });
}

void lexsort(std::int64_t* indices, std::span<const SortKey> keys, std::int64_t n) {
  if (keys.empty()) fail<ValueError>("lexsort: expected at least one key, got none");
  argsort(indices, keys[0].data, keys[0].dtype, 1, n);
  if (n == 0 || keys.size() == 1) return;
  Scratch moved(n * 8), order(n * 8), before(n * 8);
  for (const SortKey& key : keys.subspan(1)) {
    // The order so far, then a stable sort of the key in that order.
    visit_word(itemsize(key.dtype), [&](auto zero) {
      using W = decltype(zero);
      const auto* from = static_cast<const W*>(key.data);
      parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) moved.as<W>()[i] = from[indices[i]];
      });
    });
    argsort(order.as<std::int64_t>(), moved.as<void>(), key.dtype, 1, n);
    std::copy_n(indices, n, before.as<std::int64_t>());
    parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) indices[i] = before.as<std::int64_t>()[order.as<std::int64_t>()[i]];
    });
  }
}

void searchsorted(std::int64_t* indices, const void* sorted, std::int64_t n, const void* values, std::int64_t m,
                  Dtype dtype, bool right, const std::int64_t* sorter) {
  if (sorter)
    for (std::int64_t i = 0; i < n; ++i)
      if (sorter[i] < 0 || sorter[i] >= n)
        fail<IndexError>("searchsorted: sorter[{}] = {} is out of range for {} elements", i, sorter[i], n);
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
          const U there = map.key(row[sorter ? sorter[middle] : middle]);
          const bool after = right ? there <= key : there < key;
          low = after ? middle + 1 : low;
          length = after ? length - half - 1 : half;
        }
        indices[v] = low;
      }
    });
  });
}

std::int64_t unique(const void* src, Dtype dtype, std::int64_t n, void* values, std::int64_t* first,
                    std::int64_t* inverse, std::int64_t* counts) {
  if (n == 0) return 0;
  return visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    const auto* from = static_cast<const U*>(src);
    Scratch order(first || inverse ? n * 8 : 0), row(n * static_cast<std::int64_t>(sizeof(U)));
    std::int64_t* at = first || inverse ? order.as<std::int64_t>() : nullptr;
    U* sorted = row.as<U>();
    if (at) {
      argsort(at, src, dtype, 1, n);
      parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) sorted[i] = from[at[i]];
      });
    } else {
      sort(sorted, src, dtype, 1, n);
    }
    std::int64_t found = 0, start = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == 0 || map.key(sorted[i]) != map.key(sorted[i - 1])) {
        if (counts && i > 0) counts[found - 1] = i - start;
        if (values) static_cast<U*>(values)[found] = sorted[i];
        if (first) first[found] = at[i];
        start = i;
        ++found;
      }
      if (inverse) inverse[at[i]] = found - 1;
    }
    if (counts) counts[found - 1] = n - start;
    return found;
  });
}

}  // namespace catenary::cpu
