// Training one model with several ranks: updates, gradients, means over all ranks. See on_ranks_test.cpp.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "catenary/catenary.h"
#include "catenary/core/os/process.h"
#include "catenary/core/parallel.h"
#include "tests/distributed/on_ranks.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace D = ct::distributed;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using namespace tests;

/// Ranks' optimizers that differ in one setting.
TEST(OnRanks, UpdatesThatWouldDifferAreToldBeforeTheFirst) {
  const int last = size() - 1;
  const auto message = [&](const std::function<void(const ct::optimizers::SGD&, const L::Linear&)>& change) {
    const L::Linear model(3, 2);
    const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.125), comm());
    optimizer.setup(model);
    optimizer.add_hook(ct::optimizer_hooks::Lasso(0.5));
    if (rank() == last) change(optimizer, model);
    const std::vector<double> before = model.W.array().to_vector<double>();
    const std::string text = error_of<ct::ValueError>([&] { optimizer.update([&] { return F::sum(model.W); }); });
    if (!text.empty()) {
      EXPECT_EQ(model.W.array().to_vector<double>(), before);  // nothing has been exchanged yet
    }
    return text;
  };
  const auto differ = [&](const std::string& zeroth, const std::string& other) {
    if (size() == 1) return std::string();
    return fmt::format(
        "ranks would train apart: the first difference between their optimizers: rank 0 has {} and rank {} has {}",
        zeroth, last, other);
  };
  EXPECT_EQ(message([](auto& optimizer, auto&) { optimizer.hyperparam().set("lr", 0.25); }),
            differ("SGD: lr 0.125", "SGD: lr 0.25"));
  EXPECT_EQ(message([](auto& optimizer, auto&) { optimizer.set_loss_scale(8); }),
            differ("Lasso: rate 0.5", "loss scale 8"));
  EXPECT_EQ(message([](auto& optimizer, auto&) { optimizer.add_hook(ct::optimizer_hooks::GradientClipping(2)); }),
            differ("nothing", "GradientClipping: threshold 2"));
  EXPECT_EQ(message([](auto& optimizer, auto&) {
              optimizer.remove_hook("Lasso");
              optimizer.add_hook(ct::optimizer_hooks::Lasso(0.25));
            }),
            differ("Lasso: rate 0.5", "Lasso: rate 0.25"));
  EXPECT_EQ(message([](auto& optimizer, auto&) { optimizer.add_hook(ct::optimizer_hooks::WeightDecay(0.25)); }),
            differ("Lasso: rate 0.5", "SGD: weight_decay 0.25"));
  EXPECT_EQ(message([](auto&, const L::Linear& model) {
              std::dynamic_pointer_cast<ct::UpdateRule>(model.b.update_rule())->hyperparam->set("lr", 0.5);
            }),
            differ("nothing", "/b: lr 0.5"));
  EXPECT_EQ(message([](auto&, auto&) {}), "");
}

TEST(OnRanks, ARateThatOneRankChangesLaterIsTold) {
  for (const bool overlap : {false, true}) {
    const L::Linear model(3, 2);
    const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.125), D::create_communicator("flat"),
                                                          {.overlap = overlap});
    optimizer.setup(model);
    const auto update = [&] { optimizer.update([&] { return F::sum(model.W); }); };
    update();
    optimizer.hyperparam().set("lr", 0.25);
    update();
    if (rank() == size() - 1) optimizer.hyperparam().set("lr", 0.5);
    const std::vector<double> before = model.W.array().to_vector<double>();
    const std::string text = error_of<ct::ValueError>(update);
    if (size() == 1) {
      EXPECT_EQ(text, "");
      continue;
    }
    EXPECT_NE(text.find("mean of gradients in"), std::string::npos) << text;
    EXPECT_NE(text.find(" for SGD (lr 0.25, settings "), std::string::npos) << text;
    EXPECT_NE(text.find(" for SGD (lr 0.5, settings "), std::string::npos) << text;
    EXPECT_EQ(model.W.array().to_vector<double>(), before);
  }
}

