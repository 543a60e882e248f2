// The loops of a selection, compiled for each instruction set (see core/cpu_features.h).
#include "catenary/backends/cpu/sort/partition.h"

#include <type_traits>

#include "catenary/backends/cpu/sort/radix.h"

#if defined(__AVX512F__)
#  include <immintrin.h>
#endif

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

/// A KeyMap with an order.
template <class Map>
struct OrderedKeys {
  using Key = typename Map::Key;
  Map map;
  Key turned;
  Key operator()(Key raw) const { return static_cast<Key>(map.key(raw) ^ turned); }
};

/// Calls f with the elements and the function that makes their keys.
template <class F>
void visit(const Ordered& x, F&& f) {
  visit_keys(x.dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    f(static_cast<const U*>(x.data),
      OrderedKeys<decltype(map)>{map, x.descending ? std::numeric_limits<U>::max() : U{0}});
  });
}

/// Elements counted at once, few enough that counts fit a word of the element's size.
template <class U>
constexpr std::int64_t kBlock = sizeof(U) == 1 ? 128 : 1024;

/// Elements whose keys are made at once in the L1 cache. Picking needs room for one more vector.
constexpr std::int64_t kPick = 1024, kPickRoom = kPick + 16;

/// picked = the values whose keys are in [low, low + width], in order. Returns their number. picked has room for 16
/// more.
template <class V, class U>
std::int64_t pick(const V* values, const U* keys, std::int64_t n, U low, U width, V* picked) {
  std::int64_t i = 0, at = 0;
#if defined(__AVX512F__)
  if constexpr (sizeof(U) == 4 && sizeof(V) == 4) {
    const __m512i from = _mm512_set1_epi32(static_cast<int>(low)), most = _mm512_set1_epi32(static_cast<int>(width));
    for (; i + 16 <= n; i += 16) {
      const __mmask16 in = _mm512_cmple_epu32_mask(_mm512_sub_epi32(_mm512_loadu_si512(keys + i), from), most);
      _mm512_storeu_si512(picked + at, _mm512_maskz_compress_epi32(in, _mm512_loadu_si512(values + i)));
      at += __builtin_popcount(in);
    }
  } else if constexpr (sizeof(U) == 8 && sizeof(V) == 8) {
    const __m512i from = _mm512_set1_epi64(static_cast<long long>(low));
    const __m512i most = _mm512_set1_epi64(static_cast<long long>(width));
    for (; i + 8 <= n; i += 8) {
      const __mmask8 in = _mm512_cmple_epu64_mask(_mm512_sub_epi64(_mm512_loadu_si512(keys + i), from), most);
      _mm512_storeu_si512(picked + at, _mm512_maskz_compress_epi64(in, _mm512_loadu_si512(values + i)));
      at += __builtin_popcount(in);
    }
  }
#endif
  for (; i < n; ++i) {
    picked[at] = values[i];
    at += static_cast<U>(keys[i] - low) <= width;
  }
  return at;
}

/// Calls f(first, m, keys) for blocks of elements.
template <class U, class Keys, class F>
void for_blocks(const U* x, std::int64_t n, const Keys& key, F&& f) {
  U keys[kPick];
  for (std::int64_t first = 0; first < n; first += kPick) {
    const std::int64_t m = std::min(kPick, n - first);
    for (std::int64_t i = 0; i < m; ++i) keys[i] = key(x[first + i]);
    f(first, m, keys);
  }
}

/// The numbers 0, 1, … for a block, as wide as the keys, so that they can be picked like keys.
template <class U>
struct Numbers {
  using V = std::conditional_t<sizeof(U) == 8, std::uint64_t, std::uint32_t>;
  V all[kPick];
  Numbers() {
    for (std::int64_t i = 0; i < kPick; ++i) all[i] = static_cast<V>(i);
  }
};

/// Calls put(c, values, count) with the values of a block before (c = 0), at and after the pivot.
template <class V, class U, class F>
void pick_around(const V* values, const U* keys, std::int64_t n, U pivot, F&& put) {
  V picked[kPickRoom];
  if (pivot > 0) put(0, picked, pick(values, keys, n, U{0}, static_cast<U>(pivot - 1), picked));
  put(1, picked, pick(values, keys, n, pivot, U{0}, picked));
  const U after = static_cast<U>(pivot + 1);
  if (after > 0)
    put(2, picked, pick(values, keys, n, after, static_cast<U>(std::numeric_limits<U>::max() - after), picked));
}

}  // namespace

