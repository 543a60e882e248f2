#include <atomic>
#include <cstring>

#include "catenary/array/body.h"
#include "catenary/array/kernel_text.h"
#include "catenary/core/format.h"

namespace catenary {

static std::atomic<std::uint32_t> last_number{0};

RawKernel::RawKernel(const std::string& code, const std::string& name, const RawKernelOptions& options)
    : code_(code), name_(name), options_(options), number_(++last_number), module_(options.variables ? number_ : 0) {}

RawKernel::Argument::Argument(const void* value, std::size_t size) : size_(size) {
  constexpr std::size_t kMost = 4096;  // CUDA's limit for all parameters
  if (size > kMost) fail<ValueError>("a kernel's parameter has up to {} bytes, {} are given", kMost, size);
  if (size > sizeof words_) more_.resize((size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  std::memcpy(more_.empty() ? words_.data() : more_.data(), value, size);
}

std::pair<std::int64_t, int> RawKernel::groups_for(const Device& device, std::int64_t items, std::int64_t each) {
  const KernelLauncher& launcher = launcher_for(device, "of a user");
  const int group_size = launcher.group_size(device.index());
  return {launcher.groups_for(device.index(), items, each), group_size};
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
  launch_kernel(launcher, found, launcher.kernel(found.index(), text()), shape, arguments);
}

void launch_kernel(KernelLauncher& launcher, const Device& device, const void* kernel, const LaunchShape& shape,
                   const std::vector<RawKernel::Argument>& arguments) {
  struct Place {
    void* handle;
    std::int64_t offset;
  };
  std::vector<Place> places;
  places.reserve(arguments.size());
  std::vector<KernelArgument> list;
  for (const RawKernel::Argument& argument : arguments) {
    if (argument.array().defined()) {
      const View view = writable(argument.array());
      const Place& place = places.emplace_back(Place{view.handle, view.offset});
      list.push_back({&place.handle, sizeof place.handle});
      list.push_back({&place.offset, sizeof place.offset});
    } else {
      list.push_back({argument.data(), argument.size()});
    }
  }
  launcher.launch(device, kernel, shape, list);
}

UserKernelText RawKernel::text() const { return {code_, name_, name_, options_.portable, number_, module_}; }

std::map<std::string, std::int64_t> RawKernel::attributes(const Device& device) const {
  KernelLauncher& launcher = launcher_for(device, name_);
  return launcher.attributes(device.index(), launcher.kernel(device.index(), text()));
}

RawModule::RawModule(std::string code, const RawKernelOptions& options)
    : code_(std::move(code)), options_(options), module_(options.variables ? ++last_number : 0) {}

RawKernel RawModule::get_function(const std::string& name) const {
  RawKernel kernel(code_, name, options_);
  kernel.module_ = module_;
  return kernel;
}

Array RawModule::get_global(const std::string& name, const Device& device) const {
  const auto [memory, bytes] =
      launcher_for(device, name).variable(device.index(), {code_, name, name, options_.portable, 0, module_}, name);
  const Array variable = Array::from_memory(memory, {static_cast<std::int64_t>(bytes)}, {1}, Dtype::uint8, device,
                                            std::shared_ptr<void>(memory, [](void*) {}));
  export_memory(variable);  // kernels can change it without having it as an argument
  return variable;
}

}  // namespace catenary
