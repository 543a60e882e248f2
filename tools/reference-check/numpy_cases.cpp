// The kinds of NumPy cases: call, getitem, setitem, inplace, error.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "catenary/array/elementwise.h"
#include "catenary/core/error.h"
#include "catenary/device/float64.h"
#include "numpy_arguments.h"
#include "report.h"
#include "sixteen.h"

namespace reference {

namespace ct = catenary;

namespace {

template <class... Args>
[[noreturn]] void mismatch(fmt::format_string<Args...> format, Args&&... args) {
  throw Mismatch(fmt::format(format, std::forward<Args>(args)...));
}

template <class T>
void compare_exactly(const Array& got, const Array& expected) {
  const std::vector<T> g = got.to_vector<T>(), e = expected.to_vector<T>();
  for (std::size_t i = 0; i < e.size(); ++i)
    if (g[i] != e[i]) mismatch("element {}: {} instead of {}", i, g[i], e[i]);
}

void compare_floats(const Array& got, const Array& expected, double rtol, bool signed_zero) {
  const std::vector<double> g = got.to_vector<double>(), e = expected.to_vector<double>();
  for (std::size_t i = 0; i < e.size(); ++i) {
    bool same = std::isnan(e[i]) ? std::isnan(g[i]) : g[i] == e[i] || std::abs(g[i] - e[i]) <= rtol * std::abs(e[i]);
    if (std::isinf(e[i]) || std::isinf(g[i])) same = g[i] == e[i];
    if (signed_zero && e[i] == 0 && std::signbit(g[i]) != std::signbit(e[i])) same = false;
    if (!same) mismatch("element {}: {:.17g} instead of {:.17g} (rtol {:g})", i, g[i], e[i], rtol);
  }
}

void compare(const Array& got, const Array& expected, double rtol, bool signed_zero) {
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape())
    mismatch("the result is {}, expected {}", describe(got), describe(expected));
  got.eval();  // 16-bit floats are rounded when they are stored
  if (ct::is_floating(expected.dtype())) return compare_floats(got, expected, rtol, signed_zero);
  if (expected.dtype() == ct::Dtype::uint64) return compare_exactly<std::uint64_t>(got, expected);
  compare_exactly<std::int64_t>(got, expected);
}

class Case {
 public:
  Case(const json& j, const Arrays& arrays) : json_(j), arrays_(arrays) {}

  /// The dtypes of its arrays: first the inputs', then the results'.
  std::set<ct::Dtype> given() const {
    std::set<ct::Dtype> all;
    collect(json_, all);
    return all;
  }
  std::vector<ct::Dtype> resulting() const {
    std::vector<ct::Dtype> all;
    for (const json& key : json_.value("results", json::array())) all.push_back(arrays_.dtype(key));
    return all;
  }
  /// Whether one of its arrays has this dtype.
  bool names(ct::Dtype dtype) const {
    const std::vector<ct::Dtype> results = resulting();
    return given().contains(dtype) || std::ranges::count(results, dtype) > 0;
  }
  bool is_error() const { return json_.at("kind") == "error"; }

  void run() const {
    const std::string kind = json_.at("kind");
    if (kind == "error") return refused();
    if (kind == "getitem") return getitem();
    check(results());
  }

  std::vector<Array> results() const {
    const std::string kind = json_.at("kind");
    if (kind == "call") return call();
    if (kind == "getitem") return {target().get(arrays_.index(json_.at("index")))};
    if (kind == "setitem") return {setitem(target())};
    if (kind == "inplace") return {inplace(target())};
    throw NotImplemented("kind " + kind);
  }

 private:
  void collect(const json& j, std::set<ct::Dtype>& all) const {
    if (j.is_object() && j.contains("array")) all.insert(arrays_.dtype(j["array"]));
    for (const json& inner : j)
      if (inner.is_structured()) collect(inner, all);
  }
  Array target() const { return arrays_.decode(json_.at("x")); }

