#include "catenary/functions/normalization.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/spread.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/functions/forget.h"
#include "catenary/functions/in_float32.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/math_elementwise.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/normalization_rows.h"
#include "catenary/functions/rows.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

/// The dtype of statistics: 16-bit floats are not precise enough.
Dtype wide_dtype(const char* what, Dtype x, Dtype gamma) {
  if (!is_floating(x) || !is_floating(gamma))
    fail<DtypeError>("{}: x and gamma must be floating, not {} and {}", what, x, gamma);
  const Dtype both = promote(x, gamma);
  return is_16bit_float(both) ? Dtype::float32 : both;
}

// Equal names for arrays and variables, so that each gradient below is written once. Arrays are passed by value, so
// pending operations of a temporary are fused into the reduction and never stored.
Array sum_over(Array x, const Axes& axes) { return catenary::sum(std::move(x), axes, true); }
Variable sum_over(const Variable& x, const Axes& axes) { return sum(x, axes, true); }
Array mean_over(Array x, const Axes& axes) { return catenary::mean(std::move(x), axes, true); }
Variable mean_over(const Variable& x, const Axes& axes) { return mean(x, axes, true); }
using functions::cast;
Array cast(const Array& x, Dtype dtype) { return x.astype(dtype); }

/// The axes along which a parameter with x's number of axes is broadcast.
Axes broadcast_axes(const Shape& parameter) {
  Axes axes;
  for (int i = 0; i < parameter.size(); ++i)
    if (parameter[i] == 1) axes.push_back(i);
  return axes;
}

/// Mean and 1 / sqrt(var + eps), with reduced axes of length 1.
struct Statistics {
  Array mean, var, inv_std;
};
/// Returns an array's mean over the processes that share statistics.
using OverProcesses = std::function<Array(const Array&)>;
Statistics statistics_of(const Array& x, const Axes& axes, double eps, Dtype dtype, const OverProcesses& over = {}) {
  Statistics s;
  if (over) {
    s.mean = over(catenary::mean(x.astype(dtype), axes, true));
    s.var = over(catenary::mean(catenary::square(x.astype(dtype) - s.mean), axes, true));
  } else {
    const catenary::detail::Spread spread = catenary::detail::spread_of(x, axes, dtype, true);
    s.mean = spread.mean;
    const auto statistics = static_cast<double>(std::max<std::int64_t>(s.mean.size(), 1));
    s.var = spread.total / (static_cast<double>(x.size()) / statistics);
  }
  s.inv_std = catenary::rsqrt(s.var + eps);
  return s;
}

/// Batch renormalization of standardized values: x * r + d. r and d have no gradient.
struct Correction {
  Array r, d;
};
CT_FIELDS(Correction, r, d)
/// Receives the statistics of x and may return a correction.
struct SeeStatistics {
  std::function<Correction(const Statistics&)> call;
  bool corrects = true;  ///< false if it never returns a correction
};

/// y = (x - mean) * inv_std * gamma + beta, where mean and inv_std are statistics of x over axes, and gamma and beta
/// broadcast to x. With a correction, y = ((x - mean) * inv_std * r + d) * gamma + beta.
class Standardization : public FunctionNode {
 public:
  Standardization(const char* name, const Axes& axes, double eps, SeeStatistics see = {}, OverProcesses over = {})
      : name_(name), axes_(axes), eps_(eps), see_(std::move(see)), over_(std::move(over)) {}
  /// For a repeated call with a known correction.
  Standardization(const char* name, const Axes& axes, double eps, const Correction& correction, OverProcesses over)
      : name_(name), axes_(axes), eps_(eps), over_(std::move(over)), correction_(correction) {}
  const char* name() const override { return name_; }
  CT_ATTRIBUTES(name_, axes_, eps_, correction_, over_)