/// Gradients whose shapes and numbers of buckets differ between ranks.
TEST(OnRanks, AnExchangeThatFailedIsToldOnceAndNotGoneOnWith) {
  if (size() == 1) return;
  const D::Communicator flat = D::create_communicator("flat");
  const auto updates = [&](const L::Linear& first, const L::Linear& second, const L::Linear& third) {
    const ct::Sequential model(first, second, third);
    const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.01), flat, {.overlap = true});
    optimizer.setup(model);
    optimizer.update([&] { return F::sum(first.W) + F::sum(second.W) + F::sum(third.W); });
    return [=] { optimizer.update([&] { return F::sum(first.W) + F::sum(second.W) + F::sum(third.W); }); };
  };
  {
    const L::Linear first(300, 300), second(300, 300), third(300, 300);
    const auto update = updates(first, second, third);
    if (rank() == 1) first.W.set_array(ct::zeros({300, 100}, ct::Dtype::float32));
    EXPECT_NE(error_of<ct::ValueError>(update).find("ranks do different things in their collective"),
              std::string::npos);
  }
  // nothing remains that could be mistaken for the next exchange
  const L::Linear first(300, 300), second(300, 300), third(300, 300);
  const auto update = updates(first, second, third);
  EXPECT_EQ(error_of<ct::ValueError>(update), "");
  EXPECT_EQ(error_of<ct::ValueError>(update), "");
}

struct TrainedNet : ct::Chain {
  L::Linear l1, l2;
  TrainedNet() : l1(8), l2(3) {}
  CT_LINKS(l1, l2)
  ct::Variable operator()(const ct::Variable& x) { return l2(F::tanh(l1(x))); }
};

TEST(OnRanks, GradientsAndParameters) {
  for (const char* name : {"naive", "flat", "non_cuda_aware", "dummy"}) {
    const D::Communicator c = D::create_communicator(name);
    TrainedNet net;
    ct::random::seed(static_cast<std::uint64_t>(rank()));
    EXPECT_THROW(c.bcast_data(net), ct::ValueError);  // not initialised
    net(filled({1, 4}, 1));
    c.bcast_data(net);
    for (const auto& [path, p] : net.namedparams()) {
      const std::vector<ct::Array> all = c.allgather(p.array());
      for (const ct::Array& values : all) expect_same(values, all[0], path);
    }
    net.cleargrads();
    net.l1.W.set_grad(filled(net.l1.W.shape(), rank() + 1));
    if (rank() == 0) net.l2.b.set_grad(filled({3}, 2));
    c.multi_node_mean_grad(net, true);
    const bool exchanged = std::string(name) != "dummy" && size() > 1;
    EXPECT_EQ(net.l1.W.grad().to_vector<double>()[5], exchanged ? 0.5 * (size() + 1) : rank() + 1.0) << name;
    if (exchanged) {
      EXPECT_FLOAT_EQ(net.l2.b.grad().to_vector<float>()[2], 2.0f / static_cast<float>(size())) << name;
      EXPECT_EQ(net.l2.W.grad().to_vector<double>()[0], 0.0);
      net.cleargrads();
      if (rank() == 0) net.l2.b.set_grad(filled({3}, 2));
      EXPECT_THROW(c.multi_node_mean_grad(net), ct::ValueError) << name;  // other ranks have no gradient
    }
  }
}

TEST(OnRanks, GradientsIn16Bits) {
  const D::Communicator c = D::create_communicator("flat", {.allreduce_grad_dtype = ct::Dtype::float16});
  L::Linear link(4, 3);
  c.bcast_data(link);
  link.cleargrads();
  link.W.set_grad(filled({3, 4}, 0.1));
  link.b.set_grad(filled({3}, 1));
  c.multi_node_mean_grad(link);
  EXPECT_EQ(link.W.dtype(), link.W.grad().dtype());
  EXPECT_EQ(link.W.grad().to_vector<float>()[0], size() == 1 ? 0.1f : float{ct::float16(0.1f)});
}

TEST(OnRanks, ModelsThatDifferAreTold) {
  if (size() == 1) return;
  L::Linear link(4, rank() == 0 ? 3 : 2);
  const std::string text = error_of<ct::ValueError>([&] { comm().bcast_data(link); });
  EXPECT_NE(text.find("/W float32 (3, 4) and /W float32 (2, 4)"), std::string::npos) << text;
}

