// Chainer's vectors: functions with their gradients and the gradients of those, links, models, and trajectories of
// optimizers.

#include <fmt/format.h>

#include "catenary/autograd/backward.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/device/float64.h"
#include "chainer_arrays.h"
#include "chainer_functions.h"
#include "chainer_links.h"
#include "chainer_models.h"
#include "chainer_optimizers.h"
#include "chainer_precision.h"

namespace reference {

namespace ct = catenary;
using ct::Dtype;

namespace {

/// Of values, gradients, and gradients of gradients.
struct Tolerances {
  Tolerance values, gradients, second;
};
constexpr Tolerances kDouble = {{1e-9, 1e-11}, {1e-9, 1e-10}, {1e-8, 1e-9}};
constexpr Tolerances kSingle = {{1e-3, 1e-5}, {1e-3, 1e-4}, {5e-3, 1e-3}};

std::string numbered(const char* name, std::size_t i) { return name + std::to_string(i); }

class FunctionCase {
 public:
  FunctionCase(const json& entry, const std::string& directory, const FunctionTable& table)
      : entry_(entry),
        file_(directory + "/" + entry.at("file").get<std::string>()),
        call_(table.find(entry.at("function"))) {}

  void run(Dtype dtype) const {
    const auto train = ct::using_config(ct::config.train, entry_.at("train").get<bool>());
    const auto default_dtype = ct::using_config(ct::config.dtype, dtype);
    const bool computed_in_single = single_inputs();
    const Tolerances& tolerances = dtype == Dtype::float64 && !computed_in_single ? kDouble : kSingle;

    Inputs x;
    for (std::size_t i = 0; i < entry_.at("n_in").get<std::size_t>(); ++i) {
      const Array a = load_as(file_, numbered("x", i), dtype);
      x.push_back(ct::is_floating(a.dtype()) ? Variable(a) : ct::as_variable(a));
    }
    Keywords keywords(entry_.at("kwargs"));
    const std::vector<Variable> y = call_(x, keywords);
    keywords.check_all_used();
    if (y.size() != entry_.at("n_out").get<std::size_t>())
      throw Mismatch(fmt::format("{} results, there should be {}", y.size(), entry_.at("n_out").get<int>()));
    for (std::size_t i = 0; i < y.size(); ++i)
      compare_with(file_, numbered("y", i), y[i].array(), dtype, tolerances.values);
    if (entry_.at("grad").get<bool>()) gradients(x, y, dtype, tolerances);
  }

 private:
  bool single_inputs() const {
    for (std::size_t i = 0; i < entry_.at("n_in").get<std::size_t>(); ++i)
      if (file_.read_array(numbered("x", i)).dtype == Dtype::float32) return true;
    return false;
  }

  /// Chainer's hinge divides the gradient that it is given in place, before the vectors are written: by the number of
  /// examples where it takes a mean.
  double gradient_scale(const Inputs& x) const {
    const bool mean = entry_.at("kwargs").value("reduce", "mean") == "mean";
    return entry_.at("function") == "hinge" && mean ? static_cast<double>(x[0].shape(0)) : 1;
  }

  void gradients(const Inputs& x, const std::vector<Variable>& y, Dtype dtype, const Tolerances& tolerances) const {
    const bool twice = entry_.at("double").get<bool>();
    std::vector<Variable> gy, wanted;
    std::vector<std::size_t> positions;  // of `wanted` among the inputs
    for (std::size_t i = 0; i < y.size(); ++i)
      gy.emplace_back(load_as(file_, numbered("gy", i), dtype) * gradient_scale(x));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!x[i].requires_grad()) continue;
      wanted.push_back(x[i]);
      positions.push_back(i);
    }
    std::vector<Variable> gx = ct::grad(y, wanted, {.grad_outputs = gy, .enable_double_backprop = twice});
    for (std::size_t k = 0; k < gx.size(); ++k)
      compare_gradient(numbered("gx", positions[k]), gx[k], dtype, tolerances.gradients);
    if (!twice) return;

