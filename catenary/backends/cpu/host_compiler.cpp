#include "catenary/backends/cpu/host_compiler.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "catenary/core/environment.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/once.h"
#include "catenary/core/os/faults.h"
#include "catenary/core/os/fibers.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/memory.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/signals.h"
#include "catenary/core/os/temporary_folder.h"
#include "catenary/core/parallel.h"
#include "catenary/core/sha256.h"
#include "catenary/core/version.h"
#include "catenary/device/kernel_cache.h"
#include "catenary/device/trace.h"
#include "catenary/kernels/texts.h"

namespace catenary::cpu {

namespace {

struct Compiler {
  std::vector<std::string> command;
  std::string version;  // its version text
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

constexpr const char* kLimit = "CATENARY_COMPILE_TIMEOUT";

/// Returns the time limit of a compilation in minutes.
double limit() {
  const std::string text = environment::text(kLimit);
  return text.empty() ? 10 : std::stod(text);
}

/// Runs a compiler, without libraries that are preloaded into this process, such as a sanitizer.
os::ProcessResult run(const std::vector<std::string>& command, double minutes,
                      std::vector<std::pair<std::string, std::string>> variables = {}, const std::string& input = {}) {
  variables.emplace_back("LD_PRELOAD", "");
  // a process's time limit cannot be infinite; 0 means none
  const double seconds = minutes < 1e6 ? 60 * minutes : 0;
  return os::run_process(command, {.timeout = seconds, .environment = std::move(variables), .input = input});
}

std::optional<Compiler> find_compiler() {
  static std::mutex mutex;
  static std::map<std::string, Compiler> known;  // keyed by the variables that determine the choice
  const std::string wanted = variable("CXX");
  const std::lock_guard lock(mutex);
  const std::string key = wanted + '\0' + variable("PATH");
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const std::vector<std::string> names =
      wanted.empty() ? std::vector<std::string>{"c++", "g++", "clang++"} : std::vector{wanted};
  for (const std::string& name : names) {
    Compiler compiler;
    if (name.find('/') != std::string::npos && os::exists(name)) {  // a path may contain spaces
      compiler.command = {name};
    } else {
      std::istringstream words(name);
      for (std::string word; words >> word;) compiler.command.push_back(word);
    }
    if (compiler.command.empty()) continue;
    std::vector<std::string> question = compiler.command;
    question.push_back("--version");
    try {
      const os::ProcessResult answer = run(question, std::min(limit(), 0.5));
      if (!answer.ok()) continue;  // a stub whose target is missing
      compiler.version = answer.output;
    } catch (const FileError&) {
      continue;  // not installed
    }
    return known[key] = compiler;
  }
  return std::nullopt;  // not cached, so that the next call searches again
}

constexpr const char* kFolders = "catenary-kernel-";

/// Removes folders of processes that were killed while they compiled.
void clean_up_once() {
  static Once done;
  done([] { os::TemporaryFolder::remove_abandoned(kFolders); });
}

constexpr std::array<std::int64_t, 3> kMostGroups = {0x7fffffff, 65535, 65535};  // as on CUDA

/// Shared memory of a group, with the size of the launch.
class LocalMemory {
 public:
  explicit LocalMemory(std::size_t bytes) : bytes_(bytes), memory_(bytes ? os::allocate(bytes) : nullptr) {}
  LocalMemory(const LocalMemory&) = delete;
  LocalMemory& operator=(const LocalMemory&) = delete;
  ~LocalMemory() { os::deallocate(memory_, bytes_); }
  void* get() const { return memory_; }

