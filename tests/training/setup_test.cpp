// An optimizer that could not update anything reports an error.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "catenary/catenary.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using tests::error_of;

struct WithoutNames : Chain {
  links::Linear l1;
  WithoutNames() : l1(2, 3) {}
};

TEST(Setup, AModelWithoutParametersIsAnError) {
  const std::string expected =
      "Adam: setup(model): the model has no parameters (a Chain has those of the members that CT_LINKS names)";
  EXPECT_EQ(error_of<ValueError>([] { optimizers::Adam().setup(Sequential()); }), expected);
  WithoutNames model;
  EXPECT_EQ(error_of<ValueError>([&] { optimizers::Adam().setup(model); }), expected);
  EXPECT_NO_THROW(optimizers::Adam().setup(links::Linear(3)));  // its shapes are determined at the first call
}

TEST(Setup, AParameterOverridesOnlyWhatTheOptimizerHas) {
  optimizers::SGD optimizer(0.1);
  links::Linear link(2, 3);
  optimizer.setup(link);
  const auto hyperparam = static_cast<UpdateRule&>(*link.W.update_rule()).hyperparam;
  hyperparam->set("lr", 0.01);
  EXPECT_EQ(hyperparam->get("lr"), 0.01);
  EXPECT_EQ(error_of<ValueError>([&] { hyperparam->set("rate", 0.01); }),
            "there is no hyperparameter 'rate'; there is: lr");
}

TEST(Setup, AnOptimizerTakesOnlyHyperparametersThatItHas) {
  const optimizers::SGD optimizer(0.1);
  optimizer.hyperparam().set("lr", 0.5);
  EXPECT_EQ(optimizer.lr, 0.5);
  EXPECT_EQ(error_of<ValueError>([&] { optimizer.hyperparam().set("foo", 1); }),
            "there is no hyperparameter 'foo'; there is: lr");
  EXPECT_FALSE(optimizer.hyperparam().contains("foo"));
}

struct OneForgotten : Chain {
  links::Linear l1, l2, l3;
  OneForgotten() : l1(2, 3), l2(3, 3), l3(3, 1) {}
  CT_LINKS(l1, l3)
};

struct Nested : Chain {
  links::Linear first;
  OneForgotten rest;
  Nested() : first(2, 2) {}
  CT_LINKS(first, rest)
};

struct More : OneForgotten {
  links::Linear l4;
  More() : l4(1, 1) {}
  CT_MORE_LINKS(OneForgotten, l2)
};

struct Tied : Chain {
  links::Linear l1, same, frozen;
  Tied() : l1(2, 3), same(l1), frozen(2, 3) { frozen.disable_update(); }
  CT_LINKS(l1)
};

TEST(Setup, AMemberThatCTLinksDoesNotNameIsAnError) {
  const auto expected = [](const char* type, const char* path, int number) {
    return std::string(type) + " '" + path + "': CT_LINKS does not name the member that is number " +
           std::to_string(number) +
           " of its links (Linear): it would never be trained, saved or moved; name it, or call its disable_update() "
           "if that is meant";
  };
  const OneForgotten model;
  EXPECT_EQ(error_of<ValueError>([&] { optimizers::Adam().setup(model); }), expected("Chain", "/", 2));
  const auto copy = std::make_shared<OneForgotten>(model);
  EXPECT_EQ(error_of<ValueError>([&] { optimizers::Adam().setup(*copy); }), expected("Chain", "/", 2));
  EXPECT_EQ(error_of<ValueError>([&] { optimizers::Adam().setup(Nested()); }), expected("Chain", "/rest", 2));
  EXPECT_EQ(error_of<ValueError>([&] { optimizers::Adam().setup(More()); }), expected("Chain", "/", 4));
  EXPECT_NO_THROW(optimizers::Adam().setup(Tied()));
  model.l2.disable_update();
  EXPECT_NO_THROW(optimizers::Adam().setup(model));
}

struct OwnParameters : Chain {
  Parameter known{1, {2}};
  std::vector<links::Linear> heap;  // outside the object
  links::Linear l1{2, 2};
  Parameter forgotten{1, {3}, "scale"}, later;
  Variable no_parameter{zeros({2})};
  OwnParameters() { heap.emplace_back(2, 2), heap.emplace_back(2, 2); }
  CT_LINKS(known, l1)
  Variable operator()(const Variable& x) const { return l1(x); }
};

struct SetLater : OwnParameters {
  Parameter extra;
  SetLater() {
    forgotten = known;  // tied to a known parameter
    extra = Parameter::from_array(zeros({2}));
  }
  CT_MORE_LINKS(OwnParameters, later)
};

struct InParts : Chain {
  std::optional<Parameter> maybe;
  std::array<Parameter, 2> two{Parameter(1, {1}), Parameter(1, {1})};
  links::Linear l1{2, 2};
  CT_LINKS(l1)
};

// Members that no CT_LINKS names, in the original object and in copies, wherever they are stored.
TEST(Setup, AParameterThatCTLinksDoesNotNameIsAnError) {
  const auto expected = [](const char* path, int number, const char* name) {
    return std::string("Chain '") + path + "': CT_LINKS does not name the member that is number " +
           std::to_string(number) + " of its Parameters" + name +
           ": it would never be trained, saved or moved; name it, or make it a Persistent if it is not to be learnt";
  };
  const auto said_of = [](const Link& model) { return error_of<ValueError>([&] { model.check_members(); }); };
  const OwnParameters model;
  EXPECT_EQ(error_of<ValueError>([&] { optimizers::Adam().setup(model); }), expected("/", 2, " ('scale')"));
  const OwnParameters on_stack = model, *const on_heap = new OwnParameters(on_stack);
  EXPECT_EQ(said_of(*on_heap), expected("/", 2, " ('scale')"));
  EXPECT_EQ(said_of(copy_link(*on_heap, CopyMode::copy)), expected("/", 2, " ('scale')"));
  delete on_heap;
  EXPECT_EQ(said_of(copy_link(on_stack, CopyMode::init)), expected("/", 2, " ('scale')"));
  const Model held = Sequential(links::Linear(2, 2), model);  // moved to other memory
  EXPECT_EQ(error_of<ValueError>([&] { optimizers::Adam().setup(held); }), expected("/1", 2, " ('scale')"));
  EXPECT_EQ(said_of(SetLater()), expected("/", 4, ""));
  EXPECT_EQ(said_of(InParts()), expected("/", 1, ""));
  InParts parts;
  parts.maybe.emplace(1, Shape{2});
  EXPECT_EQ(said_of(parts), expected("/", 1, ""));
  parts.maybe.reset();
  parts.two = {Parameter(), Parameter()};
  EXPECT_EQ(said_of(parts), "");
  // no error for frozen parameters, or for handles in containers
  model.disable_update();
  EXPECT_EQ(said_of(model), "");
  const std::vector<Parameter> list = on_stack.params();
  EXPECT_TRUE(Parameter::inside(std::as_bytes(std::span(list))).empty());
  EXPECT_EQ(Parameter::inside(std::as_bytes(std::span(&on_stack, 1))).size(), 5u);  // including l1's
}

}  // namespace
}  // namespace catenary
