#pragma once
// Replaces nanobind's error message for rejected calls.

#include "core.h"

namespace catenary_python {

/// Has calls that the functions registered so far refuse answered by catenary.cupy._refusals. To be called last.
void register_refusals(nb::module_& m);

}  // namespace catenary_python
