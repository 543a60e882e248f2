// H1-H4: hardware and kernel modules.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "catenary/core/lower.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

/// Reads a file of lines "NAME=value".
std::map<std::string, std::string> pairs(const std::string& text) {
  std::map<std::string, std::string> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find('='); at != std::string::npos) result[line.substr(0, at)] = line.substr(at + 1);
  return result;
}

const std::map<std::string, std::string> kVendors = {{"1002", "AMD"}, {"10de", "NVIDIA"}, {"8086", "Intel"}};

/// Finds display controllers (class 03) and processing accelerators (12) of GPU vendors.
std::vector<Gpu> find_gpus(const Machine& machine) {
  std::vector<Gpu> gpus;
  const std::string folder = "/sys/bus/pci/devices/";
  for (const std::string& slot : machine.list(folder)) {
    auto entry = pairs(machine.read(folder + slot + "/uevent").value_or(""));
    std::string type = entry["PCI_CLASS"];  // hexadecimal without leading zeros: 30000
    type.insert(0, 6 - std::min<std::size_t>(6, type.size()), '0');
    if (type.substr(0, 2) != "03" && type.substr(0, 2) != "12") continue;
    const std::string id = lower(entry["PCI_ID"]);
    const auto vendor = kVendors.find(id.substr(0, 4));
    if (vendor != kVendors.end()) gpus.push_back({slot, vendor->second, id, entry["DRIVER"]});
  }
  return gpus;
}

void check_module(const Machine& machine, const Facts& facts, const std::string& vendor,
                  const std::vector<std::string>& modules, const std::string& advice, Report& report) {
  if (facts.count(vendor) == 0) return;
  for (const std::string& module : modules) {
    if (!machine.exists("/sys/module/" + module)) continue;
    const std::string version = machine.read("/sys/module/" + module + "/version").value_or("");
    return report.ok("H2", fmt::format("kernel module {} is loaded{}", module, version.empty() ? "" : ", " + version));
  }
  report.fail("H2", fmt::format("{} GPU, but the kernel module {} is not loaded", vendor, fmt::join(modules, " or ")),
              advice);
}

bool is_container(const Machine& machine) {
  if (machine.exists("/.dockerenv") || machine.exists("/run/.containerenv")) return true;
  const std::string groups = machine.read("/proc/1/cgroup").value_or("");
  for (const char* word : {"docker", "kubepods", "containerd", "libpod", "lxc"})
    if (groups.find(word) != std::string::npos) return true;
  return false;
}

}  // namespace

void check_hardware(const Machine& machine, Facts& facts, Report& report) {
  facts.gpus = find_gpus(machine);
  facts.wsl = machine.exists("/dev/dxg") ||
              lower(machine.read("/proc/version").value_or("")).find("microsoft") != std::string::npos;
  facts.container = is_container(machine);

  for (const Gpu& gpu : facts.gpus) {
    const std::string text = fmt::format("{} GPU {} at {}", gpu.vendor, gpu.id, gpu.slot);
    if (gpu.driver.empty())
      report.warn("H1", text + ": no kernel driver is bound to it",
                  facts.container ? "load the driver on the host" : "see H2 and `dmesg | grep -i gpu`");
    else if (gpu.driver == "vfio-pci" || gpu.driver == "nouveau")
      report.warn("H1", fmt::format("{}: driver {}", text, gpu.driver),
                  gpu.driver == "nouveau" ? "nouveau computes nothing: install NVIDIA's driver"
                                          : "it is reserved for a virtual machine");
    else
      report.ok("H1", fmt::format("{}, driver {}", text, gpu.driver));
  }
  if (facts.gpus.empty() && !facts.wsl)
    report.warn("H1", "no GPU of AMD, NVIDIA or Intel on the PCI bus",
                "nothing, if this machine has none: the CPU is used");

  check_module(
      machine, facts, "AMD", {"amdgpu"},
      "sudo modprobe amdgpu; look for `blacklist amdgpu` in /etc/modprobe.d and for Secure Boot refusing a DKMS module",
      report);
  check_module(machine, facts, "NVIDIA", {"nvidia", "nouveau"},
               "install NVIDIA's driver, or sudo modprobe nvidia; Secure Boot refuses a module that is not signed",
               report);
  check_module(machine, facts, "Intel", {"i915", "xe"}, "sudo modprobe i915 (xe for the newest)", report);

  if (facts.wsl) {
    if (machine.exists("/dev/dxg"))
      report.ok("H3",
                "WSL 2 with /dev/dxg: the GPU is reached through Windows' driver; there is no /dev/kfd and no "
                "/dev/nvidia0 here");
    else
      report.fail("H3", "WSL without /dev/dxg",
                  "use WSL 2 (wsl --set-version DISTRIBUTION 2) and update Windows' GPU driver");
    if (machine.exists("/dev/dxg") && machine.list("/usr/lib/wsl/lib").empty())
      report.warn("H3", "/usr/lib/wsl/lib is empty", "update Windows' GPU driver, then wsl --shutdown");
  }
  if (facts.container)
    report.ok("H4", "this is a container: pass devices and groups to it when you start it (docs/guide/gpus.md)");
}

}  // namespace catenary::doctor
