#include "catenary/iterators/order.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>

#include "catenary/array/random.h"
#include "catenary/core/format.h"
#include "catenary/iterators/read_ahead.h"

namespace catenary {

iterators::IteratorBase::~IteratorBase() = default;

iterators::IteratorBase& Iterator::implementation() const {
  if (!implementation_) throw ValueError("an undefined Iterator was used");
  return *implementation_;
}

namespace iterators {

Walk::Sampler sampler_of(bool shuffle, const OrderSampler& given, std::optional<std::uint64_t> seed) {
  if (seed && (given || !shuffle))
    fail<ValueError>("iterator: a seed of {} changes nothing {}", *seed,
                     given ? "where order_sampler gives the orders" : "without shuffle");
  if (given)
    return [given](const std::vector<std::int64_t>& current, std::int64_t position, std::int64_t) {
      return given(current, position);
    };
  if (!shuffle) return {};
  return [seed](const std::vector<std::int64_t>& current, std::int64_t, std::int64_t epoch) {
    // with a seed, the order is a function of the epoch's number, so there is no state to save
    random::Generator own{seed.value_or(0), static_cast<std::uint64_t>(epoch)};
    const auto size = static_cast<std::int64_t>(current.size());
    const std::vector<std::int64_t> at =
        random::permutation(size, {.device = Device(), .generator = seed ? &own : nullptr}).to_vector<std::int64_t>();
    if (seed) return at;
    std::vector<std::int64_t> order(current.size());
    for (std::size_t i = 0; i < at.size(); ++i) order[i] = current[static_cast<std::size_t>(at[i])];
    return order;
  };
}

Walk::Walk(std::int64_t n, std::int64_t batch, bool again, Sampler sampler)
    : size(n), batch_size(batch), repeat(again), sampler_(std::move(sampler)) {
  if (batch <= 0) fail<ValueError>("iterator: batch_size must be positive, got {}", batch);
  // a rank's part of a dataset may be empty, and evaluating it gives no minibatch
  if (n < 0 || (n == 0 && repeat)) throw ValueError("iterator: the dataset has no examples");
  reset();
}

void Walk::reset() {
  epoch = position = 0;
  is_new_epoch = false;
  previous_epoch_detail = -1;
  order.clear();
  if (!sampler_) return;
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  if (size > 0) draw(all, 0);
}

void Walk::draw(const std::vector<std::int64_t>& current, std::int64_t at) {
  std::vector<std::int64_t> next = sampler_(current, at, epoch);
  if (static_cast<std::int64_t>(next.size()) != size)
    fail<ValueError>("iterator: an order of {} indices for {} examples", next.size(), size);
  order = std::move(next);
}

std::vector<std::int64_t> Walk::next() {
  if (!repeat && (epoch > 0 || size == 0)) return {};
  previous_epoch_detail = epoch_detail();
  std::vector<std::int64_t> indices;
  is_new_epoch = false;
  while (static_cast<std::int64_t>(indices.size()) < batch_size) {
    const std::int64_t n = std::min(batch_size - static_cast<std::int64_t>(indices.size()), size - position);
    for (std::int64_t i = position; i < position + n; ++i)
      indices.push_back(order.empty() ? i : order[static_cast<std::size_t>(i)]);
    position += n;
    if (position < size) break;
    ++epoch;
    is_new_epoch = true;
    position = 0;
    if (sampler_) draw(order, size);
    if (!repeat) break;
  }
  return indices;
}

std::vector<std::int64_t> Walk::upcoming(std::int64_t n) const {
  std::vector<std::int64_t> indices;
  if (!repeat && epoch > 0) return indices;
  const bool endless = repeat && !sampler_;
  for (std::int64_t i = position; i < position + n && (i < size || endless); ++i)
    indices.push_back(order.empty() ? i % size : order[static_cast<std::size_t>(i)]);
  return indices;
}

std::vector<std::int64_t> Walk::settled() const {
  std::vector<std::int64_t> indices = upcoming(batch_size);
  if (repeat && static_cast<std::int64_t>(indices.size()) < batch_size) indices.clear();
  return indices;
}

void Walk::serialize(Serializer& serializer) {
  if (serializer.loading()) check(serializer);
  serializer("current_position", position);
  serializer("epoch", epoch);
  serializer("is_new_epoch", is_new_epoch);
  if (!serializer.loading() || serializer.contains("previous_epoch_detail"))
    serializer("previous_epoch_detail", previous_epoch_detail);
  if (order.empty()) return;
  const auto all = std::make_shared<Array>(Array::from_host(order.data(), {size}, Dtype::int64, Device()));
  serializer(serializer.loading() ? key_of_order(serializer) : "order", *all);
  if (serializer.loading()) serializer.after_loading([this, all] { order = all->to_vector<std::int64_t>(); });
}

std::string Walk::key_of_order(const Serializer& serializer) {
  return serializer.contains("order") ? "order" : "_order";  // the key of older Chainer versions
}

void Walk::check(const Serializer& serializer) const {
  if (serializer.contains("current_position")) {
    const std::vector<std::int64_t> at = serializer.read_integers("current_position");
    if (at.size() != 1 || at[0] < 0 || at[0] >= std::max<std::int64_t>(size, 1))
      serializer.reject("current_position",
                        fmt::format("the position is outside of the dataset, which has {} examples", size));
  }
  const std::string key = key_of_order(serializer);
  if (order.empty() || !serializer.contains(key)) return;
  const std::vector<std::int64_t> loaded = serializer.read_integers(key);
  std::vector<bool> seen(static_cast<std::size_t>(size), false);
  for (const std::int64_t i : loaded)
    if (i >= 0 && i < size) seen[static_cast<std::size_t>(i)] = true;
  if (loaded.size() != seen.size() || std::find(seen.begin(), seen.end(), false) != seen.end())
    serializer.reject(key, fmt::format("the order is no permutation of the dataset's {} examples", size));
}

namespace {

/// Makes minibatches of a dataset under a lock, because a prefetching thread and the iterator's user may both call it.
class Maker {
 public:
  explicit Maker(const Dataset& dataset) : dataset_(dataset) {}
  void read_ahead(int n_threads) { ahead_ = std::make_unique<ReadAhead>(dataset_, n_threads); }
  bool reads_ahead() const { return ahead_ != nullptr; }
  const Dataset& dataset() const { return dataset_; }
  /// Makes the batch of the examples `now`. `place` is the first one's position in the sequence of epochs, and `later`
  /// are the examples that follow.
  Minibatch make(const std::vector<std::int64_t>& now, const std::vector<std::int64_t>& later, std::int64_t place) {
    const std::lock_guard lock(mutex_);
    Minibatch batch;
    batch.size = static_cast<std::int64_t>(now.size());
    batch.has_columns = dataset_.get_columns(now, batch.columns);
    if (batch.has_columns) return batch;
    if (!ahead_) {
      batch.examples = dataset_.get(now);
      return batch;
    }
    const auto wishes = [&](const std::vector<std::int64_t>& of) {
      std::vector<ReadAhead::Wish> result;
      for (std::int64_t i : of) result.push_back({i, place++});
      return result;
    };
    const std::vector<ReadAhead::Wish> first = wishes(now), others = wishes(later);
    batch.examples = ahead_->read(first, others);
    return batch;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    if (ahead_) ahead_->clear();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    if (ahead_) ahead_->stop();
  }

