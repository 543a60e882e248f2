#pragma once
// The iterators.

#include <cstdint>
#include <functional>
#include <optional>
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
  /// Of the orders: each epoch's depends on the seed and its number only, not on other random numbers of the thread.
  /// None: the thread's random numbers.
  std::optional<std::uint64_t> seed = {};
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
  int n_prefetch = 1;                      ///< batches that are read ahead
  std::optional<std::uint64_t> seed = {};  ///< as SerialIterator's
};

/// As SerialIterator, in the same order, but examples are read by threads while the last batches are trained on: for
/// datasets whose examples take time to make, such as images. Reading ahead stops at the end of an epoch, as the next
/// order is drawn only when a batch needs it; so a snapshot holds what has been consumed, and goes on exactly. The
/// dataset has to stand being read by several threads at once. Random numbers that it draws depend on the seed of the
/// thread that calls next() and on the example's place, not on threads. An exception of the dataset is thrown by the
/// next() whose batch it spoils. Throws ValueError for n_threads < 1 or n_prefetch < 0.
/// (chainer.iterators.MultithreadIterator; MultiprocessIterator's n_prefetch)
class CT_API MultithreadIterator : public Iterator {
 public:
  MultithreadIterator(const Dataset& dataset, std::int64_t batch_size, const MultithreadOptions& options = {});
};

}  // namespace catenary::iterators
