#include <atomic>
#include <cstring>

#include "catenary/array/body.h"
#include "catenary/array/kernel_text.h"
#include "catenary/core/format.h"

namespace catenary {

static std::atomic<std::uint32_t> last_number{0};

RawKernel::RawKernel(const std::string& code, const std::string& name, const RawKernelOptions& options)
    : code_(code), name_(name), options_(options), number_(++last_number) {}

RawKernel::Argument::Argument(const void* value, std::size_t size) : size_(size) {
  if (size > sizeof words_) fail<ValueError>("a kernel's number has up to {} bytes, {} are given", sizeof words_, size);
  std::memcpy(&words_, value, size);
}

std::pair<std::int64_t, int> RawKernel::groups_for(const Device& device, std::int64_t items) {
  const KernelLauncher& launcher = launcher_for(device, "of a user");
  const int group_size = launcher.group_size(device.index());
  return {launcher.groups_for(device.index(), items), group_size};
}

void RawKernel::launch(const LaunchShape& shape, const std::vector<Argument>& arguments) const {
  const Device* device = nullptr;
  Device found;
  for (const Argument& argument : arguments) {
    if (!argument.array().defined()) continue;
    if (device && argument.array().device() != found)
      fail<DeviceError>("kernel {}: its arguments are on {} and on {}", name_, found.name(),
                        argument.array().device().name());
    found = argument.array().device();
    device = &found;
  }
  if (!device) found = current_device();
  KernelLauncher& launcher = launcher_for(found, name_);
  std::vector<std::array<std::uint64_t, 2>> values;
  std::vector<std::size_t> sizes;
  for (const Argument& argument : arguments) {
    if (argument.array().defined()) {
      const View view = writable(argument.array());
      values.push_back({reinterpret_cast<std::uint64_t>(view.handle)});
      values.push_back({static_cast<std::uint64_t>(view.offset)});
      sizes.insert(sizes.end(), 2, 8);
    } else {
      values.push_back(argument.words());
      sizes.push_back(argument.size());
    }
  }
  std::vector<KernelArgument> list;
  for (std::size_t k = 0; k < values.size(); ++k) list.push_back({&values[k], sizes[k]});
  launcher.launch(found, launcher.kernel(found.index(), {code_, name_, name_, options_.portable, number_}), shape,
                  list);
}

}  // namespace catenary
