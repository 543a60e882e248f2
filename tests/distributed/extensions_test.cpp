// Extensions and iterators on several ranks. See on_ranks_test.cpp.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "tests/distributed/on_ranks.h"
#include "tests/folder.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace D = ct::distributed;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace {

using tests::error_of;
using tests::flat;
using tests::rank;
using tests::size;

/// An updater without work, on which ranks differ.
class Counter : public T::UpdaterBase {
 public:
  void update() override { ++iteration_; }
  std::int64_t iteration() const override { return iteration_; }
  std::int64_t epoch() const override { return iteration_ / 2; }
  double epoch_detail() const override { return 0.5 * static_cast<double>(iteration_); }
  std::optional<double> previous_epoch_detail() const override { return 0.5 * static_cast<double>(iteration_ - 1); }
  bool is_new_epoch() const override { return iteration_ > 0 && iteration_ % 2 == 0; }
  std::map<std::string, ct::Optimizer> optimizers() const override { return {}; }
  ct::Iterator iterator(const std::string&) const override { return {}; }
  void finalize() override {}
  void serialize(ct::Serializer&) override {}

 private:
  std::int64_t iteration_ = 0;
};

T::Trainer trainer() { return {T::Updater(std::make_shared<Counter>()), T::Trigger(8, "epoch")}; }

TEST(OnRanks, ObservationsAreAggregated) {
  for (const int interval : {1, 2}) {
    T::Trainer t = trainer();
    D::ObservationAggregator aggregator(flat(), "rank", "mean of ranks", T::Trigger(interval, "iteration"));
    for (int i = 0; i < 4; ++i) {
      t.updater()->update();
      t.observation().clear();
      t.observation()["rank"] = 1.0 * rank() + 10 * (i % 2);
      aggregator(t);
      const ct::Reported* mean = t.observation().find("mean of ranks");
      EXPECT_EQ(mean != nullptr, interval == 1 || i % 2 == 1);
      const double expected = 0.5 * (size() - 1) + (interval == 1 ? 10.0 * (i % 2) : 5.0);
      if (mean) {
        EXPECT_DOUBLE_EQ(mean->value(), expected);
      }
    }
  }
}

TEST(OnRanks, EarlyStoppingIsTogether) {
  D::MultiNodeEarlyStoppingTrigger trigger(flat(), "main/accuracy",
                                           {.check_trigger = T::Trigger(1, "epoch"), .patience = 3});
  auto t = trainer();
  const double values[] = {0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.7, 0.7, 0.6, 0.6, 0.4, 0.4, 0.3, 0.3};
  for (int i = 0; i < 14; ++i) {
    t.updater()->update();
    t.observation().clear();
    t.observation()["main/accuracy"] = values[i] * (1 - 1.0 * rank() / size());
    EXPECT_EQ(trigger(t), i == 13) << i;
  }
}

TEST(OnRanks, PersistentsAreAveraged) {
  const L::BatchNormalization link(2);
  link.avg_mean->fill(rank());
  link.N->fill(rank() + 7);
  D::AllreducePersistent average(link, flat());
  average();
  EXPECT_EQ(link.avg_mean->to_vector<float>()[1], 0.5f * static_cast<float>(size() - 1));
  EXPECT_EQ(link.N->item<int>(), rank() + 7);  // a count is not averaged
}

std::vector<double> numbers_of(const ct::Iterator& iterator, int batches) {
  std::vector<double> numbers;
  for (int i = 0; i < batches; ++i) {
    const auto batch = iterator.next();
    if (!batch) {
      numbers.push_back(-1);
      iterator.reset();
      continue;
    }
    const auto values = ct::concat_examples(*batch)[0].array().to_vector<double>();
    numbers.insert(numbers.end(), values.begin(), values.end());
    numbers.push_back(iterator.epoch_detail() + (iterator.is_new_epoch() ? 100 : 0));
  }
  return numbers;
}

