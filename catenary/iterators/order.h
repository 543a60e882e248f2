#pragma once
// Private to iterators/: the order of examples, shared by both iterators.

#include <algorithm>

#include "catenary/iterators/iterators.h"

namespace catenary::iterators {

/// A position in the endless sequence of epochs.
class Walk {
 public:
  /// Returns the order for an epoch number.
  using Sampler = std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& current,
                                                          std::int64_t position, std::int64_t epoch)>;
  Walk(std::int64_t size, std::int64_t batch_size, bool repeat, Sampler sampler);

  /// Returns the indices of the next batch, none at the end.
  std::vector<std::int64_t> next();
  /// Returns the indices of at most n examples after the last batch, limited to the present order. Only next() draws a
  /// new order, so that drawing does not depend on the amount of reading ahead.
  std::vector<std::int64_t> upcoming(std::int64_t n) const;
  /// Returns the result of the coming next(), or nothing at the end or if next() must draw an order.
  std::vector<std::int64_t> settled() const;
  /// Returns the total number of examples that next() has returned.
  std::int64_t place() const { return epoch * size + position; }
  void reset();

  std::int64_t epoch = 0;
  std::int64_t position = 0;
  bool is_new_epoch = false;
  double previous_epoch_detail = -1;
  std::vector<std::int64_t> order;  // empty: the dataset's order

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
  /// Throws FileError for an invalid position or an order that does not fit the dataset.
  void check(const Serializer& serializer) const;
  static std::string key_of_order(const Serializer& serializer);

  Sampler sampler_;
};

/// Returns the given sampler, a random sampler if shuffle is true, or nothing. Throws ValueError for an unused seed.
Walk::Sampler sampler_of(bool shuffle, const OrderSampler& given, std::optional<std::uint64_t> seed);

}  // namespace catenary::iterators
