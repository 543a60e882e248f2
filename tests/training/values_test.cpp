// Triggers by values and by time, extensions that report and save, and noise on gradients, compared with Chainer.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"

namespace ct = catenary;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;
using tests::Folder;
using Iterations = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

namespace {

/// An updater that only counts, and throws on request.
class Counter final : public T::UpdaterBase {
 public:
  explicit Counter(std::int64_t per_epoch, std::int64_t fails_after = -1)
      : per_epoch_(per_epoch), fails_after_(fails_after) {}
  void update() override {
    if (n_ == fails_after_) throw ct::ValueError("the counter was told to fail");
    ++n_;
  }
  std::int64_t iteration() const override { return n_; }
  std::int64_t epoch() const override { return n_ / per_epoch_; }
  double epoch_detail() const override { return static_cast<double>(n_) / static_cast<double>(per_epoch_); }
  std::optional<double> previous_epoch_detail() const override {
    return static_cast<double>(n_ - 1) / static_cast<double>(per_epoch_);
  }
  bool is_new_epoch() const override { return n_ % per_epoch_ == 0; }
  std::map<std::string, ct::Optimizer> optimizers() const override { return {}; }
  ct::Iterator iterator(const std::string&) const override { return {}; }
  void serialize(ct::Serializer& serializer) override { serializer("iteration", n_); }

