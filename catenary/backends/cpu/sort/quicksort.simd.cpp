// Quicksort and selection by vectors, compiled for each instruction set (see core/cpu_features.h). A vector is divided
// around a pivot by one permutation, and short stretches are sorted by a network.
#include "catenary/backends/cpu/sort/quicksort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#  include <immintrin.h>
#endif

#include "catenary/backends/cpu/vector_bytes.h"

namespace catenary::cpu {
namespace CT_SIMD_NAMESPACE {
namespace {

template <class S>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(S));
/// Vectors that sort_few() sorts, as many as half of the registers.
constexpr int kMostRows = kVectorBytes == 64 ? 16 : 8;
template <class S>
constexpr std::int64_t kFew = std::int64_t{kLanes<S>} * kMostRows;

#define CT_INLINE __attribute__((always_inline)) inline

/// Calls f with the constants 0, 1, … N - 1.
template <int N, class F>
CT_INLINE void repeat(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>()), ...);
  }
  (std::make_integer_sequence<int, N>());
}

#if defined(__AVX512F__)
/// Vectors of unsigned words.
template <class S>
struct Words512 {
  static constexpr bool kIs4 = sizeof(S) == 4;
  using Mask = std::conditional_t<kIs4, std::uint16_t, std::uint8_t>;
  CT_INLINE static Mask first(int count) { return static_cast<Mask>((1u << count) - 1); }
  /// Returns the mask of the first n lanes, of none or of all if there are not as many.
  CT_INLINE static Mask some(std::int64_t n) {
    return first(static_cast<int>(std::clamp<std::int64_t>(n, 0, kLanes<S>)));
  }
  CT_INLINE static Mask over(__m512i x, __m512i bound) {
    return static_cast<Mask>(kIs4 ? _mm512_cmpgt_epu32_mask(x, bound) : _mm512_cmpgt_epu64_mask(x, bound));
  }
  /// Returns the larger words where the mask is set, and others elsewhere.
  CT_INLINE static __m512i most(__m512i others, Mask mask, __m512i x, __m512i y) {
    return kIs4 ? _mm512_mask_max_epu32(others, mask, x, y)
                : _mm512_mask_max_epu64(others, static_cast<__mmask8>(mask), x, y);
  }
  CT_INLINE static __m512i compress(Mask mask, __m512i x) {
    return kIs4 ? _mm512_maskz_compress_epi32(mask, x) : _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), x);
  }
  CT_INLINE static __m512i load(Mask mask, const S* from, __m512i others) {
    return kIs4 ? _mm512_mask_loadu_epi32(others, mask, from)
                : _mm512_mask_loadu_epi64(others, static_cast<__mmask8>(mask), from);
  }
  CT_INLINE static void store(S* to, Mask mask, __m512i x) {
    if constexpr (kIs4) {
      _mm512_mask_storeu_epi32(to, mask, x);
    } else {
      _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask), x);
    }
  }
};
#endif

/// A bitonic network of kRows vectors. Its order is that of lanes, and of vectors within a lane, so that most steps
/// compare whole vectors. Every merge begins with a comparison of mirrored positions. (Batcher 1968.)
template <class S, int kRows>
struct Network {
  static constexpr int kLane = kLanes<S>;
  typedef S Vector __attribute__((vector_size(kVectorBytes)));
  Vector row[kRows];

