#pragma once
// Private: keys with NumPy's sorting order, and a stable radix sort of them.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

/// Maps the bits of an element to an unsigned key of equal order. All NaNs have the largest key, and both zeros have
/// one key.
template <class U, bool Float>
struct KeyMap {
  using Key = U;
  static constexpr int kBits = std::numeric_limits<U>::digits;
  static constexpr U kSign = static_cast<U>(U{1} << (kBits - 1));
  static constexpr U kNan = std::numeric_limits<U>::max();

  U flip;      // integers: the sign bit if signed, otherwise 0
  U infinity;  // floats: the bits of infinity

  U key(U raw) const {
    if constexpr (!Float) {
      return raw ^ flip;
    } else {
      const U magnitude = raw & static_cast<U>(~kSign);
      U k = raw & kSign ? static_cast<U>(~raw) : static_cast<U>(raw | kSign);
      k = magnitude > infinity ? kNan : k;
      return magnitude == 0 ? kSign : k;
    }
  }
  /// Returns the element of a key. The sign of a zero and the bits of a NaN are lost.
  U raw(U key) const {
    if constexpr (!Float) {
      return key ^ flip;
    } else {
      return key & kSign ? static_cast<U>(key ^ kSign) : static_cast<U>(~key);
    }
  }
  /// Returns whether raw(key(x)) may differ from x.
  bool loses(U raw) const {
    if constexpr (!Float) {
      return false;
    } else {
      return (raw == kSign) | (static_cast<U>(raw & static_cast<U>(~kSign)) > infinity);
    }
  }
};

/// Calls f with the KeyMap of a dtype.
template <class F>
decltype(auto) visit_keys(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::bool_:
    case Dtype::uint8:
      return f(KeyMap<std::uint8_t, false>{0, 0});
    case Dtype::int8:
      return f(KeyMap<std::uint8_t, false>{0x80, 0});
    case Dtype::uint16:
      return f(KeyMap<std::uint16_t, false>{0, 0});
    case Dtype::int16:
      return f(KeyMap<std::uint16_t, false>{0x8000, 0});
    case Dtype::uint32:
      return f(KeyMap<std::uint32_t, false>{0, 0});
    case Dtype::int32:
      return f(KeyMap<std::uint32_t, false>{0x80000000u, 0});
    case Dtype::uint64:
      return f(KeyMap<std::uint64_t, false>{0, 0});
    case Dtype::int64:
      return f(KeyMap<std::uint64_t, false>{0x8000000000000000u, 0});
    case Dtype::float16:
      return f(KeyMap<std::uint16_t, true>{0, 0x7c00});
    case Dtype::bfloat16:
      return f(KeyMap<std::uint16_t, true>{0, 0x7f80});
    case Dtype::float32:
      return f(KeyMap<std::uint32_t, true>{0, 0x7f800000u});
    case Dtype::complex64:
    case Dtype::complex128:
      catenary::detail::refuse_complex(dtype);
    case Dtype::float64:
      break;
  }
  return f(KeyMap<std::uint64_t, true>{0, 0x7ff0000000000000u});
}

