// Functions that compute: reductions that are no rows, sorting, statistics, products of matrices, linear algebra.

#include <string>

#include "bind.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/array/polynomial.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/statistics.h"
#include "catenary/core/error.h"

namespace catenary_python {

namespace {

using namespace nb::literals;
using ct::AxisArg;
using OptionalAxis = std::optional<int>;

ct::linalg::NormOrder norm_order(nb::handle o) {
  if (o.is_none()) return {};
  if (nb::isinstance<nb::str>(o)) return nb::cast<std::string>(o);
  return nb::cast<double>(nb::float_(o));
}

ct::QuantileMethod quantile_method(const std::string& method) {
  static constexpr const char* methods[] = {"linear", "lower", "higher", "midpoint", "nearest"};  // as in the enum
  for (int i = 0; i < 5; ++i)
    if (method == methods[i]) return static_cast<ct::QuantileMethod>(i);
  raise(PyExc_ValueError,
        "quantile: method must be 'linear', 'lower', 'higher', 'midpoint' or 'nearest', not '" + method + "'");
}

using OneQuantile = Array (*)(const Array&, double, const AxisArg&, bool, ct::QuantileMethod);
using SeveralQuantiles = Array (*)(const Array&, const std::vector<double>&, const AxisArg&, bool, ct::QuantileMethod);

auto quantiles(OneQuantile one, SeveralQuantiles several) {
  return [=](const Array& a, nb::handle q, const AxisArg& axis, Out out, bool, const std::string& method,
             bool keepdims) {
    const nb::object values = is_ndarray(q.ptr()) ? to_numpy(array_of(q.ptr())) : numpy().attr("asarray")(q, "float64");
    const ct::QuantileMethod how = quantile_method(method);
    if (nb::cast<int>(values.attr("ndim")) == 0)
      return out(one(a, nb::cast<double>(values.attr("item")()), axis, keepdims, how), "quantile");
    return out(several(a, nb::cast<std::vector<double>>(values.attr("ravel")().attr("tolist")()), axis, keepdims, how),
               "quantile");
  };
}

nb::object pair_of(std::pair<Array, Array> both) { return nb::make_tuple(both.first, both.second); }

/// A function of the library that gives a struct of two arrays.
template <class R, class... A>
auto paired(R (*f)(A...)) {
  return [f](A... a) {
    const auto& [first, second] = freed(f)(std::forward<A>(a)...);
    return nb::make_tuple(first, second);
  };
}

/// `nansum` and its like are functions only, `sum` is a method, too.
template <class F, class... Extra>
void as_named(nb::module_& m, const std::string& name, F f, const char* first, const Extra&... extra) {
  if (name.starts_with("nan")) {
    m.def(name.c_str(), f, nb::arg(first), extra...);
  } else {
    both(m, name.c_str(), f, first, extra...);
  }
}

}  // namespace

void register_numbers(nb::module_& m) {
  const auto no_axis = nb::arg("axis").none() = nb::none();
  const auto no_dtype = nb::arg("dtype").none() = nb::none();
  const auto keepdims = nb::arg("keepdims") = false;
  const auto out = out_argument();
  const auto ddof = nb::arg("ddof") = 0;

  // reductions that are no rows
  both(
      m, "mean",
      [](const Array& a, const AxisArg& axis, DtypeArg dtype, Out out, bool keepdims) {
        return out(without_gil(is_large(a), [&, d = dtype.get()] { return ct::mean(a, axis, keepdims, d); }), "mean");
      },
      "a", no_axis, no_dtype, out, keepdims);
  for (const auto& [name, f] : {std::pair("var", &ct::var), std::pair("std", &ct::std),
                                std::pair("nanvar", &ct::nanvar), std::pair("nanstd", &ct::nanstd)})
    as_named(
        m, name,
        [f = f, name = name](const Array& a, const AxisArg& axis, DtypeArg dtype, Out out, double ddof, bool keepdims) {
          const std::optional<Dtype> d = dtype.get();
          Array result = without_gil(is_large(a), [&] { return f(d ? a.astype(*d) : a, axis, keepdims, ddof); });
          return out(std::move(result), name);
        },
        "a", no_axis, no_dtype, out, ddof, keepdims);
  for (const auto& [name, f] :
       {std::pair("nansum", &ct::nansum), std::pair("nanprod", &ct::nanprod), std::pair("nanmean", &ct::nanmean)})
    m.def(
        name,
        [f = f, name = name](const Array& a, const AxisArg& axis, DtypeArg dtype, Out out, bool keepdims) {
          const std::optional<Dtype> d = dtype.get();
          return out(f(d ? a.astype(*d) : a, axis, keepdims), name);
        },
        "a"_a, no_axis, no_dtype, out, keepdims);
  for (const auto& [name, f] :
       {std::pair("nanmax", &ct::nanmax), std::pair("nanmin", &ct::nanmin), std::pair("ptp", &ct::ptp)})
    as_named(
        m, name,
        [f = f, name = name](const Array& a, const AxisArg& axis, Out out, bool keepdims) {
          return out(f(a, axis, keepdims), name);
        },
        "a", no_axis, out, keepdims);
  m.def(
      "count_nonzero",
      [](const Array& a, const AxisArg& axis, bool keepdims) { return ct::count_nonzero(a, axis, keepdims); }, "a"_a,
      no_axis, keepdims);
  m.def("logsumexp", freed(ct::logsumexp), "a"_a, no_axis, keepdims);
  for (const auto& [name, f] : {std::pair("argmax", &ct::argmax), std::pair("argmin", &ct::argmin),
                                std::pair("nanargmax", &ct::nanargmax), std::pair("nanargmin", &ct::nanargmin)})
    as_named(
        m, name,
        [f = f, name = name](const Array& a, const OptionalAxis& axis, DtypeArg dtype, Out out, bool keepdims) {
          Array result = without_gil(is_large(a), [&] { return f(a, axis, keepdims); });
          return out(dtype.given() ? result.astype(*dtype.get()) : result, name);
        },
        "a", no_axis, no_dtype, out, keepdims);
  for (const auto& [name, f] : {std::pair("cumsum", &ct::cumsum), std::pair("cumprod", &ct::cumprod),
                                std::pair("nancumsum", &ct::nancumsum), std::pair("nancumprod", &ct::nancumprod)})
    as_named(
        m, name,
        [f = f, name = name](const Array& a, const OptionalAxis& axis, DtypeArg dtype, Out out) {
          return out.cast(without_gil(is_large(a), [&, d = dtype.get()] { return f(a, axis, d); }), name);
        },
        "a", no_axis, no_dtype, out);
  m.def("_average", freed(ct::average), "a"_a, no_axis, "weights"_a.none(), "keepdims"_a);
  m.def(
      "diff", [](const Array& a, int n, int axis) { return ct::diff(a, n, axis); }, "a"_a, "n"_a = 1, "axis"_a = -1);
  m.def(
      "ediff1d",
      [](const Array& a, std::optional<ArrayLike> end, std::optional<ArrayLike> begin) {
        const auto operand = [](auto& x) { return x ? std::optional<Operand>(x->array) : std::nullopt; };
        return ct::ediff1d(a, operand(end), operand(begin));
      },
      "arr"_a, "to_end"_a.none() = nb::none(), "to_begin"_a.none() = nb::none());
  m.def("cross", freed(ct::cross), "a"_a, "b"_a, "axisa"_a = -1, "axisb"_a = -1, "axisc"_a = -1, no_axis);
  m.def("trapezoid", freed(ct::trapezoid), "y"_a, "x"_a.none() = nb::none(), "dx"_a = 1.0, "axis"_a = -1);

  // elementwise, but no rows
  const auto one = [&](const char* name, auto f) {
    m.def(
        name, [f, name](const ArrayLike& x, Out out) { return out(f(x.array), name); }, "x"_a, out_argument());
  };
  one("positive", [](const Array& x) { return ct::positive(x); });
  one("fabs", [](const Array& x) { return ct::fabs(x); });
  one("fix", [](const Array& x) { return ct::fix(x); });
  m.def(
      "ldexp", [](const ArrayLike& x, const ArrayLike& y) { return ct::ldexp(x.array, y.array); }, "x1"_a, "x2"_a);
  m.def(
      "frexp", [](const ArrayLike& x) { return pair_of(ct::frexp(x.array)); }, "x"_a);
  m.def(
      "modf", [](const ArrayLike& x) { return pair_of(ct::modf(x.array)); }, "x"_a);
  both(
      m, "clip",
      [](const Array& a, nb::object low, nb::object high, Out out) {
        if (low.is_none() && high.is_none()) raise(PyExc_ValueError, "clip: one of a_min and a_max must be given");
        Array result = a;
        const auto limit = [&](nb::handle end, auto f) {
          if (end.is_none()) return;
          Argument x, y;
          const Array before = result;
          x.array = &before;
          if (!y.parse(end.ptr())) refuse_argument(end.ptr(), "clip");
          settle(x, y);
          result = f(x.operand(), y.operand());
        };
        limit(low, ct::maximum);
        limit(high, ct::minimum);
        return out(result, "clip");
      },
      "a", nb::arg("a_min").none() = nb::none(), nb::arg("a_max").none() = nb::none(), out_argument());
  m.def(
      "around", [](const ArrayLike& a, int decimals, Out out) { return out(ct::around(a.array, decimals), "around"); },
      "a"_a, "decimals"_a = 0, out_argument());
  nb::cpp_function_def<NdArray>(
      [](const Array& a, int decimals, Out out) { return out(ct::around(a, decimals), "round"); },
      nb::scope(nb::handle(reinterpret_cast<PyObject*>(ndarray_type))), nb::name("round"), nb::is_method(),
      nb::arg("decimals") = 0, out_argument());
  m.def(
      "isclose",
      [](const Value& a, const Value& b, double rtol, double atol, bool equal_nan) {
        return ct::isclose(a.operand(), b.operand(), rtol, atol, equal_nan);
      },
      "a"_a, "b"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
  m.def(
      "array_equal",
      [](const Array& a, const Array& b, bool equal_nan) {
        return checked(wrap(ct::full({}, ct::array_equal(a, b, equal_nan))));
      },
      "a1"_a, "a2"_a, "equal_nan"_a = false);
  m.def(
      "interp",
      [](const Array& x, const Array& xp, const Array& fp, std::optional<double> left, std::optional<double> right) {
        return ct::interp(x, xp, fp, left, right);
      },
      "x"_a, "xp"_a, "fp"_a, "left"_a.none() = nb::none(), "right"_a.none() = nb::none());
  m.def(
      "cov",
      [](const Array& a, bool rowvar, bool bias, std::optional<double> ddof) {
        return ct::cov(a, {rowvar, bias, ddof});
      },
      "a"_a, "rowvar"_a = true, "bias"_a = false, "ddof"_a.none() = nb::none());
  m.def("corrcoef", freed(ct::corrcoef), "a"_a, "rowvar"_a = true);

  // sorting
  m.def(
      "_sort",
      [](const Array& a, OptionalAxis axis) { return without_gil(is_large(a), [&] { return ct::sort(a, axis); }); },
      "a"_a, "axis"_a.none());
  both(
      m, "argsort",
      [](const Array& a, OptionalAxis axis, nb::object) {
        return without_gil(is_large(a), [&] { return ct::argsort(a, axis); });
      },
      "a", nb::arg("axis").none() = -1, nb::arg("kind").none() = nb::none());
  const auto positions = [](nb::handle kth) {
    if (PySequence_Check(kth.ptr())) return nb::cast<std::vector<std::int64_t>>(kth);
    return std::vector<std::int64_t>{nb::cast<std::int64_t>(kth)};
  };
  m.def(
      "partition",
      [positions](const Array& a, nb::handle kth, OptionalAxis axis) { return ct::partition(a, positions(kth), axis); },
      "a"_a, "kth"_a, "axis"_a.none() = -1);
  both(
      m, "argpartition",
      [positions](const Array& a, nb::handle kth, OptionalAxis axis) {
        return ct::argpartition(a, positions(kth), axis);
      },
      "a", nb::arg("kth"), nb::arg("axis").none() = -1);
  m.def(
      "lexsort", [](const Array& keys) { return ct::lexsort(keys); }, "keys"_a);
  m.def(
      "searchsorted",
      [](const Array& a, const Value& v, const std::string& side, std::optional<Array> sorter) {
        if (side != "left" && side != "right")
          raise(PyExc_ValueError, "searchsorted: side must be 'left' or 'right', not '" + side + "'");
        return ct::searchsorted(sorter ? Array(a.get({*sorter})) : a, v.operand(),
                                side == "left" ? ct::Side::left : ct::Side::right);
      },
      "a"_a, "v"_a, "side"_a = "left", "sorter"_a.none() = nb::none());
  m.def("digitize", freed(ct::digitize), "x"_a, "bins"_a, "right"_a = false);
  m.def(
      "unique",
      [](const Array& ar, bool index, bool inverse, bool counts) -> nb::object {
        const ct::UniqueResult r = without_gil(is_large(ar), [&] { return ct::unique(ar, {index, inverse, counts}); });
        if (!index && !inverse && !counts) return checked(wrap(r.values));
        nb::list all;
        all.append(checked(wrap(r.values)));
        if (index) all.append(checked(wrap(r.index)));
        if (inverse) all.append(checked(wrap(r.inverse)));
        if (counts) all.append(checked(wrap(r.counts)));
        return nb::tuple(all);
      },
      "ar"_a, "return_index"_a = false, "return_inverse"_a = false, "return_counts"_a = false);
  m.def("isin", freed(ct::isin), "element"_a, "test_elements"_a, nb::kw_only(), "invert"_a = false);
  m.def("in1d", freed(ct::in1d), "ar1"_a, "ar2"_a, nb::kw_only(), "invert"_a = false);
  m.def("intersect1d", freed(ct::intersect1d), "ar1"_a, "ar2"_a);
  m.def("union1d", freed(ct::union1d), "arr1"_a, "arr2"_a);
  m.def("setdiff1d", freed(ct::setdiff1d), "ar1"_a, "ar2"_a);
  m.def("bincount", freed(ct::bincount), "x"_a, "weights"_a.none() = nb::none(), "minlength"_a = 0);
  m.def(
      "histogram",
      [](const Array& x, nb::handle bins, std::optional<std::pair<double, double>> range, std::optional<Array> weights,
         bool density) {
        if (is_ndarray(bins.ptr())) return pair_of(ct::histogram(x, array_of(bins.ptr()), {range, weights, density}));
        return pair_of(ct::histogram(x, nb::cast<std::int64_t>(nb::int_(bins)), {range, weights, density}));
      },
      "x"_a, "bins"_a = 10, "range"_a.none() = nb::none(), "weights"_a.none() = nb::none(), "density"_a = false);
  using Range = std::optional<std::pair<double, double>>;
  const auto bins_of = [](nb::handle o) {
    return is_ndarray(o.ptr()) ? ct::HistogramBins(array_of(o.ptr())) : ct::HistogramBins(nb::cast<std::int64_t>(o));
  };
  m.def(
      "_histogram2d",
      [bins_of](const Array& x, const Array& y, nb::handle x_bins, nb::handle y_bins, Range x_range, Range y_range,
                std::optional<Array> weights, bool density) {
        const auto r = ct::histogram2d(x, y, bins_of(x_bins), bins_of(y_bins), {x_range, y_range, weights, density});
        return nb::make_tuple(r.counts, r.x_edges, r.y_edges);
      },
      "x"_a, "y"_a, "x_bins"_a, "y_bins"_a, "x_range"_a.none(), "y_range"_a.none(), "weights"_a.none(), "density"_a);
  for (const auto& [name, f] : {std::pair("median", &ct::median), std::pair("nanmedian", &ct::nanmedian)})
    m.def(
        name,
        [f = f, name = name](const Array& a, const AxisArg& axis, Out out, bool, bool keepdims) {
          return out(f(a, axis, keepdims), name);
        },
        "a"_a, no_axis, out, "overwrite_input"_a = false, keepdims);
  const auto quantile = [&](const char* name, auto f) {
    m.def(name, f, "a"_a, "q"_a, nb::arg("axis").none() = nb::none(), out_argument(), "overwrite_input"_a = false,
          "method"_a = "linear", nb::arg("keepdims") = false);
  };
  quantile("quantile", quantiles(ct::quantile, ct::quantile));
  quantile("percentile", quantiles(ct::percentile, ct::percentile));
  quantile("nanquantile", quantiles(ct::nanquantile, ct::nanquantile));
  quantile("nanpercentile", quantiles(ct::nanpercentile, ct::nanpercentile));

  // products
  const auto product = [&](const char* name, auto f, const char* first = "a", const char* second = "b") {
    m.def(
        name,
        [f, name](const Array& a, const Array& b, Out out) {
          return out(without_gil(is_large(a) || is_large(b), [&] { return f(a, b); }), name);
        },
        nb::arg(first), nb::arg(second), out_argument());
  };
  product(
      "matmul", [](const Array& a, const Array& b) { return ct::matmul(a, b); }, "x1", "x2");
  both(
      m, "dot",
      [](const Array& a, const ArrayLike& b, Out out) {
        return out(without_gil(is_large(a) || is_large(b.array), [&] { return ct::dot(a, b.array); }), "dot");
      },
      "a", nb::arg("b"), out_argument());
  product("vdot", ct::vdot);
  product("inner", ct::inner);
  product("outer", ct::outer);
  product("kron", ct::kron);
  m.def("_tensordot",
        freed(static_cast<Array (*)(const Array&, const Array&, const ct::Axes&, const ct::Axes&)>(ct::tensordot)));
  m.def("_einsum", [](const std::string& subscripts, const std::vector<Self>& selves) {
    std::vector<Array> operands;
    for (const Self& self : selves) operands.push_back(self.array());
    const Array result = without_gil(is_large(operands), [&] { return ct::einsum(subscripts, operands); });
    return checked(selves.size() == 1 ? wrap_view(result, selves[0].o) : wrap(result));  // "ii->i" is a view
  });
  both(
      m, "trace",
      [](const Array& a, std::int64_t offset, int axis1, int axis2, DtypeArg dtype, Out out) {
        Array result = ct::trace(a, offset, axis1, axis2);
        return out(dtype.given() ? result.astype(*dtype.get()) : result, "trace");
      },
      "a", nb::arg("offset") = 0, nb::arg("axis1") = 0, nb::arg("axis2") = 1, no_dtype, out);

  // polynomials
  m.def("convolve", freed(ct::convolve), "a"_a, "v"_a, "mode"_a = "full");
  m.def("correlate", freed(ct::correlate), "a"_a, "v"_a, "mode"_a = "valid");
  m.def(
      "polyval", [](const Array& p, const Value& x) { return ct::polyval(p, x.operand()); }, "p"_a, "x"_a);
  m.def(
      "_polyfit",
      [](const Array& x, const Array& y, int deg, std::optional<double> rcond, std::optional<Array> w, int cov) {
        const auto r = ct::polyfit(x, y, deg, {rcond, w, static_cast<ct::PolyfitOptions::Cov>(cov)});
        return nb::make_tuple(r.coefficients, r.residuals, r.rank, r.singular_values, r.rcond, r.covariance);
      },
      "x"_a, "y"_a, "deg"_a, "rcond"_a.none(), "w"_a.none(), "cov"_a);

  // linear algebra: cupy.linalg
  nb::module_ linalg = m.def_submodule("linalg", "Linear algebra, with the names of numpy.linalg.");
  namespace la = ct::linalg;
  linalg.def("cholesky", freed(la::cholesky), "a"_a);
  linalg.def("inv", freed(la::inv), "a"_a);
  linalg.def("det", freed(la::det), "a"_a);
  linalg.def("slogdet", paired(la::slogdet), "a"_a);
  linalg.def("solve", freed(la::solve), "a"_a, "b"_a);
  linalg.def("lu_factor", paired(la::lu), "a"_a);
  linalg.def("eigh", paired(la::eigh), "a"_a, "UPLO"_a = "L");
  linalg.def("eigvalsh", freed(la::eigvalsh), "a"_a, "UPLO"_a = "L");
  linalg.def(
      "qr",
      [](const Array& a, const std::string& mode) -> nb::object {
        const auto r = la::qr(a, mode);
        if (mode == "r") return checked(wrap(r.r));
        return nb::make_tuple(r.q, r.r);
      },
      "a"_a, "mode"_a = "reduced");
  linalg.def(
      "svd",
      [](const Array& a, bool full_matrices, bool compute_uv, bool hermitian) -> nb::object {
        const auto r = la::svd(a, full_matrices, compute_uv, hermitian);
        if (!compute_uv) return checked(wrap(r.s));
        return nb::make_tuple(r.u, r.s, r.vh);
      },
      "a"_a, "full_matrices"_a = true, "compute_uv"_a = true, "hermitian"_a = false);
  linalg.def("svdvals", freed(la::svdvals), "x"_a);
  linalg.def("pinv", freed(la::pinv), "a"_a, "rcond"_a.none() = nb::none(), "hermitian"_a = false);
  linalg.def("matrix_rank", freed(la::matrix_rank), "A"_a, "tol"_a.none() = nb::none(), "hermitian"_a = false,
             nb::kw_only(), "rtol"_a.none() = nb::none());
  linalg.def(
      "lstsq",
      [](const Array& a, const Array& b, nb::handle rcond) {
        const auto r = la::lstsq(
            a, b,
            rcond.is_none() || PyUnicode_Check(rcond.ptr()) ? std::nullopt : std::optional(nb::cast<double>(rcond)));
        return nb::make_tuple(r.x, r.residuals, r.rank, r.singular_values);
      },
      "a"_a, "b"_a, "rcond"_a.none() = nb::none());
  linalg.def(
      "solve_triangular",
      [](const Array& a, const Array& b, nb::handle trans, bool lower, bool unit_diagonal, nb::object, nb::object) {
        const std::string how = nb::cast<std::string>(nb::str(trans));
        if (how != "0" && how != "1" && how != "N" && how != "T" && how != "2" && how != "C")
          raise(PyExc_ValueError, "solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', not " + how);
        return la::solve_triangular(a, b, {how != "0" && how != "N", lower, unit_diagonal});
      },
      "a"_a, "b"_a, "trans"_a = 0, "lower"_a = false, "unit_diagonal"_a = false, "overwrite_b"_a = false,
      "check_finite"_a = false);
  linalg.def(
      "multi_dot", [](const std::vector<Array>& arrays) { return la::multi_dot(arrays); }, "arrays"_a);
  linalg.def("matrix_power", freed(la::matrix_power), "a"_a, "n"_a);
  linalg.def(
      "norm",
      [](const Array& x, nb::handle ord, const AxisArg& axis, bool keepdims) {
        return la::norm(x, norm_order(ord), axis, keepdims);
      },
      "x"_a, "ord"_a.none() = nb::none(), no_axis, keepdims);
  linalg.def(
      "cond", [](const Array& x, nb::handle p) { return la::cond(x, norm_order(p)); }, "x"_a,
      "p"_a.none() = nb::none());
}

}  // namespace catenary_python
