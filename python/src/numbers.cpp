// Numeric functions: further reductions, sorting, statistics, matrix products, linear algebra.

#include <cmath>
#include <numbers>
#include <string>

#include "bind.h"
#include "catenary/array/bits.h"
#include "catenary/array/creation.h"
#include "catenary/array/differences.h"
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
  static constexpr const char* methods[] = {// as in the enum
                                            "linear",
                                            "lower",
                                            "higher",
                                            "midpoint",
                                            "nearest",
                                            "inverted_cdf",
                                            "averaged_inverted_cdf",
                                            "closest_observation",
                                            "interpolated_inverted_cdf",
                                            "hazen",
                                            "weibull",
                                            "median_unbiased",
                                            "normal_unbiased"};
  if (const auto found = named<ct::QuantileMethod>(methods, method)) return *found;
  raise(PyExc_ValueError, "quantile: unknown method '" + method + "'; expected one of numpy.quantile's");
}

using OneQuantile = Array (*)(const Array&, double, const AxisArg&, bool, ct::QuantileMethod);
using SeveralQuantiles = Array (*)(const Array&, const Array&, const AxisArg&, bool, ct::QuantileMethod);

auto quantiles(OneQuantile one, SeveralQuantiles several) {
  return [=](const Array& a, nb::handle q, const AxisArg& axis, Out out, bool overwrite, const std::string& method,
             bool keepdims) {
    const ct::QuantileMethod how = quantile_method(method);
    const bool weak = PyFloat_CheckExact(q.ptr()) || PyLong_CheckExact(q.ptr());  // its dtype does not count
    const Array result = weak ? one(a, nb::cast<double>(nb::float_(q)), axis, keepdims, how)
                              : several(a, array_from(q.ptr(), a.device()), axis, keepdims, how);
    if (overwrite && a.ndim() > 0) ct::copyto(a, ct::sort(a));  // as NumPy, which leaves the array partitioned
    return out(result, "quantile");
  };
}

using Range = std::optional<std::pair<double, double>>;
Range range_of(nb::handle o) {
  if (o.is_none()) return std::nullopt;
  const Py_ssize_t n = PySequence_Size(o.ptr());
  if (n < 0) raise_set();
  if (n != 2) raise(PyExc_ValueError, "histogram: range must have two ends, not " + std::to_string(n));
  return std::pair(nb::cast<double>(nb::float_(o[0])), nb::cast<double>(nb::float_(o[1])));
}
ct::HistogramBins bins_of(nb::handle o) {
  if (is_ndarray(o.ptr())) return array_of(o.ptr());
  if (PySequence_Check(o.ptr())) raise(PyExc_ValueError, "histogram: edges of bins must be a cupy.ndarray");
  return nb::cast<std::int64_t>(nb::int_(o));
}

ct::BitOrder bit_order(nb::handle o) {
  const std::string order = nb::cast<std::string>(nb::str(o));
  if (order != "big" && order != "little")
    raise(PyExc_ValueError, "bitorder must be 'big' or 'little', not '" + order + "'");
  return order == "big" ? ct::BitOrder::big : ct::BitOrder::little;
}

using OptionalArray = std::optional<Array>;
nb::object pair_of(std::pair<Array, Array> both) { return nb::make_tuple(both.first, both.second); }

/// Wraps a function of the library that returns a struct of two arrays.
template <class R, class... A>
auto paired(R (*f)(A...)) {
  return [f = freed(f)](typename Parameter<A>::Given... a) {
    const auto& [first, second] = f(std::forward<typename Parameter<A>::Given>(a)...);
    return nb::make_tuple(first, second);
  };
}

/// Returns NumPy's common dtype of bools or integers among arrays and numbers.
Dtype common_dtype(const Array& a, std::initializer_list<nb::object> others) {
  if (ct::is_inexact(a.dtype())) return a.dtype();
  nb::list all;
  all.append(nb::handle(numpy_dtype(a.dtype())));
  for (const nb::object& other : others)
    if (!other.is_none()) all.append(is_ndarray(other.ptr()) ? nb::object(other.attr("dtype")) : other);
  return dtype_from(numpy().attr("result_type")(*all).ptr());
}

