// The network of examples/train_mnist_deep in 16 bits, on each device compared with the CPU.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "catenary/catenary.h"
#include "tests/paths.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
namespace O = optimizers;

struct Deep : Chain {
  std::vector<L::Linear> hidden;
  L::Linear last{10};
  CT_LINKS(hidden, last)
  Deep(int layers, int units) {
    for (int i = 0; i < layers; ++i) hidden.emplace_back(units);
  }
  Variable operator()(const Variable& x) const {
    Variable h = x;
    for (const L::Linear& layer : hidden) h = F::relu(layer(h));
    return last(h);
  }
};

/// The losses of 20 updates on a device.
std::vector<double> losses_on(const Device& device, const Optimizer& optimizer) {
  constexpr std::int64_t kBatch = 64;
  const DeviceScope scope(device);
  random::seed(1);
  const L::Classifier model{Deep(5, 48)};
  model.to_device(device);
  optimizer.setup(model);
  const Dataset train = datasets::get_mnist({.folder = tests::source_path("data/mnist")}).first;
  std::vector<double> losses;
  for (std::int64_t i = 0; i < 20; ++i) {
    std::vector<std::int64_t> chosen(kBatch);
    std::iota(chosen.begin(), chosen.end(), i * kBatch);
    Minibatch minibatch;
    minibatch.size = kBatch;
    minibatch.has_columns = train.get_columns(chosen, minibatch.columns);
    const Batch batch = concat_examples(minibatch, device);
    Variable loss;
    optimizer.update([&] { return loss = optimizer.target()(batch); });
    losses.push_back(loss.array().item<double>());
  }
  return losses;
}

// Products are summed in another order on each device. Losses differ by 16-bit rounding, and training still succeeds.
TEST(DeepIn16Bits, LossesAreTheProcessors) {
  for (const auto& [precision, ulp] :
       {std::pair(Precision(Dtype::float16), 0x1p-9), {mixed16, 0x1p-9}, {Precision(Dtype::bfloat16), 0x1p-6}}) {
    const auto dtype = using_config(config.dtype, precision);
    for (const bool adam : {false, true}) {
      const auto losses = [&](const Device& device) {
        return adam ? losses_on(device, O::Adam()) : losses_on(device, O::SGD(0.1));
      };
      const std::vector<double> here = losses(current_device()), cpu = losses(Device());
      for (std::size_t i = 0; i < cpu.size(); ++i)
        EXPECT_NEAR(here[i], cpu[i], 2 * ulp) << precision_name(precision) << " " << adam << ", update " << i;
      EXPECT_NE(here.front(), here.back());
      if (adam) {
        EXPECT_LT(cpu.back(), cpu.front() - 0.3) << precision_name(precision);
      }
    }
  }
}

}  // namespace
}  // namespace catenary
