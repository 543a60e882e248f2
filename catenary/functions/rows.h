#pragma once
// Private to functions/: functions of rows on devices that have loops for them (device/row_functions.h).

#include "catenary/array/array.h"
#include "catenary/device/row_functions.h"

namespace catenary::functions::detail {

/// Returns whether x's device computes softmax functions of x along this axis, which need not exist.
bool has_softmax_rows(const Array& x, int axis);
/// Computes softmax or log_softmax.
Array softmax_rows(SoftmaxOp op, const Array& x, int axis);
/// Computes the gradient of x from y, for softmax_back or log_softmax_back.
Array softmax_rows_back(SoftmaxOp op, const Array& y, const Array& gy, int axis);

/// Statistics of a cross entropy along axis 1, of shape [n, 1, d…].
struct CrossEntropyRows {
  Array log_z, losses;
};
/// `labels` are int64 of that shape, negative where ignored.
CrossEntropyRows cross_entropy_rows(const Array& x, const Array& labels);
/// Computes the gradient of x. `factors` broadcast to the statistics' shape.
Array cross_entropy_rows_back(const Array& x, const Array& labels, const Array& log_z, const Array& factors);

/// Returns whether x's device has a loop for GELU of x.
bool has_gelu(const Array& x);
/// Computes GELU, or its gradient if gy is defined.
Array gelu_rows(const Array& x, const Array& gy = {});

/// Arrays of a step of a recurrent layer, as in RecurrentStep. An undefined array is not given.
struct RecurrentArrays {
  Array p, before, q = {}, h = {}, c = {}, gy = {}, gh = {}, gc = {}, dp = {}, dq = {};
};
/// Returns whether the device has loops for the cells of recurrent layers.
bool has_recurrent_steps(const Array& x);
void recurrent_step(RecurrentCell cell, const RecurrentArrays& arrays);

/// Returns the dtype of x's statistics: float32 for 16-bit floats, or else x's.
Dtype dtype_of_statistics(const Array& x);
/// Returns whether the elements, in the order of their axes in memory, are not adjacent.
bool has_gaps(const Array& a);
/// Returns the array, or a copy with its axes in the same order if there are gaps between its elements.
Array without_gaps(const Array& a);
/// Returns the array as a dtype and with these strides, in which the axes with one element do not count.
Array with_strides(const Array& a, const Strides& strides, Dtype dtype);

}  // namespace catenary::functions::detail
