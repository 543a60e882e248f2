#include "catenary/backends/gpu/drivers/runtime_compiler.h"

#include <algorithm>

#include "catenary/backends/gpu/drivers/find.h"
#include "catenary/core/format.h"
#include "catenary/core/os/trial.h"

namespace catenary::gpu {

/// The functions as declared by the public ABI. NVRTC and hipRTC differ only in their names.
struct RuntimeCompiler::Api {
  using Program = void*;

  Api(const os::Library& library, bool hip) {
    const auto find = [&](auto& function, const char* cuda_name, const char* hip_name) {
      using F = std::remove_pointer_t<std::remove_reference_t<decltype(function)>>;
      function = library.required<F>(hip ? hip_name : cuda_name);
    };
    find(version, "nvrtcVersion", "hiprtcVersion");
    find(create, "nvrtcCreateProgram", "hiprtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram", "hiprtcDestroyProgram");
    find(compile, "nvrtcCompileProgram", "hiprtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog", "hiprtcGetProgramLog");
    find(code_size, "nvrtcGetCUBINSize", "hiprtcGetCodeSize");
    find(code, "nvrtcGetCUBIN", "hiprtcGetCode");
    find(error_string, "nvrtcGetErrorString", "hiprtcGetErrorString");
    if (hip) return;
    // since CUDA 11.2
    arch_count = library.function<int(int*)>("nvrtcGetNumSupportedArchs");
    archs = library.function<int(int*)>("nvrtcGetSupportedArchs");
  }

  int (*version)(int*, int*);
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const*, const char* const*);
  int (*destroy)(Program*);
  int (*compile)(Program, int options, const char* const*);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*code_size)(Program, std::size_t*);
  int (*code)(Program, char*);
  const char* (*error_string)(int);
  int (*arch_count)(int*) = nullptr;
  int (*archs)(int*) = nullptr;
};

RuntimeCompiler::RuntimeCompiler(const os::Library& library, bool hip)
    : hip_(hip), api_(std::make_shared<Api>(library, hip)) {
  int minor = 0, count = 0;
  check(api_->version(&major_, &minor), "Version");
  name_ = fmt::format("{} {}.{}", hip ? "hipRTC" : "NVRTC", major_, minor);
  if (api_->arch_count && api_->archs && api_->arch_count(&count) == 0) {
    archs_.resize(static_cast<std::size_t>(count));
    if (api_->archs(archs_.data()) != 0) archs_.clear();
  }
}

std::vector<std::shared_ptr<RuntimeCompiler>> RuntimeCompiler::nvrtc(std::string& why) {
  std::vector<std::shared_ptr<RuntimeCompiler>> found;
  const std::vector<std::string> names = {os::library_file("nvrtc", "13"), os::library_file("nvrtc", "12"),
                                          os::library_file("nvrtc", "11.2")},
                                 folders = cuda_folders();
  std::string broken;
  for (const std::string& name : names) {
    std::string reason;
    const auto library = find_library({name}, folders, reason);
    try {
      if (library)
        found.emplace_back(new RuntimeCompiler(*library, false));
      else if (reason.find("none of") != 0)
        broken = reason;
    } catch (const Error& error) {
      broken = error.what();
    }
  }
  if (found.empty())
    why = !broken.empty() ? broken
                          : fmt::format(
                                "CUDA's compiler NVRTC was not found: none of {}; install it from NVIDIA's CUDA "
                                "packages (cuda-nvrtc)",
                                fmt::join(names, ", "));
  return found;
}

std::shared_ptr<RuntimeCompiler> RuntimeCompiler::hiprtc(const os::Library& runtime, int major, std::string& why) {
  try {
    // Two ROCm versions in one process crash, so use the library in the runtime's folder.
    const std::string path = runtime.path(), name = os::library_file("hiprtc", std::to_string(major));
    if (const auto slash = path.rfind('/'); slash != std::string::npos)
      if (const auto library = os::Library::find(path.substr(0, slash + 1) + name))
        return std::shared_ptr<RuntimeCompiler>(new RuntimeCompiler(*library, true));
    if (runtime.symbol("hiprtcCompileProgram"))
      return std::shared_ptr<RuntimeCompiler>(new RuntimeCompiler(runtime, true));
    if (const auto library = find_library({name}, rocm_folders(), why))
      return std::shared_ptr<RuntimeCompiler>(new RuntimeCompiler(*library, true));
    why = fmt::format("hipRTC was not found: {} has none inside, and {}", path, why);
  } catch (const Error& error) {
    why = error.what();
  }
  return nullptr;
}

