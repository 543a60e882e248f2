#pragma once
// Private to array/: building blocks of the distributions.

#include <initializer_list>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/random.h"

namespace catenary::random::detail {

/// Sets the number of this process among processes that train together. seed(value) gives each process different random
/// numbers; process 0 gets those of a process that trains alone.
void set_rank(std::uint64_t rank);

/// Returns the dtype of the result. Throws DtypeError unless it is floating.
Dtype floating_dtype(const RandomOptions& options, const char* what);

/// Returns the dtype to compute in: float32 for 16-bit floats, which are rounded at the end.
Dtype working_dtype(Dtype dtype);

/// Draws uniformly from (0, 1), symmetrically about 1/2, as float32 or float64: (k + 1/2) / 2^b. b is smaller than the
/// number of mantissa bits, so the numbers are exact.
Array open_uniform(const Shape& size, Dtype dtype, const RandomOptions& options);

/// Draws from the standard normal distribution as float32 or float64 (Box and Muller 1958, using one of the two
/// numbers).
Array normal_of(const Shape& size, Dtype dtype, const RandomOptions& options);

using Parameters = std::initializer_list<Operand>;

/// Returns `size`, or the shape that the parameters broadcast to. Throws ShapeError if they do not fit.
Shape shape_of(const OptionalShape& size, Parameters parameters, const char* what);
inline Shape shape_of(const OptionalShape& size, const Operand& a, const Operand& b, const char* what) {
  return shape_of(size, {a, b}, what);
}

/// Returns the options with the device of the first array among the parameters, if there is one.
RandomOptions placed(const RandomOptions& options, Parameters parameters);
inline RandomOptions placed(const RandomOptions& options, const Operand& a, const Operand& b) {
  return placed(options, {a, b});
}

/// The valid range of a parameter. `words` follow "must" in messages.
struct Interval {
  double low = 0;
  bool has_low = true;
  double high = std::numeric_limits<double>::infinity();
  bool has_high = true;
  const char* words;
};
inline constexpr Interval kNotNegative{.words = "not be negative"};
inline constexpr Interval kPositive{.has_low = false, .words = "be positive"};
inline constexpr Interval kFinite{.has_high = false, .words = "be finite and not negative"};
inline constexpr Interval kPositiveFinite{.has_low = false, .has_high = false, .words = "be finite and positive"};
inline constexpr Interval kProbability{.high = 1, .words = "lie in [0, 1]"};
inline constexpr Interval kPositiveProbability{.has_low = false, .high = 1, .words = "lie in (0, 1]"};

/// Throws ValueError unless a literal, or each element of an array, lies in the interval. The host waits for arrays.
void check_values(const Operand& x, const Interval& interval, const char* what, const char* name);

/// Draws the number of successes in each of the trials (int64, from 0 to `most`) with one probability.
Array binomial_of(const Array& trials, std::int64_t most, double chance, const RandomOptions& options);

/// An operand in the working dtype, so that a float64 parameter does not widen the result.
struct Parameter {
  Array array;
  Scalar scalar = 0.0;
  Parameter(const Operand& x, Dtype dtype) {
    if (x.is_array()) {
      array = catenary::detail::as_dtype(x.array(), dtype);
    } else {
      scalar = x.scalar().real();
    }
  }
  Operand operand() const { return array.defined() ? Operand(array) : Operand(scalar); }
};

/// Returns loc + scale * standard(shape), rounded once to the result's dtype.
template <class Standard>
Array located(const Operand& loc, const Operand& scale, const OptionalShape& size, const RandomOptions& options,
              const char* what, Standard&& standard) {
  check_values(scale, kNotNegative, what, "scale");
  const Dtype dtype = floating_dtype(options, what), work = working_dtype(dtype);
  const Shape shape = shape_of(size, loc, scale, what);
  const Parameter l(loc, work), s(scale, work);
  return catenary::detail::as_dtype(
      add(multiply(standard(shape, work, placed(options, loc, scale)), s.operand()), l.operand()), dtype);
}

}  // namespace catenary::random::detail
