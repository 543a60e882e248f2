// Support for bindings to other languages: objects attached to nodes and functions, and settable creators.

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"

namespace ct = catenary;
namespace F = ct::functions;
using ct::Array;
using ct::Variable;

namespace {

struct Counts {
  int changed = 0, gone = 0;
};
struct Peer final : ct::VariablePeer {
  explicit Peer(Counts& counts) : counts(counts) {}
  ~Peer() override { ++counts.gone; }
  void data_changed() noexcept override { ++counts.changed; }
  Counts& counts;
};

TEST(Peers, GoWithTheirNodeAndHearOfItsValues) {
  Counts counts;
  {
    ct::Ref<ct::VariableNode> node;
    {
      const Variable x(ct::ones({2}));
      x.node().set_peer(std::make_unique<Peer>(counts));
      node = ct::Ref<ct::VariableNode>(&x.node());
      EXPECT_EQ(node->reference_count(), 2u);
      EXPECT_EQ(node->handle_count(), 1u);
      x.set_array(ct::zeros({3}));
      EXPECT_EQ(counts.changed, 1);
    }
    EXPECT_EQ(counts.changed, 2);  // the last Variable was destroyed, and with it the values
    EXPECT_EQ(node->reference_count(), 1u);
    EXPECT_EQ(node->handle_count(), 0u);
    EXPECT_FALSE(node->data().defined());
    EXPECT_EQ(counts.gone, 0);
  }
  EXPECT_EQ(counts.gone, 1);
}

TEST(Peers, RetainedValuesStay) {
  ct::Ref<ct::VariableNode> node;
  {
    const Variable x(ct::ones({2}));
    node = ct::Ref<ct::VariableNode>(&x.node());
    node->retain();
  }
  EXPECT_TRUE(node->data().defined());
  node->forget_data();
  EXPECT_FALSE(node->data().defined());
}

TEST(Peers, ACreatorThatIsTakenAwayAndSetAgain) {
  const Variable x(ct::ones({2}));
  const Variable y = F::negative(x), z = F::sum(y);
  const ct::Ref<ct::FunctionNode> f(y.creator());
  y.node().set_creator(nullptr);
  EXPECT_EQ(f->output(0), nullptr);
  z.backward();
  EXPECT_FALSE(x.grad().defined());
  y.node().set_creator(f.get());
  EXPECT_EQ(f->output(0), &y.node());
  EXPECT_EQ(y.rank(), 1);
  z.backward();
  EXPECT_EQ(x.grad()[0].item<float>(), -1);
  // a variable that f did not compute
  const Variable other(ct::ones({2}));
  other.node().set_creator(f.get());
  EXPECT_EQ(f->output(0), &y.node());
  EXPECT_EQ(other.creator(), f.get());
  other.unchain();
  EXPECT_EQ(f->output(0), &y.node());
}

/// 2 x, inside of a reference-counted object.
class Owned final : public ct::FunctionNode {
 public:
  struct Count final : Owner {
    int references = 0;
    void add_reference() noexcept override { ++references; }
    void release() noexcept override { --references; }
  };
  explicit Owned(Count& count) { set_owner(&count); }
  ~Owned() override = default;
  const char* name() const override { return "Owned"; }
  void join(const Variable& x, const ct::Variables& outputs) {
    ct::VariableNode* nodes[] = {&x.node()};
    const int kept[] = {0};
    retain_inputs(std::span<const int>(kept));
    retain_outputs(std::span<const int>(kept));
    connect(nodes, 1, outputs);
  }
  Variable kept_output() { return retained_output(0); }

 protected:
  ct::Arrays forward(ct::Inputs x) override { return x[0] * 2; }
  ct::Variables backward(ct::Targets, ct::Grads gy) override { return gy[0] * 2; }
};

TEST(Peers, AnOwnerCountsForItsFunction) {
  Owned::Count count;
  {
    Owned f(count);
    EXPECT_EQ(f.owner(), &count);
    const Variable x(ct::ones({2}));
    {
      const Variable y(x.array() * 2);
      f.join(x, y);
      EXPECT_EQ(count.references, 1);  // of y's node
      EXPECT_EQ(y.creator(), &f);
      EXPECT_TRUE(x.node().is_retained());
      F::sum(y).backward();
      EXPECT_EQ(x.grad()[1].item<float>(), 2);
    }
    EXPECT_EQ(count.references, 0);
    EXPECT_EQ(f.output(0), nullptr);
    EXPECT_EQ(f.kept_output().array()[0].item<float>(), 2);  // recreated
    EXPECT_EQ(count.references, 0);
  }
}

TEST(Peers, IntegersMayAskForAGradient) {
  const Variable x(ct::arange(3));
  EXPECT_FALSE(x.requires_grad());
  x.node().set_requires_grad(true);
  EXPECT_TRUE(x.requires_grad());
}

}  // namespace