 protected:
  Arrays forward(Inputs in) override {
    retain_inputs({0, 1});
    const Array &x = in[0], &gamma = in[1], &beta = in[2];
    const Dtype wide = wide_dtype(name_, x.dtype(), gamma.dtype());
    if (!over_ && !correction_.r.defined() && !(see_.call && see_.corrects) && !x.shape().empty() &&
        wide == detail::dtype_of_statistics(x))
      groups_ = detail::row_groups(x, axes_, gamma.shape());
    if (groups_) return by_rows(x, gamma, beta);
    const Statistics s = statistics_of(x, axes_, eps_, wide, over_);
    mean_ = s.mean;
    inv_std_ = s.inv_std;
    if (see_.call) correction_ = std::exchange(see_.call, nullptr)(s);
    const Array shift = correction_.d.defined() ? beta + gamma * correction_.d : beta;
    return ((x.astype(dtype()) - mean_) * (inv_std_ * scale_of(gamma)) + shift).astype(x.dtype());
  }
  Variables backward(Targets targets, Grads gys) override {
    if (input(0).data().size() == 0)  // without elements there are no statistics
      return gradients(targets, [&](int i) {
        return Variable(catenary::detail::filled(input_shape(i), 0, input_dtype(i), input(0).data().device()), false);
      });
    if (!config.enable_backprop && groups_) {
      const auto g =
          detail::standardize_rows_back(*groups_, input(0).data(), gys[0].array(), input(1).data(), mean_, inv_std_);
      return gradients(
          targets, [&](int i) { return Variable(as_dtype(g[static_cast<std::size_t>(i)], input_dtype(i)), false); });
    }
    if (!config.enable_backprop) {
      const Array& x = input(0).data();
      const auto centered = [&] { return cast(x, dtype()) - mean_; };
      auto g = gradients_of<Array>(gys[0].array(), centered, inv_std_, input(1).data());
      // Arrays wider than the input are cast at once, so that they are never stored.
      return gradients(targets, [&](int i) {
        return Variable(std::exchange(g[static_cast<std::size_t>(i)], Array()).astype(input_dtype(i)), false);
      });
    }
    if (over_) fail<ValueError>("{}: statistics of several processes cannot be differentiated twice", name_);
    // mean and inv_std become functions of x again
    const Variable x = cast(retained_input(0), dtype());
    const Variable centered = x - mean_over(x, axes_);
    const Variable inv_std = rsqrt(mean_over(centered * centered, axes_) + eps_);
    const auto g = gradients_of<Variable>(
        gys[0], [&] { return centered; }, inv_std, retained_input(1));
    return gradients(targets, [&](int i) { return cast(g[static_cast<std::size_t>(i)], input_dtype(i)); });
  }

 private:
  Dtype dtype() const { return inv_std_.dtype(); }
  Array by_rows(const Array& x, const Array& gamma, const Array& beta) {
    const detail::StandardizedRows rows = detail::standardize_rows(*groups_, x, gamma, beta, axes_, eps_);
    mean_ = rows.mean;
    inv_std_ = rows.inv_std;
    if (see_.call) std::exchange(see_.call, nullptr)({rows.mean, rows.var, rows.inv_std});
    return rows.y;
  }
  template <class T>
  T scale_of(const T& gamma) const {
    return correction_.r.defined() ? T(gamma * correction_.r) : gamma;
  }

  Array over_processes(const Array& own) const { return over_ ? over_(own) : own; }
  const Variable& over_processes(const Variable& own) const { return own; }

