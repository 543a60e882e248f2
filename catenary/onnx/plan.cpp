#include "catenary/onnx/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "catenary/array/io.h"
#include "catenary/core/config.h"
#include "catenary/device/allocation_limit.h"
#include "catenary/device/pool.h"
#include "catenary/onnx/options.h"

namespace catenary::onnx {

namespace {

/// How deep graphs and functions may be nested together.
constexpr int kMaxPlanDepth = 64;
/// How many nodes and attribute values the calls of functions may copy.
constexpr std::int64_t kMaxCopied = std::int64_t{1} << 20;
/// How often a call may run bodies, and how many nodes and values it may run: an endless Loop ends here.
constexpr std::int64_t kMaxBodies = std::int64_t{1} << 20, kMaxNodes = std::int64_t{1} << 23;

/// How many bytes constants that are computed when a file is opened may have, besides those of its size.
constexpr std::uint64_t kMaxFolded = std::uint64_t{64} << 20;
/// How many bytes the computation of such a constant may use.
constexpr std::uint64_t kMaxFolding = std::uint64_t{256} << 20;
/// After so many constants that were too large, the others are not computed when a file is opened.
constexpr int kMaxTooLarge = 16;

constexpr int kGraph = 5;  // AttributeProto.AttributeType

/// State that the plans of a file share while they are made.
struct Planner {
  const File& file;
  int depth = 0;
  std::int64_t copied = 0;
  std::uint64_t folded = 0;  ///< bytes
  int too_large = 0;         ///< how many constants were not kept
};

/// Calls `f`. Throws its errors again with label() in front: OutOfMemoryError, and ValueError for all others.
template <class Label, class F>
auto labelled(const Label& label, F&& f) {
  try {
    return f();
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError(fmt::format("{}: {}", label(), error.what()));
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError(fmt::format("{}: out of host memory", label()));
  } catch (const std::exception& error) {
    throw ValueError(fmt::format("{}: {}", label(), error.what()));
  }
}

/// Copies the nodes of a function, with the attributes that a call passes in place of references to them.
class Expansion {
 public:
  Expansion(Planner& planner, const Function& function, const Node& call)
      : planner_(planner), function_(function), call_(call) {}

  Graph expand(const Graph& graph) const {
    count(graph.inputs.size() + graph.outputs.size());
    for (const Tensor& tensor : graph.initializers)
      count(1 + tensor.dims.size() + tensor.integers.size() + tensor.reals.size() + tensor.doubles.size());
    Graph copy{graph.name, {}, graph.initializers, graph.inputs, graph.outputs};
    for (const Node& node : graph.nodes) {
      count(1 + node.inputs.size() + node.outputs.size());
      Node& to = copy.nodes.emplace_back(node);
      to.attributes.clear();
      for (const Attribute& a : node.attributes) add(to.attributes, a);
    }
    return copy;
  }

 private:
  void count(std::size_t values) const {
    planner_.copied += static_cast<std::int64_t>(values);
    if (planner_.copied > kMaxCopied)
      throw ValueError(fmt::format("{}: calls of functions expand to more than {} nodes and attribute values",
                                   planner_.file.path, kMaxCopied));
  }

  void add(std::vector<Attribute>& to, const Attribute& a) const {
    const Attribute* value = a.reference.empty() ? &a : argument(a.reference);
    if (!value) return;  // an attribute that the call omits
    count(1 + value->integers.size() + value->reals.size() + value->texts.size());
    Attribute& copy = to.emplace_back(*value);
    copy.name = a.name;
    if (a.reference.empty() && a.graph) copy.graph = std::make_shared<const Graph>(expand(*a.graph));
  }

  const Attribute* argument(const std::string& name) const {
    for (const auto* attributes : {&call_.attributes, &function_.defaults}) {
      const auto found = std::ranges::find(*attributes, name, &Attribute::name);
      if (found != attributes->end()) return &*found;
    }
    return nullptr;
  }

  Planner& planner_;
  const Function& function_;
  const Node& call_;
};

Opsets opsets_in(const Function& function, const Opsets& model) {
  Opsets all = function.opsets;
  all.insert(model.begin(), model.end());
  return all;
}

Values compute(const Step& step, Values given, const Values& values, Run& run);

class Builder {
 public:
  /// Says whether an enclosing graph has a value when this graph runs.
  using Outer = std::function<bool(const std::string&)>;

