#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <complex>
#include <memory>
#include <thread>

#include "catenary/autograd/gradient_check.h"
#include "catenary/catenary.h"
#include "catenary/io/npz.h"
#include "tests/folder.h"
#include "tests/links/helpers.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

using ct::test::normal_numbers;

struct MLP : ct::Chain {
  L::Linear l1, l2;
  MLP() : l1(5), l2(3) {}
  CT_LINKS(l1, l2)
  ct::Variable operator()(const ct::Variable& x) const { return l2(F::relu(l1(x))); }
};

struct Deeper : MLP {
  L::Linear l3{2};
  CT_MORE_LINKS(MLP, l3)
};

std::vector<std::string> paths(const ct::Link& link) {
  std::vector<std::string> all;
  for (const auto& [path, parameter] : link.namedparams()) all.push_back(path);
  return all;
}

TEST(Link, KnowsItsParametersByPath) {
  EXPECT_EQ(paths(MLP()), (std::vector<std::string>{"/l1/W", "/l1/b", "/l2/W", "/l2/b"}));
  EXPECT_EQ(paths(Deeper()), (std::vector<std::string>{"/l1/W", "/l1/b", "/l2/W", "/l2/b", "/l3/W", "/l3/b"}));
}

TEST(Link, CppCopiesShareAndCopiesDoNot) {
  const MLP model;
  model(normal_numbers({2, 4}));
  const MLP same = model;
  const MLP other = model.copy(ct::CopyMode::copy), anew = model.copy(ct::CopyMode::init),
            shared = model.copy(ct::CopyMode::share);
  model.l1.W.array().fill(7);
  EXPECT_EQ(same.l1.W.array().to_vector<float>()[0], 7);
  EXPECT_EQ(shared.l1.W.array().to_vector<float>()[0], 7);
  EXPECT_NE(other.l1.W.array().to_vector<float>()[0], 7);
  EXPECT_NE(anew.l1.W.array().to_vector<float>()[0], 7);
  EXPECT_EQ(model.identity(), same.identity());
  EXPECT_NE(model.identity(), other.identity());
  EXPECT_EQ(model.count_params(), 5 * 4 + 5 + 3 * 5 + 3);
}

/// A weight with two names, and a link with two names.
struct Tied : ct::Chain {
  L::Linear l1{3, 3}, l2{3, 3};
  L::BatchNormalization norm{3}, same{norm};
  Tied() { l2.W = l1.W; }
  CT_LINKS(l1, l2, norm, same)
};

TEST(Link, CopiesKeepTiedParameters) {
  const Tied model;
  ASSERT_EQ(model.params().size(), 5u);
  for (const ct::CopyMode mode : {ct::CopyMode::share, ct::CopyMode::copy, ct::CopyMode::init}) {
    const Tied copied = model.copy(mode);
    EXPECT_EQ(copied.params().size(), 5u);
    EXPECT_TRUE(copied.l1.W.is(copied.l2.W));
    EXPECT_EQ(copied.l1.W.is(model.l1.W), mode == ct::CopyMode::share);
    EXPECT_EQ(&copied.norm.avg_mean.slot(), &copied.same.avg_mean.slot());
    EXPECT_EQ(&copied.norm.avg_mean.slot() == &model.norm.avg_mean.slot(), mode == ct::CopyMode::share);
    EXPECT_EQ(copied.namedparams().size(), model.namedparams().size());
  }
  // copies are independent
  EXPECT_FALSE(model.copy(ct::CopyMode::copy).l1.W.is(model.copy(ct::CopyMode::copy).l1.W));
}

