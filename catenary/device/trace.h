#pragma once
// Private to the library: CATENARY_TRACE, which reports a device's work. Without it, a primitive pays for one branch.
//
// - kernels: a line on standard error for each piece of work, with device, name, shape, dtypes, bytes, time (after
//   waiting for the device), and the reason why it ran now.
// - ops: at the end of the process a line for each kind of work, `op DEVICE NAME COUNT TIME ms SHARE%`, the largest
//   share first. Operations that ran as one kernel form one kind: multiply+add+tanh. Waiting for the device after each
//   kernel makes the whole slower, and errors appear earlier.
// - counts: at the end a line for each operation, `op DEVICE NAME COUNT`, without waiting.
//
// The last two are appended to the file CATENARY_TRACE_FILE if that is set. All also report once each operation that
// the CPU computes for another device (`host DEVICE NAME`).

#include "catenary/device/device.h"

namespace catenary {

/// Returns whether CATENARY_TRACE names this.
CT_API bool tracing(const char* what);

/// Reports once for each device, if kernels or ops are traced, that the CPU computes `what` for it.
void trace_host(const Device& device, const char* what);

/// The reason why the calling thread's next piece of work runs: a string literal.
inline thread_local const char* trace_reason = "";

}  // namespace catenary
