#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "catenary/array/body.h"
#include "catenary/device/backend.h"
#include "tools/catenary/bench.h"

namespace catenary::command {

namespace {

/// A layer over square images: `channels` to `outputs`, with a square window and padding that keeps the size.
struct Layer {
  const char* name;
  std::int64_t images, channels, extent, outputs, size, stride, groups;
};

// clang-format off
constexpr Layer kLayers[] = {
    {"MNIST 5x5", 100, 1, 28, 16, 5, 1, 1},
    {"MNIST 5x5", 100, 16, 14, 32, 5, 1, 1},
    {"ResNet-18 first", 32, 3, 32, 64, 3, 1, 1},
    {"ResNet-18 3x3", 32, 64, 32, 64, 3, 1, 1},
    {"ResNet-18 3x3", 32, 128, 16, 128, 3, 1, 1},
    {"ResNet-18 3x3", 32, 256, 8, 256, 3, 1, 1},
    {"ResNet-18 3x3", 32, 512, 4, 512, 3, 1, 1},
    {"ResNet-18 3x3/2", 32, 64, 32, 128, 3, 2, 1},
    {"ResNet-18 1x1/2", 32, 64, 32, 128, 1, 2, 1},
    {"ResNet-50 7x7/2", 4, 3, 224, 64, 7, 2, 1},
    {"ResNet-50 3x3", 4, 64, 56, 64, 3, 1, 1},
    {"ResNet-50 3x3/2", 4, 128, 56, 128, 3, 2, 1},
    {"ResNet-50 3x3", 4, 256, 14, 256, 3, 1, 1},
    {"ResNet-50 1x1", 4, 64, 56, 256, 1, 1, 1},
    {"ResNet-50 1x1", 4, 512, 28, 128, 1, 1, 1},
    {"ResNet-50 1x1", 4, 1024, 14, 256, 1, 1, 1},
    {"ResNet-50 1x1", 4, 512, 7, 2048, 1, 1, 1},
    {"grouped 3x3", 8, 128, 28, 128, 3, 1, 32},
    {"depthwise 3x3", 8, 128, 56, 128, 3, 1, 128},
    {"depthwise 3x3/2", 8, 128, 56, 128, 3, 2, 128},
    {"depthwise 5x5", 8, 256, 28, 256, 5, 1, 256},
};
// clang-format on

/// A copy with channels last.
Array channels_last(const Array& x) { return x.transpose({0, 2, 3, 1}).contiguous().transpose({0, 3, 1, 2}); }

/// Measures the passes of convolutions and collects their rows.
class Bench {
 public:
  Bench(Dtype dtype, std::int64_t most, bool print)
      : dtype_(dtype),
        most_(most),
        print_(print),
        product_(make("gemm", cut(1024), dtype)),
        copy_(make("copy", cut(2000) * cut(2000), dtype)) {}

  void measure(Layer layer) {
    layer.images = cut(layer.images * batches_), layer.extent = cut(layer.extent);
    for (const bool last : {false, true}) measure(layer, last);
  }

  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::map<std::string, int> computations;  // number of rows for each way of computing

 private:
  std::int64_t cut(std::int64_t size) const { return most_ > 0 ? std::min(size, most_) : size; }
  double speed(const Work& work) const {
    return work.amount / median_seconds(work, device_, most_ > 0 ? 0 : 0.2) * 1e-9;
  }

  void measure(const Layer& layer, bool last) {
    const Window window = Window::make("bench", 2, {layer.size}, {layer.stride}, {layer.size / 2});
    const Shape extents = {layer.extent, layer.extent}, counts = window.counts("bench", extents);
    const Array w = values({layer.outputs, layer.channels / layer.groups, layer.size, layer.size}, dtype_);
    Array x = values({layer.images, layer.channels, extents[0], extents[1]}, dtype_),
          y = values({layer.images, layer.outputs, counts[0], counts[1]}, dtype_);
    if (last) x = channels_last(x), y = channels_last(y);
    const bool depthwise = layer.groups == layer.channels && layer.groups > 1;
    const double amount = depthwise
                              ? static_cast<double>(x.nbytes() + y.nbytes())
                              : 2.0 * static_cast<double>(y.size()) * static_cast<double>(w.size() / layer.outputs);
    const char* unit = depthwise ? "GB/s" : "GFLOP/s";
    const std::string shape =
        fmt::format("{}x{}x{}x{} to {}", layer.images, layer.channels, layer.extent, layer.extent, layer.outputs);
    if (print_) fmt::print("{:16} {:24} {:5}", layer.name, shape, last ? "NHWC" : "NCHW");
    const double beside = speed(depthwise ? copy_ : product_);
    for (const ConvolutionPass pass :
         {ConvolutionPass::forward, ConvolutionPass::to_data, ConvolutionPass::to_filter}) {
      const Array& like = pass == ConvolutionPass::forward ? y : pass == ConvolutionPass::to_data ? x : w;
      // a separate array, otherwise each pass would read larger numbers, up to infinity
      const Array result = like.copy();
      const auto view = [&](const Array& a) { return &a == &like ? writable(result) : readable(a); };
      const View vx = view(x), vw = view(w), vy = view(y);
      const primitives::Convolution convolution{pass, window, layer.groups, vx, vw, vy};
      const double rate = speed({[&] { compute(device_, convolution); }, amount, unit}), share = rate / beside;
      add_row(layer, shape, last, pass, {amount / rate * 1e-9, rate, share}, unit);
      if (print_) fmt::print(" {:6.1f} {:3.0f}%{:7}", rate, share * 100, "");
    }
    if (print_) fmt::print(" {:6.1f} {}\n", beside, unit), std::fflush(stdout);
  }

  struct Result {
    double seconds, rate, share;
  };
  void add_row(const Layer& layer, const std::string& shape, bool last, ConvolutionPass pass, const Result& result,
               const char* unit) {
    constexpr const char* passes[] = {"forward", "to_data", "to_filter"};
    rows.push_back({{"layer", layer.name},
                    {"shape", shape},
                    {"order", last ? "NHWC" : "NCHW"},
                    {"pass", passes[static_cast<int>(pass)]},
                    {"images", layer.images},
                    {"channels", layer.channels},
                    {"extent", layer.extent},
                    {"outputs", layer.outputs},
                    {"window", layer.size},
                    {"stride", layer.stride},
                    {"groups", layer.groups},
                    {"seconds", result.seconds},
                    {"rate", result.rate},
                    {"unit", unit},
                    {"share", result.share}});
    if (const auto computation = last_computation(device_, "dnn")) {
      rows.back()["computation"] = computation_json(*computation);
      ++computations[computation->text()];
    }
  }

  Device device_ = current_device();
  std::int64_t batches_ = device_.is_cpu() ? 1 : 8;  // GPUs need more images to be busy
  Dtype dtype_;
  std::int64_t most_;
  bool print_;
  Work product_, copy_;
};

}  // namespace

nlohmann::ordered_json bench_convolutions(Dtype dtype, std::int64_t most, bool print) {
  Bench bench(dtype, most, print);
  if (print)
    fmt::print("{:46} {:>12} {:>18} {:>18}       {}\n", "", "forward", "to data", "to filter",
               "of a product of 1024x1024 (depthwise: of copies) beside it");
  for (const Layer& layer : kLayers) bench.measure(layer);
  if (print)
    for (const auto& [text, count] : bench.computations) fmt::print("{:4} by {}\n", count, text);
  return bench.rows;
}

}  // namespace catenary::command