/// A key and its original position, if both do not fit 64 bits.
struct WideItem {
  std::uint64_t key;
  std::uint64_t index;
  friend bool operator<(const WideItem& a, const WideItem& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

/// Returns the bits [shift, shift + 32) of an item, key first.
template <class Item>
std::uint32_t item_digits(const Item& item, int shift) {
  return static_cast<std::uint32_t>(item >> shift);
}
inline std::uint32_t item_digits(const WideItem& item, int shift) {
  return static_cast<std::uint32_t>(item.key >> shift);
}

template <class Item>
std::uint32_t digit_of(const Item& item, int shift, int bits) {
  return item_digits(item, shift) & ((1u << bits) - 1);
}

/// The widest digit: tables of 2048 counts fit the L1 cache.
inline constexpr int kDigitBits = 11;

/// Counts the occurrences of each value of `passes` digits of `bits` bits, from bit `low` on, in a table of 2^bits
/// each.
template <int passes, class Item, class Count>
void count_digits(const Item* items, std::int64_t n, int low, int bits, Count* counts) {
  for (std::int64_t i = 0; i < n; ++i)
    for (int p = 0; p < passes; ++p) ++counts[(std::size_t(p) << bits) + digit_of(items[i], low + p * bits, bits)];
}

/// Turns counts into the start positions of the digits.
template <class Count>
void add_up(Count* counts, std::size_t n) {
  Count sum = 0;
  for (std::size_t d = 0; d < n; ++d) {
    const Count count = counts[d];
    counts[d] = sum;
    sum += count;
  }
}

/// Sorts n items by their bits [low, high) on one thread, least significant digit first, and calls store(at + i, item)
/// for each. Overwrites the items; `spare` has room for as many.
template <class Item, class Store>
void sort_digits(Item* items, Item* spare, std::int64_t n, int low, int high, std::int64_t at, const Store& store) {
  if (n <= 48 && low < high) {
    std::sort(items, items + n);  // equal items contain their index, or are indistinguishable
    low = high;
  }
  if (low == high) {
    for (std::int64_t i = 0; i < n; ++i) store(at + i, items[i]);
    return;
  }
  const int widest = n >= 3000 ? kDigitBits : n >= 300 ? 8 : 6;
  const int passes = (high - low + widest - 1) / widest, bits = (high - low + passes - 1) / passes;
  const std::size_t slot = std::size_t{1} << bits;
  std::uint32_t counts[1 << 14];  // 64 bits in digits of 11, 8 or 6
  std::fill_n(counts, slot * static_cast<std::size_t>(passes), 0);
  if (passes == 2) {
    count_digits<2>(items, n, low, bits, counts);
  } else if (passes == 3) {
    count_digits<3>(items, n, low, bits, counts);
  } else {
    for (int p = 0; p < passes; ++p)
      count_digits<1>(items, n, low + p * bits, bits, counts + slot * static_cast<std::size_t>(p));
  }
  for (int p = 0; p < passes; ++p) {
    const int shift = low + p * bits;
    std::uint32_t* places = counts + slot * static_cast<std::size_t>(p);
    add_up(places, slot);
    if (p + 1 < passes) {
      for (std::int64_t i = 0; i < n; ++i) spare[places[digit_of(items[i], shift, bits)]++] = items[i];
      std::swap(items, spare);
    } else {
      for (std::int64_t i = 0; i < n; ++i) store(at + places[digit_of(items[i], shift, bits)]++, items[i]);
    }
  }
}

/// Contiguous items, for radix_sort.
template <class Item>
struct ItemsAt {
  const Item* items;
  const Item* operator()(std::int64_t begin, std::int64_t, Item*) const { return items + begin; }
};

/// n items in chunks, one for each thread, that `load` reads in blocks.
template <class Item, class Load>
struct LoadedChunks {
  static constexpr std::int64_t kBlock = 1024;  // items loaded at once

  std::int64_t n, chunks;
  const Load& load;

  /// Calls f(chunk, begin, end) for all chunks, on all threads.
  template <class F>
  void each(F&& f) const {
    parallel_for(chunks, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t c = first; c < last; ++c) f(c, n / chunks * c, c + 1 == chunks ? n : n / chunks * (c + 1));
    });
  }
  /// Calls f(first, items, m) for the blocks of a chunk.
  template <class F>
  void blocks(std::int64_t begin, std::int64_t end, F&& f) const {
    Item room[kBlock];
    for (std::int64_t i = begin; i < end; i += kBlock) {
      const std::int64_t m = std::min(kBlock, end - i);
      f(i, load(i, m, room), m);
    }
  }
};