 private:
  std::int64_t n_ = 0, per_epoch_, fails_after_;
};

T::Trainer counting(const std::string& out, std::int64_t iterations, std::int64_t per_epoch,
                    std::int64_t fails_after = -1) {
  return T::Trainer(T::Updater(std::make_shared<Counter>(per_epoch, fails_after)),
                    T::Trigger(static_cast<double>(iterations), "iteration"), out);
}

/// Reports the values of a list, one in each iteration, except NaN.
void report(T::Trainer& trainer, const std::string& key, const Doubles& values) {
  trainer.extend(
      [=](T::Trainer& t) {
        const double value = values[static_cast<std::size_t>(t.updater()->iteration() - 1)];
        if (!std::isnan(value)) t.observation()[key] = value;
      },
      {.name = "report_" + key, .trigger = T::Trigger(1, "iteration"), .priority = T::kPriorityWriter});
}

/// The iterations at which a trigger fires in a training that reports `values`, optionally resumed from a snapshot or
/// saved at the end.
Iterations fired(const T::Trigger& trigger, const Doubles& values, std::int64_t per_epoch, const std::string& load = "",
                 const std::string& save = "") {
  const Folder out;
  T::Trainer trainer = counting(out.path, static_cast<std::int64_t>(values.size()), per_epoch);
  report(trainer, "main/accuracy", values);
  Iterations seen;
  trainer.extend([&](T::Trainer& t) { seen.push_back(t.updater()->iteration()); },
                 {.name = "record", .trigger = trigger});
  if (!load.empty()) ct::serializers::load_npz(load, trainer);
  trainer.run();
  if (!save.empty()) ct::serializers::save_npz(save, trainer);
  return seen;
}

/// Checks an uninterrupted run, and runs in two parts with a snapshot after each number of iterations.
void expect_fired(const std::function<T::Trigger()>& make, const Doubles& values, std::int64_t per_epoch,
                  const Iterations& expected) {
  EXPECT_EQ(fired(make(), values, per_epoch), expected);
  for (std::size_t part = 1; part < values.size(); ++part) {
    const Folder folder;
    const Doubles begin(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(part));
    Iterations all = fired(make(), begin, per_epoch, "", folder / "snapshot");
    for (const std::int64_t i : fired(make(), values, per_epoch, folder / "snapshot")) all.push_back(i);
    EXPECT_EQ(all, expected) << "with a snapshot after " << part << " iterations";
  }
}

TEST(BestValueTriggers, FireAtTheBestSoFar) {
  const std::string key = "main/accuracy";
  const Doubles each = {0.5, 0.5, 0.4, 0.6}, twice = {0.5, 0.5, 0.5, 0.5, 0.4, 0.4, 0.6, 0.6};
  const T::Trigger one(1, "iteration"), two(2, "iteration");
  expect_fired([&] { return T::triggers::MaxValueTrigger(key, T::Trigger(1, "iteration")); }, each, 1, {1, 4});
  expect_fired([&] { return T::triggers::MinValueTrigger(key, T::Trigger(1, "iteration")); }, each, 1, {1, 3});
  expect_fired([&] { return T::triggers::MaxValueTrigger(key, T::Trigger(2, "iteration")); }, twice, 1, {2, 8});
  expect_fired([&] { return T::triggers::MinValueTrigger(key, T::Trigger(2, "iteration")); }, twice, 1, {2, 6});
  expect_fired([&] { return T::triggers::MaxValueTrigger(key); }, twice, 2, {2, 8});
  expect_fired([&] { return T::triggers::MinValueTrigger(key); }, twice, 2, {2, 6});
  // means of an interval: 0.5, 0.4, 0.6
  expect_fired([&] { return T::triggers::MinValueTrigger(key, T::Trigger(2, "iteration")); },
               {0.9, 0.1, 0.3, 0.5, 0.6, 0.6}, 1, {2, 4});
}

TEST(BestValueTriggers, ValuesThatAreNotReportedEachTime) {
  const double none = std::nan("");
  expect_fired([] { return T::triggers::MaxValueTrigger("main/accuracy", T::Trigger(2, "iteration")); },
               {0.5, none, none, none, 0.7, none}, 1, {2, 6});
}

TEST(BestValueTriggers, AnyOrder) {
  const auto closer = [](double best, double now) { return std::abs(now - 1) < std::abs(best - 1); };
  expect_fired([&] { return T::triggers::BestValueTrigger("main/accuracy", closer, T::Trigger(1, "iteration")); },
               {3, 2.5, -2, 0.5, 1.5, 1}, 1, {1, 2, 4, 6});
  T::triggers::BestValueTrigger trigger("x", closer, T::Trigger(1, "iteration"));
  EXPECT_FALSE(trigger.best_value().has_value());
}

/// A trainer after this much training time.
T::Trainer after(double seconds) {
  const Folder folder;
  ct::io::NpzWriter writer(folder / "elapsed");
  writer.write("_snapshot_elapsed_time", ct::io::HostArray::scalar(seconds));
  writer.finish();
  T::Trainer trainer(T::Updater(std::make_shared<Counter>(1)), T::Trigger(1, "epoch"), folder.path);
  trainer.extend([](T::Trainer&) {}, {.name = "nothing"});
  ct::serializers::load_npz(folder / "elapsed", trainer, "", false);
  EXPECT_EQ(trainer.elapsed_time(), seconds);
  return trainer;
}

TEST(TimeTrigger, FiresOnceAPeriod) {
  const T::Trigger trigger{T::triggers::TimeTrigger(1)};
  const auto fires = [](const T::Trigger& t, double seconds) {
    T::Trainer trainer = after(seconds);
    return t(trainer);
  };
  EXPECT_FALSE(fires(trigger, 0));
  EXPECT_FALSE(fires(trigger, 0.9));
  EXPECT_TRUE(fires(trigger, 1.2));
  EXPECT_FALSE(fires(trigger, 1.3));
  EXPECT_TRUE(fires(trigger, 2.1));  // counted from 2.0, not from 2.2
  const Folder folder;
  ct::serializers::save_npz(folder / "trigger", trigger);
  const T::Trigger resumed{T::triggers::TimeTrigger(1)};
  ct::serializers::load_npz(folder / "trigger", resumed);
  EXPECT_FALSE(fires(resumed, 2.9));
  EXPECT_TRUE(fires(resumed, 3.1));
  EXPECT_THROW(T::triggers::TimeTrigger(0), ct::ValueError);
}

/// The values reported by MicroAverage, by iteration.
std::map<std::int64_t, double> averages(const Doubles& correct, const Doubles& total, const std::string& load = "",
                                        const std::string& save = "") {
  const Folder out;
  T::Trainer trainer = counting(out.path, static_cast<std::int64_t>(total.size()), 100);
  report(trainer, "correct", correct);
  report(trainer, "total", total);
  trainer.extend(X::MicroAverage("correct", "total", "accuracy", T::Trigger(3, "iteration")));
  std::map<std::int64_t, double> seen;
  trainer.extend(
      [&](T::Trainer& t) {
        if (const ct::Reported* value = t.observation().find("accuracy"))
          seen[t.updater()->iteration()] = value->value();
      },
      {.name = "see", .trigger = T::Trigger(1, "iteration")});
  if (!load.empty()) ct::serializers::load_npz(load, trainer);
  trainer.run();
  if (!save.empty()) ct::serializers::save_npz(save, trainer);
  return seen;
}

TEST(MicroAverage, QuotientsOfSums) {
  const Doubles correct = {3, 0, 5, 2, 8, 1, 4}, total = {4, 1, 10, 2, 9, 20, 4};
  const std::map<std::int64_t, double> expected = {{3, 8.0 / 15}, {6, 11.0 / 31}};
  EXPECT_EQ(averages(correct, total), expected);
  // a snapshot within an interval
  const Folder folder;
  averages({3, 0, 5, 2}, {4, 1, 10, 2}, "", folder / "snapshot");
  EXPECT_EQ(averages(correct, total, folder / "snapshot"), (std::map<std::int64_t, double>{{6, 11.0 / 31}}));
  // an iteration without both values adds nothing and does not end an interval
  const double none = std::nan("");
  EXPECT_EQ(averages({3, none, 5, 2, 8, none}, {4, 1, none, 2, 9, none}),
            (std::map<std::int64_t, double>{{4, 5.0 / 6}}));
}

TEST(ObserveValue, AFunctionOfTheTrainer) {
  const Folder out;
  T::Trainer trainer = counting(out.path, 6, 3);
  trainer.extend(X::observe_value("square", [](T::Trainer& t) {
    const double n = static_cast<double>(t.updater()->iteration());
    return n * n;
  }));
  const X::LogReport log;
  trainer.extend(log);
  trainer.run();
  ASSERT_EQ(log.log().size(), 2u);
  const auto square = [&](std::size_t i) {
    for (const auto& [key, value] : log.log()[i])
      if (key == "square") return value.value;
    return -1.0;
  };
  EXPECT_EQ(square(0), 9);  // once per epoch
  EXPECT_EQ(square(1), 36);
}

TEST(SnapshotObject, SavesOneObject) {
  const Folder out;
  const L::Linear model(3, 2);
  T::Trainer trainer = counting(out.path, 6, 3);
  trainer.extend(X::snapshot_object(model));
  trainer.extend(X::snapshot_object(model, "model_{.updater.epoch}.npz"), {.name = "second"});
  trainer.run();
  EXPECT_EQ(ct::os::list_directory(out.path),
            (std::vector<std::string>{"model_1.npz", "model_2.npz", "snapshot_iter_3", "snapshot_iter_6"}));
  std::vector<std::string> names = ct::io::NpzReader(out / "model_2.npz").names();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"W", "b"}));
  const L::Linear other(3, 2);
  ct::serializers::load_npz(out / "snapshot_iter_6", other);
  EXPECT_EQ(other.W.array().to_vector<float>(), model.W.array().to_vector<float>());

  const L::Linear loaded(3, 2);
  T::Trainer again = counting(out.path, 1, 3);
  again.extend(X::snapshot_object(loaded, {.autoload = true}));
  again.run();
  EXPECT_EQ(loaded.W.array().to_vector<float>(), model.W.array().to_vector<float>());
  EXPECT_THROW(X::format_filename("{.updater.loss}", trainer), ct::ValueError);
}

