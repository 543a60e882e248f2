// A1-A11: from device files to ROCm. B1 reports HIP's own errors.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/dnn/provider.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/nccl.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

/// A GPU in the list of the kernel's compute driver.
struct Node {
  std::string name;
  std::string gfx;  ///< "gfx1030"
  std::int64_t units = 0, memory = 0, cpu_cores = 0, render_minor = -1;

  /// An integrated GPU, judging by its sizes.
  bool is_small() const { return cpu_cores > 0 || (units <= 8 && memory < (std::int64_t{2} << 30)); }
};

/// The number after a name in a file of lines "name number", or 0.
std::int64_t number(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t value = 0;
    if (words >> word >> value && word == name) return value;
  }
  return 0;
}

/// 100302 is gfx1032, 90010 is gfx90a: the stepping is hexadecimal.
std::string gfx_name(std::int64_t version) {
  return fmt::format("gfx{}{}{:x}", version / 10000, version / 100 % 100, version % 100);
}

std::vector<Node> find_nodes(const Machine& machine) {
  std::vector<Node> nodes;
  const std::string folder = "/sys/class/kfd/kfd/topology/nodes/";
  for (const std::string& name : machine.list(folder)) {
    const std::string text = machine.read(folder + name + "/properties").value_or("");
    const std::int64_t simds = number(text, "simd_count");
    if (simds == 0) continue;  // a CPU
    Node node;
    node.name = name;
    node.gfx = gfx_name(number(text, "gfx_target_version"));
    node.units = simds / std::max<std::int64_t>(1, number(text, "simd_per_cu"));
    node.cpu_cores = number(text, "cpu_cores_count");
    node.render_minor = number(text, "drm_render_minor");
    for (const std::string& bank : machine.list(folder + name + "/mem_banks"))
      node.memory +=
          number(machine.read(folder + name + "/mem_banks/" + bank + "/properties").value_or(""), "size_in_bytes");
    nodes.push_back(node);
  }
  return nodes;
}

/// How to make a device file accessible.
std::string group_advice(const Machine& machine, const Facts& facts, const std::string& path) {
  const std::int64_t group = machine.owner_group(path);
  if (facts.container)
    return fmt::format("start the container with --device=/dev/kfd --device=/dev/dri --group-add {}",
                       group >= 0 ? fmt::to_string(group) : "$(getent group render | cut -d: -f3)");
  std::string name;
  std::istringstream lines(machine.read("/etc/group").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields(1);  // name:password:number:members
    for (const char c : line) c == ':' ? fields.emplace_back() : fields.back() += c;
    if (fields.size() < 4 || fields[2] != fmt::to_string(group)) continue;
    name = fields[0];
    std::istringstream members(fields[3]);
    for (std::string member; std::getline(members, member, ',');)
      if (member == machine.user())
        return fmt::format("{} is in group {}, but this session began before that: log out and in again", member, name);
  }
  if (name.empty())
    return fmt::format(
        "group {} owns it and has no name here: sudo groupadd -g {} render && sudo usermod -aG render {}", group, group,
        machine.user());
  return fmt::format("sudo usermod -aG {} {}, then log out and in again", name == "video" ? "render,video" : name,
                     machine.user());
}

void check_kfd(const Machine& machine, const Facts& facts, Report& report) {
  const std::string error = machine.open_error("/dev/kfd");
  if (error.empty()) return report.ok("A1", "/dev/kfd can be opened");
  if (error == "ENOENT" && facts.container)
    return report.fail(
        "A1", "/dev/kfd is not in this container",
        "start it with --device=/dev/kfd --device=/dev/dri --group-add $(getent group render | cut -d: -f3)");
  if (error == "ENOENT")
    return report.warn("A1", "no /dev/kfd: the kernel offers no compute on AMD GPUs",
                       "see H2; the kernel lacks CONFIG_HSA_AMD, or KFD does not support the GPU; OpenCL by Mesa's "
                       "rusticl works without KFD (O2)");
  if (error == "EACCES")
    return report.fail("A1", fmt::format("/dev/kfd: permission denied for {}", machine.user()),
                       group_advice(machine, facts, "/dev/kfd"));
  if (error == "EPERM")
    return report.fail("A1", "/dev/kfd exists, but the container's rules forbid opening it",
                       "start it with --device=/dev/kfd --device=/dev/dri; a bind mount of /dev is not enough");
  if (error == "EINVAL")
    return report.warn("A1", "/dev/kfd: permissions are fine, but KFD refuses (EINVAL)",
                       "it supports no GPU of this machine: see A4");
  report.fail("A1", "/dev/kfd: " + error, "see `sudo dmesg | grep -iE 'kfd|amdgpu'`");
}

