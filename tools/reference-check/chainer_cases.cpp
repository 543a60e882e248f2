// Chainer's vectors: functions with first and second derivatives, links, models, and trajectories of optimizers.

#include <functional>
#include <optional>

#include "catenary/autograd/backward.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/device/float64.h"
#include "chainer_arrays.h"
#include "chainer_functions.h"
#include "chainer_links.h"
#include "chainer_models.h"
#include "chainer_optimizers.h"
#include "chainer_precision.h"
#include "chainer_sixteen.h"
#include "tests/again.h"

namespace reference {

namespace ct = catenary;
using ct::Dtype;

namespace {

/// For values, gradients, and gradients of gradients.
using Tolerances = std::array<Tolerance, 3>;
constexpr Tolerances kDouble = {Tolerance{1e-9, 1e-11}, Tolerance{1e-9, 1e-10}, Tolerance{1e-8, 1e-9}};
constexpr Tolerances kSingle = {Tolerance{1e-3, 1e-5}, Tolerance{1e-3, 1e-4}, Tolerance{5e-3, 1e-3}};

std::string numbered(const char* name, std::size_t i) { return name + std::to_string(i); }

class FunctionCase {
 public:
  FunctionCase(const json& entry, const FunctionTable& table, const Vectors& vectors)
      : entry_(entry), vectors_(vectors), call_(table.find(entry.at("function"))) {}

  void run() const {
    const auto train = ct::using_config(ct::config.train, entry_.at("train").get<bool>());
    const auto default_dtype = ct::using_config(ct::config.dtype, vectors_.dtype());

    Inputs x;
    for (std::size_t i = 0; i < entry_.at("n_in").get<std::size_t>(); ++i) {
      const Array a = vectors_.given(numbered("x", i));
      x.push_back(ct::is_floating(a.dtype()) ? Variable(a) : ct::as_variable(a));
    }
    Keywords keywords(entry_.at("kwargs"));
    tests::Again again;
    const std::vector<Variable> y = call_(x, keywords);
    keywords.check_all_used();
    refuses_undefined(x);
    if (y.size() != entry_.at("n_out").get<std::size_t>())
      throw Mismatch(fmt::format("got {} results, expected {}", y.size(), entry_.at("n_out").get<int>()));
    for (std::size_t i = 0; i < y.size(); ++i) compare(numbered("y", i), y[i].array(), Part::value);
    if (entry_.at("grad").get<bool>()) gradients(x, y);
    if (const std::string wrong = again.check(); !wrong.empty()) throw Mismatch(wrong);
  }

 private:
  bool single_inputs() const {
    for (std::size_t i = 0; i < entry_.at("n_in").get<std::size_t>(); ++i)
      if (vectors_.file().read_array(numbered("x", i)).dtype == Dtype::float32) return true;
    return false;
  }

  /// Checks that an undefined Variable as an input is refused with a message that names the function.
  void refuses_undefined(const Inputs& x) const {
    const std::string function = entry_.at("function");
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (function == "upsampling_2d" && i == 1) continue;  // an array, not a Variable
      if (function == "connectionist_temporal_classification" && i + 2 >= x.size()) continue;  // lengths are optional
      Inputs without = x;
      without[i] = Variable();
      Keywords keywords(entry_.at("kwargs"));
      try {
        call_(without, keywords);
      } catch (const ct::ValueError& error) {
        if (!std::string_view(error.what()).starts_with("an undefined Variable was used")) continue;
        throw Mismatch(fmt::format("of an undefined input {} it says: {}", i, error.what()));
      }
      throw Mismatch(fmt::format("it takes an undefined input {}", i));
    }
  }

  /// Chainer's hinge with a mean divides its given gradient in place, by the number of examples, before the vectors are
  /// written.
  double gradient_scale(const Inputs& x) const {
    const bool mean = entry_.at("kwargs").value("reduce", "mean") == "mean";
    return entry_.at("function") == "hinge" && mean ? static_cast<double>(x[0].shape(0)) : 1;
  }

  void gradients(const Inputs& x, const std::vector<Variable>& y) const {
    const bool twice = entry_.at("double").get<bool>();
    std::vector<Variable> gy, wanted;
    std::vector<std::size_t> positions;  // of `wanted` among the inputs
    for (std::size_t i = 0; i < y.size(); ++i) gy.emplace_back(vectors_.given(numbered("gy", i), gradient_scale(x)));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!x[i].requires_grad()) continue;
      wanted.push_back(x[i]);
      positions.push_back(i);
    }
    std::vector<Variable> gx = ct::grad(y, wanted, {.grad_outputs = gy, .enable_double_backprop = twice});
    for (std::size_t k = 0; k < gx.size(); ++k) compare_gradient(numbered("gx", positions[k]), gx[k], Part::gradient);
    if (!twice) return;

