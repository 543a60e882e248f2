// Entries of mathematical functions.

#include "catenary/functions/math_basic.h"
#include "catenary/functions/math_elementwise.h"
#include "catenary/functions/math_matrix.h"
#include "catenary/functions/math_reduction.h"
#include "catenary/functions/math_special.h"
#include "chainer_functions.h"

namespace reference {

namespace F = catenary::functions;

namespace {

void add_elementwise(FunctionTable& table) {
  table.unary("exp", F::exp);
  table.unary("expm1", F::expm1);
  table.unary("log", F::log);
  table.unary("log2", F::log2);
  table.unary("log10", F::log10);
  table.unary("log1p", F::log1p);
  table.unary("sqrt", F::sqrt);
  table.unary("rsqrt", F::rsqrt);
  table.unary("square", F::square);
  table.unary("absolute", F::absolute);
  table.unary("sin", F::sin);
  table.unary("cos", F::cos);
  table.unary("tan", F::tan);
  table.unary("arcsin", F::arcsin);
  table.unary("arccos", F::arccos);
  table.unary("arctan", F::arctan);
  table.binary("arctan2", F::arctan2);
  table.unary("sinh", F::sinh);
  table.unary("cosh", F::cosh);
  table.unary("arctanh", F::arctanh);
  table.unary("sign", F::sign);
  table.unary("ceil", F::ceil);
  table.unary("floor", F::floor);
  table.unary("fix", F::fix);
  table.binary("maximum", F::maximum);
  table.binary("minimum", F::minimum);
  table.binary("fmod", F::fmod);
  table.add("add", [](const Inputs& x) { return F::add(x); });
  table.add("clip", [](const Inputs& x, Keywords& k) {
    return F::clip(x[0], k.value<std::optional<double>>("x_min"), k.value<std::optional<double>>("x_max"));
  });
  table.add("linear_interpolate", [](const Inputs& x) { return F::linear_interpolate(x[0], x[1], x[2]); });
  table.add("bias", [](const Inputs& x, Keywords& k) { return F::bias(x[0], x[1], k.integer("axis", 1)); });
  table.add("scale", [](const Inputs& x, Keywords& k) { return F::scale(x[0], x[1], k.integer("axis", 1)); });
}

void add_special(FunctionTable& table) {
  table.unary("erf", F::erf);
  table.unary("erfc", F::erfc);
  table.unary("erfcx", F::erfcx);
  table.unary("erfinv", F::erfinv);
  table.unary("erfcinv", F::erfcinv);
  table.unary("ndtr", F::ndtr);
  table.unary("ndtri", F::ndtri);
  table.unary("log_ndtr", F::log_ndtr);
  table.unary("lgamma", F::lgamma);
  table.unary("digamma", F::digamma);
  table.add("polygamma", [](const Inputs& x) { return F::polygamma(x[0], x[1]); });
}

/// A function along an axis, or of the flattened input.
template <class F>
void add_along_axis(FunctionTable& table, const std::string& name, F f) {
  table.add(name, [f](const Inputs& x, Keywords& k) { return f(x[0], k.value<std::optional<int>>("axis")); });
}

template <class F>
void add_reduction(FunctionTable& table, const std::string& name, F f) {
  table.add(name, [f](const Inputs& x, Keywords& k) { return f(x[0], k.axis(), k.flag("keepdims")); });
}

void add_reductions(FunctionTable& table) {
  add_reduction(table, "sum", F::sum);
  add_reduction(table, "mean", F::mean);
  add_reduction(table, "prod", F::prod);
  add_reduction(table, "max", F::max);
  add_reduction(table, "min", F::min);
  table.add("average", [](const Inputs& x, Keywords& k) {
    return F::average(x[0], k.axis(), x.size() > 1 ? x[1] : Variable(), k.flag("keepdims"));
  });
  table.add("logsumexp", [](const Inputs& x, Keywords& k) { return F::logsumexp(x[0], k.axis()); });
  add_along_axis(table, "argmax", F::argmax);
  add_along_axis(table, "argmin", F::argmin);
  add_along_axis(table, "cumsum", F::cumsum);
  add_along_axis(table, "cumprod", F::cumprod);
  table.unary("batch_l2_norm_squared", F::batch_l2_norm_squared);
}

void add_matrices(FunctionTable& table) {
  table.add("matmul",
            [](const Inputs& x, Keywords& k) { return F::matmul(x[0], x[1], k.flag("transa"), k.flag("transb")); });
  table.add("batch_matmul", [](const Inputs& x, Keywords& k) {
    return F::batch_matmul(x[0], x[1], k.flag("transa"), k.flag("transb"));
  });
  table.add("tensordot", [](const Inputs& x, Keywords& k) {
    const json& axes = k.get("axes");
    if (axes.is_null()) return F::tensordot(x[0], x[1]);
    if (axes.is_number_integer()) return F::tensordot(x[0], x[1], axes.get<int>());
    if (!axes.is_array() || axes.size() != 2 || !axes[0].is_array()) throw NotImplemented("axes = " + axes.dump());
    return F::tensordot(x[0], x[1], axes[0].get<std::vector<std::int64_t>>(), axes[1].get<std::vector<std::int64_t>>());
  });
  table.unary("inv", F::inv);
  table.unary("batch_inv", F::batch_inv);
  table.unary("det", F::det);
  table.unary("batch_det", F::batch_det);
  table.unary("cholesky", F::cholesky);
}

}  // namespace

void add_math_functions(FunctionTable& table) {
  add_elementwise(table);
  add_special(table);
  add_reductions(table);
  add_matrices(table);
}

}  // namespace reference
