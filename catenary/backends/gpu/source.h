#pragma once
// What is handed to a device's compiler: the prelude of its dialect, of the shared helpers those that the kernel calls,
// and the kernel. A kernel's text stays short so, and so does its compilation.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::gpu {

/// A #define before a kernel: a number, or one text or two that live as long as the process, so that their addresses
/// stand for them in a kernel's key.
struct Define {
  Define(const char* n, const char* t, const char* more_text = "") : name(n), text(t), more(more_text) {}
  Define(const char* n, std::integral auto value) : name(n), number(static_cast<std::int64_t>(value)) {}

  const char* name;
  const char *text = nullptr, *more = nullptr;
  std::int64_t number = 0;  ///< where there is no text
};
using Defines = std::vector<Define>;

/// As lines of #define.
std::string define_lines(const Defines& defines);

/// `dialect` is the name of a driver, or "host" for the processor's C++ compiler; `defines` are lines of #define: of
/// the device, and of the kernel.
CT_API std::string assemble_source(std::string_view dialect, std::string_view device_defines, std::string_view defines,
                                   std::string_view kernels);

}  // namespace catenary::gpu