// Quantised weights replace parameters: all ranks get rank 0's.
TEST(OnRanks, QuantisedWeightsAreRankZeros) {
  struct Net : ct::Chain {
    L::Linear fixed{6, 4}, head{4, 2};
    CT_LINKS(fixed, head)
    ct::Variable operator()(const ct::Variable& x) { return F::sum(head(fixed(x))); }
  };
  for (const bool by_update : {false, true}) {
    ct::random::seed(static_cast<std::uint64_t>(rank() + 1));
    Net net;
    L::quantize(net, ct::Quantization::int8, {.keep = {"head"}});
    const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.1), comm());
    optimizer.setup(net);
    if (by_update) {
      optimizer.update([&] { return net(filled({3, 6}, rank())); });
    } else {
      comm().bcast_data(net);
    }
    const ct::Array here = net(filled({3, 6}, 1)).array();
    for (const float each : comm().allgather_obj(here.item<float>())) EXPECT_EQ(each, here.item<float>());
  }
  if (size() == 1) return;
  L::Linear link(256, 3);
  link.quantize(rank() == 0 ? ct::Quantization::q4_k : ct::Quantization::q4_0);
  const std::string text = error_of<ct::ValueError>([&] { comm().bcast_data(link); });
  EXPECT_NE(text.find("/W Q4_K (3, 256) and /W Q4_0 (3, 256)"), std::string::npos) << text;
}

/// Returns 5 examples for a rank, or the batch of all ranks for -1.
ct::Batch batch_of(int of, int iteration) {
  std::vector<ct::Array> xs, ts;
  for (int r = 0; r < size(); ++r) {
    if (of >= 0 && r != of) continue;
    ct::random::Generator generator{static_cast<std::uint64_t>(100 * r + iteration), 0};
    xs.push_back(ct::random::uniform(-1.0, 1.0, {5, 6}, {.dtype = ct::Dtype::float32, .generator = &generator}));
    ts.push_back((xs.back().sum(1) > 0).astype(ct::Dtype::int32));
  }
  return ct::Batch({ct::Variable(ct::concatenate(xs)), ct::Variable(ct::concatenate(ts))});
}

template <class Optimizer>
void expect_training_agrees(Optimizer ours, Optimizer alone, int iterations) {
  ct::random::set_state({5, 0});  // equal on all ranks, unlike seed(5)
  const L::Classifier single{TrainedNet()};
  alone.setup(single);
  alone.target()(batch_of(-1, 0));                           // initialises the weights now
  ct::random::seed(static_cast<std::uint64_t>(5 + rank()));  // other ranks' weights do not matter
  const L::Classifier model{TrainedNet()};
  D::create_multi_node_optimizer(ours, comm()).setup(model);
  for (int i = 0; i < iterations; ++i) {
    double loss = 0, expected = 0;
    const ct::Batch mine = batch_of(rank(), i), all = batch_of(-1, i);
    ct::Variable last;
    ours.update([&] { return last = ours.target()(mine); });
    loss = comm().allreduce_obj(last.array().template item<double>()) / size();
    alone.update([&] { return last = alone.target()(all); });
    expected = last.array().template item<double>();
    EXPECT_NEAR(loss, expected, 1e-5) << "iteration " << i;
  }
  EXPECT_EQ(ours.t(), iterations);
  for (const auto& [path, p] : model.namedparams()) {
    const std::vector<ct::Array> of_all = comm().allgather(p.array());
    for (const ct::Array& values : of_all) expect_same(values, of_all[0], path);
  }
}

TEST(OnRanks, TrainingIsThatOfOneProcess) {
  expect_training_agrees(ct::optimizers::Adam(), ct::optimizers::Adam(), 20);
  expect_training_agrees(ct::optimizers::SGD(), ct::optimizers::SGD(), 300);
}

TEST(OnRanks, TheFirstUpdate) {
  ct::random::seed(static_cast<std::uint64_t>(rank()));
  const L::Classifier model{TrainedNet()};
  const auto optimizer =
      D::create_multi_node_optimizer(ct::optimizers::SGD(), comm(), {.first_update_broadcasts_only = true});
  optimizer.setup(model);
  const auto same = [&] {
    for (const auto& [path, p] : model.namedparams()) {
      const std::vector<ct::Array> of_all = comm().allgather(p.array());
      for (const ct::Array& values : of_all) expect_same(values, of_all[0], path);
    }
  };
  optimizer.update(batch_of(rank(), 0));
  EXPECT_EQ(optimizer.t(), size() == 1 ? 1 : 0);
  same();
  optimizer.update(batch_of(rank(), 0));
  EXPECT_EQ(optimizer.t(), size() == 1 ? 2 : 1);
  same();

  // update() alone: no step with gradients of other parameters, a full step if the parameters are equal
  for (const bool equal : {false, true}) {
    ct::random::seed(static_cast<std::uint64_t>(rank()));
    L::Linear link(6, 2);
    const auto bare = D::create_multi_node_optimizer(ct::optimizers::SGD(), comm());
    bare.setup(link);
    if (equal) comm().bcast_data(link);
    link.cleargrads();
    link.W.set_grad(filled({2, 6}, rank()));
    bare.update();
    EXPECT_EQ(bare.t(), equal || size() == 1 ? 1 : 0);
  }
}

