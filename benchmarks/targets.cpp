// bench_targets [ROWS [DEVICE]]: the rows of docs/performance.md, all or those whose letters are named ("FH"), on the
// CPU or the device that is named: medians of a few runs each, one line a row.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "catenary/catenary.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

/// Median of n runs, in milliseconds.
template <class Work>
double median(int n, Work work) {
  std::vector<double> times;
  for (int i = 0; i < n; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    ct::current_device().synchronize();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

ct::Array normal(const ct::Shape& shape) {
  return ct::random::standard_normal(shape, {.dtype = ct::Dtype::float32}).eval();
}

struct Product {
  int m, n, k;
};

double product_ms(const Product& p, int runs) {
  const ct::Array a = normal({p.m, p.k}), b = normal({p.k, p.n});
  return median(runs, [&] { ct::matmul(a, b).eval(); });
}

/// What row A cannot do without: the products of an epoch and of its evaluation, and the bytes that Adam moves, each
/// alone. (train_mnist is row A itself.)
void floor_of_a() {
  double forward = 0, backward = 0;
  const int batch = 100, units[] = {784, 1000, 1000, 10};
  for (int i = 0; i < 3; ++i) {
    const int in = units[i], out = units[i + 1];
    forward += product_ms({batch, out, in}, 51);
    backward += product_ms({in, out, batch}, 51) + (i > 0 ? product_ms({batch, in, out}, 51) : 0);
  }
  const std::int64_t parameters = 784 * 1000 + 1000 * 1000 + 1000 * 10;
  const ct::Array p = normal({parameters}), g = normal({parameters}), m = normal({parameters}),
                  v = normal({parameters});
  // four arrays are read and three written, with next to no arithmetic
  const double adam = median(51, [&] {
    m += g;
    v += m;
    p += v;
    ct::evaluate();
  });
  fmt::print("A floor: products {:.2f} s, evaluation {:.2f} s, Adam's bytes {:.2f} s\n", 0.6 * (forward + backward),
             0.1 * forward, 0.6 * adam);
}

void deep_network() {
  ct::Sequential layers;
  for (int i = 0; i < 5; ++i) {
    layers.append(i == 0 ? L::Linear(784, 4096) : L::Linear(4096, 4096));
    layers.append([](const ct::Variable& h) { return F::relu(h); });
  }
  layers.append(L::Linear(4096, 10));
  const L::Classifier model(layers);
  ct::optimizers::SGD optimizer(0.01);
  optimizer.setup(model);
  const ct::Variable x(ct::random::uniform(0, 1, {1024, 784}, {.dtype = ct::Dtype::float32}).eval()),
      t(ct::random::randint(0, 10, {1024}).astype(ct::Dtype::int32).eval());
  fmt::print("B step of 784-4096x5-10     {:8.0f} ms\n", median(3, [&] {
               model.cleargrads();
               model(x, t).backward();
               optimizer.update();
               ct::evaluate();
             }));
}

void elementwise() {
  const ct::Array x = normal({16777216});
  fmt::print("E chain of 16 Mi            {:8.1f} ms\n", median(9, [&] {
               // evaluated in a statement of its own: within one, the intermediate values are still held, and would be
               // stored
               const ct::Array y = ct::relu(x * 1.5f + 0.5f) * ct::sigmoid(x) + ct::tanh(x);
               y.eval();
             }));
}

void products() {
  for (const Product& p : {Product{1445, 1012, 1076}, Product{2048, 2048, 2048}, Product{100, 1000, 784}}) {
    const double flops = 2.0 * p.m * p.n * p.k;
    fmt::print("F matmul {:4}x{:4}x{:4}      {:8.0f} GFLOP/s\n", p.m, p.n, p.k, 1e-6 * flops / product_ms(p, 15));
  }
}

void moves() {
  const ct::Array keys = normal({10000000});
  fmt::print("H sort of 10 M              {:8.0f} ms\n", median(3, [&] { ct::sort(keys).eval(); }));
  fmt::print("H argsort of 10 M           {:8.0f} ms\n", median(3, [&] { ct::argsort(keys).eval(); }));
  const ct::Array square = normal({4096, 4096});
  fmt::print("H sum of 4096^2 over axis 0 {:8.2f} ms\n", median(15, [&] { ct::sum(square, 0).eval(); }));
  fmt::print("H sum of 4096^2 over axis 1 {:8.2f} ms\n", median(15, [&] { ct::sum(square, 1).eval(); }));
  fmt::print("H transposed copy of 4096^2 {:8.1f} ms\n", median(9, [&] { square.T().copy().eval(); }));
  const ct::Array table = normal({100000, 64}), rows = ct::random::randint(0, 100000, {1000000}).eval();
  fmt::print("H gather of 1 M rows of 64  {:8.1f} ms\n", median(9, [&] { ct::take(table, rows, 0).eval(); }));
}

void small_ones() {
  constexpr int kRepeats = 10000;
  const ct::Variable a(ct::ones({10}, ct::Dtype::float32)), b(ct::ones({10}, ct::Dtype::float32));
  const double deferred = median(5, [&] {
    for (int i = 0; i < kRepeats; ++i) ct::Variable c = a + b;
  });
  const double computed = median(5, [&] {
    for (int i = 0; i < kRepeats; ++i) (a + b).array().eval();
  });
  fmt::print("G add of 10, deferred       {:8.2f} us\nG add of 10, each computed  {:8.2f} us\n",
             deferred * 1e3 / kRepeats, computed * 1e3 / kRepeats);
  std::vector<L::Linear> layers;
  for (int i = 0; i < 10; ++i) layers.emplace_back(10, 10);
  const ct::Variable x(normal({10, 10}));
  const double ms = median(7, [&] {
    for (int i = 0; i < 100; ++i) {
      ct::Variable h = x;
      for (const L::Linear& layer : layers) h = F::tanh(layer(h));
      for (const L::Linear& layer : layers) layer.cleargrads();
      F::sum(h).backward();
      for (const L::Linear& layer : layers) layer.W.grad().eval();
    }
  });
  fmt::print("G ten layers of 10x10       {:8.0f} us\n", ms * 10);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string rows = argc > 1 ? argv[1] : "ABEFGH";
  const ct::DeviceScope device(ct::get_device(argc > 2 ? argv[2] : "cpu"));
  const std::pair<char, void (*)()> all[] = {{'A', floor_of_a}, {'B', deep_network}, {'E', elementwise},
                                             {'F', products},   {'G', small_ones},   {'H', moves}};
  ct::random::seed(0);
  for (const auto& [letter, run] : all)
    if (rows.find(letter) != std::string::npos) run();
  return 0;
}