/// Distributes items to buckets by a digit of `bits` bits, stably, and returns where the buckets begin.
template <class Item, class Load>
std::vector<std::int64_t> spread_by_digit(const LoadedChunks<Item, Load>& all, int shift, int bits, Item* spread) {
  const std::size_t buckets = std::size_t{1} << bits;
  std::vector<std::vector<std::int64_t>> places(static_cast<std::size_t>(all.chunks));
  all.each([&](std::int64_t c, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t>& table = places[static_cast<std::size_t>(c)];
    table.assign(2 * buckets, 0);
    // Two alternating tables: an increment waits for the previous one if both are for one digit.
    std::int64_t *even = table.data(), *odd = even + buckets;
    all.blocks(begin, end, [&](std::int64_t, const Item* items, std::int64_t m) {
      std::int64_t i = 0;
      for (; i + 1 < m; i += 2) {
        ++even[digit_of(items[i], shift, bits)];
        ++odd[digit_of(items[i + 1], shift, bits)];
      }
      if (i < m) ++even[digit_of(items[i], shift, bits)];
    });
    for (std::size_t d = 0; d < buckets; ++d) even[d] += odd[d];
  });
  std::vector<std::int64_t> begins(buckets + 1);
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < buckets; ++d) {
    begins[d] = sum;
    for (std::vector<std::int64_t>& table : places) {
      const std::int64_t count = table[d];
      table[d] = sum;
      sum += count;
    }
  }
  begins[buckets] = sum;
  all.each([&](std::int64_t c, std::int64_t begin, std::int64_t end) {
    std::int64_t* table = places[static_cast<std::size_t>(c)].data();
    all.blocks(begin, end, [&](std::int64_t, const Item* items, std::int64_t m) {
      for (std::int64_t i = 0; i < m; ++i) spread[table[digit_of(items[i], shift, bits)]++] = items[i];
    });
  });
  return begins;
}

/// Sorts n items stably by their bits [low, high) on all threads: distributes long rows to buckets by the highest
/// digit, and sorts each bucket in the caches. load(i, m, room) returns the address of the m items from i on, for which
/// `room` has space. store(at + i, item) stores the item of position i, after the last load. The result does not depend
/// on the number of threads.
template <class Item, class Load, class Store>
void radix_sort(std::int64_t n, int low, int high, const Load& load, std::int64_t at, const Store& store) {
  constexpr std::int64_t kItem = sizeof(Item);
  constexpr std::int64_t kAtOnce = (std::int64_t{1} << 17) / kItem;  // below this, no buckets
  constexpr std::int64_t kAlone = (std::int64_t{1} << 22) / kItem;   // largest bucket for one thread
  if (n <= kAtOnce) {
    const Scratch room(2 * n * kItem);
    Item* items = room.as<Item>();
    const Item* loaded = load(0, n, items);
    if (loaded != items) std::copy_n(loaded, n, items);
    return sort_digits(items, items + n, n, low, high, at, store);
  }
  const LoadedChunks<Item, Load> all{n, std::clamp<std::int64_t>(n / kGrain, 1, num_threads()), load};
  if (low == high)  // all items of the bucket are equal
    return all.each([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      all.blocks(begin, end, [&](std::int64_t first, const Item* items, std::int64_t m) {
        for (std::int64_t i = 0; i < m; ++i) store(at + first + i, items[i]);
      });
    });
  const int bits = std::min(high - low, kDigitBits), shift = high - bits;
  const Scratch room(n * kItem);
  Item* spread = room.as<Item>();
  const std::vector<std::int64_t> begins = spread_by_digit(all, shift, bits, spread);
  // All threads share each bucket that exceeds one thread's cache; single threads take the others, largest first.
  std::vector<std::size_t> alone;
  const auto size_of = [&](std::size_t d) { return begins[d + 1] - begins[d]; };
  for (std::size_t d = 0; d + 1 < begins.size(); ++d) {
    if (size_of(d) > kAlone) {
      radix_sort<Item>(size_of(d), low, shift, ItemsAt<Item>{spread + begins[d]}, at + begins[d], store);
    } else if (size_of(d) > 0) {
      alone.push_back(d);
    }
  }
  if (alone.empty()) return;
  std::sort(alone.begin(), alone.end(), [&](std::size_t a, std::size_t b) { return size_of(a) > size_of(b); });
  std::atomic<std::size_t> next = 0;
  parallel_for(all.chunks, 1, [&](std::int64_t, std::int64_t) {
    const Scratch spare(size_of(alone.front()) * kItem);
    for (std::size_t i = next++; i < alone.size(); i = next++) {
      const std::size_t d = alone[i];
      sort_digits(spread + begins[d], spare.as<Item>(), size_of(d), low, shift, at + begins[d], store);
    }
  });
}

}  // namespace catenary::cpu
