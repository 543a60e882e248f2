// Links with state, including a user-defined one: an evaluation during training leaves their state unchanged, and
// recomputation by F::forget() gives the gradients and the state of a single computation.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <regex>
#include <set>

#include "catenary/catenary.h"
#include "tests/folder.h"
#include "tests/gradients.h"
#include "tests/links/helpers.h"
#include "tests/paths.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;
using ct::Array;
using ct::Variable;

namespace {

using ct::test::numbers;

/// A user-defined link with state, as in docs/guide/tutorial.md.
struct Own : ct::Chain {
  L::Linear in{3, 4}, out{4, 4};
  ct::StateVariable h;
  CT_LINKS(in, out, h)
  std::string type_name() const override { return "Own"; }
  Variable operator()(const Variable& x) const {
    const Variable before = ct::state_rows(*this, h, x.shape(0));
    const Variable y = F::tanh(before.defined() ? in(x) + out(before) : in(x));
    ct::remember_rows(h, y);
    return y;
  }
};

/// Calls f with each link [n, 3] -> [n, 4] that has a state.
template <class Call>
void for_each_link_that_remembers(const Call& f) {
  const auto one = [&](const auto& link) {
    SCOPED_TRACE(link.type_name());
    f(link);
  };
  one(L::LSTM(3, 4));
  one(L::StatefulPeepholeLSTM(3, 4));
  one(L::StatefulZoneoutLSTM(3, 4));
  one(L::StatefulGRU(3, 4));
  one(L::StatefulMGU(3, 4));
  one(Own());
}

std::vector<Array> states_of(const ct::Link& link) {
  struct Collect : ct::MemberVisitor {
    std::vector<Array> all;
    void child(const std::string&, ct::Link&) override {}
    void parameter(const std::string&, ct::Parameter&) override {}
    void persistent(const std::string&, ct::Persistent&) override {}
    void state(const std::string&, ct::StateVariable& s) override {
      all.push_back(s.defined() ? s->array().copy() : ct::zeros({0}));
    }
  } states;
  link.visit_members(states);
  return states.all;
}

void expect_same(const std::vector<Array>& a, const std::vector<Array>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape()) << i;
    EXPECT_TRUE((a[i] == b[i]).all()) << i;
  }
}

TEST(States, TheListHasEachLinkThatRemembers) {
  std::set<std::string> listed, found;
  for_each_link_that_remembers([&](const auto& link) { listed.insert(link.type_name()); });
  const std::regex type("class CT_API (\\w+)[^;]*\\{"), state("^  StateVariable ");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests::source_path("catenary"))) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    std::string last;
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (std::regex_search(line, match, type)) last = match[1];
      if (std::regex_search(line, state)) found.insert(last);
    }
  }
  found.insert("Own");
  EXPECT_EQ(listed, found);
}

/// Weights, gradients and states after some steps. With `forgets`, the last step is also computed in nested F::forget()
/// calls. States flow from step to step, over shrinking batches, from an initial state that is learnt.
template <class Link>
std::vector<Array> stepped(const Link& link, bool forgets, double loss_scale) {
  ct::random::seed(3);
  link.cleargrads();
  const ct::StateScope states;  // starts empty
  const Variable begin(numbers({4, 4}, 9)), x(numbers({4, 3}));
  link.h = begin;
  const auto call = [&](const Variable& v) { return link(v); };
  const auto step = [&](const Variable& v) { return forgets ? F::forget(call, v) : call(v); };
  Variable total;
  for (const int rows : {4, 3, 3, 1}) {
    const auto twice = [&](const Variable& v) { return F::tanh(step(v * 2)) + step(v); };
    const Variable v = x(ct::slice(rows)) * (1.0 + rows);
    const Variable y = rows > 1 ? step(v) : forgets ? F::forget(twice, v) : twice(v);
    const Variable loss = F::sum(y * numbers(y.shape(), 5));
    total = total.defined() ? total + loss : loss;
  }
  total = total + F::sum(link.h.variable() * 0.3);
  total.backward(false, false, loss_scale);
  std::vector<Array> all = {total.array(), x.grad(), begin.grad()};
  for (const ct::Parameter& p : link.params()) {
    EXPECT_EQ(p.loss_scale(), loss_scale);
    all.push_back(p.grad());
  }
  for (const Array& state : states_of(link)) all.push_back(state);
  EXPECT_EQ(begin.loss_scale(), loss_scale);
  return all;
}

