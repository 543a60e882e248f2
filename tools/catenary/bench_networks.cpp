#include "tools/catenary/bench_networks.h"

namespace catenary::command {

namespace F = functions;
namespace L = links;

namespace {

using Loss = std::function<Variable()>;

/// A training step that minimises `loss` over all parameters of `model`.
std::function<void()> training(const Model& model, const Optimizer& optimizer, const Loss& loss) {
  optimizer.setup(model);
  return [=] {
    model.link().cleargrads();
    loss().backward(false, false, optimizer.loss_scale());
    optimizer.update();
    evaluate();
  };
}

template <class Network>
NetworkBench classifier(const Network& network, const Optimizer& optimizer, const Array& x, double forward) {
  network.to_device(current_device());
  const std::int64_t images = x.shape(0);
  const Array labels = (arange(images, Dtype::int32) % 10).eval();
  const Loss loss = [=] { return F::softmax_cross_entropy(network(x), labels); };
  const auto inference = [=] {
    const auto no_training = test_mode();
    const auto no_graph = no_backprop_mode();
    network(x).array().eval();
  };
  return {training(network, optimizer, loss), inference, 3 * forward * static_cast<double>(images)};
}

Variable relu(const Variable& x) { return F::relu(x); }

/// New parameters get config.dtype.
auto parameters_of(Precision precision) {
  if (!is_floating(precision)) throw DtypeError("bench: --dtype must be floating for networks");
  return using_config(config.dtype, precision);
}

/// ResNet-50 without the final softmax.
struct ResNet50 : Chain {
  L::ResNet50Layers layers{L::ResNetOptions{.torchvision = true}};
  CT_LINKS(layers)
  Variable operator()(const Variable& x) const { return layers(x, {"fc6"}).at("fc6"); }
};

}  // namespace

Array values(const Shape& shape, Dtype dtype) {
  random::Generator generator{0, 0};
  const random::RandomOptions options{.device = Device(), .generator = &generator};
  const Array numbers = is_floating(dtype) ? random::random(shape, options) : random::bits(shape, options);
  return numbers.astype(dtype).to_device(current_device()).eval();
}

NetworkBench bench_cnn(std::int64_t images, Precision precision) {
  const auto scope = parameters_of(precision);
  const auto pool = [](const Variable& h) { return F::max_pooling_2d(h, 2); };
  const Sequential network(L::Convolution2D(1, 32, 3), relu, L::Convolution2D(32, 64, 3), relu, pool,
                           L::Linear(9216, 128), relu, L::Linear(128, 10));
  const double forward = 2.0 * (26 * 26 * 32 * 9 + 24 * 24 * 64 * 288 + 9216 * 128 + 128 * 10);
  return classifier(network, optimizers::Adam(), values({images, 1, 28, 28}, precision), forward);
}

NetworkBench bench_resnet18(std::int64_t images, Precision precision) {
  const auto scope = parameters_of(precision);
  Sequential network(L::Convolution2D(3, 64, 3, {.pad = 1, .nobias = true}), L::BatchNormalization(64), relu);
  double products = 64.0 * 1024 * 27;
  for (const std::int64_t out : {64, 128, 256, 512}) {
    const std::int64_t stride = out == 64 ? 1 : 2, in = out / stride, extent = 2048 / out;
    network.append(L::BasicBlock(in, out, stride));
    network.append(L::BasicBlock(out, out));
    const std::int64_t shortcut = stride == 1 ? 0 : in;
    products += static_cast<double>(out * extent * extent * (9 * (in + 3 * out) + shortcut));
  }
  network.append([](const Variable& h) { return F::mean(h, {2, 3}); });
  network.append(L::Linear(512, 10));
  const Array x = values({images, 32, 32, 3}, precision).transpose({0, 3, 1, 2});
  return classifier(network, optimizers::MomentumSGD(0.01, 0.9), x, 2 * (products + 512 * 10));
}

NetworkBench bench_resnet50(std::int64_t images, Precision precision, std::int64_t extent) {
  const auto scope = parameters_of(precision);
  const ResNet50 network;
  const Array x = values({images, extent, extent, 3}, precision).transpose({0, 3, 1, 2});
  const double sides = static_cast<double>(extent) / 224;
  return classifier(network, optimizers::MomentumSGD(0.01, 0.9), x, 2 * 4.089e9 * sides * sides);
}

NetworkBench bench_mlp(std::int64_t images, Precision precision) {
  const auto scope = parameters_of(precision);
  const Sequential network(L::Linear(784, 1000), relu, L::Linear(1000, 1000), relu, L::Linear(1000, 10));
  return classifier(network, optimizers::Adam(), values({images, 784}, precision), 2.0 * 1000 * (784 + 1000 + 10));
}

NetworkBench bench_deep_mlp(std::int64_t images, Precision precision, std::int64_t units) {
  constexpr int kHidden = 5;
  const auto scope = parameters_of(precision);
  Sequential network;
  for (int i = 0; i < kHidden; ++i) {
    network.append(L::Linear(i == 0 ? 784 : units, units));
    network.append(relu);
  }
  network.append(L::Linear(units, 10));
  const double n = static_cast<double>(units), products = n * (784 + (kHidden - 1) * n + 10);
  return classifier(network, optimizers::SGD(), values({images, 784}, precision), 2 * products);
}

NetworkBench bench_lstm(std::int64_t units, Precision precision) {
  constexpr std::int64_t kWords = 10'000, kTexts = 20, kTimes = 35;
  struct Model : Chain {
    explicit Model(std::int64_t n) : embed(kWords, n), lstm(2, n, n, 0), out(n, kWords) {}
    L::EmbedID embed;
    L::NStepLSTM lstm;
    L::Linear out;
    CT_LINKS(embed, lstm, out)
    Variable operator()(const Array& ids) const {
      const Variables xs = F::separate(embed(ids));  // one per time step
      const Array zero = zeros({2, kTexts, lstm.out_size}, embed.W.dtype());
      const auto result = F::n_step_lstm(2, 0, zero, zero, lstm.weights(), lstm.biases(), {xs.begin(), xs.end()});
      return out(F::concat(result.ys, 0));
    }
  };
  const auto scope = parameters_of(precision);
  const Model model(units);
  model.to_device(current_device());
  const Array bits = values({2, kTimes, kTexts}, Dtype::uint32), ids = (bits % kWords).astype(Dtype::int32).eval();
  const Array words = ids[0], next = ids[1].reshape({-1});
  const auto inference = [=] {
    const auto no_training = test_mode();
    const auto no_graph = no_backprop_mode();
    model(words).array().eval();
  };
  const Loss loss = [=] { return F::softmax_cross_entropy(model(words), next); };
  const double n = static_cast<double>(units);
  // forward and twice that for backward: 2 · 8 products of n × n, and one with the vocabulary
  return {training(model, optimizers::SGD(0.1), loss), inference, 3 * 2.0 * kTimes * kTexts * n * (16 * n + kWords)};
}

}  // namespace catenary::command