TEST(OnRanks, IteratorsGiveAllTheSame) {
  ct::random::seed(static_cast<std::uint64_t>(rank()));
  std::vector<float> single(10);
  for (int i = 0; i < 10; ++i) single[static_cast<std::size_t>(i)] = static_cast<float>(i + 10 * rank());
  const ct::datasets::TupleDataset columns(ct::arange(10) + 10 * rank());
  const int master = size() - 1;
  for (const ct::Dataset& dataset : {ct::Dataset(single), ct::Dataset(columns)}) {
    for (const bool repeat : {true, false}) {
      const ct::iterators::SerialIterator own(dataset, 4, {.repeat = repeat});
      const ct::Iterator sent =
          D::create_multi_node_iterator(rank() == master ? ct::Iterator(own) : ct::Iterator(), flat(), master);
      EXPECT_EQ(sent.batch_size(), 4);
      EXPECT_EQ(sent.examples(), 10);
      EXPECT_EQ(sent.repeat(), repeat);
      const std::vector<std::vector<double>> all = flat().allgather_obj(numbers_of(sent, 9));
      for (const auto& of : all) EXPECT_EQ(of, all[0]);
      EXPECT_GE(all[0][0], 10 * master);
      if (rank() != master) {
        EXPECT_THROW(sent.dataset(), ct::ValueError);
      }

      const ct::iterators::SerialIterator shuffled(dataset, 4, {.repeat = repeat});
      const ct::Iterator synchronized = D::create_synchronized_iterator(shuffled, flat());
      const std::vector<std::vector<double>> orders = flat().allgather_obj(numbers_of(synchronized, 9));
      // each rank has different numbers in one common order
      for (int r = 0; r < size(); ++r) EXPECT_EQ(orders[static_cast<std::size_t>(r)][0] - 10 * r, orders[0][0]);
    }
  }
  EXPECT_THROW(D::create_multi_node_iterator({}, flat(), size()), ct::ValueError);
}

TEST(OnRanks, IteratorsGoOnFromSnapshots) {
  const tests::Folder folder;
  const std::string file = folder / "iterator.npz";
  const ct::Dataset dataset = ct::datasets::TupleDataset(ct::arange(10));
  const int master = size() - 1;
  const auto sent = [&] {
    const ct::iterators::SerialIterator own(dataset, 4, {.shuffle = false});
    return D::create_multi_node_iterator(rank() == master ? ct::Iterator(own) : ct::Iterator(), flat(), master);
  };
  const auto synchronized = [&](int seed) {
    ct::random::seed(static_cast<std::uint64_t>(10 * seed + rank()));
    return D::create_synchronized_iterator(ct::iterators::SerialIterator(dataset, 4), flat());
  };
  const auto expect_equal = [&](const ct::Iterator& whole, const ct::Iterator& again) {
    numbers_of(whole, 3);
    ct::serializers::save_npz(file, whole);
    ct::serializers::load_npz(file, again);
    EXPECT_EQ(again.epoch(), 1);
    EXPECT_TRUE(again.is_new_epoch());
    EXPECT_DOUBLE_EQ(again.epoch_detail(), 1.2);
    ASSERT_TRUE(again.previous_epoch_detail().has_value());
    EXPECT_DOUBLE_EQ(*again.previous_epoch_detail(), 0.8);
    const ct::random::Generator before = ct::random::get_state();
    const std::vector<double> rest = numbers_of(again, 9);
    EXPECT_EQ(ct::random::get_state().call, before.call);  // orders come from another generator
    EXPECT_EQ(ct::random::get_state().seed, before.seed);
    EXPECT_EQ(rest, numbers_of(whole, 9));
  };
  expect_equal(sent(), sent());
  expect_equal(synchronized(1), synchronized(2));
}