TEST(Snapshot, OnError) {
  for (const bool wanted : {false, true}) {
    const Folder out;
    T::Trainer trainer = counting(out.path, 6, 100, 4);
    trainer.extend(X::snapshot({.snapshot_on_error = wanted}));
    EXPECT_THROW(trainer.run(false), ct::ValueError);
    EXPECT_EQ(ct::os::exists(out / "snapshot_iter_4"), wanted);
    if (!wanted) continue;
    T::Trainer again = counting(out.path, 6, 100);
    ct::serializers::load_npz(out / "snapshot_iter_4", again);
    EXPECT_EQ(again.updater()->iteration(), 4);
    // an error of the snapshot does not replace the original error
    T::Trainer worse = counting(out.path, 6, 100, 4);
    worse.extend(X::snapshot({.filename = "no/such/folder", .snapshot_on_error = true}));
    testing::internal::CaptureStderr();
    try {
      worse.run(false);
      FAIL();
    } catch (const ct::ValueError& e) {
      EXPECT_NE(std::string(e.what()).find("told to fail"), std::string::npos);
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("snapshot_on_error: "), std::string::npos);
  }
}

TEST(ProgressBar, Text) {
  const auto text = [](const T::Trigger& stop, int iterations, double speed) {
    const Folder out;
    T::Trainer trainer(T::Updater(std::make_shared<Counter>(40)), stop, out.path);
    for (int i = 0; i < iterations; ++i) trainer.updater()->update();
    return X::ProgressBar({.bar_length = 10}).text(trainer, speed);
  };
  EXPECT_EQ(text(T::Trigger(5, "epoch"), 50, 2.5),
            "     total [##........] 25.00%\n"
            "this epoch [##........] 25.00%\n"
            "        50 iter, 1 epoch / 5 epochs\n"
            "       2.5 iters/sec. Estimated time to finish: 0:01:00.\n");
  EXPECT_EQ(text(T::Trigger(100, "iteration"), 100, 123.4567),
            "     total [##########] 100.00%\n"
            "this epoch [#####.....] 50.00%\n"
            "       100 iter, 2 epoch / 100 iterations\n"
            "    123.46 iters/sec. Estimated time to finish: 0:00:00.\n");
  EXPECT_EQ(text(T::Trigger(300000, "iteration"), 2, 1.6),
            "     total [..........]  0.00%\n"
            "this epoch [..........]  5.00%\n"
            "         2 iter, 0 epoch / 300000 iterations\n"
            "       1.6 iters/sec. Estimated time to finish: 2 days, 4:04:58.750000.\n");
}

