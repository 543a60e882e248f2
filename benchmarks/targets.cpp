// Measures rows of docs/measurements/performance.md: bench_targets [ROWS [DEVICE [text|json [PRECISION]]]]. ROWS are
// the letters of rows, such as "FH" (default all). Prints the median of a few runs for each row, or with `json` all
// samples for benchmarks/peers. PRECISION is for the networks, rows B to D: float32, mixed_bf16, …

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "catenary/catenary.h"
#include "tools/catenary/bench_networks.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

bool as_json = false;
ct::Precision precision = ct::Dtype::float32;

/// Returns the seconds of `repeats` calls of work, n times, after a warm-up.
template <class Work>
std::vector<double> seconds(int n, Work work, int repeats = 1) {
  std::vector<double> times;
  for (int i = 0; i <= n; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int j = 0; j < repeats; ++j) work();
    ct::current_device().synchronize();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats);
  }
  times.erase(times.begin());
  return times;
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

/// Prints the samples of a row times `scale`, in `unit`.
void report(const std::string& row, const std::vector<double>& samples, double scale, const char* unit) {
  if (as_json) {
    fmt::print("{{\"row\": \"{}\", \"who\": \"Catenary\", \"samples\": [{}]}}\n", row, fmt::join(samples, ", "));
  } else {
    fmt::print("{:24}{:10.4g} {}\n", row, median(samples) * scale, unit);
  }
  std::fflush(stdout);
}

ct::Array normal(const ct::Shape& shape) {
  return ct::random::standard_normal(shape, {.dtype = ct::Dtype::float32}).eval();
}

struct Product {
  int m, n, k;
};

std::vector<double> product_seconds(const Product& p, int runs) {
  const ct::Array a = normal({p.m, p.k}), b = normal({p.k, p.n});
  return seconds(runs, [&] { ct::matmul(a, b).eval(); });
}

/// Measures a lower bound for row A: the products of an epoch and of its evaluation alone, and Adam's memory traffic
/// alone. (train_mnist is row A itself.)
void floor_of_a() {
  double forward = 0, backward = 0;
  const int batch = 100, units[] = {784, 1000, 1000, 10};
  for (int i = 0; i < 3; ++i) {
    const int in = units[i], out = units[i + 1];
    forward += median(product_seconds({batch, out, in}, 51));
    backward +=
        median(product_seconds({in, out, batch}, 51)) + (i > 0 ? median(product_seconds({batch, in, out}, 51)) : 0);
  }
  const std::int64_t parameters = 784 * 1000 + 1000 * 1000 + 1000 * 10;
  const ct::Array p = normal({parameters}), g = normal({parameters}), m = normal({parameters}),
                  v = normal({parameters});
  // reads four arrays and writes three, with hardly any arithmetic
  const double adam = median(seconds(51, [&] {
    m += g;
    v += m;
    p += v;
    ct::evaluate();
  }));
  const double products = 600 * (forward + backward), evaluation = 100 * forward, bytes = 600 * adam;
  report("A floor, products", {products}, 1, "s");
  report("A floor, evaluation", {evaluation}, 1, "s");
  report("A floor, Adam's bytes", {bytes}, 1, "s");
  report("A floor", {products + evaluation + bytes}, 1, "s");
}

void deep_network() { report("B", seconds(3, ct::command::bench_deep_mlp(1024, precision).step), 1e3, "ms"); }

void report_network(const std::string& row, const ct::command::NetworkBench& network, int runs) {
  report(row + " step", seconds(runs, network.step), 1e3, "ms");
  report(row + " inference", seconds(runs, network.inference), 1e3, "ms");
}

void images() {
  report_network("C CNN", ct::command::bench_cnn(100, precision), 15);
  const auto mlp = ct::command::bench_mlp(100, precision);
  report("C MLP inference", seconds(15, mlp.inference, 20), 1e3, "ms");
  report_network("C ResNet-18", ct::command::bench_resnet18(32, precision), 7);
}

void language() { report("D", seconds(7, ct::command::bench_lstm(650, precision).step), 1e3, "ms"); }