struct Noisy : ct::Chain {
  L::Linear l1{4};
  L::BatchNormalization bn{4};
  CT_LINKS(l1, bn)
  ct::Variable operator()(const ct::Variable& x) { return F::sum(F::dropout(bn(l1(x)))); }
};

TEST(OnRanks, TheFirstForwardPassLeavesNoTrace) {
  const Noisy model;
  const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(), comm());
  optimizer.setup(model);
  ct::random::seed(7);
  int passes = 0;
  std::vector<std::uint64_t> calls;
  std::vector<std::vector<float>> means;
  ct::Observation observation;
  const ct::Reporter reporter;
  const ct::ReportScope scope(reporter, observation);
  optimizer.update([&] {
    calls.push_back(ct::random::get_state().call);
    means.push_back(model.bn.avg_mean.array().to_vector<float>());
    ++passes;
    return ct::Model(model)(batch_of(rank(), 0)[0]);
  });
  EXPECT_EQ(passes, size() == 1 ? 1 : 2);
  EXPECT_EQ(calls.front(), calls.back());
  EXPECT_EQ(means.front(), means.back());
  EXPECT_NE(model.bn.avg_mean.array().to_vector<float>(), means.front());
}

/// Several buckets of gradients: a layer used twice, a layer that only rank 0 uses, an unused layer, and collectives in
/// forward and backward.
struct Wide : ct::Chain {
  L::Linear first{20, 600}, twice{600, 600}, sometimes{600, 600}, never{600, 700}, last{600, 3};
  D::MultiNodeBatchNormalization bn{600, comm()};
  CT_LINKS(first, twice, sometimes, never, last, bn)
  bool forgets = false;
  ct::Variable operator()(const ct::Variable& x) const {
    const auto inside = [&](const ct::Variable& v) { return F::tanh(twice(bn(v))); };
    const ct::Variable v = first(x), h = F::tanh(twice(forgets ? F::forget(inside, v) : inside(v)));
    return F::sum(last(rank() == 0 ? F::tanh(sometimes(h)) : h));
  }
};

ct::Variable input_of(int of, int iteration) {
  ct::random::Generator generator{static_cast<std::uint64_t>(1000 * of + iteration), 1};
  return ct::Variable(ct::random::uniform(-1.0, 1.0, {4, 20}, {.dtype = ct::Dtype::float32, .generator = &generator}));
}

void expect_same_parameters(const ct::Link& got, const ct::Link& expected, const std::string& what) {
  const auto all = got.namedparams(), others = expected.namedparams();
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE((all[i].second.array() == others[i].second.array()).all()) << what << all[i].first;
}

TEST(OnRanks, GradientsAreTheSameWhereTheyAreExchangedDuringBackward) {
  for (const std::optional<double> scale : {std::optional<double>(), std::optional<double>(64)}) {
    for (const std::optional<ct::Dtype> dtype : {std::optional<ct::Dtype>(), std::optional(ct::Dtype::float16)}) {
      const D::Communicator flat = D::create_communicator("flat", {.allreduce_grad_dtype = dtype});
      Wide model, plain;
      model.forgets = true;  // recomputed values are exchanged like all others
      comm().bcast_data(model);
      plain.copyparams(model);
      const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::MomentumSGD(0.01), flat, {.overlap = true});
      optimizer.setup(model);
      const ct::optimizers::MomentumSGD alone(0.01);
      alone.setup(plain);
      if (scale) optimizer.set_loss_scale(*scale);
      for (int i = 0; i < 3; ++i) {
        const ct::Variable x = input_of(rank(), i);
        if (i == 2) {  // without a loss, there is nothing to overlap with
          model.cleargrads();
          model(x).backward(false, false, scale);
          optimizer.update();
        } else {
          optimizer.update([&] { return model(x); });
        }
        plain.cleargrads();
        plain(x).backward(false, false, scale);
        flat.multi_node_mean_grad(plain, true);
        alone.update();
        EXPECT_EQ(optimizer.t(), i + 1);
        expect_same_parameters(model, plain, fmt::format("iteration {} ", i));
        const auto sum = model.sometimes.W.array().sum().item<double>();
        for (const double each : comm().allgather_obj(sum)) EXPECT_EQ(each, sum) << "of all ranks";
      }
    }
  }
}