  std::vector<Array> call() const {
    const json none = json::object();
    const auto keywords = json_.find("kwargs");
    Arguments arguments(arrays_, json_.at("args"), keywords == json_.end() ? none : *keywords);
    const std::vector<Array> results = call_numpy(json_.at("function"), arguments);
    arguments.check_all_used();
    return results;
  }

  Array setitem(const Array& x) const {
    const Value value = arrays_.value(json_.at("value"));
    x.set_at(arrays_.index(json_.at("index")), value);
    return x;
  }

  Array inplace(const Array& x) const {
    const Value value = arrays_.value(json_.at("value"));
    const std::string op = json_.at("op");
    if (op == "iadd") return x += value;
    if (op == "isub") return x -= value;
    if (op == "imul") return x *= value;
    if (op == "itruediv") return x /= value;
    throw NotImplemented("in-place operator " + op);
  }

  void getitem() const {
    const Array x = target();
    const std::vector<ct::Index> index = arrays_.index(json_.at("index"));
    const Array result = x.get(index);
    check({result});
    if (json_.value("view", false)) {
      if (!result.shares_memory(x)) mismatch("the result is a copy, expected a view");
      result.fill(77);
      const std::vector<double> seen = x.get(index).to_vector<double>();
      for (double value : seen)
        if (value != 77) mismatch("a value written through the view did not change the array");
    } else {
      for (const ct::Index& i : index)
        if (i.kind() == ct::Index::Kind::array && result.shares_memory(x))
          mismatch("the result is a view, expected a copy");
    }
  }

  void refused() const {
    const std::string of = json_.at("of");
    Array x;
    std::vector<double> before;
    if (of != "call") {
      x = target();
      before = x.to_vector<double>();
    }
    try {
      if (of == "call") {
        for (const Array& result : call()) result.eval();
      } else if (of == "getitem") {
        x.get(arrays_.index(json_.at("index"))).eval();
      } else if (of == "setitem") {
        setitem(x).eval();
      } else if (of == "inplace") {
        inplace(x).eval();
      } else {
        throw NotImplemented("error of " + of);
      }
      ct::current_device().synchronize();  // GPUs report indices out of range here
    } catch (const ct::Error&) {
      if (x.defined() && x.to_vector<double>() != before) mismatch("it was refused, but the array has changed");
      return;
    }
    mismatch("it was not refused");
  }

  void check(const std::vector<Array>& results) const {
    const json& keys = json_.at("results");
    if (results.size() != keys.size()) mismatch("got {} results, expected {}", results.size(), keys.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      try {
        compare(results[i], arrays_.load(keys[i]), json_.value("rtol", 0.0), json_.value("signed_zero", false));
      } catch (const Mismatch& e) {
        if (results.size() == 1) throw;
        mismatch("result {}: {}", i, e.what());
      }
    }
  }

