#pragma once
// Random arrays, with the names of numpy.random.
//
// Philox4x32-10 generates the bits: element i of a call depends only on the generator's seed, the call number and i.
// Results are therefore equal on every device, with any number of threads, with and without fusion; they are not
// NumPy's numbers. Elementwise operations turn the bits into distributions.
//
// An out-of-range parameter throws ValueError. If the parameter is an array, the host waits for its elements.

#include <concepts>
#include <cstdint>
#include <optional>

#include "catenary/array/array.h"
#include "catenary/core/optional_shape.h"

namespace catenary::random {

/// The state of a random number generator. Each request for bits takes the next call number.
struct Generator {
  std::uint64_t seed = 0;
  std::uint64_t call = 0;
};
/// Returns the calling thread's generator. Until the thread sets a seed, the system provides it.
CT_API Generator& default_generator();
/// Restarts the calling thread's generator from a seed. numpy.random.seed
CT_API void seed(std::uint64_t value);
/// Save and restore the state of the calling thread's generator: set_state continues after get_state.
/// numpy.random.get_state, set_state
CT_API Generator get_state();
CT_API void set_state(const Generator& state);

/// Where and in which dtype random numbers are made.
struct RandomOptions {
  std::optional<Dtype> dtype = {};    ///< of the result; each function documents its default
  std::optional<Device> device = {};  ///< default: the current device
  Generator* generator = nullptr;     ///< default: the calling thread's generator
};

/// Returns 32 random bits for each element (uint32).
CT_API Array bits(const Shape& size, const RandomOptions& options = {});
/// Draws uniformly from [0, 1): multiples of 2⁻⁵³ (float64, the default), 2⁻²⁴ (float32), 2⁻¹¹ (float16) or 2⁻⁸
/// (bfloat16). numpy.random.random
CT_API Array random(const Shape& size, const RandomOptions& options = {});
/// Draws as random() does, with the shape as separate arguments. numpy.random.rand
template <std::integral... I>
Array rand(I... extents) {
  return random(Shape{static_cast<std::int64_t>(extents)...});
}
/// Draws uniformly from [low, high), float64 by default. `size` defaults to the shape that low and high broadcast to.
/// numpy.random.uniform
CT_API Array uniform(const Operand& low = 0.0, const Operand& high = 1.0, const OptionalShape& size = {},
                     const RandomOptions& options = {});
/// Draws from the standard normal distribution by the Box-Muller formula, float64 by default.
/// numpy.random.standard_normal
CT_API Array standard_normal(const Shape& size, const RandomOptions& options = {});
/// Draws as standard_normal() does, with the shape as separate arguments. numpy.random.randn
template <std::integral... I>
Array randn(I... extents) {
  return standard_normal(Shape{static_cast<std::int64_t>(extents)...});
}
/// Draws from the normal distribution with mean loc and standard deviation scale. Throws ValueError for a negative
/// scale. numpy.random.normal
CT_API Array normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const OptionalShape& size = {},
                    const RandomOptions& options = {});
/// Draws from the exponential distribution with mean scale. numpy.random.exponential
CT_API Array exponential(const Operand& scale = 1.0, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from the Gumbel distribution. numpy.random.gumbel
CT_API Array gumbel(const Operand& loc = 0.0, const Operand& scale = 1.0, const OptionalShape& size = {},
                    const RandomOptions& options = {});
/// Draws from the Laplace distribution. numpy.random.laplace
CT_API Array laplace(const Operand& loc = 0.0, const Operand& scale = 1.0, const OptionalShape& size = {},
                     const RandomOptions& options = {});
/// Draws from the logistic distribution by inversion. numpy.random.logistic
CT_API Array logistic(const Operand& loc = 0.0, const Operand& scale = 1.0, const OptionalShape& size = {},
                      const RandomOptions& options = {});
/// Draws from the log-normal distribution: e to a normal number with the given mean and sigma. numpy.random.lognormal
CT_API Array lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const OptionalShape& size = {},
                       const RandomOptions& options = {});