/// Is a Python integer at or beyond the end of an integer dtype's range?
bool reaches(nb::handle number, Dtype dtype, bool is_low) {
  const nb::object end = numpy().attr("iinfo")(nb::handle(numpy_dtype(dtype))).attr(is_low ? "min" : "max");
  const int yes = PyObject_RichCompareBool(number.ptr(), end.ptr(), is_low ? Py_LE : Py_GE);
  if (yes < 0) raise_set();
  return yes == 1;
}

/// Returns the axis of a cumulative sum. As in NumPy, a 0-d array counts as 1-d.
OptionalAxis along(const Array& a, const OptionalAxis& axis) {
  return a.ndim() == 0 && axis && (*axis == 0 || *axis == -1) ? OptionalAxis() : axis;
}

/// Throws TypeError if NaN is ignored in floats but the dtype cannot represent NaN for an empty selection.
void check_inexact(const Array& a, std::optional<Dtype> dtype, const std::string& function) {
  if (dtype && ct::is_inexact(a.dtype()) && !ct::is_inexact(*dtype))
    raise(PyExc_TypeError, function + ": dtype must be floating for a floating array, not " + ct::dtype_name(*dtype));
}

/// Counts the elements that contribute to one element of a reduction.
double count_along(const Array& a, const AxisArg& axis, const char* what) {
  double n = 1;
  for (const auto i : axis.normalized(a.ndim(), what)) n *= static_cast<double>(a.shape()[static_cast<int>(i)]);
  return n;
}

/// var and related functions with an integer dtype, as in NumPy: the mean and the result are truncated.
Array integer_variance(const Array& a, const AxisArg& axis, Dtype dtype, bool keepdims, double ddof,
                       const std::string& name) {
  const bool is_root = name.ends_with("std");
  if (name.starts_with("nan")) check_inexact(a, dtype, name);
  const double n = count_along(a, axis, name.c_str());
  const Array center = ct::divide(ct::sum(a, axis, true, dtype), n).astype(dtype), distance = ct::subtract(a, center);
  const Array total = ct::sum(ct::multiply(distance, distance), axis, keepdims, dtype);
  const Array result = ct::divide(total, std::max(n - ddof, 0.0)).astype(dtype);
  if (!is_root) return result;
  if (result.ndim() > 0)
    raise(PyExc_TypeError, name + ": cannot cast the roots to " + ct::dtype_name(dtype) + " (same_kind casting)");
  return ct::sqrt(result).astype(dtype);
}

/// Converts the operand of a function to the requested dtype of the computation. For real dtypes it takes the real
/// parts, with NumPy's warning. In functions that ignore NaN, a complex number with one NaN part becomes NaN.
Array in_wanted(const Array& a, std::optional<Dtype> dtype, const std::string& name) {
  if (!dtype || !ct::loses_parts(a.dtype(), *dtype)) return a;
  return stored_parts(name.starts_with("nan") ? ct::where(ct::isnan(a), std::nan(""), a) : a, dtype);
}

/// Registers functions such as `nansum`, which are not methods, unlike `sum`.
template <class F, class... Extra>
void as_named(nb::module_& m, const std::string& name, F f, const char* first, const Extra&... extra) {
  if (name.starts_with("nan")) {
    m.def(name.c_str(), f, nb::arg(first), extra...);
  } else {
    both(m, name.c_str(), f, first, extra...);
  }
}

Array mean(const Array& a, const AxisArg& axis, std::optional<Dtype> d, bool keepdims) {
  if (!d || ct::is_inexact(*d)) return ct::mean(a, axis, keepdims, d);
  return ct::divide(ct::sum(a, axis, keepdims, d), count_along(a, axis, "mean")).astype(*d);
}

