#pragma once
// The iterators.

#include <functional>
#include <vector>

#include "catenary/iterators/iterator.h"

namespace catenary::iterators {

/// An order of examples for a new epoch, given the last one. (chainer.iterators.OrderSampler)
using OrderSampler =
    std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& current, std::int64_t position)>;

/// Options of SerialIterator.
struct IteratorOptions {
  bool repeat = true;               ///< epoch after epoch; else it ends after one
  bool shuffle = true;              ///< a new random order each epoch
  OrderSampler order_sampler = {};  ///< orders instead of shuffling
};

/// One example after the other. A batch at the end of a repeated epoch is filled up from the next.
/// (chainer.iterators.SerialIterator)
class CT_API SerialIterator : public Iterator {
 public:
  SerialIterator(const Dataset& dataset, std::int64_t batch_size, const IteratorOptions& options = {});
};

/// Options of MultithreadIterator.
struct MultithreadOptions {
  bool repeat = true;
  bool shuffle = true;
  int n_threads = 1;  ///< that read examples
  OrderSampler order_sampler = {};
};

/// As SerialIterator, but the examples of a batch are read by several threads at once: for datasets whose examples take
/// time to make. Throws ValueError for n_threads < 1. (chainer.iterators.MultithreadIterator)
class CT_API MultithreadIterator : public Iterator {
 public:
  MultithreadIterator(const Dataset& dataset, std::int64_t batch_size, const MultithreadOptions& options = {});
};

}  // namespace catenary::iterators
