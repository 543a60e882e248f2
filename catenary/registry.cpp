#include "catenary/backends/cpu/cpu_backend.h"
#include "catenary/device/backend.h"

namespace catenary {

// The one list of backends.
const std::vector<Backend*>& backends() {
  static const std::vector<Backend*>* list = new std::vector<Backend*>{&cpu::backend()};
  return *list;
}

}  // namespace catenary
