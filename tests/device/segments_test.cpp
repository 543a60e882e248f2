// One rule over many arrays, as an optimizer's: a few launches, and the CPU's bits.

#include <gtest/gtest.h>

#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/lazy.h"
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

}  // namespace
