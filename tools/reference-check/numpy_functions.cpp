// NumPy's functions by name, mapped to their counterparts.

#include "numpy_functions.h"

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/statistics.h"
#include "catenary/core/error.h"
#include "numpy_arguments.h"

namespace reference {

namespace ct = catenary;

namespace {

void add_elementwise(Table& table) {
#define CT_FUNCTION_1(name) [](Arguments& a) -> Results { return {ct::name(a.value(0))}; }
#define CT_FUNCTION_2(name) [](Arguments& a) -> Results { return {ct::name(a.value(0), a.value(1))}; }
#define CT_FUNCTION_3(name) [](Arguments& a) -> Results { return {ct::name(a.value(0), a.value(1), a.value(2))}; }
#define CT_OP(name, arity, ...) table[#name] = CT_FUNCTION_##arity(name);
#include "catenary/ops/elementwise.def"
#undef CT_OP
  table["abs"] = CT_FUNCTION_1(abs);
  table["bitwise_not"] = CT_FUNCTION_1(bitwise_not);
  table["fabs"] = CT_FUNCTION_1(fabs);
  table["true_divide"] = CT_FUNCTION_2(true_divide);
  table["ldexp"] = CT_FUNCTION_2(ldexp);
  table["positive"] = [](Arguments& a) -> Results { return {ct::positive(a.array(0))}; };
  table["divmod"] = [](Arguments& a) { return both(ct::divmod(a.value(0), a.value(1))); };
  table["modf"] = [](Arguments& a) { return both(ct::modf(a.value(0))); };
  table["frexp"] = [](Arguments& a) { return both(ct::frexp(a.value(0))); };
  table["where"] = [](Arguments& a) -> Results { return {ct::where(a.value(0), a.value(1), a.value(2))}; };
  table["clip"] = [](Arguments& a) -> Results {
    const std::optional<Value> low = a.optional_value(1), high = a.optional_value(2);
    const auto end = [](const std::optional<Value>& v) { return v ? std::optional<ct::Operand>(*v) : std::nullopt; };
    return {ct::clip(a.array(0), end(low), end(high))};
  };
  table["astype"] = [](Arguments& a) -> Results { return {a.array(0).astype(a.dtype(1).value())}; };
}

void add_reductions(Table& table) {
#define CT_FUNCTION(name) \
  table[#name] = [](Arguments& a) -> Results { return {ct::name(a.array(0), a.axis(), a.flag("keepdims"))}; };
  CT_FUNCTION(min)
  CT_FUNCTION(max)
  CT_FUNCTION(amin)
  CT_FUNCTION(amax)
  CT_FUNCTION(any)
  CT_FUNCTION(all)
  CT_FUNCTION(count_nonzero)
  CT_FUNCTION(median)
  CT_FUNCTION(nanmedian)
  CT_FUNCTION(ptp)
  CT_FUNCTION(nansum)
  CT_FUNCTION(nanprod)
  CT_FUNCTION(nanmean)
  CT_FUNCTION(nanmax)
  CT_FUNCTION(nanmin)
#undef CT_FUNCTION
#define CT_FUNCTION(name)                                                   \
  table[#name] = [](Arguments& a) -> Results {                              \
    return {ct::name(a.array(0), a.axis(), a.flag("keepdims"), a.dtype())}; \
  };
  CT_FUNCTION(sum)
  CT_FUNCTION(prod)
  CT_FUNCTION(mean)
#undef CT_FUNCTION
#define CT_FUNCTION(name)                                                        \
  table[#name] = [](Arguments& a) -> Results {                                   \
    return {ct::name(a.array(0), a.axis(), a.flag("keepdims"), a.real("ddof"))}; \
  };
  CT_FUNCTION(std)
  CT_FUNCTION(var)
  CT_FUNCTION(nanstd)
  CT_FUNCTION(nanvar)
#undef CT_FUNCTION
  table["argmin"] = [](Arguments& a) -> Results { return {ct::argmin(a.array(0), a.one_axis(), a.flag("keepdims"))}; };
  table["argmax"] = [](Arguments& a) -> Results { return {ct::argmax(a.array(0), a.one_axis(), a.flag("keepdims"))}; };
  table["nanargmin"] = [](Arguments& a) -> Results {
    return {ct::nanargmin(a.array(0), a.one_axis(), a.flag("keepdims"))};
  };
  table["nanargmax"] = [](Arguments& a) -> Results {
    return {ct::nanargmax(a.array(0), a.one_axis(), a.flag("keepdims"))};
  };
  table["average"] = [](Arguments& a) -> Results {
    return {ct::average(a.array(0), a.axis(), {}, a.flag("keepdims"))};
  };
  table["cumsum"] = [](Arguments& a) -> Results { return {ct::cumsum(a.array(0), a.one_axis(), a.dtype())}; };
  table["cumprod"] = [](Arguments& a) -> Results { return {ct::cumprod(a.array(0), a.one_axis(), a.dtype())}; };
  table["nancumsum"] = [](Arguments& a) -> Results { return {ct::nancumsum(a.array(0), a.one_axis(), a.dtype(2))}; };
  table["nancumprod"] = [](Arguments& a) -> Results { return {ct::nancumprod(a.array(0), a.one_axis(), a.dtype(2))}; };
  table["diff"] = [](Arguments& a) -> Results {
    return {ct::diff(a.array(0), static_cast<int>(a.integer("n", 1, 1)), a.one_axis(2).value_or(-1))};
  };
  const auto quantile = [](auto one, auto several) {
    return [=](Arguments& a) -> Results {
      const json& q = a.get("q", 1);
      const ct::AxisArg axis = a.axis("axis", 2);
      const bool keepdims = a.flag("keepdims");
      const auto method = choice<ct::QuantileMethod>(a.text("method", -1, "linear"));
      if (q.is_array()) return {several(a.array(0), q.get<std::vector<double>>(), axis, keepdims, method)};
      return {one(a.array(0), number(q), axis, keepdims, method)};
    };
  };
#define CT_FUNCTION(name) \
  table[#name] = quantile([](auto&&... x) { return ct::name(x...); }, [](auto&&... x) { return ct::name(x...); });
  CT_FUNCTION(percentile)
  CT_FUNCTION(quantile)
  CT_FUNCTION(nanpercentile)
  CT_FUNCTION(nanquantile)
#undef CT_FUNCTION
  table["ediff1d"] = [](Arguments& a) -> Results {
    const std::optional<Value> end = a.find("to_end", 1), begin = a.find("to_begin", 2);
    const auto border = [](const std::optional<Value>& v) { return v ? std::optional<ct::Operand>(*v) : std::nullopt; };
    return {ct::ediff1d(a.array(0), border(end), border(begin))};
  };
  table["cross"] = [](Arguments& a) -> Results {
    const auto axis = [&](const char* name, int position) { return a.one_axis(position, name).value_or(-1); };
    return {ct::cross(a.array(0), a.array(1), axis("axisa", 2), axis("axisb", 3), axis("axisc", 4), a.one_axis(5))};
  };
  table["trapezoid"] = [](Arguments& a) -> Results {
    const std::optional<Value> x = a.find("x", 1);
    return {ct::trapezoid(a.array(0), x ? std::optional(x->array()) : std::nullopt, a.real("dx", 2, 1),
                          a.one_axis(3).value_or(-1))};
  };
}

/// The axis of a sort: -1 by default, null flattens.
std::optional<int> sort_axis(Arguments& a, int position = 1) {
  const std::string kind = a.text("kind", -1, "stable");
  if (kind != "stable" && kind != "mergesort") throw NotImplemented("the sort kind '" + kind + "'");
  const bool given = a.given("axis", position);
  const std::optional<int> axis = a.one_axis(position);
  return given ? axis : std::optional(-1);
}

void add_sorting(Table& table) {
  table["sort"] = [](Arguments& a) -> Results { return {ct::sort(a.array(0), sort_axis(a))}; };
  table["argsort"] = [](Arguments& a) -> Results { return {ct::argsort(a.array(0), sort_axis(a))}; };
  table["lexsort"] = [](Arguments& a) -> Results { return {ct::lexsort(a.array(0))}; };
  table["partition_kth"] = [](Arguments& a) -> Results {
    const std::int64_t k = a.integer("kth", 1);
    return {ct::partition(a.array(0), k)(k)};
  };
  table["unique"] = [](Arguments& a) {
    const ct::UniqueOptions options{a.flag("return_index"), a.flag("return_inverse"), a.flag("return_counts")};
    const ct::UniqueResult r = ct::unique(a.array(0), options);
    Results results{r.values};
    if (options.return_index) results.push_back(r.index);
    if (options.return_inverse) results.push_back(r.inverse);
    if (options.return_counts) results.push_back(r.counts);
    return results;
  };
  table["searchsorted"] = [](Arguments& a) -> Results {
    return {ct::searchsorted(a.array(0), a.value(1), choice<ct::Side>(a.text("side", 2, "left")))};
  };
  table["digitize"] = [](Arguments& a) -> Results {
    return {ct::digitize(a.array(0), a.array(1), a.flag("right", 2))};
  };
  table["bincount"] = [](Arguments& a) -> Results { return {ct::bincount(a.array(0), {}, a.integer("minlength"))}; };
  table["histogram"] = [](Arguments& a) { return both(ct::histogram(a.array(0), a.integer("bins", 1, 10))); };
  table["histogram2d"] = [](Arguments& a) -> Results {
    const auto range = [](const json& j) { return std::optional(std::pair(number(j.at(0)), number(j.at(1)))); };
    ct::Histogram2dOptions options;
    if (const json& j = a.get("range", 3); !j.is_null()) {
      options.x_range = range(j.at(0));
      options.y_range = range(j.at(1));
    }
    options.density = a.flag("density", 4);
    if (const std::optional<Value> weights = a.find("weights", 5)) options.weights = weights->array();
    const auto bins = [&](const json& j) {
      return j.is_number() ? ct::HistogramBins(j.get<std::int64_t>()) : ct::HistogramBins(a.decode(j).array());
    };
    const json& j = a.get("bins", 2);
    const ct::HistogramBins x = j.is_null() ? ct::HistogramBins(10) : bins(j.is_array() ? j.at(0) : j);
    const ct::Histogram2dResult r =
        ct::histogram2d(a.array(0), a.array(1), x, j.is_array() ? bins(j.at(1)) : x, options);
    return {r.counts, r.x_edges, r.y_edges};
  };
  table["isin"] = [](Arguments& a) -> Results { return {ct::isin(a.array(0), a.array(1), a.flag("invert"))}; };
  table["intersect1d"] = [](Arguments& a) -> Results { return {ct::intersect1d(a.array(0), a.array(1))}; };
  table["union1d"] = [](Arguments& a) -> Results { return {ct::union1d(a.array(0), a.array(1))}; };
  table["setdiff1d"] = [](Arguments& a) -> Results { return {ct::setdiff1d(a.array(0), a.array(1))}; };
  table["array_equal"] = [](Arguments& a) -> Results {
    return {ct::array(ct::array_equal(a.array(0), a.array(1), a.flag("equal_nan")))};
  };
  table["nan_to_num"] = [](Arguments& a) -> Results { return {ct::nan_to_num(a.array(0))}; };
  table["around"] = table["round"] = [](Arguments& a) -> Results {
    return {ct::around(a.array(0), static_cast<int>(a.integer("decimals", 1)))};
  };
  table["fix"] = [](Arguments& a) -> Results { return {ct::fix(a.array(0))}; };
  table["interp"] = [](Arguments& a) -> Results { return {ct::interp(a.array(0), a.array(1), a.array(2))}; };
  table["cov"] = [](Arguments& a) -> Results { return {ct::cov(a.array(0))}; };
  table["corrcoef"] = [](Arguments& a) -> Results { return {ct::corrcoef(a.array(0))}; };
}

void add_axes(Table& table) {
  table["reshape"] = [](Arguments& a) -> Results { return {ct::reshape(a.array(0), a.shape("shape", 1))}; };
  table["ravel"] = [](Arguments& a) -> Results { return {ct::ravel(a.array(0))}; };
  table["transpose"] = [](Arguments& a) -> Results {
    if (a.given("axes", 1)) return {ct::transpose(a.array(0), a.shape("axes", 1))};
    return {ct::transpose(a.array(0))};
  };
  table["swapaxes"] = [](Arguments& a) -> Results {
    return {ct::swapaxes(a.array(0), static_cast<int>(a.integer("axis1", 1)), static_cast<int>(a.integer("axis2", 2)))};
  };
  table["moveaxis"] = [](Arguments& a) -> Results {
    return {ct::moveaxis(a.array(0), a.shape("source", 1), a.shape("destination", 2))};
  };
  table["rollaxis"] = [](Arguments& a) -> Results {
    return {ct::rollaxis(a.array(0), static_cast<int>(a.integer("axis", 1)), static_cast<int>(a.integer("start", 2)))};
  };
  table["expand_dims"] = [](Arguments& a) -> Results { return {ct::expand_dims(a.array(0), a.axis())}; };
  table["squeeze"] = [](Arguments& a) -> Results { return {ct::squeeze(a.array(0), a.axis())}; };
  table["broadcast_to"] = [](Arguments& a) -> Results { return {ct::broadcast_to(a.array(0), a.shape("shape", 1))}; };
  table["atleast_1d"] = [](Arguments& a) -> Results { return {ct::atleast_1d(a.array(0))}; };
  table["atleast_2d"] = [](Arguments& a) -> Results { return {ct::atleast_2d(a.array(0))}; };
  table["atleast_3d"] = [](Arguments& a) -> Results { return {ct::atleast_3d(a.array(0))}; };
  table["flip"] = [](Arguments& a) -> Results { return {ct::flip(a.array(0), a.axis())}; };
  table["fliplr"] = [](Arguments& a) -> Results { return {ct::fliplr(a.array(0))}; };
  table["flipud"] = [](Arguments& a) -> Results { return {ct::flipud(a.array(0))}; };
  table["roll"] = [](Arguments& a) -> Results {
    if (a.get("shift", 1).is_array()) return {ct::roll(a.array(0), a.shape("shift", 1), a.shape("axis", 2))};
    return {ct::roll(a.array(0), a.integer("shift", 1), a.one_axis(2))};
  };
  table["rot90"] = [](Arguments& a) -> Results {
    return {ct::rot90(a.array(0), static_cast<int>(a.integer("k", 1, 1)))};
  };
}

ct::Sections sections(Arguments& a) {
  const json& j = a.get("indices_or_sections", 1);
  return j.is_array() ? ct::Sections(integers(j)) : ct::Sections(j.get<std::int64_t>());
}

void add_joining(Table& table) {
  table["tile"] = [](Arguments& a) -> Results { return {ct::tile(a.array(0), a.shape("reps", 1))}; };
  table["repeat"] = [](Arguments& a) -> Results { return {ct::repeat(a.array(0), a.value(1), a.one_axis(2))}; };
  table["concatenate"] = [](Arguments& a) -> Results {
    const bool given = a.given("axis", 1);
    const std::optional<int> axis = a.one_axis(1);
    return {ct::concatenate(a.arrays(0), given ? axis : std::optional(0))};
  };
  table["stack"] = [](Arguments& a) -> Results { return {ct::stack(a.arrays(0), a.one_axis(1).value_or(0))}; };
  table["vstack"] = [](Arguments& a) -> Results { return {ct::vstack(a.arrays(0))}; };
  table["hstack"] = [](Arguments& a) -> Results { return {ct::hstack(a.arrays(0))}; };
  table["dstack"] = [](Arguments& a) -> Results { return {ct::dstack(a.arrays(0))}; };
  table["column_stack"] = [](Arguments& a) -> Results { return {ct::column_stack(a.arrays(0))}; };
  table["append"] = [](Arguments& a) -> Results { return {ct::append(a.array(0), a.array(1), a.one_axis(2))}; };
  table["split"] = [](Arguments& a) { return ct::split(a.array(0), sections(a), a.one_axis(2).value_or(0)); };
  table["array_split"] = [](Arguments& a) {
    return ct::array_split(a.array(0), sections(a), a.one_axis(2).value_or(0));
  };
  table["hsplit"] = [](Arguments& a) { return ct::hsplit(a.array(0), sections(a)); };
  table["vsplit"] = [](Arguments& a) { return ct::vsplit(a.array(0), sections(a)); };
  table["dsplit"] = [](Arguments& a) { return ct::dsplit(a.array(0), sections(a)); };
  table["trim_zeros"] = [](Arguments& a) -> Results { return {ct::trim_zeros(a.array(0), a.text("trim", 1, "fb"))}; };
  table["pad"] = [](Arguments& a) -> Results {
    ct::PadOptions options{.mode = choice<ct::PadMode>(a.text("mode", 2, "constant"))};
    if (const json& value = a.get("constant_values"); !value.is_null()) {
      if (!value.is_number()) throw NotImplemented("constant_values " + value.dump());
      options.constant_value = number(value);
    }
    const json& width = a.get("pad_width", 1);
    if (width.is_number()) return {ct::pad(a.array(0), width.get<std::int64_t>(), options)};
    return {ct::pad(a.array(0), width.get<std::vector<std::pair<std::int64_t, std::int64_t>>>(), options)};
  };
}

ct::IndexMode index_mode(Arguments& a, int position) {
  return choice<ct::IndexMode>(a.text("mode", position, "raise"));
}

void add_indexing(Table& table) {
  table["take"] = [](Arguments& a) -> Results {
    return {ct::take(a.array(0), a.value(1), a.one_axis(2), index_mode(a, -1))};
  };
  table["take_along_axis"] = [](Arguments& a) -> Results {
    return {ct::take_along_axis(a.array(0), a.array(1), a.one_axis(2).value_or(-1))};
  };
  table["diag"] = [](Arguments& a) -> Results { return {ct::diag(a.array(0), a.integer("k", 1))}; };
  table["diagonal"] = [](Arguments& a) -> Results {
    return {ct::diagonal(a.array(0), a.integer("offset", 1), static_cast<int>(a.integer("axis1", 2, 0)),
                         static_cast<int>(a.integer("axis2", 3, 1)))};
  };
  table["tril"] = [](Arguments& a) -> Results { return {ct::tril(a.array(0), a.integer("k", 1))}; };
  table["triu"] = [](Arguments& a) -> Results { return {ct::triu(a.array(0), a.integer("k", 1))}; };
  table["nonzero"] = [](Arguments& a) { return ct::nonzero(a.array(0)); };
  table["argwhere"] = [](Arguments& a) -> Results { return {ct::argwhere(a.array(0))}; };
  table["flatnonzero"] = [](Arguments& a) -> Results { return {ct::flatnonzero(a.array(0))}; };
  table["unravel_index"] = [](Arguments& a) { return ct::unravel_index(a.value(0), a.shape("shape", 1)); };
  table["ravel_multi_index"] = [](Arguments& a) -> Results {
    return {ct::ravel_multi_index(a.arrays(0), a.shape("dims", 1), index_mode(a, -1))};
  };
}

void add_creation(Table& table) {
  using ct::Dtype;
  const auto columns = [](Arguments& a) {
    const json& m = a.get("M", 1);
    return m.is_null() ? std::nullopt : std::optional(m.get<std::int64_t>());
  };
  table["eye"] = [=](Arguments& a) -> Results {
    return {ct::eye(a.integer("N", 0), columns(a), a.integer("k", 2), a.dtype().value_or(Dtype::float64))};
  };
  table["tri"] = [=](Arguments& a) -> Results {
    return {ct::tri(a.integer("N", 0), columns(a), a.integer("k", 2), a.dtype().value_or(Dtype::float64))};
  };
  table["identity"] = [](Arguments& a) -> Results {
    return {ct::identity(a.integer("n", 0), a.dtype().value_or(Dtype::float64))};
  };
  table["zeros"] = [](Arguments& a) -> Results {
    return {ct::zeros(a.shape("shape", 0), a.dtype().value_or(Dtype::float64))};
  };
  table["ones"] = [](Arguments& a) -> Results {
    return {ct::ones(a.shape("shape", 0), a.dtype().value_or(Dtype::float64))};
  };
  table["full"] = [](Arguments& a) -> Results { return {ct::full(a.shape("shape", 0), a.value(1), a.dtype())}; };
  table["zeros_like"] = [](Arguments& a) -> Results { return {ct::zeros_like(a.array(0), a.dtype())}; };
  table["ones_like"] = [](Arguments& a) -> Results { return {ct::ones_like(a.array(0), a.dtype())}; };
  table["full_like"] = [](Arguments& a) -> Results { return {ct::full_like(a.array(0), a.value(1), a.dtype())}; };
  table["arange"] = [](Arguments& a) -> Results {
    if (a.count() == 1) return {ct::arange(a.literal(0), a.dtype())};
    return {ct::arange(a.literal(0), a.literal(1), a.count() > 2 ? a.literal(2) : ct::Scalar(1), a.dtype())};
  };
  table["linspace"] = [](Arguments& a) -> Results {
    return {ct::linspace(a.real("start", 0), a.real("stop", 1), a.integer("num", 2, 50),
                         {.endpoint = a.flag("endpoint", 3, true), .dtype = a.dtype()})};
  };
  table["logspace"] = [](Arguments& a) -> Results {
    return {ct::logspace(a.real("start", 0), a.real("stop", 1), a.integer("num", 2, 50),
                         {.endpoint = a.flag("endpoint", 3, true), .base = a.real("base", 4, 10), .dtype = a.dtype()})};
  };
  table["meshgrid"] = [](Arguments& a) {
    return ct::meshgrid(a.rest(0), {.indexing = a.text("indexing", -1, "xy"), .sparse = a.flag("sparse")});
  };
  table["indices"] = [](Arguments& a) -> Results {
    return {ct::indices(a.shape("dimensions", 0), a.dtype().value_or(Dtype::int64))};
  };
}

Table make_table() {
  Table table;
  add_elementwise(table);
  add_reductions(table);
  add_sorting(table);
  add_linalg(table);
  add_axes(table);
  add_joining(table);
  add_indexing(table);
  add_creation(table);
  return table;
}

}  // namespace

std::vector<Array> call_numpy(const std::string& function, Arguments& arguments) {
  static const Table table = make_table();
  const auto found = table.find(function);
  if (found == table.end()) throw NotImplemented("the function is not known here");
  return found->second(arguments);
}

}  // namespace reference
