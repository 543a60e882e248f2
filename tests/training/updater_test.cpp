// Updaters: several optimizers, several devices.

#include <gtest/gtest.h>

#include <filesystem>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;

namespace {

ct::iterators::SerialIterator batches_of(const ct::Array& x, std::int64_t size) {
  return ct::iterators::SerialIterator(ct::datasets::TupleDataset(x), size, {.shuffle = false});
}

struct LossNet : ct::Chain {
  L::Linear l1, l2;
  L::BatchNormalization norm;
  LossNet() : l1(6), l2(1), norm({6}) {}
  CT_LINKS(l1, l2, norm)
  ct::Variable operator()(const ct::Variable& x) { return F::mean(F::square(l2(F::dropout(norm(l1(x)), 0.5)))); }
};

/// The number of random numbers drawn.
std::uint64_t calls_of(const std::function<void()>& f) {
  const std::uint64_t before = ct::random::get_state().call;
  f();
  return ct::random::get_state().call - before;
}

TEST(ParallelUpdater, RunsEachModelOnceAnIteration) {
  const ct::Array x = ct::random::standard_normal({8, 4}, {.dtype = ct::Dtype::float32});
  const auto average_after = [&](int devices) {
    ct::random::seed(1);
    const LossNet net;
    const ct::optimizers::SGD optimizer(0.0);
    optimizer.setup(net);
    std::map<std::string, ct::Device> all = {{"main", ct::current_device()}};
    if (devices == 2) all.emplace("second", ct::current_device());
    const T::ParallelUpdater updater(batches_of(x, 8), optimizer, all);
    updater->update();  // initialises the weights, which draws random numbers
    const std::vector<float> average = net.norm.avg_mean->to_vector<float>();
    // the main model sees its part once
    const ct::Array part = devices == 2 ? x(ct::slice(ct::none, ct::none, 2)) : x;
    const auto expected = (net.l1(part).array().mean(0) * 0.1).to_vector<float>();
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(average[i], expected[i], 1e-6) << devices << " devices";
    return calls_of([&] { updater->update(); });
  };
  EXPECT_EQ(average_after(1), 1u);
  EXPECT_EQ(average_after(2), 2u);
}

TEST(ParallelUpdater, TheFirstIterationDrawsAsManyNumbersAsAnyOther) {
  struct Fixed : LossNet {
    Fixed() { l1 = L::Linear(4, 6), l2 = L::Linear(6, 1); }  // all shapes are known
  };
  const ct::Array x = ct::random::standard_normal({8, 4}, {.dtype = ct::Dtype::float32});
  const Fixed net;
  const ct::optimizers::SGD optimizer(0.1);
  optimizer.setup(net);
  const T::ParallelUpdater updater(batches_of(x, 8), optimizer,
                                   {{"main", ct::current_device()}, {"second", ct::current_device()}});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(calls_of([&] { updater->update(); }), 2u) << "iteration " << i;
}

// Parameters used only by the second device's part, tied weights, and a loss scale: equals the step of one device.
TEST(ParallelUpdater, AddsUpGradientsOfTiedWeightsAndOfSomeParts) {
  struct Parts : ct::Chain {
    L::Linear l1{2, 2}, same{l1}, second{2, 2};
    CT_LINKS(l1, same, second)
    ct::Variable operator()(const ct::Variable& x) const {
      const ct::Variable y = F::sum(same(l1(x)));
      return x.array()(0, 0).item<float>() > 0.5f ? y + F::sum(second(x)) : y;
    }
  };
  const ct::Array x = ct::array({{0.25, 0.125}, {1.0, 0.5}}).astype(ct::Dtype::float32);
  const Parts both;
  const Parts alone = both.copy(ct::CopyMode::copy);
  for (const std::optional<double> scale : {std::optional<double>(), std::optional<double>(64)}) {
    for (const bool parallel : {true, false}) {
      const Parts& net = parallel ? both : alone;
      const ct::optimizers::SGD optimizer(0.125);
      optimizer.setup(net);
      if (scale) optimizer.set_loss_scale(*scale);
      if (parallel) {
        const T::ParallelUpdater updater(batches_of(x, 2), optimizer,
                                         {{"main", ct::current_device()}, {"second", ct::current_device()}});
        for (int i = 0; i < 2; ++i) updater->update();
      } else {
        for (int i = 0; i < 2; ++i)
          optimizer.update([&] {
            return net(ct::Variable(x(ct::slice(0, 1)), false)) + net(ct::Variable(x(ct::slice(1, 2)), false));
          });
      }
    }
    for (std::size_t k = 0; k < both.params().size(); ++k) {
      const auto got = both.params()[k].array().to_vector<float>(), want = alone.params()[k].array().to_vector<float>();
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << k;
    }
  }
}

TEST(UpdateCore, UpdatesWhatItSays) {
  const ct::Array x = ct::ones({4, 2}, ct::Dtype::float32);
  const auto make = [&](const ct::Optimizer& a, const ct::Optimizer& b, const std::string& out) {
    a.setup(L::Linear(2, 1));
    b.setup(L::Linear(2, 1));
    const T::StandardUpdater updater(
        {{"main", batches_of(x, 2)}}, {{"a", a}, {"b", b}}, {.update_core = [a, b](const ct::Batch& batch) {
          for (const ct::Optimizer& optimizer : {a, a, b})
            optimizer.update([&] { return F::mean(F::square(optimizer.target()(batch[0]) - 1.0)); });
        }});
    return T::Trainer(updater, T::Trigger(3, "epoch"), out);
  };
  const std::string out = ct::os::make_temporary_directory("catenary-updater");
  const ct::optimizers::SGD a(0.1);
  const ct::optimizers::Adam b;
  T::Trainer trainer = make(a, b, out);
  trainer.extend(T::extensions::snapshot());
  trainer.run();
  EXPECT_EQ(trainer.updater()->iteration(), 6);
  EXPECT_EQ(a.t(), 12);
  EXPECT_EQ(b.t(), 6);
  EXPECT_EQ(a.epoch(), 3);
  EXPECT_EQ(b.epoch(), 3);
  EXPECT_THROW(trainer.updater().optimizer(), ct::ValueError);

  const ct::optimizers::SGD c(0.5);
  const ct::optimizers::Adam d;
  const T::Trainer again = make(c, d, out);
  ct::serializers::load_npz(out + "/snapshot_iter_6", again);
  EXPECT_EQ(c.t(), 12);
  EXPECT_EQ(c.lr, 0.1);
  const auto weights = [](const ct::Optimizer& o) { return o.target().link().params()[0].array().to_vector<float>(); };
  EXPECT_EQ(weights(c), weights(a));
  EXPECT_EQ(weights(d), weights(b));
  std::filesystem::remove_all(out);
}

TEST(UpdateCore, Errors) {
  const ct::Array x = ct::ones({4, 2}, ct::Dtype::float32);
  const ct::Optimizer a = ct::optimizers::SGD();
  using Iterators = std::map<std::string, ct::Iterator>;
  using Optimizers = std::map<std::string, ct::Optimizer>;
  const auto nothing = [](const ct::Batch&) {};
  const auto loss = [](const ct::Batch& batch) { return F::mean(batch[0]); };
  EXPECT_THROW(T::StandardUpdater(Iterators{{"main", batches_of(x, 2)}}, Optimizers{{"a", a}}), ct::ValueError);
  EXPECT_THROW(T::StandardUpdater(Iterators{{"main", batches_of(x, 2)}}, Optimizers{}, {.update_core = nothing}),
               ct::ValueError);
  EXPECT_THROW(T::StandardUpdater(Iterators{{"a", batches_of(x, 2)}}, Optimizers{{"a", a}}, {.update_core = nothing}),
               ct::ValueError);
  EXPECT_THROW(T::StandardUpdater(batches_of(x, 2), a, {.loss = loss, .update_core = nothing}), ct::ValueError);
}

}  // namespace
