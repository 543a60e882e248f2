// Compares quantised arrays on the current device with a direct computation in float64.

#include "catenary/array/quantized.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/array/io.h"
#include "catenary/array/manipulation.h"
#include "catenary/backends/cpu/quantized/quantized.h"
#include "catenary/core/config.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/error.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"
#include "catenary/device/float64.h"
#include "catenary/device/libraries.h"
#include "catenary/device/pool.h"
#include "catenary/io/gguf.h"
#include "tests/device/same.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using testing_devices::same;
using testing_devices::small;
using tests::error_of;

Array numbers(const Shape& shape, double phase, Dtype dtype = Dtype::float32) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < shape.product(); ++i)
    all.push_back(std::sin(1.7 * static_cast<double>(i) + phase) * (1 + 0.6 * std::cos(0.37 * static_cast<double>(i))));
  return Array::from_host(all.data(), shape, Dtype::float64, Device()).astype(dtype).to_device(current_device());
}

std::vector<double> values(const Array& x) { return x.to_device(Device()).astype(Dtype::float64).to_vector<double>(); }

/// Whether config.int8_products rounds x to bytes for any number of rows.
bool multiplies_rounded(Quantization kind) { return current_device().is_cpu() && cpu::rounds_many_rows(kind); }

/// Expects y = x wᵀ + b within the rounding errors of the sums and of the result.
void expect_product(const Array& y, const Array& x, const QuantizedArray& w, const Array* bias,
                    const std::string& what) {
  const std::int64_t n = w.rows(), k = w.columns(), m = k ? x.size() / k : 0;
  // products with more than 8 rows use weights of x's dtype, unless they use bytes
  const bool narrow = m > 8 && !(config.int8_products && multiplies_rounded(w.kind()));
  const auto xs = values(x), ws = values(dequantize(w, narrow ? x.dtype() : Dtype::float32)), ys = values(y);
  const auto bs = bias ? values(*bias) : std::vector<double>(static_cast<std::size_t>(n));
  const double sums = x.dtype() == Dtype::float64 ? 0x1p-53 : 0x1p-24;
  const double rounding = x.dtype() == Dtype::float16 ? 0x1p-11 : x.dtype() == Dtype::bfloat16 ? 0x1p-8 : sums;
  ASSERT_EQ(ys.size(), static_cast<std::size_t>(m * n)) << what;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double exact = bs[j], size = std::abs(bs[j]);
      for (std::int64_t p = 0; p < k; ++p) {
        const double product = xs[i * k + p] * ws[j * k + p];
        exact += product;
        // a block's weights differ by two roundings from the numbers in its sums
        size += 3 * std::abs(product);
      }
      const double bound = static_cast<double>(k + 2) * sums * size + rounding * std::abs(exact) + 1e-7;
      ASSERT_NEAR(ys[i * n + j], exact, x.dtype() == Dtype::float64 ? 1e-6 * size : bound)
          << what << " at " << i << ", " << j;
    }
  }
}

std::string name_of(Quantization kind) { return quantization_info(kind).name; }

TEST(Quantized, ProductsOfRowsOfEveryLength) {
  for (const Quantization kind : kAllQuantizations) {
    for (std::int64_t columns = 1; columns <= 200; columns += small() ? 37 : 1) {
      const QuantizedArray w = quantize(numbers({3, columns}, 1), kind);
      const Array x = numbers({2, columns}, 2);
      expect_product(linear(x, w), x, w, nullptr, name_of(kind) + " of " + std::to_string(columns));
    }
    for (const std::int64_t columns : {256, 257, 800}) {
      const QuantizedArray w = quantize(numbers({5, columns}, 1), kind);
      const Array x = numbers({2, columns}, 2);
      expect_product(linear(x, w), x, w, nullptr, name_of(kind) + " of " + std::to_string(columns));
    }
  }
}

TEST(Quantized, ProductsOfAnyNumberOfRowsAreTheSameSums) {
  for (const Quantization kind : {Quantization::q8_0, Quantization::q4_k}) {
    const QuantizedArray w = quantize(numbers({70, 300}, 1), kind);
    const Array bias = numbers({70}, 3);
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 8, 11, 16, 17, 40}) {
      const Array x = numbers({rows, 300}, 2);
      expect_product(linear(x, w, &bias), x, w, &bias, name_of(kind) + ", rows " + std::to_string(rows));
    }
  }
}

