#pragma once
// Private to the library: what CATENARY_TRACE shows of a device's work. Where it shows nothing, a primitive pays one
// branch for it.
//
//   kernels: a line on standard error for each piece of work, with device, name, shape, dtypes, bytes, time (the device
//   is
//     waited for), and why it ran now
//   ops: at the end of the process a line for each kind of work, `op DEVICE NAME COUNT TIME ms SHARE%`, by falling
//     share. Operations that ran as one are one kind: multiply+add+tanh. As the device is waited for after each, the
//     whole is slower, and errors come earlier
//   counts: at the end a line for each operation, `op DEVICE NAME COUNT`; nothing is waited for
//
// The last two are appended to the file CATENARY_TRACE_FILE where that is set. All also say, once, what the processor
// computes for another device (`host DEVICE NAME`).

#include "catenary/device/device.h"

namespace catenary {

/// Does CATENARY_TRACE name this?
CT_API bool tracing(const char* what);

/// Says once for each device, where kernels or ops are traced, that `what` is computed by the processor for it.
void trace_host(const Device& device, const char* what);

/// Says why the calling thread's next piece of work runs; a string literal.
inline thread_local const char* trace_reason = "";

}  // namespace catenary
