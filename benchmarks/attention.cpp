// Measures causal attention, forward alone and with backward: minimum and median time in milliseconds, and the peak
// memory in megabytes beyond the operands, of the process and of arrays alone. bench_attention [batch heads tokens size
// [runs]]. CATENARY_DTYPE sets the dtype. peers/torch_attention.py measures PyTorch.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "catenary/catenary.h"
#include "catenary/core/parallel.h"
#include "catenary/device/pool.h"

namespace {

/// Returns a value of /proc/self/status in megabytes.
double megabytes_of(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kilobytes = 0; word == key + ":" && status >> kilobytes) return kilobytes / 1024;
  return 0;
}

struct Peak {
  double process, arrays;
};

/// Measures the peak memory of a run after earlier results were freed. Resets the kernel's own peak counter, because
/// getrusage's value includes a parent process.
template <class F>
Peak peak_of(F&& compute) {
  catenary::memory_pool().free_all_blocks();
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  const double before = megabytes_of("VmRSS");
  std::vector<catenary::MemoryEvent> events;
  catenary::watch_memory(&events);
  compute();
  catenary::watch_memory(nullptr);
  double used = 0, most = 0;
  for (const catenary::MemoryEvent& event : events) {
    if (event.kind == catenary::MemoryEvent::allocated) continue;
    used += static_cast<double>(event.block_bytes) * (event.kind == catenary::MemoryEvent::taken ? 1 : -1);
    most = std::max(most, used);
  }
  return {megabytes_of("VmHWM") - before, most / (1 << 20)};
}

template <class F>
void report(const char* name, long runs, F&& compute) {
  const Peak peak = peak_of(compute);
  std::vector<double> times;
  for (long run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    compute();
    times.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  fmt::print("{:8} {:8.2f} {:8.2f} {:8.1f} {:8.1f}\n", name, times.front(), times[times.size() / 2], peak.process,
             peak.arrays);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace catenary;
  const auto number = [&](int i, long otherwise) { return argc > i ? std::atol(argv[i]) : otherwise; };
  const Shape shape{number(1, 1), number(2, 8), number(3, 4096), number(4, 64)};
  const long runs = std::max(1L, number(5, 7));
  random::seed(0);
  const auto normal = [](const Shape& of) {
    return random::normal(0, 1, of, {.dtype = Dtype::float32}).astype(get_dtype()).eval();
  };
  const auto forward = [](const Array& q, const Array& k, const Array& v) {
    const auto scope = no_backprop_mode();
    functions::scaled_dot_product_attention(Variable(q), Variable(k), Variable(v), {.causal = true}).array().eval();
  };
  const auto backward = [](const Array& q, const Array& k, const Array& v, const Array& seed) {
    const Variable a(q), b(k), c(v);
    Variable y = functions::scaled_dot_product_attention(a, b, c, {.causal = true});
    y.set_grad(seed);
    y.backward();
    a.grad().eval(), b.grad().eval(), c.grad().eval();
  };
  // warm-up: starts threads and other one-time work
  const Array little = normal({1, 1, 64, shape[3]});
  forward(little, little, little), backward(little, little, little, little);
  const Array q = normal(shape), k = normal(shape), v = normal(shape), seed = normal(shape);
  fmt::print("{} threads, {}; ms, the median, MB of the process, of arrays\n", num_threads(), dtype_name(get_dtype()));
  report("forward", runs, [&] { forward(q, k, v); });
  report("backward", runs, [&] { backward(q, k, v, seed); });
}
