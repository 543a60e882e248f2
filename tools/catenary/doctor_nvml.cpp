// N6: which processes may compute on NVIDIA's GPUs, by NVML (libnvidia-ml), NVIDIA's management library.

#include <fmt/format.h>

#include <array>

#include "catenary/core/os/library.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

using nlohmann::ordered_json;

// NVML's names are nvmlComputeMode_t and nvmlDevice_t. Results are 0 on success.
enum ComputeMode { kDefault = 0, kExclusiveThread = 1, kProhibited = 2, kExclusiveProcess = 3 };
using Handle = void*;

}  // namespace

ordered_json ask_nvml() {
  std::string why;
  const std::optional<os::Library> nvml = os::Library::find(os::library_file("nvidia-ml", "1"), &why);
  if (!nvml) return {{"error", why}};
  if (const int code = nvml->required<int()>("nvmlInit_v2")())
    return {{"error", fmt::format("nvmlInit_v2 gives {}", code)}};
  const auto count = nvml->required<int(unsigned*)>("nvmlDeviceGetCount_v2");
  const auto handle_at = nvml->required<int(unsigned, Handle*)>("nvmlDeviceGetHandleByIndex_v2");
  const auto name_of = nvml->required<int(Handle, char*, unsigned)>("nvmlDeviceGetName");
  const auto compute_mode_of = nvml->function<int(Handle, int*)>("nvmlDeviceGetComputeMode");
  const auto mig_mode_of = nvml->function<int(Handle, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
  unsigned devices = 0;
  if (const int code = count(&devices)) return {{"error", fmt::format("nvmlDeviceGetCount_v2 gives {}", code)}};
  ordered_json list = ordered_json::array();
  for (unsigned i = 0; i < devices; ++i) {
    Handle device = nullptr;
    if (handle_at(i, &device)) continue;  // lost, or not accessible to this user
    std::array<char, 96> name{};
    int mode = kDefault;
    unsigned mig = 0, pending = 0;
    name_of(device, name.data(), static_cast<unsigned>(name.size() - 1));
    if (compute_mode_of) compute_mode_of(device, &mode);
    if (mig_mode_of && mig_mode_of(device, &mig, &pending)) mig = 0;  // the chip does not support MIG
    list.push_back({{"number", i}, {"name", name.data()}, {"compute_mode", mode}, {"mig", mig != 0}});
  }
  return {{"devices", list}};
}

void check_nvml(const Machine& machine, Report& report) {
  const std::optional<Probe> probe = machine.probe("nvml");
  if (!probe) return;
  if (!probe->failure.empty())
    return report.warn("N6", "NVML " + probe->failure, "the driver is broken or incomplete: install it again");
  for (const ordered_json& device : probe->answer.value("devices", ordered_json::array())) {
    const int number = device.value("number", 0), mode = device.value("compute_mode", 0);
    const std::string name = fmt::format("GPU {} ({})", number, device.value("name", std::string()));
    if (mode == kProhibited)
      report.fail("N6", name + ": its compute mode forbids all programs",
                  fmt::format("sudo nvidia-smi -i {} -c DEFAULT", number));
    else if (mode == kExclusiveProcess || mode == kExclusiveThread)
      report.warn("N6", name + ": its compute mode allows only one program at a time",
                  fmt::format("to allow several: sudo nvidia-smi -i {} -c DEFAULT", number));
    if (device.value("mig", false))
      report.ok(
          "N6",
          name + ": divided into instances (MIG); a program sees one of them, CUDA_VISIBLE_DEVICES=MIG-… chooses");
  }
}

}  // namespace catenary::doctor
