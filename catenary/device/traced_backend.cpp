#include "catenary/device/traced_backend.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/device/kernel_launcher.h"
#include "catenary/device/matmul_providers.h"
#include "catenary/ops/op_names.h"

namespace catenary {

bool tracing(const char* what) { return environment::lists("CATENARY_TRACE", what); }

namespace {

/// How often each operation ran on each device; printed when the process ends.
class Counts {
 public:
  static Counts& instance() {
    static Counts counts;
    return counts;
  }
  void add(const char* backend, int device, const std::string& name) {
    std::lock_guard lock(mutex_);
    ++counts_[{fmt::format("{}{}", backend, std::strcmp(backend, "cpu") == 0 ? "" : fmt::format(":{}", device)), name}];
  }
  ~Counts() {
    const std::string path = environment::text("CATENARY_TRACE_FILE");
    std::FILE* out = path.empty() ? nullptr : std::fopen(path.c_str(), "a");
    for (const auto& [key, count] : counts_)
      fmt::print(out ? out : stderr, "op {} {} {}\n", key.first, key.second, count);
    if (out) std::fclose(out);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::int64_t> counts_;
};

std::int64_t bytes_of(const View& view) { return view.size() * static_cast<std::int64_t>(itemsize(view.dtype)); }

/// Bytes that a program reads and writes: an axis of stride 0 counts once.
std::int64_t bytes_of(const ops::Program& program) {
  std::int64_t total = 0;
  const auto add = [&](const ops::Access& access) {
    std::int64_t elements = 1;
    for (int axis = 0; axis < program.shape.size(); ++axis)
      if (access.strides[axis] != 0) elements *= program.shape[axis];
    total += elements * static_cast<std::int64_t>(itemsize(access.dtype));
  };
  for (const ops::Access& load : program.loads) add(load);
  for (const ops::Store& store : program.stores) add(store.to);
  return total;
}

class TracedBackend final : public Backend, public KernelLauncher, public MatmulReporter {
 public:
  explicit TracedBackend(Backend& inner)
      : inner_(inner),
        launcher_(dynamic_cast<KernelLauncher*>(&inner)),
        kernels_(tracing("kernels")),
        ops_(tracing("ops")) {
    if (ops_) Counts::instance();  // made early, so that it outlives what counts
  }

  const char* name() const override { return inner_.name(); }
  int device_count() const override { return inner_.device_count(); }
  DeviceInfo info(int device) const override { return inner_.info(device); }
  std::string reason() const override { return inner_.reason(); }
  MemoryPool& pool(int device) override { return inner_.pool(device); }
  void copy_from_host(int device, void* handle, std::size_t offset, const void* from, std::size_t bytes) override {
    inner_.copy_from_host(device, handle, offset, from, bytes);
  }
  void copy_to_host(int device, void* to, void* handle, std::size_t offset, std::size_t bytes) override {
    inner_.copy_to_host(device, to, handle, offset, bytes);
  }
  bool copy_between(int to_device, void* to, std::size_t to_offset, int from_device, void* from,
                    std::size_t from_offset, std::size_t bytes) override {
    return inner_.copy_between(to_device, to, to_offset, from_device, from, from_offset, bytes);
  }
  void synchronize(int device) override { inner_.synchronize(device); }
  DeviceStreams* streams() override { return inner_.streams(); }
  bool host_addressable() const override { return inner_.host_addressable(); }

