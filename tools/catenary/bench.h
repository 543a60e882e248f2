#pragma once
// Declarations shared by the files of `catenary bench`.

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "catenary/catenary.h"
#include "tools/catenary/bench_networks.h"

namespace catenary::command {

/// Work to measure, and its amount.
struct Work {
  std::function<void()> run;
  double amount;     ///< floating-point operations, bytes or elements of a run
  const char* unit;  ///< unit of amount / 1e9 per second
};

/// Returns the seconds of a run: the median of at least five measurements, each long enough for the clock, and of as
/// many as fit into `budget` seconds. With a budget of 0, and on a simulated device, runs once to check that the work
/// runs.
double median_seconds(const Work& work, const Device& device, double budget = 1);

/// Returns the work `what` on n elements, or on n × n matrices.
Work make(const std::string& what, std::int64_t n, Dtype dtype);
/// Returns a training step of a network with `n` images or units, and `width` as in BenchOptions. Returns nullopt if
/// `what` is not a network.
std::optional<Work> make_network(const std::string& what, std::int64_t n, std::int64_t width, Precision precision);

/// Describes how a product, a convolution or attention was computed.
nlohmann::ordered_json computation_json(const Computation& computation);

/// Measures the three passes of common networks' convolutions on the current device, in both memory layouts. Returns a
/// row for each, and prints it if `print`. A positive `most` limits batches and image sizes.
nlohmann::ordered_json bench_convolutions(Dtype dtype, std::int64_t most, bool print);
/// Measures causal attention of 8 heads of 64 on the current device, forward only and with gradients. Returns a row for
/// each.
nlohmann::ordered_json bench_attention(Dtype dtype, std::int64_t tokens, bool print);

}  // namespace catenary::command
