// Measures GFLOP/s of matrix products by our kernels and, for float32, oneDNN: bench_gemm [float32|float16|bfloat16] [m
// n k]…

#include "catenary/backends/cpu/gemm/gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "catenary/core/cpu_features.h"
#include "catenary/core/half.h"
#include "catenary/core/parallel.h"

namespace {

using namespace catenary;
using cpu::GemmProvider;

struct Case {
  long m, n, k;
  bool trans_a, trans_b;
};

// Returns small integers in a dtype.
std::vector<char> numbers(Dtype dtype, long count, int period) {
  std::vector<char> bytes(static_cast<std::size_t>(count) * itemsize(dtype));
  for (long i = 0; i < count; ++i) {
    const float x = static_cast<float>(i % period - period / 2);
    if (dtype == Dtype::float16) reinterpret_cast<float16*>(bytes.data())[i] = float16(x);
    if (dtype == Dtype::bfloat16) reinterpret_cast<bfloat16*>(bytes.data())[i] = bfloat16(x);
    if (dtype == Dtype::float32) reinterpret_cast<float*>(bytes.data())[i] = x;
  }
  return bytes;
}

// Returns the seconds of one product, the best of several runs of about 20 ms.
double seconds(const Case& s, GemmProvider provider, Dtype dtype, const void* a, const void* b, void* c) {
  cpu::set_gemm_provider(provider);
  const auto product = [&] {
    cpu::gemm({.m = s.m,
               .n = s.n,
               .k = s.k,
               .a = {a, dtype, s.trans_a ? 1 : s.k, s.trans_a ? s.m : 1},
               .b = {b, dtype, s.trans_b ? 1 : s.n, s.trans_b ? s.k : 1},
               .c = {c, dtype, s.n, 1}});
  };
  const auto time = [&](long repeats) {
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < repeats; ++i) product();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(repeats);
  };
  const double first = std::max(std::min(time(1), time(1)), 1e-8);
  return time(std::max(1L, static_cast<long>(0.02 / first)));
}

}  // namespace

int main(int argc, char** argv) {
  Dtype dtype = Dtype::float32;
  int first = 1;
  if (argc > 1 && !std::isdigit(static_cast<unsigned char>(argv[1][0]))) dtype = dtype_from_name(argv[first++]);
  std::vector<Case> cases;
  for (int i = first; i + 2 < argc; i += 3)
    cases.push_back({std::atol(argv[i]), std::atol(argv[i + 1]), std::atol(argv[i + 2]), false, false});
  if (cases.empty()) {
    for (long s : {4, 8, 10, 16, 20, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048})
      cases.push_back({s, s, s, false, false});
    for (int t = 0; t < 4; ++t) cases.push_back({1445, 1012, 1076, t % 2 == 1, t / 2 == 1});
    for (int t = 0; t < 4; ++t) cases.push_back({100, 1000, 784, t % 2 == 1, t / 2 == 1});
    for (const Case& c :
         {Case{100, 1000, 1000, false, true}, Case{100, 10, 1000, false, true}, Case{1000, 784, 100, true, false},
          Case{100, 1000, 1000, false, false}, Case{1000, 1000, 100, true, false}, Case{1024, 4096, 784, false, true},
          Case{1, 4096, 4096, false, false}, Case{1, 4096, 4096, false, true}, Case{4, 4096, 4096, false, true},
          Case{20, 2600, 650, false, true}, Case{64, 256, 576, false, false}, Case{10, 10, 10, false, true}})
      cases.push_back(c);
  }
  const bool onednn = dtype == Dtype::float32 && cpu::onednn_available();
  fmt::print("{}; {}; own kernels {}; {} threads\n", cpu::gemm_provider_info(), cpu::matrix_units_info(),
             simd_level_name(simd_level()), num_threads());
  // float32 by vectors, and by AMX.
  const bool tiles = dtype == Dtype::float32 && cpu::has_bfloat_unit(cpu::BfloatUnit::tiles);
  fmt::print("{:>6}{:>6}{:>6}     {:>12}{:>10}{:>12}{:>10}{:>8}{:>12}{:>8}\n", "m", "n", "k", "own us", "GFLOP/s",
             "oneDNN us", "GFLOP/s", "own/it", "AMX us", "own/it");
  for (const Case& s : cases) {
    const std::vector<char> a = numbers(dtype, s.m * s.k, 17), b = numbers(dtype, s.k * s.n, 13);
    std::vector<char> c(static_cast<std::size_t>(s.m * s.n) * itemsize(dtype));
    double own = 1e9, other = 1e9, by_tiles = 1e9;
    for (int turn = 0; turn < 7; ++turn) {
      own = std::min(own, seconds(s, GemmProvider::own, dtype, a.data(), b.data(), c.data()));
      if (tiles) {
        cpu::set_float_unit(cpu::FloatUnit::tiles);
        by_tiles = std::min(by_tiles, seconds(s, GemmProvider::own, dtype, a.data(), b.data(), c.data()));
        cpu::set_float_unit(cpu::FloatUnit::vectors);
      }
      if (onednn) other = std::min(other, seconds(s, GemmProvider::onednn, dtype, a.data(), b.data(), c.data()));
    }
    const double flops = 2e-9 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
    fmt::print("{:>6}{:>6}{:>6}  {}{} {:>12.2f}{:>10.1f}", s.m, s.n, s.k, s.trans_a ? 'T' : 'N', s.trans_b ? 'T' : 'N',
               own * 1e6, flops / own);
    if (onednn) fmt::print("{:>12.2f}{:>10.1f}{:>8.2f}", other * 1e6, flops / other, other / own);
    if (tiles) fmt::print("{:>12.2f}{:>8.2f}", by_tiles * 1e6, by_tiles / own);
    fmt::print("\n");
  }
}