// With and without prefetch, ranks train on equal minibatches of their parts with equal noise.
TEST(OnRanks, PrefetchChangesNothing) {
  const auto train = [](bool synchronized, bool prefetch) {
    ct::random::seed(3);
    const ct::Array x = ct::random::standard_normal({64, 4}, {.dtype = ct::Dtype::float32});
    const ct::Array t = ct::random::randint(0, 3, ct::Shape{64}).astype(ct::Dtype::int32);
    const ct::Dataset mine =
        D::scatter_dataset(rank() == 0 ? ct::Dataset(ct::datasets::TupleDataset(x, t)) : ct::Dataset(), flat());
    const ct::datasets::TransformDataset noisy(mine, [](ct::Example example) {
      const ct::Array noise = ct::random::uniform(0.0, 0.1, ct::Shape{4}, {.device = example.values[0].device()});
      example.values[0] = example.values[0] + noise.astype(ct::Dtype::float32);
      return example;
    });
    const ct::iterators::MultithreadIterator own(noisy, 3, {.n_threads = 2});
    const ct::Iterator batches = synchronized ? D::create_synchronized_iterator(own, flat()) : ct::Iterator(own);
    const L::Classifier model{L::Linear(4, 3)};
    const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.1), flat());
    optimizer.setup(model);
    const T::StandardUpdater updater(batches, optimizer, {.prefetch = prefetch});
    for (int i = 0; i < 12; ++i) updater->update();
    EXPECT_EQ(flat().allgather_obj(updater->iteration()),
              std::vector<std::int64_t>(static_cast<std::size_t>(size()), 12));
    return model.params()[0].array().to_vector<float>();
  };
  for (const bool synchronized : {true, false}) {
    const std::vector<float> wanted = train(synchronized, false);
    EXPECT_EQ(train(synchronized, true), wanted);
    EXPECT_EQ(flat().bcast_obj(wanted), wanted);
  }
  // prefetching would send messages at the wrong time
  const ct::iterators::SerialIterator own(ct::datasets::TupleDataset(ct::arange(10)), 4);
  const ct::Iterator sent = D::create_multi_node_iterator(rank() == 0 ? ct::Iterator(own) : ct::Iterator(), flat());
  const L::Linear model(4, 3);
  const ct::optimizers::SGD optimizer(0.1);
  optimizer.setup(model);
  EXPECT_THROW(T::StandardUpdater(sent, optimizer, {.prefetch = true}), ct::ValueError);
}

// A NaN in one rank's gradients makes the mean NaN, so all ranks skip and stop together. Each rank reports only its
// loss.
TEST(OnRanks, ANaNInTheDataOfOneIsToldOnAll) {
  const auto dtype = ct::using_config(ct::config.dtype, ct::mixed16);
  ct::random::seed(1);
  const L::Classifier model{L::Linear(3, 2)};
  const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.1), flat());
  optimizer.setup(model);
  const bool bad = rank() == size() - 1;
  const ct::Batch batch({ct::Variable(ct::full({4, 3}, bad ? std::nan("") : 0.5, ct::Dtype::float16), false),
                         ct::Variable(ct::zeros({4}, ct::Dtype::int32), false)});
  int updates = 0;
  const std::string said = error_of<ct::ValueError>([&] {
    for (; updates < 100; ++updates) optimizer.update(batch);
  });
  EXPECT_EQ(flat().allgather_obj(updates), std::vector<int>(static_cast<std::size_t>(size()), 31));
  EXPECT_TRUE(said.starts_with("SGD: the last 32 updates were skipped")) << said;
  EXPECT_EQ(said.find("the loss is nan") != std::string::npos, bad) << said;
  EXPECT_NE(said.find("the gradients of /predictor/W and 1 other parameter are not finite"), std::string::npos) << said;
}

TEST(OnRanks, EmptyDatasets) {
  const ct::Dataset empty = D::create_empty_dataset(ct::datasets::TupleDataset(ct::arange(5)));
  EXPECT_EQ(empty.size(), 5);
  EXPECT_TRUE(empty[4].values.empty());
}

TEST(OnRanks, NumbersThatCannotBeDealtOut) {
  EXPECT_THROW(D::scatter_index(rank() == 0 ? -1 : 5, flat()), D::DataSizeError);
  EXPECT_EQ(error_of<ct::ValueError>([] { D::scatter_index(-1, flat()); }),
            "scatter_index: rank 0 has -1 examples; 0 or more are expected");
  EXPECT_EQ(D::scatter_index(0, flat()), (std::pair<std::int64_t, std::int64_t>(0, 0)));
}

