#include "catenary/functions/math_basic.h"

#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

struct Exp : Unary<Exp, keep::y> {
  static constexpr const char* kName = "Exp";
  static Array f(const Array& x) { return catenary::exp(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * y; }
};
struct Expm1 : Unary<Expm1, keep::y> {
  static constexpr const char* kName = "Expm1";
  static Array f(const Array& x) { return catenary::expm1(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy * (y + 1.0); }
};
struct Log1p : Unary<Log1p, keep::x> {
  static constexpr const char* kName = "Log1p";
  static Array f(const Array& x) { return catenary::log1p(as_float(x)); }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy / (x + 1.0); }
};
struct Sqrt : Unary<Sqrt, keep::y> {
  static constexpr const char* kName = "Sqrt";
  static Array f(const Array& x) { return catenary::sqrt(as_float(x)); }
  static auto df(const auto& gy, const auto&, const auto& y) { return gy / (y * 2.0); }
};
struct Square : Unary<Square, keep::x> {
  static constexpr const char* kName = "Square";
  static Array f(const Array& x) { return catenary::square(x); }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy * (x * 2.0); }
};
struct Absolute : Unary<Absolute, keep::x> {
  static constexpr const char* kName = "Absolute";
  std::string label() const override { return "|_|"; }
  static Array f(const Array& x) { return catenary::absolute(x); }
  static auto df(const auto& gy, const auto& x, const auto&) { return gy * catenary::sign(values_of(x)); }
};

/// Swaps the last two axes of a. 1-d arrays stay as they are.
Array swapped(const Array& a) {
  if (a.ndim() < 2) return a;
  Axes axes;
  for (int i = 0; i < a.ndim() - 2; ++i) axes.push_back(i);
  axes.push_back(a.ndim() - 1);
  axes.push_back(a.ndim() - 2);
  return a.transpose(axes);
}

class MatMul : public FunctionNode {
 public:
  MatMul(bool transa, bool transb) : transa_(transa), transb_(transb) {}
  const char* name() const override { return "MatMul"; }
  CT_ATTRIBUTES(transa_, transb_)

 protected:
  Arrays forward(Inputs x) override {
    retain_inputs({0, 1});
    return catenary::matmul(transa_ ? swapped(x[0]) : x[0], transb_ ? swapped(x[1]) : x[1]);
  }
  Variables backward(Targets targets, Grads gys) override {
    // treat vectors as matrices, so that there is a single case: op(a) [m, k], op(b) [k, n]
    Variable a = retained_input(0), b = retained_input(1), gy = gys[0];
    const bool row = a.ndim() == 1, column = b.ndim() == 1;
    if (row) a = reshape(a, {1, a.size()});
    if (column) b = reshape(b, {b.size(), 1});
    const bool ta = transa_ && !row, tb = transb_ && !column;
    if (row || column) {
      Shape shape = gy.shape();
      if (row) shape.insert(shape.size() - (column ? 0 : 1), 1);
      if (column) shape.push_back(1);
      gy = reshape(gy, shape);
    }
    return gradients(targets, [&](int i) {
      // ga = gy op(b)ᵀ, gb = op(a)ᵀ gy, each transposed if the operand was
      const Variable g = i == 0 ? (ta ? matmul(b, gy, tb, true) : matmul(gy, b, false, !tb))
                                : (tb ? matmul(gy, a, true, ta) : matmul(a, gy, !ta, false));
      return cast(reshape(sum_to(g, i == 0 ? a.shape() : b.shape()), input_shape(i)), input_dtype(i));
    });
  }

 private:
  bool transa_, transb_;
};

}  // namespace

Variable exp(const Variable& x) { return apply(node<Exp>(), x); }
Variable expm1(const Variable& x) { return apply(node<Expm1>(), x); }
Variable log1p(const Variable& x) { return apply(node<Log1p>(), x); }
Variable sqrt(const Variable& x) { return apply(node<Sqrt>(), x); }
Variable square(const Variable& x) { return apply(node<Square>(), x); }
Variable absolute(const Variable& x) { return apply(node<Absolute>(), x); }
Variable matmul(const Variable& a, const Variable& b, bool transa, bool transb) {
  return apply(node<MatMul>(transa, transb), a, b);
}

std::span<const Signature> detail::math_basic_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("math.exponential", exp, "x"),
      CT_SIGNATURE("math.exponential", log, "x"),
      CT_SIGNATURE("math.exponential_m1", expm1, "x"),
      CT_SIGNATURE("math.logarithm_1p", log1p, "x"),
      CT_SIGNATURE("math.sqrt", sqrt, "x"),
      CT_SIGNATURE("math.square", square, "x"),
      CT_SIGNATURE("math.basic_math", absolute, "self"),
      CT_SIGNATURE("math.matmul", matmul, "a", "b", otherwise("transa", false), "transb"),
  };
  return all;
}

}  // namespace catenary::functions
