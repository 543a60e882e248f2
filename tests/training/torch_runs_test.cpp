// Whole trainings of convolutional networks against runs of PyTorch: the same weights to begin with, the same examples.
// What tests/data/torch holds is made by make_torch_reference.py there, less the last weights of ResNet-18.

#include <gtest/gtest.h>

#include <cmath>

#include "catenary/catenary.h"
#include "catenary/io/npz.h"
#include "tests/paths.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

/// Arrays on the current device, as float32 or int32.
class Reference {
 public:
  explicit Reference(const std::string& name) : file_(tests::source_path("tests/data/torch/" + name)) {}
  ct::Array array(const std::string& key) const {
    const ct::io::HostArray host = file_.read_array(key);
    const ct::Array a = ct::Array::from_host(host.bytes().data(), host.shape, host.dtype, ct::Device());
    return a.astype(ct::is_floating(a.dtype()) ? ct::Dtype::float32 : ct::Dtype::int32).to_device(ct::current_device());
  }
  std::vector<double> losses() const { return array("loss").to_vector<double>(); }
  void load(const std::string& name, const ct::Parameter& parameter) const {
    const ct::Array values = array("w/" + name);
    parameter.initialize(values.shape());
    ct::copyto(parameter.array(), values);
  }
  void load(const std::string& name, const L::Convolution2D& link) const {
    load(name + ".weight", link.W);
    if (link.b.defined()) load(name + ".bias", link.b);
  }
  void load(const std::string& name, const L::Linear& link) const {
    load(name + ".weight", link.W);
    load(name + ".bias", link.b);
  }
  void load(const std::string& name, const L::BatchNormalization& link) const {
    load(name + ".weight", link.gamma);
    load(name + ".bias", link.beta);
  }

 private:
  ct::io::NpzReader file_;
};

/// Simulated cards are slow.
std::size_t steps() {
  const std::string device = ct::current_device().name();
  return device.starts_with("cuda") || device.starts_with("hip") ? 3 : 20;
}

/// `sensitive`: the step from which on rounding decides about more than the last digits, so that direct sums in another
/// order (CATENARY_SIMD=v2) are as far from PyTorch's as Winograd's are, 0.013 and 0.023 at most.
template <class Model>
void expect_losses(const Reference& reference, const Model& model, const ct::Optimizer& optimizer,
                   const std::function<std::pair<ct::Array, ct::Array>(std::size_t)>& batch,
                   std::size_t sensitive = 20) {
  optimizer.setup(model);
  const std::vector<double> expected = reference.losses();
  ASSERT_EQ(expected.size(), 20u);
  for (std::size_t step = 0; step < steps(); ++step) {
    const auto [x, t] = batch(step);
    const ct::Variable loss = F::softmax_cross_entropy(model(x), t);
    model.cleargrads();
    loss.backward();
    optimizer.update();
    EXPECT_NEAR(loss.array().item<double>(), expected[step], step < sensitive ? 1e-3 * expected[step] : 0.03)
        << "step " << step;
  }
}

struct CNN : ct::Chain {
  L::Convolution2D c1{8, 3}, c2{16, 3};
  L::Linear f1{64}, f2{10};
  CT_LINKS(c1, c2, f1, f2)
  ct::Variable operator()(const ct::Variable& x) const {
    return f2(F::relu(f1(F::max_pooling_2d(F::relu(c2(F::relu(c1(x)))), 2))));
  }
};

template <class Link>
void expect_last_weights(const Reference& reference, const std::string& name, const Link& link) {
  for (const auto& [parameter, key] : {std::pair{link.W, ".weight"}, {link.b, ".bias"}})
    ct::gradient_check::assert_allclose(parameter.array(), reference.array("f/" + name + key), 1e-3, 0);
}

