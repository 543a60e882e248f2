#include <gtest/gtest.h>

#include "catenary/autograd/gradient_check.h"
#include "catenary/catenary.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/links/helpers.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
using ct::Array;
using ct::Variable;
using ct::gradient_check::assert_allclose;

namespace {

using ct::test::numbers;
using tests::error_of;

Array same_bits(const Array& a, const Array& b) { return (a == b).all({}); }

TEST(RecurrentLinks, InitialValues) {
  const L::LSTM lstm(2, 3);
  EXPECT_EQ(lstm.upward.b.array().to_vector<float>(), (std::vector<float>{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}));
  EXPECT_FALSE(lstm.lateral.b.defined());
  const L::StatelessLSTM odd(2, 2,
                             {.lateral_init = ct::initializers::Identity(2), .bias_init = 3, .forget_bias_init = 5});
  EXPECT_EQ(odd.upward.b.array().to_vector<float>(), (std::vector<float>{3, 3, 5, 3, 3, 3, 5, 3}));
  EXPECT_EQ(odd.lateral.W.array()(ct::slice(6, 8)).to_vector<float>(), (std::vector<float>{2, 0, 0, 2}));
  // determined at the first call
  const L::LSTM lazy(4);
  EXPECT_EQ(lazy(numbers({0, 3})).shape(), ct::Shape({0, 4}));
  EXPECT_EQ(lazy.upward.W.shape(), ct::Shape({16, 3}));
  const L::NStepBiGRU stack(2, 3, 5, 0);
  std::vector<std::string> names;
  for (const auto& [path, parameter] : stack.namedparams()) names.push_back(path + parameter.shape().str());
  EXPECT_EQ(names.size(), 4u * 12);
  EXPECT_EQ(names[0], "/0/w0(5, 3)");
  EXPECT_EQ(names[1], "/0/b0(5,)");
  EXPECT_EQ(names[6], "/0/w3(5, 5)");
  EXPECT_EQ(names[3 * 12], "/3/w0(5, 10)");
}

TEST(RecurrentLinks, RememberAndForget) {
  const L::LSTM lstm(2, 3);
  const Array x = numbers({4, 2});
  EXPECT_FALSE(lstm.h.defined());
  const Array first = lstm(x).array();
  const Array second = lstm(x).array();
  EXPECT_TRUE((first != second).any());
  lstm.reset_state();
  EXPECT_FALSE(lstm.c.defined());
  EXPECT_TRUE(same_bits(lstm(x).array(), first).item<bool>());
  // a smaller batch keeps the last rows, also an empty batch
  const Array rest = lstm.h->array()(ct::slice(3, 4)).copy();
  lstm(numbers({3, 2}));
  EXPECT_TRUE(same_bits(lstm.h->array()(ct::slice(3, 4)), rest).item<bool>());
  const Array before = lstm.h->array().copy();
  EXPECT_EQ(lstm(numbers({0, 2})).shape(), ct::Shape({0, 3}));
  EXPECT_TRUE(same_bits(lstm.h->array(), before).item<bool>());
  EXPECT_THROW(lstm(numbers({5, 2})), ct::ShapeError);
  // set_state continues from there
  const L::LSTM other = lstm.copy(ct::CopyMode::copy);
  other.set_state(lstm.c, lstm.h);
  EXPECT_TRUE(same_bits(other(x).array(), lstm(x).array()).item<bool>());
}

// A ratio of 1 keeps all of the old state, and 0 nothing.
TEST(RecurrentLinks, ZoneoutHasARatioForEachState) {
  const auto training = ct::train_mode();
  for (const bool keeps_c : {true, false}) {
    const L::StatefulZoneoutLSTM link(3, 4, keeps_c ? 1 : 0, keeps_c ? 0 : 1);
    const L::StatelessLSTM plain(3, 4);
    plain.copyparams(link);
    Array c = numbers({2, 4}, 5), h = numbers({2, 4}, 6);
    link.set_state(Variable(c), Variable(h));
    for (int step = 0; step < 3; ++step) {
      const Array x = numbers({2, 3}, step);
      const auto [c_next, h_next] = plain(c, h, x);
      (keeps_c ? h : c) = (keeps_c ? h_next : c_next).array();
      assert_allclose(link(x).array(), h);
      assert_allclose(link.c->array(), c);
    }
  }
}

TEST(RecurrentLinks, AnEvaluatorsCopyHasAStateOfItsOwn) {
  const L::LSTM lstm(2, 3);
  const Array x = numbers({4, 2});
  lstm(x);
  const L::LSTM same = lstm;  // a C++ copy is the same link
  EXPECT_TRUE(same.h->is(lstm.h));
  const L::LSTM evaluated = lstm.copy();
  EXPECT_TRUE(evaluated.h->is(lstm.h));
  const Variable h = lstm.h;
  evaluated.reset_state();
  evaluated(x);
  EXPECT_TRUE(lstm.h->is(h));
  EXPECT_TRUE(evaluated.upward.W.is(lstm.upward.W));
  EXPECT_FALSE(lstm.copy(ct::CopyMode::init).h.defined());
}

TEST(RecurrentLinks, TheStateMovesWithTheLink) {
  const ct::Device device = ct::current_device();
  const L::LSTM lstm(2, 3);
  lstm(numbers({4, 2}));
  const Array h = lstm.h->array().to_device(ct::Device());
  lstm.to_device(ct::Device());
  EXPECT_EQ(lstm.h->device(), ct::Device());
  EXPECT_EQ(lstm.c->device(), ct::Device());
  EXPECT_TRUE(same_bits(lstm.h->array(), h).item<bool>());
  lstm.to_device(device);
  EXPECT_EQ(lstm.h->device(), device);
  lstm.set_state(Variable(h), Variable(h));
  EXPECT_EQ(lstm.h->device(), device);
  lstm(numbers({4, 2}));
}

TEST(RecurrentLinks, NStepTakesSequencesOfAnyOrder) {
  const L::NStepLSTM lstm(2, 3, 2, 0);
  const std::vector<Variable> xs = {numbers({1, 3}), numbers({3, 3}, 2), numbers({0, 3}), numbers({2, 3}, 3)};
  const Array hx = numbers({2, 4, 2}, 4), cx = numbers({2, 4, 2}, 5);
  const F::NStepResult all = lstm(hx, cx, xs);
  ASSERT_EQ(all.ys.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(all.ys[static_cast<std::size_t>(i)].shape(), ct::Shape({xs[static_cast<std::size_t>(i)].shape(0), 2}));
    const auto of_one = [&](const Array& a) { return a(ct::slice(), ct::slice(i, i + 1)); };
    if (i == 2) {
      assert_allclose(of_one(all.hy.array()), of_one(hx), 0, 0);
      continue;
    }
    const F::NStepResult one = lstm(of_one(hx), of_one(cx), {xs[static_cast<std::size_t>(i)]});
    assert_allclose(all.ys[static_cast<std::size_t>(i)].array(), one.ys[0].array());
    assert_allclose(of_one(all.hy.array()), one.hy.array());
    assert_allclose(of_one(all.cy.array()), one.cy.array());
  }
  const auto zeros = ct::zeros({2, 4, 2}, ct::Dtype::float32);
  assert_allclose(lstm({}, {}, xs).hy.array(), lstm(zeros, zeros, xs).hy.array(), 0, 0);
  EXPECT_THROW(lstm({}, {}, {}), ct::ValueError);
  const L::NStepBiRNNReLU bi(1, 3, 2, 0);
  EXPECT_EQ(bi({}, xs).ys[1].shape(), ct::Shape({3, 4}));
  // saved under Chainer's names and loaded
  const tests::Folder folder;
  const std::string file = folder / "rnn.npz";
  ct::serializers::save_npz(file, lstm);
  const L::NStepLSTM loaded(2, 3, 2, 0);
  ct::serializers::load_npz(file, loaded);
  EXPECT_TRUE(ct::io::NpzReader(file).contains("1/w7"));
  assert_allclose(loaded(hx, cx, xs).hy.array(), all.hy.array(), 0, 0);
}

TEST(RecurrentLinks, StatesThatDoNotFitAreNamed) {
  const Array x = numbers({2, 3}), state = numbers({4, 4});
  EXPECT_EQ(error_of<ct::ShapeError>([&] { L::StatelessLSTM(3, 4)(Variable(), state, x); }),
            "StatelessLSTM: h must be (2, 4) for x of shape (2, 3), not (4, 4)\n  in StatelessLSTM");
  EXPECT_EQ(error_of<ct::ShapeError>([&] { L::StatelessGRU(3, 4)(state, x); }),
            "StatelessGRU: h must be (2, 4) for x of shape (2, 3), not (4, 4)\n  in StatelessGRU");
  EXPECT_EQ(error_of<ct::ShapeError>([&] { L::StatelessMGU(3, 4)(state, x); }),
            "StatelessMGU: h must be (2, 4) for x of shape (2, 3), not (4, 4)\n  in StatelessMGU");
  EXPECT_EQ(error_of<ct::ShapeError>([&] { L::ChildSumTreeLSTM(3, 4)({state}, {state}, x); }),
            "ChildSumTreeLSTM: each of cs must be (2, 4) for x of shape (2, 3), not (4, 4)");
  EXPECT_EQ(error_of<ct::ShapeError>([&] { L::NaryTreeLSTM(3, 4, 1)({x}, {state}, x); }),
            "NaryTreeLSTM: each of cs must be (2, 4) for x of shape (2, 3), not (2, 3)");
  // a state may have more rows than the batch, but must have the right width
  const L::StatefulPeepholeLSTM peephole(3, 4);
  peephole.set_state(Variable(state), Variable(state));
  EXPECT_EQ(peephole(numbers({1, 3})).shape(), (ct::Shape{1, 4}));
  peephole.set_state(Variable(numbers({1, 4})), Variable());
  EXPECT_EQ(error_of<ct::ShapeError>([&] { peephole(x); }),
            "StatefulPeepholeLSTM: x has 2 rows, but the state has 1: a batch may not grow without reset_state()\n  in "
            "StatefulPeepholeLSTM");
  const L::LSTM lstm(3, 4);
  lstm.set_state(Variable(), Variable(numbers({2, 5})));
  EXPECT_EQ(error_of<ct::ShapeError>([&] { lstm(x); }),
            "LSTM: h must be (2, 4) for x of shape (2, 3), not (2, 5)\n  in LSTM");
}

TEST(RecurrentLinks, NStepTakesAStateForEachSequence) {
  const L::NStepLSTM lstm(2, 3, 4, 0);
  const Array five = numbers({2, 5, 4});
  const std::vector<Variable> longest_first = {numbers({3, 3}), numbers({2, 3})},
                              longest_last = {longest_first[1], longest_first[0]};
  for (const auto& xs : {longest_first, longest_last}) {
    EXPECT_EQ(error_of<ct::ShapeError>([&] { lstm(five, five, xs); }),
              "NStepLSTM: hx must be (2, 2, 4) for 2 sequences, not (2, 5, 4)\n  in NStepLSTM");
    EXPECT_EQ(error_of<ct::ShapeError>([&] { lstm({}, five, xs); }),
              "NStepLSTM: cx must be (2, 2, 4) for 2 sequences, not (2, 5, 4)\n  in NStepLSTM");
  }
  EXPECT_EQ(error_of<ct::ShapeError>([&] {
              lstm({}, {}, {numbers({3, 3}), numbers({3, 2})});
            }),
            "NStepLSTM: xs[1] must be (length, 3), not (3, 2)\n  in NStepLSTM");
  EXPECT_THROW(lstm({}, {}, {numbers({3, 3}), numbers({3, 3}).astype(ct::Dtype::float64)}), ct::DtypeError);
}

/// h = f(W0 x + b0 + W1 h + b1) over time, in each direction, layer by layer: values and gradients.
template <class Link>
void expect_elman(Variable (*activation)(const Variable&), int directions) {
  const Link link(2, 3, 2, 0);
  ASSERT_EQ(link.layers.size(), static_cast<std::size_t>(2 * directions)) << link.type_name();
  const std::vector<Variable> xs = {numbers({2, 3}), numbers({4, 3}, 2)};
  const Variable hx = numbers({2 * directions, 2, 2}, 3);
  std::vector<Variable> inputs = xs, last(static_cast<std::size_t>(4 * directions));
  for (int layer = 0; layer < 2; ++layer) {
    std::vector<Variable> outputs;
    for (int sequence = 0; sequence < 2; ++sequence) {
      const Variable x = inputs[static_cast<std::size_t>(sequence)];
      const auto length = static_cast<int>(x.shape(0));
      std::vector<Variable> both;
      for (int direction = 0; direction < directions; ++direction) {
        const int place = layer * directions + direction;
        const auto& [w, b] =
            std::tie(link.layers[static_cast<std::size_t>(place)].w, link.layers[static_cast<std::size_t>(place)].b);
        Variable h = hx(place, ct::slice(sequence, sequence + 1));
        std::vector<Variable> rows(static_cast<std::size_t>(length));
        for (int step = 0; step < length; ++step) {
          const int t = direction == 0 ? step : length - 1 - step;
          h = activation(F::linear(x(ct::slice(t, t + 1)), w[0], b[0]) + F::linear(h, w[1], b[1]));
          rows[static_cast<std::size_t>(t)] = h;
        }
        last[static_cast<std::size_t>(2 * place + sequence)] = h;
        both.push_back(F::concat(rows, 0));
      }
      outputs.push_back(F::concat(both, 1));
    }
    inputs = outputs;
  }
  const F::NStepResult result = link(hx, xs);
  const auto gradients = [&](const std::vector<Variable>& ys) {
    link.cleargrads();
    Variable sum = F::sum(ys[0] * numbers(ys[0].shape(), 4));
    sum = sum + F::sum(ys[1] * numbers(ys[1].shape(), 5));
    sum.backward();
    std::vector<Array> all;
    for (const ct::Parameter& parameter : link.params()) all.push_back(parameter.grad().copy());
    return all;
  };
  const std::vector<Array> got = gradients(result.ys), expected = gradients(inputs);
  for (std::size_t i = 0; i < 2; ++i) assert_allclose(result.ys[i].array(), inputs[i].array(), 1e-6, 1e-5);
  assert_allclose(result.hy.array(), F::concat(last, 0).array().reshape({2 * directions, 2, 2}), 1e-6, 1e-5);
  for (std::size_t i = 0; i < got.size(); ++i) assert_allclose(got[i], expected[i], 1e-5, 1e-4);
}

TEST(RecurrentLinks, ElmanNetworksAreTheirFormula) {
  const auto relu = [](const Variable& x) { return F::relu(x); };
  const auto tanh = [](const Variable& x) { return F::tanh(x); };
  expect_elman<L::NStepRNNReLU>(relu, 1);
  expect_elman<L::NStepBiRNNReLU>(relu, 2);
  expect_elman<L::NStepRNNTanh>(tanh, 1);
  expect_elman<L::NStepBiRNNTanh>(tanh, 2);
}

struct Predictor : ct::Chain {
  L::LSTM lstm{3, 4};
  L::Linear out{4, 2};
  CT_LINKS(lstm, out)
  Variable operator()(const Variable& x, const Variable& t) const { return F::softmax_cross_entropy(out(lstm(x)), t); }
};

/// Training with truncated backpropagation: every update starts from the previous state.
struct Truncated {
  Truncated(double iterations, const std::string& folder) : optimizer(ct::optimizers::Adam()) {
    optimizer.setup(model);
    const Array x = numbers({24, 3}), t = (x(ct::slice(), 0) > 0).astype(ct::Dtype::int32);
    const ct::iterators::SerialIterator batches(ct::datasets::TupleDataset(x, t), 4, {.shuffle = false});
    const T::StandardUpdater updater(batches, optimizer,
                                     {.device = ct::current_device(), .update_core = [this](const ct::Batch& b) {
                                        const Variable loss = model(b[0], b[1]);
                                        model.cleargrads();
                                        loss.backward();
                                        loss.unchain_backward();
                                        optimizer.update();
                                      }});
    trainer.emplace(updater, T::Trigger(iterations, "iteration"), folder);
  }
  Predictor model;
  ct::Optimizer optimizer;
  std::optional<T::Trainer> trainer;
};

TEST(RecurrentLinks, ATruncatedTrainingResumesBitForBit) {
  const tests::Folder folder;
  const std::string file = folder / "snapshot";
  const auto train = [&](double iterations, bool resume) {
    ct::random::seed(resume ? 9 : 1);
    Truncated training(iterations, folder.path);
    if (resume) ct::serializers::load_npz(file, *training.trainer);
    training.trainer->run(false);
    if (!resume) ct::serializers::save_npz(file, *training.trainer);
    return training.model;
  };
  const Predictor whole = train(9, false);
  train(4, false);
  const Predictor resumed = train(9, true);
  const auto a = whole.namedparams(), b = resumed.namedparams();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(same_bits(a[i].second.array(), b[i].second.array()).item<bool>()) << a[i].first;
  EXPECT_TRUE(same_bits(whole.lstm.c->array(), resumed.lstm.c->array()).item<bool>());
  // weights alone do not include the state
  ct::serializers::save_npz(file, whole);
  EXPECT_FALSE(ct::io::NpzReader(file).contains("lstm/h"));
}

/// PyTorch's language model: embedding, two LSTM layers, linear.
struct TorchModel : ct::Chain {
  L::EmbedID embed{200, 48};
  L::NStepLSTM lstm{2, 48, 64, 0};
  L::Linear out{64, 200};
  CT_LINKS(embed, lstm, out)