  void run(int device, ops::Program& program) override {
    count_program(device, program);
    const Shape shape = program.shape;
    const std::int64_t bytes = bytes_of(program);
    work(device, "elementwise", shape, bytes, [&] { inner_.run(device, program); });
  }
  void reduce(int device, ops::Program& program, const ReduceSpec& spec) override {
    count_program(device, program);
    const char* name = ops::info(spec.op).name;
    count(device, fmt::format("reduce_{}", name));
    const Shape shape = program.shape;
    const std::int64_t bytes = bytes_of(program) + bytes_of(spec.out);
    work(device, name, shape, bytes, [&] { inner_.reduce(device, program, spec); });
  }
  void run_segments(int device, const ops::Program& program, const std::vector<Segment>& segments) override {
    count_program(device, program);
    std::int64_t elements = 0, element_bytes = 0;
    for (const Segment& segment : segments) elements += segment.size;
    for (const ops::Access& load : program.loads) element_bytes += static_cast<std::int64_t>(itemsize(load.dtype));
    for (const ops::Store& store : program.stores) element_bytes += static_cast<std::int64_t>(itemsize(store.to.dtype));
    work(device, "segments", {elements}, elements * element_bytes,
         [&] { inner_.run_segments(device, program, segments); });
  }
  void arg_reduce(int device, bool largest, const View& x, int axis, const View& out) override {
    primitive(device, largest ? "argmax" : "argmin", x, bytes_of(x) + bytes_of(out),
              [&] { inner_.arg_reduce(device, largest, x, axis, out); });
  }
  void copy(int device, const View& to, const View& from) override {
    primitive(device, "copy", to, bytes_of(to) + bytes_of(from), [&] { inner_.copy(device, to, from); });
  }
  void take(int device, const View& x, const View& indices, const View& out, IndexMode mode) override {
    primitive(device, "take", out, 2 * bytes_of(out) + bytes_of(indices),
              [&] { inner_.take(device, x, indices, out, mode); });
  }
  void take_along_axis(int device, const View& x, const View& indices, const View& out, int axis) override {
    primitive(device, "take_along_axis", out, 2 * bytes_of(out) + bytes_of(indices),
              [&] { inner_.take_along_axis(device, x, indices, out, axis); });
  }
  void gather(int device, const View& x, const std::vector<View>& indices, const View& out) override {
    primitive(device, "gather", out, 2 * bytes_of(out), [&] { inner_.gather(device, x, indices, out); });
  }
  void scatter(int device, const View& x, const std::vector<View>& indices, const View& values,
               ScatterMode mode) override {
    constexpr const char* names[] = {"scatter_assign", "scatter_add", "scatter_max", "scatter_min"};
    primitive(device, names[static_cast<int>(mode)], values, 2 * bytes_of(values),
              [&] { inner_.scatter(device, x, indices, values, mode); });
  }
  std::vector<std::int64_t> nonzero(int device, const View& mask) override {
    std::vector<std::int64_t> found;
    primitive(device, "nonzero", mask, bytes_of(mask), [&] { found = inner_.nonzero(device, mask); });
    return found;
  }
  void sort(int device, const View& rows, const View& out) override {
    primitive(device, "sort", rows, 2 * bytes_of(rows), [&] { inner_.sort(device, rows, out); });
  }
  void argsort(int device, const View& rows, const View& indices) override {
    primitive(device, "argsort", rows, bytes_of(rows) + bytes_of(indices),
              [&] { inner_.argsort(device, rows, indices); });
  }
  void select(int device, Selection what, bool descending, const View& rows, const std::vector<std::int64_t>& kth,
              const View& out) override {
    constexpr const char* names[] = {"select", "partition", "argpartition"};
    primitive(device, names[static_cast<int>(what)], rows, bytes_of(rows) + bytes_of(out),
              [&] { inner_.select(device, what, descending, rows, kth, out); });
  }
  void scan(int device, Scan op, const View& x, int axis, const View& out) override {
    primitive(device, op == Scan::sum ? "scan_sum" : "scan_prod", x, bytes_of(x) + bytes_of(out),
              [&] { inner_.scan(device, op, x, axis, out); });
  }
  void searchsorted(int device, const View& sorted, const View& values, bool right, const View& out) override {
    primitive(device, "searchsorted", values, bytes_of(values) + bytes_of(out),
              [&] { inner_.searchsorted(device, sorted, values, right, out); });
  }
  void matmul(int device, const View& a, const View& b, const View& c, const MatmulEpilogue& epilogue) override {
    primitive(device, "matmul", c, bytes_of(a) + bytes_of(b) + bytes_of(c),
              [&] { inner_.matmul(device, a, b, c, epilogue); });
  }
  void linalg(int device, Linalg op, const View& a, const View& b, const View& out, std::vector<bool>& ok) override {
    primitive(device, "linalg", a, bytes_of(a) + bytes_of(out), [&] { inner_.linalg(device, op, a, b, out, ok); });
  }
  void random_bits(int device, std::uint64_t seed, std::uint64_t call, const View& out) override {
    primitive(device, "random_bits", out, bytes_of(out), [&] { inner_.random_bits(device, seed, call, out); });
  }

  const void* kernel(int device, const UserKernelText& text) override { return launcher_->kernel(device, text); }
  void launch(int device, const void* kernel, std::int64_t groups, int group_size,
              std::span<const KernelArgument> arguments) override {
    count(device, "user_kernel");
    work(device, "user_kernel", {groups, group_size}, 0,
         [&] { launcher_->launch(device, kernel, groups, group_size, arguments); });
  }
  int group_size(int device) const override { return launcher_->group_size(device); }
  std::int64_t groups_for(int device, std::int64_t items) const override {
    return launcher_->groups_for(device, items);
  }
  std::vector<MatmulProviderInfo> matmul_providers(int device) override { return matmul_providers_of(inner_, device); }
  bool has_launcher() const override { return launcher_; }

 private:
  void count(int device, const std::string& name) {
    if (ops_) Counts::instance().add(inner_.name(), device, name);
  }
  void count_program(int device, const ops::Program& program) {
    if (!ops_) return;
    for (const ops::Node& node : program.nodes)
      if (node.op != ops::Op::load && node.op != ops::Op::constant) count(device, ops::info(node.op).name);
  }
  template <class F>
  void primitive(int device, const char* name, const View& view, std::int64_t bytes, F&& f) {
    count(device, name);
    work(device, name, view.shape, bytes, f);
  }
  template <class F>
  void work(int device, const char* name, const Shape& shape, std::int64_t bytes, F&& f) {
    const char* reason = std::exchange(trace_reason, "");
    if (!kernels_) return f();
    const auto start = std::chrono::steady_clock::now();
    f();
    inner_.synchronize(device);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    fmt::print(stderr, "kernel {}:{} {} {} {} bytes {:.1f} us{}{}\n", inner_.name(), device, name, shape, bytes,
               time.count(), *reason ? ": " : "", reason);
  }

  Backend& inner_;
  KernelLauncher* const launcher_;
  const bool kernels_, ops_;
};

}  // namespace

void trace_host(const Device& device, const char* what) {
  if (device.is_cpu() || (!tracing("kernels") && !tracing("ops"))) return;
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard lock(mutex);
  if (const std::string line = fmt::format("host {} {}\n", device.name(), what); said.insert(line).second)
    fmt::print(stderr, "{}", line);
}

Backend& traced(Backend& backend) {
  if (!tracing("kernels") && !tracing("ops")) return backend;
  return *new TracedBackend(backend);
}

}  // namespace catenary
