// Quantisation as in GGUF's reference. Q8_0 and Q4_0 match the Python package gguf bit by bit. Q4_K and Q6_K search for
// scales as ggml's C code does (quantize_row_q4_K_ref, quantize_row_q6_K_ref), whose exact bits depend on whether its
// compiler fuses products and sums.

#include "catenary/array/quantize_row.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "catenary/core/half.h"

namespace catenary::detail {

namespace {

using std::int64_t;
using std::uint8_t;

/// Writes x as a little-endian float16 and returns the rounded value.
float put_half(uint8_t* to, float x) {
  const float16 half(x);
  to[0] = static_cast<uint8_t>(half.bits);
  to[1] = static_cast<uint8_t>(half.bits >> 8);
  return half;
}

/// Makes a block of a kind's numbers. Returns false if a scale does not fit its type.
template <Quantization kind>
bool encode(const float* x, uint8_t* block);

constexpr float kNone = 1e-15f;  // Q6_K treats smaller numbers as 0

int nearest(float x) { return static_cast<int>(std::lrint(x)); }

/// Returns the number with the largest magnitude.
float extreme_of(const float* x, int n) {
  float extreme = 0;
  for (int i = 0; i < n; ++i)
    if (std::abs(x[i]) > std::abs(extreme)) extreme = x[i];
  return extreme;
}

/// Calls `scale_of` for the 16 groups of a block. It returns a group's scale and writes the quantised numbers. Returns
/// false if a scale is not finite.
bool scales_of_groups(float (*scale_of)(const float* x, uint8_t* numbers), const float* x,
                      std::array<float, 16>& scales, std::array<uint8_t, 256>& numbers) {
  for (int j = 0; j < 16; ++j) {
    scales[j] = scale_of(x + 16 * j, numbers.data() + 16 * j);
    if (!std::isfinite(scales[j])) return false;
  }
  return true;
}

template <>
bool encode<Quantization::q8_0>(const float* x, uint8_t* block) {
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::abs(x[i]));
  const float scale = largest / 127, inverse = scale == 0 ? 0 : 1 / scale;
  const float kept = put_half(block, scale);
  for (int i = 0; i < 32; ++i) block[2 + i] = static_cast<uint8_t>(static_cast<int>(std::round(x[i] * inverse)));
  return std::isfinite(kept);
}

template <>
bool encode<Quantization::q4_0>(const float* x, uint8_t* block) {
  const float extreme = extreme_of(x, 32);
  const float scale = extreme / -8, inverse = scale == 0 ? 0 : 1 / scale;
  const float kept = put_half(block, scale);
  const auto number = [&](float value) {
    return static_cast<unsigned>(
        std::clamp(std::trunc(static_cast<double>(value) * static_cast<double>(inverse) + 8.5), 0.0, 15.0));
  };
  for (int i = 0; i < 16; ++i) block[2 + i] = static_cast<uint8_t>(number(x[i]) | number(x[16 + i]) << 4);
  return std::isfinite(kept);
}

/// Returns the scale that represents 16 numbers best, each error weighted by the square of its number, and writes the
/// quantised numbers.
float scale_of_16(const float* x, uint8_t* numbers) {
  constexpr int most = 32;
  const float extreme = extreme_of(x, 16);
  std::fill_n(numbers, 16, uint8_t{0});
  if (std::abs(extreme) < kNone) return 0;
  struct Sums {
    float xl = 0, ll = 0;
  };
  const auto number = [&](float inverse, int i) { return std::clamp(nearest(inverse * x[i]), -most, most - 1); };
  const auto take = [&](float inverse) {
    for (int i = 0; i < 16; ++i) numbers[i] = static_cast<uint8_t>(number(inverse, i) + most);
  };
  const auto sums_at = [&](float inverse) {
    Sums sums;
    for (int i = 0; i < 16; ++i) {
      const auto l = static_cast<float>(number(inverse, i));
      const float weight = x[i] * x[i];
      sums.xl += weight * x[i] * l;
      sums.ll += weight * l * l;
    }
    return sums;
  };
  const Sums first = sums_at(-static_cast<float>(most) / extreme);
  take(-static_cast<float>(most) / extreme);
  float scale = first.ll != 0 ? first.xl / first.ll : 0, best = scale * first.xl;
  for (int step = -9; step <= 9; ++step) {
    if (step == 0) continue;
    const float inverse = -(static_cast<float>(most) + 0.1f * static_cast<float>(step)) / extreme;
    const Sums sums = sums_at(inverse);
    if (sums.ll > 0 && sums.xl * sums.xl > best * sums.ll) {
      take(inverse);
      scale = sums.xl / sums.ll;
      best = scale * sums.xl;
    }
  }
  return scale;
}

template <>
bool encode<Quantization::q6_k>(const float* x, uint8_t* block) {
  uint8_t *low = block, *high = block + 128, *scales = block + 192;
  std::array<float, 16> wanted;
  std::array<uint8_t, 256> numbers;
  if (!scales_of_groups(scale_of_16, x, wanted, numbers)) return false;
  const float extreme = extreme_of(wanted.data(), 16);
  std::memset(block, 0, 210);
  if (std::abs(extreme) < kNone) return true;
  const float inverse = -128.f / extreme;
  const float kept = put_half(block + 208, 1 / inverse);
  for (int j = 0; j < 16; ++j) {
    const int scale = std::min(127, nearest(inverse * wanted[j]));
    scales[j] = static_cast<uint8_t>(scale);
    const float d = kept * static_cast<float>(scale);
    for (int i = 16 * j; d != 0 && i < 16 * j + 16; ++i)
      numbers[i] = static_cast<uint8_t>(std::clamp(nearest(x[i] / d), -32, 31) + 32);
  }
  for (int h = 0; h < 2; ++h) {
    for (int l = 0; l < 32; ++l) {
      const uint8_t* n = numbers.data() + 128 * h + l;
      low[64 * h + l] = static_cast<uint8_t>((n[0] & 15) | (n[64] & 15) << 4);
      low[64 * h + 32 + l] = static_cast<uint8_t>((n[32] & 15) | (n[96] & 15) << 4);
      high[32 * h + l] = static_cast<uint8_t>(n[0] >> 4 | n[32] >> 4 << 2 | n[64] >> 4 << 4 | n[96] >> 4 << 6);
    }
  }
  return std::isfinite(kept);
}

/// How scale_and_minimum searches: the largest quantised number, and the scales that it tries, from (most + first) /
/// range on in 21 or so steps of 0.1. `absolute`: sums the errors, not their squares.
struct Search {
  int most;
  float first;
  int steps;
  bool absolute = false;
};

/// Numbers to represent by a scale and a minimum, with the weights of their errors.
template <int n>
class Weighted {
 public:
  Weighted(const float* x, const Search& search) : x_(x), search_(search) {
    float squares = 0;
    for (int i = 0; i < n; ++i) squares += x[i] * x[i];
    const float mean = search.absolute ? 0 : std::sqrt(squares / n);
    for (int i = 0; i < n; ++i) weights_[i] = mean + std::abs(x[i]);
    low = x[0], high = x[0], sum_w_ = weights_[0], sum_x_ = sum_w_ * x[0];
    for (int i = 1; i < n; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
      sum_w_ += weights_[i];
      sum_x_ += weights_[i] * x[i];
    }
    low = std::min(low, 0.f);
  }

