// Runs the command `catenary` as a user would.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/core/version.h"
#include "catenary/device/device.h"
#include "catenary/runtime_info.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
using nlohmann::json;

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;
using tests::has;

using tests::Folder;

ct::os::ProcessResult run(std::vector<std::string> arguments, const Environment& environment = {}) {
  arguments.insert(arguments.begin(), tests::build_path("bin/catenary"));
  return ct::os::run_process(arguments, {.timeout = 300, .environment = environment});
}

json json_of(std::vector<std::string> arguments, const Environment& environment = {}, int code = 0) {
  arguments.push_back("--json");
  const ct::os::ProcessResult result = run(arguments, environment);
  EXPECT_EQ(result.exit_code, code) << result.errors;
  const json object = json::parse(result.output);
  EXPECT_EQ(object["schema"], 1);
  return object;
}

const std::string kMachines = tests::source_path("tests/data/doctor/");

/// The findings of a machine's files that are not OK, as "LEVEL id", in order.
std::vector<std::string> troubles(const std::string& machine, int code) {
  const json object = json_of({"doctor", "--root", kMachines + machine}, {}, code);
  EXPECT_EQ(object["ok"], code == 0);
  std::vector<std::string> result;
  for (const json& finding : object["findings"]) {
    EXPECT_FALSE(finding["message"].get<std::string>().empty());
    if (finding["level"] == "OK") continue;
    EXPECT_FALSE(finding["advice"].get<std::string>().empty()) << finding;
    result.push_back(finding["level"].get<std::string>() + " " + finding["id"].get<std::string>());
  }
  return result;
}

// /dev/full simulates a full disk.
TEST(Command, OutputThatCannotBeWrittenIsAnError) {
  for (const std::string command : {"devices", "info", "info --json", "--version", "--help", "inspect --help",
                                    "generate tests/data/language_models/glm --ids -p 1 -n 3"}) {
    const std::string line =
        "cd " + tests::source_path(".") + " && " + tests::build_path("bin/catenary") + " " + command + " >/dev/full";
    const ct::os::ProcessResult result = ct::os::run_process({"sh", "-c", line}, {.timeout = 300});
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_TRUE(result.errors.starts_with("catenary: cannot write to standard output")) << result.errors;
    EXPECT_EQ(std::ranges::count(result.errors, '\n'), 1) << result.errors;
  }
}

/// The whole output of doctor for a machine's files.
std::string words(const std::string& machine) { return run({"doctor", "--root", kMachines + machine}).output; }

using Lines = std::vector<std::string>;

TEST(Doctor, HealthyAmd) {
  EXPECT_EQ(troubles("amd", 0), Lines());
  const std::string text = words("amd");
  EXPECT_TRUE(has(text, "gfx1030, 80 compute units, 16.0 GiB, /dev/dri/renderD128")) << text;
  EXPECT_TRUE(has(text, "OK   A6  ROCm 7.2.4\n")) << text;
  EXPECT_TRUE(has(text, "OK   B3  hip:0 (AMD Radeon RX 6800 XT): ")) << text;
  EXPECT_TRUE(has(text, "3 usable devices")) << text;
}

TEST(Doctor, NoPermission) {
  EXPECT_EQ(troubles("amd_no_permission", 1), (Lines{"FAIL A1", "FAIL A2", "WARN B1", "WARN B1", "FAIL B2"}));
  EXPECT_TRUE(
      has(words("amd_no_permission"),
          "FAIL A1  /dev/kfd: permission denied for ada -> sudo usermod -aG render ada, then log out and in again\n"));
}

TEST(Doctor, GroupOfALaterLogin) {
  EXPECT_EQ(troubles("amd_login_again", 1), (Lines{"FAIL A1", "FAIL A2", "WARN B1", "WARN B1", "FAIL B2"}));
  EXPECT_TRUE(has(words("amd_login_again"), "ada is in group render, but this session began before that"));
}

TEST(Doctor, Container) {
  EXPECT_EQ(troubles("container", 1), (Lines{"FAIL A1", "FAIL A2", "WARN B1", "WARN B1", "FAIL B2"}));
  const std::string text = words("container");
  EXPECT_TRUE(has(text, "OK   H4  ")) << text;
  EXPECT_TRUE(has(text, "the container's rules forbid")) << text;
  EXPECT_TRUE(has(text, "--group-add 993")) << text;
  EXPECT_FALSE(has(text, "usermod")) << text;
}

TEST(Doctor, IntegratedBesideDiscreteAndABrokenRuntime) {
  EXPECT_EQ(troubles("amd_two_gpus", 1),
            (Lines{"WARN A5", "WARN A6", "WARN A7", "WARN A8", "FAIL B1", "FAIL B3", "FAIL B2"}));
  const std::string text = words("amd_two_gpus");
  EXPECT_TRUE(has(text, "gfx1036 is an integrated GPU")) << text;
  EXPECT_TRUE(has(text, "6.2.0, 7.2.4")) << text;
  EXPECT_TRUE(has(text, "HSA_OVERRIDE_GFX_VERSION=10.3.0")) << text;
  EXPECT_TRUE(has(text, "hip: the driver crashed with SIGSEGV")) << text;
  EXPECT_TRUE(has(text, "matmul(x, w) differs from the CPU's by 3.5")) << text;
}