void check_render_nodes(const Machine& machine, const Facts& facts, Report& report) {
  std::vector<std::string> fine;
  for (const std::string& name : machine.list("/dev/dri")) {
    if (name.rfind("renderD", 0) != 0) continue;
    const std::string path = "/dev/dri/" + name, error = machine.open_error(path);
    if (error.empty())
      fine.push_back(path);
    else if (error == "EACCES" || error == "EPERM")
      report.fail(
          "A2",
          fmt::format("{}: {} for {}, who is not in its group ({})", path,
                      error == "EACCES" ? "permission denied" : "forbidden", machine.user(), machine.owner_group(path)),
          group_advice(machine, facts, path));
    else
      report.warn("A2", fmt::format("{}: {}", path, error), "see `sudo dmesg | grep -i amdgpu`");
  }
  if (!fine.empty()) report.ok("A2", fmt::format("{} can be opened", fmt::join(fine, ", ")));
}

void check_topology(const Facts& facts, const std::vector<Node>& nodes, Report& report) {
  for (const Node& node : nodes)
    report.ok("A3", fmt::format("KFD node {}: {}, {} compute units, {:.1f} GiB, /dev/dri/renderD{}", node.name,
                                node.gfx, node.units, static_cast<double>(node.memory) / (1 << 30), node.render_minor));
  if (static_cast<int>(nodes.size()) < facts.count("AMD"))
    report.warn("A4", fmt::format("{} AMD GPUs on the bus, {} known to KFD", facts.count("AMD"), nodes.size()),
                "the chip is too old for ROCm, or its slot has no PCIe atomics (`dmesg | grep 'rejects atomics'`): "
                "another slot; "
                "OpenCL by rusticl may serve it");
  const auto small = [](const Node& node) { return node.is_small(); };
  if (nodes.size() > 1 && std::any_of(nodes.begin(), nodes.end(), small) &&
      !std::all_of(nodes.begin(), nodes.end(), small))
    for (const Node& node : nodes)
      if (node.is_small())
        report.warn("A5",
                    fmt::format("{} is an integrated GPU beside a larger one; some libraries crash on it", node.gfx),
                    "`gpu:N` counts it last; to hide it: ROCR_VISIBLE_DEVICES=<number of the larger one>");
}