TEST(ProgressBar, OnTerminalsOnly) {
  const auto run = [](std::FILE* out) {
    const Folder folder;
    T::Trainer trainer = counting(folder.path, 20, 10);
    trainer.extend(X::ProgressBar({.update_interval = 5, .bar_length = 10, .out = out}));
    trainer.run();
  };
  std::FILE* file = std::tmpfile();
  run(file);
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);

  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  std::FILE* slave = std::fopen(::ptsname(terminal), "w");
  ASSERT_NE(slave, nullptr);
  run(slave);
  std::fclose(slave);  // the written data can still be read, in pieces of any size, followed by EIO
  std::string seen, piece(4096, '\0');
  for (ssize_t n; (n = ::read(terminal, piece.data(), piece.size())) > 0;)
    seen.append(piece, 0, static_cast<std::size_t>(n));
  ::close(terminal);
  // drawn at 10, 15 and 20, each time over the last one, and erased at the end
  for (const char* words : {"\033[J     total [#####.....] 50.00%", "[#######...] 75.00%", "[##########] 100.00%",
                            "20 iter, 2 epoch / 20 iterations", "\033[4A"})
    EXPECT_NE(seen.find(words), std::string::npos) << words << " in " << seen;
  EXPECT_TRUE(seen.ends_with("\033[4A\033[J")) << seen;
}

// Slow iterations are shown at once, and fast ones are not drawn more often than visible.
TEST(ProgressBar, MovesByTime) {
  const auto times_drawn = [](int updates, double seconds_each, double seconds) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_TRUE(terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
    std::FILE* slave = std::fopen(::ptsname(terminal), "w");
    const Folder folder;
    T::Trainer trainer = counting(folder.path, updates, updates);
    trainer.extend(X::ProgressBar({.seconds = seconds, .bar_length = 10, .out = slave}));
    trainer.extend([&](T::Trainer&) { ::usleep(static_cast<useconds_t>(seconds_each * 1e6)); },
                   {.name = "slow", .trigger = T::Trigger(1, "iteration")});
    trainer.run();
    std::fclose(slave);
    std::string seen, piece(4096, '\0');
    for (ssize_t n; (n = ::read(terminal, piece.data(), piece.size())) > 0;)
      seen.append(piece, 0, static_cast<std::size_t>(n));
    ::close(terminal);
    int count = 0;
    for (std::size_t at = 0; (at = seen.find("this epoch", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_GE(times_drawn(6, 0.03, 0.01), 4);
  EXPECT_EQ(times_drawn(50, 0, 60), 0);
  EXPECT_LE(times_drawn(100, 0.002, 0.1), 20);
}

struct Weights : ct::Link {
  ct::Parameter v, w;
  Weights() : v(ct::Parameter::from_array(zeros())), w(ct::Parameter::from_array(zeros())) {}
  CT_LINKS(v, w)
  ct::Variable operator()(const ct::Variable& x) const { return x; }
  static ct::Array zeros() { return ct::zeros({100, 100}, ct::Dtype::float32); }
};

TEST(GradientNoise, NormalWithADecayingDeviation) {
  ct::random::seed(3);
  const Weights link;
  const ct::Optimizer optimizer = ct::optimizers::SGD(1);
  optimizer.setup(link);
  optimizer.add_hook(ct::optimizer_hooks::GradientNoise(0.3));
  for (int t = 0; t < 3; ++t) {
    const double deviation = std::sqrt(0.3 / std::pow(1 + t, 0.55));
    std::vector<Doubles> drawn;
    for (const ct::Parameter& p : link.params()) {
      p.set_array(Weights::zeros());
      p.set_grad(Weights::zeros() + 5);
    }
    optimizer.update();
    for (const ct::Parameter& p : link.params()) {
      drawn.push_back((-5 - p.array()).to_vector<double>());
      // Kolmogorov-Smirnov test
      Doubles& noise = drawn.back();
      const double first = noise.front();
      std::sort(noise.begin(), noise.end());
      double distance = 0;
      for (std::size_t i = 0; i < noise.size(); ++i) {
        const double p_below = 0.5 * std::erfc(-noise[i] / (deviation * std::sqrt(2.0)));
        distance = std::max(distance, std::abs(p_below - (static_cast<double>(i) + 0.5) / 1e4));
      }
      EXPECT_LT(distance * 100, 1.95) << "after " << t << " updates";
      noise.push_back(first);
    }
    EXPECT_NE(drawn[0], drawn[1]);
  }
}

}  // namespace