TEST(TorchRuns, Cnn) {
  const Reference reference("cnn.npz");
  const CNN model;
  reference.load("c1", model.c1), reference.load("c2", model.c2);
  reference.load("f1", model.f1), reference.load("f2", model.f2);
  const ct::Array x = reference.array("x"), y = reference.array("y");
  ct::optimizers::Adam adam;
  expect_losses(reference, model, adam, [&](std::size_t step) {
    const auto i = static_cast<std::int64_t>(step);
    // PyTorch adds eps after the bias of the second moment has been corrected, Chainer before
    adam.eps = 1e-8 * std::sqrt(1 - std::pow(0.999, static_cast<double>(i + 1)));
    return std::pair(x[i], y[i]);
  });
  if (steps() < 20) return;
  expect_last_weights(reference, "c1", model.c1), expect_last_weights(reference, "c2", model.c2);
  expect_last_weights(reference, "f1", model.f1), expect_last_weights(reference, "f2", model.f2);
}

L::BatchNormalization normalization(std::int64_t channels) { return L::BatchNormalization(channels, {.eps = 1e-5}); }

struct Block : ct::Chain {
  L::Convolution2D c1, c2;
  L::BatchNormalization b1, b2;
  std::optional<L::Convolution2D> down;
  std::optional<L::BatchNormalization> down_b;
  CT_LINKS(c1, c2, b1, b2, down, down_b)
  Block(std::int64_t in, std::int64_t out, std::int64_t stride)
      : c1(in, out, 3, {.stride = stride, .pad = 1, .nobias = true}),
        c2(out, out, 3, {.pad = 1, .nobias = true}),
        b1(normalization(out)),
        b2(normalization(out)) {
    if (stride == 1 && in == out) return;
    down.emplace(in, out, 1, L::ConvolutionLinkOptions{.stride = stride, .nobias = true});
    down_b = normalization(out);
  }
  ct::Variable operator()(const ct::Variable& x) const {
    const ct::Variable h = b2(c2(F::relu(b1(c1(x)))));
    return F::relu(h + (down ? (*down_b)((*down)(x)) : x));
  }
};

struct ResNet18 : ct::Chain {
  L::Convolution2D stem{3, 8, 3, {.pad = 1, .nobias = true}};
  L::BatchNormalization bn = normalization(8);
  std::vector<Block> blocks;
  L::Linear fc{10};
  ResNet18() {
    std::int64_t in = 8;
    for (const std::int64_t out : {8, 16, 32, 64}) {
      blocks.emplace_back(in, out, out == 8 ? 1 : 2);
      blocks.emplace_back(out, out, 1);
      in = out;
    }
  }
  void visit_members(ct::MemberVisitor& visitor) const override {
    ct::detail::visit_all(visitor, {"stem", "bn", "fc"}, stem, bn, fc);
    for (std::size_t i = 0; i < blocks.size(); ++i) visitor(std::to_string(i), const_cast<Block&>(blocks[i]));
  }
  ct::Variable operator()(const ct::Variable& x) const {
    ct::Variable h = F::relu(bn(stem(x)));
    for (const Block& block : blocks) h = block(h);
    return fc(F::mean(h, {2, 3}));
  }
};

TEST(TorchRuns, ResNet18) {
  const Reference reference("resnet18.npz");
  const ResNet18 model;
  reference.load("stem", model.stem), reference.load("bn", model.bn), reference.load("fc", model.fc);
  for (std::size_t i = 0; i < model.blocks.size(); ++i) {
    const Block& block = model.blocks[i];
    const std::string path = "blocks." + std::to_string(i) + ".";
    reference.load(path + "c1", block.c1), reference.load(path + "b1", block.b1);
    reference.load(path + "c2", block.c2), reference.load(path + "b2", block.b2);
    if (block.down) reference.load(path + "down.0", *block.down), reference.load(path + "down.1", *block.down_b);
  }
  const ct::Array x = reference.array("x"), y = reference.array("y");
  expect_losses(
      reference, model, ct::optimizers::MomentumSGD(0.05), [&](std::size_t) { return std::pair(x, y); }, 3);
}

}  // namespace
