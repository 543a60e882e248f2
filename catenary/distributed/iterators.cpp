#include "catenary/distributed/iterators.h"

#include <utility>

#include "catenary/array/random.h"
#include "catenary/core/format.h"

namespace catenary::distributed {

namespace {

/// The batch of the master's iterator and the iterator's state at that time.
struct Step {
  bool ended = false;
  std::vector<Example> examples = {};
  std::vector<Array> columns = {};
  std::vector<std::string> names = {};
  bool has_columns = false, is_new_epoch = false, repeat = true;
  std::int64_t size = 0, epoch = 0, batch_size = 0, examples_an_epoch = 0;
  double epoch_detail = 0;
  std::optional<double> previous_epoch_detail = {};
};
void pack(Packer& to, const Step& s) {
  to(s.ended)(s.examples)(s.columns)(s.names)(s.has_columns)(s.is_new_epoch)(s.repeat)(s.size)(s.epoch)(s.batch_size);
  to(s.examples_an_epoch)(s.epoch_detail)(s.previous_epoch_detail);
}
void unpack(Unpacker& from, Step& s) {
  from(s.ended)(s.examples)(s.columns)(s.names)(s.has_columns)(s.is_new_epoch)(s.repeat)(s.size)(s.epoch)(s.batch_size);
  from(s.examples_an_epoch)(s.epoch_detail)(s.previous_epoch_detail);
}

class FromMaster final : public iterators::IteratorBase {
 public:
  FromMaster(Iterator iterator, Communicator communicator, int master)
      : iterator_(std::move(iterator)), comm_(std::move(communicator)), master_(master) {
    if (is_master() && !iterator_.defined())
      fail<ValueError>("create_multi_node_iterator: rank {}, the master, has no iterator", master);
    share({});
  }

  std::optional<Minibatch> next() override {
    std::optional<Minibatch> batch;
    if (is_master()) batch = iterator_.next();
    share(batch);
    if (now_.ended) return {};
    if (is_master()) return batch;
    Minibatch result;
    result.examples = std::move(now_.examples);
    result.columns = {std::move(now_.columns), std::move(now_.names)};
    result.has_columns = now_.has_columns;
    result.size = now_.size;
    return result;
  }
  std::int64_t epoch() const override { return now_.epoch; }
  bool is_new_epoch() const override { return now_.is_new_epoch; }
  double epoch_detail() const override { return now_.epoch_detail; }
  std::optional<double> previous_epoch_detail() const override { return now_.previous_epoch_detail; }
  bool repeat() const override { return now_.repeat; }
  std::int64_t batch_size() const override { return now_.batch_size; }
  const Dataset& dataset() const override {
    if (!iterator_.defined()) fail<ValueError>("the dataset of this multi-node iterator is rank {}'s", master_);
    return iterator_.dataset();
  }
  std::int64_t examples() const override { return now_.examples_an_epoch; }
  void reset() override {
    if (is_master()) iterator_.reset();
    share({});
  }
  void finalize() override {
    if (iterator_.defined()) iterator_.finalize();
  }
  void serialize(Serializer& serializer) override {
    if (is_master()) iterator_.serialize(serializer);
    // each rank saves the master's position
    serializer("_master_epoch", now_.epoch);
    serializer("_master_is_new_epoch", now_.is_new_epoch);
    serializer("_master_epoch_detail", now_.epoch_detail);
    serializer("_master_previous_epoch_detail", now_.previous_epoch_detail);
  }

 private:
  bool is_master() const { return comm_.rank() == master_; }
  void share(const std::optional<Minibatch>& batch) {
    if (is_master()) {
      now_ = {.ended = !batch,
              .is_new_epoch = iterator_.is_new_epoch(),
              .repeat = iterator_.repeat(),
              .epoch = iterator_.epoch(),
              .batch_size = iterator_.batch_size(),
              .examples_an_epoch = iterator_.examples(),
              .epoch_detail = iterator_.epoch_detail(),
              .previous_epoch_detail = iterator_.previous_epoch_detail()};
      if (batch) {
        now_.examples = batch->examples;
        now_.columns = batch->columns.values;
        now_.names = batch->columns.names;
        now_.has_columns = batch->has_columns;
        now_.size = batch->size;
      }
    }
    now_ = comm_.bcast_obj(now_, master_);
  }

