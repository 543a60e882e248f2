#pragma once
// Private to the library: what few variables have, parameters above all.

#include "catenary/autograd/parameter.h"
#include "catenary/core/config.h"

namespace catenary {

/// The gradient that a parameter gets when it is initialised.
enum class GradAtStart : std::uint8_t { nan, zero, none };

struct VariableNode::Extras {
  std::string name;
  std::optional<Number> loss_scale;
  std::shared_ptr<const Initializer> initializer;  // every parameter has one
  std::shared_ptr<UpdateRuleBase> update_rule;
  Device initial_device;
  GradAtStart grad_at_start = GradAtStart::nan;
};

}  // namespace catenary
