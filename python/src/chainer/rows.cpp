// The list of all rows: those of the library's signatures, and those of functions whose arguments are Python's own.

#include "rows.h"

#include <algorithm>
#include <set>

#include "catenary/array/body.h"
#include "catenary/functions/functions.h"

namespace catenary_python {

std::optional<Array> unshared(const nb::object& array) {
  Array a;
  if (!array_over(array.ptr(), a) || !a.body().storage) return {};
  a.body().storage->exported.store(false, std::memory_order_relaxed);
  return a;
}

namespace {

namespace F = ct::functions;

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
  for (const Variable& v : product.operands)
    if (!of_one_dtype(v, product.operands[0])) return {};
  return F::einsum(product.subscripts, product.operands);
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

/// Weights of classes: an array of floats. Chainer rejects a variable.
struct Weights {
  Array a;
};
bool read(PyObject* o, Weights& to) { return !is_variable(o) && array_over(o, to.a) && ct::is_floating(to.a.dtype()); }

/// Returns the reduction of a loss, by default the first that Chainer accepts, or nothing for an unknown one.
std::optional<F::Reduce> reduction(const std::optional<F::Reduce>& given, std::initializer_list<F::Reduce> taken) {
  const F::Reduce by = given.value_or(*taken.begin());
  return std::find(taken.begin(), taken.end(), by) != taken.end() ? std::optional(by) : std::nullopt;
}
Variable softmax_cross_entropy(Floats x, Any t, std::optional<bool> normalize, std::optional<bool> cache_score,
                               std::optional<Weights> class_weight, std::optional<std::int64_t> ignore_label,
                               std::optional<F::Reduce> reduce, std::optional<bool>,
                               std::optional<std::string> soft_target_loss) {
  const auto by = reduction(reduce, {F::Reduce::mean, F::Reduce::no});
  const std::string soft = soft_target_loss.value_or("cross-entropy");
  const bool is_soft = ct::is_floating(t.v.dtype()), is_divergence = soft == "kl-divergence";
  if (!by || (class_weight && class_weight->a.device() != x.v.device()) || x.v.device() != t.v.device()) return {};
  if ((soft != "cross-entropy" && !is_divergence) || (is_soft && x.v.shape() != t.v.shape())) return {};
  return F::softmax_cross_entropy(x.v, t.v,
                                  {.normalize = normalize.value_or(true),
                                   .ignore_label = ignore_label.value_or(-1),
                                   .class_weight = class_weight ? class_weight->a : Array(),
                                   .reduce = *by,
                                   .kl_divergence = is_divergence,
                                   .cache_score = cache_score.value_or(true)});
}

ct::Variables argmax_crf1d(Floats cost, std::vector<Variable> xs) {
  if (!of_one_kind(xs) || !of_one_dtype(cost.v, xs[0])) return {};
  auto [score, path] = F::argmax_crf1d(cost.v, xs);
  ct::Variables all(std::move(score));
  for (const Array& labels : path) all.push_back(Variable(labels.astype(Dtype::int32), false));
  return all;
}
/// The samples that Python's function draws.
struct Draws {
  nb::object f;
};
bool read(PyObject* o, Draws& to) {
  to.f = nb::borrow(o);
  return PyCallable_Check(o) != 0;
}
ct::Variables negative_sampling(Floats x, Any t, Floats W, Draws sampler, std::int64_t sample_size,
                                std::optional<F::Reduce> reduce, std::optional<bool> return_samples) {
  const auto by = reduction(reduce, {F::Reduce::sum, F::Reduce::no});
  if (!by || !of_one_dtype(x.v, W.v) || !are_labels(t, x) || t.v.dtype() != Dtype::int32 || x.v.ndim() != 2 ||
      t.v.ndim() != 1 || W.v.ndim() != 2 || t.v.shape(0) != x.v.shape(0) || x.v.shape(1) != W.v.shape(1))
    return {};
  const auto draw = [&](const Shape& shape) {
    Array a;
    const nb::object drawn = sampler.f(nb::steal(tuple_of(shape)));
    if (!array_over(drawn.ptr(), a)) throw ct::DtypeError("negative_sampling: the sampler must return an array");
    return a;
  };
  Array samples;
  ct::Variables all(F::negative_sampling(x.v, t.v, W.v, draw, sample_size, *by, &samples));
  if (return_samples.value_or(false)) all.push_back(Variable(samples, false));
  return all;
}

constexpr Row table[] = {
    {"chainer.functions.loss.softmax_cross_entropy.softmax_cross_entropy", {}, 0, call<softmax_cross_entropy>},
    {"chainer.functions.loss.crf1d.argmax_crf1d", {"cost", "xs"}, 2, call<argmax_crf1d>, Gives::one_and_arrays},
    {"chainer.functions.loss.negative_sampling.negative_sampling",
     {"x", "t", "W", "sampler", "sample_size", "reduce", "=return_samples"},
     5,
     call<negative_sampling>,
     Gives::one_and_array},
    {"chainer.functions.math.sparse_matmul.sparse_matmul", {"a", "b", "transa", "transb"}, 2, call<sparse_matmul>},
    {"chainer.functions.math.basic_math.add", {"*xs"}, 1, call<add>},
    {"chainer.functions.math.identity.identity", {"*inputs"}, 1, call<identity>},
    {"chainer.functions.math.einsum.einsum", {"*operands"}, 1, call<einsum>},
};

/// Gives a row without parameters those of the library's signature.
void complete(Row& row) {
  if (row.parameters[0]) return;
  for (const F::Signature& signature : F::signatures()) {
    if (signature.path != row.name) continue;
    const Row of_library = row_of(signature);
    row.parameters = of_library.parameters, row.required = of_library.required, row.places = of_library.places;
    row.refuses_labels = of_library.refuses_labels;
  }
}

}  // namespace

std::span<const Row> rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> list(std::begin(table), std::end(table));
    for (const std::span<const Row> more : {rows_of_shapes(), rows_of_layers()})
      list.insert(list.end(), more.begin(), more.end());
    for (Row& row : list) complete(row);
    std::set<std::string> own;
    for (const Row& row : list) own.insert(row.name);
    for (const F::Signature& signature : F::signatures())
      if (!own.contains(signature.path)) list.push_back(row_of(signature));
    return list;
  }();
  return all;
}

}  // namespace catenary_python