    std::vector<Variable> outputs, ggx;
    for (std::size_t k = 0; k < gx.size(); ++k) {
      const std::string key = numbered("ggx", positions[k]);
      if (!vectors_.contains(key)) continue;
      if (!gx[k].defined()) throw Mismatch("there is no gradient " + numbered("gx", positions[k]));
      outputs.push_back(ct::functions::identity(gx[k]));
      ggx.emplace_back(vectors_.given(key));
    }
    std::vector<Variable> inputs = wanted;
    inputs.insert(inputs.end(), gy.begin(), gy.end());
    const std::vector<Variable> second = ct::grad(outputs, inputs, {.grad_outputs = ggx});
    for (std::size_t k = 0; k < second.size(); ++k)
      compare_gradient(k < wanted.size() ? numbered("d_x", positions[k]) : numbered("d_gy", k - wanted.size()),
                       second[k], Part::second);
  }

  /// If the reference has no gradient, ours must be undefined or zero.
  void compare_gradient(const std::string& key, const Variable& got, Part part) const {
    const Array values = got.defined() ? got.array() : Array();
    if (vectors_.contains(key)) return compare(key, values, part);
    if (values.defined() && values.any()) throw Mismatch("unexpected gradient " + key);
  }

  void compare(const std::string& key, const Array& got, Part part) const {
    vectors_.compare(key, got, part, tolerances_[static_cast<std::size_t>(part)]);
  }

  const json& entry_;
  const Vectors& vectors_;
  const FunctionTable::Call& call_;
  const Tolerances& tolerances_ = vectors_.dtype() == Dtype::float64 && !single_inputs() ? kDouble : kSingle;
};

/// Runs the cases of a manifest one by one, and adds their results.
class Cases {
 public:
  Cases(const std::string& directory, std::optional<Dtype> sixteen, Report& report)
      : directory_(directory), sixteen_(sixteen), report_(report) {}

  /// Calls run(const Vectors&) in float64, if the device supports it, and float32, or in the requested 16-bit dtype.
  template <class F>
  void check(const json& entry, const std::string& function, F&& run) {
    const std::string path = directory_ + "/" + entry.at("file").get<std::string>();
    add(entry, function, [&](Line& line) {
      if (sixteen_) return check_in_16_bits(line, path, Dtype::float64, run);
      if (ct::has_float64(ct::current_device())) run(Vectors(path, Dtype::float64));
      run(Vectors(path, Dtype::float32));
    });
  }
  /// Like check(), without float64, for large cases.
  template <class F>
  void check_large(const json& entry, const std::string& function, F&& run) {
    const std::string path = directory_ + "/" + entry.at("file").get<std::string>();
    add(entry, function, [&](Line& line) {
      if (sixteen_) return check_in_16_bits(line, path, Dtype::float32, run);
      run(Vectors(path, Dtype::float32));
    });
  }
  /// Calls run(), which sets its own dtypes.
  template <class F>
  void check_as_it_is(const json& entry, const std::string& function, F&& run) {
    add(entry, function, [&](Line& line) {
      if (!sixteen_) return run();
      line.verdict = Verdict::not_in_16_bits;
      line.detail = "the case has a dtype of its own";
    });
  }

 private:
  /// Adds a line, which do_check may change.
  void add(const json& entry, const std::string& function, const std::function<void(Line&)>& do_check) {
    Line line{entry.value("file", "?"), function, Verdict::passed, ""};
    try {
      do_check(line);
    } catch (const NotImplemented& e) {
      line.verdict = Verdict::not_implemented;
      line.detail = e.what();
    } catch (const std::exception& e) {  // a mismatch, an error of the function, or an invalid case
      line.verdict = Verdict::failed;
      line.detail = e.what();
    }
    report_.lines.push_back(std::move(line));
  }

  void check_in_16_bits(Line& line, const std::string& path, Dtype wide,
                        const std::function<void(const Vectors&)>& run) {
    const char* const why_not = why_not_in_16_bits(line.function);
    if (!why_not) {
      const Off off = run_in_16_bits(path, *sixteen_, line.function, run, wide);
      line.detail = fmt::format("off by {:.2g}, {:.2g}, {:.2g} units", off[0], off[1], off[2]);
      return;
    }
    try {
      run_in_16_bits(path, *sixteen_, line.function, run, wide);
    } catch (const ct::DtypeError&) {
      line.verdict = Verdict::not_in_16_bits;
      line.detail = why_not;
      return;
    }
    throw Mismatch(fmt::format("it computes in {}, and the table of those that do not names it", *sixteen_));
  }

  const std::string& directory_;
  std::optional<Dtype> sixteen_;
  Report& report_;
};

}  // namespace

Report run_chainer(const std::string& directory, const json& manifest, std::optional<Dtype> sixteen) {
  FunctionTable table;
  add_signatures(table);
  add_other_functions(table);
  add_n_step_functions(table);
  Report report;
  Cases cases(directory, sixteen, report);
  const json none = json::array();
  for (const json& entry : manifest.contains("functions") ? manifest["functions"] : none)
    cases.check(entry, entry.value("function", "?"),
                [&](const Vectors& vectors) { FunctionCase(entry, table, vectors).run(); });
  LinkTable links;
  add_links(links);
  add_convolution_links(links);
  add_rnn_links(links);
  for (const json& entry : manifest.contains("links") ? manifest["links"] : none)
    cases.check(entry, entry.value("class", "?"), [&](const Vectors& vectors) { check_link(entry, links, vectors); });
  for (const json& entry : manifest.contains("models") ? manifest["models"] : none)
    cases.check_large(entry, entry.value("class", "?"), [&](const Vectors& vectors) { check_model(entry, vectors); });
  for (const json& entry : manifest.contains("optimizers") ? manifest["optimizers"] : none)
    cases.check(entry, entry.value("optimizer", "?"),
                [&](const Vectors& vectors) { check_trajectory(entry, vectors); });
  for (const json& entry : manifest.contains("trajectories") ? manifest["trajectories"] : none)
    cases.check_as_it_is(entry, entry.value("optimizer", "?"), [&] { check_precision(directory, entry); });
  return report;
}

}  // namespace reference
