#pragma once
// Private to functions/: normalisation by loops over rows on devices that have them (device/row_functions.h).

#include <array>
#include <optional>

#include "catenary/array/array.h"
#include "catenary/device/row_functions.h"

namespace catenary::functions::detail {

/// Returns the groups if x's device has loops for these reduced axes and this shape of gamma, which has x's number of
/// axes.
std::optional<RowGroups> row_groups(const Array& x, const Axes& axes, const Shape& gamma);

struct StandardizedRows {
  Array y, mean, var, inv_std;  ///< statistics have reduced axes of length 1
};
StandardizedRows standardize_rows(const RowGroups& groups, const Array& x, const Array& gamma, const Array& beta,
                                  const Axes& axes, double eps);
/// Returns the gradients of x, gamma and beta, the last two in the dtype of statistics.
std::array<Array, 3> standardize_rows_back(const RowGroups& groups, const Array& x, const Array& gy, const Array& gamma,
                                           const Array& mean, const Array& inv_std);

}  // namespace catenary::functions::detail
