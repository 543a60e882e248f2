// Losses of functions/loss.h between numbers, and of distributions.

#include <cmath>
#include <numbers>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/functions/activation.h"
#include "catenary/functions/in_float32.h"
#include "catenary/functions/masked.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/reduce.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace detail {

void check_alike(const Array& a, const Array& b, const char* what) {
  if (a.dtype() != b.dtype() || !is_floating(a.dtype()))
    fail<DtypeError>("{}: both inputs must have the same floating dtype, got {} and {}", what, a.dtype(), b.dtype());
  if (a.shape() != b.shape())
    fail<ShapeError>("{}: both inputs must have the same shape, got {} and {}", what, a.shape(), b.shape());
}

Variable mean_of_rows(const Variable& losses, std::int64_t rows) {
  return sum(losses) * (1.0 / static_cast<double>(rows));
}

Variable reduce_elements(const Variable& losses, Reduce reduce, const char* what) {
  switch (reduce) {
    case Reduce::no:
      return losses;
    case Reduce::sum:
      return sum(losses);
    case Reduce::mean:
      return mean_of_rows(losses, losses.size());
    default:
      fail<ValueError>("{}: reduce must be sum, mean or no", what);
  }
}

void check_reduce(Reduce reduce, Reduce one, Reduce other, const char* what) {
  if (reduce != one && reduce != other)
    fail<ValueError>("{}: this value of reduce is not supported by this function", what);
}

}  // namespace detail

namespace {

/// A function of a difference, and its derivative.
struct Squared {
  static constexpr const char* kName = "SquaredError";
  static constexpr const char* kMean = "MeanSquaredError";
  static constexpr const char* kFunction = "squared_error";
  static constexpr const char* kMeanFunction = "mean_squared_error";
  static auto f(const auto& d) { return d * d; }
  static auto df(const auto& d) { return d * 2.0; }
};
struct Absolute {
  static constexpr const char* kName = "AbsoluteError";
  static constexpr const char* kMean = "MeanAbsoluteError";
  static constexpr const char* kFunction = "absolute_error";
  static constexpr const char* kMeanFunction = "mean_absolute_error";
  static auto f(const Array& d) { return catenary::absolute(d); }
  static auto df(const auto& d) { return catenary::sign(values_of(d)); }
};

template <class E>
struct Error : Binary<Error<E>, keep::x0 | keep::x1> {
  static constexpr const char* kName = E::kName;
  static Array f(const Array& a, const Array& b) {
    detail::check_alike(a, b, E::kFunction);
    return E::f(a - b);
  }
  static auto df0(const auto& gy, const auto& a, const auto& b, const auto&) { return gy * E::df(a - b); }
  static auto df1(const auto& gy, const auto& a, const auto& b, const auto&) { return gy * E::df(b - a); }
};

template <class E>
class MeanError : public FunctionNode {
 public:
  const char* name() const override { return E::kMean; }
  CT_ATTRIBUTES()

 protected:
  Arrays forward(Inputs x) override {
    detail::check_alike(x[0], x[1], E::kMeanFunction);
    retain_inputs({0, 1});
    return E::f(x[0] - x[1]).mean();
  }
  Variables backward(Targets targets, Grads gys) override {
    const Variable difference = retained_input(0) - retained_input(1);
    const Variable g = gys[0] * (1.0 / static_cast<double>(difference.size())) * E::df(difference);
    return gradients(targets, [&](int i) { return i == 0 ? g : -g; });
  }
};

struct Huber : Binary<Huber, keep::x0 | keep::x1> {
  explicit Huber(double delta) : delta(delta) {}
  static constexpr const char* kName = "HuberLoss";
  CT_ATTRIBUTES(delta)
  Array f(const Array& a, const Array& b) {
    detail::check_alike(a, b, "huber_loss");
    const Array d = catenary::absolute(a - b);
    return catenary::where(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta);
  }
  /// The clipped difference.
  auto slope(const auto& a, const auto& b) const {
    const auto d = a - b;
    const Array inside = catenary::absolute(values_of(d)) <= delta;
    return detail::either(inside, d, catenary::sign(values_of(d)) * delta);
  }
  auto df0(const auto& gy, const auto& a, const auto& b, const auto&) { return gy * slope(a, b); }
  auto df1(const auto& gy, const auto& a, const auto& b, const auto&) { return gy * slope(b, a); }
  double delta;
};

struct BernoulliNLL : Binary<BernoulliNLL, keep::x0 | keep::x1> {
  static constexpr const char* kName = "BernoulliNLL";
  static Array f(const Array& x, const Array& y) {
    detail::check_alike(x, y, "bernoulli_nll");
    return catenary::softplus(y) - x * y;
  }
  static Variable df0(const Variable& gy, const Variable&, const Variable& y, const Variable&) { return -gy * y; }
  static Variable df1(const Variable& gy, const Variable& x, const Variable& y, const Variable&) {
    return gy * (sigmoid(y) - x);
  }
};

}  // namespace

