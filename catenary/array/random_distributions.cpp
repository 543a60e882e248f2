// Distributions that are functions of one or several uniform and normal numbers.

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random_detail.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/statistics.h"
#include "catenary/core/format.h"

namespace catenary::random {

using catenary::detail::as_dtype;
using namespace detail;  // NOLINT: building blocks of all distributions

namespace {

constexpr double kLargestCount = 9.2e18;  // largest count for int64; larger numbers are clipped to it
constexpr double kLargestMean = 1e15;     // of a Poisson distribution with counts that float64 can hold

/// Returns -log of uniform numbers.
Array exponential_of(const Shape& size, Dtype dtype, const RandomOptions& options) {
  return negative(log(open_uniform(size, dtype, options)));
}

/// Returns formula(standard exponential numbers, the parameter).
template <class Formula>
Array of_exponential(const Operand& a, const OptionalShape& size, const RandomOptions& options, const char* what,
                     Formula&& formula) {
  const Dtype dtype = floating_dtype(options, what), work = working_dtype(dtype);
  const Shape shape = shape_of(size, a, 0.0, what);
  const Parameter parameter(a, work);
  return as_dtype(formula(exponential_of(shape, work, placed(options, a, a)), parameter.operand()), dtype);
}

/// Gamma numbers with scale 1, as value * e^boost. For parameters below 1 the product may underflow.
struct GammaNumbers {
  Array value, boost;
  Array product() const { return multiply(value, exp(boost)); }
  Array logarithm() const { return add(log(value), boost); }
};

/// Returns a parameter in the working dtype, on the current device: one number, or one for each element of `shape`.
Array flat(const Operand& x, const Shape& shape, Dtype dtype) {
  if (!x.is_array()) return full({1}, x.scalar().real(), dtype);
  const Array here = as_dtype(x.array(), dtype).to_device(current_device());
  return here.size() == 1 ? here.reshape({1}) : here.broadcast_to(shape).reshape({shape.product()});
}

/// Draws numbers by rejection. draw(n, of_these, value) makes n candidates and returns which are accepted; of_these(x)
/// selects the elements of a flat parameter that belong to them. Rejected numbers are drawn again until none is left.
template <class Draw>
Array accepted(const Shape& shape, Draw&& draw) {
  const auto rejects = [&](std::int64_t n, const Array& which, Array& value) {
    const auto of_these = [&](const Array& x) { return which.defined() && x.size() != 1 ? take(x, which) : x; };
    return flatnonzero(logical_not(draw(n, of_these, value)));
  };
  Array result;
  Array rejected = rejects(shape.product(), {}, result);
  while (rejected.size() > 0) {
    Array value;
    const Array again = rejects(rejected.size(), rejected, value);
    put(result, rejected, value);
    rejected = take(rejected, again);
  }
  return result.reshape(shape);
}

/// Draws gamma numbers. a is a literal, or an array that broadcasts to `shape`; its values are checked.
GammaNumbers gamma_of(const Operand& a, const Shape& shape, Dtype dtype, const RandomOptions& options) {
  const DeviceScope scope(options.device.value_or(current_device()));
  const Array alpha = flat(a, shape, dtype);
  // Marsaglia and Tsang 2000: d (1 + c x)^3 with normal x, if accepted, is gamma(alpha) for alpha >= 1.
  const Array d = subtract(where(less(alpha, 1), add(alpha, 1), alpha), 1.0 / 3);
  const Array c = rsqrt(multiply(d, 9));
  GammaNumbers result;
  result.value = accepted(shape, [&](std::int64_t n, const auto& of_these, Array& value) {
    const Array scale = of_these(d);
    const Array x = normal_of({n}, dtype, options), u = open_uniform({n}, dtype, options);
    const Array root = add(multiply(of_these(c), x), 1), v = multiply(multiply(root, root), root);
    const Array square_x = multiply(x, x);
    const Array surely = less(u, subtract(1, multiply(multiply(square_x, square_x), 0.0331)));
    const Array bound = add(multiply(square_x, 0.5), multiply(scale, add(subtract(1, v), log(maximum(v, 1e-30)))));
    value = multiply(v, scale);
    return logical_and(greater(v, 0), logical_or(surely, less(log(u), bound)));
  });
  // gamma(alpha) = gamma(alpha + 1) u^(1 / alpha)
  result.boost = zeros({}, dtype);
  if (a.is_array() || a.scalar().real() < 1) {
    const Array power_of_u = divide(log(open_uniform({shape.product()}, dtype, options)), alpha);
    result.boost = where(less(alpha, 1), power_of_u, 0).reshape(shape);
  }
  return result;
}

/// Returns half of a parameter in the working dtype.
Parameter half_of(const Operand& x, Dtype dtype) {
  Parameter half(x, dtype);
  if (x.is_array()) {
    half.array = multiply(half.array, 0.5);
  } else {
    half.scalar = half.scalar.real() * 0.5;
  }
  return half;
}

/// Draws Poisson numbers with the means `lam`, given as `a` above, in a floating dtype. There may be as many means as
/// numbers, which would need too many of random::poisson's tables. Devroye 1987 (A simple generator for discrete
/// log-concave distributions): with the most likely count m and w = 1 + p(m) / 2, p(m + k) <= p(m) min(1, e^(w - p(m)
/// |y|)) for every y that rounds to k.
Array poisson_of(const Operand& lam, const Shape& shape, Dtype dtype, const RandomOptions& options) {
  const DeviceScope scope(options.device.value_or(current_device()));
  const Array mean = maximum(flat(lam, shape, dtype), 1e-30);  // indistinguishable from 0
  // Stirling's series from 16 on, where a difference of large terms would lose all digits.
  const auto log_probability = [](const Array& k, const Array& of) {
    const Array beyond = subtract(k, of), last = divide(1, k), square_last = multiply(last, last);
    const Array series =
        multiply(last, subtract(1.0 / 12, multiply(square_last, subtract(1.0 / 360, divide(square_last, 1260)))));
    const Array half_log = multiply(add(log(k), 1.8378770664093453), 0.5);  // of 2 pi k
    const Array deviance = subtract(multiply(k, log1p(divide(beyond, of))), beyond);
    const Array far = negative(add(add(deviance, half_log), series));
    const Array near = subtract(subtract(multiply(k, log(of)), of), lgamma(add(k, 1)));
    return where(less(k, 16), near, far);
  };
  const Array mode = floor(mean), log_highest = log_probability(mode, mean), highest = exp(log_highest);
  const Array w = add(multiply(highest, 0.5), 1), share = divide(w, add(w, 1));
  return accepted(shape, [&](std::int64_t n, const auto& of_these, Array& value) {
    const Array u = open_uniform({n}, dtype, options), v = open_uniform({n}, dtype, options);
    const Array log_w = log(open_uniform({n}, dtype, options)), sign_bits = bits({n}, options);
    const Array body = less(u, of_these(share));
    const Array scaled = where(body, multiply(of_these(w), v), subtract(of_these(w), log(v)));
    const Array steps = rint(divide(scaled, of_these(highest)));
    value = add(of_these(mode), where(less(sign_bits, std::int64_t{1} << 31), steps, negative(steps)));
    const Array above = subtract(log_probability(value, of_these(mean)), of_these(log_highest));
    return logical_and(greater_equal(value, 0),
                       less_equal(add(log_w, minimum(subtract(of_these(w), scaled), 0)), above));
  });
}

/// Draws noncentral chi-square numbers in a floating dtype (Johnson, Kotz and Balakrishnan 1995, chapter 29): the
/// square of a normal number plus chi-square(df - 1) if df > 1, else chi-square(df + 2 Poisson(nonc / 2)).
Array noncentral_of(const Operand& df, const Operand& nonc, const Shape& shape, Dtype dtype,
                    const RandomOptions& options) {
  const Device device = options.device.value_or(current_device());
  const Array d = catenary::detail::as_array(df, dtype, device), c = catenary::detail::as_array(nonc, dtype, device);
  const Array with_square = greater(d, 1);
  Array half = multiply(where(with_square, subtract(d, 1), d), 0.5), square;
  if (any(with_square).item<bool>()) {
    const Array shifted = add(normal_of(shape, dtype, options), sqrt(c));
    square = where(with_square, multiply(shifted, shifted), 0);
  }
  if (!all(with_square).item<bool>())
    half = add(half, poisson_of(where(with_square, 0, multiply(c, 0.5)), shape, dtype, options));
  const Array rest = multiply(gamma_of(half, shape, dtype, options).product(), 2);
  return square.defined() ? add(square, rest) : rest;
}

/// Returns formula(shape, working dtype, options) of gamma numbers.
template <class Formula>
Array of_gammas(const Operand& a, const Operand& b, const OptionalShape& size, const RandomOptions& options,
                const char* what, Formula&& formula) {
  const Dtype dtype = floating_dtype(options, what), work = working_dtype(dtype);
  const Shape shape = shape_of(size, a, b, what);
  const RandomOptions here = placed(options, a, b);
  return as_dtype(formula(shape, work, here), dtype);
}

/// Returns eigenvectors, the columns of v, with signs that do not depend on who computed them.
Array with_fixed_signs(const Array& v) {
  const std::int64_t n = v.shape(0);
  // a sum with irrational weights is zero for hardly any vector
  const Array weights = divide(1, add(multiply(arange(n, Dtype::float64), 0.6180339887498949), 1));
  const Array sums = sum(multiply(v, weights.astype(v.dtype()).to_device(v.device()).reshape({n, 1})), 0, true);
  return where(less(sums, 0), negative(v), v);
}

}  // namespace

Array logistic(const Operand& loc, const Operand& scale, const OptionalShape& size, const RandomOptions& options) {
  return located(loc, scale, size, options, "logistic", [](const Shape& shape, Dtype dtype, const RandomOptions& o) {
    const Array u = open_uniform(shape, dtype, o);
    return log(divide(u, subtract(1, u)));
  });
}

Array lognormal(const Operand& mean, const Operand& sigma, const OptionalShape& size, const RandomOptions& options) {
  const Dtype dtype = floating_dtype(options, "lognormal");
  check_values(sigma, kNotNegative, "lognormal", "sigma");
  RandomOptions work = options;
  work.dtype = working_dtype(dtype);
  return as_dtype(exp(normal(mean, sigma, size, work)), dtype);
}

Array rayleigh(const Operand& scale, const OptionalShape& size, const RandomOptions& options) {
  return located(0.0, scale, size, options, "rayleigh", [](const Shape& shape, Dtype dtype, const RandomOptions& o) {
    return sqrt(multiply(exponential_of(shape, dtype, o), 2));
  });
}

Array standard_exponential(const Shape& size, const RandomOptions& options) { return exponential(1.0, size, options); }

Array standard_cauchy(const Shape& size, const RandomOptions& options) {
  constexpr double pi = 3.141592653589793;
  const Dtype dtype = floating_dtype(options, "standard_cauchy");
  const Array u = open_uniform(size, working_dtype(dtype), options);
  return as_dtype(tan(multiply(subtract(u, 0.5), pi)), dtype);
}

Array pareto(const Operand& a, const OptionalShape& size, const RandomOptions& options) {
  check_values(a, kPositive, "pareto", "a");
  return of_exponential(a, size, options, "pareto",
                        [](const Array& e, const Operand& shape) { return expm1(divide(e, shape)); });
}

Array weibull(const Operand& a, const OptionalShape& size, const RandomOptions& options) {
  check_values(a, kNotNegative, "weibull", "a");
  return of_exponential(a, size, options, "weibull", [](const Array& e, const Operand& shape) {
    if (shape.is_array()) return where(equal(shape, 0), 0, catenary::power(e, divide(1, shape)));
    const double value = shape.scalar().real();
    return value == 0 ? multiply(e, 0) : catenary::power(e, 1 / value);
  });
}

Array power(const Operand& a, const OptionalShape& size, const RandomOptions& options) {
  check_values(a, kPositive, "power", "a");
  return of_exponential(a, size, options, "power",
                        [](const Array& e, const Operand& shape) { return exp(negative(divide(e, shape))); });
}

Array triangular(const Operand& left, const Operand& mode, const Operand& right, const OptionalShape& size,
                 const RandomOptions& options) {
  const Dtype dtype = floating_dtype(options, "triangular"), work = working_dtype(dtype);
  const Shape shape = shape_of(size, {left, mode, right}, "triangular");
  const RandomOptions here = placed(options, {left, mode, right});
  const Device device = here.device.value_or(current_device());
  const auto array_of = [&](const Operand& x) { return catenary::detail::as_array(x, work, device); };
  const Array l = array_of(left), m = array_of(mode), r = array_of(right);
  const Array ordered = logical_and(logical_and(less_equal(l, m), less_equal(m, r)), less(l, r));
  if (!all(logical_and(ordered, isfinite(subtract(r, l)))).item<bool>())
    fail<ValueError>(
        "random::triangular: finite left <= mode <= right with left < right are needed, up to {}, {} to {} and from {} "
        "on were given",
        max(l).item<double>(), min(m).item<double>(), max(m).item<double>(), min(r).item<double>());
  const Array u = open_uniform(shape, work, here), width = subtract(r, l);
  const Array rising = add(l, sqrt(multiply(u, multiply(width, subtract(m, l)))));
  const Array falling = subtract(r, sqrt(multiply(subtract(1, u), multiply(width, subtract(r, m)))));
  return as_dtype(where(less(u, divide(subtract(m, l), width)), rising, falling), dtype);
}

Array wald(const Operand& mean, const Operand& scale, const OptionalShape& size, const RandomOptions& options) {
  check_values(mean, kPositive, "wald", "mean");
  check_values(scale, kPositive, "wald", "scale");
  const Dtype dtype = floating_dtype(options, "wald"), work = working_dtype(dtype);
  const Shape shape = shape_of(size, mean, scale, "wald");
  const RandomOptions here = placed(options, mean, scale);
  const Parameter m(mean, work), s(scale, work);
  const Array z = normal_of(shape, work, here), u = open_uniform(shape, work, here);
  // The smaller root over the mean. The larger root is its reciprocal.
  const Array w = divide(multiply(multiply(multiply(z, z), m.operand()), 0.5), s.operand());
  const Array ratio = divide(1, add(add(w, 1), sqrt(multiply(w, add(w, 2)))));
  const Array chosen = where(less_equal(multiply(u, add(ratio, 1)), 1), ratio, divide(1, ratio));
  return as_dtype(multiply(chosen, m.operand()), dtype);
}

Array gamma(const Operand& shape, const Operand& scale, const OptionalShape& size, const RandomOptions& options) {
  check_values(shape, kFinite, "gamma", "shape");
  check_values(scale, kNotNegative, "gamma", "scale");
  return of_gammas(shape, scale, size, options, "gamma", [&](const Shape& out, Dtype work, const RandomOptions& here) {
    return multiply(gamma_of(shape, out, work, here).product(), Parameter(scale, work).operand());
  });
}

Array standard_gamma(const Operand& shape, const OptionalShape& size, const RandomOptions& options) {
  return gamma(shape, 1.0, size, options);
}

Array chisquare(const Operand& df, const OptionalShape& size, const RandomOptions& options) {
  check_values(df, kPositiveFinite, "chisquare", "df");
  const Parameter half = half_of(df, working_dtype(floating_dtype(options, "chisquare")));
  return gamma(half.operand(), 2.0, size, options);
}

Array standard_t(const Operand& df, const OptionalShape& size, const RandomOptions& options) {
  check_values(df, kPositiveFinite, "standard_t", "df");
  return of_gammas(df, 0.0, size, options, "standard_t", [&](const Shape& out, Dtype work, const RandomOptions& here) {
    const Parameter half = half_of(df, work);
    const Array mean_square = divide(gamma_of(half.operand(), out, work, here).product(), half.operand());
    return divide(normal_of(out, work, here), sqrt(mean_square));
  });
}

Array f(const Operand& dfnum, const Operand& dfden, const OptionalShape& size, const RandomOptions& options) {
  check_values(dfnum, kPositiveFinite, "f", "dfnum");
  check_values(dfden, kPositiveFinite, "f", "dfden");
  return of_gammas(dfnum, dfden, size, options, "f", [&](const Shape& out, Dtype work, const RandomOptions& here) {
    const Parameter a = half_of(dfnum, work), b = half_of(dfden, work);
    const Array above = divide(gamma_of(a.operand(), out, work, here).product(), a.operand());
    return divide(above, divide(gamma_of(b.operand(), out, work, here).product(), b.operand()));
  });
}

Array beta(const Operand& a, const Operand& b, const OptionalShape& size, const RandomOptions& options) {
  check_values(a, kPositiveFinite, "beta", "a");
  check_values(b, kPositiveFinite, "beta", "b");
  return of_gammas(a, b, size, options, "beta", [&](const Shape& out, Dtype work, const RandomOptions& here) {
    // x / (x + y) through logarithms, because both numbers may underflow
    const Array x = gamma_of(a, out, work, here).logarithm(), y = gamma_of(b, out, work, here).logarithm();
    return sigmoid(subtract(x, y));
  });
}

Array dirichlet(const Array& alpha, const Shape& size, const RandomOptions& options) {
  if (alpha.ndim() != 1 || alpha.size() == 0)
    fail<ShapeError>("random::dirichlet: alpha must be 1-d and not empty, shape {} was given", alpha.shape());
  check_values(alpha, kPositiveFinite, "dirichlet", "alpha");
  const Dtype dtype = floating_dtype(options, "dirichlet"), work = working_dtype(dtype);
  Shape shape = size;
  shape.push_back(alpha.size());
  if (shape.product() == 0) return Array::empty(shape, dtype, options.device.value_or(alpha.device()));
  const Array logs = gamma_of(alpha, shape, work, placed(options, alpha, alpha)).logarithm();
  const Array shares = exp(subtract(logs, max(logs, -1, true)));
  return as_dtype(divide(shares, sum(shares, -1, true)), dtype);
}

Array multivariate_normal(const Array& mean, const Array& cov, const Shape& size, const RandomOptions& options) {
  if (mean.ndim() != 1 || cov.shape() != Shape{mean.size(), mean.size()})
    fail<ShapeError>("random::multivariate_normal: mean (n) and cov (n, n) are needed, {} and {} were given",
                     mean.shape(), cov.shape());
  const Dtype dtype = floating_dtype(options, "multivariate_normal"), work = working_dtype(dtype);
  const RandomOptions here = placed(options, mean, cov);
  const Device device = here.device.value_or(current_device());
  const std::int64_t n = mean.size();
  Shape shape = size;
  shape.push_back(n);
  if (shape.product() == 0) return Array::empty(shape, dtype, device);
  const Array covariance = as_dtype(cov, work).to_device(device);
  if (!allclose(covariance, covariance.transpose(), 1e-5, 1e-8))
    fail<ValueError>("random::multivariate_normal: cov is not symmetric");
  const linalg::EighResult factors = linalg::eigh(covariance);
  const double lowest = min(factors.values).item<double>(), highest = max(absolute(factors.values)).item<double>();
  if (lowest < -1e-5 * highest)
    fail<ValueError>("random::multivariate_normal: cov has the eigenvalue {}, none may be negative", lowest);
  // Columns are eigenvectors times standard deviations. Multiply z (n numbers for each point) by their transpose.
  const Array root = multiply(with_fixed_signs(factors.vectors), sqrt(maximum(factors.values, 0)));
  const Array z = normal_of({size.product(), n}, work, here);
  const Array centred = matmul(z, root.transpose()).reshape(shape);
  return as_dtype(add(centred, as_dtype(mean, work).to_device(device)), dtype);
}

Array noncentral_chisquare(const Operand& df, const Operand& nonc, const OptionalShape& size,
                           const RandomOptions& options) {
  check_values(df, kPositiveFinite, "noncentral_chisquare", "df");
  check_values(nonc, kFinite, "noncentral_chisquare", "nonc");
  return of_gammas(df, nonc, size, options, "noncentral_chisquare",
                   [&](const Shape& out, Dtype work, const RandomOptions& here) {
                     return noncentral_of(df, nonc, out, work, here);
                   });
}

Array noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc, const OptionalShape& size,
                   const RandomOptions& options) {
  check_values(dfnum, kPositiveFinite, "noncentral_f", "dfnum");
  check_values(dfden, kPositiveFinite, "noncentral_f", "dfden");
  check_values(nonc, kFinite, "noncentral_f", "nonc");
  const Dtype dtype = floating_dtype(options, "noncentral_f"), work = working_dtype(dtype);
  const Shape shape = shape_of(size, {dfnum, dfden, nonc}, "noncentral_f");
  const RandomOptions here = placed(options, {dfnum, dfden, nonc});
  const Parameter above(dfnum, work), below = half_of(dfden, work);
  const Array mean_square = divide(noncentral_of(dfnum, nonc, shape, work, here), above.operand());
  return as_dtype(divide(mean_square, divide(gamma_of(below.operand(), shape, work, here).product(), below.operand())),
                  dtype);
}

