#pragma once
// Private to the library: how gradients travel.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::walk {

struct Start {
  VariableNode* node;
  Variable grad;
};

/// Called with a leaf whose gradient will not change any more, while others are still computed. It becomes the leaf's
/// grad when all are.
using Final = std::function<void(const VariableNode& leaf, const Variable& gradient)>;

/// Gradients flow from the starts to all leaves, whose grad they are added to.
void backprop_to_all(std::vector<Start> starts, bool retain_grad, std::optional<double> loss_scale,
                     const Final& final = {});

/// What Variable::backward does.
void backward(const Variable& y, bool retain_grad, bool enable_double_backprop, std::optional<double> loss_scale,
              const Final& final = {});

}  // namespace catenary::walk