 private:
  std::mutex mutex_;
  const Dataset dataset_;
  std::unique_ptr<ReadAhead> ahead_;  // null: no reading ahead
};

class Batches final : public IteratorBase {
 public:
  Batches(const Dataset& dataset, std::int64_t batch_size, bool repeat, Walk::Sampler sampler)
      : maker_(std::make_shared<Maker>(dataset)), walk_(dataset.size(), batch_size, repeat, std::move(sampler)) {}
  void read_ahead(int n_threads, int n_prefetch) {
    maker_->read_ahead(n_threads);
    n_prefetch_ = n_prefetch;
  }
  std::optional<Minibatch> next() override {
    const std::int64_t place = walk_.place();
    const std::vector<std::int64_t> indices = walk_.next();
    if (indices.empty()) return std::nullopt;
    return maker_->make(indices, walk_.upcoming(read_ahead()), place);
  }
  bool looks_ahead() const override { return true; }
  std::optional<Upcoming> upcoming() const override {
    std::vector<std::int64_t> now = walk_.settled();
    if (now.empty()) return std::nullopt;
    const auto n = static_cast<std::int64_t>(now.size());
    std::vector<std::int64_t> later = walk_.upcoming(n + read_ahead());
    later.erase(later.begin(), later.begin() + n);
    const std::int64_t place = walk_.place();
    Upcoming result;
    result.which = now;
    result.which.push_back(place);
    result.make = [maker = maker_, now = std::move(now), later = std::move(later), place] {
      return maker->make(now, later, place);
    };
    return result;
  }
  void advance() override { walk_.next(); }
  std::int64_t epoch() const override { return walk_.epoch; }
  bool is_new_epoch() const override { return walk_.is_new_epoch; }
  double epoch_detail() const override { return walk_.epoch_detail(); }
  std::optional<double> previous_epoch_detail() const override {
    return walk_.previous_epoch_detail < 0 ? std::nullopt : std::optional(walk_.previous_epoch_detail);
  }
  bool repeat() const override { return walk_.repeat; }
  std::int64_t batch_size() const override { return walk_.batch_size; }
  const Dataset& dataset() const override { return maker_->dataset(); }
  void reset() override {
    maker_->clear();
    walk_.reset();
  }
  void finalize() override { maker_->stop(); }
  void serialize(Serializer& serializer) override { walk_.serialize(serializer); }

 private:
  /// Returns the number of examples that background threads read ahead.
  std::int64_t read_ahead() const { return maker_->reads_ahead() ? n_prefetch_ * walk_.batch_size : 0; }

  std::shared_ptr<Maker> maker_;  // shared with the functions in Upcoming::make
  Walk walk_;
  std::int64_t n_prefetch_ = 0;
};

}  // namespace

SerialIterator::SerialIterator(const Dataset& dataset, std::int64_t batch_size, const IteratorOptions& options)
    : Iterator(std::make_shared<Batches>(dataset, batch_size, options.repeat,
                                         sampler_of(options.shuffle, options.order_sampler, options.seed))) {}

MultithreadIterator::MultithreadIterator(const Dataset& dataset, std::int64_t batch_size,
                                         const MultithreadOptions& options) {
  if (options.n_threads < 1)
    fail<ValueError>("MultithreadIterator: n_threads must be positive, got {}", options.n_threads);
  if (options.n_prefetch < 0)
    fail<ValueError>("MultithreadIterator: n_prefetch must not be negative, got {}", options.n_prefetch);
  auto batches = std::make_shared<Batches>(dataset, batch_size, options.repeat,
                                           sampler_of(options.shuffle, options.order_sampler, options.seed));
  batches->read_ahead(options.n_threads, options.n_prefetch);
  static_cast<Iterator&>(*this) = Iterator(std::move(batches));
}

}  // namespace iterators
}  // namespace catenary