    std::vector<Variable> outputs, ggx;
    for (std::size_t k = 0; k < gx.size(); ++k) {
      const std::string key = numbered("ggx", positions[k]);
      if (!file_.contains(key)) continue;
      if (!gx[k].defined()) throw Mismatch("there is no gradient " + numbered("gx", positions[k]));
      outputs.push_back(ct::functions::identity(gx[k]));
      ggx.emplace_back(load_as(file_, key, dtype));
    }
    std::vector<Variable> inputs = wanted;
    inputs.insert(inputs.end(), gy.begin(), gy.end());
    const std::vector<Variable> second = ct::grad(outputs, inputs, {.grad_outputs = ggx});
    for (std::size_t k = 0; k < second.size(); ++k)
      compare_gradient(k < wanted.size() ? numbered("d_x", positions[k]) : numbered("d_gy", k - wanted.size()),
                       second[k], dtype, tolerances.second);
  }

  /// A gradient that the reference has not is none, or zeros.
  void compare_gradient(const std::string& key, const Variable& got, Dtype dtype, const Tolerance& tolerance) const {
    const Array values = got.defined() ? got.array() : Array();
    if (file_.contains(key)) return compare_with(file_, key, values, dtype, tolerance);
    if (values.defined() && values.any()) throw Mismatch("there should be no gradient " + key);
  }

  const json& entry_;
  ct::io::NpzReader file_;
  const FunctionTable::Call& call_;
};

/// Runs a case in both dtypes, or in the one that the device has, and adds what came out.
template <class F>
void report_case(Report& report, const json& entry, const std::string& function, F&& run) {
  Line line{entry.value("file", "?"), function, Verdict::passed, ""};
  try {
    if (ct::has_float64(ct::current_device())) run(Dtype::float64);
    run(Dtype::float32);
  } catch (const NotImplemented& e) {
    line.verdict = Verdict::not_implemented;
    line.detail = e.what();
  } catch (const std::exception& e) {  // a mismatch, a refusal, a case that is not written as it should be
    line.verdict = Verdict::failed;
    line.detail = e.what();
  }
  report.lines.push_back(std::move(line));
}

}  // namespace

Report run_chainer(const std::string& directory, const json& manifest) {
  FunctionTable table;
  add_activation_functions(table);
  add_array_functions(table);
  add_connection_functions(table);
  add_convolution_functions(table);
  add_evaluation_functions(table);
  add_fft_functions(table);
  add_loss_functions(table);
  add_math_functions(table);
  add_normalization_functions(table);
  add_pooling_functions(table);
  add_rnn_functions(table);
  add_resampling_functions(table);
  add_roi_functions(table);
  Report report;
  const json none = json::array();
  for (const json& entry : manifest.contains("functions") ? manifest["functions"] : none)
    report_case(report, entry, entry.value("function", "?"),
                [&](Dtype dtype) { FunctionCase(entry, directory, table).run(dtype); });
  LinkTable links;
  add_links(links);
  add_convolution_links(links);
  add_rnn_links(links);
  for (const json& entry : manifest.contains("links") ? manifest["links"] : none)
    report_case(report, entry, entry.value("class", "?"),
                [&](Dtype dtype) { check_link(directory, entry, links, dtype); });
  for (const json& entry : manifest.contains("models") ? manifest["models"] : none)
    report_case(report, entry, entry.value("class", "?"), [&](Dtype dtype) {
      if (dtype == Dtype::float32) check_model(directory, entry);
    });
  for (const json& entry : manifest.contains("optimizers") ? manifest["optimizers"] : none)
    report_case(report, entry, entry.value("optimizer", "?"),
                [&](Dtype dtype) { check_trajectory(directory, entry, dtype); });
  for (const json& entry : manifest.contains("trajectories") ? manifest["trajectories"] : none)
    report_case(report, entry, entry.value("optimizer", "?"), [&](Dtype dtype) {
      if (dtype == Dtype::float32) check_precision(directory, entry);  // each has a dtype of its own
    });
  return report;
}

}  // namespace reference
