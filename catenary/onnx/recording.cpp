#include "catenary/onnx/recording.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "catenary/array/elementwise_core.h"
#include "catenary/array/reduction.h"
#include "catenary/autograd/function_node.h"
#include "catenary/autograd/hooks.h"
#include "catenary/autograd/state_variable.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"

namespace catenary::onnx::exporting {

namespace {

/// Keeps all functions that run, in order, with the arrays of their inputs.
class Recorder : public FunctionHook {
 public:
  struct Seen {
    Ref<FunctionNode> function;
    std::vector<Array> inputs;
    std::size_t order = 0;
  };
  std::string name() const override { return "onnx::export_model"; }
  void forward_postprocess(FunctionNode& f, Inputs x) override {
    Seen seen{Ref<FunctionNode>(&f), {}, seen_.size()};
    for (int i = 0; i < x.size(); ++i) seen.inputs.push_back(x[i]);
    seen_.emplace(&f, std::move(seen));
  }
  const Seen* find(const FunctionNode* f) const {
    const auto found = f ? seen_.find(f) : seen_.end();
    return found == seen_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<const FunctionNode*, Seen> seen_;
};

/// Returns the recorded functions that lead to the outputs, in the order in which they ran.
std::vector<const Recorder::Seen*> leading_to(const std::vector<Variable>& outputs, const Recorder& recorder) {
  std::vector<const Recorder::Seen*> all, waiting;
  std::map<const Recorder::Seen*, bool> known;
  const auto add = [&](const VariableNode& node) {
    const Recorder::Seen* seen = recorder.find(node.creator());
    if (seen && known.emplace(seen, true).second) waiting.push_back(seen);
  };
  for (const Variable& y : outputs) add(y.node());
  while (!waiting.empty()) {
    const Recorder::Seen* seen = waiting.back();
    waiting.pop_back();
    all.push_back(seen);
    for (int i = 0; i < seen->function->input_count(); ++i) add(seen->function->input(i));
  }
  std::ranges::sort(all, {}, [](const Recorder::Seen* seen) { return seen->order; });
  return all;
}

/// Numbers variables. A result is known by its function, because its node may be gone.
class Numbering {
 public:
  explicit Numbering(Recording& recording) : recording_(recording) {}

  int number(const VariableNode& node, const Array& values, const std::string& parameter = {}) {
    const auto [at, is_new] = numbers_.emplace(&node, static_cast<int>(recording_.values.size()));
    if (is_new) recording_.values.push_back({node.shape(), node.dtype(), parameter, values});
    return at->second;
  }
  int find(const VariableNode& node) const {
    const auto at = numbers_.find(&node);
    return at == numbers_.end() ? -1 : at->second;
  }

 private:
  Recording& recording_;
  std::unordered_map<const VariableNode*, int> numbers_;
};

RecordedCall recorded_call(const Recorder::Seen& seen, Numbering& numbering) {
  const FunctionNode& f = *seen.function;
  RecordedCall call{f.name(), {}, {}, {}, true};
  for (int i = 0; i < f.input_count(); ++i)
    call.inputs.push_back(numbering.number(f.input(i), seen.inputs[static_cast<std::size_t>(i)]));
  for (int i = 0; i < f.output_count(); ++i) {
    const VariableNode* node = f.output(i);
    call.outputs.push_back(node ? numbering.number(*node, Array()) : -1);
  }
  try {
    call.attributes = attributes_of(f);
  } catch (const ValueError&) {
    call.described = false;
  }
  return call;
}

[[noreturn]] void fail_differing(const std::string& what) {
  throw ValueError(fmt::format(
      "export_model: the graph depends on sizes or values of the inputs: {}. Fix sizes by dynamic_axes", what));
}

}  // namespace

Recording record(const RecordedParameters& parameters, const RecordedFunction& function,
                 const std::vector<Array>& inputs) {
  const auto testing = test_mode();
  const auto recording_scope = force_backprop_mode();
  const StateScope states;
  std::vector<Variable> xs;
  for (const Array& x : inputs) xs.emplace_back(x, true);
  Recorder recorder;
  std::vector<Variable> ys;
  {
    const HookScope scope(recorder);
    ys = function(xs);
  }
  Recording recording;
  Numbering numbering(recording);
  for (const Variable& x : xs) recording.inputs.push_back(numbering.number(x.node(), x.array()));
  for (const auto& [name, parameter] : parameters())
    if (numbering.find(parameter.node()) < 0) numbering.number(parameter.node(), parameter.array(), name);
  for (const Recorder::Seen* seen : leading_to(ys, recorder))
    recording.calls.push_back(recorded_call(*seen, numbering));
  for (const Variable& y : ys) {
    if (!y.defined()) throw ValueError("export_model: an output is undefined");
    recording.outputs.push_back(numbering.number(y.node(), y.array()));
  }
  return recording;
}

void check_equal_structure(const Recordings& both) {
  const auto &a = both.first.calls, &b = both.second.calls;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].name != b[i].name) fail_differing(fmt::format("call {} is {} or {}", i, a[i].name, b[i].name));
    if (a[i].inputs != b[i].inputs || a[i].outputs != b[i].outputs)
      fail_differing(fmt::format("call {}, {}, has different inputs", i, a[i].name));
  }
  if (a.size() != b.size()) fail_differing(fmt::format("it has {} or {} functions", a.size(), b.size()));
  if (both.first.outputs != both.second.outputs) fail_differing("its outputs differ");
}

Array common_part(const Array& first, const Array& second) {
  if (first.dtype() != second.dtype() || first.ndim() != second.ndim()) return {};
  Array a = first, b = second;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    if (a.shape(axis) == b.shape(axis)) continue;
    if (a.shape(axis) == 0 || b.shape(axis) == 0) return {};
    std::vector<Index> one(static_cast<std::size_t>(axis), slice());
    one.emplace_back(slice(0, 1));
    const Array a1 = a.get(one), b1 = b.get(one);
    if (!(a == a1).all() || !(b == b1).all()) return {};
    a = a1;
    b = b1;
  }
  if (a.size() == 0) return a;
  const Array equal = is_floating(a.dtype()) ? (a == b) | (isnan(a) & isnan(b)) : a == b;
  return equal.all() ? a : Array();
}

}  // namespace catenary::onnx::exporting