  Builder(Planner& planner, const PlanSource& source, Outer outer)
      : planner_(planner), source_(source), outer_(std::move(outer)) {}

  Plan build() {
    if (++planner_.depth > kMaxPlanDepth)
      throw ValueError(
          fmt::format("{}: graphs and functions are nested more than {} deep", planner_.file.path, kMaxPlanDepth));
    for (const auto& constant : source_.constants)  // Clang 14 captures no parts of a pair
      constants_.emplace(add(constant.first, [&] { return fmt::format("initializer '{}'", constant.first); }),
                         constant.second);
    for (const std::string& name : source_.inputs)
      plan_.inputs.push_back(add(name, [&] { return fmt::format("input '{}'", name); }));
    for (const Node& node : source_.graph.nodes) add_step(node);
    for (const ValueInfo& info : source_.graph.outputs) {
      const std::optional<Slot> slot = find(info.name);
      if (!slot || *slot < 0)
        throw ValueError(
            fmt::format("{}: output '{}' is not known: no node computes it", planner_.file.path, info.name));
      plan_.results.push_back(*slot);
      use(*slot);
    }
    for (std::size_t slot = 0; slot < plan_.slots; ++slot)
      if (last_[slot] < plan_.steps.size()) plan_.steps[last_[slot]].last.push_back(static_cast<Slot>(slot));
    for (const auto& [slot, value] : constants_)
      if (used_.contains(slot)) plan_.constants.emplace_back(slot, value);
    --planner_.depth;
    return std::move(plan_);
  }

 private:
  std::string label(const Node& node) const { return planner_.file.path + ": " + node.label(); }

  /// Makes a slot for a name. It is not needed before it is used.
  template <class Label>
  Slot add(const std::string& name, const Label& label) {
    const auto slot = static_cast<Slot>(plan_.slots);
    if (!slot_of_.emplace(name, slot).second)
      throw ValueError(fmt::format("{}: {}: '{}' is computed twice", planner_.file.path, label(), name));
    ++plan_.slots;
    last_.push_back(plan_.steps.size());
    return slot;
  }

  std::optional<Slot> find(const std::string& name) {
    if (name.empty()) return -1;
    const auto found = slot_of_.find(name);
    if (found != slot_of_.end()) return found->second;
    if (!outer_(name)) return {};
    plan_.captured.emplace_back(name, add(name, [] { return "an enclosing graph"; }));
    return plan_.captured.back().second;
  }

  /// Keeps a value until the step that is made next.
  void use(Slot slot) {
    if (slot < 0) return;
    last_[static_cast<std::size_t>(slot)] = plan_.steps.size();
    used_.insert(slot);
  }

  void add_step(const Node& node) {
    const Function* function = planner_.file.function(node);
    const std::int64_t opset = opset_of(source_.opsets, node.domain);
    Step step{&node, function ? nullptr : find_operator(node.domain, node.type, opset),
              opset, {},
              {},    {},
              {},    std::make_shared<Kept>()};
    for (const std::string& name : node.inputs) {
      const std::optional<Slot> slot = find(name);
      if (!slot)
        throw ValueError(fmt::format("{}: {}: input '{}' is not known: no earlier node computes it", planner_.file.path,
                                     node.label(), name));
      step.inputs.push_back(*slot);
    }
    while (!step.inputs.empty() && step.inputs.back() < 0) step.inputs.pop_back();
    for (const Attribute& a : node.attributes)
      if (!a.reference.empty())
        throw ValueError(
            fmt::format("{}: attribute '{}' refers to an argument of a function, but is in none", label(node), a.name));
    if (function) {
      step.bodies.push_back(called(*function, node));
    } else {
      for (const Attribute& a : node.attributes)
        if (a.type == kGraph && a.graph) step.bodies.push_back(inside(a));
    }
    for (const std::string& name : node.outputs)
      step.outputs.push_back(name.empty() ? -1 : add(name, [&] { return node.label(); }));
    if (step.row) labelled([&] { return label(node); }, [&] { check(step); });
    if (fold(step)) return;
    for (const Slot slot : step.inputs) use(slot);
    for (const Body& body : step.bodies)
      for (const Slot slot : body.outer) use(slot);
    plan_.steps.push_back(std::move(step));
  }

