// An optimizer that could change nothing says so.

#include <gtest/gtest.h>

#include <string>

#include "catenary/catenary.h"

namespace catenary {
namespace {

struct WithoutNames : Chain {
  links::Linear l1;
  WithoutNames() : l1(2, 3) {}
  Variable operator()(const Variable& x) { return l1(x); }
};

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Setup, AModelWithoutParametersIsAnError) {
  const std::string expected =
      "Adam: setup(model): the model has no parameters (a Chain has those of the members that CT_LINKS names)";
  EXPECT_EQ(message_of([] { optimizers::Adam().setup(Sequential()); }), expected);
  WithoutNames model;
  EXPECT_EQ(message_of([&] { optimizers::Adam().setup(model); }), expected);
  EXPECT_NO_THROW(optimizers::Adam().setup(links::Linear(3)));  // its sizes are found at the first call
}

TEST(Setup, AParameterOverridesOnlyWhatTheOptimizerHas) {
  optimizers::SGD optimizer(0.1);
  links::Linear link(2, 3);
  optimizer.setup(link);
  const auto hyperparam = static_cast<UpdateRule&>(*link.W.update_rule()).hyperparam;
  hyperparam->set("lr", 0.01);
  EXPECT_EQ(hyperparam->get("lr"), 0.01);
  EXPECT_EQ(message_of([&] { hyperparam->set("rate", 0.01); }), "there is no hyperparameter 'rate'");
}

}  // namespace
}  // namespace catenary