Array vonmises(const Operand& mu, const Operand& kappa, const OptionalShape& size, const RandomOptions& options) {
  constexpr double pi = 3.141592653589793;
  check_values(kappa, kFinite, "vonmises", "kappa");
  const Dtype dtype = floating_dtype(options, "vonmises"), work = working_dtype(dtype);
  const Shape shape = shape_of(size, mu, kappa, "vonmises");
  const RandomOptions here = placed(options, mu, kappa);
  const DeviceScope scope(here.device.value_or(current_device()));
  // Best and Fisher 1979: candidates 2 arctan(c tan(x)) with x uniform. Their density is proportional to 1 / y with y =
  // h + kappa (1 - cos(candidate)), so they are accepted with probability y e^(1 - y). In the paper's terms h is kappa
  // (s - 1) with s = (1 + sqrt(1 + 4 kappa^2)) / (2 kappa). This form is accurate for large kappa and needs no special
  // case for 0.
  const Array doubled = multiply(minimum(flat(kappa, shape, work), work == Dtype::float32 ? 1e30 : 1e300), 2);
  const Array h = add(divide(0.5, add(sqrt(add(multiply(doubled, doubled), 1)), doubled)), 0.5);
  const Array c = sqrt(divide(h, add(h, doubled)));
  const Array angle = accepted(shape, [&](std::int64_t n, const auto& of_these, Array& value) {
    const Array turn = subtract(open_uniform({n}, work, here), 0.5), v = open_uniform({n}, work, here);
    const Array tangent = multiply(of_these(c), tan(multiply(turn, pi))), squared = multiply(tangent, tangent);
    const Array y = add(of_these(h), multiply(of_these(doubled), divide(squared, add(squared, 1))));
    value = multiply(arctan(tangent), 2);
    return less_equal(log(v), add(log(y), subtract(1, y)));
  });
  const Array turned = add(angle, catenary::detail::as_array(mu, work, current_device()));
  return as_dtype(subtract(turned, multiply(rint(divide(turned, 2 * pi)), 2 * pi)), dtype);
}