  Iterator iterator_;
  Communicator comm_;
  int master_;
  Step now_;
};

/// Draws its orders from a generator that is identical on all ranks.
class Synchronized final : public iterators::IteratorBase {
 public:
  Synchronized(Iterator iterator, const Communicator& communicator) : iterator_(std::move(iterator)) {
    const random::Generator own{random::bits({2}).to_vector<std::uint64_t>()[0], 0};
    shared_ = {communicator.bcast_obj(own.seed), 0};
    reset();
  }
  std::optional<Minibatch> next() override {
    const Scope scope(shared_);
    return iterator_.next();
  }
  bool looks_ahead() const override { return iterator_.looks_ahead(); }
  std::optional<iterators::Upcoming> upcoming() const override {
    std::optional<iterators::Upcoming> result = iterator_.upcoming();
    if (!result) return result;
    result->make = [make = std::move(result->make), shared = shared_] {
      random::Generator own = shared;
      const random::Generator before = random::get_state();
      Minibatch batch = [&] {
        const Scope scope(own);
        return make();
      }();
      // advance the thread's generator as well, so that a prefetching caller notices that the dataset drew numbers
      random::set_state({before.seed, before.call + own.call - shared.call});
      return batch;
    };
    return result;
  }
  void advance() override {
    const Scope scope(shared_);
    iterator_.advance();
  }
  std::int64_t epoch() const override { return iterator_.epoch(); }
  bool is_new_epoch() const override { return iterator_.is_new_epoch(); }
  double epoch_detail() const override { return iterator_.epoch_detail(); }
  std::optional<double> previous_epoch_detail() const override { return iterator_.previous_epoch_detail(); }
  bool repeat() const override { return iterator_.repeat(); }
  std::int64_t batch_size() const override { return iterator_.batch_size(); }
  const Dataset& dataset() const override { return iterator_.dataset(); }
  std::int64_t examples() const override { return iterator_.examples(); }
  void reset() override {
    const Scope scope(shared_);
    iterator_.reset();
  }
  void finalize() override { iterator_.finalize(); }
  void serialize(Serializer& serializer) override {
    iterator_.serialize(serializer);
    const auto state = std::make_shared<std::pair<std::int64_t, std::int64_t>>(static_cast<std::int64_t>(shared_.seed),
                                                                               static_cast<std::int64_t>(shared_.call));
    serializer("_shared_seed", state->first);
    serializer("_shared_call", state->second);
    if (serializer.loading())
      serializer.after_loading([this, state] {
        shared_ = {static_cast<std::uint64_t>(state->first), static_cast<std::uint64_t>(state->second)};
      });
  }

 private:
  /// Makes the thread draw from another generator until the end of the scope.
  class Scope {
   public:
    explicit Scope(random::Generator& shared) : shared_(shared), before_(random::get_state()) {
      random::set_state(shared);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      shared_ = random::get_state();
      random::set_state(before_);
    }

   private:
    random::Generator& shared_;
    random::Generator before_;
  };

  Iterator iterator_;
  random::Generator shared_;
};

}  // namespace

Iterator create_multi_node_iterator(const Iterator& iterator, const Communicator& communicator, int rank_master) {
  if (rank_master < 0 || rank_master >= communicator.size())
    fail<ValueError>("create_multi_node_iterator: rank_master {} does not exist; the communicator has {} ranks",
                     rank_master, communicator.size());
  return Iterator(std::make_shared<FromMaster>(iterator, communicator, rank_master));
}

Iterator create_synchronized_iterator(const Iterator& iterator, const Communicator& communicator) {
  return Iterator(std::make_shared<Synchronized>(iterator, communicator));
}

}  // namespace catenary::distributed