TEST(Quantized, ProductsOfEveryDtype) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
    if (dtype == Dtype::float64 && !has_float64(current_device())) continue;
    for (const Quantization kind : kAllQuantizations) {
      // each compiles a kernel of one text, so test few
      if (!current_device().is_cpu() && dtype != Dtype::float16 && kind != Quantization::q4_k) continue;
      const QuantizedArray w = quantize(numbers({7, 90}, 1), kind);
      const Array bias = numbers({7}, 3, dtype);
      for (const std::int64_t rows : {1, 20}) {
        const Array x = numbers({rows, 90}, 2, dtype), y = linear(x, w, &bias);
        EXPECT_EQ(y.dtype(), dtype);
        expect_product(y, x, w, &bias, name_of(kind) + " " + dtype_name(dtype));
      }
    }
  }
}

TEST(Quantized, XMayHaveAnyStrides) {
  const QuantizedArray w = quantize(numbers({6, 40}, 1), Quantization::q8_0);
  for (const std::int64_t rows : {3, 30}) {
    const Array wide = numbers({2 * rows, 80}, 2), column = numbers({rows, 1}, 2);
    for (const Array& x :
         {Array(wide(slice(none, none, 2), slice(0, 40))), Array(wide(slice(none, none, -2), slice(none, none, -2))),
          Array(numbers({40, rows}, 4).transpose()), Array(column.broadcast_to({rows, 40})),
          Array(numbers({1, 40}, 4).broadcast_to({rows, 40}))})
      expect_product(linear(x, w), x, w, nullptr, x.strides().str());
    const Array three = numbers({2, rows, 40}, 5);
    const Array y = linear(three, w);
    EXPECT_EQ(y.shape(), (Shape{2, rows, 6}));
    expect_product(y, three, w, nullptr, "three axes");
  }
  const Array one = numbers({40}, 6), y = linear(one, w);
  EXPECT_EQ(y.shape(), Shape{6});
  expect_product(y, one, w, nullptr, "one axis");
}

TEST(Quantized, WithoutElements) {
  for (const Quantization kind : kAllQuantizations) {
    const QuantizedArray none_of = quantize(numbers({0, 40}, 1), kind), narrow = quantize(numbers({3, 0}, 1), kind),
                         w = quantize(numbers({3, 40}, 1), kind);
    EXPECT_EQ(dequantize(none_of).shape(), (Shape{0, 40}));
    EXPECT_EQ(dequantize(narrow).shape(), (Shape{3, 0}));
    EXPECT_EQ(linear(numbers({2, 40}, 1), none_of).shape(), (Shape{2, 0}));
    const Array bias = numbers({3}, 1);
    EXPECT_TRUE(same(linear(numbers({2, 0}, 1), narrow, &bias), bias.broadcast_to({2, 3}).copy()));
    EXPECT_EQ(values(linear(numbers({2, 0}, 1), narrow)), std::vector<double>(6));
    EXPECT_EQ(linear(numbers({0, 40}, 1), w).shape(), (Shape{0, 3}));
    EXPECT_EQ(values(linear_back(numbers({2, 0}, 1), none_of)), std::vector<double>(80));
  }
}

TEST(Quantized, NumbersAreTheProcessors) {
  for (const Quantization kind : kAllQuantizations) {
    const Array x = numbers({4, 290}, 1);
    const QuantizedArray here = quantize(x, kind), there = quantize(x.to_device(Device()), kind);
    EXPECT_EQ(here.device(), current_device());
    EXPECT_TRUE(same(here.blocks(), there.blocks())) << name_of(kind);
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
      if (dtype == Dtype::float64 && !has_float64(current_device())) continue;
      EXPECT_TRUE(same(dequantize(here, dtype), dequantize(there, dtype))) << name_of(kind) << dtype_name(dtype);
    }
    // at most half a step
    const double step = 2.56 / std::exp2(std::floor(quantization_info(kind).bits_per_element()));
    const auto before = values(x), after = values(dequantize(here));
    for (std::size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(after[i], before[i], 1.6 * step) << name_of(kind);
  }
}

