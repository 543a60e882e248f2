// Fits a line with arrays only: without a graph, with a gradient computed by hand.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ct = catenary;

void fit() {
  ct::random::seed(0);
  const ct::Array x = ct::random::uniform(-1.0, 1.0, ct::Shape{1000});
  const ct::Array y = 3.0 * x + 0.5 + 0.1 * ct::random::standard_normal({1000});
  double slope = 0, intercept = 0;
  for (int step = 0; step <= 200; ++step) {
    const ct::Array error = slope * x + intercept - y;
    if (step % 50 == 0)
      fmt::print("step {:3}: mean squared error {:.5f}\n", step, (error * error).mean().item<double>());
    slope -= 0.5 * (error * x).mean().item<double>();
    intercept -= 0.5 * error.mean().item<double>();
  }
  fmt::print("y = {:.3f} x + {:.3f}\n", slope, intercept);
}

int main(int argc, char** argv) {
  std::string device = "cpu";
  CLI::App app("Fits a line to points by gradient descent, using only arrays.");
  app.footer("Example: linear_regression -d opencl:0");
  app.add_option("-d,--device", device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  try {
    app.parse(argc, argv);
    ct::get_device(device).use();
    fit();
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  } catch (const std::exception& error) {
    return ct::command_line::failure("linear_regression", error);
  }
  return 0;
}
