#pragma once
// Private: the tile registers of x86-64's AMX, which a process must request from the system.

#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// Requests the registers for all threads of this process. Returns "" on success, else the reason.
CT_API std::string ask_for_tiles();

}  // namespace catenary::os
