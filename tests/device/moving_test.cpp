// Arrays, variables, links and optimizer state report their device and can move, in place of Chainer's
// get_array_module, to_gpu and to_cpu.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/operators.h"
#include "catenary/autograd/variable.h"
#include "catenary/core/error.h"
#include "catenary/device/device.h"
#include "catenary/device/placement.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/links/connection.h"
#include "catenary/links/model.h"
#include "catenary/optimizers/optimizers.h"

namespace catenary {
namespace {

class Moving : public testing::Test {
 protected:
  const Device there = current_device(), cpu;
};

TEST_F(Moving, DevicesByName) {
  EXPECT_EQ(get_device(there.name()), there);
  EXPECT_EQ(get_device("@numpy"), cpu);
  EXPECT_EQ(get_device("-1"), cpu);
  const auto error_of = [](const char* name) {
    try {
      get_device(name);
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("abacus:0"),
            "device 'abacus:0' is not a device name; expected cpu, cuda:N, hip:N, opencl:N or gpu:N");
  EXPECT_EQ(error_of("gpu:x"), "device 'gpu:x' is not a device name; expected cpu, cuda:N, hip:N, opencl:N or gpu:N");
  EXPECT_NE(error_of("opencl:77").find("this machine offers cpu"), std::string::npos);
  EXPECT_EQ(error_of("opencl:77").find("hip: "), std::string::npos);  // problems of other drivers are not mentioned
  cpu.use();
  EXPECT_EQ(current_device(), cpu);
  {
    const DeviceScope scope(there);
    EXPECT_EQ(current_device(), there);
    EXPECT_EQ(zeros({2}, Dtype::float32).device(), there);
  }
  EXPECT_EQ(current_device(), cpu);
  there.use();
}

TEST_F(Moving, Arrays) {
  const Array x = arange(6, Dtype::float32).reshape({2, 3}).T() * 2;
  const Array here = to_cpu(x);
  EXPECT_EQ(here.device(), cpu);
  EXPECT_EQ(get_device(here), cpu);
  EXPECT_EQ(get_device(x), there);
  EXPECT_EQ(here.to_vector<float>(), x.to_vector<float>());
  EXPECT_TRUE(here.to_device(cpu).is(here));
  const Array back = here(slice(1, 3)).to_device(there);  // at an offset in its memory
  EXPECT_EQ(back.device(), there);
  EXPECT_EQ(back.to_vector<float>(), std::vector<float>({2, 8, 4, 10}));
  EXPECT_EQ(to_cpu(zeros({0, 3}, Dtype::float32)).shape(), (Shape{0, 3}));
  EXPECT_EQ(to_device(to_cpu(zeros({0, 3}, Dtype::float32)), there).device(), there);
}

TEST_F(Moving, BetweenAllDevicesOfThisMachine) {
  const Array x = arange(100, Dtype::float32).reshape({4, 25});
  for (const Device& device : devices()) {
    const Array y = x(slice(1, 4)).to_device(device);
    EXPECT_EQ(y.device(), device);
    EXPECT_EQ((y + 1).to_device(there).to_vector<float>(), (x(slice(1, 4)) + 1).to_vector<float>()) << device.name();
  }
}

TEST_F(Moving, Variables) {
  const Variable x(arange(3, Dtype::float32));
  functions::sum(x * x).backward();
  EXPECT_EQ(get_device(x), there);
  to_cpu(x);
  EXPECT_EQ(x.device(), cpu);
  EXPECT_EQ(x.grad().device(), cpu);
  EXPECT_EQ(x.grad().to_vector<float>(), std::vector<float>({0, 2, 4}));
  to_device(x, there);
  EXPECT_EQ(get_device(x), there);
  EXPECT_EQ(x.grad().device(), there);
  const Variable computed = x * 2;
  EXPECT_THROW(to_cpu(computed), ValueError);
}

TEST_F(Moving, LinksAndWhatTheOptimizerKeeps) {
  const links::Linear link(3, 2);
  optimizers::Adam optimizer;
  optimizer.setup(Model(link));
  const auto train = [&](const Device& device) {
    const DeviceScope scope(device);
    EXPECT_EQ(get_device(link), device);
    link.cleargrads();
    functions::sum(link(Variable(ones({4, 3}, Dtype::float32)))).backward();
    optimizer.update();
    EXPECT_EQ(link.W.array().device(), device);
  };
  train(there);
  to_cpu(link);
  EXPECT_EQ(get_device(link), cpu);
  EXPECT_EQ(link.b.device(), cpu);
  train(cpu);
  to_device(link, there);
  train(there);
  // Adam moves every weight by alpha in each step, so all three steps used one state
  EXPECT_NEAR(link.b.array().to_vector<float>()[0], -0.003, 1e-6);
  EXPECT_EQ(optimizer.t(), 3);
}

TEST_F(Moving, ToGpuIsARealOne) {
  const Array x = to_cpu(zeros({2}, Dtype::float32));
  try {
    EXPECT_FALSE(to_gpu(x).device().is_cpu());
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("gpu:0"), std::string::npos);
  }
}

}  // namespace
}  // namespace catenary
