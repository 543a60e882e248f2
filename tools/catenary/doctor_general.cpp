// B1-B3, G1-G3: checks of Catenary itself.

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "catenary/core/os/system.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"
#include "catenary/device/kernel_cache.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

constexpr double kTestSeconds = 60;  // the first run compiles kernels

/// Whether the device passed.
bool test(const Machine& machine, const std::string& device, const std::string& name, Facts& facts, Report& report) {
  const std::optional<Probe> probe = machine.probe("test:" + device, kTestSeconds);
  if (!probe) return false;
  std::string error = probe->failure;
  if (error.empty()) error = probe->answer.value("error", std::string());
  if (!error.empty()) {
    report.fail("B3", fmt::format("{} ({}): the test {}", device, name, error),
                "use another device; the lines above may say why, else report it with `catenary doctor --json`");
    return false;
  }
  ++facts.usable;
  report.ok("B3", fmt::format("{} ({}): compiles, runs and agrees with the CPU; product of float32 {:.0f} GFLOP/s",
                              device, name, probe->answer.value("gflops", 0.0)));
  return true;
}

/// The command of the user's shell that sets a variable.
std::string command_setting(const Machine& machine, const std::string& name, const std::string& value) {
  return fmt::format("{} {}={}", machine.is_windows() ? "set" : "export", name, value);
}

/// The CPUs that the control group allows, or 0 without a limit.
double quota(const Machine& machine) {
  if (machine.is_windows()) return 0;
  std::istringstream words(machine.read("/sys/fs/cgroup/cpu.max").value_or("max"));
  double most = 0, period = 0;
  return words >> most >> period && period > 0 ? most / period : 0;
}

void check_backend(const Machine& machine, const std::string& name, Facts& facts, Report& report) {
  const std::optional<Probe> probe = machine.probe(name);
  if (!probe) return;
  if (!probe->failure.empty())
    return report.fail("B1", fmt::format("{}: the driver {}", name, probe->failure),
                       name == "hip" ? "this happens if ROCm is too old or too new for this GPU or kernel (A6, A7, "
                                       "A9): change its version, or uninstall it"
                                     : "the driver is broken: update or uninstall it");
  const auto devices = probe->answer.value("devices", nlohmann::ordered_json::array());
  const std::string reason = probe->answer.value("reason", std::string());
  // CUDA and HIP are for one vendor's GPUs, OpenCL for all. Windows has OpenCL alone.
  const bool wanted = name != "opencl" && machine.is_windows() ? false
                      : name == "cuda" ? facts.count("NVIDIA") > 0 || machine.exists("/usr/lib/wsl/lib/libcuda.so.1")
                      : name == "hip"  ? facts.count("AMD") > 0
                                       : !facts.gpus.empty();
  if (devices.empty()) {
    const std::string text = fmt::format("{}: no device: {}", name, reason.empty() ? "none was found" : reason);
    if (wanted)
      report.warn("B1", text, "nothing, if another backend serves the GPU; else see this driver in docs/guide/gpus.md");
    else
      report.ok("B1", text);
  } else if (!reason.empty()) {
    report.warn("B1", fmt::format("{}: {}", name, reason), "nothing, if the other devices are enough");
  }
  for (const auto& device : devices) {
    facts.devices.push_back(device);
    const std::string id = device.value("id", std::string());
    const bool processor = device.value("is_cpu", false), simulated = device.value("is_simulated", false);
    report.ok("B1", fmt::format("{}: {}, {:.1f} GiB, {}, driver {}{}", id, device.value("name", std::string()),
                                device.value("memory_bytes", 0.0) / (1 << 30), device.value("platform", std::string()),
                                device.value("driver", std::string()),
                                processor ? "; the processor, which gpu:0 does not count" : ""));
    if (test(machine, id, device.value("name", std::string()), facts, report) && !processor && !simulated)
      ++facts.usable_gpus;
  }
}

}  // namespace

