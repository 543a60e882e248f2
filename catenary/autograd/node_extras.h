#pragma once
// Private to the library: data that few variables need, mainly parameters.

#include "catenary/autograd/parameter.h"
#include "catenary/core/config.h"

namespace catenary {

/// The gradient of a parameter right after its initialisation.
enum class GradAtStart : std::uint8_t { nan, zero, none };

struct VariableNode::Extras {
  std::string name;
  std::optional<Number> loss_scale;
  std::shared_ptr<const Initializer> initializer;  // set for every parameter
  std::shared_ptr<UpdateRuleBase> update_rule;
  Device initial_device;
  GradAtStart grad_at_start = GradAtStart::nan;
};

}  // namespace catenary