void elementwise() {
  const ct::Array x = normal({16777216});
  // Evaluated in a separate statement: within one, the intermediate values would still have handles and would be
  // stored.
  const auto chain = [&] {
    const ct::Array y = ct::relu(x * 1.5f + 0.5f) * ct::sigmoid(x) + ct::tanh(x);
    y.eval();
  };
  report("E", seconds(9, chain), 1e3, "ms");
}

void products() {
  for (const Product& p : {Product{1445, 1012, 1076}, Product{2048, 2048, 2048}, Product{100, 1000, 784}}) {
    std::vector<double> rates;
    for (const double s : product_seconds(p, 15)) rates.push_back(2e-9 * p.m * p.n * p.k / s);
    report(fmt::format("F {}x{}x{}", p.m, p.n, p.k), rates, 1, "GFLOP/s");
  }
}

void moves() {
  // Input of sorting and searching, as for the peers: uniform in [0, 1).
  const auto uniform = [](const ct::Shape& shape) {
    return ct::random::random(shape, {.dtype = ct::Dtype::float32}).eval();
  };
  const ct::Array keys = uniform({10000000});
  report("H sort", seconds(3, [&] { ct::sort(keys).eval(); }), 1e3, "ms");
  report("H argsort", seconds(3, [&] { ct::argsort(keys).eval(); }), 1e3, "ms");
  const ct::Array square = normal({4096, 4096});
  report("H sum 0", seconds(15, [&] { ct::sum(square, 0).eval(); }), 1e3, "ms");
  report("H sum 1", seconds(15, [&] { ct::sum(square, 1).eval(); }), 1e3, "ms");
  report("H transpose", seconds(9, [&] { square.T().copy().eval(); }), 1e3, "ms");
  const ct::Array table = normal({100000, 64}), rows = ct::random::randint(0, 100000, {1000000}).eval();
  report("H gather", seconds(9, [&] { ct::take(table, rows, 0).eval(); }), 1e3, "ms");
  const ct::Array flat = uniform({1000000}), grid = uniform({1000, 1000});
  report("H argmax",
         seconds(
             15, [&] { ct::argmax(flat).eval(); }, 10),
         1e6, "us");
  report("H argmax rows",
         seconds(
             15, [&] { ct::argmax(grid, 1).eval(); }, 10),
         1e6, "us");
}

void small_ones() {
  constexpr int kRepeats = 10000;
  const ct::Variable a(ct::ones({10}, ct::Dtype::float32)), b(ct::ones({10}, ct::Dtype::float32));
  report("G deferred",
         seconds(
             5, [&] { ct::Variable c = a + b; }, kRepeats),
         1e6, "us");
  report("G computed",
         seconds(
             5, [&] { (a + b).array().eval(); }, kRepeats),
         1e6, "us");
  std::vector<L::Linear> layers;
  for (int i = 0; i < 10; ++i) layers.emplace_back(10, 10);
  const ct::Variable x(normal({10, 10}));
  const auto step = [&] {
    ct::Variable h = x;
    for (const L::Linear& layer : layers) h = F::tanh(layer(h));
    for (const L::Linear& layer : layers) layer.cleargrads();
    F::sum(h).backward();
    for (const L::Linear& layer : layers) layer.W.grad().eval();
  };
  report("G ten layers", seconds(7, step, 100), 1e6, "us");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string rows = argc > 1 ? argv[1] : "ABCDEFGH";
  const ct::DeviceScope device(ct::get_device(argc > 2 ? argv[2] : "cpu"));
  as_json = argc > 3 && std::string(argv[3]) == "json";
  if (argc > 4) precision = ct::precision_from_name(argv[4]);
  const std::pair<char, void (*)()> all[] = {{'A', floor_of_a}, {'B', deep_network}, {'C', images},
                                             {'D', language},   {'E', elementwise},  {'F', products},
                                             {'G', small_ones}, {'H', moves}};
  ct::random::seed(0);
  for (const auto& [letter, run] : all)
    if (rows.find(letter) != std::string::npos) run();
  return 0;
}
