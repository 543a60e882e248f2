#include "catenary/functions/math_special.h"

#include <cmath>
#include <numbers>

#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/elementwise.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

constexpr double k2OverSqrtPi = 2 * std::numbers::inv_sqrtpi;

struct Erf : Unary<Erf, keep::x> {
  static constexpr const char* kName = "Erf";
  static Array f(const Array& x) { return catenary::erf(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) {
    return gy * k2OverSqrtPi * exp(-(x * x));
  }
};
struct Erfc : Unary<Erfc, keep::x> {
  static constexpr const char* kName = "Erfc";
  static Array f(const Array& x) { return catenary::erfc(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) {
    return gy * -k2OverSqrtPi * exp(-(x * x));
  }
};
struct Erfcx : Unary<Erfcx, keep::x | keep::y> {
  static constexpr const char* kName = "Erfcx";
  static Array f(const Array& x) { return catenary::erfcx(as_float(x)); }
  static auto df(const auto& gy, const auto& x, const auto& y) { return gy * 2.0 * (x * y - std::numbers::inv_sqrtpi); }
};
struct ErfInv : Unary<ErfInv, keep::y> {
  static constexpr const char* kName = "ErfInv";
  static Array f(const Array& x) { return catenary::erfinv(as_float(x)); }
  static Variable df(const Variable& gy, const Variable&, const Variable& y) { return gy / k2OverSqrtPi * exp(y * y); }
};
struct ErfcInv : Unary<ErfcInv, keep::y> {
  static constexpr const char* kName = "ErfcInv";
  static Array f(const Array& x) { return catenary::erfcinv(as_float(x)); }
  static Variable df(const Variable& gy, const Variable&, const Variable& y) { return gy / -k2OverSqrtPi * exp(y * y); }
};
struct Ndtr : Unary<Ndtr, keep::x> {
  static constexpr const char* kName = "Ndtr";
  static Array f(const Array& x) { return catenary::ndtr(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) {
    return gy / std::sqrt(2 * std::numbers::pi) * exp(x * x * -0.5);
  }
};
struct Ndtri : Unary<Ndtri, keep::y> {
  static constexpr const char* kName = "Ndtri";
  static Array f(const Array& x) { return catenary::ndtri(as_float(x)); }
  static Variable df(const Variable& gy, const Variable&, const Variable& y) {
    return gy * std::sqrt(2 * std::numbers::pi) * exp(y * y * 0.5);
  }
};
struct LogNdtr : Unary<LogNdtr, keep::x> {
  static constexpr const char* kName = "LogNdtr";
  std::string label() const override { return "log_ndtr"; }
  static Array f(const Array& x) { return catenary::log_ndtr(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) {
    return gy * std::sqrt(2 / std::numbers::pi) / erfcx(x / -std::numbers::sqrt2);
  }
};
struct LGamma : Unary<LGamma, keep::x> {
  static constexpr const char* kName = "LGamma";
  static Array f(const Array& x) { return catenary::lgamma(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * digamma(x); }
};
struct DiGamma : Unary<DiGamma, keep::x> {
  static constexpr const char* kName = "DiGamma";
  static Array f(const Array& x) { return catenary::digamma(as_float(x)); }
  static Variable df(const Variable& gy, const Variable& x, const Variable&) { return gy * polygamma(1, x); }
};
struct PolyGamma : Unary<PolyGamma, keep::x> {
  explicit PolyGamma(const Array& n) : n(n) {}
  static constexpr const char* kName = "PolyGamma";
  CT_ATTRIBUTES(n)
  Array f(const Array& input) {
    const Array x = as_float(input);
    return catenary::polygamma(n.astype(x.dtype()), x);
  }
  Variable df(const Variable& gy, const Variable& x, const Variable&) {
    return sum_to(gy * polygamma(n + 1, x), x.shape());
  }
  Array n;
};
struct Zeta : Unary<Zeta, keep::x> {
  explicit Zeta(double s) : s(s) {}
  static constexpr const char* kName = "Zeta";
  CT_ATTRIBUTES(s)
  Array f(const Array& q) { return catenary::zeta(s, as_float(q)); }
  Variable df(const Variable& gy, const Variable& q, const Variable&) { return gy * -s * zeta(s + 1, q); }
  double s;
};

}  // namespace

Variable erf(const Variable& x) { return apply(node<Erf>(), x); }
Variable erfc(const Variable& x) { return apply(node<Erfc>(), x); }
Variable erfcx(const Variable& x) { return apply(node<Erfcx>(), x); }
Variable erfinv(const Variable& x) { return apply(node<ErfInv>(), x); }
Variable erfcinv(const Variable& x) { return apply(node<ErfcInv>(), x); }
Variable ndtr(const Variable& x) { return apply(node<Ndtr>(), x); }
Variable ndtri(const Variable& x) { return apply(node<Ndtri>(), x); }
Variable log_ndtr(const Variable& x) { return apply(node<LogNdtr>(), x); }
Variable lgamma(const Variable& x) { return apply(node<LGamma>(), x); }
Variable digamma(const Variable& x) { return apply(node<DiGamma>(), x); }
Variable polygamma(const Variable& n, const Variable& x) {
  CT_DEFINED(n, x);
  return apply(node<PolyGamma>(n.array()), x);
}
Variable polygamma(std::int64_t n, const Variable& x) {
  CT_DEFINED(x);
  const Array order = Array::empty({}, Dtype::int64, x.device());
  order.fill(n);
  return polygamma(order, x);
}
Variable zeta(double x, const Variable& q) { return apply(node<Zeta>(x), q); }

std::span<const Signature> detail::math_special_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("math.erf", erf, "x"),
      CT_SIGNATURE("math.erfc", erfc, "x"),
      CT_SIGNATURE("math.erfcx", erfcx, "x"),
      CT_SIGNATURE("math.erfinv", erfinv, "x"),
      CT_SIGNATURE("math.erfcinv", erfcinv, "x"),
      CT_SIGNATURE("math.ndtr", ndtr, "x"),
      CT_SIGNATURE("math.ndtri", ndtri, "x"),
      CT_SIGNATURE("math.log_ndtr", log_ndtr, "x"),
      CT_SIGNATURE("math.lgamma", lgamma, "x"),
      CT_SIGNATURE("math.digamma", digamma, "x"),
      signature_of(
          "chainer.functions.math.polygamma.polygamma",
          [](const Variable& n, const Variable& x) { return polygamma(n, x); }, labels("n"), "x"),
      CT_SIGNATURE("math.zeta", zeta, "x", "q"),
  };
  return all;
}

}  // namespace catenary::functions
