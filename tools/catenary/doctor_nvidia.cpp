// N1-N6: kernel module, device files, and settings that hide GPUs. B1 reports CUDA's own errors.

#include <fmt/format.h>

#include <regex>

#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

/// A version such as "550.90.07" in a text.
std::string version_in(const std::string& text) {
  std::smatch match;
  return std::regex_search(text, match, std::regex("\\b(\\d{3}\\.\\d+(\\.\\d+)?)\\b")) ? match[1].str() : "";
}

/// The version in the name of libcuda.so.<version>.
std::string library_version(const Machine& machine) {
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
                             "/usr/lib/x86_64-linux-gnu/nvidia/current"})
    for (const std::string& name : machine.list(folder))
      if (name.rfind("libcuda.so.", 0) == 0 && !version_in(name).empty()) return version_in(name);
  return {};
}

void check_driver(const Machine& machine, const Facts& facts, Report& report) {
  const std::string module = version_in(machine.read("/proc/driver/nvidia/version").value_or(""));
  const std::string library = library_version(machine);
  if (!module.empty() && !library.empty() && module != library)
    report.fail("N1", fmt::format("kernel module {} and libcuda {} belong to different drivers", module, library),
                facts.container ? "restart the container: the host's driver has changed"
                                : "the driver was upgraded while the system was running: reboot");
  else if (!module.empty())
    report.ok("N1", fmt::format("driver {}", module));
}

void check_nodes(const Machine& machine, const Facts& facts, Report& report) {
  // containers may see any of the GPUs
  std::string card = "/dev/nvidia0";
  for (const std::string& name : machine.list("/dev"))
    if (std::regex_match(name, std::regex("nvidia\\d+"))) card = "/dev/" + name;
  int fine = 0;
  for (const std::string& path : {std::string("/dev/nvidiactl"), card, std::string("/dev/nvidia-uvm")}) {
    const std::string error = machine.open_error(path);
    if (error.empty()) {
      ++fine;
      continue;
    }
    const std::string text = fmt::format("{}: {}", path, error == "ENOENT" ? "not there" : error);
    if (facts.container)
      report.fail("N2", text, "start the container with --gpus all (NVIDIA's container toolkit)");
    else if (path == "/dev/nvidia-uvm")
      report.fail("N2", text, "sudo nvidia-modprobe -u -c=0");
    else
      report.fail("N2", text, error == "ENOENT" ? "see H2; sudo nvidia-modprobe -c=0" : "sudo chmod 666 " + path);
  }
  if (fine == 3) report.ok("N2", fmt::format("/dev/nvidiactl, {} and /dev/nvidia-uvm can be opened", card));
}

/// Reports the installed CUDA libraries, all of which are optional.
void check_libraries(const Machine& machine, Report& report) {
  std::vector<std::string> folders;
  for (const std::string& name : machine.list("/usr/local"))
    if (name.rfind("cuda", 0) == 0) folders.push_back("/usr/local/" + name + "/lib64");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib"}) folders.emplace_back(folder);
  std::vector<std::string> found;
  bool products = false;
  for (const char* library : {"libcublasLt.so", "libcublas.so", "libcudnn.so", "libcufft.so", "libnccl.so"}) {
    for (const char* version : {"13", "12", "11", "10", "9", "8", "2"}) {
      const std::string name = fmt::format("{}.{}", library, version);
      for (const std::string& folder : folders) {
        if (!machine.exists(folder + "/" + name)) continue;
        products |= name.rfind("libcublas", 0) == 0;
        found.push_back(folder + "/" + name);
        break;
      }
    }
  }
  if (!found.empty()) report.ok("N5", fmt::format("optional libraries: {}", fmt::join(found, ", ")));
  if (!products) report.ok("N5", "no cuBLAS: products of matrices are computed by our own kernels");
}

}  // namespace

void check_nvidia(const Machine& machine, const Facts& facts, Report& report) {
  const bool any = facts.count("NVIDIA") > 0 || machine.exists("/proc/driver/nvidia/version") ||
                   machine.exists("/usr/lib/wsl/lib/libcuda.so.1");
  if (!any) return;
  if (!facts.wsl) {
    check_driver(machine, facts, report);
    check_nodes(machine, facts, report);
  }
  check_nvml(machine, report);
  check_libraries(machine, report);
  const std::string visible = machine.variable("CUDA_VISIBLE_DEVICES");
  if (!visible.empty()) report.warn("N3", "CUDA_VISIBLE_DEVICES=" + visible, "hides GPUs; unset it to see all");
  const std::string capabilities = machine.variable("NVIDIA_DRIVER_CAPABILITIES");
  if (facts.container && !capabilities.empty() && capabilities != "all" &&
      capabilities.find("compute") == std::string::npos)
    report.fail("N4", "NVIDIA_DRIVER_CAPABILITIES=" + capabilities + " leaves out compute",
                "start the container with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility");
}

}  // namespace catenary::doctor
