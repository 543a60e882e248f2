#pragma once
// Text for a device's compiler: the prelude of its dialect, the shared helpers that the kernel calls, and the kernel.
// Unused helpers are left out to shorten compilation.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::gpu {

/// A #define before a kernel: a number, or one or two texts that live as long as the process, so that their addresses
/// can represent them in a kernel's key.
struct Define {
  Define(const char* n, const char* t, const char* more_text = "") : name(n), text(t), more(more_text) {}
  Define(const char* n, std::integral auto value) : name(n), number(static_cast<std::int64_t>(value)) {}

  const char* name;
  const char *text = nullptr, *more = nullptr;
  std::int64_t number = 0;  ///< if there is no text
};
using Defines = std::vector<Define>;

/// Returns the lines of #define.
std::string define_lines(const Defines& defines);

/// `dialect` is the name of a driver, or "host" for the processor's C++ compiler. `device_defines` and `defines` are
/// lines of #define for the device and the kernel.
CT_API std::string assemble_source(std::string_view dialect, std::string_view device_defines, std::string_view defines,
                                   std::string_view kernels);

}  // namespace catenary::gpu
