// A stand-in for libcufft.so, and with SIM_HIP for libhipfft.so: equal functions under two prefixes. A plan is a
// recursive transform in float64, which the device's stream runs on the host. Like the real ones, it requires that
// rows, and the work area if a plan needs one, lie in the device's memory.
//
// SIMGPU_FFT (a list) makes a call fail: create, plan, compute, or later (the third and every later computation).

#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

#include "tests/simgpu/driver_function.h"

#define EXPORT extern "C" __attribute__((visibility("default"))) int
#ifdef SIM_HIP
#  define FFT(name) hipfft##name
using Handle = void*;
constexpr int kVersion = 10018;
#else
#  define FFT(name) cufft##name
using Handle = int;
constexpr int kVersion = 12001;
#endif

namespace {

constexpr int kSuccess = 0, kInvalidPlan = 1, kInvalidType = 3, kInvalidValue = 4, kInternal = 5, kExecFailed = 6;
constexpr std::size_t kWorkArea = 1024;

struct Plan {
  int n = 0, in_step = 0, in_row = 0, out_step = 0, out_row = 0, type = 0, count = 0;
  bool own_memory = true;
  void *memory = nullptr, *stream = nullptr;
};

std::mutex mutex;
std::map<Handle, std::unique_ptr<Plan>>& plans() {
  static auto* const all = new std::map<Handle, std::unique_ptr<Plan>>;
  return *all;
}
Plan* plan_of(Handle handle) {
  std::lock_guard lock(mutex);
  const auto found = plans().find(handle);
  return found == plans().end() ? nullptr : found->second.get();
}
bool fault(const char* what) {
  const char* list = std::getenv("SIMGPU_FFT");
  return list && std::strstr(list, what);
}

bool is_allocated(const void* p, std::size_t bytes) {
  static auto* const ask = simgpu::driver_function<int(const void*, std::size_t)>("simgpu_is_allocated");
  return ask(p, bytes);
}

struct Work {
  Plan plan;
  void *from, *to;
  int sign;
};

using Complex = std::complex<double>;

// Writes the transform of x[0], x[step], …, x[(n - 1) * step] to y. `roots` has the n * step roots of unity of the
// whole transform. A prime n is a direct sum.
void transform(const Complex* x, std::size_t n, std::size_t step, const std::vector<Complex>& roots, Complex* y) {
  std::size_t parts = 2;
  while (n % parts != 0 && parts * parts <= n) ++parts;
  if (n % parts != 0 || n == 1) parts = n;
  const std::size_t size = n / parts;  // of each part: every parts-th number
  std::vector<Complex> of_part(n);
  for (std::size_t p = 0; p < parts; ++p) {
    if (size == 1)
      of_part[p] = x[p * step];
    else
      transform(x + p * step, size, step * parts, roots, of_part.data() + p * size);
  }
  for (std::size_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (std::size_t p = 0; p < parts; ++p) sum += of_part[p * size + k % size] * roots[p * k % n * step];
    y[k] = sum;
  }
}

template <class T>
void run(void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  const Plan& p = work->plan;
  const auto* from = static_cast<const std::complex<T>*>(work->from);
  auto* to = static_cast<std::complex<T>*>(work->to);
  const auto at = [](int row, int distance, int i, int step) {
    return std::int64_t{row} * distance + std::int64_t{i} * step;
  };
  std::vector<Complex> row(static_cast<std::size_t>(p.n)), roots(row.size()), result(row.size());
  for (int k = 0; k < p.n; ++k)
    roots[static_cast<std::size_t>(k)] =
        Complex(std::polar(1.0L, work->sign * 2 * std::numbers::pi_v<long double> * k / p.n));
  for (int r = 0; r < p.count; ++r) {
    for (int i = 0; i < p.n; ++i) row[static_cast<std::size_t>(i)] = from[at(r, p.in_row, i, p.in_step)];
    transform(row.data(), row.size(), 1, roots, result.data());
    for (int k = 0; k < p.n; ++k)
      to[at(r, p.out_row, k, p.out_step)] = std::complex<T>(result[static_cast<std::size_t>(k)]);
  }
}

template <class T>
int execute(Handle handle, void* from, void* to, int sign, int type) {
  const Plan* plan = plan_of(handle);
  if (!plan || plan->type != type) return kInvalidPlan;
  static std::atomic<int> count{0};
  if (fault("compute") || (++count > 2 && fault("later"))) return kExecFailed;
  const auto reach = [&](int row, int step) {
    return (std::size_t{1} + static_cast<std::size_t>(plan->count - 1) * static_cast<std::size_t>(row) +
            static_cast<std::size_t>(plan->n - 1) * static_cast<std::size_t>(step)) *
           sizeof(std::complex<T>);
  };
  if (plan->own_memory || !is_allocated(plan->memory, kWorkArea)) return kInvalidValue;
  if (!is_allocated(from, reach(plan->in_row, plan->in_step)) ||
      !is_allocated(to, reach(plan->out_row, plan->out_step)))
    return kInvalidValue;
  static auto* const submit = simgpu::driver_function<int(void*, void (*)(void*), void*)>("simgpu_submit");
  return submit(plan->stream, run<T>, new Work{*plan, from, to, sign}) == 0 ? kSuccess : kExecFailed;
}

}  // namespace

EXPORT FFT(GetVersion)(int* version) {
  *version = kVersion;
  return kSuccess;
}
EXPORT FFT(Create)(Handle* handle) {
  if (fault("create")) return kInternal;
  std::lock_guard lock(mutex);
  static std::intptr_t last = 0;
  ++last;
#ifdef SIM_HIP
  *handle = reinterpret_cast<void*>(last);
#else
  *handle = static_cast<int>(last);
#endif
  plans()[*handle] = std::make_unique<Plan>();
  return kSuccess;
}
EXPORT FFT(Destroy)(Handle handle) {
  std::lock_guard lock(mutex);
  return plans().erase(handle) ? kSuccess : kInvalidPlan;
}
EXPORT FFT(SetAutoAllocation)(Handle handle, int on) {
  if (!plan_of(handle)) return kInvalidPlan;
  plan_of(handle)->own_memory = on != 0;
  return kSuccess;
}
EXPORT FFT(MakePlanMany)(Handle handle, int ndim, int* n, int* in_shape, int in_step, int in_row, int* out_shape,
                         int out_step, int out_row, int type, int count, std::size_t* bytes) {
  Plan* plan = plan_of(handle);
  if (!plan) return kInvalidPlan;
  if (fault("plan")) return kInternal;
  if (type != 0x29 && type != 0x69) return kInvalidType;
  if (ndim != 1 || *n < 1 || count < 1 || !in_shape || !out_shape) return kInvalidValue;
  *plan = {*n, in_step, in_row, out_step, out_row, type, count, plan->own_memory, nullptr, plan->stream};
  *bytes = kWorkArea;
  return kSuccess;
}
EXPORT FFT(SetWorkArea)(Handle handle, void* memory) {
  if (!plan_of(handle)) return kInvalidPlan;
  plan_of(handle)->memory = memory;
  return kSuccess;
}
EXPORT FFT(SetStream)(Handle handle, void* stream) {
  if (!plan_of(handle)) return kInvalidPlan;
  plan_of(handle)->stream = stream;
  return kSuccess;
}
EXPORT FFT(ExecC2C)(Handle handle, void* from, void* to, int sign) {
  return execute<float>(handle, from, to, sign, 0x29);
}
EXPORT FFT(ExecZ2Z)(Handle handle, void* from, void* to, int sign) {
  return execute<double>(handle, from, to, sign, 0x69);
}