  void round(float inverse, float from) {
    for (int i = 0; i < n; ++i)
      rounded[i] = static_cast<uint8_t>(std::clamp(nearest(inverse * (x_[i] - from)), 0, search_.most));
  }

  /// Returns the error of the rounded numbers with this scale and minimum.
  float error(float scale, float from) const {
    float sum = 0;
    for (int i = 0; i < n; ++i) {
      const float difference = scale * static_cast<float>(rounded[i]) + from - x_[i];
      sum += weights_[i] * (search_.absolute ? std::abs(difference) : difference * difference);
    }
    return sum;
  }

  /// Sets the scale and the minimum that fit the rounded numbers best. Returns false if there are none.
  bool fit(float& scale, float& minimum) const {
    float sum_l = 0, sum_ll = 0, sum_xl = 0;
    for (int i = 0; i < n; ++i) {
      const auto l = static_cast<float>(rounded[i]);
      sum_l += weights_[i] * l;
      sum_ll += weights_[i] * l * l;
      sum_xl += weights_[i] * l * x_[i];
    }
    const float determinant = sum_w_ * sum_ll - sum_l * sum_l;
    if (!(determinant > 0)) return false;
    scale = (sum_w_ * sum_xl - sum_x_ * sum_l) / determinant;
    minimum = (sum_ll * sum_x_ - sum_l * sum_xl) / determinant;
    if (minimum > 0) {
      minimum = 0;
      scale = sum_xl / sum_ll;
    }
    return true;
  }