  /// Gradients of x, gamma and beta.
  template <class T>
  std::array<T, 3> gradients_of(const T& output_gradient, const auto& centered, const T& inv_std,
                                const T& gamma) const {
    std::array<T, 3> g = plain_gradients_of(output_gradient, centered, inv_std, scale_of(gamma));
    if (correction_.r.defined()) g[1] = g[1] * correction_.r + g[2] * correction_.d;
    return g;
  }
  /// Gradients without a correction. Combines factors of small shape first, so that few operations run over all
  /// elements.
  template <class T>
  std::array<T, 3> plain_gradients_of(const T& output_gradient, const auto& centered, const T& inv_std,
                                      const T& gamma) const {
    const auto gy = [&] { return cast(output_gradient, dtype()); };  // a lambda, because a variable would be stored
    const Axes axes = broadcast_axes(gamma.shape());
    const T gbeta = over_processes(sum_over(gy(), axes));
    if (gamma.shape() == inv_std.shape()) {
      // gamma is equal in all processes that share statistics, so its mean gives the means below
      const T ggamma = over_processes(sum_over(gy() * centered(), axes) * inv_std);
      const double count =
          static_cast<double>(output_gradient.size()) / static_cast<double>(std::max<std::int64_t>(gamma.size(), 1));
      const T scale = inv_std * gamma;
      return {gy() * scale - centered() * (scale * inv_std * ggamma / count) - scale * gbeta / count, ggamma, gbeta};
    }
    const T ggamma = sum_over(gy() * (centered() * inv_std), axes);
    const T mean_g = mean_over(gy() * gamma, axes_), mean_g_x = mean_over(gy() * gamma * centered(), axes_);
    return {(gy() * gamma - centered() * (inv_std * inv_std * mean_g_x) - mean_g) * inv_std, ggamma, gbeta};
  }

  const char* name_;
  Axes axes_;
  double eps_;
  SeeStatistics see_;
  OverProcesses over_;
  Array mean_, inv_std_;
  Correction correction_;
  std::optional<RowGroups> groups_;  // with loops for rows
};

/// The axes of batch statistics, and the shape in which parameters broadcast to x.
struct Layout {
  Axes reduced;
  Shape parameter;
};
Layout layout_of(const Variable& x, const Variable& gamma, const OptionalShape& axis, const char* what) {
  Layout layout;
  if (axis) {
    layout.reduced = normalize_axes(*axis, x.ndim(), what);
  } else {
    if (x.ndim() <= gamma.ndim()) fail<ShapeError>("{}: gamma {} does not fit x {}", what, gamma.shape(), x.shape());
    layout.reduced.push_back(0);
    for (int i = gamma.ndim() + 1; i < x.ndim(); ++i) layout.reduced.push_back(i);
  }
  Shape kept;
  layout.parameter = x.shape();
  for (const std::int64_t i : layout.reduced) layout.parameter[static_cast<int>(i)] = 1;
  for (int i = 0; i < x.ndim(); ++i)
    if (std::find(layout.reduced.begin(), layout.reduced.end(), i) == layout.reduced.end()) kept.push_back(x.shape(i));
  if (gamma.shape() != kept)
    fail<ShapeError>("{}: gamma must be {} for x {}, not {}", what, kept, x.shape(), gamma.shape());
  return layout;
}
template <class V>
void check_like(const V& parameter, const Variable& gamma, const char* name, const char* what) {
  if (parameter.shape() != gamma.shape())
    fail<ShapeError>("{}: {} must be {} as gamma, not {}", what, name, gamma.shape(), parameter.shape());
}

/// running = decay * running + (1 - decay) * batch, with the unbiased variance. An empty batch changes nothing.
void update_running(const BatchNormalizationOptions& options, const Statistics& s, const Variable& x) {
  if (x.size() == 0) return;
  const double count = static_cast<double>(x.size()) / static_cast<double>(std::max<std::int64_t>(s.mean.size(), 1));
  const double unbiased = count / std::max(count - 1, 1.0);
  const auto update = [&](const Array& running, const Array& batch, double factor) {
    if (!running.defined() || recomputing()) return;
    running *= options.decay;
    running += (batch.reshape(running.shape()) * ((1 - options.decay) * factor)).astype(running.dtype());
  };
  update(options.running_mean, s.mean, 1);
  update(options.running_var, s.var, unbiased);
}
void check_running(const BatchNormalizationOptions& options, const Variable& gamma, const char* what) {
  if (options.running_mean.defined()) check_like(options.running_mean, gamma, "running_mean", what);
  if (options.running_var.defined()) check_like(options.running_var, gamma, "running_var", what);
}

