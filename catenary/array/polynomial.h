#pragma once
// Polynomials, and discrete convolution, which multiplies them. Names are NumPy's.

#include <optional>
#include <string>

#include "catenary/array/array.h"

namespace catenary {

/// Computes the discrete convolution of two 1-d arrays (a 0-d array counts as one element). Mode "full" returns all
/// positions where they overlap, "same" as many from the middle as the longer array has, "valid" the positions of
/// complete overlap. Throws ValueError for an empty array or another mode. numpy.convolve
CT_API Array convolve(const Array& a, const Array& v, const std::string& mode = "full");
/// Computes the cross-correlation: sums of a[n + k] v[n]. Modes and errors are as in convolve. numpy.correlate
CT_API Array correlate(const Array& a, const Array& v, const std::string& mode = "valid");

/// Evaluates the polynomial with the coefficients p (1-d, the highest power first) at x. numpy.polyval
CT_API Array polyval(const Array& p, const Operand& x);

/// Options of polyfit.
struct PolyfitOptions {
  std::optional<double> rcond = {};  ///< as in lstsq; default: the number of points times the dtype's epsilon
  std::optional<Array> w = {};       ///< weights of the distances: 1-d, one for each point
  /// Whether the covariance of the coefficients is computed: scaled by the residuals, or unscaled.
  enum class Cov { no, scaled, unscaled } cov = Cov::no;
};
/// The result of polyfit.
struct PolyfitResult {
  Array coefficients;  ///< the highest power first: [deg + 1] or [deg + 1, columns of y]
  Array residuals;     ///< as in lstsq
  std::int64_t rank = 0;
  Array singular_values;
  double rcond = 0;
  Array covariance;  ///< if requested: [deg + 1, deg + 1] or [deg + 1, deg + 1, columns of y]
};
/// Fits a polynomial of degree deg to the points (x, y) by least squares. x is 1-d, y has the same length, or is 2-d
/// with one polynomial for each column. Throws ValueError for a negative degree, no points, or too few for a scaled
/// covariance, and ShapeError if the lengths differ. numpy.polyfit
CT_API Array polyfit(const Array& x, const Array& y, int deg);
CT_API PolyfitResult polyfit(const Array& x, const Array& y, int deg, const PolyfitOptions& options);

}  // namespace catenary
