#pragma once
// Networks whose speed is measured, each defined once: `catenary bench` and benchmarks/targets.cpp run them.

#include <functional>

#include "catenary/catenary.h"

namespace catenary::command {

/// A network on the current device with a batch of random numbers. Both calls end with all that they compute evaluated.
struct NetworkBench {
  std::function<void()> step;       ///< of training: forward, loss, backward and the optimizer's update
  std::function<void()> inference;  ///< the outputs alone: no graph, not in training
  double amount;                    ///< floating point operations of a step, by direct sums
};

/// Their `precision` is that of the parameters, as config.dtype takes it; images have its dtype.
///
/// train_mnist's network of two convolutions, with Adam and without its dropout, as the peers run it.
NetworkBench bench_cnn(std::int64_t images, Precision precision);
/// train_cifar's ResNet-18 for 3 × 32 × 32, channels last, with SGD and momentum.
NetworkBench bench_resnet18(std::int64_t images, Precision precision);
/// torchvision's ResNet-50 for 3 × `extent` × `extent`, channels last, with SGD and momentum.
NetworkBench bench_resnet50(std::int64_t images, Precision precision, std::int64_t extent = 224);
/// train_mnist's 784-1000-1000-10, with Adam.
NetworkBench bench_mlp(std::int64_t images, Precision precision);
/// train_mnist_deep's six layers, 784-`units`×5-10, with SGD.
NetworkBench bench_deep_mlp(std::int64_t images, Precision precision, std::int64_t units = 4096);
/// A language model of two LSTM layers of `units`, with SGD: 20 texts side by side, 35 words of 10,000.
NetworkBench bench_lstm(std::int64_t units, Precision precision);

/// Random numbers, the same on every device: uniform in [0, 1) where they are floating-point, else of all sizes.
Array values(const Shape& shape, Dtype dtype);

}  // namespace catenary::command
