#pragma once
// The parts of `catenary doctor`. Every check looks at a Machine and adds findings to a Report.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace catenary::doctor {

enum class Level { ok, warn, fail };
struct Finding {
  Level level;
  std::string id;       ///< of the check, as docs/guide/gpus.md lists them
  std::string message;  ///< what was seen
  std::string advice;   ///< what to do; empty where nothing is to be done
};

/// What a child process said that asked a driver, and how it ended.
struct Probe {
  nlohmann::ordered_json answer;  ///< an object; empty where the child did not get that far
  std::string failure;  ///< "crashed with SIGSEGV", "did not answer within 20 s", …; empty where all is well
};

/// The last line of what a program said that is not blank.
std::string last_line(const std::string& text);

/// What is read of a machine: this one, or the files of another below a folder. What no file can hold (who may open
/// what, groups, environment, answers of drivers) stands in that folder's machine.json:
///   {"user": "ada", "groups": [1000], "system": "Linux 6.8.0 x86_64", "environment": {"NAME": "value"},
///    "open": {"/dev/kfd": "EACCES"}, "owner_group": {"/dev/kfd": 993},
///    "probes": {"opencl": {"answer": {…}, "failure": "crashed with SIGSEGV"}}}
class Machine {
 public:
  /// Throws FileError or ValueError when `root` holds no such file, or a broken one.
  explicit Machine(std::string root);

  bool is_this_one() const { return root_.empty(); }
  bool exists(const std::string& path) const;
  /// A file's text without blanks at its end; nothing where it is not there or may not be read.
  std::optional<std::string> read(const std::string& path) const;
  /// Names in a folder; none where it is not there.
  std::vector<std::string> list(const std::string& path) const;
  std::string open_error(const std::string& path) const;
  std::int64_t owner_group(const std::string& path) const;
  bool in_group(std::int64_t group) const;
  std::string user() const;
  std::string system() const;
  /// An environment variable, or "".
  std::string variable(const std::string& name) const;
  /// Runs `catenary doctor --probe name`; nothing where another machine's answer is not known.
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
  int usable_gpus = 0;  ///< those of them that are no processors
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();

  /// GPUs of a vendor, without those that are set aside for virtual machines.
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

/// H1-H4: GPUs on the bus, kernel modules, WSL, containers. Fills the facts that the others need.
void check_hardware(const Machine& machine, Facts& facts, Report& report);
/// A1-A11.
void check_amd(const Machine& machine, const Facts& facts, Report& report);
/// N1-N6.
void check_nvidia(const Machine& machine, const Facts& facts, Report& report);
/// N6, which check_nvidia calls.
void check_nvml(const Machine& machine, Report& report);
/// O1, O2: what OpenCL's loader reads.
void check_opencl(const Machine& machine, const Facts& facts, Report& report);
/// B1-B3: each backend, a test of each of its devices, and whether the GPUs are of use.
void check_backends(const Machine& machine, Facts& facts, Report& report);
/// G1-G3: processor, kernel cache, shared memory.
void check_general(const Machine& machine, const Facts& facts, Report& report);
/// G4.
void check_mpi(const Machine& machine, Report& report);
/// G5.
void check_nccl(const Machine& machine, const Facts& facts, Report& report);
/// P1, P2.
void check_python(const Machine& machine, Report& report);

/// {} where a library can be loaded, else {"error": why}.
nlohmann::ordered_json ask_library(const std::string& name);
/// The modes of NVIDIA's GPUs, or {"error": why}.
nlohmann::ordered_json ask_nvml();
/// The MPI libraries that can be loaded.
nlohmann::ordered_json ask_mpi();
/// NCCL and RCCL, with the reason where one cannot be used.
nlohmann::ordered_json ask_nccl();
/// The cupy and the Chainer of the Python that CATENARY_PYTHON names, else python3.
nlohmann::ordered_json ask_python();
/// A backend's devices, and whether a device computes what the CPU does.
nlohmann::ordered_json ask_backend(const std::string& name);
nlohmann::ordered_json test_device(const std::string& name);

}  // namespace catenary::doctor
