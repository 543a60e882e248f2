#include "catenary/functions/rows.h"

#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"

namespace catenary::functions::detail {

namespace {

bool are_equal(const Strides& a, const Strides& b, const Shape& shape) {
  for (int i = 0; i < shape.size(); ++i)
    if (shape[i] > 1 && a[i] != b[i]) return false;
  return true;
}

/// Returns a new array with an element for each row along `axis`, in the order of x.
Array empty_of_rows(const Array& x, int axis) {
  Shape shape = x.shape();
  shape[axis] = 1;
  return empty_beside(x, shape, dtype_of_statistics(x));
}

}  // namespace

Dtype dtype_of_statistics(const Array& x) { return promote(x.dtype(), Dtype::float32); }

bool has_gaps(const Array& a) { return !are_equal(a.strides(), strides_like(a), a.shape()); }

Array without_gaps(const Array& a) { return with_strides(a, strides_like(a), a.dtype()); }

Array with_strides(const Array& a, const Strides& strides, Dtype dtype) {
  if (a.dtype() == dtype && are_equal(a.strides(), strides, a.shape())) return a;
  const Array copy = Array::empty(a.shape(), dtype, a.device()).as_strided(a.shape(), strides);
  copyto(copy, a.astype(dtype));
  return copy;
}

bool has_softmax_rows(const Array& x, int axis) {
  return is_floating(x.dtype()) && x.size() > 0 && axis >= -x.ndim() && axis < x.ndim() &&
         has_row_functions(x.device());
}

Array softmax_rows(SoftmaxOp op, const Array& input, int axis) {
  const Array x = without_gaps(input), y = empty_beside(x, x.shape(), x.dtype());
  const View from = readable(x), to = writable(y);
  compute_rows(x.device(),
               SoftmaxRows{.op = op, .axis = normalize_axis(axis, x.ndim(), "softmax"), .x = from, .out = &to});
  return y;
}

Array softmax_rows_back(SoftmaxOp op, const Array& output, const Array& output_gradient, int axis) {
  const Array y = without_gaps(output), gx = empty_beside(y, y.shape(), y.dtype()),
              gy = with_strides(output_gradient, y.strides(), y.dtype());
  const View from = readable(y), gradient = readable(gy), to = writable(gx);
  compute_rows(
      y.device(),
      SoftmaxRows{.op = op, .axis = normalize_axis(axis, y.ndim(), "softmax"), .x = from, .gy = &gradient, .out = &to});
  return gx;
}

CrossEntropyRows cross_entropy_rows(const Array& input, const Array& labels) {
  const Array x = without_gaps(input);
  const CrossEntropyRows rows{empty_of_rows(x, 1), empty_of_rows(x, 1)};
  const Array ordered = with_strides(labels, rows.log_z.strides(), Dtype::int64);
  const View from = readable(x), t = readable(ordered), log_z = writable(rows.log_z), losses = writable(rows.losses);
  compute_rows(
      x.device(),
      SoftmaxRows{
          .op = SoftmaxOp::cross_entropy, .axis = 1, .x = from, .labels = &t, .log_z = &log_z, .losses = &losses});
  return rows;
}

Array cross_entropy_rows_back(const Array& input, const Array& labels, const Array& log_z, const Array& factors) {
  const Array x = without_gaps(input), gx = empty_beside(x, x.shape(), x.dtype()),
              ordered = with_strides(labels, log_z.strides(), Dtype::int64),
              factor = with_strides(factors.broadcast_to(log_z.shape()), log_z.strides(), log_z.dtype());
  const View from = readable(x), t = readable(ordered), of_rows = readable(log_z), scale = readable(factor),
             to = writable(gx);
  compute_rows(x.device(), SoftmaxRows{.op = SoftmaxOp::cross_entropy_back,
                                       .axis = 1,
                                       .x = from,
                                       .out = &to,
                                       .labels = &t,
                                       .log_z = &of_rows,
                                       .factors = &scale});
  return gx;
}

bool has_gelu(const Array& x) {
  return (x.dtype() == Dtype::float32 || is_16bit_float(x.dtype())) && x.size() > 0 && has_row_functions(x.device());
}

Array gelu_rows(const Array& input, const Array& output_gradient) {
  const Array x = without_gaps(input), out = empty_beside(x, x.shape(), x.dtype());
  const Array gy = output_gradient.defined() ? with_strides(output_gradient, x.strides(), x.dtype()) : Array();
  const View from = readable(x), to = writable(out), gradient = gy.defined() ? readable(gy) : View();
  compute_rows(x.device(), GeluElements{.x = from, .gy = gy.defined() ? &gradient : nullptr, .out = &to});
  return out;
}

bool has_recurrent_steps(const Array& x) { return is_floating(x.dtype()) && has_row_functions(x.device()); }

void recurrent_step(RecurrentCell cell, const RecurrentArrays& a) {
  const auto read = [](const Array& x) { return x.defined() ? readable(x) : View(); };
  const auto write = [](const Array& x) { return x.defined() ? writable(x) : View(); };
  const View p = a.gh.defined() ? readable(a.p) : writable(a.p), before = readable(a.before), q = read(a.q),
             h = write(a.h), c = write(a.c), gy = read(a.gy), gh = write(a.gh), gc = write(a.gc), dp = write(a.dp),
             dq = write(a.dq);
  const auto given = [](const Array& x, const View& view) { return x.defined() ? &view : nullptr; };
  compute_rows(a.p.device(), RecurrentStep{.cell = cell,
                                           .p = p,
                                           .before = before,
                                           .q = given(a.q, q),
                                           .h = given(a.h, h),
                                           .c = given(a.c, c),
                                           .gy = given(a.gy, gy),
                                           .gh = given(a.gh, gh),
                                           .gc = given(a.gc, gc),
                                           .dp = given(a.dp, dp),
                                           .dq = given(a.dq, dq)});
}

}  // namespace catenary::functions::detail
