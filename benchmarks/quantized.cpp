// Measures weights [rows, columns] times vectors, in float32 and each kind of quantised blocks: minimum and median
// milliseconds of 60 runs. bench_quantized [rows columns [vectors]]

#include "catenary/array/quantized.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/core/parallel.h"

namespace {

using namespace catenary;

template <class F>
void report(const char* name, double megabytes, F&& product) {
  std::vector<double> times;
  for (int run = 0; run < 60; ++run) {
    const auto start = std::chrono::steady_clock::now();
    product().eval();
    times.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  fmt::print("{:8} {:8.1f} MB {:8.3f} {:8.3f}\n", name, megabytes, times.front(), times[times.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, long otherwise) { return argc > i ? std::atol(argv[i]) : otherwise; };
  const long rows = number(1, 4096), columns = number(2, 4096), vectors = number(3, 1);
  random::seed(0);
  const random::RandomOptions options{.dtype = Dtype::float32};
  const Array w = random::normal(0, 1, Shape{rows, columns}, options).eval(),
              x = random::normal(0, 1, Shape{vectors, columns}, options).eval();
  fmt::print("{} threads\n", num_threads());
  const Array transposed = w.transpose();
  report("float32", static_cast<double>(w.nbytes()) / 1e6, [&] { return matmul(x, transposed); });
  for (const Quantization kind : kAllQuantizations) {
    const QuantizedArray q = quantize(w, kind);
    report(quantization_info(q.kind()).name, static_cast<double>(q.nbytes()) / 1e6, [&] { return linear(x, q); });
  }
}
