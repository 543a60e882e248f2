// Applies one rule to many arrays, as optimizers do: a few launches, and the CPU's bits.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/lazy.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/statistics.h"
#include "catenary/core/config.h"
#include "tests/device/same.h"

namespace ct = catenary;
using ct::Array;
using ct::Device;
using testing_devices::same;

namespace {

/// Returns arrays p, g and m of these sizes, with equal values on every device.
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

/// Momentum with a rate in device memory, skipped if `unless` is true on the device.
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

// If `unless` is true on the device, nothing changes, without synchronization and in one launch.
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

// Only single numbers may be shared by all segments, not an array of a segment's size.
TEST(Segments, ALargerArrayBesideIsNotShared) {
  const auto here = state({64, 64}, ct::current_device()), cpu = state({64, 64}, Device());
  for (const auto* segments : {&here, &cpu}) {
    const Array beside = ct::arange(64).astype(ct::Dtype::float32).to_device((*segments)[0][0].device()).eval();
    ct::lazy::for_each_segment(*segments, [&](const std::vector<Array>& arrays) { arrays[0] += beside * arrays[1]; });
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(same(here[i][0], cpu[i][0])) << i;
}

/// Searches for an element above 2 and returns the number of launches.
std::int64_t look(const std::vector<Array>& arrays, bool wanted, const std::string& what) {
  ct::evaluate();
  const std::int64_t before = ct::kernel_count();
  const Array found = ct::lazy::any_of_segments(arrays, [](const Array& a) { return a > 2; });
  ct::evaluate();
  const std::int64_t kernels = ct::kernel_count() - before;
  EXPECT_EQ(found.shape(), ct::Shape{}) << what;
  EXPECT_EQ(found.dtype(), ct::Dtype::bool_) << what;
  EXPECT_EQ(found.device(), ct::current_device()) << what;
  EXPECT_EQ(found.item<bool>(), wanted) << what;
  return kernels;
}

// One launch clears the flag and one searches, wherever the element is.
TEST(Segments, AnyOfAll) {
  std::vector<std::int64_t> many;
  for (std::int64_t i = 0; i < 30; ++i) many.push_back(1 + i * i % 40);
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{5000}, {1}, {3, 1, 1024, 1025, 8193, 0, 7}, many}) {
    for (const bool fuses : {true, false}) {
      const auto fusion = ct::using_config(ct::config.fusion, fuses);
      std::vector<Array> arrays;
      for (const std::vector<Array>& segment : state(sizes, ct::current_device())) arrays.push_back(segment[0]);
      const auto looks = [&](bool wanted, std::size_t segment, std::int64_t element) {
        const std::int64_t kernels = look(arrays, wanted, fmt::format("{} of {}, {}", segment, sizes.size(), element));
        if (fuses) {
          EXPECT_EQ(kernels, 2);
        }
      };
      looks(false, 0, 0);
      for (std::size_t k = 0; k<arrays.size(); k += sizes.size()> 10 ? 7 : 1) {
        if (sizes[k] == 0) continue;
        for (const std::int64_t at : {std::int64_t{0}, sizes[k] / 2, sizes[k] - 1}) {
          const float before = arrays[k](at).item<float>();
          arrays[k].set(3, at);
          looks(true, k, at);
          arrays[k].set(before, at);
        }
      }
      looks(false, 0, 0);
    }
  }
}

// Each dtype takes one launch. Arrays in other memory orders are not copied, and gaps are not searched.
TEST(Segments, AnyOfDtypesAndLayouts) {
  const auto zeros = [](const ct::Shape& shape, ct::Dtype dtype = ct::Dtype::float32) {
    return ct::full(shape, 0, dtype).eval();
  };
  for (const ct::Dtype dtype : {ct::Dtype::float16, ct::Dtype::bfloat16, ct::Dtype::int32, ct::Dtype::float32}) {
    for (const int where : {0, 1, 2, 3}) {
      const std::vector<Array> arrays = {zeros({7}), zeros({33}, dtype), zeros({2, 5}), zeros({1}, dtype)};
      arrays[static_cast<std::size_t>(where)].fill(3);
      EXPECT_EQ(look(arrays, true, "dtypes"), dtype == ct::Dtype::float32 ? 2 : 3);
    }
  }
  const Array whole = zeros({6, 8, 3});
  const Array turned = whole.transpose({2, 0, 1}), gaps = whole(ct::slice(0, 6, 2)),
              spread = ct::broadcast_to(zeros({1, 4}), {3, 4});
  EXPECT_EQ(look({turned, turned.T()}, false, "orders"), 2);
  whole.set(3, 1);
  EXPECT_EQ(look({turned, zeros({2})}, true, "orders"), 2);
  look({gaps, spread}, false, "gaps");
  whole.set(4, 2);
  look({spread, gaps}, true, "gaps");
  look({}, false, "nothing");
  look({zeros({0, 3})}, false, "no element");
}

// All segments may share a number in device memory, but not another array.
TEST(Segments, AnyWithANumberBeside) {
  const std::vector<std::int64_t> sizes = {64, 64, 9};
  std::vector<Array> arrays;
  for (const std::vector<Array>& segment : state(sizes, ct::current_device())) arrays.push_back(segment[0]);
  for (const double limit : {0.5, 1.5}) {
    const Array beside = (ct::full({}, limit, ct::Dtype::float32) * 1.0).eval();
    EXPECT_EQ(ct::lazy::any_of_segments(arrays, [&](const Array& a) { return a > beside; }).item<bool>(), limit < 1);
  }
  const Array larger = ct::full({64}, 2, ct::Dtype::float32).eval();
  const auto above = [&](const Array& a) { return a > larger; };
  EXPECT_FALSE(ct::lazy::any_of_segments({arrays[0], arrays[1]}, above).item<bool>());
  larger.set(-5, 63);
  EXPECT_TRUE(ct::lazy::any_of_segments({arrays[0], arrays[1]}, above).item<bool>());
}

}  // namespace
