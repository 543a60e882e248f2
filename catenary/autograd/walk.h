#pragma once
// Private to the library: the traversal of the graph by gradients.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/autograd/backward.h"
#include "catenary/autograd/parameter.h"
#include "catenary/autograd/variable.h"

namespace catenary::walk {

struct Start {
  VariableNode* node;
  Variable grad;
};

/// Called with a leaf whose gradient is final, while other gradients are still being computed. The gradient becomes the
/// leaf's grad after the whole traversal.
using Final = std::function<void(const VariableNode& leaf, const Variable& gradient)>;

/// A leaf that gradients have reached, and its future grad.
struct Reached {
  Ref<VariableNode> leaf;
  Variable grad;
};
/// Returns a leaf's grad, rescaled to this loss scale if it comes from a backward with another scale, so that gradients
/// can be added. No loss scale means 1.
CT_API Variable grad_in_scale(const Variable& leaf, const std::optional<Number>& loss_scale);
/// Returns the loss scale for zeros that replace a missing gradient: the scale of the first gradient among
/// `parameters`, or `otherwise` if no parameter has a gradient. Averages with gradients of other processes then use a
/// single scale.
CT_API std::optional<Number> scale_of_zeros(const std::vector<Parameter>& parameters,
                                            const std::optional<Number>& otherwise = {});
/// Propagates gradients from the starts to all leaves without writing any grad. Starts with the leaves' present grads,
/// converted to the loss scale. `from_zero` declares that leaves have no grads; they are then not even read, so that
/// other threads may write them meanwhile.
CT_API std::vector<Reached> flow(std::vector<Start> starts, bool retain_grad, bool from_zero,
                                 const std::optional<Number>& loss_scale = {}, const Final& final = {});
/// Stores the grads in the leaves.
CT_API void set_grads(const std::vector<Reached>& reached, std::optional<Number> loss_scale);

/// Propagates gradients from the starts to all leaves and adds them to the leaves' grads.
CT_API void backprop_to_all(std::vector<Start> starts, bool retain_grad, std::optional<Number> loss_scale,
                            const Final& final = {});

/// Implements Variable::backward.
void backward(const Variable& y, bool retain_grad, bool enable_double_backprop, std::optional<Number> loss_scale,
              const Final& final = {});

/// Implements catenary::grad(). With `up_to_inputs`, treats the inputs as leaves.
std::vector<Variable> grad(const std::vector<Variable>& outputs, const std::vector<Variable>& inputs,
                           const GradOptions& options, bool up_to_inputs);

/// Collects, until the end of the scope, the variables that require a gradient and are used by this thread in
/// computations without a graph, each once. Results of such computations require no gradient, so they are not
/// collected.
class Captured {
 public:
  Captured();
  ~Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  void see(VariableNode& node);
  const std::vector<Variable>& all() const { return all_; }
  /// Returns the innermost scope, or null.
  static Captured* innermost();

 private:
  Captured* outer_;
  std::vector<Variable> all_;
};

}  // namespace catenary::walk
