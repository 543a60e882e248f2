#pragma once
// Random arrays, with the names of numpy.random.
//
// Bits come from Philox4x32-10: element i of a call is a function of the generator's seed, the number of the call and
// i, so it is the same on every device, with any number of threads, with and without fusion. Everything else is
// composed of elementwise operations. (The numbers are not NumPy's.)
//
// A parameter out of its range is a ValueError, be it a literal or an element of an array, for which the host waits.

#include <concepts>
#include <cstdint>
#include <optional>

#include "catenary/array/array.h"
#include "catenary/core/optional_shape.h"

namespace catenary::random {

/// Where random numbers come from: each use of its bits takes the next call number. Its two numbers are its whole
/// state.
struct Generator {
  std::uint64_t seed = 0;
  std::uint64_t call = 0;
};
/// The generator of the calling thread; a thread that has not set a seed has one from the system.
CT_API Generator& default_generator();
/// Makes the calling thread's generator start again from a seed. numpy.random.seed
CT_API void seed(std::uint64_t value);
/// The calling thread's generator, for snapshots: set_state continues where get_state was. numpy.random.get_state,
/// set_state
CT_API Generator get_state();
CT_API void set_state(const Generator& state);

/// Where and in which dtype random numbers are made.
struct RandomOptions {
  std::optional<Dtype> dtype = {};    ///< of the result; each function says what it is otherwise
  std::optional<Device> device = {};  ///< the current one where not given
  Generator* generator = nullptr;     ///< the calling thread's where not given
};

/// 32 random bits an element (uint32).
CT_API Array bits(const Shape& size, const RandomOptions& options = {});
/// Uniform in [0, 1): multiples of 2⁻⁵³ (float64, the default), 2⁻²⁴ (float32), 2⁻¹¹ (float16), 2⁻⁸ (bfloat16).
/// numpy.random.random
CT_API Array random(const Shape& size, const RandomOptions& options = {});
/// The same with extents as arguments. numpy.random.rand
template <std::integral... I>
Array rand(I... extents) {
  return random(Shape{static_cast<std::int64_t>(extents)...});
}
/// Uniform in [low, high), float64 by default. `size` is what low and high broadcast to where not given.
/// numpy.random.uniform
CT_API Array uniform(const Operand& low = 0.0, const Operand& high = 1.0, const OptionalShape& size = {},
                     const RandomOptions& options = {});
/// Standard normal, by Box and Muller's formula; float64 by default. numpy.random.standard_normal
CT_API Array standard_normal(const Shape& size, const RandomOptions& options = {});
/// The same with extents as arguments. numpy.random.randn
template <std::integral... I>
Array randn(I... extents) {
  return standard_normal(Shape{static_cast<std::int64_t>(extents)...});
}
/// Normal with mean loc and standard deviation scale. Throws ValueError for a negative scale.
/// numpy.random.normal
CT_API Array normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const OptionalShape& size = {},
                    const RandomOptions& options = {});
/// Exponential with mean scale. numpy.random.exponential
CT_API Array exponential(const Operand& scale = 1.0, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Gumbel. numpy.random.gumbel
CT_API Array gumbel(const Operand& loc = 0.0, const Operand& scale = 1.0, const OptionalShape& size = {},
                    const RandomOptions& options = {});
/// Laplace. numpy.random.laplace
CT_API Array laplace(const Operand& loc = 0.0, const Operand& scale = 1.0, const OptionalShape& size = {},
                     const RandomOptions& options = {});
/// Logistic, by inversion. numpy.random.logistic
CT_API Array logistic(const Operand& loc = 0.0, const Operand& scale = 1.0, const OptionalShape& size = {},
                      const RandomOptions& options = {});
/// e to the normal with the given mean and standard deviation. numpy.random.lognormal
CT_API Array lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const OptionalShape& size = {},
                       const RandomOptions& options = {});