Array geometric(const Operand& p, const OptionalShape& size, const RandomOptions& options) {
  check_values(p, kPositiveProbability, "geometric", "p");
  const Shape shape = shape_of(size, p, p, "geometric");
  const Parameter probability(p, Dtype::float64);
  const Array e = exponential_of(shape, Dtype::float64, placed(options, p, p));
  // The smallest k with (1 - p)^k <= u.
  const Array trials = p.is_array() ? ceil(divide(e, negative(log1p(negative(probability.array)))))
                                    : ceil(divide(e, -std::log1p(-p.scalar().real())));
  return as_dtype(minimum(maximum(trials, 1), kLargestCount), options.dtype.value_or(Dtype::int64));
}

Array logseries(const Operand& p, const OptionalShape& size, const RandomOptions& options) {
  check_values(p, {.has_low = false, .high = 1, .has_high = false, .words = "lie in (0, 1)"}, "logseries", "p");
  const Shape shape = shape_of(size, p, p, "logseries");
  const RandomOptions here = placed(options, p, p);
  const Array chance = catenary::detail::as_array(p, Dtype::float64, here.device.value_or(current_device()));
  const Array u = open_uniform(shape, Dtype::float64, here), v = open_uniform(shape, Dtype::float64, here);
  // A geometric number with the probability (1 - p)^u. The log of 1 minus that is computed accurately.
  const Array exponent = multiply(u, log1p(negative(chance)));
  const Array log_rest = where(less(exponent, -0.7), log1p(negative(exp(exponent))), log(negative(expm1(exponent))));
  const Array count = add(floor(divide(log(v), log_rest)), 1);
  return as_dtype(minimum(maximum(count, 1), kLargestCount), options.dtype.value_or(Dtype::int64));
}