/// "7.2.4" as 70204, for comparisons.
int version_number(const std::string& text) {
  int parts[3] = {}, part = 0;
  for (const char* at = text.c_str(); part < 3 && *at;) {
    const auto [end, error] = std::from_chars(at, text.c_str() + text.size(), parts[part++]);
    if (error != std::errc() || *end != '.') break;
    at = end + 1;
  }
  return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

/// Possible folders of ROCm.
std::vector<std::string> rocm_homes(const Machine& machine) {
  std::vector<std::string> homes = {"/opt/rocm", "/opt/rocm/core"};
  if (const std::string home = machine.variable("ROCM_PATH"); !home.empty()) homes.insert(homes.begin(), home);
  for (const char* folder : {"/opt", "/opt/rocm"})
    for (const std::string& name : machine.list(folder))
      if (name.rfind("rocm-", 0) == 0 || name.rfind("core-", 0) == 0) homes.push_back(folder + ("/" + name));
  return homes;
}

void check_rocm(const Machine& machine, const std::vector<Node>& nodes, Report& report) {
  std::set<std::string> versions;
  for (const std::string& home : rocm_homes(machine))
    if (const auto text = machine.read(home + "/.info/version"); text && !text->empty())
      versions.insert(text->substr(0, text->find('-')));
  if (versions.size() > 1)
    report.warn("A6", fmt::format("several versions of ROCm are installed: {}", fmt::join(versions, ", ")),
                "LD_LIBRARY_PATH and ldconfig decide which version a program gets: keep one, or set ROCM_PATH");
  else if (!versions.empty())
    report.ok("A6", "ROCm " + *versions.begin());

  for (const std::string& version : versions)
    for (const Node& node : nodes)
      if ((node.gfx == "gfx1150" || node.gfx == "gfx1151") && version_number(version) < 70200)
        report.warn("A9", fmt::format("ROCm {} crashes on {}", version, node.gfx), "install ROCm 7.2 or newer");
}

/// rocBLAS and hipBLASLt: the first of each that is found, and whether it has kernels for the GPUs.
void check_matrix_libraries(const Machine& machine, const std::vector<Node>& nodes, Report& report) {
  std::vector<std::string> folders;
  for (const std::string& home : rocm_homes(machine)) folders.push_back(home + "/lib");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64"}) folders.emplace_back(folder);
  std::vector<std::string> missing, others;
  const auto find = [&](const gpu::RocmLibrary& library) {
    for (int major = 8; major >= 5; --major)
      for (const std::string& name : library.names(major))
        for (const std::string& at : folders)
          if (machine.exists(at + "/" + name)) return at + "/" + name;
    return std::string();
  };
  for (const gpu::RocmLibrary* library : {&gpu::rocblas(), &gpu::hipblaslt()}) {
    const std::string title = library->name, path = find(*library);
    if (path.empty()) {
      missing.push_back(title);
      continue;
    }
    const std::vector<std::string> places =
        gpu::tensile_folders(path, library->folder, machine.variable(library->variable));
    for (const Node& node : nodes) {
      if (std::any_of(places.begin(), places.end(), [&, gfx = node.gfx](const std::string& place) {
            return gpu::has_tensile_files(machine.list(place), gfx);
          }))
        report.ok("A10", fmt::format("{} ({}) has kernels for {}", title, path, node.gfx));
      else
        report.warn("A10", fmt::format("{} ({}) has no kernels for {} in {}", title, path, node.gfx, places.front()),
                    "nothing for Catenary, whose own kernels multiply matrices; other programs may crash");
    }
  }
  if (!missing.empty())
    report.ok("A10",
              fmt::format("no {}: products of matrices are computed by our own kernels", fmt::join(missing, ", no ")));
  for (const gpu::RocmLibrary* library : {&gpu::miopen(), &gpu::rccl()})
    if (const std::string path = find(*library); !path.empty()) others.push_back(path);
  if (!others.empty()) report.ok("A11", fmt::format("{}: not needed here", fmt::join(others, ", ")));
}

void check_variables(const Machine& machine, Report& report) {
  const std::pair<const char*, const char*> known[] = {
      {"HSA_OVERRIDE_GFX_VERSION",
       "makes every GPU appear as another one, so kernels may hang or give wrong results: unset it; Catenary compiles "
       "for the actual chip"},
      {"ROCR_VISIBLE_DEVICES", "hides GPUs from everything above; unset it to see all"},
      {"HIP_VISIBLE_DEVICES", "hides some of the GPUs that ROCR_VISIBLE_DEVICES shows; unset it to see all"},
      {"GPU_DEVICE_ORDINAL", "hides GPUs; unset it to see all"},
      {"HSA_ENABLE_SDMA", "0 makes kernels copy memory: slower, only for broken firmware"},
      {"AMD_SERIALIZE_KERNEL", "makes each kernel wait: slow, only for debugging"},
      {"HSA_XNACK", "page faults on the GPU: slower"}};
  for (const auto& [name, effect] : known)
    if (const std::string value = machine.variable(name); !value.empty())
      report.warn("A7", fmt::format("{}={}", name, value), effect);
}

}  // namespace

void check_amd(const Machine& machine, const Facts& facts, Report& report) {
  const std::vector<Node> nodes = find_nodes(machine);
  if (facts.count("AMD") == 0 && nodes.empty()) return;
  if (!facts.wsl) {
    check_kfd(machine, facts, report);
    check_render_nodes(machine, facts, report);
    check_topology(facts, nodes, report);
  }
  check_rocm(machine, nodes, report);
  check_matrix_libraries(machine, nodes, report);
  check_variables(machine, report);
  const std::string command_line = machine.read("/proc/cmdline").value_or("");
  if (nodes.size() > 1 && !machine.list("/sys/class/iommu").empty() &&
      command_line.find("iommu=pt") == std::string::npos)
    report.warn("A8", "several GPUs and an IOMMU that is not in pass-through mode: copies between GPUs may hang",
                "add iommu=pt to the kernel's command line");
}

}  // namespace catenary::doctor
