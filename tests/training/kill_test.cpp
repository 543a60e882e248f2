// Kills a training (SIGKILL) at random times while it writes snapshots: snapshot files are always complete, and
// training continues from them without a difference.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "catenary/catenary.h"
#include "catenary/core/clock.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace {

constexpr const char* kFolderVariable = "CATENARY_TEST_KILL_FOLDER";
constexpr const char* kIterationsVariable = "CATENARY_TEST_KILL_ITERATIONS";
constexpr int kTries = 20;

/// Large enough that writing a snapshot takes longer than an iteration. Dropout makes the random numbers matter.
struct LargeNet : ct::Chain {
  L::Linear l1, l2;
  LargeNet() : l1(500), l2(10) {}
  CT_LINKS(l1, l2)
  ct::Variable operator()(const ct::Variable& x) { return l2(F::dropout(F::relu(l1(x)), 0.3)); }
};

using Losses = std::map<std::int64_t, double>;

/// A trainer that ends after `iterations`. `losses` receives the loss of each iteration.
T::Trainer make_trainer(const std::string& out, std::int64_t iterations, Losses* losses = nullptr) {
  ct::random::seed(3);
  const ct::Array x = ct::random::standard_normal({130, 80}, {.dtype = ct::Dtype::float32});
  const L::Classifier model{LargeNet()};
  const ct::Optimizer optimizer = ct::optimizers::Adam();
  optimizer.setup(model);
  const ct::iterators::SerialIterator batches(
      ct::datasets::TupleDataset(x, ct::argmax(x(ct::ellipsis, ct::slice(10)), 1).astype(ct::Dtype::int32)), 20);
  T::Trainer trainer(T::StandardUpdater(batches, optimizer), T::Trigger(static_cast<double>(iterations), "iteration"),
                     out);
  trainer.extend(X::LogReport({.trigger = T::Trigger(5, "iteration")}));
  if (losses) {
    trainer.extend(
        [losses](T::Trainer& t) { (*losses)[t.updater()->iteration()] = t.observation().find("main/loss")->value(); },
        {.name = "losses", .trigger = T::Trigger(1, "iteration")});
  }
  return trainer;
}

/// Runs in the child: resumes from the newest snapshot and writes one in each iteration.
void be_the_child(const std::string& folder, const std::string& iterations) {
  T::Trainer trainer = make_trainer(folder, std::stoll(iterations));
  trainer.extend(X::snapshot({.n_retains = 3, .autoload = true}), {.trigger = T::Trigger(1, "iteration")});
  trainer.run();
}

ct::os::ProcessResult run_child(const std::string& folder, std::int64_t iterations, double timeout) {
  return ct::os::run_process(
      {ct::os::program_path(), "--gtest_filter=Kill.SnapshotsAreCompleteAndGoOn", "--device",
       ct::current_device().name()},
      {.timeout = timeout,
       .environment = {
           {kFolderVariable, folder}, {kIterationsVariable, std::to_string(iterations)}, {"GTEST_OUTPUT", ""}}});
}

TEST(Kill, SnapshotsAreCompleteAndGoOn) {
  if (const char* folder = std::getenv(kFolderVariable)) {  // this process is the child of the test below
    be_the_child(folder, std::getenv(kIterationsVariable));
    return;
  }
  const std::string folder = ct::os::make_temporary_directory("catenary-kill");
  const std::string prefix = "snapshot_iter_", aside = folder + "/aside";
  // measures the time to the first snapshot on this machine
  const double began = ct::monotonic_seconds();
  ASSERT_TRUE(run_child(aside, 1, 60).ok());
  const double start = ct::monotonic_seconds() - began;
  std::random_device device;
  std::int64_t newest = 0;
  int in_the_middle = 0;
  Losses resumed;
  for (int i = 0; i < kTries; ++i) {
    const unsigned seed = device();
    std::mt19937 random(seed);
    const double seconds = std::uniform_real_distribution<double>(0.5 * start, 1.2 * start + 0.25)(random);
    const ct::os::ProcessResult child = run_child(folder, std::int64_t{1} << 40, seconds);
    ASSERT_TRUE(child.timed_out) << child.output << child.errors;

    bool writing = false;
    std::int64_t last = 0;
    for (const std::string& name : ct::os::list_directory(folder)) {
      if (name.starts_with("." + prefix)) {  // the child's unfinished file, which does not count as a snapshot
        writing = true;
        ct::os::remove_file(folder + "/" + name);
      }
      if (!name.starts_with(prefix)) continue;
      const std::int64_t iteration = std::stoll(name.substr(prefix.size()));
      T::Trainer trainer = make_trainer(aside, 1);
      ASSERT_NO_THROW(ct::serializers::load_npz(folder + "/" + name, trainer)) << name << ", seed " << seed;
      ASSERT_EQ(trainer.updater()->iteration(), iteration) << "seed " << seed;
      last = std::max(last, iteration);
    }
    std::printf("try %2d: seed %10u, killed after %.3f s, newest snapshot %lld%s\n", i + 1, seed, seconds,
                static_cast<long long>(last), writing ? ", while one was being written" : "");
    ASSERT_GE(last, newest) << "a snapshot was lost, seed " << seed;
    newest = last;
    in_the_middle += writing;
    if (newest == 0) continue;
    T::Trainer trainer = make_trainer(aside, newest + 6, &resumed);
    ct::serializers::load_npz(folder + "/" + prefix + std::to_string(newest), trainer);
    trainer.run();
  }
  EXPECT_GT(in_the_middle, 0);
  ASSERT_GT(newest, 1);

  Losses whole;
  make_trainer(folder + "/whole", newest + 6, &whole).run();
  for (const auto& [iteration, loss] : resumed) ASSERT_EQ(loss, whole.at(iteration)) << "iteration " << iteration;
  auto a = nlohmann::json::parse(std::ifstream(folder + "/whole/log")),
       b = nlohmann::json::parse(std::ifstream(aside + "/log"));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i].erase("elapsed_time");
    b[i].erase("elapsed_time");
    ASSERT_EQ(a[i], b[i]) << "entry " << i;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
