// Measures functions that select elements (argmax of rows and columns, a mask, partition): best of 15 runs in
// microseconds. bench_select

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "catenary/array/elementwise.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/core/parallel.h"

namespace {

using namespace catenary;

template <class F>
double microseconds(F&& f) {
  double best = 1e9;
  for (int run = 0; run < 15; ++run) {
    const auto start = std::chrono::steady_clock::now();
    f().eval();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best * 1e6;
}

Array numbers(const Shape& shape, Dtype dtype) { return (random::random(shape) * 100.0).astype(dtype).eval(); }

}  // namespace

int main() {
  random::seed(0);
  fmt::print("{} threads\n{:10}{:>12}{:>12}{:>12}{:>12}{:>12}\n", num_threads(), "argmax of", "flat 1e6", "(1e3,1e3),1",
             "(1e3,1e3),0", "(1e5,10),1", "(1e5,10),0");
  for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::int8}) {
    const Array flat = numbers({1000000}, dtype), square = numbers({1000, 1000}, dtype),
                few = numbers({100000, 10}, dtype);
    fmt::print("{:10}", dtype_name(dtype));
    for (const double t : {microseconds([&] { return argmax(flat); }), microseconds([&] { return argmax(square, 1); }),
                           microseconds([&] { return argmax(square, 0); }),
                           microseconds([&] { return argmax(few, 1); }), microseconds([&] { return argmax(few, 0); })})
      fmt::print("{:12.1f}", t);
    fmt::print("\n");
  }
  const Array x = numbers({1000000}, Dtype::float32), mask = greater(x, 50).eval();
  fmt::print("x(mask) of 1e6 {:.1f}, partition of 1e6 {:.1f}\n", microseconds([&] { return x(mask); }),
             microseconds([&] { return partition(x, 500000); }));
}
