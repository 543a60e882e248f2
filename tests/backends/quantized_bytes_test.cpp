// Products of weights and x in bytes on processors with AVX-512 but without AVX512_VNNI, which use AVX2's kernels.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/quantized.h"
#include "catenary/backends/cpu/quantized/quantized.h"
#include "catenary/core/config.h"
#include "catenary/core/cpu_features.h"
#include "catenary/device/libraries.h"

namespace catenary {
namespace {

class WithoutVnni : public testing::Test {
 protected:
  void SetUp() override { cpu::leave_vnni_out(true); }
  void TearDown() override { cpu::leave_vnni_out(false); }
};

/// Integers up to 127, where each block of 32 contains 127, so that rounding to bytes is exact.
Array bytes(std::int64_t rows, std::int64_t columns) {
  std::vector<float> all;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    all.push_back(i % columns % 32 == 0 ? 127.0F : static_cast<float>(i * 37 % 255 - 127));
  return Array::from_host(all.data(), {rows, columns}, Dtype::float32);
}

TEST_F(WithoutVnni, ProductsAreTheSame) {
  if (simd_level() == SimdLevel::v2) return;  // does not round to bytes
  for (const Quantization kind : kAllQuantizations) {
    for (const std::int64_t rows : {1, 3, 8}) {
      for (const std::int64_t columns : {31, 256, 600}) {
        std::vector<float> weights;
        for (std::int64_t i = 0; i < 7 * columns; ++i) weights.push_back(std::sin(1.7F * static_cast<float>(i)));
        const QuantizedArray w = quantize(Array::from_host(weights.data(), {7, columns}, Dtype::float32), kind);
        const Array x = bytes(rows, columns);
        const auto rounded = [&] {
          const auto scope = using_config(config.int8_products, true);
          return linear(x, w).to_vector<float>();
        };
        const std::vector<float> without = rounded();
        const Computation told = last_computation(Device(), "blas").value();
        EXPECT_EQ(told.units, "") << told.algorithm;
        EXPECT_EQ(told.why_not, "this processor has no AVX512_VNNI");
        const std::vector<float> exact = linear(x, w).to_vector<float>();
        for (std::size_t i = 0; i < exact.size(); ++i)
          ASSERT_NEAR(without[i], exact[i], 1e-5 * 127 * static_cast<double>(columns))
              << quantization_info(kind).name << ", " << rows << " rows of " << columns << " at " << i;
      }
    }
  }
}

}  // namespace
}  // namespace catenary