TEST(Link, GradientsOfTiedWeightsAreAddedOnce) {
  const Tied model, other = model.copy(ct::CopyMode::copy);
  const auto clear = [&] {
    model.cleargrads();
    F::sum(model.l1.W * 2.0).backward();
  };
  clear();
  other.cleargrads();
  F::sum(other.l1.W * 3.0).backward(false, false, 8.0);
  model.addgrads(other);
  EXPECT_EQ(model.l2.W.grad().to_vector<float>(), std::vector<float>(9, 5));
  // from a link with separate weights, both gradients
  struct Apart : ct::Chain {
    L::Linear l1{3, 3}, l2{3, 3};
    L::BatchNormalization norm{3}, same{3};
    CT_LINKS(l1, l2, norm, same)
  } apart;
  apart.cleargrads();
  F::sum(apart.l1.W * 3.0 + apart.l2.W * 4.0).backward();
  clear();
  model.addgrads(apart);
  EXPECT_EQ(model.l2.W.grad().to_vector<float>(), std::vector<float>(9, 9));
}

TEST(Link, CopiedGradientsAreInTheirLossScale) {
  const L::Linear link(2, 2);
  link.cleargrads();
  F::sum(link.W).backward(false, false, 8.0);
  const L::Linear copied = link.copy(ct::CopyMode::copy);
  F::sum(copied.W).backward();
  EXPECT_EQ(copied.W.grad().to_vector<float>(), std::vector<float>(4, 2));
}

struct Counter : ct::Link {
  ct::Persistent count{ct::zeros({2})}, later;
  CT_LINKS(count, later)
};
struct Counters : ct::Chain {
  Counter a, b;
  CT_LINKS(a, b)
};