/// Keeps its arguments.
class Sorted : public D::GenericMultiNodeEvaluator<std::vector<double>> {
 public:
  using GenericMultiNodeEvaluator::GenericMultiNodeEvaluator;
  std::vector<double> calc_local(const ct::Batch& arguments) override {
    EXPECT_FALSE(ct::config.train);
    EXPECT_FALSE(ct::config.enable_backprop);
    return target()(arguments).array().to_vector<double>();
  }
  void aggregate(const std::vector<std::vector<double>>& results) override {
    of_batches = results;
    ct::report({{"batches", static_cast<double>(results.size())}});
  }
  static inline std::vector<std::vector<double>> of_batches;
};

struct Twice : ct::Chain {
  L::Bias bias{1, {1}};
  CT_LINKS(bias)
  ct::Variable operator()(const ct::Variable& x) { return bias(x * 2.0f); }
};

TEST(OnRanks, EvaluationsThatAreNoMeans) {
  // rank r has r + 1 batches of up to two numbers
  const int root = size() - 1;
  std::vector<float> numbers(static_cast<std::size_t>(2 * rank() + 1));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(100 * rank()) + static_cast<float>(i);
  const ct::iterators::SerialIterator batches(
      ct::datasets::TupleDataset(ct::array(numbers, {static_cast<std::int64_t>(numbers.size()), 1})), 2,
      {.repeat = false, .shuffle = false});
  Sorted evaluator(flat(), batches, ct::Model(Twice()), {}, root);
  EXPECT_EQ(evaluator.default_name(), "validation");
  T::Trainer t = trainer();
  for (int repeat = 0; repeat < 2; ++repeat) {  // the iterator restarts
    Sorted::of_batches.clear();
    t.observation().clear();
    {
      const ct::ReportScope scope(t.reporter(), t.observation());
      evaluator(t);
    }
    EXPECT_EQ(t.observation().contains("batches"), rank() == root);
    std::vector<std::vector<double>> expected;
    for (int batch = 0; rank() == root && batch < size(); ++batch)
      for (int r = batch; r < size(); ++r) {
        const double first = 2.0 * (100 * r + 2 * batch);
        expected.push_back(batch < r ? std::vector<double>{first, first + 2} : std::vector<double>{first});
      }
    EXPECT_EQ(Sorted::of_batches, expected);
  }
  EXPECT_EQ(error_of<ct::ValueError>([&] { Sorted(flat(), batches, ct::Model(Twice()), {}, size()); }),
            "GenericMultiNodeEvaluator: root " + std::to_string(size()) + " does not exist; the communicator has " +
                std::to_string(size()) + " ranks");
}

/// Returns a trainer with this many examples on this rank.
T::Trainer trainer_over(int examples, int batch_size, const T::Trigger& stop) {
  const auto model = L::Classifier(L::Linear(3, 2));
  const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(), flat());
  optimizer.setup(model);
  const ct::datasets::TupleDataset data(ct::zeros({examples, 3}, ct::Dtype::float32),
                                        ct::zeros({examples}, ct::Dtype::int32));
  return {T::StandardUpdater(ct::iterators::SerialIterator(data, batch_size), optimizer), stop,
          std::filesystem::temp_directory_path().string()};
}

