#include "catenary/core/os/tiles.h"

#include <cerrno>
#include <cstring>

#if defined(__linux__) && defined(__x86_64__)
#  include <sys/syscall.h>
#  include <unistd.h>
#endif

namespace catenary::os {

std::string ask_for_tiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // asm/prctl.h of Linux 5.16 and later
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0) return "";
  return std::string("the system refuses AMX's tiles: ") + std::strerror(errno);
#else
  return "AMX is x86-64's, and asked for on Linux alone";
#endif
}

}  // namespace catenary::os
