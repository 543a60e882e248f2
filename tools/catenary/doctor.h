#pragma once
// The parts of `catenary doctor`. Every check inspects a Machine and adds findings to a Report.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace catenary::doctor {

enum class Level { ok, warn, fail };
struct Finding {
  Level level;
  std::string id;       ///< of the check, as in docs/guide/gpus.md
  std::string message;  ///< the observation
  std::string advice;   ///< the remedy, empty if none is needed
};

/// The answer of a child process that called a driver, and how the process ended.
struct Probe {
  nlohmann::ordered_json answer;  ///< an object, empty if the child failed earlier
  std::string failure;            ///< "crashed with SIGSEGV", "did not answer within 20 s", …, empty on success
};

/// Returns the last line of a program's output that is not blank.
std::string last_line(const std::string& text);

/// The files of this machine, or of another machine below a folder. That folder's machine.json holds everything that is
/// not in files (access rights, groups, environment, drivers' answers):
/// {"user": "ada", "groups": [1000], "system": "Linux 6.8.0 x86_64", "environment": {"NAME": "value"},
///  "open": {"/dev/kfd": "EACCES"}, "owner_group": {"/dev/kfd": 993},
///  "probes": {"opencl": {"answer": {…}, "failure": "crashed with SIGSEGV"}}}
/// A machine with Windows also has {"code_page": 1252, "registry": {"SYSTEM\\CurrentControlSet": {"name": "value"}}}.
class Machine {
 public:
  /// Throws FileError or ValueError if `root` has no machine.json, or an invalid one.
  explicit Machine(std::string root);

  bool is_this_one() const { return root_.empty(); }
  bool exists(const std::string& path) const;
  /// Returns a file's text without trailing white space, or nullopt if it cannot be read.
  std::optional<std::string> read(const std::string& path) const;
  /// Returns the names in a folder, none if it does not exist.
  std::vector<std::string> list(const std::string& path) const;
  std::string open_error(const std::string& path) const;
  std::int64_t owner_group(const std::string& path) const;
  bool in_group(std::int64_t group) const;
  std::string user() const;
  std::string system() const;
  bool is_windows() const { return system().starts_with("Windows "); }
  int code_page() const;
  /// Returns the folder where Windows looks for libraries.
  std::string library_folder() const;
  /// Returns a value of Windows' registry, below HKEY_LOCAL_MACHINE, or nullopt.
  std::optional<std::string> registry_value(const std::string& key, const std::string& name) const;
  std::vector<std::pair<std::string, std::string>> registry_values(const std::string& key) const;
  /// Returns the names of the keys below a key.
  std::vector<std::string> registry_keys(const std::string& key) const;
  /// Returns an environment variable, or "".
  std::string variable(const std::string& name) const;
  /// Runs `catenary doctor --probe name`. Returns nullopt if another machine's answer is unknown.
  std::optional<Probe> probe(const std::string& name, double seconds = 20) const;

 private:
  std::string root_;
  nlohmann::ordered_json told_;
};

/// A GPU on the PCI bus.
struct Gpu {
  std::string slot;    ///< "0000:03:00.0"
  std::string vendor;  ///< "AMD", "NVIDIA" or "Intel"
  std::string id;      ///< "1002:73df"
  std::string driver;  ///< bound to it, or ""
};

struct Facts {
  std::vector<Gpu> gpus;
  bool wsl = false;
  bool container = false;
  int usable = 0;       ///< devices that passed the test
  int usable_gpus = 0;  ///< of these, devices that are not CPUs
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();

  /// Returns the number of a vendor's GPUs, without those reserved for virtual machines.
  int count(const std::string& vendor) const;
};

class Report {
 public:
  void ok(std::string id, std::string message) { add(Level::ok, std::move(id), std::move(message), {}); }
  void warn(std::string id, std::string message, std::string advice) {
    add(Level::warn, std::move(id), std::move(message), std::move(advice));
  }
  void fail(std::string id, std::string message, std::string advice) {
    add(Level::fail, std::move(id), std::move(message), std::move(advice));
  }
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  void add(Level level, std::string id, std::string message, std::string advice) {
    findings_.push_back({level, std::move(id), std::move(message), std::move(advice)});
  }
  std::vector<Finding> findings_;
};

/// H1-H4: GPUs on the bus, kernel modules, WSL, containers. Fills in the facts for the other checks.
void check_hardware(const Machine& machine, Facts& facts, Report& report);
/// A1-A11.
void check_amd(const Machine& machine, const Facts& facts, Report& report);
/// N1-N6.
void check_nvidia(const Machine& machine, const Facts& facts, Report& report);
/// N6, called by check_nvidia.
void check_nvml(const Machine& machine, Report& report);
/// W1-W6: what Windows knows of its GPUs and their drivers, and the settings that matter to programs. Fills in the
/// GPUs.
void check_windows(const Machine& machine, Facts& facts, Report& report);
/// O1, O2: the files of OpenCL's loader.
void check_opencl(const Machine& machine, const Facts& facts, Report& report);
/// B1-B3: each backend, a test of each of its devices, and whether the GPUs are usable.
void check_backends(const Machine& machine, Facts& facts, Report& report);
/// G1-G3: CPU, kernel cache, shared memory.
void check_general(const Machine& machine, const Facts& facts, Report& report);
/// G4.
void check_mpi(const Machine& machine, Report& report);
/// G5.
void check_nccl(const Machine& machine, const Facts& facts, Report& report);
/// P1, P2.
void check_python(const Machine& machine, Report& report);

/// Returns {} if a library can be loaded, else {"error": reason}.
nlohmann::ordered_json ask_library(const std::string& name);
/// Returns the modes of NVIDIA's GPUs, or {"error": reason}.
nlohmann::ordered_json ask_nvml();
/// Returns the MPI libraries that can be loaded.
nlohmann::ordered_json ask_mpi();
/// Returns NCCL and RCCL, with a reason if one cannot be used.
nlohmann::ordered_json ask_nccl();
/// Returns the cupy and the Chainer of CATENARY_PYTHON, by default python3.
nlohmann::ordered_json ask_python();
/// Returns a backend's devices, or tests whether a device's results equal the CPU's.
nlohmann::ordered_json ask_backend(const std::string& name);
nlohmann::ordered_json test_device(const std::string& name);

}  // namespace catenary::doctor