  /// Checks a node's options before it runs. Inputs that are no constants are missing in the call.
  void check(const Step& step) const {
    Values given;
    for (const Slot slot : step.inputs) {
      const auto found = constants_.find(slot);
      given.push_back(found == constants_.end() ? Value() : found->second);
    }
    const Call call(*step.node, step.opset, std::move(given), Device());
    check_options(call);
    if (step.row->check) step.row->check(call);
  }

  /// Computes a step now if its results are constants.
  bool fold(const Step& step) {
    static const std::set<std::string> kRandom{"Bernoulli", "Multinomial", "RandomNormalLike", "RandomUniformLike"};
    const std::string& type = step.node->type;
    if (!step.row || !step.bodies.empty() || planner_.too_large > kMaxTooLarge || kRandom.contains(type) ||
        (step.inputs.empty() && type != "Constant"))
      return false;
    Values given;
    for (const Slot slot : step.inputs) {
      const auto found = constants_.find(slot);
      if (slot >= 0 && found == constants_.end()) return false;
      given.push_back(slot < 0 ? Value() : found->second);
    }
    const auto scope = no_backprop_mode();
    Run run{Device()};
    Values results;
    try {
      const AllocationLimit limit(kMaxFolding + 8 * planner_.file.size(), "constants");
      results = labelled([&] { return label(*step.node); }, [&] { return compute(step, std::move(given), {}, run); });
    } catch (const OutOfMemoryError&) {  // a call has its own limit
      ++planner_.too_large;
      return false;
    } catch (const Error&) {
      if (planner_.depth > 1) return false;  // a branch that never runs may be wrong
      throw;
    }
    return keep(step, results);
  }

  bool keep(const Step& step, const Values& results) {
    std::uint64_t bytes = 0;
    for (const Value& value : results) {
      if (!value.defined() || value.is_sequence()) return false;
      bytes += static_cast<std::uint64_t>(value.array().nbytes());
    }
    if (results.size() < step.outputs.size()) return false;
    if (planner_.folded + bytes > kMaxFolded + planner_.file.size()) {
      ++planner_.too_large;
      return false;
    }
    planner_.folded += bytes;
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] < 0) continue;
      results[i].array().eval();
      constants_.emplace(step.outputs[i], Value::constant(results[i].array()));
    }
    return true;
  }

  /// Plans the graph in an attribute, which may read all values of this graph so far.
  Body inside(const Attribute& a) {
    PlanSource source{*a.graph, source_.opsets, {}, {}, {}};
    for (const ValueInfo& info : a.graph->inputs) source.inputs.push_back(info.name);
    for (const Tensor& tensor : a.graph->initializers)
      if (std::ranges::find(source.inputs, tensor.name) == source.inputs.end())
        source.constants.emplace_back(tensor.name, Value::constant(from_host(planner_.file.read(tensor), Device())));
    const auto outer = [&](const std::string& name) { return slot_of_.contains(name) || outer_(name); };
    const auto plan = std::make_shared<const Plan>(Builder(planner_, source, outer).build());
    Body body{a.name, a.graph, plan, {}};
    for (const auto& [name, slot] : plan->captured) body.outer.push_back(*find(name));
    return body;
  }

  Body called(const Function& function, const Node& node) {
    const auto graph = std::make_shared<const Graph>(Expansion(planner_, function, node).expand(function.graph));
    const Opsets opsets = opsets_in(function, planner_.file.opsets);
    PlanSource source{*graph, opsets, {}, {}, {}};
    for (const ValueInfo& info : graph->inputs) source.inputs.push_back(info.name);
    const auto nothing = [](const std::string&) { return false; };
    return {"", graph, std::make_shared<const Plan>(Builder(planner_, source, nothing).build()), {}};
  }

  Planner& planner_;
  const PlanSource& source_;
  Outer outer_;
  Plan plan_;
  std::unordered_map<std::string, Slot> slot_of_;
  std::map<Slot, Value> constants_;  ///< including constants that no step needs
  std::set<Slot> used_;
  std::vector<std::size_t> last_;  ///< the last step that needs each slot
};

