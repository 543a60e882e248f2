#include "catenary/functions/evaluation.h"

#include "catenary/array/elementwise.h"
#include "catenary/autograd/function_node.h"
#include "catenary/core/format.h"

namespace catenary::functions {

namespace {

class Accuracy : public FunctionNode {
 public:
  explicit Accuracy(std::optional<std::int64_t> ignore_label) : ignore_label_(ignore_label) {}
  const char* name() const override { return "Accuracy"; }

 protected:
  Arrays forward(Inputs in) override {
    const Array &y = in[0], &t = in[1];
    if (!is_floating(y.dtype()) || !is_integer(t.dtype()))
      fail<DtypeError>("accuracy: y must be floating and t integer, not {} and {}", y.dtype(), t.dtype());
    if (y.ndim() < 2) fail<ShapeError>("accuracy: y must be (n, classes, …), not {}", y.shape());
    Shape labels = y.shape();
    labels.erase(1);
    if (t.size() != labels.product()) fail<ShapeError>("accuracy: t {} does not fit y {}", t.shape(), y.shape());
    const Array right = y.argmax(1).reshape(t.shape()) == t;
    if (!ignore_label_) return right.astype(y.dtype()).mean();
    const Array counted = t != *ignore_label_;
    const Array total = counted.sum().astype(Dtype::float64);
    return ((right & counted).sum() / catenary::maximum(total, 1.0)).astype(y.dtype());
  }

 private:
  std::optional<std::int64_t> ignore_label_;
};

}  // namespace

Variable accuracy(const Variable& y, const Variable& t, std::optional<std::int64_t> ignore_label) {
  return apply(node<Accuracy>(ignore_label), y, t);
}

}  // namespace catenary::functions
