// Chainer's functions that the library implements, with Chainer's argument names: activation and math, and the list of
// all rows.

#include "rows.h"

#include <algorithm>
#include <deque>
#include <stdexcept>

#include "catenary/array/body.h"
#include "catenary/functions/functions.h"

namespace catenary_python {

std::optional<Array> unshared(const nb::object& array) {
  Array a;
  if (!array_over(array.ptr(), a) || !a.body().storage) return {};
  a.body().storage->exported.store(false, std::memory_order_relaxed);
  return a;
}
Variable deprecated(const Variable& y, const char* warning) {
  if (y.defined() && PyErr_WarnEx(PyExc_DeprecationWarning, warning, 1) != 0) raise_set();
  return y;
}

namespace {

namespace F = ct::functions;

Variable leaky_relu(Floats x, std::optional<double> slope) { return F::leaky_relu(x.v, slope.value_or(0.2)); }
Variable elu(Floats x, std::optional<double> alpha) { return F::elu(x.v, alpha.value_or(1.0)); }
Variable clipped_relu(Floats x, std::optional<double> z) { return F::clipped_relu(x.v, z.value_or(20.0)); }
Variable softmax(Floats x, std::optional<int> axis) { return F::softmax(x.v, axis.value_or(1)); }
Variable log_softmax(Floats x, std::optional<int> axis) { return F::log_softmax(x.v, axis.value_or(1)); }
Variable sum(Floats x, std::optional<ct::Dims> axis, std::optional<bool> keepdims) {
  return F::sum(x.v, axes_of(axis), keepdims.value_or(false));
}
Variable matmul(Floats a, Floats b, std::optional<bool> transa, std::optional<bool> transb) {
  if (!of_one_dtype(a.v, b.v)) return {};
  return F::matmul(a.v, b.v, transa.value_or(false), transb.value_or(false));
}
template <Variable (*f)(const Variable&, const std::optional<int>&)>
Variable along(Floats x, std::optional<int> axis) {
  return f(x.v, axis);
}
template <Variable (*f)(const Variable&, const ct::AxisArg&, bool)>
Variable over_axes(Floats x, std::optional<ct::Dims> axis, std::optional<bool> keepdims) {
  return f(x.v, axes_of(axis), keepdims.value_or(false));
}
Variable selu(Floats x, std::optional<double> alpha, std::optional<double> scale) {
  return F::selu(x.v, alpha.value_or(1.6732632423543772), scale.value_or(1.0507009873554805));
}
Variable softplus(Floats x, std::optional<double> beta) { return F::softplus(x.v, beta.value_or(1.0)); }
Variable maxout(Floats x, std::int64_t pool_size, std::optional<int> axis) {
  return F::maxout(x.v, pool_size, axis.value_or(1));
}
Variable crelu(Floats x, std::optional<int> axis) { return F::crelu(x.v, axis.value_or(1)); }
Variable clip(Floats x, std::optional<double> low, std::optional<double> high) {
  return low || high ? F::clip(x.v, low, high) : Variable();
}
Variable scale(Floats x, Floats y, std::optional<int> axis) {
  return of_one_dtype(x.v, y.v) ? F::scale(x.v, y.v, axis.value_or(1)) : Variable();
}
Variable bias(Floats x, Floats y, std::optional<int> axis) {
  return of_one_dtype(x.v, y.v) ? F::bias(x.v, y.v, axis.value_or(1)) : Variable();
}
Variable linear_interpolate(Floats p, Floats x, Floats y) {
  return of_one_dtype(p.v, x.v) && of_one_dtype(x.v, y.v) ? F::linear_interpolate(p.v, x.v, y.v) : Variable();
}
Variable average(Floats x, std::optional<ct::Dims> axis, std::optional<Any> weights, std::optional<bool> keepdims) {
  if (weights) return {};
  return F::average(x.v, axes_of(axis), {}, keepdims.value_or(false));
}
Variable logsumexp(Floats x, std::optional<ct::Dims> axis) { return F::logsumexp(x.v, axes_of(axis)); }
Variable batch_l2_norm_squared(Floats x) { return x.v.ndim() < 2 ? Variable() : F::batch_l2_norm_squared(x.v); }
Variable tensordot(Floats a, Floats b, std::optional<int> axes) {
  return of_one_dtype(a.v, b.v) ? F::tensordot(a.v, b.v, axes.value_or(2)) : Variable();
}

template <Variable (*f)(const Variable&, const std::optional<int>&)>
Variable position(Floats x, std::optional<int> axis) {
  return f(x.v, axis);
}
Variable add(std::vector<Variable> xs) { return xs.size() > 1 && of_one_kind(xs) ? F::add(xs) : Variable(); }
Variable identity(std::vector<Variable> xs) { return xs.size() == 1 ? F::identity(xs[0]) : Variable(); }
/// The subscripts of einsum and its operands.
struct Product {
  std::string subscripts;
  std::vector<Variable> operands;
};
bool read(PyObject* o, Product& to) {
  if (!PyTuple_Check(o) || PyTuple_Size(o) < 2 || !catenary_python::read(PyTuple_GetItem(o, 0), to.subscripts))
    return false;
  const nb::object others = nb::steal(PyTuple_GetSlice(o, 1, PyTuple_Size(o)));
  return catenary_python::read(others.ptr(), to.operands);
}
Variable einsum(Product product) {
  // Chainer does not broadcast there
  if (!chainer_is_own && product.subscripts.find('.') != std::string::npos) return {};
  for (const Variable& v : product.operands)
    if (!of_one_dtype(v, product.operands[0])) return {};
  return F::einsum(product.subscripts, product.operands);
}
template <auto f>
ct::Variables transformed(std::vector<Variable> x) {
  return x.size() == 2 && of_one_kind(x) ? results(f(std::make_pair(x[0], x[1]))) : ct::Variables();
}
Variable polygamma(Any n, Floats x) {
  return ct::is_floating(n.v.dtype()) || n.v.device() != x.v.device() ? Variable() : F::polygamma(n.v, x.v);
}
Variable batch_matmul(Floats a, Floats b, std::optional<bool> transa, std::optional<bool> transb) {
  if (!of_one_dtype(a.v, b.v)) return {};
  return deprecated(F::batch_matmul(a.v, b.v, transa.value_or(false), transb.value_or(false)),
                    "batch_matmul is deprecated. Use matmul instead.");
}
/// An operand of sparse_matmul, sparse (chainer.utils.CooMatrix) or dense.
struct Matrix {
  std::optional<F::CooMatrix> sparse;
  Variable dense;
  Dtype dtype() const { return sparse ? sparse->data.dtype() : dense.dtype(); }
};
bool read(PyObject* o, Matrix& to) {
  static PyObject* const names[] = {PyUnicode_InternFromString("data"), PyUnicode_InternFromString("row"),
                                    PyUnicode_InternFromString("col"), PyUnicode_InternFromString("shape")};
  const nb::object type = nb::module_::import_("chainer.utils").attr("CooMatrix");
  if (PyObject_IsInstance(o, type.ptr()) != 1) {
    Floats x;
    const bool taken = catenary_python::read(o, x);
    to.dense = std::move(x.v);
    return taken;
  }
  nb::object parts[4];
  for (std::size_t i = 0; i < 4; ++i) parts[i] = checked(PyObject_GetAttr(o, names[i]));
  Floats data;
  Any row, col;
  ct::Dims shape;
  if (!catenary_python::read(parts[0].ptr(), data) || !catenary_python::read(parts[1].ptr(), row) ||
      !catenary_python::read(parts[2].ptr(), col) || !catenary_python::read(parts[3].ptr(), shape))
    return false;
  to.sparse.emplace(data.v, row.v.array(), col.v.array(), shape);
  return true;
}
Variable sparse_matmul(Matrix a, Matrix b, std::optional<bool> transa, std::optional<bool> transb) {
  if (a.sparse.has_value() == b.sparse.has_value() || a.dtype() != b.dtype()) return {};
  const bool of_a = transa.value_or(false), of_b = transb.value_or(false);
  return a.sparse ? F::sparse_matmul(*a.sparse, b.dense, of_a, of_b) : F::sparse_matmul(a.dense, *b.sparse, of_a, of_b);
}
Variable zeta(double x, Floats q) { return F::zeta(x, q.v); }
Variable sum_to(Floats x, ct::Dims shape) { return x.v.shape() == shape ? unchanged(x.v) : F::sum_to(x.v, shape); }

/// A function of matrices that computes float16 in float32, as Chainer does. With an installed Chainer its code does
/// it.
template <Variable (*f)(const Variable&)>
Variable of_matrix(Floats a) {
  if (a.v.dtype() != Dtype::float16 || !chainer_is_own) return f(a.v);
  return F::cast(f(F::cast(a.v, Dtype::float32)), Dtype::float16);
}

constexpr Row table[] = {
    {"chainer.functions.activation.relu.relu", {"x"}, 1, call<of_one<F::relu>>},
    {"chainer.functions.activation.leaky_relu.leaky_relu", {"x", "slope"}, 1, call<leaky_relu>},
    {"chainer.functions.activation.elu.elu", {"x", "alpha"}, 1, call<elu>},
    {"chainer.functions.activation.clipped_relu.clipped_relu", {"x", "z"}, 1, call<clipped_relu>},
    {"chainer.functions.activation.sigmoid.sigmoid", {"x"}, 1, call<of_one<F::sigmoid>>},
    {"chainer.functions.activation.tanh.tanh", {"x"}, 1, call<of_one<F::tanh>>},
    {"chainer.functions.activation.softmax.softmax", {"x", "axis"}, 1, call<softmax>},
    {"chainer.functions.activation.log_softmax.log_softmax", {"x", "axis"}, 1, call<log_softmax>},
    {"chainer.functions.math.exponential.exp", {"x"}, 1, call<of_one<F::exp>>},
    {"chainer.functions.math.exponential.log", {"x"}, 1, call<of_one<F::log>>},
    {"chainer.functions.math.matmul.matmul", {"a", "b", "transa", "transb"}, 2, call<matmul>},
    {"chainer.functions.math.matmul.batch_matmul", {"a", "b", "transa", "transb"}, 2, call<batch_matmul>},
    {"chainer.functions.math.sparse_matmul.sparse_matmul", {"a", "b", "transa", "transb"}, 2, call<sparse_matmul>},
    {"chainer.functions.math.sqrt.sqrt", {"x"}, 1, call<of_one<F::sqrt>>},
    {"chainer.functions.math.square.square", {"x"}, 1, call<of_one<F::square>>},
    {"chainer.functions.math.sum.sum", {"x", "axis", "keepdims"}, 1, call<sum>},
    {"chainer.functions.activation.selu.selu", {"x", "alpha", "scale"}, 1, call<selu>},
    {"chainer.functions.activation.softplus.softplus", {"x", "beta"}, 1, call<softplus>},
    {"chainer.functions.activation.maxout.maxout", {"x", "pool_size", "axis"}, 2, call<maxout>},
    {"chainer.functions.activation.crelu.crelu", {"x", "axis"}, 1, call<crelu>},
    {"chainer.functions.activation.hard_sigmoid.hard_sigmoid", {"x"}, 1, call<of_one<F::hard_sigmoid>>},
    {"chainer.functions.activation.clipped_relu.relu6", {"x"}, 1, call<of_one<F::relu6>>},
    {"chainer.functions.activation.prelu.prelu", {"x", "W"}, 2, call<of_two<F::prelu>>},
    {"chainer.functions.activation.swish.swish", {"x", "beta"}, 2, call<of_two<F::swish>>},
    {"chainer.functions.math.average.average", {"x", "axis", "weights", "keepdims"}, 1, call<average>},
    {"chainer.functions.math.batch_l2_norm_squared.batch_l2_norm_squared", {"x"}, 1, call<batch_l2_norm_squared>},
    {"chainer.functions.math.bias.bias", {"x", "y", "axis"}, 2, call<bias>},
    {"chainer.functions.math.clip.clip", {"x", "x_min", "x_max"}, 3, call<clip>},
    {"chainer.functions.math.cumprod.cumprod", {"x", "axis"}, 1, call<along<F::cumprod>>},
    {"chainer.functions.math.cumsum.cumsum", {"x", "axis"}, 1, call<along<F::cumsum>>},
    {"chainer.functions.math.det.batch_det", {"a"}, 1, call<of_matrix<F::batch_det>>},
    {"chainer.functions.math.det.det", {"a"}, 1, call<of_matrix<F::det>>},
    {"chainer.functions.math.digamma.digamma", {"x"}, 1, call<of_one<F::digamma>>},
    {"chainer.functions.math.erf.erf", {"x"}, 1, call<of_one<F::erf>>},
    {"chainer.functions.math.erfc.erfc", {"x"}, 1, call<of_one<F::erfc>>},
    {"chainer.functions.math.erfcx.erfcx", {"x"}, 1, call<of_one<F::erfcx>>},
    {"chainer.functions.math.erfinv.erfinv", {"x"}, 1, call<of_one<F::erfinv>>},
    {"chainer.functions.math.exponential.log10", {"x"}, 1, call<of_one<F::log10>>},
    {"chainer.functions.math.exponential.log2", {"x"}, 1, call<of_one<F::log2>>},
    {"chainer.functions.math.exponential_m1.expm1", {"x"}, 1, call<of_one<F::expm1>>},
    {"chainer.functions.math.hyperbolic.cosh", {"x"}, 1, call<of_one<F::cosh>>},
    {"chainer.functions.math.hyperbolic.sinh", {"x"}, 1, call<of_one<F::sinh>>},
    {"chainer.functions.math.inv.batch_inv", {"a"}, 1, call<of_matrix<F::batch_inv>>},
    {"chainer.functions.math.inv.inv", {"a"}, 1, call<of_matrix<F::inv>>},
    {"chainer.functions.math.lgamma.lgamma", {"x"}, 1, call<of_one<F::lgamma>>},
    {"chainer.functions.math.linear_interpolate.linear_interpolate", {"p", "x", "y"}, 3, call<linear_interpolate>},
    {"chainer.functions.math.log_ndtr.log_ndtr", {"x"}, 1, call<of_one<F::log_ndtr>>},
    {"chainer.functions.math.logarithm_1p.log1p", {"x"}, 1, call<of_one<F::log1p>>},
    {"chainer.functions.math.logsumexp.logsumexp", {"x", "axis"}, 1, call<logsumexp>},
    {"chainer.functions.math.maximum.maximum", {"x1", "x2"}, 2, call<of_two<F::maximum>>},
    {"chainer.functions.math.minimum.minimum", {"x1", "x2"}, 2, call<of_two<F::minimum>>},
    {"chainer.functions.math.minmax.max", {"x", "axis", "keepdims"}, 1, call<over_axes<F::max>>},
    {"chainer.functions.math.minmax.min", {"x", "axis", "keepdims"}, 1, call<over_axes<F::min>>},
    {"chainer.functions.math.ndtr.ndtr", {"x"}, 1, call<of_one<F::ndtr>>},
    {"chainer.functions.math.ndtri.ndtri", {"x"}, 1, call<of_one<F::ndtri>>},
    {"chainer.functions.math.prod.prod", {"x", "axis", "keepdims"}, 1, call<over_axes<F::prod>>},
    {"chainer.functions.math.scale.scale", {"x", "y", "axis"}, 2, call<scale>},
    {"chainer.functions.math.sqrt.rsqrt", {"x"}, 1, call<of_one<F::rsqrt>>},
    {"chainer.functions.math.tensordot.tensordot", {"a", "b", "axes"}, 2, call<tensordot>},
    {"chainer.functions.math.trigonometric.arccos", {"x"}, 1, call<of_one<F::arccos>>},
    {"chainer.functions.math.trigonometric.arcsin", {"x"}, 1, call<of_one<F::arcsin>>},
    {"chainer.functions.math.trigonometric.arctan", {"x"}, 1, call<of_one<F::arctan>>},
    {"chainer.functions.math.trigonometric.arctan2", {"x1", "x2"}, 2, call<of_two<F::arctan2>>},
    {"chainer.functions.math.trigonometric.cos", {"x"}, 1, call<of_one<F::cos>>},
    {"chainer.functions.math.trigonometric.sin", {"x"}, 1, call<of_one<F::sin>>},
    {"chainer.functions.math.trigonometric.tan", {"x"}, 1, call<of_one<F::tan>>},
    {"chainer.functions.math.arctanh.arctanh", {"x"}, 1, call<of_one<F::arctanh>>},
    {"chainer.functions.math.basic_math.absolute", {"self"}, 1, call<of_one<F::absolute>>},
    {"chainer.functions.math.ceil.ceil", {"x"}, 1, call<of_one<F::ceil>>},
    {"chainer.functions.math.floor.floor", {"x"}, 1, call<of_one<F::floor>>},
    {"chainer.functions.math.fix.fix", {"x"}, 1, call<of_one<F::fix>>},
    {"chainer.functions.math.sign.sign", {"x"}, 1, call<of_one<F::sign>>},
    {"chainer.functions.math.erfcinv.erfcinv", {"x"}, 1, call<of_one<F::erfcinv>>},
    {"chainer.functions.math.cholesky.cholesky", {"a"}, 1, call<of_one<F::cholesky>>},
    {"chainer.functions.math.fmod.fmod", {"x", "divisor"}, 2, call<of_two<F::fmod>>},
    {"chainer.functions.math.minmax.argmax", {"x", "axis"}, 1, call<position<F::argmax>>},
    {"chainer.functions.math.minmax.argmin", {"x", "axis"}, 1, call<position<F::argmin>>},
    {"chainer.functions.math.basic_math.add", {"*xs"}, 1, call<add>},
    {"chainer.functions.math.identity.identity", {"*inputs"}, 1, call<identity>},
    {"chainer.functions.math.einsum.einsum", {"*operands"}, 1, call<einsum>},
    {"chainer.functions.math.fft.fft", {"x"}, 1, call<transformed<F::fft>>, Gives::all},
    {"chainer.functions.math.fft.ifft", {"x"}, 1, call<transformed<F::ifft>>, Gives::all},
    {"chainer.functions.math.polygamma.polygamma", {"n", "x"}, 2, call<polygamma>},
    {"chainer.functions.math.zeta.zeta", {"x", "q"}, 2, call<zeta>},
    {"chainer.functions.math.sum.sum_to", {"x", "shape"}, 2, call<sum_to>},
};

/// Fills in a row's option names, and finds the argument of each parameter.
void arrange(Row& row) {
  static std::deque<std::string> words;  // the storage of parameter names
  const OptionNames options = row.call.options();
  const auto option = [&](const char* name) {
    return std::find(options.names.begin(), options.names.end(), name + (*name == '=')) - options.names.begin();
  };
  std::vector<const char*> given;
  for (const char* const name : row.parameters)
    if (name) given.push_back(name);
  std::vector<const char*> all;
  for (const char* const name : given) {
    const std::string_view word = name;
    if (!word.ends_with("...")) {
      all.push_back(name);
      continue;
    }
    for (const std::string& left : options.names)
      if (std::none_of(given.begin(), given.end(), [&](const char* other) { return other + (*other == '=') == left; }))
        all.push_back(words.emplace_back((word[0] == '=' ? "=" : "") + left).c_str());
  }
  if (all.size() > row.parameters.size()) throw std::length_error(row.name);
  std::copy(all.begin(), all.end(), row.parameters.begin());
  std::size_t before = 0, behind = options.first + options.names.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = static_cast<std::size_t>(option(all[i]));
    row.places[i] = static_cast<std::uint8_t>(at < options.names.size() ? options.first + at
                                              : before < options.first  ? before++
                                                                        : behind++);
  }
}

}  // namespace

std::span<const Row> rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> list(std::begin(table), std::end(table));
    for (const std::span<const Row> more : {rows_of_shapes(), rows_of_layers(), rows_of_losses()})
      list.insert(list.end(), more.begin(), more.end());
    for (Row& row : list) arrange(row);
    return list;
  }();
  return all;
}

}  // namespace catenary_python
