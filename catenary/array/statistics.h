#pragma once
// Comparing, cleaning, rounding, and statistics of several variables, with NumPy's names.

#include <optional>

#include "catenary/array/array.h"

namespace catenary {

/// |a - b| <= atol + rtol |b|, elementwise; equal infinities are close. numpy.isclose
CT_API Array isclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8,
                     bool equal_nan = false);
/// Are all elements close? numpy.allclose
CT_API bool allclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8,
                     bool equal_nan = false);
/// Same shape and same elements? numpy.array_equal
CT_API bool array_equal(const Array& a, const Array& b, bool equal_nan = false);

/// The same elements once both are broadcast to one shape? False where they cannot be. numpy.array_equiv
CT_API bool array_equiv(const Array& a, const Array& b);
/// Which elements are +infinity, and -infinity? numpy.isposinf, numpy.isneginf
CT_API Array isposinf(const Array& x);
CT_API Array isneginf(const Array& x);

/// Options of nan_to_num.
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf = {};  ///< the dtype's largest number where not given
  std::optional<double> neginf = {};  ///< the dtype's lowest number where not given
};
/// x with NaN and infinities replaced by numbers. numpy.nan_to_num
CT_API Array nan_to_num(const Array& x, const NanToNumOptions& options = {});
/// The same with numbers for each element: what stands in their places is cast to x's dtype. Throws ShapeError for an
/// array that does not broadcast to x.
CT_API Array nan_to_num(const Array& x, const Operand& nan, const std::optional<Operand>& posinf = {},
                        const std::optional<Operand>& neginf = {});
/// x rounded to `decimals` decimals, ties to even; negative ones round before the point. numpy.around
CT_API Array around(const Array& x, int decimals = 0);
CT_API Array round(const Array& x, int decimals = 0);
/// x rounded towards zero. numpy.fix
CT_API Array fix(const Array& x);

/// Piecewise linear interpolation (float64) through the points (xp, fp), xp ascending; outside: the first and the last
/// fp, or `left` and `right`. Throws ShapeError unless xp and fp are 1-d and of one length, ValueError where they are
/// empty. numpy.interp
CT_API Array interp(const Array& x, const Array& xp, const Array& fp, std::optional<double> left = {},
                    std::optional<double> right = {});

/// Options of cov.
struct CovOptions {
  bool rowvar = true;                  ///< each row is a variable; else each column
  bool bias = false;                   ///< divides by n, not n - 1
  std::optional<double> ddof = {};     ///< divides by n - ddof; takes precedence over bias
  std::optional<Array> fweights = {};  ///< how often each observation counts: integers
  std::optional<Array> aweights = {};  ///< how much each observation counts
  std::optional<Dtype> dtype = {};     ///< of what is computed; at least float64 where not given
};
/// Covariance matrix of the variables of a 1-d or 2-d m, and of those of y: 0-d for one variable. Throws ShapeError for
/// more than two axes or weights that are not one for each observation, DtypeError for fweights that are no integers,
/// ValueError for a ddof that is none.
/// numpy.cov
CT_API Array cov(const Array& m, const std::optional<Array>& y, const CovOptions& options = {});
inline Array cov(const Array& m, const CovOptions& options = {}) { return cov(m, std::nullopt, options); }
/// Correlation coefficients, within [-1, 1]. numpy.corrcoef
CT_API Array corrcoef(const Array& m, const std::optional<Array>& y = {}, bool rowvar = true,
                      std::optional<Dtype> dtype = {});
inline Array corrcoef(const Array& m, bool rowvar) { return corrcoef(m, std::nullopt, rowvar); }

}  // namespace catenary
