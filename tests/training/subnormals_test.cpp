// How updates treat subnormal numbers: equally in all execution modes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catenary/catenary.h"

namespace ct = catenary;

namespace {

/// How updates are run.
struct UpdateWay {
  const char* name;
  ct::Device device = ct::current_device();
  bool fusion = true;       ///< one program over all parameters, or single operations
  bool one_by_one = false;  ///< each parameter separately
  bool transposed = false;  ///< parameters with another memory layout
};

struct Pair : ct::Link {
  ct::Parameter a, b;
  CT_LINKS(a, b)
  Pair(const ct::Array& a0, const ct::Array& b0) : a(ct::Parameter::from_array(a0)), b(ct::Parameter::from_array(b0)) {}
};

double smallest_normal(ct::Dtype dtype) {
  return dtype == ct::Dtype::float64 ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
}

ct::Array small_numbers(const ct::Shape& shape, ct::Dtype dtype, double scale, const UpdateWay& way) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < shape.product(); ++i)
    values.push_back(std::sin(static_cast<double>(i + 1)) * scale * smallest_normal(dtype));
  const ct::Array array = ct::Array::from_host(values.data(), shape, ct::Dtype::float64).astype(dtype);
  const ct::Array placed = way.transposed ? ct::transpose(ct::transpose(array).copy()) : array;
  return placed.to_device(way.device);
}

/// Parameters and state after `updates`, of which only the first has a gradient.
std::vector<double> after(int updates, const ct::Optimizer& optimizer, ct::Dtype dtype, const UpdateWay& way) {
  const ct::DeviceScope host{ct::Device()};
  const auto fusion = ct::using_config(ct::config.fusion, way.fusion);
  const ct::Shape large{300, 20}, small{7, 3};
  const Pair model(small_numbers(large, dtype, 1.5, way), small_numbers(small, dtype, 1.5, way));
  const std::vector<ct::Parameter> parameters{model.a, model.b};
  optimizer.setup(model);
  for (int t = 1; t <= updates; ++t) {
    for (const ct::Parameter& p : parameters) p.set_grad(small_numbers(p.shape(), dtype, t == 1 ? 20 : 0, way));
    if (way.one_by_one) {
      for (const ct::Parameter& p : parameters) p.update();
    } else {
      optimizer.update();
    }
  }
  std::vector<double> kept;
  const auto add = [&](const ct::Array& array) {
    const std::vector<double> values = array.to_device(ct::Device()).astype(ct::Dtype::float64).to_vector<double>();
    kept.insert(kept.end(), values.begin(), values.end());
  };
  for (const ct::Parameter& p : parameters) {
    add(p.array());
    for (const auto& [name, array] : static_cast<ct::UpdateRule&>(*p.update_rule()).state) add(array);
  }
  return kept;
}

std::int64_t count_subnormal(const std::vector<double>& values, ct::Dtype dtype) {
  return std::count_if(values.begin(), values.end(),
                       [&](double x) { return x != 0 && std::abs(x) < smallest_normal(dtype); });
}

void check(const ct::Optimizer& optimizer, ct::Dtype dtype) {
  const UpdateWay plain{.name = "the CPU", .device = ct::Device()};
  EXPECT_GT(count_subnormal(after(7, optimizer, dtype, plain), dtype), 100);
  EXPECT_EQ(count_subnormal(after(8, optimizer, dtype, plain), dtype), 0);
  for (const int updates : {1, 7, 8, 19}) {
    const std::vector<double> expected = after(updates, optimizer, dtype, plain);
    for (const UpdateWay& way :
         {UpdateWay{.name = "the current device"}, UpdateWay{.name = "without fusion", .fusion = false},
          UpdateWay{.name = "one by one", .one_by_one = true}, UpdateWay{.name = "transposed", .transposed = true},
          UpdateWay{.name = "transposed, without fusion", .fusion = false, .transposed = true}})
      EXPECT_EQ(after(updates, optimizer, dtype, way), expected)
          << optimizer.name() << " of " << dtype << ", " << way.name << ", " << updates << " updates";
  }
}

}  // namespace

TEST(Subnormals, AreZeroAfterEveryEighthUpdateOnEveryWay) {
  for (const ct::Dtype dtype : {ct::Dtype::float32, ct::Dtype::float64}) {
    if (dtype == ct::Dtype::float64 && !ct::current_device().info().has_f64) continue;
    check(ct::optimizers::MomentumSGD(0.1, 0.5), dtype);
    check(ct::optimizers::Adam(), dtype);
  }
}

// float16's subnormal numbers, 2^-24 to 2^-14, are normal numbers in float32, in which updates are computed.
TEST(Subnormals, OfFloat16Stay) {
  const ct::Array small = ct::full({3, 5}, std::ldexp(1.0, -20), ct::Dtype::float16);
  const Pair model(small, small.copy());
  const ct::optimizers::SGD sgd(0.0);
  sgd.setup(model);
  for (int t = 0; t < 8; ++t) sgd.update();
  EXPECT_EQ(model.a.array().astype(ct::Dtype::float32).to_vector<float>(),
            std::vector<float>(15, std::ldexp(1.0f, -20)));
}

TEST(Subnormals, AreKeptByAllOtherWork) {
  const ct::Array half = ct::full({200000}, 1.5e-38, ct::Dtype::float32) * 0.5f;
  EXPECT_EQ(half.to_vector<float>(), std::vector<float>(200000, 1.5e-38f * 0.5f));
}
