#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "catenary/backends/cpu/random/random.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"

namespace cpu = catenary::cpu;

namespace {

using Block = std::array<std::uint32_t, 4>;
using catenary::LinalgOp;

template <class T>
catenary::View stack(const T* data, const catenary::Shape& shape) {
  return {const_cast<T*>(data), 0, catenary::dtype_of<T>, shape, catenary::contiguous_strides(shape)};
}

void linalg(LinalgOp op, const catenary::View& a, const catenary::View& b, const catenary::View& out,
            std::vector<bool>& ok) {
  compute(catenary::Device(), catenary::primitives::Linalg{op, a, b, out, ok});
}

// The known answers of Random123 1.09 for philox4x32-10.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(cpu::philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(cpu::philox4x32({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}),
            (Block{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(cpu::philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
            (Block{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

TEST(Philox, AnElementDependsOnSeedCallAndPlaceOnly) {
  std::vector<std::uint32_t> many(100003), few(7);
  cpu::random_bits(many.data(), static_cast<std::int64_t>(many.size()), 5, 9);
  cpu::random_bits(few.data(), static_cast<std::int64_t>(few.size()), 5, 9);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  for (std::uint32_t i : {0u, 63u, 64u, 99999u, 100002u})
    EXPECT_EQ(many[i], cpu::philox4x32({i / 4, 0, 9, 0}, {5, 0})[i % 4]);
  cpu::random_bits(few.data(), 7, 5, 10);
  EXPECT_NE(few[0], many[0]);
  cpu::random_bits(few.data(), 0, 5, 10);
}

TEST(CpuLinalg, FactorsMultiplyBack) {
  const std::int64_t n = 5;
  std::vector<double> a(2 * n * n), spd(n * n), out(2 * n * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<double>(i * i) + 1);
  std::vector<bool> ok;
  linalg(LinalgOp::inv, stack(a.data(), {2, n, n}), {}, stack(out.data(), {2, n, n}), ok);
  EXPECT_EQ(ok, (std::vector<bool>{true, true}));
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double s = 0;
        for (std::int64_t k = 0; k < n; ++k) s += a[(b * n + i) * n + k] * out[(b * n + k) * n + j];
        EXPECT_NEAR(s, i == j, 1e-12);
      }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t k = 0; k < n; ++k) spd[i * n + j] += a[i * n + k] * a[j * n + k];
  linalg(LinalgOp::cholesky, stack(spd.data(), {1, n, n}), {}, stack(out.data(), {1, n, n}), ok);
  EXPECT_TRUE(ok[0]);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double s = 0;
      for (std::int64_t k = 0; k < n; ++k) s += out[i * n + k] * out[j * n + k];
      EXPECT_NEAR(s, spd[i * n + j], 1e-12);
      if (j > i) {
        EXPECT_EQ(out[i * n + j], 0);
      }
    }
  double d[3], d_spd[3];
  linalg(LinalgOp::det, stack(a.data(), {1, n, n}), {}, stack(d, {1, 3}), ok);
  linalg(LinalgOp::det, stack(spd.data(), {1, n, n}), {}, stack(d_spd, {1, 3}), ok);
  EXPECT_NEAR(d[0] * d[0], d_spd[0], 1e-12);
  EXPECT_NEAR(d[1] * std::exp(d[2]), d[0], 1e-12);
}

TEST(CpuLinalg, SingularMatricesAreNamed) {
  const float a[8] = {1, 2, 2, 4, 1, 2, 3, 4}, b[4] = {1, 1, 5, 11};
  float x[4], d[6];
  std::vector<bool> ok;
  linalg(LinalgOp::solve, stack(a, {2, 2, 2}), stack(b, {2, 2, 1}), stack(x, {2, 2, 1}), ok);
  EXPECT_EQ(ok, (std::vector<bool>{false, true}));
  EXPECT_FLOAT_EQ(x[2], 1);
  EXPECT_FLOAT_EQ(x[3], 2);
  linalg(LinalgOp::det, stack(a, {2, 2, 2}), {}, stack(d, {2, 3}), ok);
  EXPECT_EQ(d[0], 0);
  EXPECT_EQ(d[1], 0);
  EXPECT_FLOAT_EQ(d[3], -2);
  linalg(LinalgOp::cholesky, stack(a + 4, {1, 2, 2}), {}, stack(x, {1, 2, 2}), ok);
  EXPECT_FALSE(ok[0]);
}

// More matrices than groups, and sizes around vector lengths.
TEST(CpuLinalg, ManyMatricesOfAllSizes) {
  for (const std::int64_t n : {1, 2, 7, 8, 17, 33}) {
    const std::int64_t batch = 41;
    std::vector<double> a(static_cast<std::size_t>(batch * n * n)), y(static_cast<std::size_t>(batch * n * 3)),
        x(y.size());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<double>(i * i % 1009) + 0.5);
    for (std::int64_t i = 0; i < batch * n; ++i) a[static_cast<std::size_t>(i * n + i % n)] += 3;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::cos(static_cast<double>(i));
    std::vector<bool> ok;
    linalg(LinalgOp::solve, stack(a.data(), {batch, n, n}), stack(y.data(), {batch, n, 3}),
           stack(x.data(), {batch, n, 3}), ok);
    EXPECT_EQ(ok, std::vector<bool>(batch, true));
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t c = 0; c < 3; ++c) {
          double s = 0;
          for (std::int64_t k = 0; k < n; ++k) s += a[(b * n + i) * n + k] * x[(b * n + k) * 3 + c];
          EXPECT_NEAR(s, y[(b * n + i) * 3 + c], 1e-10) << n << ' ' << b;
        }
  }
}

}  // namespace
