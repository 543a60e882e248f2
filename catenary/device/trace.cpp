#include "catenary/device/trace.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/device/backend.h"
#include "catenary/device/kernel_launcher.h"
#include "catenary/ops/op_names.h"

namespace catenary {

bool tracing(const char* what) { return environment::lists("CATENARY_TRACE", what); }

namespace {

/// What is traced, and how often each operation ran on each device; that is printed when the process ends.
class Trace {
 public:
  static Trace& instance() {
    static Trace* trace = new Trace;  // for ever: what ends later may still compute
    return *trace;
  }
  const bool kernels = tracing("kernels"), ops = tracing("ops"), any = kernels || ops;

  void count(const Backend& backend, int device, const std::string& name) {
    if (!ops) return;
    const std::string number = std::strcmp(backend.name(), "cpu") == 0 ? "" : fmt::format(":{}", device);
    std::lock_guard lock(mutex_);
    ++counts_[{backend.name() + number, name}];
  }
  template <class F>
  void work(Backend& backend, int device, const Work& work, F&& f) const {
    const char* reason = std::exchange(trace_reason, "");
    if (!kernels) return f();
    const auto start = std::chrono::steady_clock::now();
    f();
    backend.synchronize(device);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    fmt::print(stderr, "kernel {}:{} {} {} {} bytes {:.1f} us{}{}\n", backend.name(), device, work.name, work.shape,
               work.bytes, time.count(), *reason ? ": " : "", reason);
  }

 private:
  Trace() {
    if (ops) std::atexit([] { instance().print(); });
  }
  void print() {
    std::lock_guard lock(mutex_);
    const std::string path = environment::text("CATENARY_TRACE_FILE");
    std::FILE* out = path.empty() ? nullptr : std::fopen(path.c_str(), "a");
    for (const auto& [key, count] : counts_)
      fmt::print(out ? out : stderr, "op {} {} {}\n", key.first, key.second, count);
    if (out) std::fclose(out);
  }

  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::int64_t> counts_;
};

/// What is counted: the operations of a program, a reduction, a primitive's name.
template <class P>
void count(const Backend& backend, int device, const P& primitive, const char* name) {
  Trace& trace = Trace::instance();
  if constexpr (requires { primitive.program; }) {
    for (const ops::Node& node : primitive.program.nodes)
      if (node.op != ops::Op::load && node.op != ops::Op::constant)
        trace.count(backend, device, ops::info(node.op).name);
    if constexpr (std::is_same_v<P, primitives::Reduce>) trace.count(backend, device, fmt::format("reduce_{}", name));
  } else {
    trace.count(backend, device, name);
  }
}

}  // namespace

Backend::Backend() { Trace::instance(); }  // made early, so that it prints late

void Backend::compute(int device, const Primitive& primitive) {
  std::visit(
      [](const auto& p) {
        if constexpr (requires { p.check(); }) p.check();
      },
      primitive);
  Trace& trace = Trace::instance();
  if (!trace.any) return do_compute(device, primitive);
  const Work work = std::visit([](const auto& p) { return p.work(); }, primitive);
  if (trace.ops) std::visit([&](const auto& p) { count(*this, device, p, work.name); }, primitive);
  trace.work(*this, device, work, [&] { do_compute(device, primitive); });
}

void KernelLauncher::launch(const Device& device, const void* kernel, std::int64_t groups, int group_size,
                            std::span<const KernelArgument> arguments) {
  Trace& trace = Trace::instance();
  const auto run = [&] { do_launch(device.index(), kernel, groups, group_size, arguments); };
  if (!trace.any) return run();
  trace.count(device.backend(), device.index(), "user_kernel");
  trace.work(device.backend(), device.index(), {"user_kernel", {groups, group_size}, 0}, run);
}

void trace_host(const Device& device, const char* what) {
  if (device.backend().host_addressable() || (!tracing("kernels") && !tracing("ops"))) return;
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard lock(mutex);
  if (const std::string line = fmt::format("host {} {}\n", device.name(), what); said.insert(line).second)
    fmt::print(stderr, "{}", line);
}

}  // namespace catenary
