#include <fmt/format.h>

#include <algorithm>

#include "catenary/device/cupy_devices.h"
#include "catenary/distributed/launchers.h"
#include "tools/catenary/commands.h"
#include "tools/catenary/device_json.h"

namespace catenary::command {

namespace {

/// Why `cupy` does not count a device.
std::string why_not(const Device& device) {
  const DeviceInfo info = device.info();
  if (device.is_cpu()) return "CATENARY_CUPY_CPU=1 makes it ordinal 0";
  if (info.is_simulated) return "a simulation, counted with CATENARY_GPU_INCLUDE_SIMULATED=1";
  if (info.is_cpu) return "a CPU, counted with CATENARY_GPU_INCLUDE_CPU=1";
  return "already counted by another backend";
}

}  // namespace

int list_devices(bool json) {
  if (!distributed::is_first_rank()) return 0;  // started by a launcher: only the first rank prints
  const std::vector<Device> counted = cupy_devices();
  std::vector<Device> all = counted;
  for (const Device& device : devices())
    if (std::find(counted.begin(), counted.end(), device) == counted.end()) all.push_back(device);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Device& device = all[k];
    const DeviceInfo info = device.info();
    const bool has_ordinal = k < counted.size();
    nlohmann::ordered_json object = device_json(device.name(), info);
    object["ordinal"] = has_ordinal ? nlohmann::ordered_json(k) : nlohmann::ordered_json(nullptr);
    object["default_of_cupy"] = has_ordinal && k == 0;
    object["default_of_programs"] = device.is_cpu();
    list.push_back(std::move(object));
    if (json) continue;
    std::string more;
    if (has_ordinal && k == 0) more += "; cupy's default";
    if (device.is_cpu()) more += "; the default of programs";
    if (!has_ordinal) more += "; " + why_not(device);
    fmt::print("{:<2} {:<9} {:>7.1f} GiB  {}{}\n", has_ordinal ? std::to_string(k) : "-", device.name(),
               static_cast<double>(info.memory_bytes) / (1 << 30), info.name, more);
  }
  if (json) fmt::print("{}\n", nlohmann::ordered_json{{"schema", 1}, {"devices", list}}.dump(2));
  return 0;
}

}  // namespace catenary::command
