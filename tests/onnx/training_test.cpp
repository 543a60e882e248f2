// Trains ResNet-18 from a file that PyTorch wrote. PyTorch's gradients and losses are in tests/data/torch, by
// tests/data/torch/make_onnx_reference.py.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"
#include "catenary/functions/functions.h"
#include "catenary/onnx/model.h"
#include "catenary/optimizers/optimizers.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace catenary::onnx_training {
namespace {

namespace F = functions;

/// Returns numbers from -1 to 1, as the script computes them.
std::vector<float> uniform(std::uint64_t seed, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t z = (i + (seed << 32)) * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
    values[i] = static_cast<float>(static_cast<double>(z >> 40) / (1 << 23) - 1);
  }
  return values;
}

/// Returns a weight, bias or statistic, whose seed is its place in the order of names.
std::vector<float> numbers_of(const std::string& name, const nlohmann::json& shape, std::uint64_t seed) {
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  float scale = 0.1F, shift = 0;
  if (shape.size() > 1)
    scale = static_cast<float>(std::sqrt(6.0 / static_cast<double>(count / shape[0].get<std::size_t>())));
  else if (name.ends_with("weight") || name.ends_with("running_var"))
    shift = 1;
  std::vector<float> values = uniform(seed, count);
  for (float& value : values) value = value * scale + shift;
  return values;
}

/// Writes the model and a file for each of its parameters.
std::string written(const tests::Folder& folder, const nlohmann::json& reference) {
  std::uint64_t seed = 0;
  for (const auto& [name, shape] : reference["shapes"].items()) {
    ++seed;
    if (shape.is_null()) continue;  // a number of batches
    const std::vector<float> values = numbers_of(name, shape, seed);
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
  std::ofstream(folder / "model.onnx", std::ios::binary)
      << std::ifstream(tests::source_path("tests/data/torch/resnet18.onnx"), std::ios::binary).rdbuf();
  return folder / "model.onnx";
}

void expect_gradient(const std::string& name, const Array& gradient, const nlohmann::json& wanted) {
  SCOPED_TRACE(name);
  const std::vector<float> values = gradient.to_vector<float>();
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  const double largest = wanted["largest"], norm = wanted["norm"];
  EXPECT_NEAR(std::sqrt(squares), norm, 1e-4 * norm);
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(values[i * (values.size() - 1) / 7], wanted["samples"][i].get<double>(), 1e-4 * largest) << i;
}

TEST(OnnxTraining, FollowsPyTorch) {
  const nlohmann::json reference =
      nlohmann::json::parse(std::ifstream(tests::source_path("tests/data/torch/resnet18.json")));
  const tests::Folder folder;
  const onnx::Model net(written(folder, reference));
  const Shape shape = {4, 3, 32, 32};
  const Variable x(Array::from_host(uniform(1000, 4 * 3 * 32 * 32).data(), shape, Dtype::float32), false);
  const Array t = array({0, 3, 6, 9});
  const optimizers::SGD optimizer(reference["rate"].get<double>());
  optimizer.setup(net);
  std::size_t step = 0;
  for (const double wanted : reference["losses"]) {
    net.cleargrads();
    const Variable loss = F::softmax_cross_entropy(net({x})[0], t);
    loss.backward();
    EXPECT_NEAR(loss.array().item<float>(), wanted, 0.01 * wanted) << "step " << step;
    if (step++ == 0) {
      std::size_t compared = 0;
      for (const auto& [name, parameter] : net.namedparams()) {
        const auto found = reference["gradients"].find(name.substr(1));
        if (found == reference["gradients"].end()) {  // a statistic of batch normalization is not trained
          EXPECT_FALSE(parameter.grad().defined()) << name;
          continue;
        }
        expect_gradient(name, parameter.grad(), *found);
        ++compared;
      }
      EXPECT_EQ(compared, reference["gradients"].size());
    }
    optimizer.update();
  }
  EXPECT_EQ(step, 50u);
}

}  // namespace
}  // namespace catenary::onnx_training
