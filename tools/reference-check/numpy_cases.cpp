// The kinds of NumPy cases: call, getitem, setitem, inplace, error.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "catenary/array/elementwise.h"
#include "catenary/core/error.h"
#include "catenary/device/float64.h"
#include "numpy_arguments.h"
#include "report.h"

namespace reference {

namespace ct = catenary;

namespace {

template <class... Args>
[[noreturn]] void mismatch(fmt::format_string<Args...> format, Args&&... args) {
  throw Mismatch(fmt::format(format, std::forward<Args>(args)...));
}

std::string describe(const Array& a) { return std::string(ct::dtype_name(a.dtype())) + a.shape().str(); }

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
    mismatch("the result is {}, it should be {}", describe(got), describe(expected));
  got.eval();  // a 16-bit float is rounded where it is stored
  if (ct::is_floating(expected.dtype())) return compare_floats(got, expected, rtol, signed_zero);
  if (expected.dtype() == ct::Dtype::uint64) return compare_exactly<std::uint64_t>(got, expected);
  compare_exactly<std::int64_t>(got, expected);
}

class Case {
 public:
  Case(const json& j, const Arrays& arrays) : json_(j), arrays_(arrays) {}

  /// Whether one of its arrays is of this dtype.
  bool names(ct::Dtype dtype) const {
    for (const json& key : json_.value("results", json::array()))
      if (arrays_.dtype(key) == dtype) return true;
    return names(json_, dtype);
  }

  void run() const {
    const std::string kind = json_.at("kind");
    if (kind == "call") return check(call());
    if (kind == "getitem") return getitem();
    if (kind == "setitem") return check({setitem(target())});
    if (kind == "inplace") return check({inplace(target())});
    if (kind == "error") return refused();
    throw NotImplemented("kind " + kind);
  }

 private:
  bool names(const json& j, ct::Dtype dtype) const {
    if (j.is_object() && j.contains("array")) return arrays_.dtype(j["array"]) == dtype;
    return std::any_of(j.begin(), j.end(),
                       [&](const json& inner) { return inner.is_structured() && names(inner, dtype); });
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
      if (!result.shares_memory(x)) mismatch("the result is a copy, it should be a view");
      result.fill(77);
      const std::vector<double> seen = x.get(index).to_vector<double>();
      for (double value : seen)
        if (value != 77) mismatch("what was written through the view did not arrive in the array");
    } else {
      for (const ct::Index& i : index)
        if (i.kind() == ct::Index::Kind::array && result.shares_memory(x))
          mismatch("the result is a view, it should be a copy");
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
      ct::current_device().synchronize();  // where a GPU tells of indices out of range
    } catch (const ct::Error&) {
      if (x.defined() && x.to_vector<double>() != before) mismatch("it was refused, but the array has changed");
      return;
    }
    mismatch("it was not refused");
  }

  void check(const std::vector<Array>& results) const {
    const json& keys = json_.at("results");
    if (results.size() != keys.size()) mismatch("{} results, there should be {}", results.size(), keys.size());
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

}  // namespace

Report run_numpy(const std::string& directory, const json& manifest) {
  const Arrays arrays(directory);
  const bool has_float64 = ct::has_float64(ct::current_device());
  Report report;
  int position = 0;
  for (const json& c : manifest.at("cases")) {
    Line line{c.contains("id") ? c["id"].dump() : std::to_string(position), name_of(c), Verdict::passed, ""};
    ++position;
    try {
      const Case one(c, arrays);
      if (has_float64 || !one.names(ct::Dtype::float64)) {
        one.run();
      } else {
        line.verdict = Verdict::needs_float64;
        line.detail = "needs float64, which the device has not";
      }
    } catch (const NotImplemented& e) {
      line.verdict = Verdict::not_implemented;
      line.detail = e.what();
    } catch (
        const ct::DeviceError& e) {  // float64 between what is given and what comes out, as of an int32 and a float32
      const bool refused = !has_float64 && std::string_view(e.what()).find("has no float64") != std::string_view::npos;
      line.verdict = refused ? Verdict::needs_float64 : Verdict::failed;
      line.detail = e.what();
    } catch (const std::exception& e) {  // a mismatch, a refusal, a case that is not written as it should be
      line.verdict = Verdict::failed;
      line.detail = e.what();
    }
    report.lines.push_back(std::move(line));
  }
  return report;
}

}  // namespace reference