/// Sum over channels (axis 1) at a distance of at most `half`. Equals its own gradient.
struct WindowSum : Unary<WindowSum, keep::nothing> {
  explicit WindowSum(std::int64_t half) : half(half) {}
  static constexpr const char* kName = "WindowSum";
  CT_ATTRIBUTES(half)
  static Array of(const Array& x, std::int64_t half) {
    std::vector<PerSide<std::int64_t>::Pair> widths(static_cast<std::size_t>(x.ndim()), {0, 0});
    widths[1] = {half, half};
    const Array padded = pad(x, widths);
    Array total = x;
    for (std::int64_t i = 0; i <= 2 * half; ++i)
      if (i != half) total = total + padded(slice(), slice(i, i + x.shape(1)));
    return total;
  }
  Array f(const Array& x) { return of(x, half); }
  Variable df(const Variable& gy, const Variable&, const Variable&) { return of(gy, half); }
  static Variable of(const Variable& x, std::int64_t half) { return catenary::apply(node<WindowSum>(half), x); }
  std::int64_t half;
};

/// x over a power of the sum of squares around it. 16-bit floats are computed in float32, without storing float32
/// arrays.
struct LocalResponseNormalization : Unary<LocalResponseNormalization, keep::x> {
  explicit LocalResponseNormalization(const LocalResponseNormalizationOptions& options) : options(options) {}
  static constexpr const char* kName = "LocalResponseNormalization";
  CT_ATTRIBUTES(options)
  static Dtype wide_of(Dtype dtype) { return promote(dtype, Dtype::float32); }
  auto around(const auto& x) const { return WindowSum::of(x * x, options.n / 2) * options.alpha + options.k; }
  Array f(const Array& input) {
    const Array given = as_float(input), x = as_dtype(given, wide_of(given.dtype()));
    return as_dtype(x * catenary::power(around(x), -options.beta), given.dtype());
  }
  Variable df(const Variable& given_gy, const Variable& given, const Variable&) {
    const Variable x = cast(given, wide_of(given.dtype())), gy = cast(given_gy, x.dtype()), s = around(x);
    const Variable back = WindowSum::of(gy * x * pow(s, -options.beta - 1), options.n / 2);
    return cast(gy * pow(s, -options.beta) - x * back * (2 * options.alpha * options.beta), given.dtype());
  }
  LocalResponseNormalizationOptions options;
};

}  // namespace

Variable batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta,
                             const BatchNormalizationOptions& options) {
  CT_DEFINED(x, gamma, beta);
  const char* what = "batch_normalization";
  const Layout layout = layout_of(x, gamma, options.axis, what);
  check_like(beta, gamma, "beta", what);
  check_running(options, gamma, what);
  if (x.size() == 0 && options.mean_over_processes)
    fail<ShapeError>("{}: x of shape {} has no elements, and so no mean that other processes could share", what,
                     x.shape());
  const auto see = [&](const Statistics& s) {
    update_running(options, s, x);
    return Correction{};
  };
  return apply(node<Standardization>("BatchNormalization", layout.reduced, options.eps, SeeStatistics{see, false},
                                     options.mean_over_processes),
               x, reshape(gamma, layout.parameter), reshape(beta, layout.parameter));
}

Variable fixed_batch_normalization(const Variable& x, const Variable& gamma, const Variable& beta, const Variable& mean,
                                   const Variable& var, double eps, const OptionalShape& axis) {
  CT_DEFINED(x, gamma, beta, mean, var);
  const char* what = "fixed_batch_normalization";
  const Layout layout = layout_of(x, gamma, axis, what);
  check_like(beta, gamma, "beta", what);
  check_like(mean, gamma, "mean", what);
  check_like(var, gamma, "var", what);
  const Dtype dtype = wide_dtype(what, x.dtype(), gamma.dtype());
  const auto fitted = [&](const Variable& v) { return cast(reshape(v, layout.parameter), dtype); };
  const Variable scale = fitted(gamma) * rsqrt(fitted(var) + eps);
  return cast((cast(x, dtype) - fitted(mean)) * scale + fitted(beta), x.dtype());
}

