#include "catenary/autograd/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::gradient_check {

GradientError::~GradientError() = default;
NondifferentiableError::~NondifferentiableError() = default;

namespace {

using Host = std::vector<double>;

Array to_array(const Host& values, const Array& like, Dtype dtype) {
  return Array::from_host(values.data(), like.shape(), Dtype::float64, like.device()).astype(dtype);
}

/// Values of f's outputs, concatenated without weights.
std::vector<Host> to_host(const std::vector<Array>& ys) {
  std::vector<Host> all;
  for (const Array& y : ys) all.push_back(y.to_vector<double>());
  return all;
}

/// sum((y1 - y0) * gy) over all outputs.
double difference(const std::vector<Host>& y1, const std::vector<Host>& y0, const std::vector<Host>& gy) {
  double total = 0;
  for (std::size_t k = 0; k < gy.size(); ++k)
    for (std::size_t i = 0; i < gy[k].size(); ++i) total += (y1[k][i] - y0[k][i]) * gy[k][i];
  return total;
}

/// Values at -eps, -eps/2, 0, eps/2, eps.
using Samples = std::vector<std::vector<Host>>;

void detect_kink(const Samples& s, const NumericalGradOptions& o) {
  for (std::size_t k = 0; k < s[0].size(); ++k) {
    for (std::size_t i = 0; i < s[0][k].size(); ++i) {
      double y[5], low = INFINITY, high = -INFINITY;
      int finite = 0;
      for (int j = 0; j < 5; ++j) {
        y[j] = s[static_cast<std::size_t>(j)][k][i];
        finite += std::isfinite(y[j]);
        low = std::min(low, y[j]);
        high = std::max(high, y[j]);
      }
      if (finite == 0) continue;
      // The residual of a parabola through five points: the parts along the orthogonal polynomials of degree 3 and 4.
      const double p3 = (-y[0] + 2 * y[1] - 2 * y[3] + y[4]) / std::sqrt(10.0);
      const double p4 = (y[0] - 4 * y[1] + 6 * y[2] - 4 * y[3] + y[4]) / std::sqrt(70.0);
      const double residual = std::sqrt((p3 * p3 + p4 * p4) / 5);
      if (finite < 5 || (high > low && residual > o.diff_atol + o.diff_rtol * (high - low)))
        fail<NondifferentiableError>(
            "output {}, element {}: no derivative here, values at -eps, -eps/2, 0, eps/2, eps are {}", k, i,
            fmt::join(y, y + 5, ", "));
    }
  }
}

/// d/dt sum(f(t) * gy) at 0. `f` gives the outputs for a displacement.
template <class F>
double derivative(F&& f, const std::vector<Host>& gy, const NumericalGradOptions& o) {
  const double e = o.eps;
  if (!o.detect_nondifferentiable) return difference(f(e), f(-e), gy) / (2 * e);
  const Samples s = {f(-e), f(-e / 2), f(0), f(e / 2), f(e)};
  detect_kink(s, o);
  return (8 * difference(s[3], s[1], gy) - difference(s[4], s[0], gy)) / (6 * e);
}

std::vector<Array> arrays_of(const std::vector<Variable>& vs) {
  std::vector<Array> all;
  for (const Variable& v : vs) all.push_back(v.array());
  return all;
}

Host random_like(const Array& a, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Host values(static_cast<std::size_t>(a.size()));
  for (double& v : values) v = normal(random);
  return values;
}

std::vector<Array> cast_all(std::vector<Array> arrays, std::optional<Dtype> dtype) {
  if (dtype)
    for (Array& a : arrays)
      if (a.defined() && is_floating(a.dtype())) a = a.astype(*dtype);
  return arrays;
}

/// Casts parameters for the duration of a check, then restores their arrays and removes gradients of another dtype.
class Cast {
 public:
  Cast(const Params& params, std::optional<Dtype> dtype) {
    for (const Variable& p : params) {
      if (!p.array().defined())
        fail<ValueError>("gradient_check: the parameter '{}' has no shape yet: call its link once before", p.name());
      if (!dtype || p.dtype() == *dtype) continue;
      before_.emplace_back(p, p.array());
      p.cleargrad();
      p.set_array(p.array().astype(*dtype));
    }
  }
  ~Cast() {
    for (const auto& [p, array] : before_) {
      p.cleargrad();
      p.set_array(array);
    }
  }
  Cast(const Cast&) = delete;
  Cast& operator=(const Cast&) = delete;

