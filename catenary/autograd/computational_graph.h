#pragma once
// The graph as text for Graphviz. (chainer.computational_graph)

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catenary/autograd/function_node.h"

namespace catenary {

/// Options of the drawing: styles (dot attributes in order) and the details to show.
struct GraphOptions {
  using Style = std::vector<std::pair<std::string, std::string>>;
  Style variable_style = {{"shape", "octagon"}, {"fillcolor", "#E0E0E0"}, {"style", "filled"}};
  Style function_style = {{"shape", "record"}, {"fillcolor", "#6495ED"}, {"style", "filled"}};
  /// TB, BT, LR or RL.
  std::string rankdir = "TB";
  /// Shows functions only.
  bool remove_variable = false;
  /// Shows the names of variables.
  bool show_name = true;
  /// Shows the attributes of functions that describe themselves.
  bool show_attributes = false;
};

/// Nodes and edges that lead to some variables. Nodes are numbered in the order of a backward walk, so that equal
/// graphs give equal text.
class CT_API ComputationalGraph {
 public:
  struct Node {
    Ref<VariableNode> variable;  // or
    Ref<FunctionNode> function;
  };
  std::vector<Node> nodes;
  /// From, to: positions in `nodes`, along the computation.
  std::vector<std::pair<int, int>> edges;
  GraphOptions options;

  /// Returns the graph in dot's language, formatted as in Chainer.
  std::string dump() const;
  /// Returns the inputs, then one line for each operation in the order of computation:
  ///   x0: float32 (2, 3)
  ///   x1 = Sum(x0, axis=[1], keepdims=False): float32 (2,)
  /// Throws ValueError for a function that does not describe itself.
  std::string operations() const;
};

/// Returns the graph that computed `outputs`. Throws ValueError for an unknown rankdir.
/// (chainer.computational_graph.build_computational_graph)
CT_API ComputationalGraph build_computational_graph(const std::vector<Variable>& outputs,
                                                    const GraphOptions& options = {});

}  // namespace catenary
