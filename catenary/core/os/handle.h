#pragma once
// Open objects of the system: descriptors of POSIX, handles of Windows.

namespace catenary::os {

/// An open object, as a number that also a process that inherits it knows. (Handles of Windows have 32 significant
/// bits.)
enum class Handle : int { none = -1 };

}  // namespace catenary::os
