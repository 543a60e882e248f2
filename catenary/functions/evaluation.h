#pragma once
// How good predictions are. These functions have no gradient.

#include <optional>

#include "catenary/autograd/variable.h"

namespace catenary::functions {

/// Fraction of the labels t [n, d…] that are the largest of y [n, classes, d…] (or [n, classes] for t of n elements);
/// labels equal to ignore_label do not count, and 0 where all are ignored. 0-d, of y's dtype. Throws ShapeError and
/// DtypeError. (chainer.functions.accuracy)
CT_API Variable accuracy(const Variable& y, const Variable& t, std::optional<std::int64_t> ignore_label = {});

}  // namespace catenary::functions
