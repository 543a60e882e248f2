#pragma once
// Comparing, cleaning, rounding, and statistics of several variables, with NumPy's names.

#include <optional>

#include "catenary/array/array.h"

namespace catenary {

/// Returns |a - b| <= atol + rtol |b|, elementwise. Equal infinities are close. numpy.isclose
CT_API Array isclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8,
                     bool equal_nan = false);
/// Returns whether all elements are close. numpy.allclose
CT_API bool allclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8,
                     bool equal_nan = false);
/// Returns whether shapes and elements are equal. numpy.array_equal
CT_API bool array_equal(const Array& a, const Array& b, bool equal_nan = false);

/// Returns whether all elements are equal after broadcasting. False if the arrays do not broadcast. numpy.array_equiv
CT_API bool array_equiv(const Array& a, const Array& b);
/// Return which elements are +infinity, and -infinity. numpy.isposinf, numpy.isneginf
CT_API Array isposinf(const Array& x);
CT_API Array isneginf(const Array& x);

/// Options of nan_to_num.
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf = {};  ///< default: the dtype's largest number
  std::optional<double> neginf = {};  ///< default: the dtype's lowest number
};
/// Returns x with NaN and infinities replaced by numbers. numpy.nan_to_num
CT_API Array nan_to_num(const Array& x, const NanToNumOptions& options = {});
/// Returns x with NaN and infinities replaced by the elements of arrays, which are cast to x's dtype. Throws ShapeError
/// for an array that does not broadcast to x.
CT_API Array nan_to_num(const Array& x, const Operand& nan, const std::optional<Operand>& posinf = {},
                        const std::optional<Operand>& neginf = {});
/// Rounds x to `decimals` decimals, ties to even. Negative decimals round before the point. numpy.around
CT_API Array around(const Array& x, int decimals = 0);
CT_API Array round(const Array& x, int decimals = 0);
/// Rounds x towards zero. numpy.fix
CT_API Array fix(const Array& x);

/// Interpolates linearly (float64) between the points (xp, fp), xp ascending. Outside of them the result is the first
/// or last fp, or `left` and `right`. Throws ShapeError unless xp and fp are 1-d and of equal length, ValueError if
/// they are empty. numpy.interp
CT_API Array interp(const Array& x, const Array& xp, const Array& fp, std::optional<double> left = {},
                    std::optional<double> right = {});

/// Options of cov.
struct CovOptions {
  bool rowvar = true;                  ///< each row is a variable, else each column
  bool bias = false;                   ///< divides by n instead of n - 1
  std::optional<double> ddof = {};     ///< divides by n - ddof and takes precedence over bias
  std::optional<Array> fweights = {};  ///< how often each observation counts: integers
  std::optional<Array> aweights = {};  ///< how much each observation counts
  std::optional<Dtype> dtype = {};     ///< of the computation, by default at least float64
};
/// Computes the covariance matrix of the variables of a 1-d or 2-d m, and of y; 0-d for one variable. Throws ShapeError
/// for more than two axes or a wrong number of weights, DtypeError for fweights that are not integers, ValueError for a
/// ddof that is not a whole number. numpy.cov
CT_API Array cov(const Array& m, const std::optional<Array>& y, const CovOptions& options = {});
inline Array cov(const Array& m, const CovOptions& options = {}) { return cov(m, std::nullopt, options); }
/// Computes the correlation coefficients, within [-1, 1]. numpy.corrcoef
CT_API Array corrcoef(const Array& m, const std::optional<Array>& y = {}, bool rowvar = true,
                      std::optional<Dtype> dtype = {});
inline Array corrcoef(const Array& m, bool rowvar) { return corrcoef(m, std::nullopt, rowvar); }

}  // namespace catenary
