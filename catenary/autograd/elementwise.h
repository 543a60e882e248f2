#pragma once
// Short forms of elementwise functions: one expression forward, one formula for each gradient.
//
//   struct Tanh : Unary<Tanh, keep::y> {
//     static constexpr const char* kName = "Tanh";
//     static Array f(const Array& x) { return catenary::tanh(as_float(x)); }
//     static auto df(const auto& gy, const auto&, const auto& y) { return gy * (1.0 - y * y); }
//   };
//   Variable tanh(const Variable& x) { return apply(node<Tanh>(), x); }
//
// `keep` lists the values that the gradients use: the input x (or x0, x1) and the output y. Values that are not listed
// are freed after the forward pass, and the gradients receive them undefined.
//
// A formula with `auto` parameters runs on plain arrays unless the gradient itself is differentiated, so it may use
// operators only. A formula that calls other functions takes `const Variable&`. Binary sums the gradients over
// broadcast axes and casts them to the inputs' dtypes.

#include <concepts>

#include "catenary/autograd/attributes.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"

namespace catenary {

namespace keep {
/// Values that the gradients of Unary and Binary use. x and x0 are both the first input.
inline constexpr unsigned nothing = 0, x = 1, x0 = 1, x1 = 2, y = 4;
}  // namespace keep

/// Returns the plain array of a formula's argument, for factors without a gradient: `gy * (values_of(y) > 0)`.
inline const Array& values_of(const Array& a) { return a; }
inline const Array& values_of(const Variable& v) { return v.array(); }

namespace detail {
/// True if a function has no members, so that it needs no CT_ATTRIBUTES.
template <class F, class Base>
inline constexpr bool has_no_members = sizeof(F) == sizeof(Base);
template <class F, class Base>
Ref<FunctionNode> again() {
  if constexpr (has_no_members<F, Base> && std::default_initializable<F>) return Ref<FunctionNode>(new F());
  return {};
}
}  // namespace detail

/// y = f(x) for each element.
template <class F, unsigned kept>
class Unary : public FunctionNode {
 public:
  const char* name() const override { return F::kName; }
  bool visit_attributes(AttributeVisitor&) const override { return detail::has_no_members<F, Unary>; }
  Ref<FunctionNode> again() const override { return detail::again<F, Unary>(); }

 protected:
  Arrays forward(Inputs x) override {
    if constexpr (kept & keep::x) retain_inputs({0});
    if constexpr (kept & keep::y) retain_outputs({0});
    return self().f(x[0]);
  }
  Variables backward(Targets, Grads gys) override {
    const Variable& gy = gys[0];
    if constexpr (std::same_as<Array, decltype(self().df(gy.array(), Array(), Array()))>) {
      if (!config.enable_backprop)
        return Variable(self().df(gy.array(), kept & keep::x ? input(0).data() : Array(),
                                  kept & keep::y ? retained_output_array(0) : Array()),
                        false);
    }
    return Variable(self().df(gy, kept & keep::x ? retained_input(0) : Variable(),
                              kept & keep::y ? retained_output(0) : Variable()));
  }

 private:
  F& self() { return static_cast<F&>(*this); }
};

/// y = f(x0, x1) for each pair of elements, with broadcasting. df0 and df1 are the gradients: (gy, x0, x1, y).
template <class F, unsigned kept>
class Binary : public FunctionNode {
 public:
  const char* name() const override { return F::kName; }
  bool visit_attributes(AttributeVisitor&) const override { return detail::has_no_members<F, Binary>; }
  Ref<FunctionNode> again() const override { return detail::again<F, Binary>(); }

 protected:
  Arrays forward(Inputs x) override {
    if constexpr ((kept & 3) == 3) retain_inputs({0, 1});
    if constexpr ((kept & 3) == 1) retain_inputs({0});
    if constexpr ((kept & 3) == 2) retain_inputs({1});
    if constexpr (kept & keep::y) retain_outputs({0});
    return self().f(x[0], x[1]);
  }
  Variables backward(Targets targets, Grads gys) override {
    const Variable& gy = gys[0];
    if constexpr (std::same_as<Array, decltype(self().df0(gy.array(), Array(), Array(), Array()))> &&
                  std::same_as<Array, decltype(self().df1(gy.array(), Array(), Array(), Array()))>) {
      if (!config.enable_backprop) {
        const Array a = kept & keep::x0 ? input(0).data() : Array(), b = kept & keep::x1 ? input(1).data() : Array(),
                    y = kept & keep::y ? retained_output_array(0) : Array();
        return gradients(targets, [&](int i) {
          const Array g = i == 0 ? self().df0(gy.array(), a, b, y) : self().df1(gy.array(), a, b, y);
          return Variable(functions::as_dtype(functions::array_sum_to(g, input_shape(i)), input_dtype(i)), false);
        });
      }
    }
    const Variable a = kept & keep::x0 ? retained_input(0) : Variable(),
                   b = kept & keep::x1 ? retained_input(1) : Variable(),
                   y = kept & keep::y ? retained_output(0) : Variable();
    return gradients(targets, [&](int i) {
      const Variable g = i == 0 ? Variable(self().df0(gy, a, b, y)) : Variable(self().df1(gy, a, b, y));
      return functions::cast(functions::sum_to(g, input_shape(i)), input_dtype(i));
    });
  }

 private:
  F& self() { return static_cast<F&>(*this); }
};

}  // namespace catenary
