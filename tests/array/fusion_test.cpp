#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "catenary/array/array.h"
#include "catenary/array/body.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/lazy.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"
#include "catenary/device/backend.h"

namespace ct = catenary;
using ct::Array;
using ct::Dtype;
using ct::slice;

namespace {

Array iota(const ct::Shape& shape, Dtype dtype = Dtype::float32) {
  std::vector<double> values(static_cast<std::size_t>(shape.product()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return Array::from_host(values.data(), shape, Dtype::float64).astype(dtype).eval();
}

std::int64_t kernels_of(const std::function<void()>& f) {
  ct::evaluate();
  const std::int64_t before = ct::kernel_count();
  f();
  return ct::kernel_count() - before;
}

TEST(Fusion, AReductionOfATemporaryDoesNotStoreIt) {
  const Array x = iota({30, 50}).eval();
  const Array y = x * 2 + 1;  // marked as temporary, but used again
  y.body().leaving = true;
  EXPECT_EQ(ct::sum(y).item<float>(), 1500 * 1499 + 1500);
  EXPECT_FALSE(y.body().storage);
  x += 100;  // pending operations still read the old values
  EXPECT_EQ(ct::sum(y, 1).to_vector<float>()[1], 2 * (50 * 50 + 49 * 25) + 50);
  EXPECT_EQ(y.to_vector<float>()[1499], 2 * 1499 + 1);
  EXPECT_EQ(x.to_vector<float>()[1499], 1599);
}

TEST(Fusion, AChainIsOneKernel) {
  const Array x = iota({1000, 37}) / 1000.0f - 5.0f;
  x.eval();
  Array y;
  EXPECT_EQ(kernels_of([&] {
              y = ct::relu(x * 1.5f + 0.5f) * ct::sigmoid(x) + ct::tanh(x);
              y.eval();
            }),
            1);
  const std::vector<float> in = x.to_vector<float>(), out = y.to_vector<float>();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double v = in[i];
    const double expected = std::max(v * 1.5 + 0.5, 0.0) / (1 + std::exp(-v)) + std::tanh(v);
    ASSERT_NEAR(out[i], expected, 2e-6 * std::max(1.0, std::abs(expected))) << "at " << v;
  }
}

TEST(Fusion, ExportedArraysAreNotDeferred) {
  const Array x = iota({6}).eval();
  const Array pending = x * 2.0f;
  ct::export_memory(x);  // runs pending readers first
  // another library, which sees only the memory
  const auto seen = [&](int i) {
    float value = 0;
    const ct::View view = ct::readable(x);
    x.device().backend().copy_to_host(x.device().index(), &value, view.handle,
                                      sizeof(float) * static_cast<std::size_t>(i), sizeof(float));
    return value;
  };
  EXPECT_EQ(kernels_of([&] { x += 1.0f; }), 1);
  EXPECT_EQ(seen(5), 6.0f);
  EXPECT_EQ(pending.to_vector<float>()[5], 10.0f);
  Array y;
  EXPECT_EQ(kernels_of([&] { y = ct::exp(x(slice(1, 3))); }), 1);  // reads a view of x
  EXPECT_EQ(kernels_of([&] { x(slice(0, 2)) += y; }), 1);
  EXPECT_FLOAT_EQ(seen(0), 1.0f + y.to_vector<float>()[0]);
  EXPECT_EQ(kernels_of([&] { y += 1.0f; }), 0);  // no other array uses its value
}

TEST(Fusion, ASettingTurnsItOff) {
  const Array x = (iota({7, 5}) / 10.0f).eval();
  const auto chain = [&] { return ct::exp(x * 1.5f) + x; };
  const Array fused = chain().eval();
  Array apart;
  EXPECT_EQ(kernels_of([&] {
              auto off = ct::using_config(ct::config.fusion, false);
              apart = chain().eval();
            }),
            3);
  EXPECT_EQ(apart.to_vector<float>(), fused.to_vector<float>());
  EXPECT_EQ(kernels_of([&] { apart = chain().eval(); }), 1);
}

TEST(Fusion, AccumulatingRunsInConstantMemory) {
  const Array acc = iota({10000}) * 0.0f, x = iota({10000});
  acc.eval();
  ct::MemoryPool& pool = ct::Device().backend().pool(0);
  const std::size_t before = pool.peak_bytes();
  const std::int64_t kernels = kernels_of([&] {
    for (int i = 0; i < 10000; ++i) acc += x;
    acc.eval();
  });
  EXPECT_LE(kernels, 10000 / 16);
  EXPECT_LE(pool.peak_bytes(), before + (1 << 20));
  EXPECT_EQ(acc.to_vector<float>()[7], 70000.0f);
}

TEST(Fusion, TemporariesOfAStatementAreNotStored) {
  const Array x = iota({1000, 1000}) / 1e6f, centre = x.mean(1, true);
  x.eval();
  ct::MemoryPool& pool = ct::Device().backend().pool(0);
  // memory for the results, but not for another array of x's size
  const auto fits = [&](const std::function<Array()>& f) {
    pool.free_all_blocks();
    const std::size_t limit = pool.get_limit();
    pool.set_limit(pool.used_bytes() + x.nbytes() / 2);
    EXPECT_NO_THROW(f().eval());
    pool.set_limit(limit);
  };
  fits([&] { return ct::exp(x - centre).sum(1); });
  fits([&] { return ct::sqrt(ct::square(x - centre).mean(0) * 2); });
  fits([&] { return (-(x - centre)).astype(Dtype::float64).max(); });
  fits([&] { return ct::where(x > centre, x * 2, 1 - x).min(0); });
  fits([&] { return ct::sum(ct::where(x > centre, x * 2, 1 - x).astype(Dtype::float64), 1); });
}

TEST(Fusion, NamedResultsAreKept) {
  const Array x = iota({5});
  Array y = x + 1;
  EXPECT_EQ((ct::exp(y) * 0 + y).sum().item<double>(), 15);
  EXPECT_EQ(y.to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5}));
  const auto twice = [](const ct::Operand& taken) {
    return ct::add(ct::exp(taken) * 0, taken);
  };  // an operand used again
  EXPECT_EQ(twice(x + 1).to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5}));
  const Array moved = ct::negative(std::move(y));
  EXPECT_FALSE(y.defined());
  EXPECT_EQ(moved.to_vector<int>(), (std::vector<int>{-1, -2, -3, -4, -5}));
}

