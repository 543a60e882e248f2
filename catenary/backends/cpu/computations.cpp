#include "catenary/backends/cpu/computations.h"

#include <array>
#include <string>

#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/backends/cpu/gemm/gemm_kernel.h"
#include "catenary/backends/cpu/quantized/quantized.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/format.h"

namespace catenary::cpu {
namespace {

constexpr std::size_t kLevels = 4, kUnits = 3;

/// Returns the instruction set that the kernels are compiled for.
const char* instructions(std::uint8_t level) {
  constexpr std::array<const char*, kLevels> names = {"SSE4.2", "AVX2", "AVX-512", "the compiler's instruction set"};
  return names[level];
}

/// The choices that determine how something was computed.
struct Noted {
  Way way;
  Dtype operands;
  std::uint8_t level;      ///< SimdLevel
  std::uint8_t unit_or_0;  ///< BfloatUnit + 1 (`widened` for other implementations, other dtypes and lower levels)
  std::uint8_t chosen;     ///< the BfloatUnit chosen for bfloat16 where it fits, and for float32: widened or tiles
};
// The calling thread's last product and convolution. unit_or_0 is 0 before the first.
thread_local constinit Noted last_product{}, last_convolution{};

Noted noted(Way way, Dtype operands) {
  const SimdLevel level = simd_level();
  const BfloatUnit chosen = operands != Dtype::float32            ? bfloat_unit()
                            : multiplies_in_tiles(Dtype::float32) ? BfloatUnit::tiles
                                                                  : BfloatUnit::widened;
  const bool by_unit = (operands == Dtype::bfloat16 && level == SimdLevel::v4 && way == Way::panels) ||
                       way == Way::tiles || way == Way::gathered_tiles;
  const BfloatUnit unit = by_unit ? chosen : BfloatUnit::widened;
  return {way, operands, static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(static_cast<int>(unit) + 1),
          static_cast<std::uint8_t>(chosen)};
}

std::string why_not(Way way, Dtype operands) {
  if (way == Way::quantized)
    return "config.int8_products is false, or x contains an inf or a NaN or cannot be rounded to 8 bits";
  if (way == Way::rounded) return "this processor has no AVX512_VNNI";
  if (operands != Dtype::bfloat16 && operands != Dtype::float32)
    return "dtype: AMX is used for bfloat16 and float32, AVX512_BF16 for bfloat16";
  if (way == Way::onednn) return "oneDNN was requested";
  if (operands == Dtype::float32 && way >= Way::gathered_panels)
    return "convolutions of float32 do not use matrix units";
  if (operands == Dtype::float32 && !multiplies_in_tiles(operands)) return why_vectors();
  switch (way) {
    case Way::columns:
      return "size: too few columns for tiles";
    case Way::small:
      return fmt::format("size: no side is above {}, which is not worth packing", kSmallSide);
    case Way::panels:
      return operands == Dtype::float32 ? "size: too small for panels in pieces" : why_widened();
    default:
      return multiplies_in_tiles(operands) ? "size: too few channels to fill tiles"
                                           : "convolutions without AMX widen bfloat16 to float32";
  }
}

Computation describe(const Noted& n) {
  constexpr std::array<const char*, kWays> names = {"panels",
                                                    "panels in three pieces",
                                                    "few columns",
                                                    "small",
                                                    "integers",
                                                    "integers",
                                                    "dnnl_sgemm",
                                                    "quantised weights",
                                                    "quantised weights, x in 8 bits",
                                                    "gathered panels",
                                                    "few channels",
                                                    "depthwise",
                                                    "Winograd",
                                                    "gathered panels"};
  constexpr std::array<const char*, kUnits> units = {"", "AVX512_BF16", "AMX"};
  Computation c;
  c.kind = n.way < Way::gathered_panels ? "blas" : "dnn";
  c.library = n.way == Way::onednn ? "oneDNN" : "own";
  c.algorithm = names[static_cast<std::size_t>(n.way)];
  c.dtype = n.operands;
  c.compute = n.way == Way::widened_integers ? sums_of(Dtype::int32, dtype_name(n.operands)) : sums_of(n.operands);
  c.units = units[n.unit_or_0 - 1u];
  if (n.way == Way::rounded && static_cast<SimdLevel>(n.level) == SimdLevel::v4 && has_vnni()) c.units = "AVX512_VNNI";
  if (n.way != Way::onednn && c.units.empty()) c.algorithm += fmt::format(", {}", instructions(n.level));
  if (c.units.empty()) c.why_not = why_not(n.way, n.operands);
  return c;
}

const Computation& computation(const Noted& n) {
  static auto& all = *new Computations("cpu");
  static auto& table = *new ComputationTable<kWays * kDtypes * kLevels * kUnits * kUnits>;
  const std::size_t way = static_cast<std::size_t>(n.way), dtype = static_cast<std::size_t>(n.operands);
  const std::size_t number =
      (((way * kDtypes + dtype) * kLevels + n.level) * kUnits + n.unit_or_0 - 1) * kUnits + n.chosen;
  return table.get(number, [&]() -> const Computation& { return all.keep(describe(n)); });
}

}  // namespace

void note_product(Way way, Dtype operands) {
  const Noted now = noted(way, operands);
  last_product = now;
  if (Computations::are_traced()) computation(now);
}
void note_convolution(Way way, Dtype operands) {
  const Noted now = noted(way, operands);
  last_convolution = now;
  if (Computations::are_traced()) computation(now);
}

const Computation* last_computation(ComputationKind kind) {
  if (kind == ComputationKind::attention) return nullptr;  // no library computes attention here
  const Noted last = kind == ComputationKind::product ? last_product : last_convolution;
  return last.unit_or_0 ? &computation(last) : nullptr;
}

}  // namespace catenary::cpu
