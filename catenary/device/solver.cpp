#include "catenary/device/solver.h"

#include "catenary/device/backend.h"

namespace catenary {

Solver* solver_for(const Device& device, Dtype dtype, std::int64_t size) {
  auto* const solver = dynamic_cast<Solver*>(&device.backend());
  return solver && solver->solves(device.index(), dtype, size) ? solver : nullptr;
}

}  // namespace catenary
