// The loops of a selection, compiled once for each instruction set; see core/cpu_features.h.
#include "catenary/backends/cpu/partition.h"

#include "catenary/backends/cpu/radix.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

/// KeyMap with an order.
template <class Map>
struct OrderedKeys {
  using Key = typename Map::Key;
  Map map;
  Key turned;
  Key operator()(Key raw) const { return static_cast<Key>(map.key(raw) ^ turned); }
};

/// Calls f with the elements and what makes keys of them.
template <class F>
void visit(const Ordered& x, F&& f) {
  visit_keys(x.dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    f(static_cast<const U*>(x.data),
      OrderedKeys<decltype(map)>{map, x.descending ? std::numeric_limits<U>::max() : U{0}});
  });
}

/// Elements that are looked at in one go: their counts fit a word of the element's size.
template <class U>
constexpr std::int64_t kBlock = sizeof(U) == 1 ? 128 : 1024;

// Three heaps in the nearest cache, so that each element can be written to all of them, and count in one.
template <class U, class Out, class Keys, class Value>
void place(const U* x, std::int64_t n, const Keys& key, U pivot, Out* less, Out* equal, Out* more, const Value& value) {
  constexpr std::int64_t kHeap = 1024;
  Out heaps[3][kHeap];
  for (std::int64_t first = 0; first < n; first += kHeap) {
    const std::int64_t m = std::min(kHeap, n - first);
    std::int64_t a = 0, b = 0, c = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      const U k = key(x[first + i]);
      const Out v = value(first + i);
      heaps[0][a] = heaps[1][b] = heaps[2][c] = v;
      a += k < pivot;
      b += k == pivot;
      c += k > pivot;
    }
    less = std::copy_n(heaps[0], a, less);
    equal = std::copy_n(heaps[1], b, equal);
    more = std::copy_n(heaps[2], c, more);
  }
}

}  // namespace

void make_keys(const Ordered& ordered, std::int64_t n, void* keys) {
  visit(ordered, [&](auto* x, auto key) {
    auto* made = static_cast<typename decltype(key)::Key*>(keys);
    for (std::int64_t i = 0; i < n; ++i) made[i] = key(x[i]);
  });
}

KeyBits key_bits(const Ordered& ordered, std::int64_t n) {
  KeyBits bits{};
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    U any = 0, all = std::numeric_limits<U>::max(), loses = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const U k = key(x[i]);
      any |= k;
      all &= k;
      loses |= key.map.loses(x[i]);
    }
    bits = {any, all, loses != 0};
  });
  return bits;
}

void count_around(const Ordered& ordered, std::int64_t n, std::uint64_t low, std::uint64_t high, std::int64_t* counts) {
  std::fill_n(counts, 4, 0);
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    const U from = static_cast<U>(low), to = static_cast<U>(high);
    for (std::int64_t first = 0; first < n; first += kBlock<U>) {
      const std::int64_t last = std::min(n, first + kBlock<U>);
      U below = 0, upto = 0, under = 0, until = 0;
      for (std::int64_t i = first; i < last; ++i) {
        const U k = key(x[i]);
        below = static_cast<U>(below + (k < from));
        upto = static_cast<U>(upto + (k <= from));
        under = static_cast<U>(under + (k < to));
        until = static_cast<U>(until + (k <= to));
      }
      counts[0] += static_cast<std::int64_t>(below);
      counts[1] += static_cast<std::int64_t>(upto);
      counts[2] += static_cast<std::int64_t>(under);
      counts[3] += static_cast<std::int64_t>(until);
    }
    counts[2] = std::max(counts[1], counts[2]);  // where low is high
  });
}

void keep_between(const Ordered& ordered, std::int64_t n, std::uint64_t low, std::uint64_t high, void* keys,
                  std::int64_t count) {
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    const U from = static_cast<U>(low), width = static_cast<U>(high - low);
    auto* kept = static_cast<U*>(keys);
    std::int64_t at = 0;
    for (std::int64_t i = 0; at < count && i < n; ++i) {
      const U k = key(x[i]);
      kept[at] = k;
      at += static_cast<U>(k - from) <= width;
    }
  });
}

void place_elements(const Ordered& ordered, std::int64_t n, std::uint64_t pivot, void* const* places) {
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    place(x, n, key, static_cast<U>(pivot), static_cast<U*>(places[0]), static_cast<U*>(places[1]),
          static_cast<U*>(places[2]), [x](std::int64_t i) { return x[i]; });
  });
}

void place_indices(const Ordered& ordered, std::int64_t n, std::uint64_t pivot, std::int64_t first,
                   std::int64_t* const* places) {
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    place(x, n, key, static_cast<U>(pivot), places[0], places[1], places[2],
          [first](std::int64_t i) { return first + i; });
  });
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