  CT_INLINE static Vector least(Vector a, Vector b) { return a < b ? a : b; }
  CT_INLINE static Vector most(Vector a, Vector b) { return a < b ? b : a; }
  template <int a, int b>
  CT_INLINE void order() {
    const Vector low = least(row[a], row[b]);
    row[b] = most(row[a], row[b]);
    row[a] = low;
  }
  /// Returns the vector whose lane i is lane i ^ mask of x.
  template <int mask, int... i>
  CT_INLINE static Vector turned(Vector x, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(x, x, (i ^ mask)...);
  }
#if defined(__AVX512F__)
  template <int bit, int... i>
  static constexpr auto lanes_with(std::integer_sequence<int, i...>) {
    return static_cast<typename Words512<S>::Mask>(((i & bit ? 1u << i : 0u) | ...));
  }
#else
  /// Returns the lanes of b where bit `bit` of the lane is set, and those of a elsewhere.
  template <int bit, int... i>
  CT_INLINE static Vector mixed(Vector a, Vector b, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(a, b, ((i & bit) ? kLane + i : i)...);
  }
#endif
  /// Compares lane i of x with lane i ^ mask of y. Returns the larger word in lanes with `bit` and the smaller in
  /// others.
  template <int mask, int bit>
  CT_INLINE static Vector across(Vector x, Vector y) {
    constexpr auto lanes = std::make_integer_sequence<int, kLane>();
    const Vector other = turned<mask>(y, lanes);
#if defined(__AVX512F__)
    return reinterpret_cast<Vector>(Words512<S>::most(reinterpret_cast<__m512i>(least(x, other)),
                                                      lanes_with<bit>(lanes), reinterpret_cast<__m512i>(x),
                                                      reinterpret_cast<__m512i>(other)));
#else
    return mixed<bit>(least(x, other), most(x, other), lanes);
#endif
  }
  /// Ends a merge of rows first, … first + size - 1.
  template <int first, int size>
  CT_INLINE void merge_rows() {
    if constexpr (size > 1) {
      repeat<size / 2>([&](auto i)
                           __attribute__((always_inline)) { order<first + i.value, first + i.value + size / 2>(); });
      merge_rows<first, size / 2>();
      merge_rows<first + size / 2, size / 2>();
    }
  }
  template <int first, int size>
  CT_INLINE void sort_rows() {
    if constexpr (size > 1) {
      sort_rows<first, size / 2>();
      sort_rows<first + size / 2, size / 2>();
      repeat<size / 2>([&](auto i)
                           __attribute__((always_inline)) { order<first + i.value, first + size - 1 - i.value>(); });
      merge_rows<first, size / 2>();
      merge_rows<first + size / 2, size / 2>();
    }
  }
  /// Compares lanes at distances distance, distance / 2, … 1.
  template <int distance>
  CT_INLINE void merge_lanes() {
    if constexpr (distance > 0) {
      repeat<kRows>([&](auto r) __attribute__((always_inline)) {
        row[r.value] = across<distance, distance>(row[r.value], row[r.value]);
      });
      merge_lanes<distance / 2>();
    }
  }
  /// Merges pairs of `size` sorted lanes each, then pairs of the result.
  template <int size>
  CT_INLINE void sort_lanes() {
    if constexpr (size < kLane) {
      if constexpr (kRows == 1) row[0] = across<2 * size - 1, size>(row[0], row[0]);
      repeat<kRows / 2>([&](auto r) __attribute__((always_inline)) {
        const Vector a = row[r.value], b = row[kRows - 1 - r.value];
        row[r.value] = across<2 * size - 1, size>(a, b);
        row[kRows - 1 - r.value] = across<2 * size - 1, size>(b, a);
      });
      merge_lanes<size / 2>();
      merge_rows<0, kRows>();
      sort_lanes<2 * size>();
    }
  }
  /// Returns lanes from, from + 1, … of the vector x[0] y[0] x[1] y[1] …
  template <int from, int... i>
  CT_INLINE static Vector zipped(Vector x, Vector y, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(x, y, ((from + i) / 2 + ((from + i) % 2) * kLane)...);
  }
  /// Transposes the rows and lanes to the order of memory: one of log2(kRows) shuffles as of cards.
  template <int left>
  CT_INLINE void shuffle() {
    if constexpr (left > 1) {
      constexpr auto lanes = std::make_integer_sequence<int, kLane>();
      Vector next[kRows];
      repeat<kRows / 2>([&](auto r) __attribute__((always_inline)) {
        const Vector x = row[r.value], y = row[r.value + kRows / 2];
        next[2 * r.value] = zipped<0>(x, y, lanes);
        next[2 * r.value + 1] = zipped<kLane>(x, y, lanes);
      });
      repeat<kRows>([&](auto r) __attribute__((always_inline)) { row[r.value] = next[r.value]; });
      shuffle<left / 2>();
    }
  }
};

