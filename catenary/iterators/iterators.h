#pragma once
// Iterators over datasets.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "catenary/iterators/iterator.h"

namespace catenary::iterators {

/// Returns the order of examples for a new epoch, given the previous order. (chainer.iterators.OrderSampler)
using OrderSampler =
    std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& current, std::int64_t position)>;

/// Options of SerialIterator.
struct IteratorOptions {
  bool repeat = true;               ///< continues epoch after epoch (if false, ends after one)
  bool shuffle = true;              ///< draws a new random order for each epoch
  OrderSampler order_sampler = {};  ///< draws orders instead of shuffling
  /// Seed of the orders. Each epoch's order then depends only on the seed and the epoch's number. Default: use the
  /// thread's random numbers.
  std::optional<std::uint64_t> seed = {};
};

/// Returns examples in order. At the end of a repeated epoch, fills up the batch from the next epoch.
/// (chainer.iterators.SerialIterator)
class CT_API SerialIterator : public Iterator {
 public:
  SerialIterator(const Dataset& dataset, std::int64_t batch_size, const IteratorOptions& options = {});
};

/// Options of MultithreadIterator.
struct MultithreadOptions {
  bool repeat = true;
  bool shuffle = true;
  int n_threads = 1;  ///< threads that read examples
  OrderSampler order_sampler = {};
  int n_prefetch = 1;                      ///< number of batches to read ahead
  std::optional<std::uint64_t> seed = {};  ///< see SerialIterator
};

/// A SerialIterator whose threads read examples while the previous batches are trained on, for examples that take time
/// to make, such as images.
///
/// - Reading ahead stops at the end of an epoch, because the next order is drawn only when a batch needs it. A snapshot
///   therefore holds exactly the consumed position.
/// - The dataset must support concurrent reads. Random numbers that it draws depend on the seed of the thread that
///   calls next() and on the example's position, not on the reading thread.
/// - next() throws the exceptions of the dataset for its batch.
///
/// Throws ValueError for n_threads < 1 or n_prefetch < 0. (chainer.iterators.MultithreadIterator;
/// MultiprocessIterator's n_prefetch)
class CT_API MultithreadIterator : public Iterator {
 public:
  MultithreadIterator(const Dataset& dataset, std::int64_t batch_size, const MultithreadOptions& options = {});
};

}  // namespace catenary::iterators