TEST(OnRanks, UnequalEpochsAreToldBeforeTheFirst) {
  if (size() == 1) return trainer_over(11, 5, T::Trigger(1, "epoch")).run(false);
  const bool last = rank() == size() - 1;
  const T::Trainer more = trainer_over(last ? 11 : 10, 5, T::Trigger(2, "epoch"));
  const std::string other = std::to_string(size() - 1);
  EXPECT_EQ(error_of<ct::ValueError>([&] { more.run(false); }),
            "ranks would train unequally: rank 0 has 10 examples in batches of 5 for 2 epochs and rank " + other +
                " has 11 examples in batches of 5 for 2 epochs: epoch 1 ends after iteration 2 and after iteration 3; "
                "scatter_dataset deals out equal parts");
  EXPECT_EQ(more.updater()->iteration(), 0);
  const T::Trainer longer = trainer_over(10, 5, T::Trigger(last ? 3 : 4, "iteration"));
  EXPECT_EQ(error_of<ct::ValueError>([&] { longer.run(false); }),
            "ranks would train unequally: rank 0 has 10 examples in batches of 5 for 4 iterations and rank " + other +
                " has 10 examples in batches of 5 for 3 iterations: the lengths must be equal");
  // different numbers of examples with equal iterations, and lengths in iterations, are accepted
  trainer_over(last ? 9 : 10, 5, T::Trigger(3, "epoch")).run(false);
  trainer_over(last ? 4 : 10, 5, T::Trigger(3, "iteration")).run(false);
  const T::Trainer equal = trainer_over(last ? 4 : 8, last ? 2 : 4, T::Trigger(2, "epoch"));
  equal.run(false);
  EXPECT_EQ(equal.updater()->iteration(), 4);
}

/// A folder for all ranks, which rank 0 removes at the end.
class SharedFolder {
 public:
  SharedFolder() {
    if (rank() == 0) folder_.emplace();
    path = flat().bcast_obj(folder_ ? folder_->path : std::string());
  }
  ~SharedFolder() { flat().barrier(); }
  std::string path;

 private:
  std::optional<tests::Folder> folder_;
};

TEST(OnRanks, ASetThatOneRankLacksIsNoSet) {
  const SharedFolder folder;
  const auto of_two = [&] {
    auto trainer = trainer_over(10, 5, T::Trigger(2, "epoch"));
    auto checkpointer = D::create_multi_node_checkpointer("set", flat(), {.path = folder.path});
    return std::pair(trainer, checkpointer);
  };
  {
    auto [trainer, checkpointer] = of_two();
    trainer.extend(checkpointer);
    trainer.run(false);
    EXPECT_EQ(checkpointer.save(trainer), folder.path);
  }
  const auto file = [&](int iteration) { return fmt::format("{}/set.{}.{}", folder.path, rank(), iteration); };
  const bool last = rank() == size() - 1;
  const auto load = [&] {
    const auto [trainer, checkpointer] = of_two();
    testing::internal::CaptureStderr();
    const bool loaded = D::MultiNodeCheckpointer(checkpointer).maybe_load(trainer);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // invalid sets print no message
    return std::pair(loaded, trainer.updater()->iteration());
  };
  EXPECT_EQ(load(), (std::pair<bool, std::int64_t>(true, 4)));
  if (last) ct::os::remove_file(file(4));
  EXPECT_EQ(load(), (std::pair<bool, std::int64_t>(true, 2)));
  if (last) ct::os::remove_file(file(2));
  EXPECT_EQ(load(), (std::pair<bool, std::int64_t>(false, 0)));
}

/// A training whose ranks share a state, or share one per set. Each rank has a separate folder without the files of
/// other ranks.
struct Replica {
  L::Linear model{3, 2};
  ct::optimizers::MomentumSGD optimizer{0.1};
  std::optional<T::Trainer> trainer;

  Replica(const std::string& folder, int of_set, int epochs, float first_weights = 0.5f) {
    ct::random::set_state({static_cast<std::uint64_t>(of_set + 20), 0});
    model.W.set_array(ct::full({2, 3}, first_weights, ct::Dtype::float32));
    optimizer.setup(model);
    const ct::datasets::TupleDataset data(ct::random::standard_normal({8, 3}, {.dtype = ct::Dtype::float32}));
    trainer.emplace(
        T::StandardUpdater(ct::iterators::SerialIterator(data, 4), optimizer,
                           {.loss = [this](const ct::Batch& batch) { return ct::functions::sum(model(batch[0])); }}),
        T::Trigger(epochs, "epoch"), fmt::format("{}/of-{}", folder, rank()));
  }
  std::vector<float> weights() const { return model.W.array().to_vector<float>(); }
};