TEST(Doctor, Wsl) {
  EXPECT_EQ(troubles("wsl", 0), Lines());
  EXPECT_TRUE(has(words("wsl"), "OK   H3  WSL 2"));
}

TEST(Doctor, NvidiaMismatch) {
  EXPECT_EQ(troubles("nvidia_mismatch", 1), (Lines{"FAIL N1", "FAIL N2", "WARN O1", "WARN B1", "WARN B1", "FAIL B2"}));
  const std::string text = words("nvidia_mismatch");
  EXPECT_TRUE(has(text, "550.90.07 and libcuda 550.120 belong to different drivers -> ")) << text;
  EXPECT_TRUE(has(text, "sudo nvidia-modprobe -u -c=0")) << text;
}

TEST(Doctor, NoGpu) { EXPECT_EQ(troubles("no_gpu", 0), (Lines{"WARN H1"})); }

/// A machine of a few files, made for a single check.
class MadeUp {
 public:
  explicit MadeUp(const json& told) { file("/machine.json", told.dump()); }
  MadeUp& file(const std::string& path, const std::string& text = "") {
    ct::os::make_directories((folder_.path + path).substr(0, (folder_.path + path).rfind('/')));
    ct::os::write_file(folder_.path + path, text);
    return *this;
  }
  MadeUp& gpu(const std::string& id, const std::string& driver) {
    return file("/sys/bus/pci/devices/0000:03:00.0/uevent",
                "DRIVER=" + driver + "\nPCI_CLASS=38000\nPCI_ID=" + id + "\n");
  }
  MadeUp& node(const std::string& gfx_version) {
    return file("/sys/class/kfd/kfd/topology/nodes/1/properties",
                "simd_count 80\nsimd_per_cu 2\ngfx_target_version " + gfx_version + "\ndrm_render_minor 128\n");
  }
  std::string words() const { return run({"doctor", "--root", folder_.path}).output; }

 private:
  Folder folder_;
};

TEST(Doctor, ModuleIsNotLoaded) {
  const std::string text = MadeUp(json::object()).gpu("1002:73BF", "").words();
  EXPECT_TRUE(has(text, "WARN H1  AMD GPU 1002:73bf at 0000:03:00.0: no kernel driver is bound to it -> ")) << text;
  EXPECT_TRUE(has(text, "FAIL H2  AMD GPU, but the kernel module amdgpu is not loaded -> sudo modprobe amdgpu"))
      << text;
  EXPECT_TRUE(has(text, "WARN A1  no /dev/kfd")) << text;
  EXPECT_TRUE(has(text, "WARN A4  1 AMD GPUs on the bus, 0 known to KFD")) << text;
}

TEST(Doctor, GroupWithoutAName) {
  const json told = {{"user", "ada"}, {"open", {{"/dev/kfd", "EACCES"}}}, {"owner_group", {{"/dev/kfd", 109}}}};
  MadeUp machine(told);
  machine.gpu("1002:740F", "amdgpu").file("/sys/module/amdgpu/initstate").file("/dev/kfd").node("90010");
  const std::string text = machine.words();
  EXPECT_TRUE(has(text, "sudo groupadd -g 109 render && sudo usermod -aG render ada")) << text;
  EXPECT_TRUE(has(text, "OK   A3  KFD node 1: gfx90a, 40 compute units")) << text;
}

TEST(Doctor, KfdRefusesAndRocmIsTooOld) {
  const json told = {{"open", {{"/dev/kfd", "EINVAL"}}}};
  MadeUp machine(told);
  machine.gpu("1002:1586", "amdgpu").file("/sys/module/amdgpu/initstate").file("/dev/kfd").node("110501");
  machine.file("/opt/rocm-6.4.1/.info/version", "6.4.1-83\n");
  const std::string text = machine.words();
  EXPECT_TRUE(has(text, "WARN A1  /dev/kfd: permissions are fine, but KFD refuses (EINVAL)")) << text;
  EXPECT_TRUE(has(text, "WARN A9  ROCm 6.4.1 crashes on gfx1151 -> install ROCm 7.2 or newer")) << text;
}