 private:
  const std::size_t bytes_;
  void* const memory_;
};

}  // namespace

std::string no_host_compiler() {
  if (find_compiler()) return {};
  const std::string wanted = variable("CXX");
  return fmt::format(
      "user-defined kernels on the CPU need a C++ compiler, but none was found ({}): apt install g++, or set CXX. "
      "Alternatively use PoCL, an OpenCL device on the CPU: apt install pocl-opencl-icd, and set "
      "CATENARY_GPU_INCLUDE_CPU=1",
      wanted.empty() ? "c++, g++, clang++" : "CXX=" + wanted);
}

os::Library compile_on_host(const std::string& given, const std::string& kernel,
                            const std::vector<std::string>& flags) {
  const std::optional<Compiler> compiler = find_compiler();
  if (!compiler) fail<DeviceError>("kernel {}: {}", kernel, no_host_compiler());
  clean_up_once();
  const std::string text = std::string(kernels::text("host")) + given;
  std::vector<std::string> command = compiler->command;
  for (const char* flag : {"-std=c++17", "-O3", "-w", "-fno-math-errno", "-fno-semantic-interposition",
                           "-ffp-contract=off", "-fno-exceptions", "-shared", "-fPIC", "-Wl,-Bsymbolic"})
    command.emplace_back(flag);
  // GCC would share a template's static variable among all libraries of the process that have one of that name
  if (compiler->version.find("Free Software Foundation") != std::string::npos) command.emplace_back("-fno-gnu-unique");
  command.insert(command.end(), flags.begin(), flags.end());
  if (tracing("source")) fmt::print(stderr, "{}\n", text);
  const auto start = std::chrono::steady_clock::now();
  const auto loaded = [&](const std::vector<std::byte>& binary, const char* how) {
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (tracing("compile")) fmt::print(stderr, "{} {} on cpu in {:.0f} ms\n", how, kernel, time.count());
    return os::Library::from_memory(kernel, binary);
  };
  const std::string key =
      sha256(fmt::format("host\n{}\n{}\n{}\n{}", version(), compiler->version, fmt::join(command, "\n"), text));
  if (const auto binary = load_kernel(key)) {
    try {
      return loaded(*binary, "load");
    } catch (const FileError&) {
      // the cached library was built with another C library: compile it again
    }
  }
  try {
    const os::TemporaryFolder folder(kFolders);
    const std::string path = folder.path() + "/kernel.so";
    command.insert(command.end(), {"-x", "c++", "-", "-o", path});
    // temporary files of a killed compiler are removed with the folder
    const os::ProcessResult result = run(command, limit(), {{"TMPDIR", folder.path()}}, text);
    if (result.timed_out)
      fail<DeviceError>(
          "kernel {}: {} has not compiled it within {:g} minutes and was ended; {} sets another limit, in minutes",
          kernel, command.front(), limit(), kLimit);
    if (!result.ok())
      fail<DeviceError>("kernel {} cannot be compiled for the processor by {}: {}", kernel, command.front(),
                        !result.errors.empty() ? result.errors
                        : result.signal        ? "it was ended by " + os::signal_name(result.signal)
                                               : fmt::format("it ended with status {}", result.exit_code));
    const std::vector<std::byte> binary = os::read_file(path);
    save_kernel(key, binary);
    return loaded(binary, "compile");
  } catch (const FileError& error) {
    fail<DeviceError>("kernel {}, by the C++ compiler of the processor: {}", kernel, error.what());
  }
}

/// Must match the struct in host.kernel.
struct HostKernel::Part {
  const void* const* values;
  struct Place {
    unsigned x, y, z;
  } grid, block;
  long long first_block, end_block;
  unsigned first_thread, end_thread;
  void* dynamic;
  void (*wait)(void* turns);
  void* turns;
};

HostKernel::HostKernel(const os::Library& library, const std::string& entry, std::string kernel)
    : kernel_(std::move(kernel)),
      fault_name_("kernel " + kernel_ + " on the processor"),
      entry_(library.function<void(const Part&)>(entry.c_str())),
      waits_(library.symbol("ct_wait")) {
  const auto sizes = library.function<const long long*()>((entry + "_sizes").c_str());
  if (!entry_ || !sizes) fail<DeviceError>("kernel {}: the compiled library has no {}", kernel_, entry);
  sizes_ = sizes();
}

void HostKernel::check(std::span<const KernelArgument> arguments) const {
  const auto count = static_cast<std::size_t>(sizes_[0]);
  if (arguments.size() != count)
    fail<DtypeError>("kernel {} takes {} arguments, {} are given", kernel_, count, arguments.size());
  for (std::size_t k = 0; k < count; ++k) {
    const auto wanted = static_cast<std::size_t>(sizes_[k + 1]);
    if (arguments[k].size != wanted && !(arguments[k].size == 8 && wanted < 8))
      fail<DtypeError>("kernel {}: argument {} has {} bytes, its parameter {}", kernel_, k, arguments[k].size, wanted);
  }
}

void HostKernel::launch(const LaunchShape& shape, std::span<const KernelArgument> arguments) const {
  check(arguments);
  std::int64_t items = 1, groups = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    items *= std::clamp(shape.group_size[k], 0, kMostItems + 1);
    if (shape.groups[k] < 0 || shape.groups[k] > kMostGroups[k])
      fail<DeviceError>("kernel {}, {}: the processor takes up to {} x {} x {} groups", kernel_, shape.text(),
                        kMostGroups[0], kMostGroups[1], kMostGroups[2]);
    groups *= shape.groups[k];
  }
  if (items < 1 || items > kMostItems)
    fail<DeviceError>("kernel {}, {}: the processor takes 1 to {} work-items in a group", kernel_, shape.text(),
                      kMostItems);
  std::vector<const void*> values;
  for (const KernelArgument& argument : arguments) values.push_back(argument.data);
  const auto place = [](const auto& axes) {
    return Part::Place{static_cast<unsigned>(axes[0]), static_cast<unsigned>(axes[1]), static_cast<unsigned>(axes[2])};
  };
  // each range allocates the stacks of waiting work-items, so use few ranges
  const std::int64_t grain = waits_ && items > 1 ? (groups + num_threads() - 1) / num_threads() : 1;
  parallel_for(groups, std::max<std::int64_t>(grain, 1), [&](std::int64_t begin, std::int64_t end) {
    const os::FaultScope scope(fault_name_.c_str());
    const LocalMemory memory(shape.local_bytes);
    Part part{values.data(),
              place(shape.groups),
              place(shape.group_size),
              begin,
              end,
              0,
              static_cast<unsigned>(items),
              memory.get(),
              nullptr,
              nullptr};
    run(part);
  });
}

void HostKernel::run(Part& part) const {
  const unsigned items = part.end_thread;
  if (!waits_ || items == 1) return entry_(part);
  os::Fibers fibers(static_cast<int>(items));
  part.wait = [](void* turns) { static_cast<os::Fibers*>(turns)->wait(); };
  part.turns = &fibers;
  for (long long block = part.first_block; block < part.end_block; ++block) {
    fibers.run([&](int k) {
      Part own = part;
      own.first_block = block;
      own.end_block = block + 1;
      own.first_thread = static_cast<unsigned>(k);
      own.end_thread = own.first_thread + 1;
      entry_(own);
    });
  }
}

}  // namespace catenary::cpu
