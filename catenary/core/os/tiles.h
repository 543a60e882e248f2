#pragma once
// Private: the tile registers of x86-64's AMX, which a process has to ask the system for.

#include <string>

#include "catenary/core/export.h"

namespace catenary::os {

/// Asks for them, for all threads of this process; "" where it has them now, else why not.
CT_API std::string ask_for_tiles();

}  // namespace catenary::os