Variable batch_renormalization(const Variable& x, const Variable& gamma, const Variable& beta, double rmax, double dmax,
                               const BatchRenormalizationOptions& options) {
  CT_DEFINED(x, gamma, beta);
  const char* what = "batch_renormalization";
  if (!options.running_mean.defined() || !options.running_var.defined())
    fail<ValueError>("{}: running_mean and running_var must be given", what);
  const Layout layout = layout_of(x, gamma, options.axis, what);
  check_like(beta, gamma, "beta", what);
  check_running(options, gamma, what);
  const auto see = [&](const Statistics& s) {
    const Dtype dtype = s.mean.dtype();
    const Array running_mean = options.running_mean.reshape(layout.parameter).astype(dtype),
                running_inv_std =
                    catenary::rsqrt(options.running_var.reshape(layout.parameter).astype(dtype) + options.eps);
    const Correction c{remembered(catenary::clip(running_inv_std / s.inv_std, 1 / rmax, rmax)),
                       remembered(catenary::clip((s.mean - running_mean) * running_inv_std, -dmax, dmax))};
    // evaluate before the running statistics change in place
    c.r.eval();
    c.d.eval();
    if (options.update_statistics) update_running(options, s, x);
    return c;
  };
  return apply(node<Standardization>("BatchRenormalizationFunction", layout.reduced, options.eps, SeeStatistics{see}),
               x, reshape(gamma, layout.parameter), reshape(beta, layout.parameter));
}
Variable fixed_batch_renormalization(const Variable& x, const Variable& gamma, const Variable& beta,
                                     const Variable& mean, const Variable& var, double eps) {
  return fixed_batch_normalization(x, gamma, beta, mean, var, eps);
}

namespace {

/// The last axes of x, as many as gamma has, and gamma's shape with leading axes of length 1.
struct RowLayout {
  Axes axes;
  Shape parameter;
  RowLayout(const Variable& x, const Variable& gamma, const char* what) {
    const int batch_axes = x.ndim() - gamma.ndim();
    const bool fits = gamma.ndim() > 0 && batch_axes >= 1 &&
                      std::equal(gamma.shape().begin(), gamma.shape().end(), x.shape().begin() + batch_axes);
    if (!fits)
      fail<ShapeError>(
          "{}: gamma must have the shape of x's last axes, those that are normalised, and x at least one before them; "
          "x is {}, gamma {}{}",
          what, x.shape(), gamma.shape(),
          gamma.ndim() == 1 && x.ndim() > 2 && x.shape(0) != 0 && x.size() / x.shape(0) == gamma.size()
              ? " (for all axes but the first: reshape x to (n, " + std::to_string(gamma.size()) + "))"
              : "");
    for (int axis = 0; axis < x.ndim(); ++axis) {
      if (axis >= batch_axes) axes.push_back(axis);
      parameter.push_back(axis < batch_axes ? 1 : x.shape(axis));
    }
  }
};

}  // namespace

Variable layer_normalization(const Variable& x, const Variable& gamma, const Variable& beta, double eps) {
  CT_DEFINED(x, gamma, beta);
  const char* what = "layer_normalization";
  const RowLayout rows(x, gamma, what);
  check_like(beta, gamma, "beta", what);
  return apply(node<Standardization>("LayerNormalization", rows.axes, eps), x, reshape(gamma, rows.parameter),
               reshape(beta, rows.parameter));
}

Variable rms_normalization(const Variable& x, const Variable& gamma, double eps) {
  CT_DEFINED(x, gamma);
  const char* what = "rms_normalization";
  const RowLayout rows(x, gamma, what);
  if (!is_floating(x.dtype()) || !is_floating(gamma.dtype()))
    fail<DtypeError>("{}: x and gamma must be floating, not {} and {}", what, x.dtype(), gamma.dtype());
  const Dtype wide = promote(promote(x.dtype(), gamma.dtype()), Dtype::float32);
  const Variable a = cast(x, wide);
  const Variable scale = rsqrt(mean(square(a), rows.axes, true) + eps);
  return cast(a * scale * reshape(cast(gamma, wide), rows.parameter), x.dtype());
}