  float low, high;  // the least number or 0, and the greatest
  std::array<uint8_t, n> rounded;

 private:
  const float* x_;
  const Search& search_;
  std::array<float, n> weights_;
  float sum_w_, sum_x_;
};

/// Returns the scale and the negated minimum that represent n numbers best, and writes the quantised numbers.
template <int n>
std::pair<float, float> scale_and_minimum(const float* x, uint8_t* numbers, const Search& search) {
  Weighted<n> values(x, search);
  std::fill_n(numbers, n, uint8_t{0});
  if (values.high == values.low) return {0, -values.low};
  const auto most = static_cast<float>(search.most);
  const float first = most / (values.high - values.low);
  float scale = 1 / first, minimum = values.low;
  values.round(first, minimum);
  float best = values.error(scale, minimum);
  std::copy(values.rounded.begin(), values.rounded.end(), numbers);
  for (int step = 0; step <= search.steps; ++step) {
    values.round((search.first + 0.1f * static_cast<float>(step) + most) / (values.high - minimum), minimum);
    float this_scale = 0, this_minimum = 0;
    if (!values.fit(this_scale, this_minimum)) continue;
    const float error = values.error(this_scale, this_minimum);
    if (error < best) {
      std::copy(values.rounded.begin(), values.rounded.end(), numbers);
      best = error;
      scale = this_scale;
      minimum = this_minimum;
    }
  }
  return {scale, -minimum};
}

/// Quantises a block of Q4_K or Q5_K, and writes its scales and minima. Returns false if they do not fit.
bool with_six_bits(const float* x, uint8_t* block, const Search& search, std::array<uint8_t, 256>& l) {
  std::array<float, 8> scales, minima;
  float most_scale = 0, most_minimum = 0;
  for (int j = 0; j < 8; ++j) {
    std::tie(scales[j], minima[j]) = scale_and_minimum<32>(x + 32 * j, l.data() + 32 * j, search);
    if (!std::isfinite(scales[j]) || !std::isfinite(minima[j])) return false;
    most_scale = std::max(most_scale, scales[j]);
    most_minimum = std::max(most_minimum, minima[j]);
  }
  const float inverse_scale = most_scale > 0 ? 63 / most_scale : 0,
              inverse_minimum = most_minimum > 0 ? 63 / most_minimum : 0;
  std::memset(block, 0, 16);
  const float d = put_half(block, most_scale / 63), dmin = put_half(block + 2, most_minimum / 63);
  uint8_t* packed = block + 4;
  for (int j = 0; j < 8; ++j) {
    const int s = std::min(63, nearest(inverse_scale * scales[j])),
              m = std::min(63, nearest(inverse_minimum * minima[j]));
    if (j < 4) {
      packed[j] |= static_cast<uint8_t>(s);
      packed[j + 4] |= static_cast<uint8_t>(m);
    } else {
      packed[j + 4] = static_cast<uint8_t>((s & 15) | (m & 15) << 4);
      packed[j - 4] |= static_cast<uint8_t>(s >> 4 << 6);
      packed[j] |= static_cast<uint8_t>(m >> 4 << 6);
    }
    const float scale = d * static_cast<float>(s), minimum = dmin * static_cast<float>(m);
    for (int i = 32 * j; scale != 0 && i < 32 * j + 32; ++i)
      l[i] = static_cast<uint8_t>(std::clamp(nearest((x[i] + minimum) / scale), 0, search.most));
  }
  return std::isfinite(d) && std::isfinite(dmin);
}

/// Packs the lower 4 bits of a block's numbers. The lower halves of 32 bytes are a group, the upper ones the next.
void put_nibbles(const std::array<uint8_t, 256>& l, uint8_t* to) {
  for (int g = 0; g < 4; ++g)
    for (int i = 0; i < 32; ++i)
      to[32 * g + i] = static_cast<uint8_t>((l[64 * g + i] & 15) | (l[64 * g + 32 + i] & 15) << 4);
}

template <>
bool encode<Quantization::q4_k>(const float* x, uint8_t* block) {
  std::array<uint8_t, 256> l;
  const bool fits = with_six_bits(x, block, {15, -1, 20}, l);
  put_nibbles(l, block + 16);
  return fits;
}

template <>
bool encode<Quantization::q5_k>(const float* x, uint8_t* block) {
  std::array<uint8_t, 256> l;
  const bool fits = with_six_bits(x, block, {31, -0.5F, 15}, l);
  uint8_t* const bits = block + 16;
  std::memset(bits, 0, 32);
  for (int i = 0; i < 256; ++i) bits[i % 32] |= static_cast<uint8_t>(l[i] >> 4 << i / 32);
  put_nibbles(l, block + 48);
  return fits;
}

/// Returns the scale that represents 16 numbers best by numbers from -4 to 3, each error weighted by the square of its
/// number, and writes the quantised numbers plus 4. Starts from the largest number and moves one number at a time.
float scale_of_3_bits(const float* x, uint8_t* numbers) {
  constexpr int most = 4, passes = 5;
  const float extreme = extreme_of(x, 16);
  std::fill_n(numbers, 16, uint8_t{most});
  if (std::abs(extreme) < kNone) return 0;
  std::array<int, 16> l;
  float sum_xl = 0, sum_ll = 0;
  const auto weighted = [&](int i, int number) {
    const float n = static_cast<float>(number), weight = x[i] * x[i];
    return std::pair(weight * x[i] * n, weight * n * n);
  };
  for (int i = 0; i < 16; ++i) {
    l[i] = std::clamp(nearest(-static_cast<float>(most) / extreme * x[i]), -most, most - 1);
    const auto [xl, ll] = weighted(i, l[i]);
    sum_xl += xl, sum_ll += ll;
  }
  bool moved = true;
  for (int pass = 0; pass < passes && moved; ++pass) {
    moved = false;
    for (int i = 0; i < 16; ++i) {
      const auto [old_xl, old_ll] = weighted(i, l[i]);
      const float rest_xl = sum_xl - old_xl, rest_ll = sum_ll - old_ll;
      if (!(rest_xl > 0)) continue;
      const int number = std::clamp(nearest(x[i] * rest_ll / rest_xl), -most, most - 1);
      if (number == l[i]) continue;
      const auto [xl, ll] = weighted(i, number);
      const float new_xl = rest_xl + xl, new_ll = rest_ll + ll;
      if (!(new_ll > 0) || !(new_xl * new_xl * sum_ll > sum_xl * sum_xl * new_ll)) continue;
      l[i] = number, sum_xl = new_xl, sum_ll = new_ll;
      moved = true;
    }
  }
  for (int i = 0; i < 16; ++i) numbers[i] = static_cast<uint8_t>(l[i] + most);
  return sum_xl / sum_ll;
}

template <>
bool encode<Quantization::q3_k>(const float* x, uint8_t* block) {
  uint8_t *low = block + 32, *packed = block + 96;
  std::array<float, 16> wanted;
  std::array<uint8_t, 256> numbers;
  if (!scales_of_groups(scale_of_3_bits, x, wanted, numbers)) return false;
  const float extreme = extreme_of(wanted.data(), 16);
  std::memset(block, 0, 110);
  if (std::abs(extreme) < kNone) return true;
  const float inverse = -32 / extreme, kept = put_half(block + 108, 1 / inverse);
  for (int j = 0; j < 16; ++j) {
    const int scale = std::clamp(nearest(inverse * wanted[j]), -32, 31), raised = scale + 32;
    packed[j % 8] |= static_cast<uint8_t>((raised & 15) << j / 8 * 4);
    packed[8 + j % 4] |= static_cast<uint8_t>(raised >> 4 << j / 4 * 2);
    const float d = kept * static_cast<float>(scale);
    for (int i = 16 * j; i < 16 * j + 16; ++i)
      numbers[i] = static_cast<uint8_t>(d == 0 ? 4 : std::clamp(nearest(x[i] / d), -4, 3) + 4);
  }
  for (int i = 0; i < 256; ++i) {
    block[i % 32] |= static_cast<uint8_t>(numbers[i] >> 2 << i / 32);
    low[i / 128 * 32 + i % 32] |= static_cast<uint8_t>((numbers[i] & 3) << i % 128 / 32 * 2);
  }
  return std::isfinite(kept);
}

template <>
bool encode<Quantization::q2_k>(const float* x, uint8_t* block) {
  std::array<float, 16> scales, minima;
  std::array<uint8_t, 256> numbers;
  float most_scale = 0, most_minimum = 0;
  for (int j = 0; j < 16; ++j) {
    std::tie(scales[j], minima[j]) = scale_and_minimum<16>(x + 16 * j, numbers.data() + 16 * j, {3, -0.5F, 15, true});
    if (!std::isfinite(scales[j]) || !std::isfinite(minima[j])) return false;
    most_scale = std::max(most_scale, scales[j]);
    most_minimum = std::max(most_minimum, minima[j]);
  }
  std::memset(block, 0, 84);
  const float d = put_half(block + 80, most_scale / 15), dmin = put_half(block + 82, most_minimum / 15);
  for (int j = 0; j < 16; ++j) {
    const int s = most_scale > 0 ? std::clamp(nearest(15 / most_scale * scales[j]), 0, 15) : 0,
              m = most_minimum > 0 ? std::clamp(nearest(15 / most_minimum * minima[j]), 0, 15) : 0;
    block[j] = static_cast<uint8_t>(s | m << 4);
    const float scale = d * static_cast<float>(s), minimum = dmin * static_cast<float>(m);
    for (int i = 16 * j; scale != 0 && i < 16 * j + 16; ++i)
      numbers[i] = static_cast<uint8_t>(std::clamp(nearest((x[i] + minimum) / scale), 0, 3));
  }
  for (int i = 0; i < 256; ++i)
    block[16 + i / 128 * 32 + i % 32] |= static_cast<uint8_t>(numbers[i] << i % 128 / 32 * 2);
  return std::isfinite(d) && std::isfinite(dmin);
}

/// The numbers of IQ4_NL.
constexpr std::array<int, 16> kUneven = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// Returns the index of the number of IQ4_NL that is nearest to x.
int nearest_uneven(float x) {
  int index = 0;
  while (index < 15 && x > 0.5F * static_cast<float>(kUneven[index] + kUneven[index + 1])) ++index;
  return index;
}

// Takes the best of 15 scales near the scale that maps the largest number to an end of the table.
template <>
bool encode<Quantization::iq4_nl>(const float* x, uint8_t* block) {
  constexpr int tries = 7;
  const float extreme = extreme_of(x, 32);
  std::memset(block, 0, 18);
  if (std::abs(extreme) < kNone) return true;
  std::array<float, 32> shares;  // of the largest number, whose squares do not overflow
  for (int i = 0; i < 32; ++i) shares[i] = x[i] / extreme;
  float scale = 0, best = 0;
  for (int step = -tries; step <= tries; ++step) {
    const auto inverse = static_cast<float>(kUneven[0] + step);
    float sum_xv = 0, sum_vv = 0;
    for (const float share : shares) {
      const auto value = static_cast<float>(kUneven[nearest_uneven(inverse * share)]);
      const float weight = share * share;
      sum_xv += weight * share * value;
      sum_vv += weight * value * value;
    }
    if (sum_vv > 0 && sum_xv * sum_xv > best * sum_vv) {
      scale = extreme * (sum_xv / sum_vv);
      best = sum_xv * sum_xv / sum_vv;
    }
  }
  const float kept = put_half(block, scale), inverse = scale == 0 ? 0 : 1 / scale;
  for (int i = 0; i < 16; ++i)
    block[2 + i] = static_cast<uint8_t>(nearest_uneven(inverse * x[i]) | nearest_uneven(inverse * x[16 + i]) << 4);
  return std::isfinite(kept);
}

template <>
bool encode<Quantization::mxfp4>(const float* x, uint8_t* block) {
  constexpr std::array<float, 8> floats = {0, 1, 2, 3, 4, 6, 8, 12};  // doubled
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::abs(x[i]));
  const int power = largest > 0 ? static_cast<int>(std::floor(std::log2(largest))) : 0;
  const int stored = largest > 0 ? std::clamp(power + 125, 0, 254) : 0;
  block[0] = static_cast<uint8_t>(stored);
  const float scale = std::ldexp(1.F, stored - 128);
  const auto number = [&](float value) {
    int best = 0;
    for (int i = 1; i < 8; ++i)
      if (std::abs(scale * floats[i] - std::abs(value)) < std::abs(scale * floats[best] - std::abs(value))) best = i;
    return value < 0 && best > 0 ? best + 8 : best;
  };
  for (int i = 0; i < 16; ++i) block[1 + i] = static_cast<uint8_t>(number(x[i]) | number(x[16 + i]) << 4);
  return true;
}

