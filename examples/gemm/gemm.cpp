// Compares a hand-written matrix product kernel with the library's product, and checks both against float64.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace ct = catenary;

// c[m, n] = a[m, k] b[k, n]: a work-group of 256 work-items computes a tile of 16 x 16, one element each. Tiles of a
// and b along k are staged in local memory. Written for clarity, not for speed.
constexpr const char* kText = R"(
KERNEL REQD(256) tiled_gemm(GLOBAL const f32* a, i64 a_at, GLOBAL const f32* b, i64 b_at, GLOBAL f32* c, i64 c_at, i32 m, i32 n, i32 k) {
  LOCAL f32 a_tile[16 * 17];
  LOCAL f32 b_tile[16 * 17];
  const i32 tiles = (n + 15) / 16;
  const i32 y = LOCAL_ID / 16, x = LOCAL_ID % 16;
  const i32 row = GROUP_ID / tiles * 16 + y, column = GROUP_ID % tiles * 16 + x;
  f32 sum = 0.0f;
  for (i32 k0 = 0; k0 < k; k0 += 16) {
    a_tile[y * 17 + x] = row < m && k0 + x < k ? a[a_at + (i64)row * k + k0 + x] : 0.0f;
    b_tile[y * 17 + x] = column < n && k0 + y < k ? b[b_at + (i64)(k0 + y) * n + column] : 0.0f;
    BARRIER;
    for (i32 kk = 0; kk < 16; ++kk) sum = MAD_F32(a_tile[y * 17 + kk], b_tile[kk * 17 + x], sum);
    BARRIER;
  }
  if (row < m && column < n) c[c_at + (i64)row * n + column] = sum;
}
)";

/// The median time of several runs, in milliseconds.
template <class F>
double median_ms(const ct::Device& device, int repeats, F&& f) {
  std::vector<double> times;
  for (int i = 0; i < repeats + 1; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    device.synchronize();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (i > 0) times.push_back(time.count());  // the first run compiles
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int main(int argc, char** argv) {
  CLI::App app("Compares the speed of a hand-written kernel for c = a b with the library's product.");
  app.footer("Example: gemm -d opencl:0");
  int m = 1445, n = 1012, k = 1076, repeats = 5;
  std::string name = "gpu:0";
  app.add_option("-m", m, "Rows of a")->check(ct::command_line::whole_number(1, 1000000))->capture_default_str();
  app.add_option("-n", n, "Columns of b")->check(ct::command_line::whole_number(1, 1000000))->capture_default_str();
  app.add_option("-k", k, "Columns of a")->check(ct::command_line::whole_number(1, 1000000))->capture_default_str();
  app.add_option("-d,--device", name, "A device with a compiler: cuda:N, hip:N, opencl:N or gpu:N")
      ->capture_default_str();
  app.add_option("--repeats", repeats, "Number of timed runs")
      ->check(ct::command_line::whole_number(1, 1000000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    const ct::Device device = ct::get_device(name);
    std::printf("m=%d n=%d k=%d\n", m, n, k);
    ct::random::seed(0);
    const ct::Array a = ct::random::uniform(-1, 1, ct::Shape{m, k}).astype(ct::Dtype::float32),
                    b = ct::random::uniform(-1, 1, ct::Shape{k, n}).astype(ct::Dtype::float32);
    const ct::Array expected = ct::matmul(a.astype(ct::Dtype::float64), b.astype(ct::Dtype::float64));
    const ct::Array a_there = a.to_device(device), b_there = b.to_device(device);
    ct::Array mine = ct::Array::empty({m, n}, ct::Dtype::float32, device), theirs;

    std::printf("start benchmarking\n\n");
    const ct::RawKernel kernel(kText, "tiled_gemm");
    const std::int64_t groups = std::int64_t{(m + 15) / 16} * ((n + 15) / 16);
    const double hand_written =
        median_ms(device, repeats, [&] { kernel(groups, 256, a_there, b_there, mine, m, n, k); });
    const double library = median_ms(device, repeats, [&] { theirs = ct::matmul(a_there, b_there); });

    const auto error = [&](const ct::Array& c) {
      return ct::max(ct::absolute(c.to_device(ct::Device()).astype(ct::Dtype::float64) - expected)).item<double>();
    };
    const double most = 1e-6 * k, mine_off = error(mine), theirs_off = error(theirs);
    std::printf("=============================Result===============================\n");
    std::printf("hand written kernel time %.3f ms\n", hand_written);
    std::printf("BLAS                     time %.3f ms (%s)\n", library,
                ct::last_computation(device, "blas").value().text().c_str());
    if (!(mine_off <= most) || !(theirs_off <= most)) {
      std::fprintf(stderr,
                   "gemm: the largest differences from float64 are %g (hand written) and %g (library); at most %g was "
                   "expected\n",
                   mine_off, theirs_off, most);
      return 1;
    }
  } catch (const std::exception& error) {
    return ct::command_line::failure("gemm", error);
  }
  return 0;
}