 private:
  std::vector<std::pair<Variable, Array>> before_;
};

/// Returns the given gradients, or random gradients with the shapes of `ys`.
std::vector<Array> gradients_or_random(const std::vector<Array>& given, const std::vector<Variable>& ys,
                                       std::mt19937_64& random, const char* what) {
  if (!given.empty() && given.size() != ys.size())
    fail<ValueError>("{}: {} gradients were given for {} variables", what, given.size(), ys.size());
  std::vector<Array> all = given;
  if (all.empty())
    for (const Variable& y : ys)
      all.push_back(is_floating(y.dtype()) ? to_array(random_like(y.array(), random), y.array(), y.dtype()) : Array());
  return all;
}

}  // namespace

std::vector<Array> numerical_grad(const std::function<std::vector<Array>()>& f, const std::vector<Array>& inputs,
                                  const std::vector<Array>& grad_outputs, const NumericalGradOptions& options) {
  if (!(options.eps > 0)) fail<ValueError>("numerical_grad: eps must be positive, not {}", options.eps);
  std::vector<Host> gy;
  for (const Array& g : grad_outputs) gy.push_back(g.defined() ? g.to_vector<double>() : Host());
  std::vector<Array> grads;
  for (const Array& x : inputs) {
    if (!is_floating(x.dtype())) fail<DtypeError>("numerical_grad: inputs must be floating, not {}", x.dtype());
    const Host original = x.to_vector<double>();
    Host gx(original.size());
    for (std::size_t i = 0; i < original.size(); ++i) {
      const auto at = [&](double delta) {
        Host moved = original;
        moved[i] += delta;
        copyto(x, to_array(moved, x, x.dtype()));
        return to_host(f());
      };
      gx[i] = derivative(at, gy, options);
    }
    copyto(x, to_array(original, x, x.dtype()));
    grads.push_back(to_array(gx, x, Dtype::float64));
  }
  return grads;
}

void check_backward(const Function& f, const std::vector<Array>& x_data, const std::vector<Array>& y_grad,
                    const Params& params, const CheckOptions& options) {
  const auto graph = force_backprop_mode();
  std::mt19937_64 random(options.seed + 1);
  const std::vector<Array> data = cast_all(x_data, options.dtype);
  std::vector<Variable> xs;
  for (const Array& a : data) xs.emplace_back(a.copy());
  std::vector<Variable> leaves;  // those that have a gradient
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (is_floating(xs[i].dtype()) && !(i < options.no_grads.size() && options.no_grads[i])) leaves.push_back(xs[i]);
  const Cast cast_params(params, options.dtype);
  for (const Variable& p : params) leaves.push_back(p);
  for (const Variable& leaf : leaves) leaf.cleargrad();

  const std::vector<Variable> ys = f(xs);
  const std::vector<Array> gys = cast_all(gradients_or_random(y_grad, ys, random, "check_backward"), options.dtype);
  std::vector<Variable> starts, start_grads;
  for (std::size_t i = 0; i < ys.size(); ++i)
    if (gys[i].defined()) {
      starts.push_back(ys[i]);
      start_grads.emplace_back(gys[i], false);
    }
  backward(starts, start_grads);
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (i < options.no_grads.size() && options.no_grads[i] && xs[i].grad().defined())
      fail<GradientError>("check_backward: input {} has a gradient, but must have none", i);

  // One random direction of length 1 in the space of all leaves.
  std::vector<Host> directions, originals;
  double norm = 0;
  for (const Variable& leaf : leaves) {
    directions.push_back(random_like(leaf.array(), random));
    originals.push_back(leaf.array().to_vector<double>());
    for (double d : directions.back()) norm += d * d;
  }
  norm = std::sqrt(std::max(norm, 1e-300));
  double by_backward = 0;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const Array g = leaves[k].grad();
    if (!g.defined()) fail<GradientError>("check_backward: input {} has no gradient", k);
    const Host gx = g.to_vector<double>();
    for (std::size_t i = 0; i < gx.size(); ++i) by_backward += gx[i] * (directions[k][i] /= norm);
  }
  std::vector<Host> gy;
  for (const Array& g : gys) gy.push_back(g.defined() ? g.to_vector<double>() : Host());
  const auto move = [&](double t) {
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      Host moved = originals[k];
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += t * directions[k][i];
      leaves[k].set_array(to_array(moved, leaves[k].array(), leaves[k].dtype()));
    }
  };
  const auto along = [&](double t) {
    move(t);
    return to_host(arrays_of(f(xs)));
  };
  NumericalGradOptions numerical;
  numerical.eps = options.eps;
  numerical.detect_nondifferentiable = options.detect_nondifferentiable;
  const double by_difference = derivative(along, gy, numerical);
  move(0);
  if (!(std::abs(by_backward - by_difference) <= options.atol + options.rtol * std::abs(by_difference))) {
    const FunctionNode* last = ys[0].creator();
    fail<GradientError>(
        "check_backward of {}: the derivative along a random direction is {} by backward, {} by differences",
        last ? last->name() : "a leaf", by_backward, by_difference);
  }
}