/// Draws from the Rayleigh distribution by inversion. numpy.random.rayleigh
CT_API Array rayleigh(const Operand& scale = 1.0, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from the exponential distribution with mean 1. numpy.random.standard_exponential
CT_API Array standard_exponential(const Shape& size = {}, const RandomOptions& options = {});
/// Draws from the Cauchy distribution around 0 by inversion. numpy.random.standard_cauchy
CT_API Array standard_cauchy(const Shape& size = {}, const RandomOptions& options = {});
/// Draws from the Pareto distribution of the second kind (Lomax) with shape a > 0, which is the classical Pareto
/// distribution minus 1. numpy.random.pareto
CT_API Array pareto(const Operand& a, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from the Weibull distribution with shape a >= 0 and scale 1. numpy.random.weibull
CT_API Array weibull(const Operand& a, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from the power distribution: density a x^(a - 1) on [0, 1], a > 0. numpy.random.power
CT_API Array power(const Operand& a, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from the triangular distribution: density 0 at left and right, highest at mode. Throws ValueError unless left
/// <= mode <= right and left < right in every element, so the host waits for the device. numpy.random.triangular
CT_API Array triangular(const Operand& left, const Operand& mode, const Operand& right, const OptionalShape& size = {},
                        const RandomOptions& options = {});
/// Draws from the inverse Gaussian distribution with mean > 0 and scale > 0 (Michael, Schucany and Haas 1976).
/// numpy.random.wald
CT_API Array wald(const Operand& mean, const Operand& scale, const OptionalShape& size = {},
                  const RandomOptions& options = {});

// The gamma distribution and its relatives use rejection (Marsaglia and Tsang 2000), as do some others below. Rejected
// numbers are drawn again until none is left, so the host waits for the device.

/// Draws from the gamma distribution with shape >= 0 and scale 1. numpy.random.standard_gamma
CT_API Array standard_gamma(const Operand& shape, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from the gamma distribution with shape >= 0 and scale >= 0. numpy.random.gamma
CT_API Array gamma(const Operand& shape, const Operand& scale = 1.0, const OptionalShape& size = {},
                   const RandomOptions& options = {});
/// Draws from the chi-square distribution with df > 0 degrees of freedom. numpy.random.chisquare
CT_API Array chisquare(const Operand& df, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from Student's t distribution with df > 0 degrees of freedom. numpy.random.standard_t
CT_API Array standard_t(const Operand& df, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from Fisher's F distribution with dfnum > 0 and dfden > 0 degrees of freedom. numpy.random.f
CT_API Array f(const Operand& dfnum, const Operand& dfden, const OptionalShape& size = {},
               const RandomOptions& options = {});
/// Draws from the noncentral chi-square distribution with df > 0 degrees of freedom and nonc >= 0. For df > 1 it adds
/// the square of a normal number and a chi-square number; otherwise it draws a chi-square number with 2 Poisson(nonc /
/// 2) additional degrees (Johnson, Kotz and Balakrishnan 1995). numpy.random.noncentral_chisquare
CT_API Array noncentral_chisquare(const Operand& df, const Operand& nonc, const OptionalShape& size = {},
                                  const RandomOptions& options = {});
/// Draws from the noncentral F distribution with dfnum > 0 and dfden > 0 degrees of freedom and nonc >= 0: a noncentral
/// chi-square number divided by a chi-square number, each divided by its degrees of freedom. numpy.random.noncentral_f
CT_API Array noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc,
                          const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws angles in [-pi, pi] around mu from the von Mises distribution with concentration kappa >= 0 (Best and Fisher
/// 1979). numpy.random.vonmises
CT_API Array vonmises(const Operand& mu, const Operand& kappa, const OptionalShape& size = {},
                      const RandomOptions& options = {});
/// Draws from the beta distribution with a > 0 and b > 0. numpy.random.beta
CT_API Array beta(const Operand& a, const Operand& b, const OptionalShape& size = {},
                  const RandomOptions& options = {});
/// Draws points of the simplex, of shape (…size, k), from the Dirichlet distribution with the k parameters alpha > 0.
/// numpy.random.dirichlet
CT_API Array dirichlet(const Array& alpha, const Shape& size = {}, const RandomOptions& options = {});
/// Draws points of shape (…size, n) from the normal distribution with mean (n) and covariance (n, n). Throws ValueError
/// if the covariance is not symmetric or has a negative eigenvalue. numpy.random.multivariate_normal
CT_API Array multivariate_normal(const Array& mean, const Array& cov, const Shape& size = {},
                                 const RandomOptions& options = {});

/// Draws integers from [low, high), int64 by default. Their probabilities differ by at most (high - low) / 2⁶⁴. Throws
/// ValueError for an empty range or one that does not fit the dtype. numpy.random.randint
CT_API Array randint(std::int64_t low, std::int64_t high, const Shape& size = {}, const RandomOptions& options = {});
/// Draws integers from [0, high).
CT_API Array randint(std::int64_t high, const Shape& size = {}, const RandomOptions& options = {});
/// Draws true with probability p, bool by default.
CT_API Array bernoulli(const Operand& p, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws the number of successes in n trials with probability p, int64 by default. Uses inversion of the cumulative
/// distribution, computed on the host for each pair of n and p. Throws ValueError unless n is an integer, 0 <= n <= 2²⁴
/// and 0 <= p <= 1. numpy.random.binomial
CT_API Array binomial(const Operand& n, const Operand& p, const OptionalShape& size = {},
                      const RandomOptions& options = {});
/// Draws from the Poisson distribution with mean lam, int64 by default, by inversion as binomial. Throws ValueError
/// unless 0 <= lam <= 10⁶. numpy.random.poisson
CT_API Array poisson(const Operand& lam = 1.0, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws the number of trials up to the first success, each with probability p in (0, 1], int64 by default.
/// numpy.random.geometric
CT_API Array geometric(const Operand& p, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws from the logarithmic series distribution with p in (0, 1), int64 by default: the probability of k is
/// proportional to p^k / k (Kemp 1981). numpy.random.logseries
CT_API Array logseries(const Operand& p, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws the number of failures before the n-th success, with probability p in (0, 1] for each trial, int64 by default;
/// n > 0 need not be an integer. It is a Poisson number with a gamma-distributed mean (Devroye 1987); the host waits
/// for the device. Throws ValueError if that mean exceeds 10^15. numpy.random.negative_binomial
CT_API Array negative_binomial(const Operand& n, const Operand& p, const OptionalShape& size = {},
                               const RandomOptions& options = {});
/// Draws from the Zipf distribution with a > 1, int64 by default: the probability of k is proportional to k^-a, among
/// the numbers that the dtype holds. Uses rejection (Devroye 1986), so the host waits for the device. numpy.random.zipf
CT_API Array zipf(const Operand& a, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws the number of good items among nsample drawn from ngood and nbad without replacement, int64 by default, by
/// inversion as binomial. Throws ValueError for numbers that are negative or not integers, for sums above 2²⁴, and for
/// samples larger than ngood + nbad. numpy.random.hypergeometric
CT_API Array hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample,
                            const OptionalShape& size = {}, const RandomOptions& options = {});
/// Draws how often each of k outcomes occurs in n draws: shape (…size, k), int64 by default. The last of pvals (k) is
/// taken as 1 minus the sum of the others. Time is proportional to n. Throws ValueError for n < 0, for negative
/// probabilities and for a sum above 1. numpy.random.multinomial
CT_API Array multinomial(std::int64_t n, const Array& pvals, const Shape& size = {}, const RandomOptions& options = {});

/// Returns 0, 1, …, n - 1 (int64) in random order. numpy.random.permutation
CT_API Array permutation(std::int64_t n, const RandomOptions& options = {});
/// Returns a copy of x with its first axis in random order.
CT_API Array permutation(const Array& x, Generator* generator = nullptr);
/// Shuffles x along its first axis, in place. numpy.random.shuffle
CT_API void shuffle(Target x, Generator* generator = nullptr);

/// Options of choice.
struct ChoiceOptions {
  bool replace = true;
  std::optional<Array> p = {};        ///< probabilities; default: all equal
  std::optional<Device> device = {};  ///< default: the current device, or the array's
  Generator* generator = nullptr;     ///< default: the calling thread's generator
};
/// Draws from 0, 1, …, n - 1 (int64), with or without replacement. Throws ValueError if there are too few numbers, or
/// if p is negative or does not sum to 1. numpy.random.choice
CT_API Array choice(std::int64_t n, const Shape& size = {}, const ChoiceOptions& options = {});
/// Draws elements of the 1-d array x.
CT_API Array choice(const Array& x, const Shape& size = {}, const ChoiceOptions& options = {});

}  // namespace catenary::random
