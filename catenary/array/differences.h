#pragma once
// Differences and running sums of an array with values before or after it. Those without are in reduction.h.

#include <numbers>
#include <optional>
#include <vector>

#include "catenary/array/array.h"

namespace catenary {

/// The n-th difference of neighbours along `axis`, as diff, where `prepend` and `append` stand before and after x:
/// arrays, or numbers, each of which counts as a row. numpy.diff
CT_API Array diff(const Array& x, int n, int axis, const std::optional<Operand>& prepend,
                  const std::optional<Operand>& append = {});
/// Running sum along `axis`, which an array of one axis or none may leave out; with include_initial after a 0. Throws
/// ValueError where the axis is missing. numpy.cumulative_sum
CT_API Array cumulative_sum(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {},
                            bool include_initial = false);
/// Running product, as cumulative_sum; with include_initial after a 1. numpy.cumulative_prod
CT_API Array cumulative_prod(const Array& x, const std::optional<int>& axis = {}, std::optional<Dtype> dtype = {},
                             bool include_initial = false);

/// The derivative along each of the axes: central differences, and at both ends one-sided ones of first or second order
/// (edge_order). `spacing` has one array for all axes or one for each: 0-d, the distance of neighbours, or 1-d, the
/// positions of the elements; without one it is 1. Integers give float64. Throws ShapeError where an axis has not more
/// than edge_order elements, or as many positions as elements. numpy.gradient
CT_API std::vector<Array> gradient(const Array& f, const std::vector<Array>& spacing = {}, const AxisArg& axis = {},
                                   int edge_order = 1);
/// p with whole periods added along `axis`, so that no step from one element to the next is greater than the larger of
/// `discont` and half a period; without `discont` that is half a period. The period is a number. numpy.unwrap
CT_API Array unwrap(const Array& p, const std::optional<double>& discont = {}, int axis = -1,
                    const Operand& period = 2 * std::numbers::pi);

}  // namespace catenary
