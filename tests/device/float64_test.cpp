// A device without float64, simulated by CATENARY_NO_FLOAT64=1: operations without float64 work, others report an
// error. Runs in a separate process, because a device's properties are queried once.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/autograd/variable.h"
#include "catenary/core/error.h"
#include "catenary/device/device.h"
#include "catenary/functions/evaluation.h"
#include "catenary/reporter/reporter.h"
#include "tests/simgpu/faults.h"
#include "tests/texts.h"

namespace catenary::faults {
namespace {

using tests::error_of;

void check_without_float64() {
  ASSERT_FALSE(current_device().info().has_f64);
  const Variable y(array({{1.f, 2.f, 0.f}, {3.f, 1.f, 0.f}, {0.f, 1.f, 5.f}, {4.f, 0.f, 0.f}}), false);
  const Variable t(array({1, 0, 1, 0}), false);

  EXPECT_FLOAT_EQ(functions::accuracy(y, t).item<float>(), 0.75f);
  EXPECT_FLOAT_EQ(functions::accuracy(y, t, 0).item<float>(), 0.5f);
  const Variable positive(array({1.f, -1.f, 2.f}), false), truth(array({1, 1, -1}), false);
  EXPECT_FLOAT_EQ(functions::binary_accuracy(positive, truth).item<float>(), 0.5f);
  const functions::ClassificationSummary all = functions::classification_summary(y, t, 3);
  EXPECT_EQ(all.precision.dtype(), Dtype::float32);
  const std::vector<float> precision = all.precision.array().to_vector<float>();
  EXPECT_EQ(precision[0], 1);
  EXPECT_EQ(precision[1], 1);
  EXPECT_EQ(all.precision.array().to_vector<double>(), std::vector<double>(precision.begin(), precision.end()));
  EXPECT_EQ(precision[2], 0);
  EXPECT_EQ(all.recall.array().to_vector<float>()[1], 0.5f);

  Summary summary;
  for (int i = 0; i < 100; ++i) summary.add(Reported(full({}, 1e6f + static_cast<float>(i), Dtype::float32)));
  EXPECT_DOUBLE_EQ(summary.mean(), 1e6 + 49.5);
  EXPECT_EQ(full({}, 2.5f, Dtype::float32).item<double>(), 2.5);
  EXPECT_NE(y.debug_print().find("mean=1.41666"), std::string::npos) << y.debug_print();

  const Array doubles = array({1.0, 2.0});
  const std::string message = error_of<DeviceError>([&] { (doubles * 2).eval(); });
  EXPECT_EQ(message.find("multiply: " + current_device().name()), 0u) << message;
  EXPECT_NE(message.find("has no float64, as CATENARY_NO_FLOAT64 says; give its arrays float32"), std::string::npos)
      << message;
  EXPECT_NE(error_of<DeviceError>([&] {
              linalg::inv(
                  ones({2, 2}, Dtype::float32).to_device(Device()).astype(Dtype::float64).to_device(current_device()));
            }).find("linalg: "),
            std::string::npos);
  EXPECT_EQ(doubles.to_device(Device()).to_vector<double>(), std::vector<double>({1, 2}));
}

TEST(WithoutFloat64, WorksOrSaysSo) {
  if (std::getenv("CATENARY_NO_FLOAT64")) return check_without_float64();
  if (current_device().is_cpu()) return;  // the CPU always has float64
  const auto result = again("WithoutFloat64.*", {{"CATENARY_NO_FLOAT64", "1"}});
  EXPECT_TRUE(result.ok()) << result.output << result.errors;
}

}  // namespace
}  // namespace catenary::faults