TEST(Doctor, MatrixLibraries) {
  MadeUp amd(json::object());
  amd.gpu("1002:73DF", "amdgpu").file("/sys/module/amdgpu/initstate").file("/dev/kfd").node("100301");
  EXPECT_TRUE(
      has(amd.words(), "OK   A10 no rocBLAS, no hipBLASLt: products of matrices are computed by our own kernels"))
      << amd.words();
  amd.file("/opt/rocm-7.2.4/lib/librocblas.so.5")
      .file("/opt/rocm-7.2.4/lib/rocblas/library/TensileLibrary_lazy_gfx1030.dat");
  EXPECT_TRUE(has(amd.words(),
                  "WARN A10 rocBLAS (/opt/rocm-7.2.4/lib/librocblas.so.5) has no kernels for gfx1031 in "
                  "/opt/rocm-7.2.4/lib/rocblas/library -> "))
      << amd.words();
  amd.file("/opt/rocm-7.2.4/lib/rocblas/library/TensileLibrary_lazy_gfx1031.dat")
      .file("/opt/rocm-7.2.4/lib/libMIOpen.so.1");
  EXPECT_TRUE(has(amd.words(), "OK   A10 rocBLAS (/opt/rocm-7.2.4/lib/librocblas.so.5) has kernels for gfx1031"))
      << amd.words();
  EXPECT_TRUE(has(amd.words(), "OK   A11 /opt/rocm-7.2.4/lib/libMIOpen.so.1: not needed here")) << amd.words();

  MadeUp nvidia(json::object());
  nvidia.gpu("10DE:2330", "nvidia").file("/sys/module/nvidia/version", "550.90.07\n");
  EXPECT_TRUE(has(nvidia.words(), "OK   N5  no cuBLAS: ")) << nvidia.words();
  nvidia.file("/usr/local/cuda-12.4/lib64/libcublas.so.12").file("/usr/lib/x86_64-linux-gnu/libcudnn.so.9");
  EXPECT_TRUE(has(nvidia.words(),
                  "OK   N5  optional libraries: /usr/local/cuda-12.4/lib64/libcublas.so.12, "
                  "/usr/lib/x86_64-linux-gnu/libcudnn.so.9\n"))
      << nvidia.words();
}

TEST(Doctor, RusticlThatIsNotTold) {
  const json loads = {{"probes", {{"library:libRusticlOpenCL.so.1", {{"answer", json::object()}}}}}};
  const std::string told = "export RUSTICL_ENABLE=radeonsi";
  EXPECT_TRUE(has(MadeUp(loads)
                      .gpu("1002:73BF", "amdgpu")
                      .file("/etc/OpenCL/vendors/rusticl.icd", "libRusticlOpenCL.so.1\n")
                      .words(),
                  told));
  json enabled = loads;
  enabled["environment"] = {{"RUSTICL_ENABLE", "radeonsi"}};
  EXPECT_FALSE(has(MadeUp(enabled)
                       .gpu("1002:73BF", "amdgpu")
                       .file("/etc/OpenCL/vendors/rusticl.icd", "libRusticlOpenCL.so.1\n")
                       .words(),
                   told));
}

TEST(Doctor, NvidiaInAContainer) {
  const json told = {{"environment", {{"NVIDIA_DRIVER_CAPABILITIES", "utility"}}}};
  MadeUp machine(told);
  machine.gpu("10DE:2330", "nvidia").file("/.dockerenv").file("/sys/module/nvidia/version", "550.90.07\n");
  machine.file("/dev/nvidiactl").file("/dev/nvidia3");
  const std::string text = machine.words();
  EXPECT_TRUE(has(text, "FAIL N2  /dev/nvidia-uvm: not there -> start the container with --gpus all")) << text;
  EXPECT_FALSE(has(text, "/dev/nvidia0")) << text;
  EXPECT_TRUE(has(text, "FAIL N4  NVIDIA_DRIVER_CAPABILITIES=utility leaves out compute -> ")) << text;
}

TEST(Doctor, AcceleratorsWithoutAScreen) {
  // class 12, as AMD's Instinct cards have
  const std::string text =
      MadeUp(json::object())
          .file("/sys/bus/pci/devices/0000:03:00.0/uevent", "DRIVER=amdgpu\nPCI_CLASS=120000\nPCI_ID=1002:740F\n")
          .words();
  EXPECT_TRUE(has(text, "OK   H1  AMD GPU 1002:740f at 0000:03:00.0, driver amdgpu\n")) << text;
}

TEST(Doctor, DriverChangedBelow) {
  const auto advice = [](const std::string& groups) {
    return MadeUp(json::object())
        .gpu("10DE:2330", "nvidia")
        .file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07\n")
        .file("/usr/lib/x86_64-linux-gnu/libcuda.so.550.120")
        .file("/proc/1/cgroup", groups)
        .words();
  };
  EXPECT_TRUE(has(advice("0::/init.scope\n"),
                  "belong to different drivers -> the driver was upgraded while the system was running"));
  for (const char* engine :
       {"docker/1", "kubepods.slice/1", "machine.slice/libpod-1", "lxc.payload.1", "system/containerd/1"})
    EXPECT_TRUE(
        has(advice(std::string("0::/") + engine + "\n"), "belong to different drivers -> restart the container"))
        << engine;
}

TEST(Doctor, HiddenAndUnusableGpus) {
  const json told = {{"environment", {{"CUDA_VISIBLE_DEVICES", "1"}}}};
  EXPECT_TRUE(has(MadeUp(told).gpu("10DE:2330", "nvidia").words(), "WARN N3  CUDA_VISIBLE_DEVICES=1 -> hides GPUs"));
  const auto gpus = [](const std::string& id, bool simulated) {
    json probes;
    probes["test:cpu"] = probes["test:cuda:0"] = {{"answer", {{"gflops", 1}}}};
    probes["cuda"]["answer"]["devices"] = {{{"id", "cuda:0"}, {"name", "Card"}, {"is_simulated", simulated}}};
    json told;
    told["probes"] = probes;
    return MadeUp(told).gpu(id, "driver").words();
  };
  // a simulated card is not a usable GPU, and Intel's GPU is optional
  EXPECT_TRUE(has(gpus("10DE:2330", true), "FAIL B2  no GPU can be used, and one is on the PCI bus"));
  EXPECT_FALSE(has(gpus("10DE:2330", false), " B2 "));
  EXPECT_TRUE(has(gpus("8086:56A0", true), "WARN B2  no GPU can be used, and one is on the PCI bus -> for Intel's"));
}

