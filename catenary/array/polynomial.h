#pragma once
// Polynomials, and discrete convolution, which multiplies them. NumPy's names.

#include <optional>
#include <string>

#include "catenary/array/array.h"

namespace catenary {

/// The discrete convolution of two 1-d arrays (a 0-d one is one of an element). Mode "full" gives every place where
/// they overlap, "same" as many from the middle as the longer one has, "valid" those where they overlap completely.
/// Throws ValueError for an empty array or another mode. numpy.convolve
CT_API Array convolve(const Array& a, const Array& v, const std::string& mode = "full");
/// The cross-correlation: the sums of a[n + k] v[n]. Modes and errors as convolve. numpy.correlate
CT_API Array correlate(const Array& a, const Array& v, const std::string& mode = "valid");

/// The polynomial with the coefficients p (1-d, the highest power first) at x. numpy.polyval
CT_API Array polyval(const Array& p, const Operand& x);

/// Options of polyfit.
struct PolyfitOptions {
  std::optional<double> rcond = {};  ///< as lstsq's; the number of points times the dtype's epsilon when not given
  std::optional<Array> w = {};       ///< weights of the distances: 1-d, one for each point
  /// Whether the covariance of the coefficients is computed: scaled by the residuals, or as it is.
  enum class Cov { no, scaled, unscaled } cov = Cov::no;
};
/// What polyfit gives.
struct PolyfitResult {
  Array coefficients;  ///< the highest power first: [deg + 1] or [deg + 1, columns of y]
  Array residuals;     ///< as lstsq's
  std::int64_t rank = 0;
  Array singular_values;
  double rcond = 0;
  Array covariance;  ///< where it was asked for: [deg + 1, deg + 1] or [deg + 1, deg + 1, columns of y]
};
/// The polynomial of degree deg with the least sum of squared distances to the points (x, y): x is 1-d, y as long, or
/// 2-d with one polynomial for each column. Throws ValueError for a negative degree, no points, or too few for a scaled
/// covariance, and ShapeError where the lengths differ. numpy.polyfit
CT_API Array polyfit(const Array& x, const Array& y, int deg);
CT_API PolyfitResult polyfit(const Array& x, const Array& y, int deg, const PolyfitOptions& options);

}  // namespace catenary
