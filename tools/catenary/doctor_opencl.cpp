// O1, O2: the files by which OpenCL's loader finds its drivers.

#include <fmt/format.h>

#include "tools/catenary/doctor.h"

namespace catenary::doctor {

void check_opencl(const Machine& machine, const Facts& facts, Report& report) {
  std::string folder = machine.variable("OCL_ICD_VENDORS");
  if (folder.empty()) folder = "/etc/OpenCL/vendors";
  std::vector<std::string> fine;
  bool rusticl = false;
  for (const std::string& name : machine.list(folder)) {
    if (!name.ends_with(".icd")) continue;
    const std::string file = folder + "/" + name;
    const std::optional<std::string> text = machine.read(file);
    const std::string library = text ? text->substr(0, text->find('\n')) : "";
    if (library.empty()) {
      report.warn("O1", file + " is empty or cannot be read", "remove it, or reinstall its driver");
      continue;
    }
    rusticl = rusticl || name.find("rusticl") != std::string::npos;
    const std::optional<Probe> probe = machine.probe("library:" + library);
    const std::string error = !probe ? "" : probe->failure.empty() ? probe->answer.value("error", "") : probe->failure;
    if (error.empty())
      fine.push_back(fmt::format("{} ({})", name, library));
    else
      report.warn("O1", fmt::format("{} names {}: {}", file, library, error),
                  "reinstall that driver, or remove the file");
  }
  if (!fine.empty())
    report.ok("O1", fmt::format("OpenCL's drivers: {}", fmt::join(fine, ", ")));
  else if (!facts.gpus.empty() && !facts.wsl)
    report.warn(
        "O1", folder + " names no OpenCL driver that can be loaded",
        "install the vendor's (rocm-opencl-runtime, nvidia-opencl-icd, intel-opencl-icd) or Mesa's mesa-opencl-icd");
  if (rusticl && facts.count("AMD") + facts.count("Intel") > 0 && machine.variable("RUSTICL_ENABLE").empty() &&
      fine.size() == 1)
    report.warn("O2", "Mesa's rusticl is installed, but not enabled for any GPU",
                facts.count("AMD") ? "export RUSTICL_ENABLE=radeonsi" : "export RUSTICL_ENABLE=iris");
}

}  // namespace catenary::doctor
