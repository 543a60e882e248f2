#pragma once
// Private to iterators/: which examples come next. Both iterators walk by this, so that they agree.

#include <algorithm>

#include "catenary/iterators/iterators.h"

namespace catenary::iterators {

/// Position in the endless sequence of epochs.
class Walk {
 public:
  /// A sampler for the epoch of a number.
  using Sampler = std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& current,
                                                          std::int64_t position, std::int64_t epoch)>;
  Walk(std::int64_t size, std::int64_t batch_size, bool repeat, Sampler sampler);

  /// Indices of the next batch; empty at the end.
  std::vector<std::int64_t> next();
  /// Indices of at most n examples after those that next() gave, as far as they are settled: a new order is drawn by
  /// next() only, so that drawing does not depend on how far somebody looks ahead.
  std::vector<std::int64_t> upcoming(std::int64_t n) const;
  /// What next() would give, where that is settled; else nothing, as at the end.
  std::vector<std::int64_t> settled() const;
  /// How many examples next() gave in all.
  std::int64_t place() const { return epoch * size + position; }
  void reset();

  std::int64_t epoch = 0;
  std::int64_t position = 0;
  bool is_new_epoch = false;
  double previous_epoch_detail = -1;
  std::vector<std::int64_t> order;  // empty: as they lie

  double epoch_detail() const {
    return static_cast<double>(epoch) +
           static_cast<double>(position) / static_cast<double>(std::max<std::int64_t>(size, 1));
  }
  void serialize(Serializer& serializer);

  const std::int64_t size, batch_size;
  const bool repeat;

 private:
  /// Asks the sampler for a new order.
  void draw(const std::vector<std::int64_t>& current, std::int64_t at);
  /// Throws FileError for what is no place in this dataset, or no order of it.
  void check(const Serializer& serializer) const;
  static std::string key_of_order(const Serializer& serializer);

  Sampler sampler_;
};

/// The given one, or the random order of shuffle = true, or nothing. Throws ValueError for a seed that nothing uses.
Walk::Sampler sampler_of(bool shuffle, const OrderSampler& given, std::optional<std::uint64_t> seed);

}  // namespace catenary::iterators