TEST(Doctor, ComputeModes) {
  const ct::os::ProcessResult asked =
      run({"doctor", "--probe", "nvml"}, {{"LD_LIBRARY_PATH", tests::build_path("stand_ins/nvml")}});
  const json answer = json::parse(asked.output);
  EXPECT_EQ(answer["devices"].size(), 2U) << asked.output << asked.errors;
  json told;
  told["probes"]["nvml"]["answer"] = answer;
  told["probes"]["nvml"]["answer"]["devices"].push_back({{"number", 2}, {"name", "Card 2"}, {"compute_mode", 3}});
  const std::string text = MadeUp(told).gpu("10DE:2330", "nvidia").words();
  EXPECT_TRUE(has(text, "FAIL N6  GPU 0 (Card 0): its compute mode forbids all programs -> sudo nvidia-smi -i 0 -c"))
      << text;
  EXPECT_TRUE(has(text, "OK   N6  GPU 1 (Card 1): divided into instances (MIG)")) << text;
  EXPECT_TRUE(has(text, "WARN N6  GPU 2 (Card 2): its compute mode allows only one program at a time")) << text;
  told["probes"]["nvml"] = {{"failure", "crashed with SIGSEGV"}};
  EXPECT_TRUE(has(MadeUp(told).gpu("10DE:2330", "nvidia").words(), "WARN N6  NVML crashed with SIGSEGV"));
}

TEST(Doctor, Mpi) {
  const ct::os::ProcessResult asked =
      run({"doctor", "--probe", "mpi"}, {{"LD_LIBRARY_PATH", tests::build_path("stand_ins/mpi")}});
  json told;
  told["probes"]["mpi"]["answer"] = json::parse(asked.output);
  told["environment"]["PMI_RANK"] = "3";
  const std::string text = MadeUp(told).words();
  EXPECT_TRUE(has(text, "OK   G4  Some MPI v1.2 (" + tests::build_path("stand_ins/mpi/libmpi.so.40") +
                            "): accepts memory of AMD's GPUs\n"))
      << text;
  EXPECT_TRUE(has(text, "OK   G4  started by mpiexec of MPICH's kin, as process 3\n")) << text;
  told["probes"]["mpi"] = {{"failure", "crashed with SIGABRT"}};
  EXPECT_TRUE(has(MadeUp(told).words(), "WARN G4  MPI crashed with SIGABRT -> "));
}

TEST(Doctor, OpenMpi2) {
  const Folder folder;
  std::filesystem::create_symlink(tests::build_path("stand_ins/mpi/libmpi.so.40"), folder / "libmpi.so.20");
  const ct::os::ProcessResult asked = run({"doctor", "--probe", "mpi"}, {{"LD_LIBRARY_PATH", folder.path}});
  const json answer = json::parse(asked.output);
  bool found = false;
  for (const json& library : answer["libraries"])
    found = found || (library["path"] == folder / "libmpi.so.20" && library["version"] == "Some MPI v1.2");
  EXPECT_TRUE(found) << asked.output;
}

TEST(Doctor, Nccl) {
  const auto asked = [](const std::string& folders) {
    json told;
    told["probes"]["nccl"]["answer"] =
        json::parse(run({"doctor", "--probe", "nccl"}, {{"LD_LIBRARY_PATH", folders}}).output);
    return told;
  };
  const std::string simgpu = tests::build_path("simgpu/");
  if (ct::os::exists(simgpu + "nccl/cuda/libnccl.so.2")) {
    const std::string file = simgpu + "nccl/cuda/libnccl.so.2";
    EXPECT_TRUE(has(MadeUp(asked(simgpu + "nccl/cuda:" + simgpu + "cuda")).words(),
                    "OK   G5  NCCL 2.27.3 (" + file + "): used by pure_nccl to exchange gradients\n"));
    const std::string info = run({"info"}, {{"LD_LIBRARY_PATH", simgpu + "nccl/cuda:" + simgpu + "cuda"}}).output;
    EXPECT_TRUE(has(info, "\nNCCL:            2.27.3 (" + file + ")\nhip:")) << info;
  }
  json told;
  const json missing = {{"name", "NCCL"}, {"library", ""}, {"reason", "it is not there"}};
  told["probes"]["nccl"]["answer"]["libraries"] = json::array({missing});
  EXPECT_FALSE(has(MadeUp(told).gpu("10DE:2330", "nvidia").words(), "G5"));  // a single GPU needs no NCCL
  EXPECT_TRUE(
      has(MadeUp(told)
              .gpu("10DE:2330", "nvidia")
              .file("/sys/bus/pci/devices/0000:04:00.0/uevent", "DRIVER=nvidia\nPCI_CLASS=38000\nPCI_ID=10DE:2330\n")
              .words(),
          "WARN G5  2 NVIDIA GPUs and no NCCL: it is not there -> "));
  told["probes"]["nccl"] = {{"failure", "crashed with SIGSEGV"}};
  EXPECT_TRUE(has(MadeUp(told).words(), "WARN G5  NCCL or RCCL crashed with SIGSEGV -> "));
}

