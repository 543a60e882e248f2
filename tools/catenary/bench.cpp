#include "tools/catenary/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "catenary/catenary.h"
#include "catenary/core/clock.h"
#include "tools/catenary/commands.h"

namespace catenary::command {

double median_seconds(const Work& work, const Device& device, double budget) {
  const auto measure = [&](int repeats) {
    device.synchronize();
    const double start = monotonic_seconds();
    for (int i = 0; i < repeats; ++i) work.run();
    device.synchronize();
    return (monotonic_seconds() - start) / repeats;
  };
  measure(1);  // compiles kernels and fills the memory pool
  if (budget <= 0 || device.info().is_simulated) return measure(1);
  const int repeats = static_cast<int>(std::clamp(0.02 / std::max(measure(1), 1e-9), 1.0, 1000.0));
  std::vector<double> times;
  const double end = monotonic_seconds() + budget;
  while (times.size() < 5 || (times.size() < 51 && monotonic_seconds() < end)) times.push_back(measure(repeats));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Work make(const std::string& what, std::int64_t n, Dtype dtype) {
  const double item = static_cast<double>(itemsize(dtype));
  const double size = static_cast<double>(n);
  if (what == "gemm") {
    const Array a = values({n, n}, dtype), b = values({n, n}, dtype);
    return {[=] { matmul(a, b).eval(); }, 2 * size * size * size, "GFLOP/s"};
  }
  if (what == "concat") {  // along axis 1
    const std::int64_t rows = std::max<std::int64_t>(1, std::llround(std::sqrt(size / 4)));
    std::vector<Array> parts;
    for (int i = 0; i < 4; ++i) parts.push_back(values({rows, n / 4 / rows}, dtype));
    return {[=] { concatenate(parts, 1).eval(); }, 8 * static_cast<double>(parts[0].size()) * item, "GB/s"};
  }
  const Array x = values({n}, dtype);
  if (what == "copy") return {[=] { x.copy().eval(); }, 2 * size * item, "GB/s"};
  if (what == "elementwise") {
    const Array y = values({n}, dtype);
    return {[=] { (x * y + x).eval(); }, 3 * size * item, "GB/s"};
  }
  if (what == "chain") {
    const Array y = values({n}, dtype);
    return {[=] { (maximum(x * y + x, 0) * tanh(x) - sqrt(y) * x).eval(); }, 3 * size * item, "GB/s"};
  }
  if (what == "launch") {
    const Array y = values({n}, dtype);
    return {[=] { (x + y).eval(); }, 1e3, "Mlaunches/s"};
  }
  if (what == "reduce") return {[=] { sum(x).eval(); }, size * item, "GB/s"};
  return {[=] { sort(x).eval(); }, size, "Gelements/s"};
}

std::optional<Work> make_network(const std::string& what, std::int64_t n, std::int64_t width, Precision precision) {
  const auto step_of = [](const NetworkBench& network) { return Work{network.step, network.amount, "GFLOP/s"}; };
  if (what == "cnn") return step_of(bench_cnn(n, precision));
  if (what == "resnet18") return step_of(bench_resnet18(n, precision));
  if (what == "resnet50") return step_of(bench_resnet50(n, precision, width > 0 ? width : 224));
  if (what == "mlp") return step_of(bench_deep_mlp(n, precision, width > 0 ? width : 4096));
  if (what == "lstm") return step_of(bench_lstm(n, precision));
  return std::nullopt;
}

namespace {

std::vector<std::int64_t> sizes(const BenchOptions& options) {
  if (options.size > 0) return {options.size};
  if (options.what == "gemm") return {256, 512, 1024, 2048};
  if (options.what == "sort") return {10'000, 100'000, 1'000'000};
  if (options.what == "launch") return {10};
  if (options.what == "attention") return {256, 1024, 4096};
  if (options.what == "cnn") return {100};
  if (options.what == "resnet18") return {32};
  if (options.what == "resnet50") return {64};
  if (options.what == "mlp") return {4096};
  if (options.what == "lstm") return {650};
  return {10'000, 1'000'000, 16'777'216};
}

/// The precision of parameters for networks, otherwise the dtype of arrays.
Precision precision_or_dtype(const BenchOptions& options) {
  const Precision precision = options.dtype.starts_with("mixed") ? precision_from_name(options.dtype)
                                                                 : Precision(dtype_from_name(options.dtype));
  constexpr std::string_view kNetworks[] = {"cnn", "resnet18", "resnet50", "mlp", "lstm"};
  if (precision.is_mixed() && std::ranges::find(kNetworks, options.what) == std::end(kNetworks))
    throw DtypeError("bench: --dtype " + options.dtype + " is only for networks; use a single dtype for arrays");
  return precision;
}

}  // namespace

nlohmann::ordered_json computation_json(const Computation& c) {
  return {{"kind", c.kind},       {"library", c.library}, {"algorithm", c.algorithm}, {"dtype", dtype_name(c.dtype)},
          {"compute", c.compute}, {"units", c.units},     {"why_not", c.why_not},     {"told", c.told}};
}

int bench(const BenchOptions& options) {
  const Device device = get_device(options.device);
  const Precision precision = precision_or_dtype(options);
  const Dtype dtype = precision;
  const DeviceScope scope(device);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto print_json = [&] {
    fmt::print("{}\n", nlohmann::ordered_json{{"schema", 1},
                                              {"bench", options.what},
                                              {"device", device.name()},
                                              {"device_name", device.info().name},
                                              {"dtype", options.dtype},
                                              {"results", rows}}
                           .dump(2));
  };
  if (!options.json)
    fmt::print("{} of {} on {} ({})\n", options.what, options.dtype, device.name(), device.info().name);
  if (options.what == "conv") {
    rows = bench_convolutions(dtype, options.size, !options.json);
    if (options.json) print_json();
    return 0;
  }
  for (const std::int64_t n : sizes(options)) {
    if (options.what == "attention") {
      for (auto& row : bench_attention(dtype, n, !options.json)) rows.push_back(std::move(row));
      continue;
    }
    const auto network = make_network(options.what, n, options.width, precision);
    const Work work = network ? *network : make(options.what, n, dtype);
    const double seconds = median_seconds(work, device);
    const double rate = work.amount / seconds * 1e-9;
    rows.push_back({{"size", n}, {"seconds", seconds}, {"rate", rate}, {"unit", work.unit}});
    const bool multiplies = options.what == "gemm" || options.what == "mlp";  // other work uses no library
    const auto product = multiplies ? last_computation(device, "blas") : std::nullopt;
    if (product) {
      rows.back()["provider"] = product->library;
      rows.back()["computation"] = computation_json(*product);
    }
    if (!options.json)
      fmt::print("{:>12}  {:>12.1f} us  {:>10.4g} {}{}{}\n",
                 options.what == "gemm" ? fmt::format("{0}x{0}", n) : fmt::to_string(n), seconds * 1e6, rate, work.unit,
                 product ? "  by " : "", product ? product->text() : "");
  }
  if (options.json) print_json();
  return 0;
}

}  // namespace catenary::command