/// Registers means and variances.
void register_means(nb::module_& m) {
  const auto no_axis = optional("axis");
  const auto no_dtype = optional("dtype");
  const auto keepdims = nb::arg("keepdims") = false;
  const auto out = out_argument();
  const auto ddof = nb::arg("ddof") = 0;
  both(
      m, "mean",
      [](const Array& given, const AxisArg& axis, DtypeArg dtype, Out out, bool keepdims) {
        const std::optional<Dtype> d = dtype.get();
        const Array a = in_wanted(given, d, "mean");
        return out(without_gil(is_large(a), [&] { return mean(a, axis, d, keepdims); }), "mean");
      },
      "a", no_axis, no_dtype, out, keepdims);
  for (const auto& [name, f] : {std::pair("var", &ct::var), std::pair("std", &ct::std),
                                std::pair("nanvar", &ct::nanvar), std::pair("nanstd", &ct::nanstd)})
    as_named(
        m, name,
        [f = f, name = name](const Array& given, const AxisArg& axis, DtypeArg dtype, Out out, double ddof,
                             bool keepdims) {
          const std::optional<Dtype> d = dtype.get();
          const Array a = in_wanted(given, d, name);
          if (d && !ct::is_inexact(*d)) return out(integer_variance(a, axis, *d, keepdims, ddof, name), name);
          Array result = without_gil(is_large(a), [&] { return f(d ? a.astype(*d) : a, axis, keepdims, ddof); });
          return out(d && !out.given() ? result.astype(*d) : std::move(result), name);
        },
        "a", no_axis, no_dtype, out, ddof, keepdims);
  m.def(
      "nanmean",
      [](const Array& given, const AxisArg& axis, DtypeArg dtype, Out out, bool keepdims) {
        const std::optional<Dtype> d = dtype.get();
        check_inexact(given, d, "nanmean");
        const Array a = in_wanted(given, d, "nanmean");
        return out.cast(
            ct::is_inexact(a.dtype()) ? ct::nanmean(d ? a.astype(*d) : a, axis, keepdims) : mean(a, axis, d, keepdims),
            "nanmean");
      },
      "a"_a, no_axis, no_dtype, out, keepdims);
  m.def("_average", freed(ct::average), "a"_a, no_axis, "weights"_a.none(), "keepdims"_a);
}