Variable mean_squared_error(const Variable& x0, const Variable& x1) {
  CT_DEFINED(x0, x1);
  if (const auto narrow =
          detail::in_float32([&](const Variable& a, const Variable& b) { return mean_squared_error(a, b); }, x0, x1))
    return *narrow;
  return apply(node<MeanError<Squared>>(), x0, x1);
}
Variable mean_absolute_error(const Variable& x0, const Variable& x1) {
  CT_DEFINED(x0, x1);
  if (const auto narrow =
          detail::in_float32([&](const Variable& a, const Variable& b) { return mean_absolute_error(a, b); }, x0, x1))
    return *narrow;
  return apply(node<MeanError<Absolute>>(), x0, x1);
}
Variable squared_error(const Variable& x0, const Variable& x1) { return apply(node<Error<Squared>>(), x0, x1); }
Variable absolute_error(const Variable& x0, const Variable& x1) { return apply(node<Error<Absolute>>(), x0, x1); }

Variable huber_loss(const Variable& x, const Variable& t, double delta, Reduce reduce) {
  CT_DEFINED(x, t);
  if (const auto narrow = detail::in_float32(
          [&](const Variable& a, const Variable& b) { return huber_loss(a, b, delta, reduce); }, x, t))
    return *narrow;
  detail::check_reduce(reduce, Reduce::sum_along_second_axis, Reduce::no, "huber_loss");
  const Variable losses = apply(node<Huber>(delta), x, t);
  return reduce == Reduce::no ? losses : sum(losses, 1);
}

Variable gaussian_kl_divergence(const Variable& mean, const Variable& ln_var, Reduce reduce) {
  CT_DEFINED(mean, ln_var);
  if (const auto narrow = detail::in_float32(
          [&](const Variable& a, const Variable& b) { return gaussian_kl_divergence(a, b, reduce); }, mean, ln_var))
    return *narrow;
  detail::check_alike(mean.array(), ln_var.array(), "gaussian_kl_divergence");
  return detail::reduce_elements((mean * mean + exp(ln_var) - ln_var - 1.0) * 0.5, reduce, "gaussian_kl_divergence");
}

Variable bernoulli_nll(const Variable& x, const Variable& y, Reduce reduce) {
  CT_DEFINED(x, y);
  if (const auto narrow =
          detail::in_float32([&](const Variable& a, const Variable& b) { return bernoulli_nll(a, b, reduce); }, x, y))
    return *narrow;
  return detail::reduce_elements(apply(node<BernoulliNLL>(), x, y), reduce, "bernoulli_nll");
}

Variable gaussian_nll(const Variable& x, const Variable& mean, const Variable& ln_var, Reduce reduce) {
  CT_DEFINED(x, mean, ln_var);
  if (const auto narrow = detail::in_float32(
          [&](const Variable& a, const Variable& b, const Variable& c) { return gaussian_nll(a, b, c, reduce); }, x,
          mean, ln_var))
    return *narrow;
  detail::check_alike(x.array(), mean.array(), "gaussian_nll");
  detail::check_alike(x.array(), ln_var.array(), "gaussian_nll");
  const Variable d = x - mean;
  const Variable losses = (ln_var + std::log(2 * std::numbers::pi) + d * d * exp(-ln_var)) * 0.5;
  return detail::reduce_elements(losses, reduce, "gaussian_nll");
}

std::span<const Signature> detail::number_loss_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("loss.mean_squared_error", mean_squared_error, "x0", "x1"),
      CT_SIGNATURE("loss.mean_absolute_error", mean_absolute_error, "x0", "x1"),
      CT_SIGNATURE("loss.squared_error", squared_error, "x0", "x1"),
      CT_SIGNATURE("loss.absolute_error", absolute_error, "x0", "x1"),
      CT_SIGNATURE("loss.squared_error", squared_difference, "x1", "x2"),
      CT_SIGNATURE("loss.huber_loss", huber_loss, "x", "t", "delta", "reduce"),
      CT_SIGNATURE("loss.vae", gaussian_kl_divergence, "mean", "ln_var", "reduce"),
      CT_SIGNATURE("loss.vae", bernoulli_nll, "x", "y", "reduce"),
      CT_SIGNATURE("loss.vae", gaussian_nll, "x", "mean", "ln_var", "reduce"),
  };
  return all;
}

}  // namespace catenary::functions
