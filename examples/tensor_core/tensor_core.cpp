// Measures how fast a device multiplies matrices, and with which units: one F::linear, computed many times.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <string_view>

namespace ct = catenary;
namespace F = ct::functions;

struct Args {
  std::int64_t size = 4096, count = 20;
  std::string device = "gpu:0", dtype = "float16";
  bool tf32 = false, autotune = false;
  double peak = 0;
};

/// TFLOPS of a card without sparsity, from its data sheet, or 0 for unknown cards.
double peak_tflops(const std::string& card, ct::Dtype dtype, bool tf32) {
  struct Card {
    std::string_view name;
    double half, tf32, f32, f64;
  };
  constexpr Card kCards[] = {{"H200", 989, 495, 67, 67},       {"H100 PCIe", 756, 378, 51, 51},
                             {"H100", 989, 495, 67, 67},       {"A100", 312, 156, 19.5, 19.5},
                             {"V100", 125, 0, 15.7, 7.8},      {"L40S", 362, 183, 91.6, 0},
                             {"L4", 121, 60, 30.3, 0},         {"T4", 65, 0, 8.1, 0},
                             {"RTX 4090", 165, 82.6, 82.6, 0}, {"MI300X", 1307, 654, 163, 163},
                             {"MI250X", 191.5, 0, 47.9, 47.9}, {"MI210", 181, 0, 45.3, 45.3}};
  for (const Card& known : kCards)
    if (card.find(known.name) != std::string::npos)
      return ct::is_16bit_float(dtype)     ? known.half
             : dtype == ct::Dtype::float64 ? known.f64
             : tf32                        ? known.tf32
                                           : known.f32;
  return 0;
}

/// Checks the first row against float64, because the speed of a wrong product means nothing.
void check(const ct::Array& x, const ct::Array& w, const ct::Array& y, bool tf32) {
  const auto wide = [](const ct::Array& a) { return a.to_device(ct::Device()).astype(ct::Dtype::float64); };
  const double off = ct::max(ct::absolute(ct::matmul(wide(w), wide(x(0))) - wide(y(0)))).item<double>();
  const double unit = y.dtype() == ct::Dtype::bfloat16          ? 1.0 / 256
                      : y.dtype() == ct::Dtype::float16 || tf32 ? 1.0 / 2048
                      : y.dtype() == ct::Dtype::float32         ? 1e-6
                                                                : 1e-14;
  const double most = 4 * unit * std::sqrt(static_cast<double>(x.shape(1)));
  if (!(off <= most))
    throw ct::Error(
        fmt::format("the largest difference from float64 is {:.3g}, at most {:.3g} was expected", off, most));
}

void run(const Args& args) {
  const ct::Device device = ct::get_device(args.device);
  const ct::Dtype dtype = ct::dtype_from_name(args.dtype);
  ct::global_config.tf32 = args.tf32;
  ct::global_config.autotune = args.autotune;
  const auto no_graph = ct::no_backprop_mode();
  ct::random::seed(0);
  const auto matrix = [&] {
    return ct::random::uniform(-1, 1, ct::Shape{args.size, args.size}).astype(dtype).to_device(device).eval();
  };
  const ct::Array x = matrix(), w = matrix();
  ct::Array y;
  const auto seconds = [&](std::int64_t count) {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < count; ++i) y = F::linear(x, w).array().eval();
    device.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(count);
  };
  seconds(2);  // compiles and selects an algorithm
  const double one = seconds(args.count), n = static_cast<double>(args.size), tflops = 2 * n * n * n / one * 1e-12;
  const ct::Computation how = ct::last_computation(device, "blas").value();
  check(x, w, y, args.tf32);

  const double peak = args.peak > 0 ? args.peak : peak_tflops(device.info().name, dtype, args.tf32);
  fmt::print("device      {} ({})\n", device.name(), device.info().name);
  fmt::print("F::linear   {0} x {0} by {0} x {0} of {1}, {2} times\n", args.size, args.dtype, args.count);
  fmt::print("seconds     {:.6g} for one\n", one);
  fmt::print("TFLOPS      {:.4g}\n", tflops);
  fmt::print("of the peak {}\n",
             peak > 0 ? fmt::format("{:.1f} % of {:g} TFLOPS", 100 * tflops / peak, peak) : "unknown; set --peak");
  fmt::print("provider    {}{}{}\n", how.library, how.algorithm.empty() ? "" : ", ", how.algorithm);
  fmt::print("computes    {}\n", how.compute);
  fmt::print("units       {}\n",
             !how.units.empty() ? how.units : fmt::format("{}: {}", how.told ? "none" : "not told", how.why_not));
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Measures F::linear of square matrices, and shows which units computed it.");
  app.footer("Example: tensor_core -n 4096 --dtype float16 -d gpu:0");
  const auto positive = ct::command_line::whole_number(1, 1000000);
  app.add_option("-n,--size", args.size, "Rows and columns of the matrices")->capture_default_str()->check(positive);
  app.add_option("-c,--count", args.count, "Products timed together")->capture_default_str()->check(positive);
  app.add_option("--dtype", args.dtype, "Dtype of the matrices")
      ->capture_default_str()
      ->check(ct::command_line::one_of({"float16", "bfloat16", "float32", "float64"}));
  app.add_flag("--tf32", args.tf32, "Allow rounding float32 to TF32");
  app.add_flag("--autotune", args.autotune, "Try the libraries' algorithms first and use the fastest");
  app.add_option("--peak", args.peak, "TFLOPS of the device from its data sheet, if the program does not know it")
      ->check(ct::command_line::positive_number());
  app.add_option("-d,--device", args.device, "cpu, or a GPU such as cuda:0")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  try {
    run(args);
  } catch (const std::exception& error) {
    return ct::command_line::failure("tensor_core", error);
  }
  return 0;
}