TEST(Quantized, BlocksOfThePackageHaveItsNumbers) {
  const io::GgufReader file(tests::source_path("tests/data/io/gguf/blocks.gguf"));
  int kinds = 0;
  for (const std::string& name : file.names()) {
    const io::GgufReader::Tensor& tensor = file.tensor(name);
    if (!tensor.kind) continue;  // the values, or a kind that cannot be read
    ++kinds;
    const QuantizedArray w(from_host(file.read(name), current_device()), *tensor.kind, tensor.shape);
    EXPECT_TRUE(same(dequantize(w), from_host(file.read(name + ".values"), current_device()))) << name;
  }
  EXPECT_GT(kinds, 0);
}

// One row has numbers from 0.5 to 1.5, the other from -3 to -1: 255 steps from 0 on. Symmetric quantisation would have
// half as many.
TEST(Quantized, Int8HasAZeroPoint) {
  const Array x = numbers({2, 300}, 1) / 1.6;
  std::vector<double> moved = values(x);
  for (std::size_t i = 0; i < 300; ++i) moved[i] = 1 + moved[i] / 2, moved[300 + i] = -2 + moved[300 + i];
  const Array rows = Array::from_host(moved.data(), {2, 300}, Dtype::float64, Device()).astype(Dtype::float32);
  const QuantizedArray w = quantize(rows.to_device(current_device()), Quantization::int8);
  const auto before = values(rows), after = values(dequantize(w));
  for (const std::size_t row : {0, 1}) {
    double most = 0, error = 0;
    for (std::size_t i = 300 * row; i < 300 * row + 300; ++i) {
      most = std::max(most, std::abs(before[i]));
      error = std::max(error, std::abs(before[i] - after[i]));
    }
    EXPECT_LE(error, most / 255 / 2 * 1.001) << row;
    EXPECT_GT(error, most / 255 / 2 * 0.9) << row;
  }
  EXPECT_EQ(values(dequantize(quantize(zeros({1, 300}, Dtype::float32), Quantization::int8))),
            std::vector<double>(300, 0.0));
}

/// Returns the offset of a float16 scale in a block, or -1 if there is none.
int float16_of(Quantization kind) {
  const std::map<std::string, int> others = {{"Q6_K", 208}, {"Q3_K", 108}, {"Q2_K", 80}, {"int8", -1}, {"MXFP4", -1}};
  const auto at = others.find(name_of(kind));
  return at == others.end() ? 0 : at->second;
}

TEST(Quantized, ScalesMayBeSubnormalOrInfinite) {
  for (const Quantization kind : kAllQuantizations) {
    const int at = float16_of(kind);
    if (at < 0) continue;
    const Array x = numbers({3, 300}, 1), tiny = x * 1e-5;
    const QuantizedArray here = quantize(tiny, kind), there = here.to_device(Device());
    EXPECT_TRUE(same(dequantize(here), dequantize(there))) << name_of(kind);
    expect_product(linear(x, here), x, here, nullptr, name_of(kind));
    // a damaged file: the scale has the bits of an inf and a NaN
    for (const int high : {0x7c, 0x7e}) {
      std::vector<std::uint8_t> bytes = there.blocks().to_vector<std::uint8_t>();
      bytes[at] = 0, bytes[at + 1] = static_cast<std::uint8_t>(high);
      const QuantizedArray damaged(Array::from_host(bytes.data(), there.blocks().shape(), Dtype::uint8), kind,
                                   {3, 300});
      const auto y = values(linear(x, damaged));
      EXPECT_FALSE(std::isfinite(y[0])) << name_of(kind) << high;
      EXPECT_TRUE(std::isfinite(y[1])) << name_of(kind) << high;
    }
  }
}

TEST(Quantized, RowsByTheirNumbers) {
  for (const Quantization kind : kAllQuantizations) {
    const QuantizedArray w = quantize(numbers({9, 2, 20}, 1), kind);
    const std::vector<std::int64_t> ids = {8, 0, -1, 3, 3, 5};
    const Array rows = Array::from_host(ids.data(), {2, 3}, Dtype::int64);
    EXPECT_TRUE(same(take(w, rows), take(dequantize(w), rows, 0))) << name_of(kind);
    EXPECT_TRUE(same(dequantize(w.part(2, 5)), Array(dequantize(w)(slice(2, 5))).copy()));
  }
}

