// Products with quantised weights on the CPU.

#include "catenary/backends/cpu/quantized.h"

#include <algorithm>
#include <atomic>

#if defined(__x86_64__)
#  include <cpuid.h>
#endif

#include "catenary/backends/cpu/computations.h"
#include "catenary/backends/cpu/copy.h"
#include "catenary/backends/cpu/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/config.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

using std::int64_t;

namespace {
std::atomic<bool> vnni_is_left_out = false;
}  // namespace

void leave_vnni_out(bool out) { vnni_is_left_out = out; }

bool has_vnni() {
#if defined(__x86_64__) && !defined(CT_SIMD_NO_V4)
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & 1u << 11) != 0;
  }();
  return has && !vnni_is_left_out && simd_level() == SimdLevel::v4;
#else
  return false;
#endif
}

namespace {

/// What rounds x to 8 bits and multiplies; null where nothing here does it faster than floats are multiplied.
const RoundedLevel* rounded_level() {
#if defined(__x86_64__)
#  if !defined(CT_SIMD_NO_V4)
  if (has_vnni()) return &simd_v4::rounded_level;
#  endif
  if (simd_level() != SimdLevel::v2) return &simd_v3::rounded_level;
#endif
  return nullptr;
}

/// Computes a product of m rows of x, `padded` numbers each, with x in 8 bits. False, and nothing is done, where that
/// is not for these rows.
bool computed_rounded(QuantizedArgs args, const float* x, int64_t padded, int64_t grain) {
  const RoundedLevel* const level = config.int8_products ? rounded_level() : nullptr;
  if (!level) return false;
  args.x_row = level->x_bytes(args.kind, args.blocks);
  const Scratch rounded(args.m * args.x_row);
  for (int64_t i = 0; i < args.m; ++i)
    if (!level->round_x(args.kind, args.blocks, x + i * padded, rounded.as<char>() + i * args.x_row)) return false;
  args.x = rounded.as<void>();
  parallel_for(args.n, grain, [&](int64_t begin, int64_t end) { level->rows(args, begin, end); });
  note_product(Way::rounded, args.dtype);
  return true;
}

}  // namespace

template <>
void compute(const Dequantize& p) {
  const int64_t rows = p.out.shape[0], columns = p.out.shape[1], row_bytes = p.blocks.shape[1];
  const auto row = CT_SIMD_SELECT(dequantized_row);
  const auto* blocks = static_cast<const std::uint8_t*>(p.blocks.data());
  auto* out = static_cast<char*>(p.out.data());
  const auto bytes = static_cast<int64_t>(itemsize(p.out.dtype));
  parallel_for(rows, 1 + 16384 / std::max<int64_t>(1, columns), [&](int64_t begin, int64_t end) {
    if (p.out.dtype == Dtype::float32) {
      for (int64_t r = begin; r < end; ++r)
        row(p.kind, blocks + r * row_bytes, columns, reinterpret_cast<float*>(out) + r * columns);
      return;
    }
    const Scratch memory(columns * static_cast<int64_t>(sizeof(float)));
    for (int64_t r = begin; r < end; ++r) {
      row(p.kind, blocks + r * row_bytes, columns, memory.as<float>());
      cast(out + r * columns * bytes, p.out.dtype, memory.as<float>(), Dtype::float32, columns);
    }
  });
}

template <>
void compute(const QuantizedProduct& p) {
  const QuantizationInfo& info = quantization_info(p.kind);
  const int64_t m = p.x.shape[0], columns = p.x.shape[1], n = p.y.shape[1];
  const int64_t blocks = (columns + info.elements - 1) / info.elements, padded = blocks * info.elements;
  const bool is_double = p.x.dtype == Dtype::float64;
  // x in what is added up, filled up with zeros, so that the kernels know whole blocks only
  const auto bytes = static_cast<int64_t>(is_double ? sizeof(double) : sizeof(float));
  const Scratch x(m * padded * bytes);
  std::fill_n(x.as<char>(), m * padded * bytes, char{0});
  View copy{x.as<void>(), 0, is_double ? Dtype::float64 : Dtype::float32, p.x.shape, {padded, 1}};
  compute(Copy{copy, p.x});
  QuantizedArgs args{p.kind,
                     m,
                     n,
                     blocks,
                     x.as<void>(),
                     padded,
                     nullptr,
                     static_cast<const std::uint8_t*>(p.blocks.data()),
                     p.blocks.shape[1],
                     p.y.data(),
                     p.y.dtype,
                     p.y.strides[0],
                     p.y.strides[1],
                     p.bias ? p.bias->data() : nullptr};
  const int64_t grain = 1 + 32768 / std::max<int64_t>(1, m * padded);
  if (!is_double && computed_rounded(args, x.as<float>(), padded, grain)) return;
  const bool sums = p.kind == Quantization::q4_k;
  const Scratch x_sums(sums ? m * padded / 32 * static_cast<int64_t>(sizeof(double)) : 0);
  if (sums) {
    for (int64_t i = 0; i < m * padded / 32; ++i) {
      double sum = 0;
      for (int64_t e = 32 * i; e < 32 * i + 32; ++e)
        sum += is_double ? x.as<double>()[e] : static_cast<double>(x.as<float>()[e]);
      x_sums.as<double>()[i] = sum;
    }
  }
  const int64_t row = is_double ? 0 : CT_SIMD_SELECT(quantized_x_row)(p.kind, blocks);
  const Scratch ordered(m * row * bytes);
  for (int64_t i = 0; row > 0 && i < m; ++i)
    CT_SIMD_SELECT(quantized_x)(p.kind, blocks, x.as<float>() + i * padded, ordered.as<float>() + i * row);
  args.x_sums = x_sums.as<double>();
  if (row > 0) args.x = ordered.as<void>(), args.x_row = row;
  const auto rows = CT_SIMD_SELECT(quantized_rows);
  parallel_for(n, grain, [&](int64_t begin, int64_t end) { rows(args, begin, end); });
  note_product(Way::quantized, p.x.dtype);
}

}  // namespace catenary::cpu
