#pragma once
// Private to the library: how gradients travel.

#include <optional>
#include <utility>
#include <vector>

#include "catenary/autograd/variable.h"

namespace catenary::walk {

struct Start {
  VariableNode* node;
  Variable grad;
};

/// Gradients flow from the starts to all leaves, whose grad they are added to.
void backprop_to_all(std::vector<Start> starts, bool retain_grad, std::optional<double> loss_scale);

}  // namespace catenary::walk
