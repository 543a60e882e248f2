#pragma once
// Private to iterators/: which examples come next. Both iterators walk by this, so that they agree.

#include "catenary/iterators/iterators.h"

namespace catenary::iterators {

/// Position in the endless sequence of epochs.
class Walk {
 public:
  Walk(std::int64_t size, std::int64_t batch_size, bool repeat, OrderSampler sampler);

  /// Indices of the next batch; empty at the end.
  std::vector<std::int64_t> next();
  void reset();

  std::int64_t epoch = 0;
  std::int64_t position = 0;
  bool is_new_epoch = false;
  double previous_epoch_detail = -1;
  std::vector<std::int64_t> order;  // empty: as they lie

  double epoch_detail() const {
    return static_cast<double>(epoch) + static_cast<double>(position) / static_cast<double>(size);
  }
  void serialize(Serializer& serializer);

  const std::int64_t size, batch_size;
  const bool repeat;

 private:
  OrderSampler sampler_;
};

/// The random order of shuffle = true, or nothing.
OrderSampler sampler_of(bool shuffle, const OrderSampler& given);
/// Reads the examples of a batch, as columns where the dataset can, else on several threads.
Minibatch read(const Dataset& dataset, const std::vector<std::int64_t>& indices, int n_threads);

}  // namespace catenary::iterators