// A parameter that only one rank's batch uses gets zeros on other ranks, in the loss scale of the whole mean.
TEST(OnRanks, ZerosOfSomeRanksAreInTheLossScale) {
  struct Two : ct::Link {
    ct::Parameter a = ct::Parameter::from_array(filled({3}, 1)), b = ct::Parameter::from_array(filled({3}, 1));
    CT_LINKS(a, b)
  };
  for (const char* name : {"naive", "flat"}) {
    for (const bool by_hand : {false, true}) {
      const D::Communicator c = D::create_communicator(name);
      const Two model;
      const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.5), c);
      const ct::optimizers::SGD alone(0.5);
      (by_hand ? static_cast<const ct::Optimizer&>(alone) : optimizer).setup(model);
      for (int i = 0; i < 2; ++i) {
        const auto loss = [&] { return rank() == size() - 1 ? F::sum(model.a + model.b * 3.0) : F::sum(model.a); };
        if (by_hand) {
          model.cleargrads();
          loss().backward(false, false, 64.0);
          c.multi_node_mean_grad(model, true);
          alone.update();
        } else {
          optimizer.set_loss_scale(64);
          optimizer.update(loss);
        }
      }
      const double each = model.b.array().to_vector<double>()[0];
      EXPECT_NEAR(model.a.array().to_vector<double>()[0], 0, 1e-6) << name << by_hand;
      EXPECT_NEAR(each, 1 - 3.0 / size(), 1e-6) << name << by_hand;
    }
  }
}

// An inf in one rank's gradient is in the mean: all ranks skip the update, halve the scale, and stay equal.
TEST(OnRanks, AnUpdateIsSkippedByAll) {
  for (const char* name : {"naive", "flat", "non_cuda_aware"}) {
    for (const bool overlap : {false, true}) {
      const D::Communicator communicator = D::create_communicator(name);
      if (overlap && std::string(name) != "flat") continue;
      const Half model;
      const auto optimizer =
          D::create_multi_node_optimizer(ct::optimizers::Adam({.alpha = 0.125}), communicator, {.overlap = overlap});
      optimizer.setup(model);
      std::vector<double> before;
      for (int i = 0; i < 5; ++i) {
        before = model.w.array().to_vector<double>();
        const double factor =
            i == 3 && rank() == size() - 1 ? 60000 : 0.25 * (rank() + 1);  // times 8 it overflows to inf
        optimizer.update([&] { return F::sum(model.w * ct::full({5}, factor, ct::Dtype::float16)); });
        EXPECT_EQ(optimizer.is_safe_to_update(), i != 3) << name << overlap;
        EXPECT_EQ(model.w.array().to_vector<double>() == before, i == 3) << name << overlap;
      }
      EXPECT_NEAR(optimizer.loss_scale().value(), 4 * std::exp2(1e-3), 1e-5);
      for (const double w : model.w.array().to_vector<double>()) EXPECT_NEAR(w, 0.5, 2e-3);
      const std::vector<double> all = comm().allreduce(model.w.array().astype(ct::Dtype::float64)).to_vector<double>();
      for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k], size() * model.w.array().to_vector<double>()[k]);
    }
  }
}

// With double buffering, gradients are exchanged during the next iteration, when the scale has changed.
TEST(OnRanks, AnUpdateIsSkippedByAllAnIterationLater) {
  const D::Communicator flat = D::create_communicator("flat");
  const Half model;
  const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.125), flat, {.double_buffering = true});
  optimizer.setup(model);
  double expected = 1;
  for (int i = 0; i < 7; ++i) {
    const double factor = i == 3 && rank() == size() - 1 ? 60000 : 0.25 * (rank() + 1);
    optimizer.update([&] { return F::sum(model.w * ct::full({5}, factor, ct::Dtype::float16)); });
    EXPECT_EQ(optimizer.is_safe_to_update(), i != 4) << i;
    if (i > 0 && i != 4)
      expected -= 0.125 * 0.125 * (size() + 1);  // the mean of 0.25, 0.5, … from the previous iteration
    for (const double w : model.w.array().to_vector<double>()) EXPECT_NEAR(w, expected, 2e-3) << i;
  }
  const std::vector<double> all = comm().allreduce(model.w.array().astype(ct::Dtype::float64)).to_vector<double>();
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k], size() * model.w.array().to_vector<double>()[k]);
}