TEST(Link, CppCopiesShareTheirPersistents) {
  Counters model;
  const Counters same = model;
  const ct::Model held(model);
  const Counters shared = model.copy(ct::CopyMode::share), other = model.copy(ct::CopyMode::copy);
  const auto values = [](const ct::Persistent& p) { return p->to_vector<int>(); };
  // replaced through one copy, visible through the others, including an array that did not exist when the copy was made
  model.a.count = ct::ones({3});
  same.b.later = ct::full({1}, 7);
  EXPECT_EQ(values(same.a.count), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(values(shared.a.count), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(values(model.b.later), (std::vector<int>{7}));
  EXPECT_TRUE(held.link().namedpersistents()[0].second.is(model.a.count));
  EXPECT_EQ(held.link().namedpersistents()[2].first, "/b/later");
  EXPECT_EQ(values(other.a.count), (std::vector<int>{0, 0}));
  EXPECT_FALSE(other.b.later.defined());
  // moved through one copy
  const ct::Device made_on = other.a.count->device();
  for (const ct::Device& device : ct::devices()) {
    model.to_device(device);
    EXPECT_EQ(same.a.count->device(), device);
    EXPECT_EQ(shared.b.later->device(), device);
    EXPECT_EQ(held.link().namedpersistents()[0].second.device(), device);
    EXPECT_EQ(other.a.count->device(), made_on);
    same.to_cpu();
    EXPECT_EQ(model.a.count->device(), ct::Device());
  }
  EXPECT_TRUE(same.a.count->is(model.a.count));
  // an assigned link shares the source's arrays; the moved-from link is still usable
  Counters assigned;
  assigned = other;
  other.a.count = ct::zeros({4});
  EXPECT_EQ(assigned.a.count->size(), 4);
  const Counters taken = std::move(assigned);
  EXPECT_EQ(assigned.a.count->size(), taken.a.count->size());  // NOLINT(bugprone-use-after-move)
}

TEST(Link, CppCopiesLoadTogether) {
  const tests::Folder folder;
  const std::string file = folder / "persistents.npz";
  const Counters model, same = model;
  model.a.count = ct::ones({2}) * 3;
  ct::serializers::save_npz(file, model);
  model.a.count = ct::zeros({2});
  ct::serializers::load_npz(file, same);
  EXPECT_EQ(model.a.count->to_vector<int>(), (std::vector<int>{3, 3}));
}

TEST(Link, CopyparamsNeedsTheSameStructure) {
  const MLP a, b;
  a(normal_numbers({2, 4}));
  b(normal_numbers({2, 4}));
  a.copyparams(b);
  EXPECT_EQ(a.l2.W.array().to_vector<float>(), b.l2.W.array().to_vector<float>());
  EXPECT_THROW(a.copyparams(Deeper()), ct::ValueError);
}

/// Two layers followed by a persistent array.
struct Counted : ct::Chain {
  L::Linear l1, l2;
  ct::Persistent count;
  Counted(std::int64_t outputs, std::int64_t counts) : l1(2, 3), l2(3, outputs), count(ct::ones({counts})) {}
  CT_LINKS(l1, l2, count)
};

// Mismatches are found before anything changes.
TEST(Link, FailedLoadsChangeNothing) {
  const tests::Folder folder;
  const Counted link(2, 2), wider(4, 2), of_one_count(2, 1);
  const auto state = [&] {
    std::vector<std::vector<float>> all{link.count->to_vector<float>()};
    for (const ct::Parameter& p : link.params()) {
      all.push_back(p.array().to_vector<float>());
      all.push_back(p.grad().defined() ? p.grad().to_vector<float>() : std::vector<float>{});
    }
    return all;
  };
  const auto refused = [&](const std::function<void()>& f) {
    try {
      f();
    } catch (const ct::Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  for (const Counted* from : {&link, &wider, &of_one_count})
    for (const ct::Parameter& p : from->params()) p.set_grad(ct::ones(p.shape(), ct::Dtype::float32));
  for (const ct::Parameter& p : wider.params()) p.array().fill(5);
  const auto before = state();
  EXPECT_EQ(refused([&] { link.copyparams(wider); }),
            "copyparams: /l2/W has the shape (2, 3) here and (4, 3) in the other link");
  EXPECT_EQ(refused([&] { link.copyparams(of_one_count); }),
            "copyparams: /count has the shape (2,) here and (1,) in the other link");
  EXPECT_EQ(refused([&] { link.addgrads(wider); }),
            "addgrads: /l2/W has the shape (2, 3) here and (4, 3) in the other link");
  EXPECT_EQ(state(), before);
  for (const Counted* from : {&wider, &of_one_count}) {
    ct::serializers::save_npz(folder / "link.npz", *from);
    EXPECT_NE(refused([&] { ct::serializers::load_npz(folder / "link.npz", link); }).find("has shape"),
              std::string::npos);
    EXPECT_EQ(state(), before);
  }
  // complex numbers would lose their imaginary parts
  const Counted complex(2, 2);
  complex.count = ct::ones({2}, ct::Dtype::complex64);
  ct::serializers::save_npz(folder / "complex.npz", complex);
  EXPECT_EQ(refused([&] { ct::serializers::load_npz(folder / "complex.npz", link); }),
            (folder / "complex.npz") + ", key 'count': the stored array is complex64, which float64 cannot represent");
  EXPECT_EQ(state(), before);
  ct::io::NpzWriter writer(folder / "parameter.npz");
  writer.write("l1/W", ct::io::HostArray::from<std::complex<float>>({3, 2}, std::vector<std::complex<float>>(6)));
  writer.finish();
  EXPECT_EQ(refused([&] { ct::serializers::load_npz(folder / "parameter.npz", link, "", false); }),
            (folder / "parameter.npz") + ", key 'l1/W': the stored array is complex64, which float64 cannot represent");
  EXPECT_EQ(state(), before);
  // a gradient of another dtype, which adding would cast to the parameter's dtype
  const Counted half(2, 2);
  for (const ct::Parameter& p : half.params()) p.set_grad(ct::ones(p.shape(), ct::Dtype::float32));
  half.l2.W.set_array(half.l2.W.array().astype(ct::Dtype::float16));
  half.l2.W.set_grad(ct::ones({2, 3}, ct::Dtype::float16));
  link.l2.W.cleargrad();
  const auto without = state();
  EXPECT_THROW(link.addgrads(half), ct::DtypeError);
  EXPECT_EQ(state(), without);
  link.l2.W.set_grad(ct::ones({2, 3}, ct::Dtype::float32));
  link.addgrads(half);
  EXPECT_EQ(link.l2.W.grad().to_vector<float>(), std::vector<float>(6, 2));
  // without persistents these may differ, parameters without shape accept any
  link.copyparams(of_one_count, false);
  EXPECT_EQ(link.l1.W.array().to_vector<float>(), of_one_count.l1.W.array().to_vector<float>());
  const MLP open, initialized;
  initialized(normal_numbers({2, 4}));
  open.copyparams(initialized);
  EXPECT_EQ(open.l1.W.array().to_vector<float>(), initialized.l1.W.array().to_vector<float>());
}

TEST(Link, AModelSaysHowManyArgumentsItTakes) {
  const ct::Model model((MLP()));
  const ct::Variable x(normal_numbers({2, 4}));
  EXPECT_EQ(model(x).shape(), (ct::Shape{2, 3}));
  try {
    model(x, x);
    FAIL();
  } catch (const ct::ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("takes 1 argument(s), but 2"), std::string::npos) << e.what();
  }
}

TEST(Link, ForwardIsCalledWhereThereIsNoOperator) {
  struct Forward : ct::Chain {
    L::Linear l{3};
    CT_LINKS(l)
    ct::Variable forward(const ct::Variable& x) { return l(x); }
    ct::Variable forward(const ct::Variable& x, const ct::Variable& y) { return l(x) * y; }
  };
  struct ForwardOfBatch : Forward {
    ct::Variable forward(const ct::Batch& batch) { return l(batch[0]); }
  };
  struct Both : Forward {
    ct::Variable operator()(const ct::Variable& x) { return l(x) * 2.0; }
  };
  const Forward link;
  const ct::Variable x(normal_numbers({2, 4})), t(ct::array<int>({0, 2}));
  const std::vector<float> expected = link.l(x).array().to_vector<float>();
  EXPECT_EQ(ct::Model(link)(x).array().to_vector<float>(), expected);
  EXPECT_EQ(ct::Model(link)(x, 1.0f * ct::ones({2, 3}, ct::Dtype::float32)).array().to_vector<float>(), expected);
  EXPECT_EQ(L::Classifier(link)(x, t).array().item<float>(), F::softmax_cross_entropy(link.l(x), t).item<float>());
  EXPECT_EQ(ct::Sequential(link, F::relu)(x).array().to_vector<float>(), F::relu(link.l(x)).array().to_vector<float>());
  EXPECT_EQ(ct::Sequential(link)(x).array().to_vector<float>(), expected);
  EXPECT_EQ(ct::Sequential(F::relu)(x).array().to_vector<float>(), F::relu(x).array().to_vector<float>());
  const ct::Sequential steps(link, F::relu), copy(steps);
  EXPECT_EQ(copy.size(), 2);
  const ct::optimizers::SGD optimizer;
  optimizer.setup(L::Classifier(link)).update(ct::Batch({x, t}));
  EXPECT_EQ(optimizer.t(), 1);
  EXPECT_EQ(ct::Model(ForwardOfBatch())(x).shape(), (ct::Shape{2, 3}));
  const Both both;
  EXPECT_EQ(ct::Model(both)(x).array().to_vector<float>(), (both.l(x) * 2.0).array().to_vector<float>());
  try {
    const ct::Model model(link);
    model(x, x, x);
    FAIL();
  } catch (const ct::ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("takes 1 or 2 argument(s), but 3"), std::string::npos) << e.what();
  }
  struct Neither : ct::Chain {
    ct::Variable call(const ct::Variable& x) { return x; }
  };
  try {
    const ct::Model model((Neither()));
    model(x);
    FAIL();
  } catch (const ct::ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("needs a public operator()(const Variable&), or forward"), std::string::npos)
        << e.what();
  }
}

TEST(Link, HooksSeeCalls) {
  const MLP model;
  const auto hook = std::make_shared<ct::LinkTimerHook>();
  {
    const ct::LinkHookScope scope(hook);
    model(normal_numbers({2, 4}));
  }
  model(normal_numbers({2, 4}));
  EXPECT_NE(hook->report().find("Linear"), std::string::npos);
  EXPECT_GT(hook->total_time(), 0);
}

/// Takes 5 ms and calls a link that does, too.
struct Slow : ct::Chain {
  std::shared_ptr<Slow> inner;
  ct::Variable operator()(const ct::Variable& x) const {
    return hooked(
        *this,
        [&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          return inner ? (*inner)(x) : x;
        },
        x);
  }
};

TEST(Link, TheTotalTimeHasLinksInsideOthersOnce) {
  const auto hook = std::make_shared<ct::LinkTimerHook>();
  Slow link;
  link.inner = std::make_shared<Slow>();
  const ct::Variable x(normal_numbers({2, 4}));
  const auto begin = std::chrono::steady_clock::now();
  {
    const ct::LinkHookScope scope(hook);
    for (int i = 0; i < 4; ++i) link(x);
  }
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(hook->total_time(), 4 * 0.010);
  EXPECT_LE(hook->total_time(), all.count());
}

TEST(Link, CopiesKeepWhatIsFrozen) {
  Counted link(2, 2);
  link.l1.disable_update();
  for (const ct::CopyMode mode : {ct::CopyMode::share, ct::CopyMode::copy, ct::CopyMode::init}) {
    const Counted other = ct::copy_link(link, mode);
    EXPECT_FALSE(other.l1.update_enabled());
    EXPECT_TRUE(other.l2.update_enabled());
    other.enable_update();  // of the copy alone
    EXPECT_TRUE(other.l1.update_enabled());
    EXPECT_FALSE(link.l1.update_enabled());
  }
}

// Errors of all functions name the link by class and name.
TEST(Link, ErrorsNameIt) {
  const auto message_of = [](const auto& call) {
    try {
      call();
    } catch (const ct::ShapeError& error) {
      return "ShapeError: " + std::string(error.what());
    } catch (const ct::DtypeError& error) {
      return "DtypeError: " + std::string(error.what());
    } catch (const ct::ValueError& error) {
      return "ValueError: " + std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  const MLP model;
  model(normal_numbers({2, 4}));
  model.namedparams();
  const std::string shapes = "ShapeError: linear: x (2, 7) does not fit W (5, 4), which must be (out, 7)";
  EXPECT_EQ(message_of([&] { model(normal_numbers({2, 7})); }), shapes + "\n  in Linear 'l1'");
  EXPECT_EQ(message_of([&] {
              model(ct::zeros({2, 4}, ct::Dtype::int32));
            }),
            "DtypeError: linear: x and W must have one floating dtype, not int32 and float32\n  in Linear 'l1'");
  {  // with hooks, too
    const ct::LinkHookScope scope(std::make_shared<ct::LinkTimerHook>());
    EXPECT_EQ(message_of([&] { model(normal_numbers({2, 7})); }), shapes + "\n  in Linear 'l1'");
  }
  const ct::Sequential outer(model, [](const ct::Variable& x) { return x; });
  outer.namedparams();
  EXPECT_EQ(message_of([&] { outer(normal_numbers({2, 7})); }), shapes + "\n  in Linear 'l1'\n  in Sequential");
  EXPECT_EQ(message_of([&] {
              L::Bilinear(3, 3, 4)(normal_numbers({2, 7}), normal_numbers({2, 3}));
            }),
            "ShapeError: matmul: shapes (2, 7) and (3, 4) do not fit: the axes that are summed have sizes 7 and 3\n  "
            "in Bilinear");
  EXPECT_EQ(message_of([&] {
              L::BatchNormalization(3)(ct::zeros({2, 3}, ct::Dtype::int32));
            }),
            "DtypeError: BatchNormalization: x and gamma must be floating, not int32 and float32\n  in "
            "BatchNormalization");
  EXPECT_EQ(message_of([&] {
              L::LSTM lstm(2, 3);
              lstm.params();
              lstm(normal_numbers({2, 5}));
            }),
            "ShapeError: linear: x (2, 5) does not fit W (12, 2), which must be (out, 5)\n  in Linear 'upward'\n  in "
            "LSTM");
}

TEST(Sequential, RunsLinksAndFunctions) {
  const ct::Sequential model(
      L::Linear(5), [](const ct::Variable& x) { return F::relu(x); }, L::Linear(3));
  const ct::Variable x(normal_numbers({2, 4}));
  EXPECT_EQ(model(x).shape(), (ct::Shape{2, 3}));
  EXPECT_EQ(paths(model), (std::vector<std::string>{"/0/W", "/0/b", "/1/W", "/1/b"}));  // Chainer's paths
  EXPECT_EQ(model.repeat(2).size(), 6);
  const ct::ChainList list(L::Linear(2), L::Linear(3));
  EXPECT_EQ(paths(list), (std::vector<std::string>{"/0/W", "/0/b", "/1/W", "/1/b"}));
  EXPECT_THROW(list[2], ct::IndexError);
}

namespace {

struct Block : ct::Chain {
  L::Linear linear{3, 3};
  std::vector<L::BatchNormalization> norms;  // empty in most objects
  CT_LINKS(linear, norms)
  ct::Variable operator()(const ct::Variable& x) const { return x + F::tanh(linear(x)); }
};
/// Members of every kind in vectors and arrays.
struct Blocks : ct::Chain {
  std::vector<Block> blocks;
  std::array<L::Linear, 2> heads{L::Linear(3, 2), L::Linear(3, 2)};
  std::vector<ct::Parameter> scales;
  std::vector<ct::Persistent> seen;
  std::vector<ct::StateVariable> states;
  CT_LINKS(blocks, heads, scales, seen, states)
  explicit Blocks(int n) : blocks(static_cast<std::size_t>(n)), seen(1), states(1) {
    for (int i = 0; i < n; ++i) scales.emplace_back(1.0, ct::Shape{3});
    seen[0] = ct::zeros({2}, ct::Dtype::float32);
    blocks.back().norms.emplace_back(3);
  }
  ct::Variable operator()(ct::Variable x) const {
    for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x) * scales[i];
    return heads[0](x) + heads[1](x);
  }
};

}  // namespace

TEST(Link, VectorsOfMembersAreNamedByNumbers) {
  const Blocks model(2);
  EXPECT_EQ(paths(model), (std::vector<std::string>{"/scales/0", "/scales/1", "/blocks/0/linear/W",
                                                    "/blocks/0/linear/b", "/blocks/1/linear/W", "/blocks/1/linear/b",
                                                    "/blocks/1/norms/0/gamma", "/blocks/1/norms/0/beta", "/heads/0/W",
                                                    "/heads/0/b", "/heads/1/W", "/heads/1/b"}));
  EXPECT_EQ(model.children(), (std::vector<std::string>{"blocks/0", "blocks/1", "heads/0", "heads/1"}));
  EXPECT_EQ(model.namedpersistents()[0].first, "/seen/0");

  // saving, loading, copying and training, a ChainList of that name has equal paths
  const tests::Folder folder;
  const Blocks other(2);
  ct::serializers::save_npz(folder / "blocks.npz", model);
  ct::serializers::load_npz(folder / "blocks.npz", other);
  const ct::Array x = normal_numbers({4, 3});
  EXPECT_TRUE(ct::array_equal(other(x).array(), model(x).array()));
  EXPECT_THROW(ct::serializers::load_npz(folder / "blocks.npz", Blocks(3)), ct::Error);
  struct Listed : ct::Chain {
    ct::ChainList blocks{Block(), Block()};
    CT_LINKS(blocks)
  } listed;
  ct::serializers::load_npz(folder / "blocks.npz", listed);
  EXPECT_TRUE(ct::array_equal(listed.params()[0].array(), model.blocks[0].linear.W.array()));

  const Blocks apart = model.copy(ct::CopyMode::copy), shared = model;
  EXPECT_FALSE(apart.blocks[0].linear.W.is(model.blocks[0].linear.W));
  EXPECT_TRUE(shared.blocks[0].linear.W.is(model.blocks[0].linear.W));
  const ct::optimizers::SGD optimizer(0.5);
  optimizer.setup(model);
  const ct::Array before = model.blocks[1].linear.W.array().copy();
  optimizer.update([&] { return F::sum(model(x)); });
  EXPECT_FALSE(ct::array_equal(before, model.blocks[1].linear.W.array()));
  EXPECT_TRUE(ct::array_equal(before, apart.blocks[1].linear.W.array()));
}

TEST(Optimizers, FrozenLinksAndOwnRates) {
  const MLP model;
  model(normal_numbers({2, 4}));
  ct::optimizers::SGD optimizer(0.1);
  optimizer.setup(ct::Model(model));
  model.l1.disable_update();
  const auto ones = [&] {
    for (const ct::Parameter& p : model.params()) p.set_grad(ct::ones_like(p.array()));
  };
  const std::vector<float> l1 = model.l1.W.array().to_vector<float>(), l2 = model.l2.W.array().to_vector<float>();
  static_cast<ct::UpdateRule&>(*model.l2.b.update_rule()).hyperparam->set("lr", 1.0);
  ones();
  optimizer.update();
  EXPECT_EQ(model.l1.W.array().to_vector<float>(), l1);
  EXPECT_FLOAT_EQ(model.l2.W.array().to_vector<float>()[0], l2[0] - 0.1f);
  EXPECT_FLOAT_EQ(model.l2.b.array().to_vector<float>()[0], -1.0f);
  optimizer.lr = 0.5;
  ones();
  optimizer.update();
  EXPECT_FLOAT_EQ(model.l2.W.array().to_vector<float>()[0], l2[0] - 0.1f - 0.5f);
}

/// Layers without bias can be frozen, and parts frozen before setup, too.
TEST(Optimizers, FrozenLinksWithoutBias) {
  struct Net : ct::Chain {
    L::Convolution2D conv{2, 3, 1, {.nobias = true}};
    L::BatchNormalization norm{3, {.use_gamma = false, .use_beta = false}};
    L::Linear fc{3, 2, {.nobias = true}};
    CT_LINKS(conv, norm, fc)
    ct::Variable operator()(const ct::Variable& x) const { return fc(norm(conv(x)).reshape({x.shape(0), 3})); }
  };
  const Net net;
  net.conv.disable_update();
  const ct::optimizers::SGD optimizer(0.1);
  optimizer.setup(net);
  net.norm.disable_update();
  const auto values = [](const ct::Parameter& p) { return p.array().to_vector<float>(); };
  const std::vector<float> frozen = values(net.conv.W), learnt = values(net.fc.W);
  optimizer.update([&] { return F::sum(F::square(net(normal_numbers({4, 2, 1, 1})))); });
  EXPECT_EQ(values(net.conv.W), frozen);
  EXPECT_NE(values(net.fc.W), learnt);
}

TEST(Serializers, PersistentArraysThatAreNotSetYetAreLoaded) {
  struct Scaled : ct::Chain {
    L::Linear l;
    ct::Persistent mean;
    Scaled() : l(2) {}
    CT_LINKS(l, mean)
  };
  const tests::Folder folder;
  const std::string file = folder / "persistent_test.npz";
  Scaled saved;
  saved.l(normal_numbers({1, 3}));
  ct::serializers::save_npz(file, saved);
  const Scaled without;
  ct::serializers::load_npz(file, without);
  EXPECT_FALSE(without.mean.defined());
  saved.mean = ct::array({1.f, 2.f});
  ct::serializers::save_npz(file, saved);
  const Scaled with;
  ct::serializers::load_npz(file, with);
  EXPECT_EQ(with.mean->to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Serializers, SafetensorsAndNpzKeepWeights) {
  const tests::Folder folder;
  const MLP model, other;
  model(normal_numbers({2, 4}));
  ct::serializers::save_npz(folder / "links_test.npz", model);
  ct::serializers::save_safetensors(folder / "links_test.safetensors", model);
  ct::serializers::load_npz(folder / "links_test.npz", other);  // the shapes come from the file
  EXPECT_EQ(other.l1.W.array().to_vector<float>(), model.l1.W.array().to_vector<float>());
  const MLP third;
  ct::serializers::load_safetensors(folder / "links_test.safetensors", third);
  EXPECT_EQ(third.l2.W.array().to_vector<float>(), model.l2.W.array().to_vector<float>());
}

}  // namespace
