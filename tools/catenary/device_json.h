#pragma once
// Devices as JSON, in a common form for all commands.

#include <nlohmann/json.hpp>
#include <string>

#include "catenary/device/device_info.h"

namespace catenary::command {

/// Returns the fields of a device. `id` is the name for get_device.
inline nlohmann::ordered_json device_json(const std::string& id, const DeviceInfo& info) {
  return {{"id", id},
          {"name", info.name},
          {"platform", info.platform},
          {"architecture", info.arch},
          {"driver", info.driver},
          {"pci", info.pci},
          {"memory_bytes", info.memory_bytes},
          {"local_memory_bytes", info.local_bytes},
          {"compute_units", info.compute_units},
          {"group_size", info.group_size},
          {"is_cpu", info.is_cpu},
          {"is_integrated", info.is_integrated},
          {"is_simulated", info.is_simulated},
          {"has_float64", info.has_f64}};
}

}  // namespace catenary::command
