// 16-bit networks use 16 bits everywhere: operands of every product, forward and backward, parameters in memory and in
// files, and the memory that a forward pass holds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/config.h"
#include "catenary/core/os/process.h"
#include "catenary/device/pool.h"
#include "catenary/functions/functions.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors.h"
#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"
#include "catenary/links/model.h"
#include "catenary/links/models/resnet.h"
#include "catenary/links/normalization.h"
#include "catenary/links/rnn.h"
#include "catenary/optimizers/optimizers.h"
#include "catenary/serializers/serializer.h"
#include "tests/folder.h"
#include "tests/links/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;

Array narrow_numbers(const Shape& shape) { return test::numbers(shape).astype(config.dtype); }
Variable classes(std::int64_t n) { return Variable(arange(n, Dtype::int32) % 5, false); }

/// A network, and its loss for a batch of n.
struct Made {
  std::shared_ptr<Link> link;
  Model model;
  std::function<Variable(std::int64_t n)> loss;
  std::function<void()> reset;  ///< clears the state after a loss
};

struct Mlp : Chain {
  L::Linear l1{20, 16}, l2{16, 12}, l3{12, 5};
  CT_LINKS(l1, l2, l3)
  Variable operator()(const Variable& x) const { return l3(F::relu(l2(F::tanh(l1(x))))); }
  Variable loss(std::int64_t n) const {
    return F::softmax_cross_entropy((*this)(Variable(narrow_numbers({n, 20}), false)), classes(n));
  }
};

struct Cnn : Chain {
  L::Convolution2D c1{3, 8, 3}, c2{8, 16, 3, {.stride = 2, .pad = 1}};
  L::BatchNormalization bn{8};
  L::Linear fc{5};
  CT_LINKS(c1, c2, bn, fc)
  Variable operator()(const Variable& x) const {
    return fc(F::dropout(F::relu(c2(F::max_pooling_2d(F::relu(bn(c1(x))), 2))), 0.3));
  }
  Variable loss(std::int64_t n) const {
    return F::softmax_cross_entropy((*this)(Variable(narrow_numbers({n, 3, 18, 18}), false)), classes(n));
  }
};

struct ResNet18 : Chain {
  L::ResNet18Layers layers{{.classes = 5}};
  CT_LINKS(layers)
  Variable operator()(const Variable& x) const { return layers(x, {"fc6"}).at("fc6"); }
  Variable loss(std::int64_t n) const {
    return F::softmax_cross_entropy((*this)(Variable(narrow_numbers({n, 3, 32, 32}), false)), classes(n));
  }
};

struct Words : Chain {
  L::EmbedID embed{30, 8};
  L::LSTM l1{8, 12}, l2{12, 8};
  L::Linear fc{8, 30};
  CT_LINKS(embed, l1, l2, fc)
  Variable operator()(const Variable& x) const { return fc(l2(F::dropout(l1(embed(x)), 0.3))); }
  void reset() const { l1.reset_state(), l2.reset_state(); }
  Variable loss(std::int64_t n) const {
    reset();
    Variable total;
    for (int k = 0; k < 3; ++k) {
      const Variable one = F::softmax_cross_entropy((*this)(classes(n)), classes(n));
      total = total.defined() ? total + one : one;
    }
    return total;
  }
};

/// A network, and the products of a training step: matrices, and convolutions in each of their passes.
struct Network {
  const char* name;
  std::function<Made()> make;
  int matmuls, convolutions;
  std::int64_t batch;  // large enough for 16-bit memory to outweigh labels, statistics and the 512 bytes of a block
};
template <class N>
Network net(const char* name, int matmuls, int convolutions, std::int64_t batch) {
  const auto make = [] {
    const auto made = std::make_shared<N>();
    return Made{made, *made, [made](std::int64_t n) { return made->loss(n); },
                [made] {
                  if constexpr (requires { made->reset(); }) made->reset();
                }};
  };
  return {name, make, matmuls, convolutions, batch};
}
/// In n consecutive layers, all but the first have a gradient for their inputs.
constexpr int products(int n) { return 3 * n - 1; }
const std::vector<Network>& nets() {
  // 17 convolutions and 3 in shortcuts; 3 products in each of three steps, and two states' products from the second
  // step on
  static const std::vector<Network> all = {net<Mlp>("mlp", products(3), 0, 500), net<Cnn>("cnn", 3, products(2), 16),
                                           net<ResNet18>("resnet18", 3, products(20), 16),
                                           net<Words>("words", 3 * 13, 0, 500)};
  return all;
}

bool is_resnet(const Network& net) { return net.name == std::string("resnet18"); }

/// The precisions to train in. Simulated devices skip the slow ones.
std::vector<Precision> precisions(const Network& net) {
  if (is_resnet(net) && !current_device().is_cpu()) return {mixed16};
  return {Dtype::float16, mixed16, Dtype::bfloat16, mixed_bf16};
}

/// Run by the next test in a separate process. That test reads the trace between the names.
TEST(Inside, StepsIn16Bits) {
  for (const Network& net : nets()) {
    for (const Precision precision : precisions(net)) {
      const auto scope = using_config(config.dtype, precision);
      const Made made = net.make();
      const auto loss = [&] { return made.loss(2); };
      const optimizers::MomentumSGD optimizer;
      optimizer.setup(made.model);
      optimizer.update(loss);
      current_device().synchronize();
      std::fprintf(stderr, "net %s %s\n", net.name, dtype_name(precision));
      optimizer.update(loss);
      current_device().synchronize();
      std::fprintf(stderr, "end\n");
    }
  }
}

