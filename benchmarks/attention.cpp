// Milliseconds (the least and the median of some runs) of causal attention, forward alone and with backward.
// bench_attention [batch heads tokens size [runs]]; CATENARY_DTYPE says of what. Beside it: peers/torch_attention.py.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "catenary/catenary.h"
#include "catenary/core/parallel.h"

namespace {

template <class F>
void report(const char* name, long runs, F&& compute) {
  std::vector<double> times;
  for (long run = 0; run <= runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    compute();
    // the first makes what is made once
    if (run > 0) times.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  fmt::print("{:8} {:8.2f} {:8.2f}\n", name, times.front(), times[times.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace catenary;
  const auto number = [&](int i, long otherwise) { return argc > i ? std::atol(argv[i]) : otherwise; };
  const Shape shape{number(1, 1), number(2, 8), number(3, 4096), number(4, 64)};
  const long runs = std::max(1L, number(5, 7));
  random::seed(0);
  const auto normal = [&] { return random::normal(0, 1, shape, {.dtype = Dtype::float32}).astype(get_dtype()).eval(); };
  const Array q = normal(), k = normal(), v = normal(), seed = normal();
  fmt::print("{} threads, {}\n", num_threads(), dtype_name(get_dtype()));
  report("forward", runs, [&] {
    const auto scope = no_backprop_mode();
    functions::scaled_dot_product_attention(Variable(q), Variable(k), Variable(v), {.causal = true}).array().eval();
  });
  report("backward", runs, [&] {
    const Variable a(q), b(k), c(v);
    Variable y = functions::scaled_dot_product_attention(a, b, c, {.causal = true});
    y.set_grad(seed);
    y.backward();
    a.grad().eval(), b.grad().eval(), c.grad().eval();
  });
}
