#include "catenary/device/trace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/device/backend.h"
#include "catenary/device/kernel_launcher.h"
#include "catenary/device/trace_work.h"
#include "catenary/ops/op_names.h"

namespace catenary {

bool tracing(const char* what) { return environment::lists("CATENARY_TRACE", what); }

namespace {

/// Returns the name of operations that ran as one piece of work, shortened if there are many.
std::string together(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  if (names.empty()) return "copy";  // a program that only stores loaded values
  if (names.size() <= kShown + 1) return fmt::format("{}", fmt::join(names, "+"));
  return fmt::format("{}+…({})", fmt::join(names.begin(), names.begin() + kShown, "+"), names.size());
}

using Clock = std::chrono::steady_clock;

/// Collects traced work. Counts and times of operations are printed when the process ends.
class Trace {
 public:
  static Trace& instance() {
    static Trace* trace = new Trace;  // never destroyed, because later destructors may still compute
    return *trace;
  }
  const bool kernels = tracing("kernels"), ops = tracing("ops"), counts = tracing("counts"),
             any = kernels || ops || counts;

  void count(const Backend& backend, int device, const std::string& name) {
    if (!counts) return;
    std::lock_guard lock(mutex_);
    ++counted_[{device_name(backend, device), name}];
  }
  /// Runs a piece of work that consists of operations with these names, and measures its time if it is traced.
  template <class F>
  void work(Backend& backend, int device, const Work& work, const std::vector<std::string>& names, F&& f) {
    const char* reason = std::exchange(trace_reason, "");
    if (!kernels && !ops) return f();
    const Clock::time_point start = Clock::now();
    f();
    backend.synchronize(device);
    const Clock::duration time = Clock::now() - start;
    if (kernels)
      fmt::print(stderr, "kernel {}:{} {} {} {} {} bytes {:.1f} us{}{}\n", backend.name(), device, work.name,
                 work.shape, work.dtypes.str(), work.bytes, std::chrono::duration<double, std::micro>(time).count(),
                 *reason ? ": " : "", reason);
    if (!ops) return;
    std::lock_guard lock(mutex_);
    if (timed_.empty()) first_ = start;
    Timed& timed = timed_[{device_name(backend, device), together(names)}];
    ++timed.count;
    timed.time += time;
  }

 private:
  struct Timed {
    std::int64_t count = 0;
    Clock::duration time{};
  };
  using Key = std::pair<std::string, std::string>;  // device, name

  Trace() {
    if (ops || counts) std::atexit([] { instance().print(); });
  }
  static std::string device_name(const Backend& backend, int device) {
    return std::strcmp(backend.name(), "cpu") == 0 ? "cpu" : fmt::format("{}:{}", backend.name(), device);
  }
  void print() {
    std::lock_guard lock(mutex_);
    const std::string path = environment::text("CATENARY_TRACE_FILE");
    std::FILE* const file = path.empty() ? nullptr : std::fopen(path.c_str(), "a");
    std::FILE* const out = file ? file : stderr;
    for (const auto& [key, count] : counted_) fmt::print(out, "op {} {} {}\n", key.first, key.second, count);
    if (!timed_.empty()) print_times(out);
    if (file) std::fclose(file);
  }
  void print_times(std::FILE* out) const {
    const auto ms = [](Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); };
    std::vector<std::pair<Key, Timed>> sorted(timed_.begin(), timed_.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    Timed total;
    for (const auto& [key, timed] : sorted) total.count += timed.count, total.time += timed.time;
    const auto line = [&](const std::string& device, const std::string& name, const Timed& timed,
                          const std::string& rest) {
      fmt::print(out, "op {:<9} {:<40} {:>9} {:>11.3f} ms {:>6.2f}%{}\n", device, name, timed.count, ms(timed.time),
                 total.time.count() ? 100 * ms(timed.time) / ms(total.time) : 0, rest);
    };
    for (const auto& [key, timed] : sorted) line(key.first, key.second, timed, "");
    line("all", "total", total, fmt::format(" ({:.3f} ms since the first)", ms(Clock::now() - first_)));
  }

  std::mutex mutex_;
  std::map<Key, std::int64_t> counted_;
  std::map<Key, Timed> timed_;
  Clock::time_point first_;
};

template <class P>
concept HasProgram = requires(const P& primitive) {
  primitive.program;
};

/// Returns the names of the operations of a program.
std::vector<std::string> operations(const ops::Program& program) {
  std::vector<std::string> names;
  for (const ops::Node& node : program.nodes)
    if (node.op != ops::Op::load && node.op != ops::Op::constant) names.emplace_back(ops::info(node.op).name);
  return names;
}

/// Returns the counted names: the operations of a program, a reduction, or a primitive's name.
template <class P>
std::vector<std::string> counted(const P& primitive, const char* name) {
  if constexpr (HasProgram<P>) {
    std::vector<std::string> names = operations(primitive.program);
    if constexpr (std::is_same_v<P, primitives::Reduce>) names.push_back(fmt::format("reduce_{}", name));
    return names;
  } else {
    return {name};
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
  // before it runs, because running may change the program
  const std::vector<std::string> names = std::visit([&](const auto& p) { return counted(p, work.name); }, primitive);
  for (const std::string& name : names) trace.count(*this, device, name);
  trace.work(*this, device, work, names, [&] { do_compute(device, primitive); });
}

void KernelLauncher::launch(const Device& device, const void* kernel, const LaunchShape& shape,
                            std::span<const KernelArgument> arguments) {
  Trace& trace = Trace::instance();
  const auto run = [&] { do_launch(device.index(), kernel, shape, arguments); };
  if (!trace.any) return run();
  trace.count(device.backend(), device.index(), "user_kernel");
  trace.work(device.backend(), device.index(), {"user_kernel", {shape.group_count(), shape.items_of_group()}, 0},
             {"user_kernel"}, run);
}

void trace_work(const Device& device, const Work& work, const std::function<void()>& run) {
  Trace& trace = Trace::instance();
  if (!trace.any) return run();
  trace.work(device.backend(), device.index(), work, {work.name}, run);
}

void trace_host(const Device& device, const char* what) {
  if (device.backend().host_addressable() || (!tracing("kernels") && !tracing("ops") && !tracing("counts"))) return;
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard lock(mutex);
  if (const std::string line = fmt::format("host {} {}\n", device.name(), what); said.insert(line).second)
    fmt::print(stderr, "{}", line);
}

}  // namespace catenary