TEST(Doctor, GpuOfAVirtualMachine) {
  const std::string text = MadeUp(json::object()).gpu("1002:73BF", "vfio-pci").words();
  EXPECT_TRUE(has(text, "driver vfio-pci -> it is reserved for a virtual machine")) << text;
  EXPECT_FALSE(has(text, "FAIL")) << text;
}

TEST(Doctor, RootFromTheEnvironmentAndBadOnes) {
  EXPECT_TRUE(has(run({"doctor"}, {{"CATENARY_DOCTOR_ROOT", kMachines + "wsl"}}).output, "WSL 2"));
  const Folder folder;
  EXPECT_EQ(run({"doctor", "--root", folder.path}).exit_code, 1);  // no machine.json
  ct::os::write_file(folder.path + "/machine.json", std::string_view("[1"));
  const ct::os::ProcessResult result = run({"doctor", "--root", folder.path});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has(result.errors, "not a JSON object")) << result.errors;
}

TEST(Doctor, ThisMachine) {
  const Folder cache;
  const ct::os::ProcessResult result = run({"doctor", "--json"}, {{"CATENARY_CACHE_DIR", cache.path}});
  const json object = json::parse(result.output);
  EXPECT_GE(object["usable_devices"], 1);  // at least the CPU
  bool tested = false, cached = false;
  for (const json& finding : object["findings"]) {
    const std::string message = finding["message"];
    tested = tested || (finding["id"] == "B3" && finding["level"] == "OK" && has(message, "cpu (processor): "));
    cached = cached || (finding["id"] == "G2" && has(message, cache.path));
  }
  EXPECT_TRUE(tested) << object.dump(2);
  EXPECT_TRUE(cached) << object.dump(2);
}

TEST(Doctor, DriverThatCannotBeLoaded) {
  const Folder folder;
  ct::os::write_file(folder.path + "/broken.icd", std::string_view("libcatenary-no-such-driver.so\n"));
  const ct::os::ProcessResult result = run({"doctor"}, {{"OCL_ICD_VENDORS", folder.path}});
  EXPECT_TRUE(has(result.output, "WARN O1  " + folder.path + "/broken.icd names libcatenary-no-such-driver.so: "))
      << result.output;
}

TEST(Doctor, DriverThatCrashesIsAFinding) {
  const ct::os::ProcessResult result = run({"doctor"}, {{"LD_LIBRARY_PATH", tests::build_path("stand_ins/opencl")}});
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_TRUE(has(result.output, "FAIL B1  opencl: the driver crashed with SIGABRT (\"the driver's last words\") -> "))
      << result.output;
  EXPECT_TRUE(has(result.output, "OK   B3  cpu (processor): ")) << result.output;
}

TEST(Info, Json) {
  const Folder cache;
  const json object = json_of({"info"}, {{"CATENARY_CACHE_DIR", cache.path}});
  EXPECT_EQ(object["kernel_cache"]["folder"], cache.path);
  EXPECT_EQ(object["backends"][0]["name"], "cpu");
  EXPECT_EQ(object["backends"][0]["devices"][0]["id"], "cpu");
  std::size_t devices = 0;
  for (const json& backend : object["backends"]) {
    devices += backend["devices"].size();
    EXPECT_TRUE(!backend["devices"].empty() || !backend["reason"].get<std::string>().empty()) << backend;
  }
  EXPECT_EQ(devices, ct::devices().size());
}

/// Lines of `catenary devices` and the ordinals in its JSON, by device name.
struct Devices {
  std::vector<std::string> lines;
  std::map<std::string, json> ordinals;

  explicit Devices(const Environment& environment) {
    std::istringstream text(run({"devices"}, environment).output);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    const json object = json_of({"devices"}, environment);
    for (const json& device : object["devices"]) ordinals[device["id"].get<std::string>()] = device["ordinal"];
  }
};

