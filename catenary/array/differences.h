#pragma once
// Differences and running sums with values before or after the array. reduction.h has the simpler overloads.

#include <numbers>
#include <optional>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// Computes the n-th difference of neighbours along `axis`, as diff, after joining `prepend` before x and `append`
/// after it. Each may be an array or a number, which counts as one element along the axis. numpy.diff
CT_API Array diff(const Array& x, int n, int axis, const std::optional<Operand>& prepend,
                  const std::optional<Operand>& append = {});
/// Computes the running sum along `axis`, which is optional for arrays of at most one dimension. include_initial puts a
/// 0 before it. Throws ValueError if the axis is missing. numpy.cumulative_sum
CT_API Array cumulative_sum(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {},
                            bool include_initial = false);
/// Computes the running product, as cumulative_sum. include_initial puts a 1 before it. numpy.cumulative_prod
CT_API Array cumulative_prod(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {},
                             bool include_initial = false);

/// Computes the derivative along each of the axes: central differences inside, and one-sided differences of first or
/// second order (edge_order) at both ends. `spacing` is one array for all axes or one for each: a 0-d array is the
/// distance of neighbours, a 1-d array has the positions of the elements; the default is a distance of 1. Integers give
/// float64. Throws ShapeError if an axis has at most edge_order elements, or if positions and elements differ in
/// number. numpy.gradient
CT_API std::vector<Array> gradient(const Array& f, const std::vector<Array>& spacing = {}, const AxisArg& axis = {},
                                   int edge_order = 1);
/// Adds whole periods to p along `axis` until no step between neighbours exceeds max(`discont`, half a period).
/// `discont` defaults to half a period. The period is a number. numpy.unwrap
CT_API Array unwrap(const Array& p, const std::optional<double>& discont = {}, int axis = -1,
                    const Operand& period = 2 * std::numbers::pi);

}  // namespace catenary
