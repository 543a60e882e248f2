// Tests the CPU's reports of how products and convolutions were computed.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/core/config.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/error.h"
#include "catenary/device/backend.h"
#include "catenary/device/libraries.h"

namespace catenary {
namespace {

using cpu::BfloatUnit;
using cpu::FloatUnit;

Computation product(const Shape& a, const Shape& b, Dtype dtype) {
  matmul(ones(a, dtype), ones(b, dtype)).eval();
  return last_computation(Device(), "blas").value();
}

/// Returns the name of the level in use.
std::string instructions() {
  switch (simd_level()) {
    case SimdLevel::v2:
      return "SSE4.2";
    case SimdLevel::v3:
      return "AVX2";
    case SimdLevel::v4:
      return "AVX-512";
    default:
      return "the compiler's instruction set";
  }
}

class LevelScope {
 public:
  explicit LevelScope(SimdLevel level) : before_(simd_level()) { set_simd_level(level); }
  ~LevelScope() { set_simd_level(before_); }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;

 private:
  const SimdLevel before_;
};
class UnitScope {
 public:
  explicit UnitScope(BfloatUnit unit) : UnitScope() { cpu::set_bfloat_unit(unit); }
  explicit UnitScope(FloatUnit unit) : UnitScope() { cpu::set_float_unit(unit); }
  ~UnitScope() {
    cpu::set_bfloat_unit(of_bfloats_);
    cpu::set_float_unit(of_floats_);
  }
  UnitScope(const UnitScope&) = delete;
  UnitScope& operator=(const UnitScope&) = delete;

 private:
  UnitScope() = default;
  const BfloatUnit of_bfloats_ = cpu::bfloat_unit();
  const FloatUnit of_floats_ = cpu::float_unit();
};

TEST(CpuComputation, WaysOfProducts) {
  const UnitScope scope(FloatUnit::vectors);
  struct Case {
    Shape a, b;
    const char* way;
  };
  for (const Case& c : {Case{{100, 90}, {90, 80}, "panels"},
                        {{8, 8}, {8, 8}, "small"},
                        {{100, 90}, {90}, "few columns"},
                        {{3, 100, 90}, {3, 90, 80}, "panels"},   // threads compute whole products
                        {{3, 400, 90}, {3, 90, 380}, "panels"},  // products run one after another
                        {{50, 100, 90}, {90, 80}, "panels"}}) {  // one taller product
    for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::float16}) {
      const Computation how = product(c.a, c.b, dtype);
      EXPECT_EQ(how.kind, "blas");
      EXPECT_EQ(how.library, "own");
      EXPECT_EQ(how.algorithm, c.way + (", " + instructions())) << dtype;
      EXPECT_EQ(how.dtype, dtype);
      EXPECT_EQ(how.compute, dtype == Dtype::float64   ? "float64 sums of float64 products"
                             : dtype == Dtype::float32 ? "float32 sums of float32 products"
                                                       : "float32 sums of float16 products");
      EXPECT_EQ(how.units, "");
      if (dtype == Dtype::float32) {  // see UnitsForFloat32
        EXPECT_NE(how.why_not, "");
      } else {
        EXPECT_EQ(how.why_not, "dtype: AMX is used for bfloat16 and float32, AVX512_BF16 for bfloat16");
      }
      EXPECT_TRUE(how.told);
    }
  }
}

TEST(CpuComputation, Integers) {
  EXPECT_EQ(product({9, 8}, {8, 7}, Dtype::int32).compute, "int32 sums of int32 products");
  EXPECT_EQ(product({9, 8}, {8, 7}, Dtype::bool_).compute, "any of both");
  matmul(ones({9, 8}, Dtype::int8), ones({8, 7}, Dtype::int8), {.dtype = Dtype::int32}).eval();
  const Computation widened = last_computation(Device(), "blas").value();
  EXPECT_EQ(widened.compute, "int32 sums of int8 products");
  EXPECT_EQ(widened.algorithm, "integers, " + instructions());
  EXPECT_EQ(widened.dtype, Dtype::int8);
}

TEST(CpuComputation, LevelsAreNamed) {
  for (const SimdLevel level : {SimdLevel::v2, SimdLevel::v3, SimdLevel::v4}) {
    if (best_simd_level() == SimdLevel::native || level > best_simd_level()) continue;
    const LevelScope scope(level);
    EXPECT_EQ(product({100, 90}, {90, 80}, Dtype::float64).algorithm, "panels, " + instructions());
  }
}

