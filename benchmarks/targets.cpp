// The rows of docs/performance.md that are about arrays and autograd: medians of a few runs each, one line a row.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "catenary/catenary.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

/// Median of n runs, in milliseconds.
template <class Work>
double median(int n, Work work) {
  std::vector<double> times;
  for (int i = 0; i < n; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

ct::Array normal(const ct::Shape& shape) {
  return ct::random::standard_normal(shape, {.dtype = ct::Dtype::float32}).eval();
}

void arrays() {
  const ct::Array x = normal({16777216});
  fmt::print("E chain of 16 Mi            {:8.1f} ms\n", median(9, [&] {
               // evaluated in a statement of its own: within one, the intermediate values are still held, and would be
               // stored
               const ct::Array y = ct::relu(x * 1.5f + 0.5f) * ct::sigmoid(x) + ct::tanh(x);
               y.eval();
             }));
  for (const auto& [m, n, k] :
       {std::array{1445, 1012, 1076}, std::array{2048, 2048, 2048}, std::array{100, 1000, 784}}) {
    const ct::Array a = normal({m, k}), b = normal({k, n});
    const double ms = median(15, [&] { ct::matmul(a, b).eval(); });
    fmt::print("F matmul {:4}x{:4}x{:4}      {:8.0f} GFLOP/s\n", m, n, k, 2e-6 * m * n * k / ms);
  }
  const ct::Array keys = normal({10000000});
  fmt::print("H sort of 10 M              {:8.0f} ms\n", median(3, [&] { ct::sort(keys).eval(); }));
  fmt::print("H argsort of 10 M           {:8.0f} ms\n", median(3, [&] { ct::argsort(keys).eval(); }));
  const ct::Array square = normal({4096, 4096});
  fmt::print("H sum of 4096^2 over axis 0 {:8.2f} ms\n", median(15, [&] { ct::sum(square, 0).eval(); }));
  fmt::print("H sum of 4096^2 over axis 1 {:8.2f} ms\n", median(15, [&] { ct::sum(square, 1).eval(); }));
  fmt::print("H transposed copy of 4096^2 {:8.1f} ms\n", median(9, [&] { square.T().copy().eval(); }));
  const ct::Array table = normal({100000, 64}), rows = ct::random::randint(0, 100000, {1000000}).eval();
  fmt::print("H gather of 1 M rows of 64  {:8.1f} ms\n", median(9, [&] { ct::take(table, rows, 0).eval(); }));
}

void autograd() {
  constexpr int kRepeats = 10000;
  const ct::Variable a(ct::ones({10}, ct::Dtype::float32)), b(ct::ones({10}, ct::Dtype::float32));
  const double deferred = median(5, [&] {
    for (int i = 0; i < kRepeats; ++i) ct::Variable c = a + b;
  });
  const double computed = median(5, [&] {
    for (int i = 0; i < kRepeats; ++i) (a + b).array().eval();
  });
  fmt::print("G add of 10, deferred       {:8.2f} us\nG add of 10, each computed  {:8.2f} us\n",
             deferred * 1e3 / kRepeats, computed * 1e3 / kRepeats);
  std::vector<L::Linear> layers;
  for (int i = 0; i < 10; ++i) layers.emplace_back(10, 10);
  const ct::Variable x(normal({10, 10}));
  const double ms = median(7, [&] {
    for (int i = 0; i < 100; ++i) {
      ct::Variable h = x;
      for (const L::Linear& layer : layers) h = F::tanh(layer(h));
      for (const L::Linear& layer : layers) layer.cleargrads();
      F::sum(h).backward();
      for (const L::Linear& layer : layers) layer.W.grad().eval();
    }
  });
  fmt::print("G ten layers of 10x10       {:8.0f} us\n", ms * 10);
}

}  // namespace

int main() {
  ct::random::seed(0);
  arrays();
  autograd();
  return 0;
}
