// Calls of functions by the names of their arguments.

#include "catenary/functions/signature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "catenary/array/creation.h"
#include "catenary/core/error.h"
#include "catenary/functions/functions.h"
#include "tests/autograd/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
using test::values;

struct None {};
using Value = std::variant<None, bool, std::int64_t, double, std::string, Dims, Array, Variable, std::vector<Variable>>;
using Values = std::map<std::string, Value>;

/// Arguments by name.
class Named final : public F::Arguments {
 public:
  explicit Named(Values all) : all_(std::move(all)) {}
  bool is_given(const F::Argument& argument) override { return all_.contains(argument.name); }
  bool is_none(const F::Argument& argument) override { return std::holds_alternative<None>(all_.at(argument.name)); }
  bool read(const F::Argument& argument, bool& to) override { return get(argument, to); }
  bool read(const F::Argument& argument, std::int64_t& to) override { return get(argument, to); }
  bool read(const F::Argument& argument, double& to) override { return get(argument, to); }
  bool read(const F::Argument& argument, std::string& to) override { return get(argument, to); }
  bool read(const F::Argument& argument, Dims& to) override { return get(argument, to); }
  bool read(const F::Argument& argument, Array& to) override { return get(argument, to); }
  bool read(const F::Argument& argument, Variable& to) override {
    Array values;
    if (!get(argument, values)) return get(argument, to);
    to = Variable(values, false);
    return true;
  }
  bool read(const F::Argument& argument, std::vector<Variable>& to) override { return get(argument, to); }
  bool fit() override { return fits; }
  bool fits = true;

 private:
  template <class T>
  bool get(const F::Argument& argument, T& to) {
    const T* const value = std::get_if<T>(&all_.at(argument.name));
    if (value) to = *value;
    return value != nullptr;
  }
  const Values all_;
};

const F::Signature& signature(const std::string& name) {
  for (const F::Signature& found : F::signatures())
    if (found.name() == name) return found;
  throw ValueError("no signature of " + name);
}
Variables call(const std::string& name, const Values& arguments) {
  Named named(arguments);
  Variables results;
  const F::Signature& found = signature(name);
  EXPECT_TRUE(found.call(found, named, results)) << name;
  return results;
}
Variable one(const std::string& name, const Values& arguments) { return call(name, arguments)[0]; }
std::vector<std::string> names_of(const std::string& name) {
  std::vector<std::string> names;
  const F::Signature& found = signature(name);
  for (const std::size_t at : found.order)
    names.push_back((found.arguments[at].is_keyword_only ? "=" : "") + found.arguments[at].name);
  return names;
}

void expect_equal(const Variable& a, const Variable& b) { EXPECT_EQ(values(a.array()), values(b.array())); }

class Signatures : public testing::Test {
 protected:
  const Array x = array<double>({-1.5, 0.5, 2, -0.25, 1, -3}, {2, 3});  // on the device under test
};

TEST_F(Signatures, AreCompleteAndUnique) {
  std::set<std::string> paths;
  EXPECT_GT(F::signatures().size(), 180u);
  for (const F::Signature& each : F::signatures()) {
    EXPECT_TRUE(paths.insert(each.path).second) << each.path;
    EXPECT_TRUE(each.path.starts_with("chainer.functions.")) << each.path;
    std::set<std::string> names;
    for (std::size_t i = 0; i < each.arguments.size(); ++i) {
      EXPECT_EQ(each.arguments[i].at, i) << each.path;
      EXPECT_TRUE(names.insert(each.arguments[i].name).second) << each.path << " " << each.arguments[i].name;
    }
    std::set<std::size_t> order(each.order.begin(), each.order.end());
    EXPECT_EQ(order.size(), each.order.size()) << each.path;
    bool is_optional = false;  // required arguments come first
    for (const std::size_t at : each.order) {
      ASSERT_LT(at, each.arguments.size()) << each.path;
      EXPECT_FALSE(is_optional && each.arguments[at].is_required) << each.path << " " << each.arguments[at].name;
      is_optional = is_optional || !each.arguments[at].is_required;
    }
  }
}

TEST_F(Signatures, HaveChainersOrderOfOptions) {
  EXPECT_EQ(names_of("convolution_2d"),
            (std::vector<std::string>{"x", "W", "b", "stride", "pad", "cover_all", "=dilate", "=groups"}));
  EXPECT_EQ(names_of("dilated_convolution_2d"),
            (std::vector<std::string>{"x", "W", "b", "stride", "pad", "dilate", "cover_all"}));
  EXPECT_EQ(names_of("average_pooling_2d"), (std::vector<std::string>{"x", "ksize", "stride", "pad"}));
  EXPECT_EQ(names_of("batch_normalization"), (std::vector<std::string>{"x", "gamma", "beta", "=eps", "=running_mean",
                                                                       "=running_var", "=decay", "=axis"}));
  EXPECT_EQ(names_of("broadcast"), (std::vector<std::string>{"*args"}));
}

TEST_F(Signatures, LeaveOutArguments) {
  expect_equal(one("selu", {{"x", x}}), F::selu(x));
  expect_equal(one("selu", {{"x", x}, {"scale", 2.0}}), F::selu(x, F::kSeluAlpha, 2));
  expect_equal(one("selu", {{"x", x}, {"alpha", 2.0}}), F::selu(x, 2));
  expect_equal(one("sum", {{"x", x}, {"keepdims", true}}), F::sum(x, {}, true));
  expect_equal(one("sum", {{"x", x}, {"axis", Dims{1}}}), F::sum(x, 1));
  expect_equal(one("sum", {{"x", x}, {"axis", None()}}), F::sum(x));
  expect_equal(one("max_pooling_1d", {{"x", x.reshape({1, 2, 3})}, {"ksize", Dims{2}}}),
               F::max_pooling_1d(x.reshape({1, 2, 3}), 2));
}

