#include "catenary/backends/gpu/context.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/kernel_cache.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/sha256.h"
#include "catenary/kernels/texts.h"

namespace catenary::gpu {

namespace {

// A part of the cache's key: raise it when the way that binaries are made or called changes without their text.
constexpr int kFormat = 1;

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value && std::strcmp(value, "0") != 0;
}

/// CATENARY_KERNEL_LOG=FOLDER keeps a file of every kernel that was asked for, for check-kernels: what it is made of,
/// so that it can be put together for any other card. `text` names one of kernels/, or is empty.
void log_kernel(std::string_view text, std::string_view name, const Defines& defines, const std::string& body) {
  const char* folder = std::getenv("CATENARY_KERNEL_LOG");
  if (!folder || !*folder) return;
  std::string content = fmt::format("kernel {}\n", name);
  if (!text.empty()) content += fmt::format("text {}\n", text);
  for (const auto& [define, value] : defines) content += fmt::format("define {} {}\n", define, value);
  if (text.empty()) content += fmt::format("\n{}", body);
  os::make_directories(folder);
  os::write_file(fmt::format("{}/{}.kernel", folder, sha256(content)), content);
}

int next_number() {
  static std::atomic<int> number{0};
  return number.fetch_add(1);
}

}  // namespace

bool tracing(const char* what) {
  const char* value = std::getenv("CATENARY_TRACE");
  return value && std::strstr(value, what);
}

int Args::check(int i) {
  if (i >= kMost) fail<DeviceError>("internal: a kernel with more than {} arguments", kMost);
  return i;
}

Context::Context(Driver& d, int i)
    : driver(d),
      index(i),
      info(d.info(i)),
      loops(info.is_cpu && !is_on("CATENARY_GPU_FORMS")),
      pool([&d, i](std::size_t bytes) { return d.allocate(i, bytes); },
           [&d, i](void* handle, std::size_t) { d.free(i, handle); }),
      number_(next_number()) {}

const Kernel& Context::kernel(std::string_view text, std::string_view name, const Defines& defines,
                              const std::function<std::string()>& before) {
  std::string key = fmt::format("{}\n{}", text, name);
  for (const auto& [define, value] : defines) key += fmt::format("\n{}={}", define, value);
  return find(key, name, [&] {
    const std::string body = (before ? before() : std::string()) + std::string(kernels::text(text));
    log_kernel(before ? std::string_view() : text, name, defines, body);
    return assemble_source(driver.name(), driver.defines(index), defines, body);
  });
}

const Kernel& Context::generated(const std::string& key, std::string_view name,
                                 const std::function<std::string()>& text) {
  return find(key, name, [&] {
    const std::string body = text();
    log_kernel({}, name, {}, body);
    return assemble_source(driver.name(), driver.defines(index), {}, body);
  });
}

const Kernel& Context::user_kernel(const std::string& text, const std::string& name, bool portable) {
  const std::string key = fmt::format("user {} {}\n{}", portable, name, text);
  // lines are counted from the first of the user's text
  return find(key, name, [&] {
    return portable ? assemble_source(driver.name(), driver.defines(index), {}, "#line 1\n" + text) : text;
  });
}

const Kernel& Context::find(const std::string& key, std::string_view name, const std::function<std::string()>& make) {
  // What a thread has used once it finds again without a lock.
  thread_local std::vector<std::unordered_map<std::string, const Kernel*>> known;
  if (known.size() <= static_cast<std::size_t>(number_)) known.resize(static_cast<std::size_t>(number_) + 1);
  const Kernel*& mine = known[static_cast<std::size_t>(number_)][key];
  if (mine) return *mine;
  std::lock_guard lock(mutex_);
  std::unique_ptr<Kernel>& kernel = kernels_[key];
  if (!kernel) {
    const std::string source = make();
    if (tracing("source")) fmt::print(stderr, "{}\n", source);
    auto made = std::make_unique<Kernel>();
    made->name = name;
    made->function = driver.function(index, module_of(made->name, source), made->name);
    kernel = std::move(made);
  }
  mine = kernel.get();
  return *mine;
}

void* Context::module_of(const std::string& name, const std::string& source) {
  const std::string digest = sha256(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", kFormat, driver.name(), info.platform,
                                                info.arch, info.name, info.driver, source));
  void*& module = modules_[digest];
  if (module) return module;
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](const char* how) {
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (tracing("compile"))
      fmt::print(stderr, "{} {} on {}:{} in {:.0f} ms\n", how, name, driver.name(), index, time.count());
  };
  if (const auto binary = load_kernel(digest)) {
    try {
      module = driver.load(index, *binary);
      loaded.fetch_add(1);
      report("load");
      return module;
    } catch (const DeviceError&) {
      // written by a driver that called itself the same: compiled again below, and replaced
    }
  }
  Driver::Compiled made;
  try {
    made = driver.compile(index, source);
  } catch (const DeviceError& error) {
    fail<DeviceError>("kernel {} cannot be compiled for {}:{} ({}): {}", name, driver.name(), index, info.name,
                      error.what());
  }
  module = made.module ? made.module : driver.load(index, made.binary);
  compiled.fetch_add(1);
  report("compile");
  if (!made.binary.empty()) save_kernel(digest, made.binary);
  return module;
}

MatmulProviders& Context::matmul_providers() {
  std::call_once(matmul_once_, [this] { matmul_ = new MatmulProviders(*this); });
  return *matmul_;
}

void Context::launch(const Kernel& kernel, std::int64_t groups, int group_size, const Args& args) {
  if (groups == 0) return;
  driver.launch(index, kernel.function, groups, group_size, args);
  static const bool synchronous = is_on("CATENARY_SYNC");
  if (!synchronous) return;
  try {
    driver.synchronize(index);
  } catch (const DeviceError& error) {
    fail<DeviceError>("kernel {} failed on {}:{}: {}", kernel.name, driver.name(), index, error.what());
  }
}

std::int64_t Context::groups_for(std::int64_t items, int group_size) const {
  return std::min((items + group_size - 1) / group_size, static_cast<std::int64_t>(info.compute_units) * 32);
}

}  // namespace catenary::gpu
