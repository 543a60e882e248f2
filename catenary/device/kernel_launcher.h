#pragma once
// Private to the library: the interface of devices with a compiler for user-written kernels (Backend::launcher).

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "catenary/device/device.h"
#include "catenary/device/launch_shape.h"

namespace catenary {

/// An argument of a kernel: the bytes of a buffer's handle or of a number.
struct KernelArgument {
  const void* data = nullptr;
  std::size_t size = 0;
};

/// The text of a user's kernel, or of a kernel generated around a user's expression.
struct UserKernelText {
  std::string_view text;
  std::string_view function;  ///< a function in the text
  std::string_view name;      ///< the user's name for it, for messages
  bool portable = true;       ///< false: in the device's own language and used unchanged
  std::uint64_t number = 0;   ///< if not 0: unique to this text in the process
  std::uint64_t module = 0;   ///< if not 0: kernels with equal numbers share the text's variables
};

class KernelLauncher {
 public:
  virtual ~KernelLauncher() = default;
  /// Returns the kernel, compiled on first use. A portable text gets the dialect's prelude and the helper functions
  /// that it calls. Throws DeviceError with the line of the text and the compiler's message.
  virtual const void* kernel(int device, const UserKernelText& text) = 0;
  /// Returns the memory of a variable of a text with a `module`, and its size in bytes. Throws DeviceError.
  virtual std::pair<void*, std::size_t> variable(int device, const UserKernelText& text, const std::string& name) = 0;
  /// Returns RawKernel::attributes of a kernel.
  virtual std::map<std::string, std::int64_t> attributes(int device, const void* kernel) = 0;
  /// Launches a kernel and reports it to CATENARY_TRACE.
  void launch(const Device& device, const void* kernel, const LaunchShape& shape,
              std::span<const KernelArgument> arguments);
  /// Return the size and the number of thread blocks for a grid-stride loop over `items`. An item stands for `each`
  /// elements.
  virtual int group_size(int device) const = 0;
  virtual std::int64_t groups_for(int device, std::int64_t items, std::int64_t each) const = 0;

 protected:
  virtual void do_launch(int device, const void* kernel, const LaunchShape& shape,
                         std::span<const KernelArgument> arguments) = 0;
};

}  // namespace catenary
