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

/// Options of nan_to_num.
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf = {};  ///< the dtype's largest number where not given
  std::optional<double> neginf = {};  ///< the dtype's lowest number where not given
};
/// x with NaN and infinities replaced by numbers. numpy.nan_to_num
CT_API Array nan_to_num(const Array& x, const NanToNumOptions& options = {});
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
  bool rowvar = true;               ///< each row is a variable; else each column
  bool bias = false;                ///< divides by n, not n - 1
  std::optional<double> ddof = {};  ///< divides by n - ddof; takes precedence over bias
};
/// Covariance matrix of the variables of a 1-d or 2-d m: 0-d for one variable. numpy.cov
CT_API Array cov(const Array& m, const CovOptions& options = {});
/// Correlation coefficients, within [-1, 1]. numpy.corrcoef
CT_API Array corrcoef(const Array& m, bool rowvar = true);

}  // namespace catenary