TEST(States, ForgetHasTheGradientsAndTheStateOfTheLinkAlone) {
  const auto scope = tests::one_by_one_on_devices();
  for_each_link_that_remembers([](const auto& link) {
    for (const double loss_scale : {1.0, 64.0}) {
      const std::vector<Array> plain = stepped(link, false, loss_scale), forgotten = stepped(link, true, loss_scale);
      ASSERT_EQ(plain.size(), forgotten.size());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        SCOPED_TRACE(i);
        // sums of gradients may have another order
        ct::gradient_check::assert_allclose(plain[i], forgotten[i], 1e-4, 1e-4);
      }
    }
  });
}

TEST(States, ForgetTrainsAsTheModelAlone) {
  const auto scope = tests::one_by_one_on_devices();
  for_each_link_that_remembers([](const auto& prototype) {
    const auto trained = [&](bool forgets) {
      ct::random::seed(5);
      const auto link = ct::copy_link(prototype, ct::CopyMode::copy);
      link.cleargrads();
      const ct::optimizers::SGD optimizer(0.1);
      optimizer.setup(link);
      optimizer.set_loss_scale(64);
      for (int i = 0; i < 4; ++i) {
        Variable loss;
        optimizer.update([&] {
          const auto call = [&](const Variable& v) { return link(v); };
          const Array x = numbers({4, 3}, i);
          loss = F::sum(F::square(forgets ? F::forget(call, x) : call(x)));
          return loss;
        });
        loss.unchain_backward();
      }
      std::vector<Array> all = states_of(link);
      for (const ct::Parameter& p : link.params()) all.push_back(p.array());
      return all;
    };
    expect_same(trained(false), trained(true));
  });
}

// A link created by the function belongs to nobody. A link that was destroyed cannot be computed again.
TEST(States, ForgetAndLinksThatGo) {
  const Variable x(numbers({4, 3}));
  const auto with_own = [](const Variable& v) {
    ct::random::seed(1);
    const L::LSTM lstm(3, 4);
    lstm(v);
    return lstm(v);
  };
  F::sum(F::forget(with_own, x)).backward();
  const Array forgotten = x.grad();
  x.cleargrad();
  F::sum(with_own(x)).backward();
  EXPECT_TRUE((forgotten == x.grad()).all());

  auto link = std::make_unique<L::LSTM>(3, 4);
  const Variable y = F::sum(F::forget([&](const Variable& v) { return (*link)(v); }, x));
  link.reset();
  EXPECT_THROW(y.backward(), ct::ValueError);
}

/// Training with truncated backpropagation on batches of 4, optionally with evaluations on batches of 7.
template <class Recurrent>
struct RecurrentNet : ct::Chain {
  Recurrent link;
  L::Linear out{4, 2};
  explicit RecurrentNet(const Recurrent& l) : link(l) {}
  CT_LINKS(link, out)
  Variable operator()(const Variable& x) const { return out(link(x)); }
};
template <class Link>
std::vector<Array> trained(const Link& prototype, bool evaluates, std::vector<double>& validation) {
  const tests::Folder folder;
  ct::random::seed(4);
  const RecurrentNet<Link> net(ct::copy_link(prototype, ct::CopyMode::copy));
  const L::Classifier model(net);
  const ct::optimizers::Adam optimizer;
  optimizer.setup(model);
  const Array x = numbers({31, 3}), t = (x(ct::slice(), 0) > 0).astype(ct::Dtype::int32);
  const ct::datasets::TupleDataset data(x, t);
  const T::StandardUpdater updater(ct::iterators::SerialIterator(data, 4, {.shuffle = false}), optimizer,
                                   {.device = ct::current_device(), .update_core = [&](const ct::Batch& b) {
                                      const Variable loss = model(b[0], b[1]);
                                      model.cleargrads();
                                      loss.backward();
                                      loss.unchain_backward();
                                      optimizer.update();
                                    }});
  const T::Trainer trainer(updater, T::Trigger(6, "iteration"), folder.path);
  if (evaluates) {
    const ct::iterators::SerialIterator batches(data, 7, {.repeat = false, .shuffle = false});
    trainer.extend(X::Evaluator(batches, model, {.device = ct::current_device()}),
                   {.trigger = T::Trigger(1, "iteration")});
    trainer.extend(
        [&](T::Trainer& of) { validation.push_back(of.observation().find("validation/main/loss")->value()); },
        {.name = "note", .trigger = T::Trigger(1, "iteration")});
  }
  trainer.run(false);
  std::vector<Array> all = states_of(net.link);
  for (const ct::Parameter& p : model.params()) all.push_back(p.array());
  if (evaluates) {  // again outside the trainer
    X::Evaluator evaluator(ct::iterators::SerialIterator(data, 7, {.repeat = false, .shuffle = false}), model,
                           {.device = ct::current_device()});
    const auto means = evaluator();
    EXPECT_EQ(means.at(0).first, "main/loss");
    EXPECT_EQ(means.at(0).second, validation.back());
    EXPECT_EQ(evaluator.evaluate().means(), means);
    expect_same(states_of(net.link),
                {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(states_of(net.link).size())});
  }
  return all;
}

