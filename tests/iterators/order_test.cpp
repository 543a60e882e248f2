// Tests the order of examples in successive epochs and after loading a snapshot.

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/datasets/datasets.h"
#include "catenary/io/npz.h"
#include "catenary/iterators/iterators.h"
#include "tests/folder.h"

namespace ct = catenary;

namespace {

using Order = std::vector<std::int64_t>;

ct::Dataset numbers(std::int64_t n) {
  return ct::datasets::TupleDataset(ct::arange(n, ct::Dtype::float32).to_device(ct::Device()));
}
std::vector<int> values_of(const ct::Minibatch& batch) {
  return ct::concat_examples(batch)[0].array().to_vector<int>();
}

// A custom sampler is called for each epoch, with the last order and the position at which the epoch ended.
TEST(OrderSampler, IsAskedForEachEpoch) {
  std::vector<std::pair<Order, std::int64_t>> asked;
  const ct::iterators::OrderSampler rotate = [&](const Order& current, std::int64_t position) {
    asked.emplace_back(current, position);
    Order next(current.begin() + 1, current.end());
    next.push_back(current.front());
    return next;
  };
  const ct::iterators::SerialIterator batches(numbers(3), 2, {.order_sampler = rotate});
  std::vector<int> seen;
  for (int i = 0; i < 12; ++i)
    for (const int value : values_of(*batches.next())) seen.push_back(value);
  std::vector<int> expected;
  for (int epoch = 1; epoch <= 8; ++epoch)
    for (int i = 0; i < 3; ++i) expected.push_back((epoch + i) % 3);
  EXPECT_EQ(seen, expected);
  ASSERT_EQ(asked.size(), 9u);
  for (int epoch = 0; epoch < 9; ++epoch) {
    Order current;
    for (int i = 0; i < 3; ++i) current.push_back((epoch + i) % 3);
    EXPECT_EQ(asked[static_cast<std::size_t>(epoch)], std::pair(current, std::int64_t{epoch == 0 ? 0 : 3})) << epoch;
  }
}

TEST(OrderSampler, IsAnsweredWithAsManyIndicesEachTime) {
  for (const bool at_once : {true, false}) {
    int epochs = 0;
    const ct::iterators::OrderSampler shorter = [&](const Order& current, std::int64_t) {
      return epochs++ == 0 && !at_once ? current : Order{0};
    };
    const auto go = [&] {
      const ct::iterators::SerialIterator batches(numbers(3), 2, {.order_sampler = shorter});
      for (int i = 0; i < 4; ++i) batches.next();
    };
    EXPECT_THROW(go(), ct::ValueError) << at_once;
  }
}

// A minibatch is announced only if it is the next one. An order that is not drawn yet is not known.
TEST(Upcoming, IsTheNextMinibatch) {
  for (const bool shuffle : {true, false}) {
    for (const bool repeat : {true, false}) {
      for (const int batch_size : {4, 5, 23}) {
        const ct::iterators::SerialIterator batches(numbers(10), batch_size, {.repeat = repeat, .shuffle = shuffle});
        int announced = 0, given = 0;
        for (int i = 0; i < 10; ++i) {
          const auto upcoming = batches.upcoming();
          std::vector<int> expected;
          if (upcoming) expected = values_of(upcoming->make());
          const auto batch = batches.next();
          ASSERT_TRUE(batch || !upcoming);
          if (!batch) break;
          ++given;
          if (!upcoming) continue;
          ++announced;
          EXPECT_EQ(values_of(*batch), expected) << shuffle << repeat << batch_size << " " << i;
        }
        // of five minibatches of 4, the third crosses the end of the epoch
        const int crossing = !shuffle || !repeat || batch_size == 5 ? 0 : batch_size == 4 ? 2 : 10;
        EXPECT_EQ(announced, given - crossing) << shuffle << repeat << batch_size;
      }
    }
  }
}

struct Saved {
  Order order = {2, 0, 1, 3};
  std::int64_t position = 2, epoch = 1;
  double previous = 1.25;
  void serialize(ct::Serializer& s) const {
    bool new_epoch = false;
    std::int64_t at = position, number = epoch;
    double before = previous;
    s("current_position", at);
    s("epoch", number);
    s("is_new_epoch", new_epoch);
    s("previous_epoch_detail", before);
    ct::Array array =
        ct::Array::from_host(order.data(), {static_cast<std::int64_t>(order.size())}, ct::Dtype::int64, ct::Device());
    s("order", array);
  }
};

TEST(IteratorSnapshot, GoesOnInItsOrder) {
  const tests::Folder folder;
  const std::string file = folder / "iterator.npz";
  ct::serializers::save_npz(file, Saved());
  const ct::iterators::SerialIterator batches(numbers(4), 1);
  ct::serializers::load_npz(file, batches);
  EXPECT_EQ(batches.epoch_detail(), 1.5);
  EXPECT_EQ(batches.previous_epoch_detail(), 1.25);
  EXPECT_EQ(values_of(*batches.next()), std::vector<int>{1});
  EXPECT_EQ(batches.previous_epoch_detail(), 1.5);
  EXPECT_EQ(values_of(*batches.next()), std::vector<int>{3});
  // saving and loading restores the state
  ct::serializers::save_npz(file, batches);
  const ct::iterators::SerialIterator again(numbers(4), 1);
  EXPECT_EQ(again.previous_epoch_detail(), std::nullopt);
  ct::serializers::load_npz(file, again);
  EXPECT_EQ(again.previous_epoch_detail(), 1.75);
  again.reset();
  EXPECT_EQ(again.previous_epoch_detail(), std::nullopt);
  EXPECT_EQ(again.epoch_detail(), 0);
}

TEST(IteratorSnapshot, OfNoOrderIsRefusedAndChangesNothing) {
  const tests::Folder folder;
  const std::string file = folder / "iterator.npz";
  const auto refused = [&](const Saved& saved, bool shuffle = true) {
    ct::serializers::save_npz(file, saved);
    const ct::iterators::SerialIterator batches(numbers(4), 3, {.shuffle = shuffle});
    batches.next();
    EXPECT_THROW(ct::serializers::load_npz(file, batches), ct::FileError);
    EXPECT_EQ(batches.epoch_detail(), 0.75);
    EXPECT_EQ(batches.next()->size, 3);
  };
  refused({.order = {2, 0, 2, 3}});  // an index twice
  refused({.order = {2, 0, 1, 4}});  // an index out of range
  refused({.order = {2, 0, -1, 3}});
  refused({.order = {2, 0, 1}});        // for a smaller dataset
  refused({.order = {2, 0, 1, 3, 4}});  // for a larger dataset
  for (const bool shuffle : {true, false}) {
    refused({.position = 4}, shuffle);
    refused({.position = -1}, shuffle);
  }
}

}  // namespace