TEST(Quantized, ProductsBackwards) {
  for (const Quantization kind : kAllQuantizations) {
    const QuantizedArray w = quantize(numbers({300, 1100}, 1), kind);  // more than one part
    const Array y = numbers({3, 300}, 2), x = linear_back(y, w);
    const auto ws = values(dequantize(w)), ys = values(y), xs = values(x);
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t p = 0; p < 1100; p += 7) {
        double exact = 0, size = 0;
        for (std::int64_t j = 0; j < 300; ++j) {
          exact += ys[i * 300 + j] * ws[j * 1100 + p];
          size += std::abs(ys[i * 300 + j] * ws[j * 1100 + p]);
        }
        ASSERT_NEAR(xs[i * 1100 + p], exact, 302 * 0x1p-24 * size) << name_of(kind);
      }
    }
    EXPECT_EQ(linear_back(y.astype(Dtype::float16), w).dtype(), Dtype::float16);
  }
}

TEST(Quantized, BitsDoNotDependOnThreads) {
  if (!current_device().is_cpu()) return;  // on a card the driver's libraries matter
  const int threads = num_threads();
  for (const std::int64_t rows : {1, 7, 40, -1, -7}) {
    const auto scope = using_config(config.int8_products, rows < 0);
    const QuantizedArray w = quantize(numbers({200, 500}, 1), Quantization::q4_k);
    const Array x = numbers({std::abs(rows), 500}, 2);
    set_num_threads(1);
    const Array alone = linear(x, w).copy();
    set_num_threads(3);
    EXPECT_TRUE(same(linear(x, w), alone)) << rows;
  }
  set_num_threads(threads);
}

// ---- x in 8 bits ----

/// Integers up to 127, with 127 in every 32 of a row, so that rounding to 8 bits is exact.
Array bytes(const Shape& shape, double phase, Dtype dtype = Dtype::float32) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < shape.product(); ++i) {
    const double x = std::round(126 * std::sin(1.7 * static_cast<double>(i) + phase));
    all.push_back(i % shape.back() % 32 != 0 ? x : i % 2 ? 127 : -127);
  }
  return Array::from_host(all.data(), shape, Dtype::float64, Device()).astype(dtype).to_device(current_device());
}

/// Calls f at each level of the CPU's kernels, or once on other devices.
template <class F>
void at_each_level(const F& f) {
  if (!current_device().is_cpu()) return f("");
  const SimdLevel before = simd_level();
  for (const SimdLevel level : {SimdLevel::v2, SimdLevel::v3, SimdLevel::v4, SimdLevel::native}) {
    try {
      set_simd_level(level);
    } catch (const Error&) {
      continue;  // not supported by this processor
    }
    f(std::string(simd_level_name(level)));
  }
  set_simd_level(before);
}

bool rounds_to_bfloat16() {
  const Device device = current_device();
  return device.backend().multiplies_into_float32(device.index(), Dtype::bfloat16);
}
TEST(Quantized, ProductsWithXInBytesAreTheSameWhereNothingIsRounded) {
  const auto scope = using_config(config.int8_products, true);
  at_each_level([&](const std::string& level) {
    for (const Quantization kind : kAllQuantizations) {
      for (std::int64_t columns = 1; columns <= 330; columns += small() ? 37 : 1) {
        // more rows of x and w if many rows are rounded to bytes too
        const bool many = columns % 3 != 0 && multiplies_rounded(kind);
        const std::int64_t w_rows = many ? 5 + columns % 37 : 5, rows = many ? 9 + columns % 11 : 1 + columns % 8;
        const QuantizedArray w = quantize(numbers({w_rows, columns}, 1), kind);
        const Array x = bytes({rows, columns}, 2), bias = numbers({w_rows}, 3);
        expect_product(linear(x, w, &bias), x, w, &bias, level + name_of(kind) + " of " + std::to_string(columns));
      }
      // the limits of the range
      const Array x = full({multiplies_rounded(kind) ? 9 : 1, 256}, 127, Dtype::float32);
      for (const double sign : {1.0, -1.0}) {
        const QuantizedArray w = quantize(full({3, 256}, sign * 0.3, Dtype::float32), kind);
        expect_product(linear(x, w), x, w, nullptr, level + name_of(kind));
        expect_product(linear(-x, w), -x, w, nullptr, level + name_of(kind));
      }
    }
    // so many columns that x is processed in parts
    for (const Quantization kind : {Quantization::q8_0, Quantization::q4_0}) {
      if (!multiplies_rounded(kind)) continue;
      const QuantizedArray w = quantize(numbers({3, 8192}, 1), kind);
      const Array x = bytes({200, 8192}, 2)(slice(none, none, 2)), bias = numbers({3}, 3);
      expect_product(linear(x, w, &bias), x, w, &bias, level + name_of(kind) + " in parts");
    }
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
      const QuantizedArray w = quantize(numbers({7, 90}, 1), Quantization::q4_0);
      for (const std::int64_t rows : {3, 12}) {
        if (rows == 12 && !multiplies_rounded(w.kind())) continue;
        const Array x = bytes({rows, 90}, 2, dtype);
        expect_product(linear(x, w), x, w, nullptr, level + dtype_name(dtype));
      }
    }
  });
}