TEST(States, AnEvaluationAmidATrainingChangesNothing) {
  for_each_link_that_remembers([](const auto& link) {
    std::vector<double> validation;
    expect_same(trained(link, false, validation), trained(link, true, validation));
    EXPECT_EQ(validation.size(), 6u);
  });
}

// During an evaluation, states continue from batch to batch and start empty.
TEST(States, AnEvaluationRemembers) {
  for_each_link_that_remembers([](const auto& link) {
    const RecurrentNet net(link);
    net.link.h = numbers({2, 4});
    const Variable before = net.link.h;
    const ct::datasets::TupleDataset data(numbers({9, 3}));
    std::vector<double> sums;
    const X::Evaluator evaluator(ct::iterators::SerialIterator(data, 4, {.repeat = false, .shuffle = false}), net,
                                 {.device = ct::current_device()});
    evaluator.for_each_batch([&](const ct::Batch& b) {
      EXPECT_FALSE(ct::config.train);
      EXPECT_FALSE(ct::config.enable_backprop);
      EXPECT_EQ(net.link.h.defined(), !sums.empty());
      sums.push_back(F::sum(net(b[0])).template item<double>());
    });
    EXPECT_TRUE(net.link.h->is(before));
    const ct::StateScope states;
    const auto mode = ct::test_mode();
    for (std::size_t i = 0; i < 3; ++i) {
      const int first = 4 * static_cast<int>(i);
      const Array x = numbers({9, 3})(ct::slice(first, std::min(first + 4, 9)));
      EXPECT_EQ(F::sum(net(x)).template item<double>(), sums[i]) << i;
    }
  });
}

// FiniteLoss searches for the examples with empty states.
TEST(States, ALossThatIsNoNumberLeavesThemAsTheyWere) {
  for_each_link_that_remembers([](const auto& link) {
    const RecurrentNet net(link);
    const L::Classifier model(net);
    Array x = numbers({9, 3}).copy();
    x.set(std::numeric_limits<double>::quiet_NaN(), 5, 0);
    const ct::datasets::TupleDataset data(x, ct::zeros({9}, ct::Dtype::int32));
    const T::FiniteLoss loss(model, data);
    const ct::StateScope states;
    try {
      loss(ct::Batch(std::vector<Variable>{x(ct::slice(4, 7)), ct::zeros({3}, ct::Dtype::int32)}));
      FAIL();
    } catch (const ct::ValueError& error) {
      EXPECT_EQ(std::string(error.what()),
                "the loss is nan, so no update was made; by themselves these give such a loss: example 5");
    }
    EXPECT_EQ(net.link.h->shape(0), 3);
  });
}

TEST(States, ABatchMayBeSmallerButNotLarger) {
  for_each_link_that_remembers([](const auto& link) {
    const ct::StateScope states;
    EXPECT_EQ(link(numbers({4, 3})).shape(), (ct::Shape{4, 4}));
    const std::vector<Array> before = states_of(link);
    EXPECT_EQ(link(numbers({1, 3}, 2)).shape(), (ct::Shape{1, 4}));
    EXPECT_EQ(link(numbers({0, 3}, 2)).shape(), (ct::Shape{0, 4}));
    const std::vector<Array> after = states_of(link);
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE((before[i](ct::slice(1, 4)) == after[i](ct::slice(1, 4))).all());
      EXPECT_FALSE((before[i](0) == after[i](0)).all());
    }
    try {
      link(numbers({5, 3}));
      FAIL();
    } catch (const ct::ShapeError& error) {
      EXPECT_TRUE(std::string(error.what())
                      .starts_with(link.type_name() +
                                   ": x has 5 rows, but the state has 4: a batch may not grow without reset_state()"))
          << error.what();
    }
    expect_same(states_of(link), after);
  });
}

}  // namespace