TEST(Devices, ALineEach) {
  const std::string cuda = tests::build_path("simgpu/cuda");
  const Environment usual = {{"LD_LIBRARY_PATH", cuda}, {"CATENARY_GPU_INCLUDE_CPU", "0"}};
  const Devices none(usual);
  EXPECT_EQ(none.lines.size(), none.ordinals.size());
  EXPECT_TRUE(none.ordinals.at("cpu").is_null() && none.ordinals.at("cuda:0").is_null());
  for (const std::string& line : none.lines) EXPECT_TRUE(line.starts_with("- ")) << line;
  EXPECT_TRUE(has(none.lines[0], "- ") && has(none.lines[0], "cpu ") && has(none.lines[0], " GiB  ") &&
              has(none.lines[0], "; the default of programs; CATENARY_CUPY_CPU=1 makes it ordinal 0"))
      << none.lines[0];

  Environment simulated = usual;
  simulated.push_back({"CATENARY_GPU_INCLUDE_SIMULATED", "1"});
  const Devices cards(simulated);
  EXPECT_EQ(cards.ordinals.at("cuda:0"), 0);
  EXPECT_TRUE(cards.ordinals.at("cpu").is_null());
  EXPECT_TRUE(cards.lines[0].starts_with("0  cuda:0 ") && cards.lines[0].ends_with("; cupy's default"))
      << cards.lines[0];

  simulated.push_back({"CATENARY_CUPY_CPU", "1"});
  const Devices both(simulated);
  EXPECT_EQ(both.ordinals.at("cpu"), 0);
  EXPECT_EQ(both.ordinals.at("cuda:0"), 1);
  EXPECT_TRUE(both.lines[0].starts_with("0  cpu ") &&
              both.lines[0].ends_with("; cupy's default; the default of programs"))
      << both.lines[0];
}

TEST(Info, TextBeginsAsRuntimeInfo) {
  std::ostringstream stream;
  ct::print_runtime_info(stream);
  EXPECT_TRUE(stream.str().starts_with("Catenary:        ")) << stream.str();
  EXPECT_TRUE(has(stream.str(), "\ncpu:             "));
  const std::string text = run({"info"}).output;
  EXPECT_TRUE(text.starts_with(stream.str())) << text;
  EXPECT_TRUE(has(text, "\nKernel cache:    "));
  EXPECT_TRUE(has(text, "\nLinear algebra:  ") && has(text, "own (Catenary's own kernels)")) << text;
}

// Of several processes started together, one prints, with any launcher.
TEST(Info, OnceUnderALauncher) {
  const auto lines = [](const Environment& environment) {
    const std::string text = run({"info"}, environment).output;
    EXPECT_TRUE(text.empty() || has(text, "\nMPI:             ")) << text;
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto all = lines({});
  EXPECT_GT(all, 3);
  EXPECT_EQ(lines({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}}), 0);
  EXPECT_EQ(lines({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}}), all);
  EXPECT_EQ(lines({{"MV2_COMM_WORLD_SIZE", "2"}, {"MV2_COMM_WORLD_RANK", "1"}}), 0);
  EXPECT_EQ(lines({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}), 0);
  EXPECT_EQ(lines({{"PMIX_RANK", "1"}}), 0);
  EXPECT_EQ(lines({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}}), 0);
  EXPECT_EQ(lines({{"SLURM_PROCID", "1"}}), all);  // a batch script
  const ct::os::ProcessResult launched = run({"launch", "-n", "3", tests::build_path("bin/catenary"), "info"});
  EXPECT_EQ(std::count(launched.output.begin(), launched.output.end(), '\n'), all) << launched.output;
}

// PoCL offers no device without a writable cache. Catenary gives it one.
TEST(Info, HomeThatCannotBeWritten) {
  const auto devices = [](const Environment& environment) {
    json names = json::array();
    const json info = json_of({"info"}, environment);
    for (const json& backend : info["backends"])
      for (const json& device : backend["devices"]) names.push_back(device["id"]);
    return names;
  };
  const json usual = devices({});
  const Folder temporary;
  const Environment without_a_home = {{"HOME", "/proc/none"}, {"XDG_CACHE_HOME", ""}, {"TMPDIR", temporary.path}};
  EXPECT_EQ(devices(without_a_home), usual);
  const bool pocl = ct::os::exists("/etc/OpenCL/vendors/pocl.icd");
  ASSERT_EQ(ct::os::list_directory(temporary.path).size(), pocl ? 1U : 0U);
  if (!pocl) return;
  // a folder of another user is not used, and is named in the message
  const std::string folder = temporary.path + "/" + ct::os::list_directory(temporary.path)[0];
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  const std::string text = run({"info"}, without_a_home).output;
  EXPECT_TRUE(has(text, folder + ": not used: everybody may write it")) << text;
  EXPECT_TRUE(has(text, "export POCL_CACHE_DIR=")) << text;
}

TEST(Cache, ListAndClear) {
  const Folder cache;
  const Environment environment = {{"CATENARY_CACHE_DIR", cache.path}};
  EXPECT_EQ(json_of({"cache"}, environment)["entries"], 0);
  ct::os::write_file(cache.path + "/aa.kernel", std::string_view("12345"));
  ct::os::write_file(cache.path + "/bb.kernel", std::string_view("123"));
  ct::os::write_file(cache.path + "/other.txt", std::string_view("mine"));
  const json list = json_of({"cache", "list"}, environment);
  EXPECT_EQ(list["entries"], 2);
  EXPECT_EQ(list["bytes"], 8);
  EXPECT_EQ(list["list"][1]["name"], "bb.kernel");
  EXPECT_TRUE(has(run({"cache", "list"}, environment).output, "aa.kernel\n"));
  EXPECT_EQ(json_of({"cache", "clear"}, environment)["removed"], 2);
  EXPECT_EQ(json_of({"cache"}, environment)["entries"], 0);
  EXPECT_TRUE(ct::os::exists(cache.path + "/other.txt"));
}