TEST(Fusion, ViewsSeeWritesInProgramOrder) {
  const Array a = iota({4});
  const Array reversed = a.as_strided({4}, {-1}, 3);
  const Array before = reversed + 10;
  a += 100;
  const Array after = reversed + 10;
  EXPECT_EQ(before.to_vector<int>(), (std::vector<int>{13, 12, 11, 10}));
  EXPECT_EQ(after.to_vector<int>(), (std::vector<int>{113, 112, 111, 110}));
  reversed += a;  // overlaps its operand
  EXPECT_EQ(a.to_vector<int>(), (std::vector<int>{203, 203, 203, 203}));
}

TEST(Fusion, HandlesAliasAndWritesToPendingValuesAreSeen) {
  Array a = iota({3}) + 1;
  const Array b = a;
  a += 1;
  EXPECT_EQ(b.to_vector<int>(), (std::vector<int>{2, 3, 4}));
  a = a * 2;
  EXPECT_EQ(b.to_vector<int>(), (std::vector<int>{2, 3, 4}));
}

TEST(Fusion, NarrowIntegersWrapInsideAProgram) {
  const Array a = Array::from_host(std::vector<std::uint8_t>{200, 255, 3}.data(), {3}, Dtype::uint8);
  EXPECT_EQ(((a + a) / 2).to_vector<double>(), (std::vector<double>{72, 127, 3}));
  EXPECT_EQ((a.astype(Dtype::int8) + 0).to_vector<int>(), (std::vector<int>{-56, -1, 3}));
}