/// Rayleigh, by inversion. numpy.random.rayleigh
CT_API Array rayleigh(const Operand& scale = 1.0, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Exponential with mean 1. numpy.random.standard_exponential
CT_API Array standard_exponential(const Shape& size = {}, const RandomOptions& options = {});
/// Cauchy about 0, by inversion. numpy.random.standard_cauchy
CT_API Array standard_cauchy(const Shape& size = {}, const RandomOptions& options = {});
/// Pareto of the second kind (Lomax) with shape a > 0: Pareto's own minus 1. numpy.random.pareto
CT_API Array pareto(const Operand& a, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Weibull with shape a >= 0 and scale 1. numpy.random.weibull
CT_API Array weibull(const Operand& a, const OptionalShape& size = {}, const RandomOptions& options = {});
/// With density a x^(a - 1) on [0, 1], a > 0. numpy.random.power
CT_API Array power(const Operand& a, const OptionalShape& size = {}, const RandomOptions& options = {});
/// With a triangle for density: 0 at left and right, highest at mode. Throws ValueError unless left <= mode <= right
/// and left < right in every element, which waits for the device. numpy.random.triangular
CT_API Array triangular(const Operand& left, const Operand& mode, const Operand& right, const OptionalShape& size = {},
                        const RandomOptions& options = {});
/// Inverse Gaussian with mean > 0 and scale > 0 (Michael, Schucany and Haas 1976). numpy.random.wald
CT_API Array wald(const Operand& mean, const Operand& scale, const OptionalShape& size = {},
                  const RandomOptions& options = {});

// The gamma distribution and its like, by rejection (Marsaglia and Tsang 2000), and others that reject: what was
// rejected is drawn again until nothing is, so the host waits for the device.

/// Gamma with shape >= 0 and scale 1. numpy.random.standard_gamma
CT_API Array standard_gamma(const Operand& shape, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Gamma with shape >= 0 and scale >= 0. numpy.random.gamma
CT_API Array gamma(const Operand& shape, const Operand& scale = 1.0, const OptionalShape& size = {},
                   const RandomOptions& options = {});
/// Chi-square with df > 0 degrees of freedom. numpy.random.chisquare
CT_API Array chisquare(const Operand& df, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Student's t with df > 0 degrees of freedom. numpy.random.standard_t
CT_API Array standard_t(const Operand& df, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Fisher's F with dfnum > 0 and dfden > 0 degrees of freedom. numpy.random.f
CT_API Array f(const Operand& dfnum, const Operand& dfden, const OptionalShape& size = {},
               const RandomOptions& options = {});
/// Noncentral chi-square with df > 0 degrees of freedom and nonc >= 0: a normal number's square and a chi-square number
/// where df > 1, else chi-square with 2 Poisson(nonc / 2) degrees more (Johnson, Kotz and Balakrishnan 1995).
/// numpy.random.noncentral_chisquare
CT_API Array noncentral_chisquare(const Operand& df, const Operand& nonc, const OptionalShape& size = {},
                                  const RandomOptions& options = {});
/// Noncentral F with dfnum > 0 and dfden > 0 degrees of freedom and nonc >= 0: a noncentral chi-square number over a
/// chi-square number, each over its degrees. numpy.random.noncentral_f
CT_API Array noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc,
                          const OptionalShape& size = {}, const RandomOptions& options = {});
/// Angles in [-pi, pi] about mu, the nearer the larger kappa >= 0 is: von Mises (Best and Fisher 1979).
/// numpy.random.vonmises
CT_API Array vonmises(const Operand& mu, const Operand& kappa, const OptionalShape& size = {},
                      const RandomOptions& options = {});
/// Beta with a > 0 and b > 0. numpy.random.beta
CT_API Array beta(const Operand& a, const Operand& b, const OptionalShape& size = {},
                  const RandomOptions& options = {});
/// Points of the simplex, of shape (…size, k): Dirichlet with the k parameters alpha > 0. numpy.random.dirichlet
CT_API Array dirichlet(const Array& alpha, const Shape& size = {}, const RandomOptions& options = {});
/// Points of shape (…size, n): normal with mean (n) and covariance (n, n), which must be symmetric and have no negative
/// eigenvalue, else ValueError. numpy.random.multivariate_normal
CT_API Array multivariate_normal(const Array& mean, const Array& cov, const Shape& size = {},
                                 const RandomOptions& options = {});

/// Integers in [low, high), int64 by default; each with the same probability but for (high - low) / 2⁶⁴. Throws
/// ValueError for an empty range or one that the dtype does not hold. numpy.random.randint
CT_API Array randint(std::int64_t low, std::int64_t high, const Shape& size = {}, const RandomOptions& options = {});
/// Integers in [0, high).
CT_API Array randint(std::int64_t high, const Shape& size = {}, const RandomOptions& options = {});
/// True with probability p; bool by default.
CT_API Array bernoulli(const Operand& p, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Successes of n trials of probability p each, int64 by default, by inversion of the cumulative distribution: of one
/// for each pair of n and p, which are read on the host. Throws ValueError unless 0 <= n <= 2²⁴, an integer, and
/// 0 <= p <= 1. numpy.random.binomial
CT_API Array binomial(const Operand& n, const Operand& p, const OptionalShape& size = {},
                      const RandomOptions& options = {});
/// Poisson with mean lam, int64 by default, by inversion, as binomial. Throws ValueError unless 0 <= lam <= 10⁶.
/// numpy.random.poisson
CT_API Array poisson(const Operand& lam = 1.0, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Trials up to the first success, each with probability p in (0, 1]; int64 by default. numpy.random.geometric
CT_API Array geometric(const Operand& p, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Logarithmic series with p in (0, 1), int64 by default: k has a probability in proportion to p^k / k (Kemp 1981).
/// numpy.random.logseries
CT_API Array logseries(const Operand& p, const OptionalShape& size = {}, const RandomOptions& options = {});
/// Failures up to the n-th success, n > 0 and not always an integer, of trials with probability p in (0, 1] each; int64
/// by default. A Poisson number whose mean is gamma distributed (Devroye 1987 for the former); waits for the device.
/// Throws ValueError where such a mean is beyond 10^15. numpy.random.negative_binomial
CT_API Array negative_binomial(const Operand& n, const Operand& p, const OptionalShape& size = {},
                               const RandomOptions& options = {});
/// Zipf with a > 1, int64 by default: k has a probability in proportion to k^-a, among the numbers that the dtype holds
/// (Devroye 1986, by rejection; waits for the device). numpy.random.zipf
CT_API Array zipf(const Operand& a, const OptionalShape& size = {}, const RandomOptions& options = {});
/// How many are good of nsample drawn from ngood and nbad without replacement, int64 by default, by inversion, as
/// binomial. Throws ValueError for numbers that are negative or no integers, sums above 2²⁴, and more drawn than there
/// are. numpy.random.hypergeometric
CT_API Array hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample,
                            const OptionalShape& size = {}, const RandomOptions& options = {});
/// How often each of k outcomes comes up in n draws: shape (…size, k), int64 by default. The last of pvals (k) counts
/// as what the others leave of 1. Takes time in proportion to n. Throws ValueError for n < 0, and for probabilities
/// that are negative or sum to more than 1. numpy.random.multinomial
CT_API Array multinomial(std::int64_t n, const Array& pvals, const Shape& size = {}, const RandomOptions& options = {});

/// 0, 1, …, n - 1 (int64) in random order. numpy.random.permutation
CT_API Array permutation(std::int64_t n, const RandomOptions& options = {});
/// A copy of x with its first axis in random order.
CT_API Array permutation(const Array& x, Generator* generator = nullptr);
/// Puts the first axis of x in random order, in place. numpy.random.shuffle
CT_API void shuffle(Target x, Generator* generator = nullptr);

/// Options of choice.
struct ChoiceOptions {
  bool replace = true;
  std::optional<Array> p = {};        ///< probabilities; all the same where not given
  std::optional<Device> device = {};  ///< the current one, or the array's, where not given
  Generator* generator = nullptr;     ///< the calling thread's where not given
};
/// Draws from 0, 1, …, n - 1 (int64), with or without replacement. Throws ValueError where there is too little to draw
/// from or p is negative or does not sum to 1. numpy.random.choice
CT_API Array choice(std::int64_t n, const Shape& size = {}, const ChoiceOptions& options = {});
/// Draws elements of the 1-d array x.
CT_API Array choice(const Array& x, const Shape& size = {}, const ChoiceOptions& options = {});

}  // namespace catenary::random