void check_backends(const Machine& machine, Facts& facts, Report& report) {
  if (!machine.is_this_one() && !machine.probe("test:cpu")) return;  // only this machine's files are known
  test(machine, "cpu", "processor", facts, report);
  for (Backend* backend : backends())
    if (backend != &Device().backend()) check_backend(machine, backend->name(), facts, report);
  const int gpus = facts.count("AMD") + facts.count("NVIDIA") + facts.count("Intel");
  if (gpus == 0 || facts.usable_gpus > 0) return;
  const std::string text =
      fmt::format("no GPU can be used, and {} on the PCI bus", gpus == 1 ? "one is" : fmt::format("{} are", gpus));
  if (facts.count("AMD") + facts.count("NVIDIA") > 0)
    report.fail("B2", text, "follow the lines above, from the top");
  else
    report.warn("B2", text,
                machine.is_windows() ? "install Intel's graphics driver" : "for Intel's: install intel-opencl-icd");
}

void check_general(const Machine& machine, const Facts& facts, Report& report) {
  const double processors = quota(machine);
  if (machine.is_this_one()) {
    const DeviceInfo info = Device().info();
    const std::string text = fmt::format("{}, {}, {} threads", info.name, info.arch, num_threads());
    if (processors > 0 && num_threads() > processors + 0.5)
      report.warn(
          "G1", fmt::format("{}, but the control group allows {:g} processors", text, processors),
          command_setting(machine, "CATENARY_NUM_THREADS", fmt::to_string(std::max(1, static_cast<int>(processors)))));
    else
      report.ok("G1", text);
  }
  if (!machine.is_this_one()) return;  // the remaining checks need more than files
  const std::string folder = kernel_cache_folder();
  const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  if (folder.empty())
    report.warn("G2",
                fmt::format("compiled kernels are not kept: CATENARY_CACHE_DIR{} not set",
                            machine.is_windows() ? " and LOCALAPPDATA are" : ", XDG_CACHE_HOME and HOME are"),
                command_setting(machine, "CATENARY_CACHE_DIR", "<a folder>"));
  else if (const std::string trouble = kernel_cache_trouble(); !trouble.empty())
    report.warn("G2", "kernel cache " + trouble,
                "make sure that only you can write it, or " +
                    command_setting(machine, "CATENARY_CACHE_DIR", "<a folder of your own>"));
  else if (!os::is_writable_folder(folder))
    report.warn("G2", fmt::format("kernel cache {} cannot be written: each run compiles its kernels again", folder),
                command_setting(machine, "CATENARY_CACHE_DIR", "<a writable folder>"));
  else if (os::free_bytes(folder) < (std::uint64_t{64} << 20))
    report.warn("G2", fmt::format("kernel cache {}: {:.0f} MiB are free", folder, mib(os::free_bytes(folder))),
                "free some space, or " + command_setting(machine, "CATENARY_CACHE_DIR", "<another folder>"));
  else if (os::is_network_folder(folder))
    report.warn("G2", fmt::format("kernel cache {} is on a network file system", folder),
                "a folder on a local disk is faster: " + command_setting(machine, "CATENARY_CACHE_DIR", "<it>"));
  else
    report.ok("G2",
              fmt::format("kernel cache {}: {} kernels, {:.1f} MiB; {:.0f} MiB are free", folder,
                          kernel_cache_stats().entries, mib(kernel_cache_stats().bytes), mib(os::free_bytes(folder))));
  if (machine.is_windows()) return;
  const std::uint64_t shared = os::total_bytes("/dev/shm");
  if (facts.gpus.size() > 1 && shared < (std::uint64_t{1} << 30))
    report.warn("G3", fmt::format("/dev/shm has {:.0f} MiB, little for several GPUs", mib(shared)),
                facts.container ? "start the container with --shm-size=1g" : "sudo mount -o remount,size=2g /dev/shm");
}

}  // namespace catenary::doctor
