#pragma once
// Differences and running sums of an array with values before or after it. Those without are in reduction.h.

#include <optional>

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

}  // namespace catenary
