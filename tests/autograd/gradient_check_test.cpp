#include "catenary/autograd/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/autograd/operators.h"
#include "catenary/autograd/parameter.h"
#include "tests/autograd/helpers.h"
#include "tests/gradients.h"

namespace catenary {
namespace {

namespace F = functions;
using namespace gradient_check;
using test::values;

struct WrongSquare : Unary<WrongSquare, keep::x> {
  static constexpr const char* kName = "WrongSquare";
  static Array f(const Array& x) { return x * x; }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy * x; }
};
/// Has the right gradient, whose own gradient is wrong because x is hidden from the graph.
struct HiddenSquare : Unary<HiddenSquare, keep::x> {
  static constexpr const char* kName = "HiddenSquare";
  static Array f(const Array& x) { return x * x; }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * (x.array() * 2.0); }
};
/// Has the right gradient, and a different, correct second derivative.
struct TwoSquares : Unary<TwoSquares, keep::x> {
  static constexpr const char* kName = "TwoSquares";
  static Array f(const Array& x) { return x * x; }
  static Array df(const Array& gy, const Array& x, const Array&) { return gy * x * 2.0; }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * x * 3.0; }
};

Array sample() { return array<double>({0.5, -1.5, 2, 0.25, -0.75, 1.25}, {2, 3}); }

TEST(GradientCheck, NumericalGradOfEachElement) {
  const Array x = sample().copy(), gy = array<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto f = [&] { return std::vector<Array>{x * x * x}; };
  const Array expected = gy * (x * x * 3.0);
  assert_allclose(numerical_grad(f, {x}, {gy})[0], expected);
  NumericalGradOptions options;
  options.detect_nondifferentiable = true;
  assert_allclose(numerical_grad(f, {x}, {gy}, options)[0], expected, 1e-8, 1e-8);
  assert_allclose(x, sample(), 0, 0);
  EXPECT_THROW(numerical_grad(f, {array<int>({1})}, {gy}), DtypeError);
}

TEST(GradientCheck, FindsKinks) {
  const Array x = array<double>({0.0001, 1}), gy = array<double>({1, 1});
  NumericalGradOptions options;
  options.detect_nondifferentiable = true;
  EXPECT_THROW(numerical_grad([&] { return std::vector<Array>{absolute(x)}; }, {x}, {gy}, options),
               NondifferentiableError);
}

TEST(GradientCheck, TellsRightFromWrong) {
  const auto square = [](const std::vector<Variable>& x) { return std::vector<Variable>{x[0] * x[0]}; };
  const auto wrong = [](const std::vector<Variable>& x) {
    return std::vector<Variable>{apply(node<WrongSquare>(), x[0])};
  };
  const auto hidden = [](const std::vector<Variable>& x) {
    return std::vector<Variable>{apply(node<HiddenSquare>(), x[0])};
  };
  EXPECT_NO_THROW(check_backward(square, {sample()}));
  EXPECT_NO_THROW(check_double_backward(square, {sample()}));
  EXPECT_THROW(check_backward(wrong, {sample()}), GradientError);
  EXPECT_NO_THROW(check_backward(hidden, {sample()}));
  EXPECT_THROW(check_double_backward(hidden, {sample()}), GradientError);
  const auto two = [](const std::vector<Variable>& x) {
    return std::vector<Variable>{apply(node<TwoSquares>(), x[0])};
  };
  EXPECT_NO_THROW(check_backward(two, {sample()}));
  try {
    check_double_backward(two, {sample()});
    ADD_FAILURE();
  } catch (const GradientError& error) {
    EXPECT_EQ(std::string(error.what()).find("check_double_backward: gradient 0 changes if it is computed"), 0u)
        << error.what();
  }
}

TEST(GradientCheck, Parameters) {
  const Parameter w(array<float>({1, 2, 3}));
  CheckOptions options;
  options.dtype = Dtype::float64;
  const auto f = [&](const std::vector<Variable>& x) { return std::vector<Variable>{x[0] * w + w}; };
  check_backward(f, {sample().astype(Dtype::float32)}, {}, {w}, options);
  check_double_backward(f, {sample()}, {}, {}, {w}, options);
  EXPECT_EQ(values(w.array()), (std::vector<double>{1, 2, 3}));
}

TEST(GradientCheck, ParametersAsALinkGivesThem) {
  const std::vector<Parameter> all = {Parameter(array<float>({1, 2, 3}), "w"), Parameter(array<float>({2, 1, 2}), "b")};
  CheckOptions options;
  options.dtype = Dtype::float64;
  const auto f = [&](const std::vector<Variable>& x) { return std::vector<Variable>{x[0] * all[0] + all[1]}; };
  check_backward(f, {sample()}, {}, all, options);
  check_double_backward(f, {sample()}, {}, {}, all, options);
  EXPECT_EQ(all[0].dtype(), Dtype::float32);  // unchanged by the check
  EXPECT_EQ(values(all[0].array()), (std::vector<double>{1, 2, 3}));
  const auto wrong = [&](const std::vector<Variable>& x) {
    return std::vector<Variable>{apply(node<WrongSquare>(), all[0]) + x[0]};
  };
  EXPECT_THROW(check_backward(wrong, {sample()}, {}, all, options), GradientError);
  const std::vector<Parameter> waiting = {Parameter(1.0, "W")};
  try {
    check_backward(f, {sample()}, {}, waiting, options);
    ADD_FAILURE();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "gradient_check: the parameter 'W' has no shape yet: call its link once before");
  }
}

