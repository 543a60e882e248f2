// W1-W6: graphics drivers as Windows knows them, and Windows' settings for long kernels, paths and letters.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "catenary/core/lower.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

const std::string kControl = "SYSTEM\\CurrentControlSet\\Control\\";
/// Display adapters, and components that drivers install beside them. Each device is a key below.
const std::string kAdapters = kControl + "Class\\{4d36e968-e325-11ce-bfc1-08002be10318}";
const std::string kComponents = kControl + "Class\\{5c4c3332-344d-483c-8739-259e934c9cc8}";
const std::string kOpenClKey = "SOFTWARE\\Khronos\\OpenCL\\Vendors";
constexpr const char* kDriverPages = "amd.com/support, intel.com/download-center or nvidia.com/drivers";
constexpr int kUtf8 = 65001;

/// Returns the number after a word such as "ven_" in a device's name, "" if there is none.
std::string number_after(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? "" : text.substr(at + word.size(), 4);
}

/// Returns whether a device's name is that of a real adapter, not of a mirror or a remote session.
bool is_on_bus(const std::string& device) { return device.starts_with("pci\\"); }

void check_adapters(const Machine& machine, Facts& facts, Report& report) {
  const std::map<std::string, std::string> makers = {{"1002", "AMD"}, {"10de", "NVIDIA"}, {"8086", "Intel"}};
  bool basic = false;
  for (const std::string& key : machine.registry_keys(kAdapters)) {
    const auto value = [&, path = kAdapters + "\\" + key](const char* name) {
      return machine.registry_value(path, name).value_or("");
    };
    const std::string device = lower(value("MatchingDeviceId")), title = value("DriverDesc");
    if (!is_on_bus(device)) continue;
    const auto maker = makers.find(number_after(device, "ven_"));
    if (maker == makers.end()) {
      basic = true;
      report.warn("W1", fmt::format("{}: a driver without OpenCL", title),
                  fmt::format("install the driver of the card's vendor ({})", kDriverPages));
      continue;
    }
    const std::string id = maker->first + ":" + number_after(device, "dev_");
    facts.gpus.push_back({key, maker->second, id, value("DriverVersion")});
    report.ok("W1", fmt::format("{} GPU {}: {}, driver {} of {}", maker->second, id, title, value("DriverVersion"),
                                value("DriverDate")));
  }
  if (facts.gpus.empty() && !basic)
    report.warn("W1", "Windows lists no GPU of AMD, NVIDIA or Intel",
                "nothing, if this machine has none: the CPU is used");
}

/// Returns the OpenCL drivers that are registered, as files.
std::vector<std::string> opencl_drivers(const Machine& machine) {
  std::vector<std::string> files;
  const auto add = [&](std::string file) {
    std::replace(file.begin(), file.end(), '\\', '/');
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  };
  for (const std::string& devices : {kAdapters, kComponents})
    for (const std::string& key : machine.registry_keys(devices))
      if (const auto file = machine.registry_value(devices + "\\" + key, "OpenCLDriverName")) add(*file);
  for (const auto& [file, disabled] : machine.registry_values(kOpenClKey))
    if (disabled == "0") add(file);
  return files;
}

void check_opencl_library(const Machine& machine, const Facts& facts, Report& report) {
  const std::string loader = machine.library_folder() + "/OpenCL.dll";
  if (!machine.exists(loader)) {
    const std::string text = loader + " does not exist";
    if (facts.gpus.empty()) return report.ok("W2", text);
    return report.fail("W2", text, fmt::format("install the graphics driver of the card's vendor ({})", kDriverPages));
  }
  std::vector<std::string> fine;
  for (const std::string& file : opencl_drivers(machine)) {
    const std::optional<Probe> probe = machine.probe("library:" + file);
    const std::string error = !probe ? "" : probe->failure.empty() ? probe->answer.value("error", "") : probe->failure;
    if (error.empty())
      fine.push_back(file);
    else
      report.warn("W2", fmt::format("the registered OpenCL driver {} cannot be loaded: {}", file, error),
                  "install that driver again, or uninstall it");
  }
  if (!fine.empty())
    report.ok("W2", fmt::format("{}; OpenCL's drivers: {}", loader, fmt::join(fine, ", ")));
  else if (facts.gpus.empty())
    report.ok("W2", loader + "; no driver of OpenCL is registered");
  else
    report.fail("W2", loader + " is there, but no driver of OpenCL is registered",
                fmt::format("install the graphics driver of the card's vendor ({})", kDriverPages));
}

/// CUDA's and HIP's libraries: this build does not load them.
void check_other_libraries(const Machine& machine, Report& report) {
  std::vector<std::string> found;
  for (const std::string& name : machine.list(machine.library_folder())) {
    const std::string file = lower(name);
    if (file == "nvcuda.dll" || (file.starts_with("amdhip64") && file.ends_with(".dll"))) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  if (found.empty())
    report.ok("W3", fmt::format("neither nvcuda.dll nor amdhip64*.dll is in {}; OpenCL does without them",
                                machine.library_folder()));
  else
    report.ok("W3", fmt::format("{} in {}: not used yet, OpenCL runs these cards (gpu:0)", fmt::join(found, ", "),
                                machine.library_folder()));
}

/// The time after which Windows takes a kernel for hung, and resets the card.
void check_time_limit(const Machine& machine, const Facts& facts, Report& report) {
  if (facts.gpus.empty()) return;
  const std::string key = kControl + "GraphicsDrivers";
  if (machine.registry_value(key, "TdrLevel") == "0")
    return report.ok("W4", "kernels may run without a limit (TdrLevel is 0)");
  report.ok("W4", fmt::format("Windows resets a card with a display after a kernel of {} s (TdrDelay; "
                              "docs/guide/windows.md says how to change it)",
                              machine.registry_value(key, "TdrDelay").value_or("2")));
}

void check_texts(const Machine& machine, Report& report) {
  const std::string long_paths = machine.registry_value(kControl + "FileSystem", "LongPathsEnabled").value_or("0");
  report.ok("W5", long_paths == "1" ? "paths may be longer than 260 characters"
                                    : "paths longer than 260 characters: Catenary opens them, other programs do not "
                                      "(LongPathsEnabled is 0)");
  const int page = machine.code_page();
  if (page == kUtf8)
    report.ok("W6", "arguments and file names are UTF-8");
  else
    report.warn("W6", fmt::format("code page {}: letters that it lacks are lost in arguments", page),
                "update to Windows 10 version 1903 or later, which gives programs UTF-8");
}

}  // namespace

void check_windows(const Machine& machine, Facts& facts, Report& report) {
  check_adapters(machine, facts, report);
  check_opencl_library(machine, facts, report);
  check_other_libraries(machine, report);
  check_time_limit(machine, facts, report);
  check_texts(machine, report);
}

}  // namespace catenary::doctor