  const json& json_;
  const Arrays& arrays_;
};

std::string name_of(const json& c) {
  const std::string kind = c.value("kind", "?");
  if (c.contains("function"))
    return kind == "call" ? c["function"].get<std::string>() : "error of " + c["function"].get<std::string>();
  if (kind == "error") return "error of " + c.value("of", "?");
  return c.contains("op") ? c["op"].get<std::string>() : kind;
}

bool is_among(const std::string& names, const std::string& name) {
  return (" " + names + " ").find(" " + name + " ") != std::string::npos;
}

// Functions that refuse 16 bits, in some cases or in all.
constexpr const char* kTooNarrow =
    "linalg.cholesky linalg.cond linalg.det linalg.eigvalsh linalg.inv linalg.lstsq linalg.matrix_rank linalg.norm "
    "linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals polyfit solve_triangular";
// Functions that round between two steps.
constexpr const char* kSeveralSteps = "histogram linalg.multi_dot nanquantile quantile trapezoid";
constexpr Units kOneStep = {0.5, 0.5}, kTwoSteps = {0.5, 4};

/// Why a case cannot check 16-bit computation, or empty if it can.
std::string why_not_in_16_bits(const json& c, const Case& one) {
  const std::string function = c.value("function", "");
  if (is_among("histogram2d interp", function)) return "its result is always float64";
  if (is_among("percentile nanpercentile", function)) return "a list of percentages is float64, and so is its result";
  if (function == "nan_to_num") return "it puts the dtype's own largest numbers in";
  std::set<ct::Dtype> floats = one.given();
  std::erase_if(floats, [](ct::Dtype dtype) { return !ct::is_floating(dtype); });
  if (floats.empty()) return "it is given no floating-point numbers";
  if (floats.size() > 1) return "it mixes floating-point dtypes";
  if (ct::is_16bit_float(*floats.begin())) return "it is given 16 bits anyway";
  const std::string arguments = c.value("args", json::array()).dump() + c.value("kwargs", json::object()).dump();
  if (arguments.find("\"dtype\"") != std::string::npos) return "it names a dtype";
  for (const ct::Dtype dtype : one.resulting())
    if (ct::is_floating(dtype) && dtype != *floats.begin()) return "its result has a dtype of its own";
  return "";
}

/// Rounds the inputs to 16 bits and compares the results with float64 results on the CPU.
void check_in_16_bits(const json& c, const Arrays& narrow, const Arrays& wide, ct::Dtype dtype) {
  const Case one(c, narrow);
  if (one.is_error()) return one.run();
  std::vector<Array> expected;
  {
    const ct::DeviceScope processor{ct::Device()};
    expected = Case(c, wide).results();
  }
  const std::vector<Array> got = one.results();
  if (got.size() != expected.size()) mismatch("got {} results, expected {}", got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ct::Dtype wanted = expected[i].dtype();
    if (ct::is_floating(wanted)) {
      wanted = dtype;
      for (const ct::Dtype beside : one.given())
        if (ct::is_integer(beside) && got[i].dtype() == ct::promote(beside, dtype)) wanted = got[i].dtype();
    }
    compare_in_16_bits(fmt::format("result {}", i), got[i], expected[i], wanted,
                       is_among(kSeveralSteps, c.value("function", "")) ? kTwoSteps : kOneStep);
  }
}

}  // namespace

Report run_numpy(const std::string& directory, const json& manifest, std::optional<ct::Dtype> sixteen) {
  const Arrays arrays(directory);
  std::optional<Arrays> narrow, wide;
  if (sixteen) {
    narrow.emplace(directory, Rounding{*sixteen, *sixteen});
    wide.emplace(directory, Rounding{*sixteen, ct::Dtype::float64});
  }
  const bool has_float64 = ct::has_float64(ct::current_device());
  Report report;
  int position = 0;
  for (const json& c : manifest.at("cases")) {
    Line line{c.contains("id") ? c["id"].dump() : std::to_string(position), name_of(c), Verdict::passed, ""};
    ++position;
    try {
      const Case one(c, arrays);
      if (sixteen) {
        line.detail = why_not_in_16_bits(c, one);
        if (line.detail.empty())
          check_in_16_bits(c, *narrow, *wide, *sixteen);
        else
          line.verdict = Verdict::not_in_16_bits;
      } else if (has_float64 || !one.names(ct::Dtype::float64)) {
        one.run();
      } else {
        line.verdict = Verdict::needs_float64;
        line.detail = "needs float64, which the device has not";
      }
    } catch (const NotImplemented& e) {
      line.verdict = Verdict::not_implemented;
      line.detail = e.what();
    } catch (const ct::DtypeError& e) {
      const bool narrow_alone = sixteen && is_among(kTooNarrow, line.function);
      line.verdict = narrow_alone ? Verdict::not_in_16_bits : Verdict::failed;
      line.detail = e.what();
    } catch (const ct::DeviceError& e) {  // an intermediate result is float64, for example of int32 and float32
      const bool refused = !has_float64 && std::string_view(e.what()).find("has no float64") != std::string_view::npos;
      line.verdict = refused ? Verdict::needs_float64 : Verdict::failed;
      line.detail = e.what();
    } catch (const std::exception& e) {  // a mismatch, an error of the function, or an invalid case
      line.verdict = Verdict::failed;
      line.detail = e.what();
    }
    report.lines.push_back(std::move(line));
  }
  return report;
}

}  // namespace reference
