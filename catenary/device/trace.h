#pragma once
// Private to the library: what CATENARY_TRACE shows of a device's work. Where it shows nothing, a primitive pays one
// branch for it.
//
//   kernels: a line on standard error for each piece of work, with device, name, shape, bytes, time (the device is
//     waited for), and why it ran now
//   ops: at the end of the process a line for each operation that ran, `op DEVICE NAME COUNT` (appended to the file
//     CATENARY_TRACE_FILE where that is set)
//
// Both also say, once, what the processor computes for another device (`host DEVICE NAME`).

#include "catenary/device/device.h"

namespace catenary {

/// Does CATENARY_TRACE name this?
CT_API bool tracing(const char* what);

/// Says once for each device, where kernels or ops are traced, that `what` is computed by the processor for it.
void trace_host(const Device& device, const char* what);

/// Says why the calling thread's next piece of work runs; a string literal.
inline thread_local const char* trace_reason = "";

}  // namespace catenary