  /// Its arrays under PyTorch's names, with all gates of a layer in one array, in the order i, f, a, o.
  void visit(const std::function<void(const std::string& name, const Array& array)>& f) const {
    f("emb.weight", embed.W.array());
    f("fc.weight", out.W.array());
    f("fc.bias", out.b.array());
    for (int l = 0; l < 2; ++l)
      for (int k = 0; k < 8; ++k) {
        const std::string end = std::string(k < 4 ? "_ih_l" : "_hh_l") + std::to_string(l);
        const auto& layer = lstm.layers[static_cast<std::size_t>(l)];
        f("lstm.weight" + end + "/" + std::to_string(k % 4), layer.w[static_cast<std::size_t>(k)].array());
        f("lstm.bias" + end + "/" + std::to_string(k % 4), layer.b[static_cast<std::size_t>(k)].array());
      }
  }
};

// Compares 20 updates of truncated backpropagation from equal weights.
TEST(RecurrentLinks, FollowPyTorch) {
  const ct::io::NpzReader file(tests::source_path("tests/data/reference/torch/lstm.npz"));
  const auto read = [&](const std::string& key) { return ct::from_host(file.read_array(key), ct::Device()); };
  const auto weight = [&](const std::string& when, const std::string& name) {
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) return read(when + "/" + name);
    const int gate = std::stoi(name.substr(slash + 1));
    return read(when + "/" + name.substr(0, slash))(ct::slice(64 * gate, 64 * (gate + 1)));
  };
  const TorchModel model;
  model.visit([&](const std::string& name, const Array& a) {
    a.set(weight("w", name).to_device(ct::current_device()), ct::ellipsis);
  });
  const ct::Optimizer optimizer = ct::optimizers::SGD(1.0);
  optimizer.setup(model);
  optimizer.add_hook(ct::optimizer_hooks::GradientClipping(5));
  const Array words = read("x").astype(ct::Dtype::int32).to_device(ct::current_device());
  const std::vector<double> losses = read("loss").to_vector<double>();
  ASSERT_EQ(losses.size(), 20u);
  Variable h = ct::zeros({2, 8, 64}, ct::Dtype::float32), c = h;
  for (int k = 0; k < 20; ++k) {
    const auto rows = [&](int from) { return words(ct::slice(12 * k + from, 12 * k + from + 12)); };
    const ct::Variables xs = F::separate(model.embed(rows(0)));
    const F::NStepResult r =
        F::n_step_lstm(2, 0, h, c, model.lstm.weights(), model.lstm.biases(), {xs.begin(), xs.end()});
    const Variable loss = F::softmax_cross_entropy(model.out(F::concat(r.ys, 0)), rows(1).reshape({-1}));
    EXPECT_NEAR(loss.item<double>(), losses[static_cast<std::size_t>(k)], 1e-3) << k;
    model.cleargrads();
    loss.backward();
    optimizer.update();
    h = r.hy.array();
    c = r.cy.array();
  }
  model.visit([&](const std::string& name, const Array& a) {
    SCOPED_TRACE(name);
    assert_allclose(a, weight("f", name), 1e-3, 0);
  });
}

}  // namespace
