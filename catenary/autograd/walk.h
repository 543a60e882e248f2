#pragma once
// Private to the library: how gradients travel.

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

/// Called with a leaf whose gradient will not change any more, while others are still computed. It becomes the leaf's
/// grad when all are.
using Final = std::function<void(const VariableNode& leaf, const Variable& gradient)>;

/// A leaf that gradients have reached, and what its grad is to be.
struct Reached {
  Ref<VariableNode> leaf;
  Variable grad;
};
/// A leaf's grad as a backward with this loss scale adds to it: that of a backward with another scale is brought to
/// this one, so that the sum is one of gradients. None is a scale of 1.
CT_API Variable grad_in_scale(const Variable& leaf, const std::optional<Number>& loss_scale);
/// The loss scale of zeros in place of a gradient that is not there: that of the first of the others, so that a mean
/// with gradients of other processes is in one scale; `otherwise` where none has a gradient.
CT_API std::optional<Number> scale_of_zeros(const std::vector<Parameter>& parameters,
                                            const std::optional<Number>& otherwise = {});
/// Gradients flow from the starts to all leaves, none of whose grads is written. They begin with the grads that leaves
/// have, in the loss scale, unless `from_zero` says that those have none; then they are not looked at either, so that
/// others may write them meanwhile.
CT_API std::vector<Reached> flow(std::vector<Start> starts, bool retain_grad, bool from_zero,
                                 const std::optional<Number>& loss_scale = {}, const Final& final = {});
/// Gives the leaves their grads.
CT_API void set_grads(const std::vector<Reached>& reached, std::optional<Number> loss_scale);

/// Gradients flow from the starts to all leaves, whose grad they are added to.
CT_API void backprop_to_all(std::vector<Start> starts, bool retain_grad, std::optional<Number> loss_scale,
                            const Final& final = {});

/// What Variable::backward does.
void backward(const Variable& y, bool retain_grad, bool enable_double_backprop, std::optional<Number> loss_scale,
              const Final& final = {});

/// What catenary::grad() does; or the gradients with respect to the inputs as if nothing led to them.
std::vector<Variable> grad(const std::vector<Variable>& outputs, const std::vector<Variable>& inputs,
                           const GradOptions& options, bool up_to_inputs);

/// Until the end of the scope, the variables that want a gradient and go into what this thread computes without a
/// graph, each once. Results want none, so that they are not among them.
class Captured {
 public:
  Captured();
  ~Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  void see(VariableNode& node);
  const std::vector<Variable>& all() const { return all_; }
  /// That of the innermost scope, or null.
  static Captured* innermost();

 private:
  Captured* outer_;
  std::vector<Variable> all_;
};

}  // namespace catenary::walk
