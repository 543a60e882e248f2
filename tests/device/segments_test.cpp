// One rule over many arrays, as an optimizer's: a few launches, and the CPU's bits.

#include <gtest/gtest.h>

#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/lazy.h"
#include "catenary/array/reduction.h"
#include "catenary/array/statistics.h"
#include "catenary/core/config.h"
#include "tests/device/same.h"

namespace ct = catenary;
using ct::Array;
using ct::Device;
using testing_devices::same;

namespace {

/// p, g and m of arrays of these sizes; the same values on every device.
std::vector<std::vector<Array>> state(const std::vector<std::int64_t>& sizes, const Device& device) {
  std::vector<std::vector<Array>> segments;
  for (std::int64_t size : sizes) {
    std::vector<Array>& arrays = segments.emplace_back();
    for (int k = 0; k < 3; ++k) {
      std::vector<float> values(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(k) * 11) % 101) / 50 - 1;
      arrays.push_back(Array::from_host(values.data(), {size}, ct::Dtype::float32).to_device(device));
    }
  }
  return segments;
}

void momentum(const std::vector<Array>& arrays) {
  const Array &p = arrays[0], &g = arrays[1], &m = arrays[2];
  m *= 0.9f;
  m += g * 0.1f;
  p -= m / (ct::abs(g) + 0.5f);
}

std::int64_t update(const std::vector<std::vector<Array>>& segments) {
  ct::evaluate();
  const std::int64_t before = ct::kernel_count();
  ct::lazy::for_each_segment(segments, momentum);
  ct::evaluate();
  return ct::kernel_count() - before;
}

void expect_the_cpus(const std::vector<std::int64_t>& sizes, std::int64_t kernels) {
  const auto here = state(sizes, ct::current_device()), cpu = state(sizes, Device());
  EXPECT_EQ(update(here), kernels);
  update(cpu);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_TRUE(same(here[i][k], cpu[i][k])) << "array " << k << " of segment " << i << ", size " << sizes[i];
}

TEST(Segments, OfAllSizes) { expect_the_cpus({3, 1, 1024, 1025, 8192, 8193, 0, testing_devices::large(30000), 7}, 1); }

TEST(Segments, MoreThanALaunchTakes) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < 70; ++i) sizes.push_back(1 + i * i % 40);
  expect_the_cpus(sizes, 1);
}

TEST(Segments, OneAlone) { expect_the_cpus({5000}, 1); }

TEST(Segments, AStridedArrayIsNotMerged) {
  auto here = state({64, 100}, ct::current_device()), cpu = state({64, 100}, Device());
  for (auto* segments : {&here, &cpu})
    for (Array& a : (*segments)[0]) a = a.reshape({8, 8}).T();
  update(here);
  update(cpu);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(same(here[i][k], cpu[i][k])) << i << ", " << k;
}

TEST(Segments, WithoutFusionToo) {
  const auto off = ct::using_config(ct::config.fusion, false);
  const auto here = state({17, 2000}, ct::current_device()), cpu = state({17, 2000}, Device());
  update(here);
  update(cpu);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(same(here[1][k], cpu[1][k])) << k;
}

/// momentum, with a rate that only the device knows, unless the device says so.
std::int64_t update_unless(const std::vector<std::vector<Array>>& segments, const Array& rate, const Array& unless,
                           bool by_norm = false) {
  ct::evaluate();
  const std::int64_t before = ct::kernel_count();
  const auto rule = [&](const std::vector<Array>& arrays) {
    momentum(arrays);
    const Array& p = arrays[0];
    p -= rate * arrays[2];
    if (by_norm) p /= ct::sum(p * p) + 1;
  };
  ct::lazy::for_each_segment(segments, rule, unless);
  ct::evaluate();
  return ct::kernel_count() - before;
}

// Where `unless` is true on the device, nothing changes, and nobody asks; it is one launch as well.
TEST(Segments, UnlessTheDeviceSaysNotTo) {
  std::vector<std::int64_t> many;
  for (std::int64_t i = 0; i < 70; ++i) many.push_back(1 + i * i % 40);
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{5000}, {1}, {3, 1, 1024, 1025, 8193, 0, 7}, many}) {
    for (const bool skips : {false, true}) {
      for (const bool fuses : {true, false}) {
        for (const bool by_norm : {false, true}) {
          const auto fusion = ct::using_config(ct::config.fusion, fuses);
          const auto here = state(sizes, ct::current_device()), first = state(sizes, Device());
          const Array rate = (ct::full({}, 0.25, ct::Dtype::float32) + 0.5).eval();
          const Array unless = ct::full({}, skips, ct::Dtype::bool_);
          const std::int64_t kernels = update_unless(here, rate, unless, by_norm);
          if (fuses && !by_norm) {
            EXPECT_EQ(kernels, 1);
          }
          const auto wanted = state(sizes, Device());
          if (!skips) {
            const ct::DeviceScope cpu{Device()};
            update_unless(wanted, ct::full({}, 0.75, ct::Dtype::float32), {}, by_norm);
          }
          for (std::size_t i = 0; i < sizes.size(); ++i)
            for (std::size_t k = 0; k < 3; ++k)
              EXPECT_TRUE(by_norm && !skips ? ct::allclose(here[i][k].to_device(Device()), wanted[i][k], 1e-5, 1e-6)
                                            : same(here[i][k], wanted[i][k]))
                  << "array " << k << " of segment " << i << ", size " << sizes[i] << skips << fuses << by_norm;
        }
      }
    }
  }
}

// What is read beside the segments' arrays is one number; an array of a segment's size is not.
TEST(Segments, ALargerArrayBesideIsNotShared) {
  const auto here = state({64, 64}, ct::current_device()), cpu = state({64, 64}, Device());
  for (const auto* segments : {&here, &cpu}) {
    const Array beside = ct::arange(64).astype(ct::Dtype::float32).to_device((*segments)[0][0].device()).eval();
    ct::lazy::for_each_segment(*segments, [&](const std::vector<Array>& arrays) { arrays[0] += beside * arrays[1]; });
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(same(here[i][0], cpu[i][0])) << i;
}

}  // namespace