// Rows state the defaults of arguments before the last one. They equal those of the C++ declarations.
TEST_F(Signatures, StateTheDefaultsOfCpp) {
  const Array positive = x * x, t = array<int>({0, 2}), signs = array<int>({1, 0, -1, 1, 1, 0}, {2, 3});
  expect_equal(one("selu", {{"x", x}, {"scale", 1.0507009873554805}}), F::selu(x));
  expect_equal(one("matmul", {{"a", x}, {"b", x}, {"transb", true}}), F::matmul(x, x, false, true));
  expect_equal(one("sigmoid_cross_entropy", {{"x", x}, {"t", signs}, {"reduce", "mean"}}),
               F::sigmoid_cross_entropy(x, signs));
  expect_equal(one("hinge", {{"x", x}, {"t", t}, {"reduce", "no"}}), F::hinge(x, t, F::HingeNorm::L1, F::Reduce::no));
  expect_equal(one("contrastive", {{"x0", x}, {"x1", positive}, {"y", array<int>({0, 1})}, {"reduce", "mean"}}),
               F::contrastive(x, positive, array<int>({0, 1})));
  expect_equal(one("triplet", {{"anchor", x}, {"positive", positive}, {"negative", x + 1}, {"reduce", "mean"}}),
               F::triplet(x, positive, x + 1));
  expect_equal(one("softmax_cross_entropy", {{"x", x}, {"t", t}, {"reduce", "mean"}}), F::softmax_cross_entropy(x, t));
  expect_equal(one("normalize", {{"x", x}, {"axis", Dims{1}}}), F::normalize(x));
  const Array ones3 = ones({3});
  expect_equal(one("fixed_batch_normalization",
                   {{"x", x}, {"gamma", ones3}, {"beta", ones3}, {"mean", ones3}, {"var", ones3}, {"axis", Dims{0}}}),
               F::fixed_batch_normalization(x, ones3, ones3, ones3, ones3));
  const Array image = linspace(0, 1, 144).reshape({1, 9, 4, 4});
  expect_equal(one("shift", {{"x", image}, {"dilate", Dims{1}}}), F::shift(image));
  expect_equal(one("diagonal", {{"x", x}, {"axis2", std::int64_t{1}}}), F::diagonal(x));
  const Array each = eye(3), two = array<int>({0, 1, 1});
  expect_equal(one("precision", {{"y", each}, {"t", two}, {"ignore_label", std::int64_t{-1}}}),
               F::precision(each, two).first);
  expect_equal(one("linear", {{"x", x}, {"W", x}}), F::linear(x, x));
  expect_equal(one("local_convolution_2d", {{"x", image}, {"W", ones({1, 2, 2, 9, 3, 3})}}),
               F::local_convolution_2d(image, ones({1, 2, 2, 9, 3, 3})));
}

TEST_F(Signatures, RefuseOtherTypes) {
  const auto takes = [](const std::string& name, const Values& arguments) {
    Named named(arguments);
    Variables results;
    const F::Signature& found = signature(name);
    return found.call(found, named, results) && !results.empty();
  };
  EXPECT_TRUE(takes("leaky_relu", {{"x", x}, {"slope", 0.5}}));
  EXPECT_FALSE(takes("leaky_relu", {{"x", x}, {"slope", "0.5"}}));
  EXPECT_FALSE(takes("softmax", {{"x", x}, {"axis", std::int64_t{1} << 40}}));
  EXPECT_FALSE(takes("decov", {{"h", x}, {"reduce", "none"}}));
  EXPECT_FALSE(takes("normalize", {{"x", x}, {"eps", None()}}));
  EXPECT_TRUE(takes("linear", {{"x", x}, {"W", x}, {"b", None()}}));
  EXPECT_FALSE(takes("bilinear", {{"e1", x}, {"e2", x}, {"W", ones({3, 3, 2})}, {"V1", ones({3, 2})}}));
  Named unfit({});
  unfit.fits = false;
  Variables results;
  EXPECT_FALSE(signature("relu").call(signature("relu"), unfit, results));
  EXPECT_THROW(call("relu", {}), ValueError);  // x is undefined
}

TEST_F(Signatures, ReturnRequestedArrays) {
  const Array image = linspace(0, 1, 16).reshape({1, 1, 4, 4});
  EXPECT_TRUE(signature("max_pooling_2d").may_return_array);
  EXPECT_FALSE(signature("unpooling_2d").may_return_array);
  const Variables both = call("max_pooling_2d", {{"x", image}, {"ksize", Dims{2}}, {"return_indices", true}});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(values(both[1].array()), (std::vector<double>{3, 3, 3, 3}));
  EXPECT_EQ(call("max_pooling_2d", {{"x", image}, {"ksize", Dims{2}}, {"return_indices", false}}).size(), 1u);
}

TEST_F(Signatures, WriteToArraysOfOptions) {
  const Array mean = zeros({3}), var = ones({3});
  call("batch_normalization", {{"x", x},
                               {"gamma", ones({3})},
                               {"beta", zeros({3})},
                               {"running_mean", mean},
                               {"running_var", var},
                               {"decay", 0.0}});
  EXPECT_EQ(values(mean), (std::vector<double>{-0.875, 0.75, -0.5}));
  expect_equal(
      one("batch_normalization", {{"x", x}, {"gamma", ones({3})}, {"beta", zeros({3})}, {"running_mean", None()}}),
      F::batch_normalization(x, ones({3}), zeros({3})));
}

}  // namespace
}  // namespace catenary