Variable group_normalization(const Variable& x, int groups, const Variable& gamma, const Variable& beta, double eps) {
  CT_DEFINED(x, gamma, beta);
  const char* what = "group_normalization";
  if (x.ndim() < 2 || gamma.shape() != Shape{x.shape(1)})
    fail<ShapeError>("{}: x must be (n, channels, d…) and gamma (channels,), not {} and {}", what, x.shape(),
                     gamma.shape());
  check_like(beta, gamma, "beta", what);
  if (groups < 1 || x.shape(1) % groups != 0)
    fail<ValueError>("{}: {} channels are no multiple of {} groups", what, x.shape(1), groups);
  const std::int64_t members = x.shape(1) / groups;
  std::int64_t positions = 1;
  for (int i = 2; i < x.ndim(); ++i) positions *= x.shape(i);
  const Variable grouped = reshape(x, {x.shape(0), groups, members, positions});
  const Shape parameter = {1, groups, members, 1};
  const Variable y = apply(node<Standardization>("GroupNormalization", Axes{2, 3}, eps), grouped,
                           reshape(gamma, parameter), reshape(beta, parameter));
  return reshape(y, x.shape());
}

Variable instance_normalization(const Variable& x, const Variable& gamma, const Variable& beta, double eps) {
  CT_DEFINED(x, gamma, beta);
  const char* what = "instance_normalization";
  if (x.ndim() < 3 || gamma.shape() != Shape{x.shape(1)})
    fail<ShapeError>("{}: x must be (n, channels, d…) and gamma (channels,), not {} and {}", what, x.shape(),
                     gamma.shape());
  check_like(beta, gamma, "beta", what);
  Axes positions;
  Shape parameter{1, x.shape(1)};
  for (int axis = 2; axis < x.ndim(); ++axis) {
    positions.push_back(axis);
    parameter.push_back(1);
  }
  return apply(node<Standardization>("InstanceNormalization", positions, eps), x, reshape(gamma, parameter),
               reshape(beta, parameter));
}

Variable normalize(const Variable& x, double eps, const AxisArg& axis) {
  CT_DEFINED(x);
  if (const auto narrow = detail::in_float32([&](const Variable& a) { return normalize(a, eps, axis); }, x))
    return *narrow;
  const Variable squares = sum(square(x), axis, true);
  // the root has no derivative at 0, so the norm is treated as a constant there
  const Array zero = squares.array() == 0;
  return x / (sqrt(squares + zero) * !zero + eps);
}

Variable local_response_normalization(const Variable& x, const LocalResponseNormalizationOptions& options) {
  CT_DEFINED(x);
  if (x.ndim() < 2) fail<ShapeError>("local_response_normalization: x must be (n, channels, d…), not {}", x.shape());
  if (options.n < 1) fail<ValueError>("local_response_normalization: n must be at least 1, not {}", options.n);
  return apply(node<LocalResponseNormalization>(options), x);
}

std::span<const Signature> detail::normalization_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("normalization.batch_normalization", batch_normalization, "x", "gamma", "beta", options("=...")),
      CT_SIGNATURE("normalization.batch_normalization", fixed_batch_normalization, "x", "gamma", "beta", "mean", "var",
                   otherwise("eps", 2e-5), "axis"),
      CT_SIGNATURE("normalization.batch_renormalization", fixed_batch_renormalization, "x", "gamma", "beta", "mean",
                   "var", "eps"),
      CT_SIGNATURE("normalization.batch_renormalization", batch_renormalization, "x", "gamma", "beta", "rmax", "dmax",
                   options("eps, running_mean, running_var, decay, update_statistics")),
      CT_SIGNATURE("normalization.layer_normalization", layer_normalization, "x", "gamma", "beta", "eps"),
      CT_SIGNATURE("normalization.group_normalization", group_normalization, "x", "groups", "gamma", "beta", "eps"),
      CT_SIGNATURE("normalization.l2_normalization", normalize, "x", otherwise("eps", 1e-5), "axis"),
      CT_SIGNATURE("normalization.local_response_normalization", local_response_normalization, "x", options("...")),
  };
  return all;
}

}  // namespace catenary::functions
