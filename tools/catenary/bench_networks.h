#pragma once
// Networks to measure, for `catenary bench` and benchmarks/targets.cpp.

#include <functional>

#include "catenary/catenary.h"

namespace catenary::command {

/// A network on the current device with a batch of random numbers. Both calls evaluate everything before they return.
struct NetworkBench {
  std::function<void()> step;       ///< a training step: forward, loss, backward and optimizer update
  std::function<void()> inference;  ///< forward only: test mode, without a graph
  double amount;                    ///< floating-point operations of a step, with direct sums
};

/// `precision` is the parameters' precision, as in config.dtype. Images have its dtype.
///
/// train_mnist's network of two convolutions, with Adam and without dropout, like the peers' networks.
NetworkBench bench_cnn(std::int64_t images, Precision precision);
/// train_cifar's ResNet-18 for 3 × 32 × 32, channels last, with SGD and momentum.
NetworkBench bench_resnet18(std::int64_t images, Precision precision);
/// torchvision's ResNet-50 for 3 × `extent` × `extent`, channels last, with SGD and momentum.
NetworkBench bench_resnet50(std::int64_t images, Precision precision, std::int64_t extent = 224);
/// train_mnist's 784-1000-1000-10, with Adam.
NetworkBench bench_mlp(std::int64_t images, Precision precision);
/// train_mnist_deep's six layers, 784-`units`×5-10, with SGD.
NetworkBench bench_deep_mlp(std::int64_t images, Precision precision, std::int64_t units = 4096);
/// A language model of two LSTM layers of `units`, with SGD: a batch of 20 texts, 35 words of 10,000.
NetworkBench bench_lstm(std::int64_t units, Precision precision);

/// Random numbers that are equal on every device: uniform in [0, 1) for floating dtypes, of all sizes for integers.
Array values(const Shape& shape, Dtype dtype);

}  // namespace catenary::command