#if defined(__AVX2__) && !defined(__AVX512F__)
/// Returns the mask of the first n lanes.
template <class S>
CT_INLINE __m256i first_lanes(std::int64_t n) {
  typename Network<S, 1>::Vector lane{};
  repeat<kLanes<S>>([&](auto i) __attribute__((always_inline)) { lane[i.value] = i.value; });
  return reinterpret_cast<__m256i>(lane < typename Network<S, 1>::Vector{} + static_cast<S>(n));
}
#endif

/// Returns min(n, kLanes) words, and the largest number in other lanes. n may be negative.
template <class S>
CT_INLINE auto load_some(const S* words, std::int64_t n) {
  using Vector = typename Network<S, 1>::Vector;
  const Vector none = Vector{} + std::numeric_limits<S>::max();
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(Words512<S>::load(Words512<S>::some(n), words, reinterpret_cast<__m512i>(none)));
#else
  Vector x = none;
  if (n >= kLanes<S>) {
    std::memcpy(&x, words, kVectorBytes);
  } else if (n > 0) {
#  if defined(__AVX2__)
    const __m256i in = first_lanes<S>(n);
    const __m256i some = sizeof(S) == 4 ? _mm256_maskload_epi32(reinterpret_cast<const int*>(words), in)
                                        : _mm256_maskload_epi64(reinterpret_cast<const long long*>(words), in);
    x = reinterpret_cast<Vector>(_mm256_blendv_epi8(reinterpret_cast<__m256i>(none), some, in));
#  else
    std::memcpy(&x, words, static_cast<std::size_t>(n) * sizeof(S));
#  endif
  }
  return x;
#endif
}
template <class S, class Vector>
CT_INLINE void store_some(S* words, std::int64_t n, const Vector& x) {
#if defined(__AVX512F__)
  Words512<S>::store(words, Words512<S>::some(n), reinterpret_cast<__m512i>(x));
#else
  if (n >= kLanes<S>) {
    std::memcpy(words, &x, kVectorBytes);
  } else if (n > 0) {
#  if defined(__AVX2__)
    const __m256i bits = reinterpret_cast<__m256i>(x), in = first_lanes<S>(n);
    if constexpr (sizeof(S) == 4) {
      _mm256_maskstore_epi32(reinterpret_cast<int*>(words), in, bits);
    } else {
      _mm256_maskstore_epi64(reinterpret_cast<long long*>(words), in, bits);
    }
#  else
    std::memcpy(words, &x, static_cast<std::size_t>(n) * sizeof(S));
#  endif
  }
#endif
}

/// Sorts n <= kRows vectors of words.
template <int kRows, class S>
void sort_rows(S* words, std::int64_t n) {
  Network<S, kRows> network;
  repeat<kRows>([&](auto r) __attribute__((always_inline)) {
    constexpr std::int64_t at = r.value * kLanes<S>;
    network.row[r.value] = load_some(words + at, n - at);
  });
  network.template sort_rows<0, kRows>();
  network.template sort_lanes<1>();
  network.template shuffle<kRows>();
  repeat<kRows>([&](auto r) __attribute__((always_inline)) {
    constexpr std::int64_t at = r.value * kLanes<S>;
    store_some(words + at, n - at, network.row[r.value]);
  });
}