TEST(Quantized, XInBytesIsRoundedToThe254thPartOfItsLargest) {
  const auto scope = using_config(config.int8_products, true);
  at_each_level([&](const std::string& level) {
    for (const Quantization kind : kAllQuantizations) {
      for (const std::int64_t rows : {3, 14, 170}) {
        if (rows > 8 && !multiplies_rounded(kind)) continue;
        const std::int64_t columns = 800;
        const QuantizedArray w = quantize(numbers({9, columns}, 1), kind);
        // blocks of very different magnitudes, one of them zero
        Array x = numbers({rows, columns}, 2) * exp(arange(columns, Dtype::float32) / 40.0f - 10.0f);
        x = where(arange(columns, Dtype::float32) < 64.0f, zeros({columns}, Dtype::float32), x);
        const auto xs = values(x), ws = values(dequantize(w)), ys = values(linear(x, w));
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < 9; ++j) {
            double exact = 0, bound = 0;
            for (std::int64_t first = 0; first < columns; first += 32) {
              double largest = 0, weights = 0, size = 0;
              for (std::int64_t p = first; p < first + 32; ++p) {
                largest = std::max(largest, std::abs(xs[i * columns + p]));
                weights += std::abs(ws[j * columns + p]);
                exact += xs[i * columns + p] * ws[j * columns + p];
                size += std::abs(xs[i * columns + p] * ws[j * columns + p]);
              }
              bound += largest / 253 * weights + 3 * 802 * 0x1p-24 * size;
            }
            ASSERT_NEAR(ys[i * 9 + j], exact, bound) << level << name_of(kind) << " at " << i << ", " << j;
          }
        }
      }
    }
  });
}

// Matrix units for bfloat16 round x and w to 8 significant bits.
TEST(Quantized, ManyRowsMayBeRoundedToBfloat16) {
  const auto scope = using_config(config.int8_products, true);
  const bool rounds = rounds_to_bfloat16();
  for (const Quantization kind : kAllQuantizations) {
    if (multiplies_rounded(kind)) continue;  // x is rounded to bytes there
    for (const std::int64_t rows : {9, 70}) {
      const QuantizedArray w = quantize(numbers({70, 301}, 1), kind);
      const Array x = numbers({rows, 301}, 2), bias = numbers({70}, 3), y = linear(x, w, &bias);
      if (!rounds) {
        expect_product(y, x, w, &bias, name_of(kind));
        continue;
      }
      const auto xs = values(x), ws = values(dequantize(w)), bs = values(bias), ys = values(y);
      double off = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < 70; ++j) {
          double exact = bs[j], size = std::abs(bs[j]);
          for (std::int64_t p = 0; p < 301; ++p) {
            exact += xs[i * 301 + p] * ws[j * 301 + p];
            size += std::abs(xs[i * 301 + p] * ws[j * 301 + p]);
          }
          ASSERT_NEAR(ys[i * 70 + j], exact, 0x1.1p-8 * size) << name_of(kind) << " at " << i << ", " << j;
          off = std::max(off, std::abs(ys[i * 70 + j] - exact) / size);
        }
      }
      EXPECT_GT(off, 0x1p-18) << "nothing was rounded";
    }
  }
}

