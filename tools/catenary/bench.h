#pragma once
// What the files of `catenary bench` share.

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "catenary/catenary.h"
#include "tools/catenary/bench_networks.h"

namespace catenary::command {

/// A piece of work, and what it counts as.
struct Work {
  std::function<void()> run;
  double amount;     ///< floating point operations, bytes or elements of one run
  const char* unit;  ///< of amount / 1e9 a second
};

/// Seconds of one run: the median of at least five measurements, each long enough for the clock, and of as many as
/// `budget` seconds have room for. With a budget of 0, and on a simulated device, one run is
/// measured, to see that it runs.
double median_seconds(const Work& work, const Device& device, double budget = 1);

/// Work of `what` on n elements, or on matrices of n × n.
Work make(const std::string& what, std::int64_t n, Dtype dtype);
/// A step of training of a network with `n` images, or units; `width` as BenchOptions has it. No work where `what` is
/// none of the networks.
std::optional<Work> make_network(const std::string& what, std::int64_t n, std::int64_t width, Precision precision);

/// How a product, a convolution or attention was computed.
nlohmann::ordered_json computation_json(const Computation& computation);

/// The three passes of usual networks' convolutions on the current device, in both orders of memory: a row for each,
/// which is also printed if `print`. Batches and sides of images are cut to `most` where it is above 0.
nlohmann::ordered_json bench_convolutions(Dtype dtype, std::int64_t most, bool print);
/// Causal attention of 8 heads of 64 on the current device, forward alone and with its gradient: a row for each.
nlohmann::ordered_json bench_attention(Dtype dtype, std::int64_t tokens, bool print);

}  // namespace catenary::command
