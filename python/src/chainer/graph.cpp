// The library's walks over Chainer's graph, and thread settings shared with Chainer.

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/autograd/backward.h"
#include "catenary/autograd/walk.h"
#include "catenary/core/config.h"
#include "objects.h"

namespace catenary_python {

namespace {

PyObject* get_hooks = nullptr;  // chainer.get_function_hooks

/// The properties of a graph that a walk needs to know in advance.
struct Ahead {
  bool is_librarys = true;  // no Python function, so that no Python code runs
  std::int64_t elements = 0;
  std::vector<ct::VariableNode*> leaves;  // each once per function that uses it

  explicit Ahead(const std::vector<ct::walk::Start>& starts) : Ahead(nodes_of(starts)) {}
  explicit Ahead(std::span<ct::VariableNode* const> starts) {
    std::unordered_set<ct::FunctionNode*> seen;
    std::vector<ct::FunctionNode*> waiting;
    const auto meet = [&](ct::VariableNode& x) {
      ct::FunctionNode* const f = x.creator();
      if (!f) {
        leaves.push_back(&x);
      } else if (f->owner()) {
        is_librarys = false;
      } else if (seen.insert(f).second) {
        waiting.push_back(f);
      }
    };
    for (ct::VariableNode* const start : starts) meet(*start);
    while (!waiting.empty() && is_librarys) {
      const ct::FunctionNode& f = *waiting.back();
      waiting.pop_back();
      for (int i = 0; i < f.input_count(); ++i) {
        elements += f.input(i).shape().product();
        if (f.input(i).requires_grad()) meet(f.input(i));
      }
    }
  }
  /// Does the walk release the GIL?
  bool releases() const { return is_librarys && elements >= kReleaseFrom; }