void check_double_backward(const Function& f, const std::vector<Array>& x, const std::vector<Array>& y_grad,
                           const std::vector<Array>& x_grad_grad, const Params& params, const CheckOptions& options) {
  const auto graph = force_backprop_mode();
  std::mt19937_64 random(options.seed + 2);
  const Cast cast_params(params, options.dtype);
  std::vector<Array> gys;
  {
    std::vector<Variable> xs;
    for (const Array& a : cast_all(x, options.dtype)) xs.emplace_back(a, false);
    gys = gradients_or_random(y_grad, f(xs), random, "check_double_backward");
  }
  // The gradient as a function of x and gy.
  const std::size_t n = x.size();
  const auto first_order = [&](const std::vector<Variable>& all, bool again = true) {
    const std::vector<Variable> xs(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
    std::vector<Variable> inputs;
    for (std::size_t i = 0; i < n; ++i)
      if (is_floating(xs[i].dtype()) && !(i < options.no_grads.size() && options.no_grads[i])) inputs.push_back(xs[i]);
    for (const Variable& p : params) inputs.push_back(p);
    GradOptions o;
    o.enable_double_backprop = again;
    std::vector<Variable> ys = f(xs);
    for (std::size_t i = 0, at = n; i < gys.size(); ++i) {
      if (gys[i].defined()) {
        // y * 1 separates an output that is also an input from that input, as in Chainer
        o.grad_outputs.push_back(all[at++]);
      } else {
        ys[i] = Variable();
      }
    }
    std::erase_if(ys, [](const Variable& y) { return !y.defined(); });
    for (Variable& y : ys) y = functions::identity(y);
    std::vector<Variable> gxs = grad(ys, inputs, o);
    for (std::size_t i = 0; i < gxs.size(); ++i)
      if (!gxs[i].defined()) fail<GradientError>("check_double_backward: input {} has no gradient", i);
    return gxs;
  };
  std::vector<Array> inputs = x;
  for (const Array& g : gys)
    if (g.defined()) inputs.push_back(g);
  // Some functions compute a gradient differently if it will be differentiated again. Its values must not change.
  {
    std::vector<Variable> all;
    for (const Array& a : cast_all(inputs, options.dtype)) all.emplace_back(a);
    const std::vector<Variable> once = first_order(all, false), again = first_order(all);
    for (std::size_t i = 0; i < once.size(); ++i) {
      try {
        assert_allclose(again[i].array(), once[i].array(), options.atol, options.rtol);
      } catch (const GradientError& error) {
        fail<GradientError>(
            "check_double_backward: gradient {} changes if it is computed for a second differentiation: {}", i,
            error.what());
      }
    }
  }
  // If the gradient does not depend on an input, there is no second gradient. Adding a term that is 0 provides it.
  const auto with_all = [&](const std::vector<Variable>& all) {
    std::vector<Variable> gxs = first_order(all);
    Variable nothing;
    const auto touch = [&](const Variable& v) {
      if (!is_floating(v.dtype())) return;
      const Variable zero = functions::sum(v * 0.0);
      nothing = nothing.defined() ? nothing + functions::cast(zero, nothing.dtype()) : zero;
    };
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i >= n || !(i < options.no_grads.size() && options.no_grads[i])) touch(all[i]);
    for (const Variable& p : params) touch(p);
    gxs[0] = gxs[0] + functions::cast(nothing, gxs[0].dtype());
    return gxs;
  };
  check_backward(with_all, inputs, x_grad_grad, params, options);
}

void assert_allclose(const Array& actual, const Array& expected, double atol, double rtol) {
  if (actual.shape() != expected.shape())
    fail<GradientError>("assert_allclose: shapes {} and {} differ", actual.shape(), expected.shape());
  const Host a = actual.to_vector<double>(), e = expected.to_vector<double>();
  std::size_t wrong = 0, first = 0;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same =
        a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])) || std::abs(a[i] - e[i]) <= atol + rtol * std::abs(e[i]);
    if (same) continue;
    if (!wrong++) first = i;
    worst = std::max(worst, std::abs(a[i] - e[i]));
  }
  if (wrong)
    fail<GradientError>(
        "assert_allclose: {} of {} elements differ; the first is element {}: {}, expected {}; largest difference {}",
        wrong, a.size(), first, a[first], e[first], worst);
}

}  // namespace catenary::gradient_check
