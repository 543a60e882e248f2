#include "catenary/backends/cpu/cpu_backend.h"
#include "catenary/backends/gpu/gpu_backend.h"
#include "catenary/core/environment.h"
#include "catenary/device/backend.h"

namespace catenary {

// The list of all backends.
const std::vector<Backend*>& backends() {
  static const std::vector<Backend*>* list = [] {
    environment::check();  // reports invalid variables before anything else happens
    return new std::vector<Backend*>{
        &cpu::backend(),
        &gpu::make_backend("cuda", gpu::cuda_driver),
        &gpu::make_backend("hip", gpu::hip_driver),
        &gpu::make_backend("opencl", gpu::opencl_driver),
    };
  }();
  return *list;
}

}  // namespace catenary
