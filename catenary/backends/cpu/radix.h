#pragma once
// Private: keys that order as NumPy orders, and a stable radix sort (least significant digit first) of them.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "catenary/backends/cpu/move.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

/// Maps the bits of an element to an unsigned key of the same order; all NaNs have the largest key, both zeros one key.
template <class U, bool Float>
struct KeyMap {
  using Key = U;
  static constexpr int kBits = std::numeric_limits<U>::digits;
  static constexpr U kSign = static_cast<U>(U{1} << (kBits - 1));
  static constexpr U kNan = std::numeric_limits<U>::max();

  U flip;      // integers: the sign bit of signed ones, else 0
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
  /// The element of a key; which zero and which NaN it was is lost.
  U raw(U key) const {
    if constexpr (!Float) {
      return key ^ flip;
    } else {
      return key & kSign ? static_cast<U>(key ^ kSign) : static_cast<U>(~key);
    }
  }
  /// Whether raw(key(x)) may not be x.
  bool loses(U raw) const {
    if constexpr (!Float) {
      return false;
    } else {
      return raw == kSign || static_cast<U>(raw & static_cast<U>(~kSign)) > infinity;
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
    case Dtype::float64:
      break;
  }
  return f(KeyMap<std::uint64_t, true>{0, 0x7ff0000000000000u});
}

/// A key and where it stood, when both do not fit 64 bits.
struct WideItem {
  std::uint64_t key;
  std::uint64_t index;
  friend bool operator<(const WideItem& a, const WideItem& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

/// The bits [shift, shift + 32) of an item, key first.
template <class Item>
std::uint32_t item_digits(const Item& item, int shift) {
  return static_cast<std::uint32_t>(item >> shift);
}
inline std::uint32_t item_digits(const WideItem& item, int shift) {
  return static_cast<std::uint32_t>(item.key >> shift);
}

/// A stable radix sort of n > 0 items, cut into `chunks` pieces that threads share; the result does not depend on how
/// many. load(i) gives item i of the source, its key in bits [low, high); store(i, item) takes the one that belongs at
/// i.
template <class Item, class Load, class Store>
class RadixSort {
 public:
  RadixSort(std::int64_t n, int low, int high, int chunks, const Load& load, const Store& store)
      : n_(n), chunks_(chunks), load_(load), store_(store) {
    // Eleven bits mean fewer passes, eight bits smaller tables.
    const int width = n >= (1 << 16) && high - low > 16 ? 11 : 8;
    slot_ = std::size_t{1} << width;
    for (int shift = low; shift < high; shift += width) digits_.push_back({shift, std::min(width, high - shift)});
    find_digits();
  }

  /// Passes that move something: digits that are the same in every item are skipped.
  int passes() const { return static_cast<int>(digits_.size()); }

  /// Sorts. a and b have room for n items (b from three passes on, a from two): the first pass loads and fills a, the
  /// next go from a to b and back, the last stores; it reads a when passes() is even and b when it is odd. With no pass
  /// at all nothing is stored: the source is in order.
  void run(Item* a, Item* b) {
    const int last = passes() - 1;
    const auto from = [](const Item* items) { return [items](std::int64_t i) { return items[i]; }; };
    const auto to = [](Item* items) { return [items](std::int64_t i, const Item& item) { items[i] = item; }; };
    for (int p = 0; p <= last; ++p) {
      if (p == 0 && p == last) {
        pass(p, load_, store_);
      } else if (p == 0) {
        pass(p, load_, to(a));
      } else if (p == last) {
        pass(p, from(a), store_);
      } else {
        pass(p, from(a), to(b));
      }
      if (p > 0) std::swap(a, b);
    }
  }

 private:
  struct Digit {
    int shift, bits;
  };
  using Table = std::vector<std::int64_t>;

  template <class F>
  void for_chunks(F&& f) const {
    parallel_for(chunks_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) f(c, n_ / chunks_ * c, c + 1 == chunks_ ? n_ : n_ / chunks_ * (c + 1));
    });
  }

  static std::uint32_t digit(const Item& item, Digit d) { return item_digits(item, d.shift) & ((1u << d.bits) - 1); }

  // Counts all digits in one reading, and drops those that are the same everywhere.
  void find_digits() {
    const int n_digits = passes();
    std::vector<Table> counts(static_cast<std::size_t>(chunks_));
    for_chunks([&](std::int64_t c, std::int64_t begin, std::int64_t end) {
      Table& table = counts[static_cast<std::size_t>(c)];
      table.assign(static_cast<std::size_t>(n_digits) * slot_, 0);
      for (std::int64_t i = begin; i < end; ++i) {
        const Item item = load_(i);
        std::int64_t* row = table.data();
        for (int d = 0; d < n_digits; ++d, row += slot_) ++row[digit(item, digits_[d])];
      }
    });
    std::vector<Digit> kept;
    const Item first = load_(0);
    for (int d = 0; d < n_digits; ++d) {
      const std::size_t slot = static_cast<std::size_t>(d) * slot_, size = std::size_t{1} << digits_[d].bits;
      std::int64_t same = 0;
      for (const Table& table : counts) same += table[slot + digit(first, digits_[d])];
      if (same == n_) continue;
      kept.push_back(digits_[d]);
      // With one chunk the counts hold for every pass; with more only for the first, before anything has moved.
      if (chunks_ == 1 || kept.size() == 1)
        for (const Table& table : counts) counts_.emplace_back(table.begin() + slot, table.begin() + slot + size);
    }
    digits_ = std::move(kept);
  }

  template <class From, class To>
  void pass(int p, const From& from, const To& to) {
    const Digit d = digits_[static_cast<std::size_t>(p)];
    const std::size_t size = std::size_t{1} << d.bits;
    Table* tables = counts_.data() + (chunks_ == 1 ? p : 0);
    if (p > 0 && chunks_ > 1)
      for_chunks([&](std::int64_t c, std::int64_t begin, std::int64_t end) {
        Table& table = tables[c];
        table.assign(size, 0);
        for (std::int64_t i = begin; i < end; ++i) ++table[digit(from(i), d)];
      });
    std::int64_t sum = 0;
    for (std::size_t v = 0; v < size; ++v)
      for (int c = 0; c < chunks_; ++c) sum += std::exchange(tables[c][v], sum);
    for_chunks([&](std::int64_t c, std::int64_t begin, std::int64_t end) {
      std::int64_t* table = tables[c].data();
      for (std::int64_t i = begin; i < end; ++i) {
        const Item item = from(i);
        to(table[digit(item, d)]++, item);
      }
    });
  }

  std::int64_t n_;
  int chunks_;
  std::size_t slot_;
  const Load& load_;
  const Store& store_;
  std::vector<Digit> digits_;
  std::vector<Table> counts_;
};

}  // namespace catenary::cpu
