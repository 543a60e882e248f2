#include "catenary/backends/cpu/launcher.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catenary/backends/cpu/host_compiler.h"
#include "catenary/backends/gpu/source.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/parallel.h"
#include "catenary/device/kernel_launcher.h"

namespace catenary::cpu {

namespace {

/// Returns a text without its comments.
std::string without_comments(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find("//"), text.find("/*"));
    plain += text.substr(0, at);
    if (at == std::string_view::npos) break;
    const bool is_line = text[at + 1] == '/';
    const std::size_t end = text.find(is_line ? "\n" : "*/", at + 2);
    plain += ' ';
    if (end == std::string_view::npos) break;
    text.remove_prefix(is_line ? end : end + 2);
  }
  return plain;
}

/// Returns the names of the kernels in a portable text: the word before the parentheses, after KERNEL and REQD(…).
std::vector<std::string> kernels_of(std::string_view given) {
  const std::string text = without_comments(given);
  static const std::regex words(R"(\bKERNEL\s+(?:REQD\s*\([^()]*\)\s*)?(\w+)\s*\()");
  std::vector<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), words), end; found != end; ++found)
    if (std::find(names.begin(), names.end(), (*found)[1]) == names.end()) names.push_back((*found)[1]);
  return names;
}

/// Returns the instruction sets of x86-64-v2, v3 and v4. Compilers before GCC 11 and clang 12 do not know these names.
std::vector<const char*> units_of(SimdLevel level) {
  std::vector<const char*> units;
  if (level == SimdLevel::native) return units;
  for (const char* unit : {"cx16", "sahf", "popcnt", "sse4.2"}) units.push_back(unit);
  if (level == SimdLevel::v2) return units;
  for (const char* unit : {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}) units.push_back(unit);
  if (level == SimdLevel::v3) return units;
  for (const char* unit : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) units.push_back(unit);
  return units;
}

/// A value that the first caller makes. Other callers of this value wait, without blocking other values.
template <class T>
class Once {
 public:
  template <class F>
  T& get(const F& make) {
    const std::lock_guard lock(mutex_);
    if (!made_) made_.emplace(make());
    return *made_;
  }

 private:
  std::mutex mutex_;
  std::optional<T> made_;
};

class HostLauncher final : public KernelLauncher {
 public:
  const void* kernel(int, const UserKernelText& text) override {
    if (!text.portable)
      fail<DeviceError>(
          "kernel {}: the processor takes portable texts only, and this one is in a device's own language", text.name);
    return &entry(kernels_, fmt::format("{}\n{}", text.function, key_of(text))).get([&] {
      return HostKernel(library(text), fmt::format("ct_run_{}", text.function), std::string(text.name));
    });
  }
  std::pair<void*, std::size_t> variable(int, const UserKernelText& text, const std::string& name) override {
    if (!text.module) fail<DeviceError>("cannot find a variable ({}): the module was made without .variables", name);
    try {
      return library(text).variable(name);
    } catch (const FileError& error) {
      fail<DeviceError>("cannot find a variable ({}): {}", name, error.what());
    }
  }
  std::map<std::string, std::int64_t> attributes(int, const void*) override {
    return {{"max_threads_per_block", HostKernel::kMostItems}};  // the compiler reports no other attributes
  }
  int group_size(int) const override { return 1; }
  std::int64_t groups_for(int, std::int64_t items, std::int64_t each) const override {
    constexpr std::int64_t kWorthATurn = 4096;  // elements below which another thread costs more than it saves
    const std::int64_t turns = std::min<std::int64_t>(items * each / kWorthATurn, 4 * num_threads());
    return std::clamp<std::int64_t>(turns, 1, std::max<std::int64_t>(items, 1));
  }

 protected:
  void do_launch(int, const void* kernel, const LaunchShape& shape,
                 std::span<const KernelArgument> arguments) override {
    static_cast<const HostKernel*>(kernel)->launch(shape, arguments);
  }

 private:
  template <class T>
  using Made = std::map<std::string, std::unique_ptr<Once<T>>>;

  template <class T>
  Once<T>& entry(Made<T>& all, const std::string& key) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Once<T>>& found = all[key];
    if (!found) found = std::make_unique<Once<T>>();
    return *found;
  }
  static std::string key_of(const UserKernelText& text) {
    return fmt::format("{}\n{}\n{}", simd_level_name(simd_level()), text.module, text.text);
  }
  /// Returns the library with the kernel. For a module, the library has all its kernels, which share its variables.
  os::Library library(const UserKernelText& text) {
    if (!text.module) return compile(text, {std::string(text.function)});
    return entry(modules_, key_of(text)).get([&] { return compile(text, kernels_of(text.text)); });
  }
  static os::Library compile(const UserKernelText& text, const std::vector<std::string>& functions) {
    const std::string name(text.name);
    if (const std::string why = no_host_compiler(); !why.empty())
      fail<DeviceError>(
          "kernel {}: {}. Or put its arguments on a device with a compiler (cuda:N, hip:N, opencl:N), or give an "
          "ElementwiseKernel a function for the CPU (.cpu)",
          name, why);
    std::string source = gpu::assemble_source("host", "#define CT_HAS_F64\n", {}, text.text);
    for (const std::string& function : functions) source += fmt::format("\nCT_ENTRY(ct_run_{0}, {0})\n", function);
    // flags of this library's own loops, for identical bits
    std::vector<std::string> flags = {"-fwrapv", "-fno-trapping-math"};
    for (const char* unit : units_of(simd_level())) flags.push_back(fmt::format("-m{}", unit));
    return compile_on_host(source, name, flags);
  }

  std::mutex mutex_;  // for the maps only, because compiling takes long
  Made<HostKernel> kernels_;
  Made<os::Library> modules_;
};

}  // namespace

KernelLauncher& launcher() {
  static HostLauncher* const launcher = new HostLauncher;
  return *launcher;
}

}  // namespace catenary::cpu