std::string RuntimeCompiler::arch_for(int major, int minor) const {
  if (archs_.empty()) return fmt::format("sm_{}{}", major, minor);
  int best = 0;
  for (int arch : archs_)
    if (arch / 10 == major && arch % 10 <= minor) best = std::max(best, arch);
  return best ? fmt::format("sm_{}", best) : std::string();
}

void RuntimeCompiler::check(int code, const char* function, const std::string& words) const {
  if (code != 0)
    fail<DeviceError>("{}{} failed with {} ({}){}{}", hip_ ? "hiprtc" : "nvrtc", function, api_->error_string(code),
                      code, words.empty() ? "" : ": ", words);
}

Binary RuntimeCompiler::compile(const std::string& arch, const std::string& text) {
  std::lock_guard lock(mutex_);
  if (hip_)
    if (const std::string& wrong = trial_of(arch); !wrong.empty()) throw DeviceError(wrong);
  return compile_here(arch, text);
}

void RuntimeCompiler::try_ahead(const std::string& arch) {
  std::lock_guard lock(mutex_);
  if (hip_) trial_of(arch);
}

/// hipRTC aborts, crashes or hangs for an unknown architecture, so it is tried once in a child process. Returns "" on
/// success.
const std::string& RuntimeCompiler::trial_of(const std::string& arch) {
  if (const auto known = tried_.find(arch); known != tried_.end()) return known->second;
  const os::TrialResult result =
      os::run_trial([&] { compile_here(arch, "extern \"C\" __global__ void f(int* x) { *x = 1; }"); }, trial_seconds_);
  std::string wrong;
  if (result.timed_out)
    wrong = fmt::format(
        "{} was not done within {:g} s with a kernel of one line for {}; install another ROCm, or use the card as an "
        "OpenCL device",
        name_, trial_seconds_, arch);
  else if (!result.crash.empty())
    wrong = fmt::format(
        "{} crashes ({}) when it compiles for {}: this ROCm does not know the card; install a newer one, or use the "
        "card as an OpenCL device",
        name_, result.crash, arch);
  return tried_[arch] = wrong;
}

Binary RuntimeCompiler::compile_here(const std::string& arch, const std::string& text) const {
  const std::string arch_option = (hip_ ? "--offload-arch=" : "--gpu-architecture=") + arch;
  std::vector<const char*> options = {arch_option.c_str()};
  if (hip_)
    options.insert(options.end(), {"-O3", "-ffp-contract=off", "-fno-fast-math"});
  else
    options.insert(options.end(),
                   {"--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "-diag-suppress=177"});
  Api::Program program = nullptr;
  check(api_->create(&program, text.c_str(), "kernel", 0, nullptr, nullptr), "CreateProgram");
  const std::unique_ptr<Api::Program, int (*)(Api::Program*)> owner(&program, api_->destroy);
  const int code = api_->compile(program, static_cast<int>(options.size()), options.data());
  if (code != 0) {
    std::size_t length = 0;
    api_->log_size(program, &length);
    std::string log(length, '\0');
    if (length) api_->log(program, log.data());
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    check(code, "CompileProgram", fmt::format("for {}: {}", arch, log));
  }
  std::size_t size = 0;
  check(api_->code_size(program, &size), hip_ ? "GetCodeSize" : "GetCUBINSize");
  Binary binary(size);
  check(api_->code(program, reinterpret_cast<char*>(binary.data())), hip_ ? "GetCode" : "GetCUBIN");
  return binary;
}

}  // namespace catenary::gpu
