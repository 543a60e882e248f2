// Compares whole training runs with Chainer 7.8.1, from equal initial weights and with examples in equal order.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace {

const std::string kReference = tests::source_path("tests/data/chainer/training");

struct MLP : ct::Chain {
  L::Linear l1, l2, l3;
  MLP() : l1(50), l2(50), l3(10) {}
  CT_LINKS(l1, l2, l3)
  ct::Variable operator()(const ct::Variable& x) { return l3(F::relu(l2(F::relu(l1(x))))); }
};

using tests::Folder;

struct ChainersTraining {
  L::Classifier model{MLP()};
  T::Trainer trainer;
  ChainersTraining(const ct::Optimizer& optimizer, const std::string& out, int epochs, bool weight_decay = false)
      : trainer(make(optimizer, out, epochs, weight_decay)) {}

  T::Trainer make(const ct::Optimizer& optimizer, const std::string& out, int epochs, bool weight_decay) {
    ct::serializers::load_npz(kReference + "/init.npz", model);
    optimizer.setup(model);
    if (weight_decay) optimizer.add_hook(ct::optimizer_hooks::WeightDecay(1e-4));
    const auto [train, test] = ct::datasets::get_mnist({.folder = tests::source_path("data/mnist")});
    const ct::iterators::SerialIterator train_iter(ct::datasets::SubDataset(train, 0, 2000), 100, {.shuffle = false});
    const ct::iterators::SerialIterator test_iter(ct::datasets::SubDataset(test, 0, 500), 100,
                                                  {.repeat = false, .shuffle = false});
    T::Trainer result(T::StandardUpdater(train_iter, optimizer), T::Trigger(epochs, "epoch"), out);
    result.extend(X::Evaluator(test_iter, model));
    result.extend(X::LogReport());
    result.extend(X::snapshot(), {.trigger = T::Trigger(1, "epoch")});
    return result;
  }
};

nlohmann::json read_log(const std::string& path) { return nlohmann::json::parse(std::ifstream(path)); }

void compare_logs(const nlohmann::json& ours, const nlohmann::json& theirs, std::size_t from = 0) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = from; i < theirs.size(); ++i) {
    for (const auto& [key, value] : theirs[i].items()) {
      if (key == "elapsed_time") continue;
      ASSERT_TRUE(ours[i].contains(key)) << key;
      const double expected = value.get<double>();
      EXPECT_NEAR(ours[i][key].get<double>(), expected, 1e-4 * std::abs(expected)) << key << " of entry " << i;
    }
  }
}

void compare_weights(const L::Classifier& model, const std::string& file) {
  const ct::io::NpzReader expected(file);
  for (const auto& [path, parameter] : model.namedparams()) {
    const auto array = expected.read_array(path.substr(1));
    const std::vector<float> ours = parameter.array().to_vector<float>();
    for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], array.as<float>()[i], 2e-4) << path << " " << i;
  }
}

TEST(ChainerRuns, Adam) {
  const Folder out;
  ChainersTraining run(ct::optimizers::Adam(), out.path, 3);
  run.trainer.run();
  compare_logs(read_log(out.path + "/log"), read_log(kReference + "/result_adam/log"));
  compare_weights(run.model, kReference + "/final_adam.npz");
}

TEST(ChainerRuns, MomentumSGDWithWeightDecay) {
  const Folder out;
  ChainersTraining run(ct::optimizers::MomentumSGD(0.05), out.path, 3, true);
  run.trainer.run();
  compare_logs(read_log(out.path + "/log"), read_log(kReference + "/result_momentum/log"));
  compare_weights(run.model, kReference + "/final_momentum.npz");
}

TEST(ChainerRuns, SGD) {
  const Folder out;
  ChainersTraining run(ct::optimizers::SGD(0.1), out.path, 3);
  run.trainer.run();
  compare_logs(read_log(out.path + "/log"), read_log(kReference + "/result_sgd/log"));
  compare_weights(run.model, kReference + "/final_sgd.npz");
}

TEST(ChainerRuns, ChainersSnapshotIsResumed) {
  const Folder out;
  ChainersTraining run(ct::optimizers::Adam(), out.path, 3);
  ct::serializers::load_npz(kReference + "/result_adam/snapshot_iter_40", run.trainer);
  run.trainer.run();
  compare_logs(read_log(out.path + "/log"), read_log(kReference + "/result_adam/log"));
  compare_weights(run.model, kReference + "/final_adam.npz");
}

TEST(Resume, LaterNumbersAreTheSame) {
  const auto start = [](const std::string& out, int epochs) {
    auto model = L::Classifier(MLP());
    auto optimizer = ct::optimizers::Adam();
    optimizer.setup(model);
    const auto [train, test] = ct::datasets::get_mnist({.folder = tests::source_path("data/mnist")});
    const ct::iterators::SerialIterator train_iter(ct::datasets::SubDataset(train, 0, 700), 100);
    T::Trainer trainer(T::StandardUpdater(train_iter, optimizer), T::Trigger(epochs, "epoch"), out);
    trainer.extend(X::LogReport({.trigger = T::Trigger(3, "iteration")}));
    trainer.extend(X::snapshot(), {.trigger = T::Trigger(5, "iteration")});
    return trainer;
  };
  const Folder whole, parts;
  ct::random::seed(7);
  start(whole.path, 4).run();
  ct::random::seed(7);
  start(parts.path, 2).run();
  ct::random::seed(99);
  auto resumed = start(parts.path, 4);
  ct::serializers::load_npz(parts.path + "/snapshot_iter_10", resumed);
  resumed.run();
  auto a = read_log(whole.path + "/log"), b = read_log(parts.path + "/log");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i].erase("elapsed_time");
    b[i].erase("elapsed_time");
    EXPECT_EQ(a[i], b[i]);
  }
}

TEST(Snapshot, ADamagedFileChangesNothing) {
  const Folder out;
  ChainersTraining run(ct::optimizers::SGD(0.1), out.path, 1);
  const std::vector<float> before = run.model.params().front().array().to_vector<float>();
  std::vector<std::byte> bytes = ct::os::read_file(kReference + "/final_sgd.npz");
  bytes.resize(bytes.size() * 2 / 3);
  ct::os::write_file(out.path + "/cut.npz", bytes);
  EXPECT_THROW(ct::serializers::load_npz(out.path + "/cut.npz", run.model), ct::FileError);
  EXPECT_THROW(ct::serializers::load_npz(kReference + "/init.npz", run.trainer), ct::FileError);
  EXPECT_EQ(run.model.params().front().array().to_vector<float>(), before);
}

}  // namespace