TEST(GradientCheck, AssertAllclose) {
  EXPECT_THROW(assert_allclose(array<float>({1}), array<float>({1, 1})), GradientError);
  EXPECT_THROW(assert_allclose(array<float>({1}), array<float>({1.1f})), GradientError);
  EXPECT_NO_THROW(assert_allclose(array<float>({1, NAN}), array<float>({1, NAN})));
}

/// Checks every operator and method of Variable, differentiated once and twice.
TEST(GradientCheck, Operators) {
  const auto scope = tests::one_by_one_on_devices();
  const Array positive = array<double>({0.5, 1.5, 2, 0.25, 0.75, 1.25}, {2, 3});
  const Array row = array<double>({1.5, 0.5, 2}), one = array<double>({1.25}, Shape{});
  const Array floats = array<float>({1.5f, 0.5f, 2});
  using V = std::vector<Variable>;
  const std::vector<std::pair<const char*, Function>> binary = {
      {"+", [](const V& x) { return V{x[0] + x[1] * x[1]}; }},
      {"-", [](const V& x) { return V{x[0] * x[0] - x[1]}; }},
      {"*", [](const V& x) { return V{x[0] * x[1]}; }},
      {"/", [](const V& x) { return V{x[0] / x[1]}; }},
      {"**", [](const V& x) { return V{pow(x[0], x[1])}; }},
      {"reversed", [](const V& x) { return V{x[1] / x[0] - x[1] * x[0]}; }},
  };
  CheckOptions options;
  options.atol = options.rtol = 1e-4;
  for (const auto& [name, f] : binary)
    for (const Array& b : {positive, row, one}) {
      SCOPED_TRACE(name);
      EXPECT_NO_THROW(check_backward(f, {positive, b}, {}, {}, options));
      EXPECT_NO_THROW(check_double_backward(f, {positive, b}, {}, {}, {}, options));
    }
  const std::vector<std::pair<const char*, Function>> unary = {
      {"constants", [](const V& x) { return V{2.0 - x[0] * 3.0 + (x[0] / 2.0) * (1.0 + x[0])}; }},
      {"1 / x", [](const V& x) { return V{1.5 / x[0]}; }},
      {"x ** 3", [](const V& x) { return V{pow(x[0], 3) + pow(x[0], 2) + pow(x[0], 0) + pow(x[0], 1.5)}; }},
      {"2 ** x", [](const V& x) { return V{pow(2.0, x[0])}; }},
      {"-x", [](const V& x) { return V{-x[0] * x[0]}; }},
      {"log", [](const V& x) { return V{F::log(x[0])}; }},
      {"broadcast_to",
       [](const V& x) {
         return V{F::broadcast_to(x[0] * x[0], {4, 2, 3})};
       }},
      {"sum_to",
       [](const V& x) {
         return V{F::sum_to(x[0] * x[0], {1, 3}), F::sum_to(x[0], {}), F::sum_to(x[0], {2, 1})};
       }},
      {"sum",
       [](const V& x) {
         return V{F::sum(x[0] * x[0]), F::sum(x[0], -1), F::sum(x[0], 0, true), F::sum(x[0], {0, 1}, true)};
       }},
      {"reshape",
       [](const V& x) {
         return V{(x[0] * x[0]).reshape({3, -1})};
       }},
      {"transpose",
       [](const V& x) {
         return V{(x[0] * x[0]).T() * x[0].reshape({3, 2}), x[0].transpose({1, 0}), x[0].transpose({-1, 0})};
       }},
      {"get_item",
       [](const V& x) {
         return V{x[0](1, slice(0, 2)) * 2.0, x[0](ellipsis, newaxis, slice(none, none, -1)), x[0][0] * x[0][0]};
       }},
      {"take",
       [](const V& x) {
         return V{x[0](array<std::int64_t>({0, 1, 0})) * x[0](1)};
       }},
      {"cast", [](const V& x) { return V{F::identity(F::cast(x[0] * x[0], Dtype::float64))}; }},
      {"copy", [](const V& x) { return V{F::copy(x[0] * x[0], x[0].device())}; }},
      {"add",
       [](const V& x) {
         return V{F::add({x[0], x[0] * x[0], x[0]})};
       }},
  };
  for (const auto& [name, f] : unary) {
    SCOPED_TRACE(name);
    EXPECT_NO_THROW(check_backward(f, {positive}, {}, {}, options));
    EXPECT_NO_THROW(check_double_backward(f, {positive}, {}, {}, {}, options));
  }
}

}  // namespace
}  // namespace catenary
