// Products with quantised weights on the CPU.

#include "catenary/backends/cpu/quantized/quantized.h"

#include <algorithm>
#include <atomic>

#if defined(__x86_64__)
#  include <cpuid.h>
#endif

#include "catenary/backends/cpu/computations.h"
#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/backends/cpu/movement/copy.h"
#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/primitives.h"
#include "catenary/core/config.h"
#include "catenary/core/half.h"
#include "catenary/core/parallel.h"
#include "catenary/device/dequantized_product.h"

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

/// Returns a level's kernels that round x to 8 bits, or null if they are not faster than float kernels here.
#if defined(__x86_64__)
#  if !defined(CT_SIMD_NO_V4)
#    define CT_ROUNDED(name) (has_vnni() ? &simd_v4::name : simd_level() != SimdLevel::v2 ? &simd_v3::name : nullptr)
#  else
#    define CT_ROUNDED(name) (simd_level() != SimdLevel::v2 ? &simd_v3::name : nullptr)
#  endif
const RoundedLevel* rounded_level() { return CT_ROUNDED(rounded_level); }
const PanelLevel* panel_level() { return CT_ROUNDED(panel_level); }
#  undef CT_ROUNDED
#else
const RoundedLevel* rounded_level() { return nullptr; }
const PanelLevel* panel_level() { return nullptr; }
#endif

constexpr int64_t kFewRows = 8;  // up to this many rows of x are multiplied with the blocks directly

/// Rounds the rows of x by `round`, padded with zeros to `padded` numbers. Returns false if it rejects a row.
template <class Round>
bool round_rows(const View& x, int64_t padded, const Round& round) {
  const int64_t rows = x.shape[0], columns = x.shape[1];
  const bool lies_so = x.dtype == Dtype::float32 && padded == columns && (x.strides[1] == 1 || columns == 1);
  const Scratch row(lies_so ? 0 : padded * static_cast<int64_t>(sizeof(float)));
  if (!lies_so) std::fill_n(row.as<float>(), padded, 0.f);
  for (int64_t i = 0; i < rows; ++i) {
    View of_x = x;
    of_x.offset += i * x.strides[0];
    of_x.shape[0] = 1;
    if (!lies_so) compute(Copy{View{row.as<void>(), 0, Dtype::float32, {1, columns}, {padded, 1}}, of_x});
    if (!round(i, lies_so ? static_cast<const float*>(of_x.data()) : row.as<float>())) return false;
  }
  return true;
}

/// Computes a product with x in 8 bits, `padded` numbers per row. Returns false, without results, if x is not suitable.
bool computed_rounded(QuantizedArgs args, const View& x, int64_t padded, int64_t grain) {
  if (!config.int8_products || x.dtype == Dtype::float64) return false;
  const PanelLevel* const many = args.m > kFewRows && has_panels(args.kind) ? panel_level() : nullptr;
  const RoundedLevel* const few = many ? nullptr : rounded_level();
  if (!many && !few) return false;
  args.x_row = many ? many->x_bytes(args.blocks) : few->x_bytes(args.kind, args.blocks);
  const auto round_x = many ? many->round_x : few->round_x;
  const Scratch rounded(args.m * args.x_row);
  const bool is_suitable = round_rows(x, padded, [&](int64_t i, const float* row) {
    return round_x(args.kind, args.blocks, row, rounded.as<char>() + i * args.x_row);
  });
  if (!is_suitable) return false;
  args.x = rounded.as<void>();
  if (many) {
    const int64_t panels = (args.n + many->rows_of_panel - 1) / many->rows_of_panel;
    parallel_for(panels, 1, [&](int64_t begin, int64_t end) {
      const Scratch memory(many->panel_bytes(args.blocks));
      many->rows(args, begin * many->rows_of_panel, std::min(args.n, end * many->rows_of_panel), memory.as<void>());
    });
  } else {
    parallel_for(args.n, grain, [&](int64_t begin, int64_t end) { few->rows(args, begin, end); });
  }
  note_product(Way::rounded, args.dtype);
  return true;
}

}  // namespace