/// Makes a row of int8, whose scale and zero point are those of all its blocks.
bool int8_row(const float* x, int64_t n, uint8_t* row) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  const float range = high - low, scale = range > 0 ? std::max(range / 255, std::numeric_limits<float>::min()) : 1;
  const float zero = std::clamp(-128 - std::nearbyint(low / scale), -128.f, 127.f);
  std::memcpy(row, &scale, 4);
  std::memcpy(row + 4, &zero, 4);
  const int64_t whole = quantized_row_bytes(Quantization::int8, n) - 8;
  for (int64_t i = 0; i < whole; ++i) {
    const float value = i < n ? x[i] : 0;
    row[8 + i] =
        static_cast<uint8_t>(static_cast<int>(std::clamp(std::nearbyint(value / scale) + zero, -128.f, 127.f)));
  }
  return std::isfinite(range);
}

}  // namespace

bool quantize_row(Quantization kind, const float* x, int64_t n, uint8_t* blocks) {
  if (kind == Quantization::int8) return int8_row(x, n, blocks);
  const QuantizationInfo& info = quantization_info(kind);
  bool fits = true;
  std::array<float, 256> last{};  // zeros pad the last block
  for (int64_t i = 0; i < n; i += info.elements, blocks += info.bytes) {
    const float* from = x + i;
    if (n - i < info.elements) {
      std::copy_n(from, n - i, last.begin());
      from = last.data();
    }
    visit_quantization(kind, [&](auto k) {
      if constexpr (k() != Quantization::int8) fits &= encode<k()>(from, blocks);
    });
  }
  return fits;
}

}  // namespace catenary::detail