// Files left by killed processes are counted, and removed if no process writes them.
TEST(Cache, UnfinishedFiles) {
  const Folder cache;
  const Environment environment = {{"CATENARY_CACHE_DIR", cache.path}};
  ct::os::write_file(cache.path + "/aa.kernel", std::string_view("12345"));
  ct::os::write_file(cache.path + "/.bb.kernel.99-0-abc.tmp", std::string_view("123"));
  const ct::os::AtomicFile at_work(cache.path + "/cc.kernel");
  const json before = json_of({"cache"}, environment);
  EXPECT_EQ(before["entries"], 1);
  EXPECT_EQ(before["unfinished"], 2);
  EXPECT_EQ(before["bytes"], 8);
  EXPECT_TRUE(has(run({"cache"}, environment).output, ": 1 kernels and 2 unfinished files, 0.0 MiB"));
  const json removed = json_of({"cache", "clear"}, environment);
  EXPECT_EQ(removed["removed"], 1);
  EXPECT_EQ(removed["unfinished"], 1);
  EXPECT_EQ(ct::os::list_directory(cache.path).size(), 1U);
  EXPECT_TRUE(ct::os::exists(at_work.temporary_path()));
}

TEST(Cache, OfOthers) {
  const Folder cache;
  const Environment environment = {{"CATENARY_CACHE_DIR", cache.path}};
  ct::os::write_file(cache.path + "/aa.kernel", std::string_view("12345"));
  std::filesystem::permissions(cache.path, std::filesystem::perms::all);
  for (const char* action : {"list", "clear"}) {
    const ct::os::ProcessResult result = run({"cache", action}, environment);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(has(result.errors, cache.path + ": not used: everybody may write it (mode 0777)")) << result.errors;
  }
  EXPECT_TRUE(ct::os::exists(cache.path + "/aa.kernel"));
  EXPECT_TRUE(has(json_of({"info"}, environment)["kernel_cache"]["trouble"], "everybody may write it"));
  EXPECT_TRUE(has(run({"info"}, environment).output, "everybody may write it"));
  EXPECT_TRUE(has(run({"doctor"}, environment).output, "WARN G2  kernel cache " + cache.path + ": not used: "));
}

TEST(Bench, EveryKind) {
  const std::string device = ct::current_device().name();
  for (const char* what : {"gemm", "copy", "elementwise", "chain", "reduce", "sort", "launch", "concat"}) {
    const json object = json_of({"bench", what, "--size", "200", "-d", device});
    EXPECT_EQ(object["device"], device);
    ASSERT_EQ(object["results"].size(), 1U);
    EXPECT_EQ(object["results"][0]["size"], 200);
    EXPECT_GT(object["results"][0]["rate"], 0);
  }
  for (const char* network : {"cnn", "resnet18", "lstm", "mlp"})
    EXPECT_GT(json_of({"bench", network, "--size", "4", "-d", "cpu"})["results"][0]["rate"], 0) << network;
  EXPECT_EQ(json_of({"bench", "reduce", "--size", "100", "--dtype", "int32"})["dtype"], "int32");
}

// Training steps with 16-bit parameters, float32 copies and a loss scale.
TEST(Bench, NetworksOf16Bits) {
  for (const char* dtype : {"float32", "float16", "bfloat16", "mixed16", "mixed_bf16"}) {
    const json mlp =
        json_of({"bench", "mlp", "--size", "3", "--width", "40", "-d", ct::current_device().name(), "--dtype", dtype});
    EXPECT_EQ(mlp["dtype"], dtype);
    EXPECT_GT(mlp["results"][0]["rate"], 0);
    const std::string operands = has(dtype, "32") ? "float32" : has(dtype, "b") ? "bfloat16" : "float16";
    EXPECT_EQ(mlp["results"][0]["computation"]["dtype"], operands) << dtype;
  }
  const json resnet =
      json_of({"bench", "resnet50", "--size", "1", "--width", "32", "-d", "cpu", "--dtype", "mixed_bf16"});
  EXPECT_GT(resnet["results"][0]["rate"], 0);
  const ct::os::ProcessResult arrays = run({"bench", "gemm", "--dtype", "mixed16"});
  EXPECT_EQ(arrays.exit_code, 1);
  EXPECT_EQ(arrays.errors, "catenary: bench: --dtype mixed16 is only for networks; use a single dtype for arrays\n");
}

