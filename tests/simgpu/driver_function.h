#pragma once
// Gives the stand-ins for the vendors' libraries access to functions of the simulated driver in this process.

#include <dlfcn.h>

#include <cstdlib>

namespace simgpu {

/// Returns a function of the simulated driver, which the process has loaded.
template <class F>
F* driver_function(const char* name) {
  for (const char* library : {"libcuda.so.1", "libamdhip64.so.6", "libamdhip64.so.5"})
    if (void* driver = ::dlopen(library, RTLD_NOW | RTLD_NOLOAD))
      if (void* symbol = ::dlsym(driver, name)) return reinterpret_cast<F*>(symbol);
  std::abort();
}

}  // namespace simgpu