TEST(OnRanks, DoubleBuffering) {
  // the formula in float64 for all ranks' gradients, one iteration late; the first update only starts the exchange
  const D::Communicator flat = D::create_communicator("flat");
  L::Linear model(3, 2, {.nobias = true});
  const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.125), flat, {.double_buffering = true});
  optimizer.setup(model);
  comm().bcast_data(model);
  std::vector<double> expected = model.W.array().to_vector<double>(), before;
  // the loss sum(a W + W² / 2) has the gradient a + W
  const auto factors = [&](int of, int i) { return ct::full({2, 3}, 0.25 * (of + 1) * (i + 1), ct::Dtype::float32); };
  for (int i = 0; i < 6; ++i) {
    optimizer.set_loss_scale(i % 2 ? 8.0 : 2.0);  // each exchange keeps its scale
    std::vector<double> gradient(expected.size());
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      gradient[k] = expected[k];
      for (int r = 0; r < size(); ++r) gradient[k] += 0.25 * (r + 1) * (i + 1) / size();
    }
    optimizer.update([&] { return F::sum(model.W * factors(rank(), i)) + F::sum(model.W * model.W) * 0.5f; });
    EXPECT_EQ(optimizer.t(), i);
    for (std::size_t k = 0; k < before.size(); ++k) expected[k] -= 0.125 * before[k];
    before = gradient;
    const std::vector<double> got = model.W.array().to_vector<double>();
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-5) << i;
  }
  EXPECT_THROW(D::create_multi_node_optimizer(ct::optimizers::SGD(0.1), D::create_communicator("naive"),
                                              {.double_buffering = true}),
               ct::ValueError);
  EXPECT_THROW(
      D::create_multi_node_optimizer(ct::optimizers::SGD(0.1), D::create_communicator("naive"), {.overlap = true}),
      ct::ValueError);
  EXPECT_THROW(D::create_multi_node_optimizer(ct::optimizers::SGD(0.1), D::create_communicator("dummy"),
                                              {.double_buffering = true}),
               ct::ValueError);
}

TEST(OnRanks, HooksSeeTheMeanOfGradients) {
  struct Seen final : ct::OptimizerHook {
    std::string name() const override { return "Seen"; }
    void operator()(const ct::Optimizer& optimizer) override {
      for (const ct::Parameter& p : optimizer.target().link().params())
        values.push_back(p.grad().to_vector<double>()[0]);
    }
    std::vector<double> values;
  };
  const L::Linear model(2, 1, {.nobias = true});
  comm().bcast_data(model);
  for (const bool overlap : {false, true}) {
    const auto optimizer =
        D::create_multi_node_optimizer(ct::optimizers::SGD(0.1), D::create_communicator("flat"), {.overlap = overlap});
    const auto seen = std::make_shared<Seen>();
    optimizer.setup(model);
    optimizer.add_hook(seen);
    optimizer.set_loss_scale(4);
    optimizer.update([&] { return F::sum(model.W) * static_cast<float>(rank() + 1); });
    EXPECT_EQ(seen->values, std::vector<double>{0.5 * (size() + 1)});
  }
}

TEST(OnRanks, OverlapsWhereThereIsTime) {
  const int cores = ct::os::usable_processors();
  const bool dealt_out = cores < ct::os::online_processors();
  const int own = dealt_out ? cores : std::max(1, cores / comm().intra_size());
  const bool has_time = comm().inter_size() > 1 || own > ct::num_threads();
  EXPECT_EQ(D::create_communicator("flat").overlaps(), size() > 1 && has_time);
  EXPECT_FALSE(D::create_communicator("naive").overlaps());
}

struct Normalized : ct::Chain {
  L::BatchNormalization bn{3};
  CT_LINKS(bn)
  ct::Variable operator()(const ct::Variable& x) { return bn(x); }
};

