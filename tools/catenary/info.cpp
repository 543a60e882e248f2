#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "catenary/backends/cpu/gemm.h"
#include "catenary/catenary.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/parallel.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

namespace {

const char* level_name(SimdLevel level) {
  switch (level) {
    case SimdLevel::v2:
      return "x86-64-v2";
    case SimdLevel::v3:
      return "x86-64-v3 (AVX2)";
    case SimdLevel::v4:
      return "x86-64-v4 (AVX-512)";
    default:
      return "native";
  }
}

}  // namespace

int info(bool json) {
  std::string mnist;
  try {
    mnist = datasets::mnist_folder();
  } catch (const Error& e) {
    mnist = std::string("not found: ") + e.what();
  }
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"Catenary", version()},
      {"Instruction set", level_name(simd_level())},
      {"Threads", std::to_string(num_threads())},
      {"oneDNN", cpu::gemm_provider_info()},
      {"MNIST", mnist},
  };
  std::vector<std::string> names;
  for (const Device& device : devices()) names.push_back(device.name());
  if (json) {
    nlohmann::ordered_json object = {{"schema", 1}};
    for (const auto& [name, value] : lines) object[name] = value;
    object["devices"] = names;
    fmt::print("{}\n", object.dump(2));
    return 0;
  }
  for (const auto& [name, value] : lines) fmt::print("{:<16} {}\n", name + ":", value);
  fmt::print("{:<16} {}\n", "Devices:", fmt::join(names, ", "));
  return 0;
}

}  // namespace catenary::command