TEST(Quantized, RowsWithoutBytesAreComputedAsBefore) {
  const QuantizedArray w = quantize(numbers({5, 100}, 1), Quantization::q4_0);
  const Array x = numbers({3, 100}, 2);
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const Array with = x.copy();
    with(1, 70).fill(bad);
    const Array before = linear(with, w).copy();
    const auto scope = using_config(config.int8_products, true);
    EXPECT_TRUE(same(linear(with, w), before)) << bad;
  }
  // also for many rows, though not bit for bit
  const Array many = numbers({12, 100}, 2), before = linear(many, w).copy();
  many(1, 70).fill(std::numeric_limits<double>::infinity());
  at_each_level([&](const std::string& level) {
    if (!multiplies_rounded(w.kind())) return;
    const auto scope = using_config(config.int8_products, true);
    const std::vector<double> now = values(linear(many, w)), was = values(before);
    for (std::int64_t i = 0; i < 12 * 5; ++i) {
      if (i / 5 == 1) {
        EXPECT_FALSE(std::isfinite(now[i])) << level;
      } else {
        EXPECT_NEAR(now[i], was[i], 1e-4) << level << " at " << i;
      }
    }
  });
  if (!has_float64(current_device())) return;
  const Array doubles = x.astype(Dtype::float64), exact = linear(doubles, w).copy();
  const auto scope = using_config(config.int8_products, true);
  EXPECT_TRUE(same(linear(doubles, w), exact));
}

TEST(Quantized, LastComputationSaysWhetherXWasRounded) {
  if (!current_device().is_cpu()) return;
  const QuantizedArray w = quantize(numbers({5, 100}, 1), Quantization::q4_0);
  const Array x = numbers({3, 100}, 2);
  (void)linear(x, w);
  const std::optional<Computation> exact = last_computation(Device(), "blas");
  ASSERT_TRUE(exact.has_value());
  EXPECT_EQ(exact->algorithm.rfind("quantised weights, ", 0), 0U) << exact->algorithm;
  EXPECT_EQ(exact->algorithm.find("8 bits"), std::string::npos) << exact->algorithm;
  EXPECT_NE(exact->why_not.find("config.int8_products"), std::string::npos) << exact->why_not;
  const auto scope = using_config(config.int8_products, true);
  at_each_level([&](const std::string& level) {
    (void)linear(x, w);
    const std::optional<Computation> now = last_computation(Device(), "blas");
    EXPECT_EQ(now->algorithm.find("x in 8 bits") != std::string::npos, level == "v3" || level == "v4")
        << now->algorithm;
    // with many rows only some kinds are rounded, and none if AMX multiplies bfloat16
    for (const Quantization kind : kAllQuantizations) {
      (void)linear(numbers({20, 100}, 3), quantize(numbers({5, 100}, 1), kind));
      const std::optional<Computation> many = last_computation(Device(), "blas");
      EXPECT_EQ(many->algorithm.find("x in 8 bits") != std::string::npos, multiplies_rounded(kind)) << many->algorithm;
      if (level == "v3") {
        EXPECT_EQ(multiplies_rounded(kind), kind == Quantization::q4_0 || kind == Quantization::q8_0);
      }
    }
  });
}

TEST(Quantized, AProductTakesAMebibyteBesideItsOperands) {
  struct Case {
    std::int64_t rows, outputs;
    bool rounds;  // x to 8 bits, where that is fast
  };
  // the weights of the first three take 3 MiB in float32, and the last x takes 1.5 MiB in 8 bits
  for (const auto& [rows, outputs, rounds] :
       {Case{1, 1500, false}, {16, 1500, false}, {64, 1500, false}, {2500, 40, true}}) {
    if (rounds && !multiplies_rounded(Quantization::q4_0)) continue;
    const auto scope = using_config(config.int8_products, rounds);
    const QuantizedArray w = quantize(numbers({outputs, 512}, 1), Quantization::q4_0);
    const Array x = numbers({rows, 512}, 2);
    (void)linear(x, w);  // warm-up
    current_device().synchronize();
    current_device().backend().pool(current_device().index()).free_all_blocks();  // or larger blocks would be reused
    std::vector<MemoryEvent> events;
    std::vector<MemoryEvent>* const before = watch_memory(&events);
    const Array y = linear(x, w);
    current_device().synchronize();
    watch_memory(before);
    std::int64_t used = 0, most = 0;
    for (const MemoryEvent& event : events) {
      // a freed block has no requested size
      if (event.kind == MemoryEvent::taken) used += static_cast<std::int64_t>(event.block_bytes);
      if (event.kind == MemoryEvent::freed) used -= static_cast<std::int64_t>(event.block_bytes);
      most = std::max(most, used);
    }
    EXPECT_GE(most, static_cast<std::int64_t>(y.nbytes())) << rows;
    EXPECT_LE(most, static_cast<std::int64_t>(y.nbytes()) + (1 << 20) + 4096) << rows;
  }
}

