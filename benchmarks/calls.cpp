// Measures the overhead of calls that only record an operation: the C++ counterpart of benchmarks/python_calls.py.

#include <benchmark/benchmark.h>

#include "catenary/catenary.h"

namespace ct = catenary;

static void Recorded(benchmark::State& state) {
  const ct::Array a = ct::ones({10}, ct::Dtype::float32).eval(), b = a.copy().eval();
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(Recorded);

static void Computed(benchmark::State& state) {
  const ct::Array a = ct::ones({10}, ct::Dtype::float32).eval(), b = a.copy().eval();
  for (auto _ : state) (a + b).eval();
}
BENCHMARK(Computed);

static void Views(benchmark::State& state) {
  const ct::Array a = ct::ones({10, 10}, ct::Dtype::float32).eval();
  for (auto _ : state) benchmark::DoNotOptimize(a.T());
}
BENCHMARK(Views);

BENCHMARK_MAIN();