TEST(CpuComputation, UnitsForBfloat16) {
  const auto panels = [] { return product({100, 90}, {90, 80}, Dtype::bfloat16); };
  for (const BfloatUnit unit : {BfloatUnit::widened, BfloatUnit::dots, BfloatUnit::tiles}) {
    if (!cpu::has_bfloat_unit(unit)) continue;
    const UnitScope scope(unit);
    const Computation how = panels();
    EXPECT_EQ(how.units, unit == BfloatUnit::tiles ? "AMX" : unit == BfloatUnit::dots ? "AVX512_BF16" : "");
    EXPECT_EQ(how.why_not.empty(), unit != BfloatUnit::widened);
    EXPECT_EQ(how.algorithm, unit == BfloatUnit::widened ? "panels, " + instructions() : "panels");
    EXPECT_EQ(how.compute, "float32 sums of bfloat16 products");
    // the reason is reported whichever units exist
    EXPECT_EQ(product({8, 8}, {8, 8}, Dtype::bfloat16).why_not,
              "size: no side is above 32, which is not worth packing");
    EXPECT_EQ(product({100, 90}, {90}, Dtype::bfloat16).why_not, "size: too few columns for tiles");
  }
  if (best_simd_level() == SimdLevel::native) return;
  const LevelScope scope(SimdLevel::v2);
  const Computation how = panels();
  EXPECT_EQ(how.units, "");
  const auto says = [&](const char* reason) { return how.why_not.find(reason) != std::string::npos; };
  if (cpu::has_bfloat_unit(BfloatUnit::dots)) {
    EXPECT_TRUE(says("kernels for x86-64-v2 are in use")) << how.why_not;
  } else {  // a build with sanitizers has no kernels for v4
    EXPECT_TRUE(says("this processor has no AMX") || says("this build has no instructions for bfloat16"))
        << how.why_not;
  }
}

TEST(CpuComputation, UnitsForFloat32) {
  const auto panels = [] { return product({200, 90}, {90, 180}, Dtype::float32); };
  {
    const UnitScope scope(FloatUnit::vectors);
    EXPECT_EQ(panels().algorithm, "panels, " + instructions());
    EXPECT_EQ(panels().units, "");
    if (cpu::has_bfloat_unit(BfloatUnit::tiles)) {
      EXPECT_EQ(panels().why_not, "AMX multiplies float32 only with CATENARY_FLOAT32=tiles");
    } else {
      EXPECT_NE(panels().why_not, "");
    }
  }
  if (!cpu::has_bfloat_unit(BfloatUnit::tiles)) return;
  const UnitScope scope(FloatUnit::tiles);
  const Computation how = panels();
  EXPECT_EQ(how.algorithm, "panels in three pieces");
  EXPECT_EQ(how.units, "AMX");
  EXPECT_EQ(how.why_not, "");
  EXPECT_EQ(how.compute, "float32 sums of float32 products");
  EXPECT_EQ(product({100, 90}, {90, 80}, Dtype::float32).why_not, "size: too small for panels in pieces");
  EXPECT_EQ(product({8, 8}, {8, 8}, Dtype::float32).why_not, "size: no side is above 32, which is not worth packing");
  const LevelScope level(SimdLevel::v3);
  EXPECT_EQ(panels().why_not, "kernels for x86-64-v3 are in use, but AMX requires v4");
}

TEST(CpuComputation, OneDnn) {
  if (!cpu::onednn_available()) return;
  cpu::set_gemm_provider(cpu::GemmProvider::onednn);
  const Computation by_onednn = product({100, 90}, {90, 80}, Dtype::float32);
  cpu::set_gemm_provider(cpu::GemmProvider::automatic);
  EXPECT_EQ(by_onednn.library, "oneDNN");
  EXPECT_EQ(by_onednn.algorithm, "dnnl_sgemm");
  EXPECT_EQ(product({100, 90}, {90, 80}, Dtype::float32).library, "own");
}

TEST(CpuComputation, WaysOfConvolutions) {
  struct Case {
    std::int64_t channels, outputs, extent, window, stride, groups;
    bool last;
    const char* way;
  };
  for (const Case& c : {Case{8, 16, 12, 5, 1, 1, false, "gathered panels"},
                        {8, 16, 12, 5, 1, 1, true, "gathered panels"},
                        {2, 16, 12, 5, 1, 1, false, "few channels"},
                        {8, 8, 12, 5, 1, 8, true, "depthwise"},
                        {32, 32, 24, 3, 1, 1, false, "Winograd"},
                        {32, 32, 24, 3, 2, 1, false, "gathered panels"}}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
      const UnitScope scope(BfloatUnit::widened);  // AMX is tested in convolution_tiles_test.cpp
      const Window window = Window::make("test", 2, {c.window}, {c.stride}, {0});
      const Shape extents = {c.extent, c.extent}, counts = window.counts("test", extents);
      const auto images = [&](std::int64_t channels, const Shape& sides) {
        return c.last ? ones({2, sides[0], sides[1], channels}, dtype).transpose({0, 3, 1, 2}).eval()
                      : ones({2, channels, sides[0], sides[1]}, dtype).eval();
      };
      Array x = images(c.channels, extents), y = images(c.outputs, counts);
      const Array w = ones({c.outputs, c.channels / c.groups, c.window, c.window}, dtype).eval();
      const View vx = readable(x), vw = readable(w), vy = writable(y);
      compute(Device(), primitives::Convolution{ConvolutionPass::forward, window, c.groups, vx, vw, vy});
      const Computation how = last_computation(Device(), "dnn").value();
      EXPECT_EQ(how.kind, "dnn");
      EXPECT_EQ(how.algorithm, std::string(c.way) + ", " + instructions());
      EXPECT_EQ(how.units, "");
      EXPECT_EQ(how.why_not, dtype == Dtype::bfloat16 ? "convolutions without AMX widen bfloat16 to float32"
                                                      : "convolutions of float32 do not use matrix units");
    }
  }
}

}  // namespace
}  // namespace catenary