Array negative_binomial(const Operand& n, const Operand& p, const OptionalShape& size, const RandomOptions& options) {
  check_values(n, kPositiveFinite, "negative_binomial", "n");
  check_values(p, kPositiveProbability, "negative_binomial", "p");
  const Shape shape = shape_of(size, n, p, "negative_binomial");
  const RandomOptions here = placed(options, n, p);
  const Array chance = catenary::detail::as_array(p, Dtype::float64, here.device.value_or(current_device()));
  const Array odds = divide(subtract(1, chance), chance);
  const Array mean = multiply(gamma_of(n, shape, Dtype::float64, here).product(), odds);
  if (shape.product() > 0 && !(max(mean).item<double>() <= kLargestMean))
    fail<ValueError>(
        "random::negative_binomial: n is too large or p too small: a mean of {} was drawn, the limit is {}",
        max(mean).item<double>(), kLargestMean);
  return as_dtype(poisson_of(mean, shape, Dtype::float64, here), options.dtype.value_or(Dtype::int64));
}

Array zipf(const Operand& a, const OptionalShape& size, const RandomOptions& options) {
  check_values(a, {.low = 1, .has_low = false, .words = "be greater than 1"}, "zipf", "a");
  const Dtype dtype = options.dtype.value_or(Dtype::int64);
  const Shape shape = shape_of(size, a, a, "zipf");
  const RandomOptions here = placed(options, a, a);
  const DeviceScope scope(here.device.value_or(current_device()));
  const int value_bits = static_cast<int>(itemsize(dtype)) * 8 - (kind(dtype) == Kind::signed_int ? 1 : 0);
  const double most = value_bits < 63 && !is_floating(dtype) ? std::ldexp(1.0, value_bits) - 1 : kLargestCount;
  // Devroye 1986, X.6.1: x is the integral part of a Pareto number below most + 1. Powers near 1 and beyond the dtype's
  // range are computed as logarithms.
  const Array power_less = subtract(flat(a, shape, Dtype::float64), 1);
  const Array within = expm1(multiply(power_less, -std::log(most + 1)));
  const Array least = negative(expm1(multiply(power_less, -std::log(2.0))));
  const Array counts = accepted(shape, [&](std::int64_t n, const auto& of_these, Array& value) {
    const Array u = open_uniform({n}, Dtype::float64, here), v = open_uniform({n}, Dtype::float64, here);
    const Array of_power = of_these(power_less);
    value = minimum(floor(exp(negative(divide(log1p(multiply(u, of_these(within))), of_power)))), most);
    const Array step = negative(expm1(negative(multiply(of_power, log1p(divide(1, value))))));
    return less_equal(multiply(multiply(v, value), step), of_these(least));
  });
  return as_dtype(counts, dtype);
}