/// Computes a step. `values` holds the values that the bodies of the step capture.
Values compute(const Step& step, Values given, const Values& values, Run& run) {
  const auto run_body = [&](const Body& body, const Values& inputs) {
    Values outer;
    for (const Slot slot : body.outer) outer.push_back(values[static_cast<std::size_t>(slot)]);
    return body.plan->run(inputs, outer, run);
  };
  if (!step.row) return run_body(step.bodies.at(0), given);
  Call::RunBody by_name;
  if (!step.bodies.empty())
    by_name = [&](const std::string& name, const Values& inputs) {
      const auto body = std::ranges::find(step.bodies, name, &Body::attribute);
      if (body == step.bodies.end()) throw ValueError(fmt::format("attribute '{}' is missing", name));
      if (++run.bodies > kMaxBodies)
        throw ValueError(
            fmt::format("the bodies of If, Loop, Scan and SequenceMap run at most {} times in a call", kMaxBodies));
      return run_body(*body, inputs);
    };
  const Call call(*step.node, step.opset, std::move(given), run.device, std::move(by_name), step.kept.get());
  Values computed = step.row->compute(call);
  call.refuse_other_attributes();
  return computed;
}

}  // namespace

Values Plan::run(const Values& given, const Values& outer, Run& run) const {
  if (given.size() > inputs.size())
    throw ValueError(fmt::format("{} inputs are given to a graph with {}", given.size(), inputs.size()));
  run.nodes += static_cast<std::int64_t>(steps.size() + slots);
  if (run.nodes > kMaxNodes)
    throw ValueError(fmt::format("a call runs at most {} nodes, with those of bodies and their values", kMaxNodes));
  Values values(slots);
  const auto at = [&](Slot slot) -> Value& { return values[static_cast<std::size_t>(slot)]; };
  for (const auto& [slot, value] : constants) at(slot) = value;
  for (std::size_t i = 0; i < given.size(); ++i) at(inputs[i]) = given[i];
  for (std::size_t i = 0; i < captured.size(); ++i) at(captured[i].second) = outer[i];
  for (const Step& step : steps) {
    Values arguments;
    for (const Slot slot : step.inputs) arguments.push_back(slot < 0 ? Value() : at(slot));
    labelled([&] { return step.node->label(); },
             [&] {
               const Values computed = compute(step, std::move(arguments), values, run);
               for (std::size_t i = 0; i < step.outputs.size(); ++i) {
                 if (step.outputs[i] < 0) continue;
                 if (i >= computed.size()) throw ValueError(fmt::format("result {} is not supported", i));
                 // lists that a Loop copies in each turn
                 if (computed[i].is_sequence()) run.nodes += static_cast<std::int64_t>(computed[i].items().size() / 16);
                 at(step.outputs[i]) = computed[i];
               }
             });
    for (const Slot slot : step.last) at(slot) = Value();
  }
  Values all;
  for (const Slot slot : results) all.push_back(at(slot));
  return all;
}

Plan make_plan(const File& file, const PlanSource& source) {
  Planner planner{file};
  const std::set<std::string> outer(source.outer.begin(), source.outer.end());
  return Builder(planner, source, [&](const std::string& name) { return outer.contains(name); }).build();
}

void for_each_node(const File& file, const std::function<void(const Node&, std::int64_t)>& visit) {
  std::set<const Function*> seen;
  std::vector<const Function*> called;
  const std::function<void(const Graph&, const Opsets&)> walk = [&](const Graph& graph, const Opsets& opsets) {
    for (const Node& node : graph.nodes) {
      if (const Function* function = file.function(node)) {
        if (seen.insert(function).second) called.push_back(function);
        continue;
      }
      visit(node, opset_of(opsets, node.domain));
      for (const Attribute& a : node.attributes)
        if (a.graph) walk(*a.graph, opsets);
    }
  };
  walk(file.graph, file.opsets);
  for (std::size_t i = 0; i < called.size(); ++i) walk(called[i]->graph, opsets_in(*called[i], file.opsets));
}

std::int64_t opset_of(const Opsets& opsets, const std::string& domain) {
  const auto found = opsets.find(domain);
  return found == opsets.end() ? 0 : found->second;
}

}  // namespace catenary::onnx