TEST(OnRanks, BatchNormalizationOverAllRanks) {
  const auto draw = [](int seed) {
    ct::random::Generator generator{static_cast<std::uint64_t>(seed), 0};
    return ct::random::uniform(-2.0, 2.0, {6, 3}, {.dtype = ct::Dtype::float32, .generator = &generator});
  };
  std::vector<ct::Array> xs, gys;
  for (int r = 0; r < size(); ++r) {
    xs.push_back(draw(r));
    gys.push_back(draw(100 + r));
  }
  const Normalized plain;
  plain.cleargrads();
  ct::Variable all(ct::concatenate(xs));
  ct::Variable y = ct::Model(plain)(all);
  y.set_grad(ct::concatenate(gys));
  y.backward();

  const D::MultiNodeBatchNormalization link(3, comm());
  const Normalized model = D::create_mnbn_model(Normalized(), comm());
  const std::int64_t begin = 6 * rank();
  const auto near = [](const ct::Array& got, const ct::Array& expected, const char* what) {
    EXPECT_LT(ct::absolute(got - expected).max().item<double>(), 1e-5) << what;
  };
  for (const L::BatchNormalization& bn : {static_cast<const L::BatchNormalization&>(link), model.bn}) {
    ct::Variable x(xs[static_cast<std::size_t>(rank())]);
    bn.cleargrads();
    const ct::Variable out = bn(x);
    near(out.array(), y.array()(ct::slice(begin, begin + 6)), "y");
    out.set_grad(gys[static_cast<std::size_t>(rank())]);
    out.backward();
    near(x.grad(), all.grad()(ct::slice(begin, begin + 6)), "gx");
    near(bn.gamma.grad(), plain.bn.gamma.grad() / static_cast<float>(size()), "ggamma");
    near(bn.beta.grad(), plain.bn.beta.grad() / static_cast<float>(size()), "gbeta");
    near(bn.avg_mean.array(), plain.bn.avg_mean.array(), "avg_mean");
  }
  // the variance starts with 0 as in ChainerMN, and with 1 as in Chainer
  EXPECT_EQ(D::MultiNodeBatchNormalization(3, comm()).avg_var->to_vector<double>(), std::vector<double>(3, 0));
  EXPECT_EQ(L::BatchNormalization(3).avg_var->to_vector<double>(), std::vector<double>(3, 1));
  L::BatchNormalization alone(3);  // the original model is unchanged
  EXPECT_EQ(alone.type_name(), "BatchNormalization");
}

TEST(OnRanks, ScatterDataset) {
  for (const std::int64_t n : {10, 11, 3, 64}) {
    for (const bool equal : {true, false}) {
      std::vector<int> numbers(static_cast<std::size_t>(n));
      std::iota(numbers.begin(), numbers.end(), 0);
      const auto [begin, end] = D::scatter_index(rank() == 0 ? n : -1, comm(), {.force_equal_length = equal});
      const std::int64_t longer = std::min<std::int64_t>(rank(), n % size());
      EXPECT_EQ(begin, equal ? n * rank() / size() : n / size() * rank() + longer);
      EXPECT_EQ(end - begin, equal ? (n + size() - 1) / size() : n / size() + (rank() < n % size()));
      const ct::Dataset part =
          D::scatter_dataset(rank() == 0 ? ct::Dataset(numbers) : ct::Dataset(), comm(), {.force_equal_length = equal});
      ASSERT_EQ(part.size(), end - begin);
      for (std::int64_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i].values.at(0).item<int>(), begin + i);
    }
  }
  EXPECT_THROW(D::scatter_dataset(ct::Dataset(), comm()), ct::ValueError);
  EXPECT_THROW(D::scatter_dataset(ct::Dataset(), comm(), {.root = size()}), ct::ValueError);

  // named columns, shuffled by a seed, so that all examples occur once
  const ct::Array x = ct::arange(24).reshape({12, 2}).to_device(ct::Device());
  const ct::datasets::DictDataset whole({{"x", x}, {"t", ct::arange(12).to_device(ct::Device())}});
  const ct::Dataset part = D::scatter_dataset(rank() == 0 ? ct::Dataset(whole) : ct::Dataset(), comm(),
                                              {.shuffle = true, .seed = 3, .force_equal_length = false});
  ct::Columns columns;
  ASSERT_TRUE(part.get_columns({0}, columns));
  EXPECT_EQ(columns.names, (std::vector<std::string>{"x", "t"}));
  std::vector<int> mine;
  for (std::int64_t i = 0; i < part.size(); ++i) {
    mine.push_back(part[i].values[1].item<int>());
    EXPECT_EQ(part[i].values[0].to_vector<int>()[1], 2 * mine.back() + 1);
  }
  std::vector<int> all;
  for (const auto& of : comm().allgather_obj(mine)) all.insert(all.end(), of.begin(), of.end());
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 12; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);

  // the order depends on the seed alone
  const auto dealt = [&](std::uint64_t seed) {
    ct::random::uniform(0.0, 1.0, {1});
    const ct::Dataset share =
        D::scatter_dataset(rank() == 0 ? ct::Dataset(whole) : ct::Dataset(), comm(), {.shuffle = true, .seed = seed});
    std::vector<int> numbers;
    for (std::int64_t i = 0; i < share.size(); ++i) numbers.push_back(share[i].values[1].item<int>());
    return comm().allgather_obj(numbers);
  };
  const auto third = dealt(3);
  EXPECT_EQ(dealt(3), third);
  EXPECT_NE(dealt(4), third);
}