bool rounds_many_rows(Quantization kind) {
  return has_panels(kind) && panel_level() != nullptr && !multiplies_in_tiles(Dtype::bfloat16);
}

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

namespace {

/// Multiplies x with the blocks directly.
void multiply_blocks(const QuantizedProduct& p) {
  const QuantizationInfo& info = quantization_info(p.kind);
  const int64_t m = p.x.shape[0], columns = p.x.shape[1], n = p.y.shape[1];
  const int64_t blocks = (columns + info.elements - 1) / info.elements, padded = blocks * info.elements;
  const bool is_double = p.x.dtype == Dtype::float64;
  QuantizedArgs args{p.kind,
                     m,
                     n,
                     blocks,
                     nullptr,
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
  if (computed_rounded(args, p.x, padded, grain)) return;
  // convert x to the accumulator's type and pad it with zeros, so that kernels process whole blocks only
  const auto bytes = static_cast<int64_t>(is_double ? sizeof(double) : sizeof(float));
  const Scratch x(m * padded * bytes);
  std::fill_n(x.as<char>(), m * padded * bytes, char{0});
  View copy{x.as<void>(), 0, is_double ? Dtype::float64 : Dtype::float32, p.x.shape, {padded, 1}};
  compute(Copy{copy, p.x});
  args.x = x.as<void>();
  const int64_t group = CT_SIMD_SELECT(quantized_group)(p.kind), groups = group ? m * padded / group : 0;
  const Scratch x_sums(groups * static_cast<int64_t>(sizeof(double)));
  for (int64_t i = 0; i < groups; ++i) {
    double sum = 0;
    for (int64_t e = group * i; e < group * i + group; ++e)
      sum += is_double ? x.as<double>()[e] : static_cast<double>(x.as<float>()[e]);
    x_sums.as<double>()[i] = sum;
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

/// Dequantises the weights, and rounds them and x to bfloat16 if that is allowed and faster.
void multiply_dequantized(const QuantizedProduct& p) {
  const bool rounds = config.int8_products && p.x.dtype == Dtype::float32 && multiplies_bfloat16();
  const int64_t columns = p.x.shape[1];
  const Scratch rounded(rounds ? p.x.size() * static_cast<int64_t>(sizeof(bfloat16)) : 0);
  const View x = rounds ? View{rounded.as<void>(), 0, Dtype::bfloat16, p.x.shape, {columns, 1}} : p.x;
  if (rounds) compute(Copy{x, p.x});
  const Scratch memory(dequantized_rows_at_once(p, x.dtype) * columns * static_cast<int64_t>(itemsize(x.dtype)));
  compute_dequantized(p, x, memory.as<void>(), [](const auto& part) { compute(part); });
}

}  // namespace

template <>
void compute(const QuantizedProduct& p) {
  const int64_t m = p.x.shape[0];
  const bool by_bytes = config.int8_products && p.x.dtype != Dtype::float64 && rounds_many_rows(p.kind);
  if (m > kFewRows && !by_bytes) return multiply_dequantized(p);
  // a rounded element takes 1.25 bytes: process less than 1 MiB at a time, in equal parts
  const int64_t most = std::max(kFewRows, (int64_t{3} << 18) / std::max<int64_t>(p.x.shape[1], 64)),
                parts = (m + most - 1) / most, together = (m + parts - 1) / std::max<int64_t>(parts, 1);
  for (int64_t i = 0; i < m; i += together) {
    View x = p.x, y = p.y;
    x.offset += i * x.strides[0], y.offset += i * y.strides[0];
    x.shape[0] = y.shape[0] = std::min(together, m - i);
    multiply_blocks({p.kind, x, p.blocks, y, p.bias});
  }
}

}  // namespace catenary::cpu