/// Sorts n <= kFew words.
template <class S>
void sort_few(S* words, std::int64_t n) {
  if (n <= kLanes<S>) return sort_rows<1>(words, n);
  if (n <= 2 * kLanes<S>) return sort_rows<2>(words, n);
  if (n <= 4 * kLanes<S>) return sort_rows<4>(words, n);
  if (n <= 8 * kLanes<S>) return sort_rows<8>(words, n);
  if constexpr (kMostRows > 8) sort_rows<kMostRows>(words, n);
}

#if defined(__AVX2__)
/// For each set of lanes the permutation that moves them behind the others, both in order. A lane is `wide` elements.
template <class Index, int lanes, int wide>
constexpr auto make_permutations() {
  std::array<std::array<Index, lanes * wide>, std::size_t{1} << lanes> all{};
  for (std::size_t set = 0; set < all.size(); ++set) {
    std::size_t at = 0;
    for (int in = 0; in < 2; ++in)
      for (int lane = 0; lane < lanes; ++lane)
        if (static_cast<int>(set >> lane & 1) == in)
          for (int k = 0; k < wide; ++k) all[set][at++] = static_cast<Index>(lane * wide + k);
  }
  return all;
}
#  if defined(__AVX512F__)
constexpr auto kPermutationsOf8 = make_permutations<std::uint8_t, 8, 1>();
#  else
template <class S>
constexpr auto kPermutations = make_permutations<std::int32_t, kLanes<S>, 8 / kLanes<S>>();
#  endif
#endif

/// The words <= a bound at the front, and the others behind them.
struct Division {
  std::int64_t low;  ///< number of words <= the bound
  bool is_equal;     ///< words <= the bound all equal it
};

#if defined(__AVX2__)
/// Places for divided words: those <= a bound go upwards from `low`, and the others downwards from `high`.
template <class S>
struct Places {
  static constexpr std::int64_t kLane = kLanes<S>;
  using One = Network<S, 1>;
  using Vector = typename One::Vector;

  S *low, *high, bound;
  Vector most = Vector{} + bound, least = most;

  CT_INLINE static Vector load(const S* from) {
    Vector x;
    std::memcpy(&x, from, kVectorBytes);
    return x;
  }
#  if defined(__AVX512F__)
  using Words = Words512<S>;
  using Mask = typename Words::Mask;

  /// Writes a vector. A whole vector is stored on each side, so there must be room for it.
  CT_INLINE void write(Vector vector) {
    least = One::least(least, vector);
    const __m512i x = reinterpret_cast<__m512i>(vector);
    const Mask over = Words::over(x, reinterpret_cast<__m512i>(most));
    const int count = std::popcount(over);
    if constexpr (kLane == 8) {  // one permutation is faster than two compressions
      const __m128i order = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPermutationsOf8[over].data()));
      const __m512i divided = _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(order), x);
      _mm512_storeu_si512(low, divided);
      _mm512_storeu_si512(high - kLane, divided);
      high -= count;
    } else {
      _mm512_storeu_si512(low, Words::compress(static_cast<Mask>(~over), x));
      high -= count;
      Words::store(high, Words::first(count), Words::compress(over, x));
    }
    low += kLane - count;
  }
  bool is_equal() const { return Words::over(reinterpret_cast<__m512i>(most), reinterpret_cast<__m512i>(least)) == 0; }
#  else
  CT_INLINE void write(Vector vector) {
    least = One::least(least, vector);
    const __m256i x = reinterpret_cast<__m256i>(vector), is_over = reinterpret_cast<__m256i>(vector > most);
    const auto over = static_cast<unsigned>(sizeof(S) == 4 ? _mm256_movemask_ps(_mm256_castsi256_ps(is_over))
                                                           : _mm256_movemask_pd(_mm256_castsi256_pd(is_over)));
    const __m256i order = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kPermutations<S>[over].data()));
    const __m256i divided = _mm256_permutevar8x32_epi32(x, order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(low), divided);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(high - kLane), divided);
    const std::int64_t count = std::popcount(over);
    high -= count;
    low += kLane - count;
  }
  bool is_equal() const {
    const Vector less = least < most;
    return _mm256_testz_si256(reinterpret_cast<__m256i>(less), reinterpret_cast<__m256i>(less)) != 0;
  }
