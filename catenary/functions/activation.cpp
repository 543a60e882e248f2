#include "catenary/functions/activation.h"

#include "catenary/array/elementwise.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/functions/math_basic.h"

namespace catenary::functions {

namespace {

struct ReLU : Unary<ReLU, keep::y> {
  static constexpr const char* kName = "ReLU";
  static Array f(const Array& x) { return catenary::relu(x); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * (values_of(y) > 0); }
};
struct Sigmoid : Unary<Sigmoid, keep::y> {
  static constexpr const char* kName = "Sigmoid";
  static Array f(const Array& x) { return catenary::sigmoid(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * y * (1.0 - y); }
};
struct Tanh : Unary<Tanh, keep::y> {
  static constexpr const char* kName = "Tanh";
  static Array f(const Array& x) { return catenary::tanh(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * (1.0 - y * y); }
};

struct Softmax : Unary<Softmax, keep::y> {
  explicit Softmax(int axis) : axis(axis) {}
  static constexpr const char* kName = "Softmax";
  Array f(const Array& input) {
    const Array x = as_float(input);
    const Array e = catenary::exp(x - x.max(axis, true));
    return e / e.sum(axis, true);
  }
  Variable df(const Variable& gy, const Variable&, const Variable& y) {
    const Variable p = gy * y;
    return p - y * sum(p, axis, true);
  }
  int axis;
};
struct LogSoftmax : Unary<LogSoftmax, keep::y> {
  explicit LogSoftmax(int axis) : axis(axis) {}
  static constexpr const char* kName = "LogSoftmax";
  Array f(const Array& input) {
    const Array x = as_float(input);
    const Array shifted = x - x.max(axis, true);
    return shifted - catenary::log(catenary::exp(shifted).sum(axis, true));
  }
  Variable df(const Variable& gy, const Variable&, const Variable& y) { return gy - exp(y) * sum(gy, axis, true); }
  int axis;
};

}  // namespace

Variable relu(const Variable& x) { return apply(node<ReLU>(), x); }
Variable sigmoid(const Variable& x) { return apply(node<Sigmoid>(), x); }
Variable tanh(const Variable& x) { return apply(node<Tanh>(), x); }
Variable softmax(const Variable& x, int axis) { return apply(node<Softmax>(axis), x); }
Variable log_softmax(const Variable& x, int axis) { return apply(node<LogSoftmax>(axis), x); }

}  // namespace catenary::functions