/// Returns the set of ranks with even numbers, and the set of odd ones.
std::vector<std::vector<int>> even_ranks() {
  std::vector<int> even;
  for (int r = 0; r < size(); r += 2) even.push_back(r);
  return {even};
}

TEST(OnRanks, SnapshotsOfReplicasAreLoadedByRanksThatDoNotSeeThem) {
  for (const bool sets : {false, true}) {
    const SharedFolder folder;
    const int writer = sets && size() > 1 ? rank() % 2 : 0;
    const auto snapshot = [&] {
      return D::multi_node_snapshot(flat(), X::snapshot({.autoload = true}),
                                    sets ? even_ranks() : std::vector<std::vector<int>>());
    };
    const Replica whole(folder.path + "/whole", writer, 3);
    whole.trainer->run(false);
    {
      const Replica begun(folder.path, writer, 1);
      auto extension = snapshot();
      EXPECT_EQ(extension.is_master(), rank() == writer);
      begun.trainer->extend(extension);
      begun.trainer->run(false);
      EXPECT_NE(begun.weights(), whole.weights());
    }
    flat().barrier();
    EXPECT_EQ(ct::os::list_directory(fmt::format("{}/of-{}", folder.path, rank())),
              rank() == writer ? std::vector<std::string>{fmt::format("snapshot_iter_2.{}", writer)}
                               : std::vector<std::string>());
    // a newer snapshot that some writer lacks is ignored
    if (sets && size() > 1 && rank() == 1)
      ct::os::write_file(folder.path + "/of-1/snapshot_iter_4.1", std::string_view("nothing"));
    flat().barrier();

    const Replica resumed(folder.path, writer, 3, -1.0f);
    resumed.trainer->extend(snapshot());
    std::vector<std::int64_t> iterations;
    resumed.trainer->extend([&](T::Trainer& t) { iterations.push_back(t.updater()->iteration()); },
                            {.name = "seen", .trigger = T::Trigger(1, "iteration")});
    resumed.trainer->run(false);
    EXPECT_EQ(iterations, (std::vector<std::int64_t>{3, 4, 5, 6}));
    EXPECT_EQ(resumed.weights(), whole.weights());
  }
}

TEST(OnRanks, SnapshotsOfReplicasThatCannotBeLoadedAreToldToAll) {
  const SharedFolder folder;
  const auto begin = [&] {
    const Replica replica(folder.path, 0, 1);
    replica.trainer->extend(D::multi_node_snapshot(flat(), X::snapshot({.autoload = true}), even_ranks()));
    try {
      replica.trainer->run(false);
    } catch (const ct::FileError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string own = fmt::format("{}/of-{}", folder.path, rank());
  ct::os::make_directories(own);
  if (rank() == 0) ct::os::write_file(own + "/snapshot_iter_2.0", std::string_view("nothing"));
  if (size() > 1) {
    // the writers have no snapshot in common
    EXPECT_NE(begin().find("multi_node_snapshot: rank 0 has snapshot_iter_2 in "), std::string::npos);
    if (rank() == 1) ct::os::write_file(own + "/snapshot_iter_2.1", std::string_view());
  }
  // the file is not a snapshot
  const std::string text = begin();
  EXPECT_NE(text.find("multi_node_snapshot: rank 0 cannot go on: "), std::string::npos) << text;
  EXPECT_NE(text.find("snapshot_iter_2.0"), std::string::npos) << text;
}

TEST(OnRanks, ReplicaSetsThatMakeNoSense) {
  const auto text = [](const std::vector<std::vector<int>>& sets) {
    return error_of<ct::ValueError>([&] { D::multi_node_snapshot(flat(), X::snapshot(), sets); });
  };
  EXPECT_EQ(text({{0, size()}}),
            fmt::format("multi_node_snapshot: rank {0} does not exist; the communicator has {0} ranks", size()));
  EXPECT_EQ(text({{0}, {0}}), "multi_node_snapshot: rank 0 is in two replica sets");
  EXPECT_EQ(text({{0}}), "");
}

}  // namespace
