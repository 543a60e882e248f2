#pragma once
// Private to the library: what only a device with a compiler of its own can do, as Backend::launcher gives it.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "catenary/device/device.h"
#include "catenary/device/launch_shape.h"

namespace catenary {

/// An argument of a kernel: a buffer's handle or a number, by its bytes.
struct KernelArgument {
  const void* data = nullptr;
  std::size_t size = 0;
};

/// A kernel that a user wrote, or one made around what a user wrote.
struct UserKernelText {
  std::string_view text;
  std::string_view function;  ///< of the text
  std::string_view name;      ///< the user's, for messages
  bool portable = true;       ///< or in the device's own language, and taken as it is
  std::uint64_t number = 0;   ///< if not 0: no other text of this process has it
  std::uint64_t module =
      0;  ///< if not 0: kernels with this number have the text's variables in common, others have not
};

class KernelLauncher {
 public:
  virtual ~KernelLauncher() = default;
  /// The kernel, compiled on first use. A portable text gets the dialect's prelude and the helpers that it calls before
  /// it. Throws DeviceError with the line of the text and the compiler's words.
  virtual const void* kernel(int device, const UserKernelText& text) = 0;
  /// The memory of a variable of a text that has a `module`, and its bytes. Throws DeviceError.
  virtual std::pair<void*, std::size_t> variable(int device, const UserKernelText& text, const std::string& name) = 0;
  /// RawKernel::attributes of a kernel.
  virtual std::map<std::string, std::int64_t> attributes(int device, const void* kernel) = 0;
  /// Tells CATENARY_TRACE of it.
  void launch(const Device& device, const void* kernel, const LaunchShape& shape,
              std::span<const KernelArgument> arguments);
  /// Groups of how many work-items a grid-stride loop over `items` should have, and how many of them; an item stands
  /// for `each` elements.
  virtual int group_size(int device) const = 0;
  virtual std::int64_t groups_for(int device, std::int64_t items, std::int64_t each) const = 0;

 protected:
  virtual void do_launch(int device, const void* kernel, const LaunchShape& shape,
                         std::span<const KernelArgument> arguments) = 0;
};

}  // namespace catenary