/// Registers sums, extrema and their positions that are not rows.
void register_reductions(nb::module_& m) {
  const auto no_axis = optional("axis");
  const auto no_dtype = optional("dtype");
  const auto keepdims = nb::arg("keepdims") = false;
  const auto out = out_argument();
  for (const auto& [name, f] : {std::pair("nansum", &ct::nansum), std::pair("nanprod", &ct::nanprod)})
    m.def(
        name,
        [f = f, name = name](const Array& given, const AxisArg& axis, DtypeArg dtype, Out out, bool keepdims) {
          const std::optional<Dtype> d = dtype.get();
          const Array a = in_wanted(given, d, name);
          if (d && !ct::is_inexact(*d)) {  // NaN is removed before the cast to integers, which lack it
            const bool is_sum = f == &ct::nansum;
            const Array x = ct::is_inexact(a.dtype()) ? ct::where(ct::isnan(a), is_sum ? 0 : 1, a) : a;
            return out.cast(is_sum ? ct::sum(x, axis, keepdims, d) : ct::prod(x, axis, keepdims, d), name);
          }
          return out.cast(f(d ? a.astype(*d) : a, axis, keepdims), name);
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
  m.def("count_nonzero", freed(ct::count_nonzero), "a"_a, no_axis, keepdims);
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
}

/// Registers cumulative sums and products.
void register_cumulative(nb::module_& m) {
  const auto no_axis = optional("axis");
  const auto no_dtype = optional("dtype");
  const auto out = out_argument();
  for (const auto& [name, f] : {std::pair("cumsum", &ct::cumsum), std::pair("cumprod", &ct::cumprod),
                                std::pair("nancumsum", &ct::nancumsum), std::pair("nancumprod", &ct::nancumprod)})
    as_named(
        m, name,
        [f = f, name = name](const Array& given, const OptionalAxis& axis, DtypeArg dtype, Out out) {
          const std::optional<Dtype> d = dtype.get();
          const Array a = in_wanted(given, d, name);
          return out.cast(without_gil(is_large(a), [&] { return f(a, along(a, axis), d); }), name);
        },
        "a", no_axis, no_dtype, out);
  for (const auto& [name, f] :
       {std::pair("cumulative_sum", &ct::cumulative_sum), std::pair("cumulative_prod", &ct::cumulative_prod)})
    m.def(
        name,
        [f = f, name = name](const Array& given, const OptionalAxis& axis, DtypeArg dtype, Out out, bool initial) {
          const std::optional<Dtype> d = dtype.get();
          const Array x = in_wanted(given, d, name);
          return out.cast(f(x, along(x, axis), d, initial), name);
        },
        "x"_a, nb::kw_only(), no_axis, no_dtype, out, "include_initial"_a = false);
}

/// Registers diff and related functions.
void register_differences(nb::module_& m) {
  const auto no_axis = optional("axis");
  using Border = const std::optional<Operand>&;
  m.def("diff", freed(static_cast<Array (*)(const Array&, int, int, Border, Border)>(ct::diff)), "a"_a, "n"_a = 1,
        "axis"_a = -1, optional("prepend"), optional("append"));
  m.def("unwrap", freed(ct::unwrap), "p"_a, optional("discont"), "axis"_a = -1, nb::kw_only(),
        "period"_a = 2 * std::numbers::pi);
  m.def("_gradient", freed(ct::gradient), "f"_a, "spacing"_a, "axis"_a.none(), "edge_order"_a);
  m.def("ediff1d", freed(ct::ediff1d), "arr"_a, optional("to_end"), optional("to_begin"));
  m.def("cross", freed(ct::cross), "a"_a, "b"_a, "axisa"_a = -1, "axisb"_a = -1, "axisc"_a = -1, no_axis);
  m.def("trapezoid", freed(ct::trapezoid), "y"_a, optional("x"), "dx"_a = 1.0, "axis"_a = -1);
}

/// Limits the elements to low and high. None means no limit.
Array clipped(const Array& a, const nb::object& low, const nb::object& high) {
  const Dtype common = common_dtype(a, {low, high});
  Array result = common == a.dtype() ? a : a.astype(common);
  const auto limit = [&](nb::handle end, bool is_low) {
    if (end.is_none()) return;
    Argument x, y;
    const Array before = result;
    x.array = &before;
    if (!y.parse(end.ptr())) refuse_argument(end.ptr(), "clip");
    if (PyLong_CheckExact(end.ptr()) && ct::is_integer(a.dtype()) && reaches(end, a.dtype(), is_low)) return;
    settle(x, y);
    result = is_low ? ct::maximum(x.operand(), y.operand()) : ct::minimum(x.operand(), y.operand());
  };
  limit(low, true);
  limit(high, false);
  return result.is(a) ? a.copy() : result;
}

/// Registers elementwise functions that are not rows.
void register_elementwise(nb::module_& m) {
  const auto no_axis = optional("axis");
  const auto out = out_argument();
  m.def("positive", delivered(ct::positive, "positive"), "x"_a, out);
  m.def("fabs", delivered(ct::fabs, "fabs"), "x"_a, out);
  m.def("fix", delivered(ct::fix, "fix"), "x"_a, out);
  m.def("isposinf", delivered(ct::isposinf, "isposinf"), "x"_a, out);
  m.def("isneginf", delivered(ct::isneginf, "isneginf"), "x"_a, out);
  m.def("ldexp", freed(ct::ldexp), "x1"_a, "x2"_a);
  m.def("frexp", paired(ct::frexp), "x"_a);
  m.def("modf", paired(ct::modf), "x"_a);
  both(
      m, "clip",
      [](const Array& a, nb::object low, nb::object high, Out out, nb::object min, nb::object max) {
        if ((!low.is_none() && !min.is_none()) || (!high.is_none() && !max.is_none()))
          raise(PyExc_ValueError, "clip: min is another name of a_min, and max of a_max; pass only one of each");
        if (low.is_none()) low = min;
        if (high.is_none()) high = max;
        return out(low.is_none() && high.is_none() ? a.copy() : clipped(a, low, high), "clip");
      },
      "a", optional("a_min"), optional("a_max"), out_argument(), optional("min"), optional("max"));
  m.def("around", delivered(ct::around, "around"), "a"_a, "decimals"_a = 0, out);
  method("round", delivered(ct::around, "round"), nb::arg("decimals") = 0, out);
  m.def("isclose", freed(ct::isclose), "a"_a, "b"_a, "rtol"_a = 1e-5, "atol"_a = 1e-8, "equal_nan"_a = false);
  m.def(
      "array_equal",
      [](const Array& a, const Array& b, bool equal_nan) {
        return checked(wrap(ct::full({}, ct::array_equal(a, b, equal_nan))));
      },
      "a1"_a, "a2"_a, "equal_nan"_a = false);
  m.def("interp", freed(ct::interp), "x"_a, "xp"_a, "fp"_a, optional("left"), optional("right"));
  m.def(
      "array_equiv", [](const Array& a, const Array& b) { return checked(wrap(ct::full({}, ct::array_equiv(a, b)))); },
      "a1"_a, "a2"_a);
  for (const auto& [name, f] : {std::pair("packbits", &ct::packbits), std::pair("unpackbits", &ct::unpackbits)})
    m.def(
        name, [f = f](const Array& a, OptionalAxis axis, nb::handle order) { return f(a, axis, bit_order(order)); },
        "a"_a, no_axis, "bitorder"_a = "big");
  m.def(
      "nan_to_num",
      [](Self self, bool copy, const Value& nan, const std::optional<ArrayLike>& posinf,
         const std::optional<ArrayLike>& neginf) {
        using Infinity = Parameter<const std::optional<Operand>&>;
        const Array& x = self.array();
        const Array result = ct::nan_to_num(x, nan.operand(), Infinity::value(posinf), Infinity::value(neginf));
        if (copy) return checked(wrap(result));
        ct::copyto(x, result);
        return nb::borrow(self.o);
      },
      "x"_a, "copy"_a = true, "nan"_a = 0.0, optional("posinf"), optional("neginf"));
}

/// Registers sorting and searching functions.
void register_sorting(nb::module_& m) {
  m.def("_sort", freed(ct::sort), "a"_a, "axis"_a.none());
  m.def("_argsort", freed(ct::argsort), "a"_a, "axis"_a.none());
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
  m.def("_lexsort", freed(static_cast<Array (*)(const std::vector<Array>&)>(ct::lexsort)), "keys"_a);
  both(
      m, "searchsorted",
      [](const Array& a, Value& v, const std::string& side, std::optional<Array> sorter) {
        if (side != "left" && side != "right")
          raise(PyExc_ValueError, "searchsorted: side must be 'left' or 'right', not '" + side + "'");
        if (sorter && !ct::is_integer(sorter->dtype()))
          raise(PyExc_TypeError,
                std::string("searchsorted: sorter must hold integers, not ") + ct::dtype_name(sorter->dtype()));
        if (sorter && sorter->size() != a.size())
          raise(PyExc_ValueError, "searchsorted: sorter must have an index for each of the " +
                                      std::to_string(a.size()) + " elements, not " + std::to_string(sorter->size()));
        if (!v.argument.array) {  // a number gets its own dtype, so that -1 < unsigned
          v.argument.as_array();
          v.argument.bring_to(a.device());
        }
        return ct::searchsorted(sorter ? Array(a.get({*sorter})) : a, *v.argument.array,
                                side == "left" ? ct::Side::left : ct::Side::right);
      },
      "a", nb::arg("v"), nb::arg("side") = "left", nb::arg("sorter").none() = nb::none());
  m.def("digitize", freed(ct::digitize), "x"_a, "bins"_a, "right"_a = false);
}

/// Registers set functions.
void register_sets(nb::module_& m) {
  const auto no_axis = optional("axis");
  m.def(
      "unique",
      [](const Array& ar, bool index, bool inverse, bool counts, OptionalAxis axis, bool equal_nan) -> nb::object {
        const ct::UniqueOptions options{index, inverse, counts, axis, equal_nan};
        const ct::UniqueResult r = without_gil(is_large(ar), [&] { return ct::unique(ar, options); });
        nb::list all;
        for (const Array& part : {r.values, r.index, r.inverse, r.counts})
          if (part.defined()) all.append(part);
        return all.size() == 1 ? nb::object(all[0]) : nb::tuple(all);
      },
      "ar"_a, "return_index"_a = false, "return_inverse"_a = false, "return_counts"_a = false, no_axis, nb::kw_only(),
      "equal_nan"_a = true);
  const auto assume_unique = nb::arg("assume_unique") = false;
  const auto among = [&](const char* name, auto f, const char* first, const char* second) {
    m.def(
        name,
        [f](const Array& a, const Array& b, bool, bool invert) {
          return without_gil(is_large(a) || is_large(b), [&] { return f(a, b, invert); });
        },
        nb::arg(first), nb::arg(second), assume_unique, "invert"_a = false);
  };
  among("isin", ct::isin, "element", "test_elements");
  among("in1d", ct::in1d, "ar1", "ar2");
  m.def(
      "intersect1d",
      [](const Array& a, const Array& b, bool, bool indices) -> nb::object {
        if (!indices) return nb::cast(ct::intersect1d(a, b));
        const auto [values, a_index, b_index] = ct::intersect1d_indices(a, b);
        return nb::make_tuple(values, a_index, b_index);
      },
      "arr1"_a, "arr2"_a, assume_unique, "return_indices"_a = false);
  m.def("union1d", freed(ct::union1d), "arr1"_a, "arr2"_a);
  m.def(
      "setxor1d", [](const Array& a, const Array& b, bool) { return ct::setxor1d(a, b); }, "ar1"_a, "ar2"_a,
      assume_unique);
  m.def("setdiff1d", freed(ct::setdiff1d), "ar1"_a, "ar2"_a, assume_unique);
}

/// Registers histograms.
void register_histograms(nb::module_& m) {
  m.def("bincount", freed(ct::bincount), "x"_a, optional("weights"), "minlength"_a = 0);
  m.def(
      "histogram",
      [](const Array& x, nb::handle bins, nb::handle range, std::optional<Array> weights, bool density) {
        const ct::HistogramOptions options{range_of(range), weights, density};
        if (PyIndex_Check(bins.ptr()) && !PySequence_Check(bins.ptr()))
          return pair_of(ct::histogram(x, nb::cast<std::int64_t>(nb::int_(bins)), options));
        return pair_of(ct::histogram(x, array_from(bins.ptr(), x.device()), options));
      },
      "x"_a, "bins"_a = 10, "range"_a.none() = nb::none(), "weights"_a.none() = nb::none(), "density"_a = false);
  m.def(
      "_histogram2d",
      [](const Array& x, const Array& y, nb::handle x_bins, nb::handle y_bins, nb::handle x_range, nb::handle y_range,
         std::optional<Array> weights, bool density) {
        const auto r = ct::histogram2d(x, y, bins_of(x_bins), bins_of(y_bins),
                                       {range_of(x_range), range_of(y_range), weights, density});
        return nb::make_tuple(r.counts, r.x_edges, r.y_edges);
      },
      "x"_a, "y"_a, "x_bins"_a, "y_bins"_a, "x_range"_a.none(), "y_range"_a.none(), "weights"_a.none(), "density"_a);
  m.def(
      "histogramdd",
      [](const Array& sample, nb::handle bins, nb::handle range, bool density, std::optional<Array> weights) {
        std::vector<ct::HistogramBins> all;
        if (PySequence_Check(bins.ptr()) && !is_ndarray(bins.ptr())) {
          for (nb::handle one : nb::list(nb::borrow(bins))) all.push_back(bins_of(one));
        } else {
          all.assign(static_cast<std::size_t>(sample.ndim() == 2 ? sample.shape()[1] : 0), bins_of(bins));
        }
        ct::HistogramddOptions options{{}, weights, density};
        if (!range.is_none())
          for (nb::handle one : nb::list(nb::borrow(range))) options.ranges.push_back(range_of(one));
        const auto r = ct::histogramdd(sample, all, options);
        return nb::make_tuple(r.counts, nb::cast(r.edges));
      },
      "sample"_a, "bins"_a = 10, "range"_a.none() = nb::none(), "density"_a = false, "weights"_a.none() = nb::none());
}

/// Registers quantiles and covariances.
void register_statistics(nb::module_& m) {
  const auto no_axis = optional("axis");
  const auto no_dtype = optional("dtype");
  const auto keepdims = nb::arg("keepdims") = false;
  const auto out = out_argument();
  for (const auto& [name, f] : {std::pair("median", &ct::median), std::pair("nanmedian", &ct::nanmedian)})
    m.def(
        name,
        [f = f, name = name](const Array& a, const AxisArg& axis, Out out, bool, bool keepdims) {
          return out(f(a, axis, keepdims), name);
        },
        "a"_a, no_axis, out, "overwrite_input"_a = false, keepdims);
  const auto quantile = [&](const char* name, auto f) {
    m.def(name, f, "a"_a, "q"_a, optional("axis"), out_argument(), "overwrite_input"_a = false, "method"_a = "linear",
          nb::arg("keepdims") = false);
  };
  quantile("quantile", quantiles(ct::quantile, ct::quantile));
  quantile("percentile", quantiles(ct::percentile, ct::percentile));
  quantile("nanquantile", quantiles(ct::nanquantile, ct::nanquantile));
  quantile("nanpercentile", quantiles(ct::nanpercentile, ct::nanpercentile));
  m.def(
      "cov",
      [](const Array& a, const OptionalArray& y, bool rowvar, bool bias, std::optional<double> ddof,
         const OptionalArray& fweights, const OptionalArray& aweights, DtypeArg dtype) {
        return ct::cov(a, y, {rowvar, bias, ddof, fweights, aweights, dtype.get()});
      },
      "a"_a, optional("y"), "rowvar"_a = true, "bias"_a = false, optional("ddof"), optional("fweights"),
      optional("aweights"), nb::kw_only(), no_dtype);
  using Correlating = Array (*)(const Array&, const OptionalArray&, bool, std::optional<Dtype>);
  m.def("corrcoef", freed(static_cast<Correlating>(ct::corrcoef)), "a"_a, optional("y"), "rowvar"_a = true,
        nb::kw_only(), no_dtype);
}

void register_products(nb::module_& m) {
  const auto no_dtype = optional("dtype");
  const auto out = out_argument();
  constexpr auto matmul = +[](const Array& a, const Array& b) { return ct::matmul(a, b); };
  m.def("matmul", delivered(matmul, "matmul"), "x1"_a, "x2"_a, out);
  both(
      m, "dot",
      [](const Array& a, const ArrayLike& b, Out out) {
        Array result = without_gil(is_large(a) || is_large(b.array), [&] { return ct::dot(a, b.array); });
        if (out.given() && (out.array()->dtype() != result.dtype() || !out.array()->is_contiguous()))
          raise(PyExc_ValueError, std::string("dot: out must be in C order and of the result's dtype, ") +
                                      ct::dtype_name(result.dtype()));
        return out(std::move(result), "dot");
      },
      "a", nb::arg("b"), out_argument());
  for (const auto& [name, f] : {std::pair("vdot", &ct::vdot), std::pair("inner", &ct::inner),
                                std::pair("outer", &ct::outer), std::pair("kron", &ct::kron)})
    m.def(name, delivered(f, name), "a"_a, "b"_a, out);
  m.def("_tensordot",
        freed(static_cast<Array (*)(const Array&, const Array&, const ct::Axes&, const ct::Axes&)>(ct::tensordot)));
  m.def(
      "_einsum",
      [](const std::string& subscripts, const std::vector<Self>& selves, DtypeArg dtype, const std::string& casting) {
        std::vector<Array> operands;
        for (const Self& self : selves) operands.push_back(self.array());
        const auto run = [&] {
          return without_gil(is_large(operands), [&] { return ct::einsum(subscripts, operands); });
        };
        if (selves.size() == 1 || !dtype.given()) {
          const Array result = run();  // "ii->i" is a view and keeps its dtype
          if (!dtype.given() || result.shares_memory(operands[0]))
            return checked(selves.size() == 1 ? wrap_view(result, selves[0].o) : wrap(result));
        }
        for (Array& operand : operands) {
          check_cast("einsum", operand.dtype(), *dtype.get(), casting);
          operand = operand.astype(*dtype.get());
        }
        return checked(wrap(run()));
      },
      "subscripts"_a, "operands"_a, no_dtype, "casting"_a);
  both(
      m, "trace",
      [](const Array& a, std::int64_t offset, int axis1, int axis2, DtypeArg dtype, Out out) {
        const std::optional<Dtype> d = dtype.get();
        const Array result = stored_parts(ct::trace(a, offset, axis1, axis2), d);
        return out(d ? result.astype(*d) : result, "trace");
      },
      "a", nb::arg("offset") = 0, nb::arg("axis1") = 0, nb::arg("axis2") = 1, no_dtype, out);
}

void register_polynomials(nb::module_& m) {
  m.def("convolve", freed(ct::convolve), "a"_a, "v"_a, "mode"_a = "full");
  m.def("correlate", freed(ct::correlate), "a"_a, "v"_a, "mode"_a = "valid");
  m.def("polyval", freed(ct::polyval), "p"_a, "x"_a);
  m.def(
      "_polyfit",
      [](const Array& x, const Array& y, int deg, std::optional<double> rcond, std::optional<Array> w, int cov) {
        const auto r = ct::polyfit(x, y, deg, {rcond, w, static_cast<ct::PolyfitOptions::Cov>(cov)});
        return nb::make_tuple(r.coefficients, r.residuals, r.rank, r.singular_values, r.rcond, r.covariance);
      },
      "x"_a, "y"_a, "deg"_a, "rcond"_a.none(), "w"_a.none(), "cov"_a);
}

namespace la = ct::linalg;

/// Registers factorisations and eigenvalues.
void register_factorisations(nb::module_& linalg) {
  linalg.def("cholesky", freed(la::cholesky), "a"_a);
  linalg.def("lu_factor", paired(la::lu), "a"_a);
  linalg.def("eigh", paired(la::eigh), "a"_a, "UPLO"_a = "L");
  linalg.def("eig", paired(la::eig), "a"_a);
  linalg.def("eigvals", freed(la::eigvals), "a"_a);
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
}

/// Registers solvers, inverses and norms.
void register_solvers(nb::module_& linalg) {
  linalg.def("inv", freed(la::inv), "a"_a);
  linalg.def("det", freed(la::det), "a"_a);
  linalg.def("slogdet", paired(la::slogdet), "a"_a);
  linalg.def("solve", freed(la::solve), "a"_a, "b"_a);
  linalg.def("tensorsolve", freed(la::tensorsolve), "a"_a, "b"_a, "axes"_a.none() = nb::none());
  linalg.def("tensorinv", freed(la::tensorinv), "a"_a, "ind"_a = 2);
  linalg.def("pinv", freed(la::pinv), "a"_a, optional("rcond"), "hermitian"_a = false);
  linalg.def("matrix_rank", freed(la::matrix_rank), "A"_a, optional("tol"), "hermitian"_a = false, nb::kw_only(),
             optional("rtol"));
  linalg.def(
      "lstsq",
      [](const Array& a, const Array& b, nb::handle rcond) {
        const auto r = la::lstsq(
            a, b,
            rcond.is_none() || PyUnicode_Check(rcond.ptr()) ? std::nullopt : std::optional(nb::cast<double>(rcond)));
        return nb::make_tuple(r.x, r.residuals, numpy().attr("int32")(r.rank), r.singular_values);
      },
      "a"_a, "b"_a, optional("rcond"));
  linalg.def(
      "solve_triangular",
      [](const Array& a, const Array& b, nb::handle trans, bool lower, bool unit_diagonal) {
        const std::string how = nb::cast<std::string>(nb::str(trans));
        if (how != "0" && how != "1" && how != "N" && how != "T" && how != "2" && how != "C")
          raise(PyExc_ValueError, "solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', not " + how);
        return la::solve_triangular(a, b, {how != "0" && how != "N", lower, unit_diagonal, how == "2" || how == "C"});
      },
      "a"_a, "b"_a, "trans"_a = 0, "lower"_a = false, "unit_diagonal"_a = false);
  linalg.def(
      "multi_dot", [](const std::vector<Array>& arrays) { return la::multi_dot(arrays); }, "arrays"_a);
  linalg.def("matrix_power", freed(la::matrix_power), "a"_a, "n"_a);
  linalg.def(
      "norm",
      [](const Array& x, nb::handle ord, const AxisArg& axis, bool keepdims) {
        return la::norm(x, norm_order(ord), axis, keepdims);
      },
      "x"_a, optional("ord"), optional("axis"), "keepdims"_a = false);
  linalg.def(
      "cond", [](const Array& x, nb::handle p) { return la::cond(x, norm_order(p)); }, "x"_a, optional("p"));
}

/// Registers cupy.linalg.
void register_linalg(nb::module_& m) {
  nb::module_ linalg = m.def_submodule("linalg", "Linear algebra with the names of numpy.linalg.");
  register_factorisations(linalg);
  register_solvers(linalg);
}

}  // namespace

void register_numbers(nb::module_& m) {
  register_means(m);
  register_reductions(m);
  register_cumulative(m);
  register_differences(m);
  register_elementwise(m);
  register_sorting(m);
  register_sets(m);
  register_histograms(m);
  register_statistics(m);
  register_products(m);
  register_polynomials(m);
  register_linalg(m);
}

}  // namespace catenary_python
