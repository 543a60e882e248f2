#pragma once
// Private to array/: what the distributions are made of.

#include <initializer_list>
#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/random.h"

namespace catenary::random::detail {

/// Of processes that train together: this one's number. seed(value) gives each of them other numbers; number 0 those of
/// a process alone.
void set_rank(std::uint64_t rank);

/// The dtype of the result; throws DtypeError for one that is not floating.
Dtype floating_dtype(const RandomOptions& options, const char* what);

/// 16-bit floats are made in float32 and rounded at the end.
Dtype working_dtype(Dtype dtype);

/// Uniform in (0, 1), symmetric about 1/2, as float32 or float64: (k + 1/2) / 2^b with b bits fewer than the mantissa
/// has, which is exact.
Array open_uniform(const Shape& size, Dtype dtype, const RandomOptions& options);

/// Standard normal as float32 or float64. (Box and Muller 1958, one of the two.)
Array normal_of(const Shape& size, Dtype dtype, const RandomOptions& options);

using Parameters = std::initializer_list<Operand>;

/// `size`, or what the parameters broadcast to; throws ShapeError where they do not fit.
Shape shape_of(const OptionalShape& size, Parameters parameters, const char* what);
inline Shape shape_of(const OptionalShape& size, const Operand& a, const Operand& b, const char* what) {
  return shape_of(size, {a, b}, what);
}

/// The options with the device of an array among the parameters, if there is one.
RandomOptions placed(const RandomOptions& options, Parameters parameters);
inline RandomOptions placed(const RandomOptions& options, const Operand& a, const Operand& b) {
  return placed(options, {a, b});
}

/// Where the elements of a parameter may lie, in words that follow "must".
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

/// Throws ValueError unless the parameter, a literal or each element of an array, which is waited for, lies there.
void check_values(const Operand& x, const Interval& interval, const char* what, const char* name);

/// An operand in the dtype that is worked in, so that a float64 parameter does not widen the result.
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

/// loc + scale * standard(shape), rounded to the result's dtype once.
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
