// Snapshots of trainings with 16-bit parameters: they include float32 copies, loss scales and counts of updates.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/catenary.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/training/precision.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
namespace O = optimizers;
using tests::rule_of;
using tests::Values;
using tests::values_of;
using tests_of_precision::all_optimizers;
using tests_of_precision::kInf;
using tests_of_precision::made;
using tests_of_precision::state_of;
using tests_of_precision::Three;
using tests_of_precision::update;
using tests_of_precision::varied_update;

// After loading a snapshot without float32 copies, they are made from its 16-bit parameters, not kept from before.
TEST(Precision, ASnapshotWithoutFloat32ParametersMakesThemAnew) {
  const tests::Folder folder;
  const Three model(Dtype::float16), pure(Dtype::float16);
  const O::SGD optimizer(1e-4), other(1e-4);
  optimizer.setup(model);
  other.setup(pure);
  other.use_fp32_update(false);
  model.a.array().fill(1);
  serializers::save_npz(folder / "optimizer.npz", other);
  update(optimizer, model, 1);
  ASSERT_EQ(values_of(model.a.array())[0], 1);
  serializers::load_npz(folder / "optimizer.npz", optimizer);
  for (int t = 0; t < 2; ++t) update(optimizer, model, 1);
  EXPECT_EQ(values_of(model.a.array())[0], 1);  // 0.9998 rounds to it, 0.9997 does not
  update(optimizer, model, 1);
  EXPECT_LT(values_of(model.a.array())[0], 1);
}

// A snapshot's scale applies only to optimizers with a dynamic scale. A constant scale stays, and models without a
// scale get none.
TEST(Precision, ASnapshotsScaleDoesNotReplaceOneThatWasGiven) {
  const tests::Folder folder;
  const Three half(Dtype::float16);
  const O::SGD optimizer(1e-3);
  optimizer.setup(half);
  for (int t = 0; t < 5; ++t) update(optimizer, half, 0.5);
  serializers::save_npz(folder / "optimizer.npz", optimizer);
  const auto scale_after = [&](Dtype dtype, const std::function<void(const Optimizer&)>& say) {
    const Three model(dtype);
    const O::SGD other(1e-3);
    other.setup(model);
    say(other);
    serializers::load_npz(folder / "optimizer.npz", other);
    return other.loss_scale().value();
  };
  const auto nothing = [](const Optimizer&) {};
  EXPECT_EQ(scale_after(Dtype::float16, nothing), 32);
  EXPECT_EQ(scale_after(Dtype::bfloat16, [](const Optimizer& o) { o.loss_scaling(10); }), 32);
  EXPECT_EQ(scale_after(Dtype::float16, [](const Optimizer& o) { o.set_loss_scale(128); }), 128);
  EXPECT_EQ(scale_after(Dtype::float16, [](const Optimizer& o) { o.set_loss_scale(1); }), 1);
  EXPECT_EQ(scale_after(Dtype::bfloat16, nothing), 1);
  EXPECT_EQ(scale_after(Dtype::float32, nothing), 1);
}

// A snapshot includes float32 parameters, the scale and the update counts: training resumed from it has equal bits.
TEST(Precision, SnapshotsGoOnBitForBit) {
  const tests::Folder folder;
  const auto train = [](const Optimizer& optimizer, const Three& model, int from, int to) {
    for (int t = from; t < to; ++t) {
      if (t % 5 == 3) {
        update(optimizer, model, kInf);
      } else {
        varied_update(optimizer, model, t);
      }
    }
  };
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    const Three whole(dtype), first(dtype), second(dtype);
    const O::Adam a, b, c;
    for (const auto& [optimizer, model] : {std::pair<Optimizer, Three>(a, whole), {b, first}, {c, second}}) {
      optimizer.setup(model);
      optimizer.loss_scaling(10);
    }
    train(a, whole, 0, 30);
    train(b, first, 0, 14);
    serializers::save_npz(folder / "model", first);
    serializers::save_npz(folder / "optimizer", b);
    train(c, second, 20, 24);  // to be overwritten
    serializers::load_npz(folder / "model", second);
    serializers::load_npz(folder / "optimizer", c);
    EXPECT_EQ(c.loss_scale().value(), b.loss_scale().value());
    EXPECT_EQ(rule_of(second.a).t(), rule_of(first.a).t());
    train(c, second, 14, 30);
    EXPECT_EQ(state_of(second), state_of(whole));
    EXPECT_EQ(c.loss_scale().value(), a.loss_scale().value());
    // Chainer's file has neither: float32 parameters are then made from the 16-bit ones
    const io::NpzReader file(folder / "optimizer");
    EXPECT_TRUE(file.contains("a/fp32_param"));
    EXPECT_EQ(file.read_array("a/t").shape, Shape{});
  }
}

