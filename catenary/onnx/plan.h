#pragma once
// Private to onnx/: graphs that are ready to run. The main graph, the bodies of If, Loop and Scan, and functions are
// all plans.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catenary/onnx/operators.h"

namespace catenary::onnx {

/// The index of a value among all values of a plan's run. -1 stands for an omitted input or result.
using Slot = int;

struct Plan;

/// A graph in an attribute of a node, or the function that the node calls.
struct Body {
  std::string attribute;  ///< empty for a function
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Plan> plan;
  std::vector<Slot> outer;  ///< values of Plan::captured
};

/// A node with its operator, and where its values are.
struct Step {
  const Node* node;
  const Operator* row;  ///< null for a call of a function
  std::int64_t opset;
  std::vector<Slot> inputs, outputs;
  std::vector<Slot> last;  ///< values that no later step needs
  std::vector<Body> bodies;
  std::shared_ptr<Kept> kept;
};

/// What one call of a model shares among its plans.
struct Run {
  Device device;
  std::int64_t bodies = 0;  ///< how many bodies have run
  std::int64_t nodes = 0;   ///< how many nodes have run, and how many values they had
};

struct Plan {
  std::vector<std::pair<Slot, Value>> constants;
  std::vector<Slot> inputs;
  std::vector<std::pair<std::string, Slot>> captured;  ///< values of enclosing graphs
  std::vector<Step> steps;
  std::vector<Slot> results;
  std::size_t slots = 0;

  /// Returns the results. `outer` are the values of `captured`. Omitted inputs at the end are empty.
  Values run(const Values& given, const Values& outer, Run& run) const;
};

/// A graph and its surroundings, of which a plan is made.
struct PlanSource {
  const Graph& graph;
  const Opsets& opsets;
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, Value>> constants;
  std::vector<std::string> outer;  ///< names that are known besides
};

/// Plans a file's main graph. Throws ValueError if a node reads a value that no earlier node computes.
Plan make_plan(const File& file, const PlanSource& source);

/// Calls `visit` with each node of the file and the version of its operators. Nodes of functions are visited once if
/// the function is called, and calls of functions are not visited.
void for_each_node(const File& file, const std::function<void(const Node&, std::int64_t)>& visit);

/// Returns the version of a domain's operators, or 0.
std::int64_t opset_of(const Opsets& opsets, const std::string& domain);

}  // namespace catenary::onnx