TEST(SixteenBits, AreTheOperandsOfEveryProductOfATraining) {
  os::ProcessOptions options;
  options.timeout = 600;
  options.environment = {{"CATENARY_TRACE", "kernels"}, {"GTEST_OUTPUT", ""}};
  const auto result = os::run_process(
      {os::program_path(), "--gtest_filter=Inside.StepsIn16Bits", "--device", current_device().name()}, options);
  ASSERT_TRUE(result.ok()) << result.output << result.errors;
  std::map<std::string, std::vector<std::pair<int, int>>>
      counted;  // matrices and convolutions of each precision, by network
  std::string name, dtype;
  std::istringstream lines(result.errors);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, device, work;
    words >> word;
    if (word == "net") {
      words >> name >> dtype;
      counted[name].emplace_back();
    } else if (word == "end") {
      dtype.clear();
    } else if (word == "kernel" && !dtype.empty()) {
      words >> device >> work;
      const bool matmul = work == "matmul", convolution = work.starts_with("convolution");
      if (!matmul && !convolution) continue;
      counted[name].back().first += matmul;
      counted[name].back().second += convolution;
      EXPECT_NE(line.find(") " + dtype + " "), std::string::npos) << name << " of " << dtype << ": " << line;
    }
  }
  for (const Network& net : nets()) {
    ASSERT_EQ(counted[net.name].size(), precisions(net).size()) << net.name;
    for (const auto& [matmuls, convolutions] : counted[net.name]) {
      EXPECT_EQ(matmuls, net.matmuls) << net.name;
      EXPECT_EQ(convolutions, net.convolutions) << net.name;
    }
  }
}

/// A path as in safetensors.
std::string dotted(std::string path) {
  std::ranges::replace(path, '/', '.');
  return path;
}

// mixed16 keeps only normalization in float32. NPZ has no bfloat16, so it stores float32.
TEST(SixteenBits, AreTheParametersInMemoryAndInFiles) {
  const tests::Folder folder;
  for (const Network& net : nets()) {
    for (const Precision precision : precisions(net)) {
      if (is_resnet(net) && precision != mixed16) continue;  // check its 22 MB only once
      const auto scope = using_config(config.dtype, precision);
      const Made made = net.make();
      const auto loss = [&] { return made.loss(2); };
      const optimizers::MomentumSGD optimizer;
      optimizer.setup(made.model);
      optimizer.update(loss);
      serializers::save_npz(folder / "model.npz", *made.link, false);
      serializers::save_safetensors(folder / "model.safetensors", *made.link);
      const io::NpzReader npz(folder / "model.npz");
      const io::SafetensorsReader safetensors(folder / "model.safetensors");
      int narrow = 0, wide = 0;
      const auto check = [&](const std::string& path, Dtype got, bool of_normalization) {
        const Dtype wanted = of_normalization ? precision.wide() : static_cast<Dtype>(precision);
        EXPECT_EQ(got, wanted) << net.name << path << " of " << precision_name(precision);
        const std::string key = path.substr(1);
        EXPECT_EQ(npz.read_array(key).dtype, wanted == Dtype::bfloat16 ? Dtype::float32 : wanted) << path;
        EXPECT_EQ(safetensors.read(dotted(key)).dtype, wanted) << path;
        ++(is_16bit_float(wanted) ? narrow : wide);
      };
      const auto ends = [](const std::string& path, std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* name) { return path.ends_with(name); });
      };
      for (const auto& [path, parameter] : made.link->namedparams())
        check(path, parameter.dtype(), ends(path, {"/gamma", "/beta"}));
      for (const auto& [path, array] : made.link->namedpersistents())
        if (is_floating(array.dtype())) check(path, array.dtype(), ends(path, {"/avg_mean", "/avg_var"}));
      EXPECT_GT(narrow, 0);
      EXPECT_EQ(wide > 0, precision.is_mixed() && (net.name == std::string("cnn") || is_resnet(net))) << net.name;
    }
  }
}

/// Bytes that a forward pass allocates and holds while its result exists.
double held(Precision precision, const Network& net) {
  const auto scope = using_config(config.dtype, precision);
  const Made made = net.make();
  made.loss(net.batch).array().eval();  // allocates parameters that waited for shapes
  made.reset();
  std::vector<MemoryEvent> events;
  watch_memory(&events);
  const Variable y = made.loss(net.batch);
  y.array().eval();
  current_device().synchronize();
  watch_memory(nullptr);
  std::map<void*, std::size_t> in_use;
  for (const MemoryEvent& event : events) {
    if (event.kind == MemoryEvent::taken) in_use[event.block] = event.block_bytes;
    if (event.kind == MemoryEvent::freed) in_use.erase(event.block);
  }
  double bytes = 0;
  for (const auto& [block, size] : in_use) bytes += static_cast<double>(size);
  return bytes;
}

// Indices of maxima and masks are as large as in float32, and statistics are float32.
TEST(SixteenBits, AreWhatThePoolHoldsOfAForwardPass) {
  for (const Network& net : nets()) {
    const double wide = held(Dtype::float32, net);
    EXPECT_GT(wide, 0) << net.name;
    for (const Precision precision : precisions(net))
      EXPECT_LE(held(precision, net), 0.55 * wide) << net.name << " of " << precision_name(precision) << ": " << wide;
  }
}

}  // namespace
}  // namespace catenary