TEST(Fusion, AnotherThreadGetsValues) {
  const Array a = iota({100}) * 2;
  std::vector<float> seen;
  std::thread([&] { seen = (a + 1).to_vector<float>(); }).join();
  EXPECT_EQ(seen[10], 21);
  EXPECT_EQ(a.to_vector<float>()[10], 20);
}

TEST(Fusion, PendingWorkIsComputedWhenAThreadEnds) {
  const ct::Device device = ct::current_device();
  for (int turn = 0; turn < 20; ++turn) {
    Array pending;
    std::thread([&] {
      const ct::DeviceScope scope(device);
      EXPECT_EQ((iota({100}) + turn).eval().to_vector<float>()[1], 1 + turn);
      pending = iota({100}) * turn;
    }).join();
    EXPECT_EQ(pending.to_vector<float>()[10], 10 * turn);
  }
}

TEST(Fusion, ReductionTakesTheProgramAlong) {
  const Array x = iota({64, 100});
  double total = 0;
  EXPECT_EQ(kernels_of([&] {
              total = ct::lazy::reduce(x * x, ct::ops::Reduce::sum, 3, Dtype::float32, Dtype::float32).item<double>();
            }),
            1);
  EXPECT_NEAR(total, 6399.0 * 6400 * 12799 / 6, 1e4);
}

TEST(Reduce, AnyAxesAnyStrides) {
  const Array x = iota({5, 7, 11, 3}, Dtype::float64);
  const std::vector<double> v = x.to_vector<double>();
  for (unsigned axes = 0; axes < 16; ++axes) {
    for (const ct::Axes& order : {ct::Axes{0, 1, 2, 3}, ct::Axes{3, 1, 0, 2}, ct::Axes{2, 3, 1, 0}}) {
      const Array y = x.transpose(order);
      const std::vector<double> got =
          ct::lazy::reduce(y, ct::ops::Reduce::sum, axes, Dtype::float64, Dtype::float64).to_vector<double>();
      const std::vector<double> flat = y.to_vector<double>();
      ct::Shape kept;
      for (int a = 0; a < 4; ++a)
        if (!(axes >> a & 1)) kept.push_back(y.shape()[a]);
      std::vector<double> expected(static_cast<std::size_t>(kept.product()));
      for (std::size_t i = 0; i < flat.size(); ++i) {
        std::size_t rest = i, out = 0, stride = 1;
        for (int a = 3; a >= 0; --a) {
          const std::size_t at = rest % y.shape()[a];
          rest /= y.shape()[a];
          if (!(axes >> a & 1)) {
            out += at * stride;
            stride *= y.shape()[a];
          }
        }
        expected[out] += flat[i];
      }
      ASSERT_EQ(got, expected) << axes << " " << order.str();
    }
  }
}

TEST(Array, ReshapeViewsAndCopies) {
  const Array x = iota({4, 6});
  EXPECT_TRUE(x.reshape({2, -1}).shares_memory(x));
  EXPECT_FALSE(x.T().reshape({24}).shares_memory(x));
  EXPECT_TRUE(x.T().reshape({3, 2, 4}).shares_memory(x));
  EXPECT_EQ(x.T().reshape({3, 2, 4}).to_vector<int>(), x.T().to_vector<int>());
  EXPECT_THROW(x.reshape({5, -1}), ct::ShapeError);
}

TEST(Array, RefusesWhatDoesNotFit) {
  const Array x = iota({2, 3}), i = iota({3}, Dtype::int32);
  EXPECT_THROW(x + iota({2}), ct::ShapeError);
  EXPECT_THROW(i += 1.5, ct::DtypeError);
  EXPECT_THROW(i /= 2, ct::DtypeError);
  EXPECT_THROW(iota({3}) += x, ct::ShapeError);
  EXPECT_THROW(~x, ct::DtypeError);
}

}  // namespace