#  endif
  /// Writes fewer words than a vector has, without others behind them.
  CT_INLINE void write_few(const S* words, std::int64_t n) {
#  if defined(__AVX512F__)
    const Mask in = Words::first(static_cast<int>(n));
    const __m512i x = Words::load(in, words, reinterpret_cast<__m512i>(most));
    least = One::least(least, reinterpret_cast<Vector>(x));
    const Mask over = Words::over(x, reinterpret_cast<__m512i>(most)), rest = static_cast<Mask>(in & ~over);
    const int count = std::popcount(over);
    high -= count;
    Words::store(high, Words::first(count), Words::compress(over, x));
    Words::store(low, Words::first(static_cast<int>(n) - count), Words::compress(rest, x));
    low += n - count;
#  else
    S smallest = bound;
    for (std::int64_t i = 0; i < n; ++i) {
      const S x = words[i];
      const bool over = x > bound;
      *low = x;
      high[-1] = x;
      low += !over;
      high -= over;
      smallest = std::min(smallest, x);
    }
    least = One::least(least, Vector{} + smallest);
#  endif
  }
};

constexpr int kBlock = 8;  ///< vectors that are read at once
template <class S>
constexpr std::int64_t kShort = 4 * kBlock* kLanes<S>;

/// Moves all but fewer than 3 * kBlock vectors to their places, which meet where the others are. Blocks are read from
/// the end where less room is left, so each end always has room for a block.
template <class S>
CT_INLINE std::int64_t divide_blocks(Places<S>& places, S* words, std::int64_t n) {
  constexpr std::int64_t kLane = kLanes<S>, kWords = kBlock * kLane;
  S kept[3 * kWords];
  S *left = words + kWords, *right = words + n - kWords;
  std::copy_n(words, kWords, kept);
  std::copy_n(right, kWords, kept + kWords);
  while (right - left >= kWords) {
    const bool is_left = left - places.low <= places.high - right;
    const S* const from = is_left ? left : right - kWords;
    left += is_left ? kWords : 0;
    right -= is_left ? 0 : kWords;
    typename Places<S>::Vector x[kBlock];
    repeat<kBlock>([&](auto k)
                       __attribute__((always_inline)) { x[k.value] = Places<S>::load(from + k.value * kLane); });
    repeat<kBlock>([&](auto k) __attribute__((always_inline)) { places.write(x[k.value]); });
  }
  const std::int64_t rest = right - left;
  std::copy_n(left, rest, kept + 2 * kWords);
  std::copy_n(kept, 2 * kWords + rest, places.low);
  return 2 * kWords + rest;
}

/// Moves the words <= bound to the front and the others behind them.
template <class S>
Division divide(S* words, std::int64_t n, S bound) {
  constexpr std::int64_t kLane = kLanes<S>;
  Places<S> places{words, words + n, bound};
  const std::int64_t count = n > kShort<S> ? divide_blocks(places, words, n) : n;
  const S* const from = places.low;
  S above[kShort<S> + kLane];
  S* const end = above + kShort<S> + kLane;
  places.high = end;
  std::int64_t i = 0;
  for (; i + kLane <= count; i += kLane) places.write(Places<S>::load(from + i));
  places.write_few(from + i, count - i);
  std::copy(places.high, end, places.low);
  return {places.low - words, places.is_equal()};
}
#else
/// Moves the words <= bound to the front and the others behind them.
template <class S>
Division divide(S* words, std::int64_t n, S bound) {
  std::int64_t low = 0;
  S least = bound;
  for (std::int64_t i = 0; i < n; ++i) {
    const S x = words[i];
    words[i] = words[low];
    words[low] = x;
    low += x <= bound;
    least = std::min(least, x);
  }
  return {low, least == bound};
}
#endif