// The benchmarks of products and convolutions report how they were computed.
TEST(Bench, TellsWhichUnitsRan) {
  const std::string device = ct::current_device().name();
  for (const char* what : {"gemm", "conv"}) {
    const json rows = json_of({"bench", what, "--size", what[0] == 'g' ? "100" : "4", "-d", device})["results"];
    ASSERT_FALSE(rows.empty());
    for (const json& row : rows) {
      const json& how = row["computation"];
      EXPECT_FALSE(how["library"].get<std::string>().empty()) << row;
      EXPECT_FALSE(how["algorithm"].get<std::string>().empty()) << row;
      EXPECT_EQ(how["dtype"], "float32");
      EXPECT_EQ(how["compute"], "float32 sums of float32 products");
      EXPECT_NE(how["units"].get<std::string>().empty(), how["why_not"].get<std::string>().empty()) << row;
      EXPECT_TRUE(how["told"].is_boolean());
    }
  }
  const json passes = json_of({"bench", "attention", "--size", "20", "-d", device, "--dtype", "float16"})["results"];
  ASSERT_EQ(passes.size(), 2U);
  for (const json& row : passes) {
    EXPECT_GT(row["rate"], 0);
    EXPECT_EQ(row.contains("computation"), device != "cpu") << row;
    if (device == "cpu") continue;  // no attention library is used there
    EXPECT_EQ(row["computation"]["compute"], "float32 sums of float16 products");
  }
  const std::string text = run({"bench", "gemm", "--size", "100", "-d", device, "--dtype", "float16"}).output;
  EXPECT_TRUE(has(text, ": float32 sums of float16 products")) << text;
}

TEST(Command, Version) {
  const ct::os::ProcessResult result = run({"--version"});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output, std::string("Catenary ") + ct::version() + "\n");
}

// Every variable is checked before anything runs, and reported once with the expected values.
TEST(Command, VariablesThatMakeNoSense) {
  const Environment wrong = {{"CATENARY_TRACE", "foo"},
                             {"CATENARY_NUM_THREADS", "abc"},
                             {"CATENARY_SIMD", "v9"},
                             {"CATENARY_SYNC", "yes"},
                             {"CATENARY_DTYPE", "int32"},
                             {"CATENARY_GPU_BLAS", "mkl"},
                             {"CATENARY_GPU_DNN", "mkl"},
                             {"CATENARY_GPU_ATTENTION", "mkl"},
                             {"CATENARY_GPU_FFT", "mkl"},
                             {"CATENARY_SOLVER", "x"},
                             {"CATENARY_TF32", "2"},
                             {"CATENARY_FUSION", "on"},
                             {"CATENARY_DEBUG", "x"},
                             {"CATENARY_GPU_FORMS", "x"},
                             {"CATENARY_ONEDNN", "x"},
                             {"CATENARY_NO_FLOAT64", "x"},
                             {"CATENARY_NUM_THREADS", "0"},
                             {"OMP_NUM_THREADS", "two"},
                             {"CHAINER_DTYPE", "complex64"},
                             {"CATENARY_GPU_INCLUDE_CPU", "x"},
                             {"CATENARY_GPU_INCLUDE_SIMULATED", "x"},
                             {"CATENARY_KEEP_GRAPH_ON_REPORT", "x"}};
  for (const auto& [name, value] : wrong) {
    for (const char* command : {"info", "doctor", "cache"}) {
      const ct::os::ProcessResult result = run({command}, {{name, value}});
      EXPECT_EQ(result.exit_code, 1) << name;
      EXPECT_TRUE(result.output.empty()) << result.output;
      EXPECT_TRUE(result.errors.starts_with("catenary: " + name + "=" + value + ": expected ")) << result.errors;
      EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    }
  }
  EXPECT_EQ(run({"cache"}, {{"CATENARY_NUM_THREADS", "abc"}, {"CATENARY_TRACE", "compile,foo"}}).errors,
            "catenary: CATENARY_NUM_THREADS=abc: expected a number of threads, 1 or more; CATENARY_TRACE=compile,foo: "
            "expected a list, with commas between, of compile, source, kernels, ops, counts, libraries, solver, blas, "
            "dnn, attention, fft\n");
  EXPECT_TRUE(run({"cache"}, {{"CATENARY_TRACE", "compile, kernels"},
                              {"CATENARY_GPU_BLAS", "cuBLASLt"},
                              {"CATENARY_NUM_THREADS", ""},
                              {"CHAINER_DTYPE", "mixed16"},
                              {"OMP_NUM_THREADS", "4,2"}})
                  .ok());
}

TEST(Command, ExitCodes) {
  EXPECT_EQ(run({"--help"}).exit_code, 0);
  EXPECT_EQ(run({"doctor", "--help"}).exit_code, 0);
  EXPECT_EQ(run({}).exit_code, 2);
  EXPECT_EQ(run({"nothing"}).exit_code, 2);
  EXPECT_TRUE(
      has(run({"nothing"}).errors,
          "expected info, devices, inspect, convert, generate, run, quantize, doctor, cache, bench, data or launch, "
          "got 'nothing'"))
      << run({"nothing"}).errors;
  EXPECT_TRUE(has(run({"bench", "gemm", "--size", "x"}).errors, "--size: expected a whole number from 1 to"))
      << run({"bench", "gemm", "--size", "x"}).errors;
  EXPECT_EQ(run({"cache", "burn"}).exit_code, 2);
  EXPECT_EQ(run({"bench", "gemm", "--dtype", "int3"}).exit_code, 2);
  EXPECT_EQ(run({"bench", "gemm", "--size", "-1"}).exit_code, 2);
  const ct::os::ProcessResult result = run({"bench", "gemm", "--device", "cuda:77"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has(result.errors, "cuda")) << result.errors;
}

}  // namespace