 private:
  static std::vector<ct::VariableNode*> nodes_of(const std::vector<ct::walk::Start>& starts) {
    std::vector<ct::VariableNode*> nodes;
    for (const ct::walk::Start& start : starts) nodes.push_back(start.node);
    return nodes;
  }
};

/// A walk over the graph, without the GIL if possible.
class Walk {
 public:
  explicit Walk(bool releases) {
    if (!releases) return;
    ++walks_without_gil;
    released_.emplace();
  }
  ~Walk() {
    if (!released_) return;
    released_.reset();
    --walks_without_gil;
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

 private:
  std::optional<Released> released_;
};

/// Propagates gradients from the starts and adds them to grad of all leaves.
void walk_back(std::vector<ct::walk::Start> starts, const Ahead& ahead, bool retain_grad,
               std::optional<ct::Number> scale) {
  if (has_hooks()) return with_hooks([&] { ct::walk::backprop_to_all(std::move(starts), retain_grad, scale); });
  if (retain_grad || !ahead.releases()) return ct::walk::backprop_to_all(std::move(starts), retain_grad, scale);
  // Other threads may write a leaf's grad meanwhile: the walk starts with its current value.
  std::unordered_set<ct::VariableNode*> met;
  std::vector<ct::walk::Start> given;
  for (ct::VariableNode* const leaf : ahead.leaves)
    if (met.insert(leaf).second && leaf->has_handle())
      if (const ct::Variable gradient = ct::walk::grad_in_scale(ct::Variable(leaf), scale); gradient.defined())
        given.push_back({leaf, gradient});
  starts.insert(starts.begin(), given.begin(), given.end());
  std::vector<ct::walk::Reached> reached;
  {
    const Walk walk(true);
    reached = ct::walk::flow(std::move(starts), false, true);
  }
  ct::walk::set_grads(reached, scale);
}

}  // namespace

void set_hooks(nb::object get) { keep(get_hooks, std::move(get)); }

PyObject* thread_hooks() {
  thread_local PyObject* hooks = nullptr;
  if (!hooks && get_hooks) hooks = nb::object(nb::handle(get_hooks)()).release().ptr();
  return hooks;
}

bool layouts_are_used = false;
bool cupy_is_on_processor = false;

bool has_hooks() {
  PyObject* const hooks = thread_hooks();
  return hooks && PyDict_Size(hooks) > 0;
}

namespace {

/// Implements chainer.grad.
nb::list gradients_of(nb::handle outputs, nb::handle inputs, nb::handle grad_outputs, nb::handle grad_inputs,
                      bool set_grad, bool retain_grad, bool enable_double_backprop, nb::handle loss_scale) {
  const auto variables = [](nb::handle all) {
    std::vector<ct::Variable> list;
    if (!all.is_none())
      for (nb::handle v : all) list.push_back(variable_from(v));
    return list;
  };
  const ct::GradOptions options{.grad_outputs = variables(grad_outputs),
                                .grad_inputs = variables(grad_inputs),
                                .set_grad = set_grad,
                                .retain_grad = retain_grad,
                                .enable_double_backprop = enable_double_backprop,
                                .loss_scale = scale_from(loss_scale)};
  const std::vector<ct::Variable> ys = variables(outputs), xs = variables(inputs);
  std::vector<ct::VariableNode*> nodes;
  for (const ct::Variable& y : ys) nodes.push_back(&y.node());
  std::vector<ct::Variable> gradients;
  {
    const Walk walk(!set_grad && !retain_grad && !has_hooks() && Ahead(nodes).releases());
    gradients = with_hooks([&] { return ct::grad(ys, xs, options); });
  }
  nb::list results;
  std::size_t i = 0;
  for (nb::handle x : inputs) {
    PyObject* const input = x.ptr();
    share_owner({&gradients[i], 1}, {&input, 1});
    results.append(checked(wrap_variable(gradients[i++])));
  }
  return results;
}

/// Registers settings that Chainer and the library share.
void register_settings(nb::module_& m) {
  m.def("_old_style", [] { return old_style_gradients > 0; });
  m.def(
      "_set_config",
      [](const std::string& name, int value, bool global) {
        using S = ct::detail::Setting;
        const auto set = [&](S s) {
          if (global) {
            ct::detail::set_global_setting(s, static_cast<std::uint8_t>(value));
          } else {
            ct::detail::set_local_setting(s, value);
          }
        };
        if (name == "enable_backprop") set(S::enable_backprop);
        if (name == "train") set(S::train);
        if (name == "debug") set(S::debug);
      },
      "Passes a setting of Chainer's to the library, for all threads or for this one. -1 removes this thread's.");
}

}  // namespace

void register_graph(nb::module_& m) {
  m.def(
      "_backprop_to_all",
      [](nb::list outputs, bool retain_grad, nb::object loss_scale) {
        std::vector<ct::walk::Start> starts;
        for (nb::handle pair : outputs) {
          const nb::object node = pair[0], gradient = pair[1];
          starts.push_back({reinterpret_cast<NodeObject*>(node.ptr())->node.get(), variable_of(gradient.ptr())});
        }
        const Ahead ahead(starts);
        walk_back(std::move(starts), ahead, retain_grad, scale_from(loss_scale));
      },
      nb::arg("outputs"), nb::arg("retain_grad"), nb::arg("loss_scale").none());
  m.def(
      "_backward",
      [](nb::handle y, bool retain_grad, bool enable_double_backprop) {
        const ct::Variable& v = variable_of(y.ptr());
        if (!v.defined() || !v.array().defined()) return false;
        const ct::Variable given = v.grad_var();
        if (!given.defined() && v.ndim() != 0) return false;
        std::vector<ct::walk::Start> starts = {{&v.node(), given}};
        const Ahead ahead(starts);
        if (!ahead.is_librarys) return false;  // Python functions read chainer.config
        if (!given.defined()) starts[0].grad = ct::Variable(ct::ones_like(v.array()));
        v.set_grad_var(ct::Variable());
        const auto graph = ct::using_config(ct::config.enable_backprop, enable_double_backprop);
        walk_back(std::move(starts), ahead, retain_grad, {});
        return true;
      },
      nb::arg("y"), nb::arg("retain_grad"), nb::arg("enable_double_backprop"),
      "Implements Variable.backward without a loss scale. Returns False if Chainer's own code has to do it.");
  m.def("_grad", gradients_of, nb::arg("outputs"), nb::arg("inputs"), nb::arg("grad_outputs").none(),
        nb::arg("grad_inputs").none(), nb::arg("set_grad"), nb::arg("retain_grad"), nb::arg("enable_double_backprop"),
        nb::arg("loss_scale").none(), "Implements chainer.grad.");
  register_settings(m);
}

}  // namespace catenary_python