namespace {

/// Returns whether a few binomial numbers with tables for 0 to n trials take less time than n outcomes in each row.
bool pays_as_binomials(std::int64_t n, std::int64_t outcomes, std::int64_t rows) {
  constexpr std::int64_t kMost = 4096;
  constexpr double kDraw = 15, kBinomial = 60, kEntry = 150;  // ns
  if (n > kMost) return false;
  const auto trials = static_cast<double>(n), count = static_cast<double>(rows),
             own = static_cast<double>(outcomes - 1);
  const double entries = trials * std::min(trials, 10 * std::sqrt(trials));
  return count * trials * kDraw > own * (count * kBinomial + entries * kEntry);
}

/// Draws each outcome's count in turn, given the ones before. The last outcome gets the rest. [rows, outcomes]
Array multinomial_by_binomials(std::int64_t n, const std::vector<double>& p, std::int64_t rows,
                               const RandomOptions& options) {
  Array left = full({rows}, n, Dtype::int64);
  std::vector<Array> counts;
  double rest = 1;
  for (std::size_t k = 0; k + 1 < p.size(); ++k) {
    const double chance = p[k] <= 0 ? 0 : rest <= p[k] ? 1 : p[k] / rest;
    counts.push_back(binomial_of(left, n, chance, options));
    left = subtract(left, counts.back()).eval();
    rest -= p[k];
  }
  counts.push_back(left);
  return stack(counts, -1);
}

}  // namespace

