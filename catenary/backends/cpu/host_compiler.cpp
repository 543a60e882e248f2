#include "catenary/backends/cpu/host_compiler.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "catenary/backends/gpu/kernel_cache.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/signals.h"
#include "catenary/core/parallel.h"
#include "catenary/core/sha256.h"
#include "catenary/core/version.h"
#include "catenary/device/trace.h"

namespace catenary::cpu {

namespace {

struct Compiler {
  std::vector<std::string> command;
  std::string version;  // what it says of itself
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// Runs a compiler. What is loaded into this process by force (a sanitizer, say) is not for it.
os::ProcessResult run(const std::vector<std::string>& command, const std::string& input = {}) {
  return os::run_process(command, {.environment = {{"LD_PRELOAD", ""}}, .input = input});
}

std::optional<Compiler> find_compiler() {
  static std::mutex mutex;
  static std::map<std::string, std::optional<Compiler>> known;  // by what decides
  const std::string wanted = variable("CXX");
  const std::lock_guard lock(mutex);
  const auto [place, fresh] = known.try_emplace(wanted + '\0' + variable("PATH"));
  if (!fresh) return place->second;
  const std::vector<std::string> names =
      wanted.empty() ? std::vector<std::string>{"c++", "g++", "clang++"} : std::vector{wanted};
  for (const std::string& name : names) {
    Compiler compiler;
    if (name.find('/') != std::string::npos && os::exists(name)) {  // a path may have blanks
      compiler.command = {name};
    } else {
      std::istringstream words(name);
      for (std::string word; words >> word;) compiler.command.push_back(word);
    }
    if (compiler.command.empty()) continue;
    std::vector<std::string> question = compiler.command;
    question.push_back("--version");
    try {
      compiler.version = run(question).output;
    } catch (const FileError&) {
      continue;  // it is not there
    }
    return place->second = compiler;
  }
  return std::nullopt;
}

/// A folder that goes away.
class Folder {
 public:
  Folder() : path(os::make_temporary_directory("catenary-kernel-")) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    try {
      os::remove_directory(path);
    } catch (const FileError&) {
      return;  // somebody else's matter
    }
  }
  const std::string path;
};

}  // namespace

std::string no_host_compiler() {
  if (find_compiler()) return {};
  const std::string wanted = variable("CXX");
  return fmt::format(
      "on the processor kernels of users are compiled by a C++ compiler, and there is none ({}): apt install g++, or "
      "name one by CXX. Or: PoCL makes an OpenCL device of the processor: apt install pocl-opencl-icd, and set "
      "CATENARY_GPU_INCLUDE_CPU=1",
      wanted.empty() ? "c++, g++, clang++" : "CXX=" + wanted);
}

os::Library compile_on_host(const std::string& text, const std::string& kernel, const std::vector<std::string>& flags) {
  const std::optional<Compiler> compiler = find_compiler();
  if (!compiler) fail<DeviceError>("kernel {}: {}", kernel, no_host_compiler());
  std::vector<std::string> command = compiler->command;
  for (const char* flag : {"-std=c++17", "-O3", "-w", "-fno-math-errno", "-fno-semantic-interposition",
                           "-ffp-contract=off", "-shared", "-fPIC"})
    command.emplace_back(flag);
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
  try {
    if (const auto binary = gpu::load_kernel(key)) return loaded(*binary, "load");
    const Folder folder;
    const std::string path = folder.path + "/kernel.so";
    command.insert(command.end(), {"-x", "c++", "-", "-o", path});
    const os::ProcessResult result = run(command, text);
    if (!result.ok())
      fail<DeviceError>("kernel {} cannot be compiled for the processor by {}: {}", kernel, command.front(),
                        !result.errors.empty() ? result.errors
                        : result.signal        ? "it was ended by " + os::signal_name(result.signal)
                                               : fmt::format("it ended with status {}", result.exit_code));
    const std::vector<std::byte> binary = os::read_file(path);
    gpu::save_kernel(key, binary);
    return loaded(binary, "compile");
  } catch (const FileError& error) {
    fail<DeviceError>("kernel {}, by the C++ compiler of the processor: {}", kernel, error.what());
  }
}

HostKernel::HostKernel(const os::Library& library, const std::string& entry, std::string kernel, std::size_t more)
    : kernel_(std::move(kernel)),
      more_(more),
      entry_(library.function<void(const void* const*, long long, long long)>(entry.c_str())) {
  if (!entry_) fail<DeviceError>("kernel {}: there is no {} in what the C++ compiler made", kernel_, entry);
  if (const auto sizes = library.function<const long long*()>((entry + "_sizes").c_str())) sizes_ = sizes();
}

void HostKernel::check(std::span<const std::size_t> sizes) const {
  if (!sizes_) return;
  const auto count = static_cast<std::size_t>(sizes_[0]);
  if (sizes.size() != count + more_)
    fail<DtypeError>("kernel {} takes {} arguments, {} are given", kernel_, count, sizes.size() - more_);
  for (std::size_t k = 0; k < count; ++k) {
    const auto wanted = static_cast<std::size_t>(sizes_[k + 1]);
    if (sizes[k] != wanted && !(sizes[k] == 8 && wanted < 8))
      fail<DtypeError>("kernel {}: argument {} has {} bytes, its parameter {}", kernel_, k, sizes[k], wanted);
  }
}

void HostKernel::run(const void* const* values, std::int64_t parts) const {
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) entry_(values, part, parts);
  });
}

}  // namespace catenary::cpu