// For every optimizer and at any time, in float32, where each bit of the device's computation of t matters. Also if
// updates are no longer skipped from the eighth on.
TEST(Precision, SnapshotsOfAnyTimeGoOnBitForBit) {
  const tests::Folder folder;
  constexpr int kUpdates = 12, kTurnedOff = 8;
  for (const auto& make : all_optimizers()) {
    const auto begin = [&](const Three& model) {
      Optimizer optimizer = make();
      optimizer.setup(model);
      optimizer.loss_scaling(10);
      return optimizer;
    };
    const auto train = [](const Optimizer& optimizer, const Three& model, int from, int to) {
      for (int t = from; t < to; ++t) {
        if (t >= kTurnedOff) optimizer.set_loss_scale(1);
        if (t == 3) {
          update(optimizer, model, kInf);
        } else {
          varied_update(optimizer, model, t);
        }
      }
    };
    const Three whole(Dtype::float32), first(Dtype::float32);
    const Optimizer a = begin(whole), b = begin(first);
    train(a, whole, 0, kUpdates);
    for (int stop = 1; stop < kUpdates; ++stop) {
      train(b, first, stop - 1, stop);
      serializers::save_npz(folder / "model", first);
      serializers::save_npz(folder / "optimizer", b);
      const Three second(Dtype::float32);
      const Optimizer c = begin(second);
      serializers::load_npz(folder / "model", second);
      serializers::load_npz(folder / "optimizer", c);
      train(c, second, stop, kUpdates);
      EXPECT_EQ(state_of(second), state_of(whole)) << a.name() << " after " << stop;
    }
  }
}

// A quantised layer is not trained and has no state, and the model's file holds its blocks. Layers below it are
// trained.
TEST(Precision, SnapshotsOfQuantisedLayersGoOnBitForBit) {
  const tests::Folder folder;
  const auto scope = using_config(config.dtype, mixed16);
  struct Net : Chain {
    L::Linear l1{6, 8}, l2{8, 8}, l3{8, 3};
    L::BatchNormalization norm{8};
    CT_LINKS(l1, l2, norm, l3)
    Variable operator()(const Variable& x) { return l3(F::relu(norm(l2(F::relu(l1(x)))))); }
  };
  const auto train = [](Net& net, const Optimizer& optimizer, int from, int to) {
    for (int t = from; t < to; ++t)
      optimizer.update([&] { return F::mean(F::square(net(Variable(made({4, 6}, Dtype::float16, t), false)))); });
  };
  const auto begin = [](Net& net, const Optimizer& optimizer) {
    net.l2.quantize(Quantization::q8_0);
    optimizer.setup(net);
    optimizer.add_hook(optimizer_hooks::WeightDecay(1e-3));
  };
  Net whole, second;
  const O::Adam a({.alpha = 0.01}), b({.alpha = 0.01});
  begin(whole, a);
  begin(second, b);
  train(whole, a, 0, 4);
  serializers::save_npz(folder / "model", whole);
  serializers::save_npz(folder / "optimizer", a);
  train(whole, a, 4, 10);
  serializers::load_npz(folder / "model", second);
  serializers::load_npz(folder / "optimizer", b);
  train(second, b, 4, 10);
  const auto expected = whole.namedparams(), got = second.namedparams();
  ASSERT_EQ(got.size(), 7u);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(values_of(got[i].second.array()), values_of(expected[i].second.array())) << got[i].first;
  EXPECT_EQ(b.loss_scale().value(), a.loss_scale().value());

  // an optimizer set up before quantisation has a W to update, which the file does not contain
  Net third;
  const O::Adam c({.alpha = 0.01});
  c.setup(third);
  try {
    serializers::load_npz(folder / "optimizer", c);
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    const std::string text = error.what();
    EXPECT_NE(
        text.find("Adam: the file has nothing of the optimizer for /l2/W: there this parameter was not updated. "
                  "(Of a net with quantised or frozen weights: quantise or freeze this one, too, before setup.) "),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("there is no key 'l2/W/t'"), std::string::npos) << text;
  }
  // another model without these links
  struct Other : Chain {
    links::Linear first{3, 3};
    CT_LINKS(first)
    Variable operator()(const Variable& x) const { return first(x); }
  };
  Other other;
  const O::Adam d({.alpha = 0.01});
  d.setup(other);
  try {
    serializers::load_npz(folder / "optimizer", d);
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("quantise"), std::string::npos) << text;
    EXPECT_NE(
        text.find("Adam: the file has nothing of the optimizer for /first/W: it was saved of another model, or with "
                  "other options. "),
        std::string::npos)
        << text;
  }
}

// Chainer 7.8.1 keeps the state of float16 parameters in float16 and has no float32 copies: its snapshots load.
TEST(Precision, SnapshotsOfChainerInFloat16) {
  const tests::Folder folder;
  const Three model(Dtype::float16);
  const O::MomentumSGD optimizer({.lr = 0.01});
  optimizer.setup(model);
  for (int t = 0; t < 3; ++t) update(optimizer, model, 0.5);
  NamedArrays stored = {{"t", full({}, 7, Dtype::int32)}, {"epoch", full({}, 1, Dtype::int32)}};
  for (const auto& [path, p] : model.namedparams()) {
    stored.emplace_back(path.substr(1) + "/t", full({}, 7, Dtype::int32));
    stored.emplace_back(path.substr(1) + "/v", full(p.shape(), -0.25, Dtype::float16));
  }
  savez(folder / "chainer", stored);
  serializers::load_npz(folder / "chainer", optimizer);
  const Values before = values_of(model.a.array());
  update(optimizer, model, 0);
  EXPECT_EQ(rule_of(model.a).t(), 8);
  EXPECT_EQ(rule_of(model.a).state[0].second.dtype(), Dtype::float32);
  const Values after = values_of(model.a.array());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before[i] - 0.225, 1e-3);
}

}  // namespace
}  // namespace catenary
