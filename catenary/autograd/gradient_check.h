#pragma once
// Gradients against finite differences. (chainer.gradient_check)

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/autograd/parameter.h"

namespace catenary::gradient_check {

/// Thrown if a check finds a wrong gradient.
class CT_API GradientError : public Error {
 public:
  using Error::Error;
  ~GradientError() override;
};
/// Thrown at a point where the function has no derivative.
class CT_API NondifferentiableError : public Error {
 public:
  using Error::Error;
  ~NondifferentiableError() override;
};

/// Options of numerical_grad.
struct NumericalGradOptions {
  double eps = 1e-3;
  /// Tests by a quadratic fit of five points whether f has a derivative; if not, throws NondifferentiableError.
  bool detect_nondifferentiable = false;
  double diff_atol = 0;
  double diff_rtol = 1e-2;
};

/// Returns the gradients of sum(y * gy) over f's outputs with respect to each element of the inputs, as float64 arrays.
/// f takes no argument and reads the inputs, which are modified in place and restored. An undefined grad_output counts
/// as zeros. (chainer.gradient_check.numerical_grad)
CT_API std::vector<Array> numerical_grad(const std::function<std::vector<Array>()>& f, const std::vector<Array>& inputs,
                                         const std::vector<Array>& grad_outputs,
                                         const NumericalGradOptions& options = {});

/// A function of variables.
using Function = std::function<std::vector<Variable>(const std::vector<Variable>&)>;

/// Variables to check beside a function's inputs. Also takes parameters as returned by `link.params()`.
class CT_API Params : public std::vector<Variable> {
 public:
  Params() = default;
  Params(std::initializer_list<Variable> variables) : vector(variables) {}
  Params(std::vector<Variable> variables) : vector(std::move(variables)) {}
  Params(const std::vector<Parameter>& parameters) : vector(parameters.begin(), parameters.end()) {}
};

/// Options of the checks below.
struct CheckOptions {
  double eps = 1e-3;
  double atol = 1e-5;
  double rtol = 1e-4;
  /// Inputs and gradients are cast to this dtype, and parameters for the duration of the check.
  std::optional<Dtype> dtype = {};
  /// Marks inputs without a gradient: backward must leave their gradients undefined.
  std::vector<bool> no_grads = {};
  bool detect_nondifferentiable = false;
  /// Seed of the random directions.
  std::uint64_t seed = 0;
};

/// Checks backward of f: compares the directional derivative of sum(y * gy) along a random direction of all inputs and
/// parameters with finite differences. An empty y_grad means random gradients. Throws GradientError with both numbers,
/// and ValueError for a parameter without a shape. (chainer.gradient_check.check_backward)
CT_API void check_backward(const Function& f, const std::vector<Array>& x, const std::vector<Array>& y_grad = {},
                           const Params& params = {}, const CheckOptions& options = {});

/// Checks the gradient of the gradient, and that recording a graph for it leaves the first gradient unchanged. Empty
/// y_grad and x_grad_grad are random. (chainer.gradient_check.check_double_backward)
CT_API void check_double_backward(const Function& f, const std::vector<Array>& x, const std::vector<Array>& y_grad = {},
                                  const std::vector<Array>& x_grad_grad = {}, const Params& params = {},
                                  const CheckOptions& options = {});

/// Throws GradientError unless shapes are equal and |actual - expected| <= atol + rtol * |expected| everywhere. Two
/// NaNs count as equal. (chainer.testing.assert_allclose)
CT_API void assert_allclose(const Array& actual, const Array& expected, double atol = 1e-5, double rtol = 1e-4);

}  // namespace catenary::gradient_check
