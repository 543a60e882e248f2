#include "catenary/functions/connection.h"

#include "catenary/array/linalg.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/core/format.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

class LinearFunction : public FunctionNode {
 public:
  const char* name() const override { return "LinearFunction"; }
  CT_ATTRIBUTES()

 protected:
  Arrays forward(Inputs in) override {
    const Array &x = in[0], &W = in[1];
    check(in);
    retain_inputs({0, 1});
    const Device device = x.device();
    if (W.device() != device || (in.size() == 3 && in[2].device() != device))
      fail<DeviceError>("linear: x is on {}, W on {}", device.name(), W.device().name());
    return catenary::matmul(x, W.T(), {.bias = in.size() == 3 ? std::optional(in[2]) : std::nullopt});
  }
  Variables backward(Targets targets, Grads gys) override {
    const Variable& gy = gys[0];
    return gradients(targets, [&](int i) {
      if (i == 0) return matmul(gy, retained_input(1));
      if (i == 1) return matmul(gy, retained_input(0), true);
      return sum(gy, 0);
    });
  }

 private:
  static void check(Inputs in) {
    const Array &x = in[0], &W = in[1];
    if (W.ndim() != 2 || x.shape(1) != W.shape(1))
      fail<ShapeError>("linear: x {} does not fit W {}, which must be (out, {})", x.shape(), W.shape(), x.shape(1));
    if (x.dtype() != W.dtype() || !is_floating(x.dtype()))
      fail<DtypeError>("linear: x and W must have one floating dtype, not {} and {}", x.dtype(), W.dtype());
    if (in.size() == 2) return;
    if (in[2].shape() != Shape{W.shape(0)})
      fail<ShapeError>("linear: b must be ({},) to fit W {}, not {}", W.shape(0), W.shape(), in[2].shape());
    if (in[2].dtype() != x.dtype()) fail<DtypeError>("linear: b must be {} as x, not {}", x.dtype(), in[2].dtype());
  }
};

template <class... B>
Variable linear_of(const Variable& x, const Variable& W, int given, const B&... b) {
  const int n_batch_axes = given < 0 ? given + x.ndim() : given;
  if (x.ndim() < 2) fail<ShapeError>("linear: x must have at least 2 axes (batch, inputs), not {}", x.shape());
  if (n_batch_axes < 1 || n_batch_axes >= x.ndim())
    fail<ValueError>(
        "linear: n_batch_axes must be at least 1 and less than x's {} axes (or negative: -1 for all but the last), not "
        "{}",
        x.ndim(), given);
  if (x.ndim() == 2) return apply(node<LinearFunction>(), x, W, b...);
  Shape batch(x.shape().data(), n_batch_axes);
  const std::int64_t rows = batch.product();
  std::int64_t columns = 1;
  for (int i = n_batch_axes; i < x.ndim(); ++i) columns *= x.shape(i);
  if (W.ndim() == 2 && W.shape(1) != columns && W.shape(1) == x.shape(x.ndim() - 1))
    fail<ShapeError>(
        "linear: x {} has {} inputs after n_batch_axes = {}, but W {} takes {}, which is the size of x's last axis. "
        "With n_batch_axes = -1 only that axis is the input",
        x.shape(), columns, given, W.shape(), W.shape(1));
  const Variable y = apply(node<LinearFunction>(), reshape(x, {rows, columns}), W, b...);
  if (n_batch_axes == 1) return y;
  batch.push_back(y.shape(1));
  return reshape(y, batch);
}

}  // namespace

Variable linear(const Variable& x, const Variable& W, int n_batch_axes) {
  CT_DEFINED(x, W);
  return linear_of(x, W, n_batch_axes);
}
Variable linear(const Variable& x, const Variable& W, const Variable& b, int n_batch_axes) {
  CT_DEFINED(x, W, b);
  return linear_of(x, W, n_batch_axes, b);
}

std::span<const Signature> detail::connection_signatures() {
  static const Signature all[] = {
      signature_of(
          "chainer.functions.connection.linear.linear",
          [](const Variable& x, const Variable& W, const std::optional<Variable>& b, int n_batch_axes) {
            if (n_batch_axes < 1) fail<ValueError>("linear: n_batch_axes must be at least 1, not {}", n_batch_axes);
            return b ? linear(x, W, *b, n_batch_axes) : linear(x, W, n_batch_axes);
          },
          "x", "W", otherwise("b", std::nullopt), otherwise("n_batch_axes", 1)),
  };
  return all;
}

}  // namespace catenary::functions