Array multinomial(std::int64_t n, const Array& pvals, const Shape& size, const RandomOptions& options) {
  if (n < 0) fail<ValueError>("random::multinomial: n must not be negative, {} was given", n);
  if (pvals.ndim() != 1 || pvals.size() == 0)
    fail<ShapeError>("random::multinomial: pvals must be 1-d and not empty, shape {} was given", pvals.shape());
  const RandomOptions here = placed(options, pvals, pvals);
  const Device device = here.device.value_or(current_device());
  const std::int64_t k = pvals.size(), rows = checked_size(size, "random::multinomial");
  const Array p = as_dtype(pvals, Dtype::float64).to_device(device);
  const Array cumulative = catenary::detail::slice_axis(cumsum(p), 0, 0, k - 1);
  const double stated = k > 1 ? max(cumulative).item<double>() : 0;
  if (!(min(p).item<double>() >= 0 && max(p).item<double>() <= 1 && stated <= 1 + 1e-12))
    fail<ValueError>("random::multinomial: pvals must not be negative nor sum to more than 1, they sum to {}",
                     sum(p).item<double>());
  Shape shape = size;
  shape.push_back(k);
  const Dtype dtype = options.dtype.value_or(Dtype::int64);
  const DeviceScope scope(device);
  if (k == 1) return full(shape, n, dtype);
  if (pays_as_binomials(n, k, rows))
    return as_dtype(multinomial_by_binomials(n, p.to_vector<double>(), rows, here).reshape(shape), dtype);
  const Array counts = zeros({rows * k}, Dtype::int64);
  constexpr std::int64_t at_once = 1 << 20;
  RandomOptions uniform_options = here;
  uniform_options.dtype = Dtype::float64;
  const Array first = multiply(arange(rows, Dtype::int64), k).reshape({rows, 1});
  for (std::int64_t left = rows > 0 ? n : 0; left > 0;) {
    const std::int64_t draws = std::min(left, std::max<std::int64_t>(1, at_once / rows));
    const Array outcome = searchsorted(cumulative, random({rows, draws}, uniform_options), Side::right);
    counts += bincount(add(outcome, first).reshape({rows * draws}), {}, rows * k);
    left -= draws;
  }
  return as_dtype(counts.reshape(shape), dtype);
}

}  // namespace catenary::random