/// Returns a word near the median of n > kFew words: the median over lanes of the medians of three vectors.
template <class S>
S pivot_of(const S* words, std::int64_t n) {
  using One = Network<S, 1>;
  typename One::Vector x[3];
  for (int i = 0; i < 3; ++i) std::memcpy(&x[i], words + (2 * i + 1) * n / 6 - kLanes<S> / 2, kVectorBytes);
  One network;
  network.row[0] = One::most(One::least(x[0], x[1]), One::least(One::most(x[0], x[1]), x[2]));
  network.template sort_lanes<1>();
  return network.row[0][kLanes<S> / 2 - 1];
}

/// Words that are still in disorder, unless they are all equal.
struct Part {
  std::int64_t begin, end;
  bool is_equal = false;

  std::int64_t size() const { return end - begin; }
};

/// Divides n > kFew words around a pivot into two parts that are shorter or equal words.
template <class S>
std::array<Part, 2> divided(S* words, std::int64_t n) {
  const S pivot = pivot_of(words, n);
  Division found = divide(words, n, pivot);
  const bool is_largest = found.low == n && !found.is_equal;
  if (is_largest) found = divide(words, n, static_cast<S>(pivot - 1));
  return {Part{0, found.low, found.is_equal}, Part{found.low, n, is_largest}};
}

/// Divisions of n words before std::sort is safer.
int depth_of(std::int64_t n) { return 2 * std::bit_width(static_cast<std::uint64_t>(n)) + 8; }

template <class S>
void sort_all(S* words, std::int64_t n, int depth) {
  if (n <= kFew<S>) return sort_few(words, n);
  if (depth == 0) return std::sort(words, words + n);
  for (const Part& part : divided(words, n))
    if (!part.is_equal) sort_all(words + part.begin, part.size(), depth - 1);
}

/// Sorts the parts of words, which begin at position `first`, that hold a position of kth.
template <class S>
void select(S* words, std::int64_t first, std::int64_t n, const std::int64_t* kth, std::int64_t count, int depth) {
  if (count == 0) return;
  if (n <= kFew<S>) return sort_few(words, n);
  if (depth == 0) return std::sort(words, words + n);
  for (const Part& part : divided(words, n)) {
    if (part.is_equal) continue;
    const std::int64_t* const from = std::lower_bound(kth, kth + count, first + part.begin);
    const std::int64_t* const to = std::lower_bound(from, kth + count, first + part.end);
    select(words + part.begin, first + part.begin, part.size(), from, to - from, depth - 1);
  }
}

#if defined(__AVX512F__)
template <int bytes>
using Word = std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>;
#else
template <int bytes>  // earlier vectors have no unsigned comparison
using Word = std::conditional_t<bytes == 4, std::int32_t, std::int64_t>;
#endif

/// Calls f with all words, whose order as numbers of type S is the unsigned one.
template <class S, class F>
void in_order(void* words, std::int64_t n, const F& f) {
  S* const all = static_cast<S*>(words);
  const auto flip = [&] {
    if constexpr (std::is_signed_v<S>)
      for (std::int64_t i = 0; i < n; ++i) all[i] ^= std::numeric_limits<S>::min();
  };
  flip();
  f(all);
  flip();
}

}  // namespace

void quicksort(void* words, std::int64_t n, int bytes) {
  const auto sort = [&](auto* all) { sort_all(all, n, depth_of(n)); };
  bytes == 4 ? in_order<Word<4>>(words, n, sort) : in_order<Word<8>>(words, n, sort);
}

void quickselect(void* words, std::int64_t n, int bytes, const std::int64_t* kth, std::int64_t count) {
  const auto sort = [&](auto* all) { select(all, 0, n, kth, count, depth_of(n)); };
  bytes == 4 ? in_order<Word<4>>(words, n, sort) : in_order<Word<8>>(words, n, sort);
}

}  // namespace CT_SIMD_NAMESPACE
}  // namespace catenary::cpu