struct Mean : ct::Chain {
  L::Linear l1{1, 1};
  CT_LINKS(l1)
  ct::Variable operator()(const ct::Variable& x) {
    ct::report({{"value", F::mean(x)}}, *this);
    return x;
  }
};

TEST(OnRanks, EvaluatorsAverageOverAllBatches) {
  // ranks have different numbers of batches, so a mean of means would differ
  std::vector<float> numbers(static_cast<std::size_t>(2 * (rank() + 1)), static_cast<float>(rank()));
  const auto batches = ct::iterators::SerialIterator(numbers, 2, {.repeat = false, .shuffle = false});
  auto evaluator =
      D::create_multi_node_evaluator(ct::training::extensions::Evaluator(batches, ct::Model(Mean())), comm());
  EXPECT_EQ(evaluator.default_name(), "validation");
  double sum = 0, count = 0;
  for (int r = 0; r < size(); ++r) {
    sum += r * (r + 1);
    count += r + 1;
  }
  const auto means = evaluator();
  ASSERT_EQ(means.size(), 1u);
  EXPECT_EQ(means[0].first, "main/value");
  EXPECT_DOUBLE_EQ(means[0].second, sum / count);
}

TEST(OnRanks, EvaluatorsWeighBatchesByTheirExamples) {
  // rank r has the 2 r + 3 numbers from r + 1 to r + 2 r + 3, in batches of 4
  const int n = 2 * rank() + 3;
  std::vector<float> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), static_cast<float>(rank() + 1));
  const auto batches = ct::iterators::SerialIterator(numbers, 4, {.repeat = false, .shuffle = false});
  double sum = 0, count = 0, sum_of_batches = 0, batch_count = 0;
  for (int r = 0; r < size(); ++r) {
    for (int first = 0; first < 2 * r + 3; first += 4) {
      const int in_batch = std::min(4, 2 * r + 3 - first);
      const double mean = r + 1 + first + (in_batch - 1) / 2.0;
      sum += mean * in_batch;
      count += in_batch;
      sum_of_batches += mean;
      ++batch_count;
    }
  }
  const auto mean_of = [&](const ct::training::extensions::EvaluatorOptions& options) {
    return D::create_multi_node_evaluator(ct::training::extensions::Evaluator(batches, ct::Model(Mean()), options),
                                          comm())()
        .at(0)
        .second;
  };
  EXPECT_NEAR(mean_of({}), sum / count, 1e-6);
  EXPECT_NEAR(mean_of({.weigh_batches_equally = true}), sum_of_batches / batch_count, 1e-6);
}

TEST(OnRanks, ARankWithoutExamplesHasTheOthersMeans) {
  for (const bool columns : {false, true}) {
    const int n = std::max(1, size() - 1);
    std::vector<float> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    const ct::Dataset whole = columns ? ct::Dataset(ct::datasets::TupleDataset(ct::Array::from_host(
                                            numbers.data(), {n}, ct::Dtype::float32, ct::Device())))
                                      : ct::Dataset(numbers);
    const ct::Dataset part =
        D::scatter_dataset(rank() == 0 ? whole : ct::Dataset(), comm(), {.force_equal_length = false});
    EXPECT_EQ(part.size(), rank() < n ? 1 : 0);
    const auto batches = ct::iterators::SerialIterator(part, 2, {.repeat = false, .shuffle = false});
    const auto means =
        D::create_multi_node_evaluator(ct::training::extensions::Evaluator(batches, ct::Model(Mean())), comm())();
    ASSERT_EQ(means.size(), 1u);
    EXPECT_DOUBLE_EQ(means[0].second, (n + 1) / 2.0);
  }
}

}  // namespace