// With more than 8 rows, weights are multiplied in parts of one mebibyte, each with its part of the bias.
TEST(Quantized, EveryPartOfTheWeightsHasItsBias) {
  const auto scope = using_config(config.int8_products, false);
  const std::int64_t n = small() ? 700 : 1500;
  const Array x = numbers({9, 512}, 2), bias = numbers({n}, 3) * 100;
  const QuantizedArray w = quantize(numbers({n, 512}, 1), Quantization::q8_0);
  expect_product(linear(x, w, &bias), x, w, &bias, "in parts");
}

// 0 is one of a row's 256 numbers, so it stays exactly 0. Other numbers lose at most half a step.
TEST(Quantized, Int8KeepsZero) {
  for (const auto& [low, high] : {std::pair(-0.3, 1.0), {0.2, 1.0}, {-1.0, -0.2}, {-1.0, 0.001}, {-0.0013, 5.0}}) {
    std::vector<double> row = {0};
    for (int i = 0; i < 63; ++i) row.push_back(low + (high - low) * i / 62);
    const Array x = Array::from_host(row.data(), {1, 64}, Dtype::float64, Device()).astype(Dtype::float32);
    const std::vector<double> got = values(dequantize(quantize(x.to_device(current_device()), Quantization::int8)));
    const double step = (std::max(high, 0.0) - std::min(low, 0.0)) / 255;
    EXPECT_EQ(got[0], 0) << low << " " << high;
    for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(got[i], row[i], 0.502 * step) << low << " " << high;
    EXPECT_NEAR(*std::max_element(got.begin(), got.end()), std::max(high, 0.0), 0.502 * step);
    EXPECT_NEAR(*std::min_element(got.begin(), got.end()), std::min(low, 0.0), 0.502 * step);
  }
}

TEST(Quantized, ErrorsSayWhatIsWrong) {
  const QuantizedArray w = quantize(numbers({3, 40}, 1), Quantization::q8_0);
  const auto expect = [](const std::string& error, const std::string& words) {
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  expect(error_of([&] {
           (void)linear(numbers({2, 41}, 1), w);
         }),
         "x must be (..., 40) for weights of (3, 40), not (2, 41)");
  expect(error_of([&] { (void)linear(zeros({2, 40}, Dtype::int32), w); }), "x must be of a floating dtype, not int32");
  const Array bias = numbers({4}, 1);
  expect(error_of([&] { (void)linear(numbers({2, 40}, 1), w, &bias); }), "the bias must be (3,), not (4,)");
  expect(error_of([&] { (void)linear(numbers({2, 40}, 1), QuantizedArray()); }), "undefined");
  expect(error_of([&] {
           QuantizedArray(w.blocks(), Quantization::q4_0, {3, 40});
         }),
         "blocks of Q4_0 for shape (3, 40) are (3, 36), not (3, 68)");
  expect(error_of([&] { (void)w.part(1, 4); }), "rows 1 to 4 of 3");
  expect(error_of([&] {
           (void)take(w, full({1}, 3, Dtype::int64));
           current_device().synchronize();
         }),
         "3");
  expect(error_of([&] { (void)quantize(zeros({}, Dtype::float32), Quantization::q8_0); }), "at least one axis");
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 3e38}) {
    for (const Quantization kind : kAllQuantizations) {
      if (std::isfinite(bad) && float16_of(kind) < 0) continue;
      const Array x = full({2, 40}, bad, Dtype::float32);
      expect(error_of([&] { (void)quantize(x, kind); }),
             "holds an inf or a NaN, or numbers too large for a scale of " + name_of(kind));
    }
  }
}

}  // namespace
}  // namespace catenary
