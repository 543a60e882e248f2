#include "catenary/autograd/state_variable.h"

#include <algorithm>

namespace catenary {

namespace {
thread_local std::vector<detail::StateUses*> scopes;  // the outermost first
}  // namespace

const StateVariable& StateVariable::operator=(const Variable& value) const {
  detail::StateUses::see(slot_);
  *slot_ = value;
  return *this;
}

const Variable& StateVariable::variable() const {
  detail::StateUses::see(slot_);
  return *slot_;
}

detail::StateUses::StateUses(bool clear) : clear_(clear) { scopes.push_back(this); }
detail::StateUses::~StateUses() { scopes.pop_back(); }

void detail::StateUses::see(const std::shared_ptr<Variable>& slot) {
  for (StateUses* scope : scopes) {
    std::vector<Use>& all = scope->all_;
    const auto same = [&](const Use& use) { return !use.slot.owner_before(slot) && !slot.owner_before(use.slot); };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    all.push_back({slot, *slot});
    if (scope->clear_) *slot = Variable();
  }
}

StateScope::~StateScope() {
  for (const auto& use : uses_.all())
    if (const auto slot = use.slot.lock()) *slot = use.before;
}

}  // namespace catenary