void make_keys(const Ordered& ordered, std::int64_t n, void* keys) {
  visit(ordered, [&](auto* x, auto key) {
    auto* made = static_cast<typename decltype(key)::Key*>(keys);
    for (std::int64_t i = 0; i < n; ++i) made[i] = key(x[i]);
  });
}

void make_elements(const void* keys, Dtype dtype, std::int64_t n, void* elements) {
  visit_keys(dtype, [&](auto map) {
    using U = typename decltype(map)::Key;
    const U* const from = static_cast<const U*>(keys);
    U* const to = static_cast<U*>(elements);
    for (std::int64_t i = 0; i < n; ++i) to[i] = map.raw(from[i]);
  });
}

void make_items(const Ordered& ordered, std::int64_t n, std::uint64_t* items) {
  visit(ordered, [&](auto* x, auto key) {
    if constexpr (sizeof(*x) <= 4)
      for (std::int64_t i = 0; i < n; ++i)
        items[i] = static_cast<std::uint64_t>(key(x[i])) << 32 | static_cast<std::uint64_t>(i);
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
    counts[2] = std::max(counts[1], counts[2]);  // in case low equals high
  });
}

void keep_between(const Ordered& ordered, std::int64_t n, std::uint64_t low, std::uint64_t high, void* keys,
                  std::int64_t count) {
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    auto* kept = static_cast<U*>(keys);
    for_blocks(x, n, key, [&](std::int64_t, std::int64_t m, const U* block) {
      U picked[kPickRoom];
      const std::int64_t found = pick(block, block, m, static_cast<U>(low), static_cast<U>(high - low), picked);
      const std::int64_t wanted = std::min(found, count);
      kept = std::copy_n(picked, wanted, kept);
      count -= wanted;
    });
  });
}

void keep_equal(const Ordered& ordered, std::int64_t n, std::uint64_t wanted, void* elements) {
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    auto* kept = static_cast<U*>(elements);
    for_blocks(x, n, key, [&](std::int64_t first, std::int64_t m, const U* keys) {
      U picked[kPickRoom];
      kept = std::copy_n(picked, pick(x + first, keys, m, static_cast<U>(wanted), U{0}, picked), kept);
    });
  });
}

void keep_places(const Ordered& ordered, std::int64_t n, std::uint64_t high, std::int64_t start, std::int64_t* places) {
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    const Numbers<U> numbers;
    for_blocks(x, n, key, [&](std::int64_t first, std::int64_t m, const U* keys) {
      typename Numbers<U>::V picked[kPickRoom];
      const std::int64_t found = pick(numbers.all, keys, m, U{0}, static_cast<U>(high), picked);
      for (std::int64_t i = 0; i < found; ++i) *places++ = start + first + static_cast<std::int64_t>(picked[i]);
    });
  });
}

void place_elements(const Ordered& ordered, std::int64_t n, std::uint64_t pivot, void* const* places) {
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    U* to[3] = {static_cast<U*>(places[0]), static_cast<U*>(places[1]), static_cast<U*>(places[2])};
    for_blocks(x, n, key, [&](std::int64_t first, std::int64_t m, const U* keys) {
      pick_around(x + first, keys, m, static_cast<U>(pivot),
                  [&](int c, const U* values, std::int64_t count) { to[c] = std::copy_n(values, count, to[c]); });
    });
  });
}

void place_indices(const Ordered& ordered, std::int64_t n, std::uint64_t pivot, std::int64_t start,
                   std::int64_t* const* places) {
  visit(ordered, [&](auto* x, auto key) {
    using U = typename decltype(key)::Key;
    using V = typename Numbers<U>::V;
    const Numbers<U> numbers;
    std::int64_t* to[3] = {places[0], places[1], places[2]};
    for_blocks(x, n, key, [&](std::int64_t first, std::int64_t m, const U* keys) {
      pick_around(numbers.all, keys, m, static_cast<U>(pivot), [&](int c, const V* values, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) to[c][i] = start + first + static_cast<std::int64_t>(values[i]);
        to[c] += count;
      });
    });
  });
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
