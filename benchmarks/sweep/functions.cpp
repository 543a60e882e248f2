// Measures functions of networks, forward and with backward: bench_functions [--dtype bfloat16] [NAME…]
//
// A NAME is a part of a case's name; without one all cases run. Prints a line of JSON for each case and pass, with the
// least time in seconds. torch_functions.py has the same cases, and functions.py runs both in turn.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "catenary/catenary.h"

namespace {

using namespace catenary;
namespace F = functions;
using V = std::vector<Variable>;

/// A function of variables with these shapes.
struct Case {
  std::string name;
  std::vector<Shape> shapes;
  std::function<Variable(const V&)> f;
};
using Cases = std::vector<Case>;

Dtype dtype = Dtype::float32;

Array normal(const Shape& shape) { return random::normal(0, 1, shape).astype(dtype).eval(); }
Variable integers(std::int64_t end, const Shape& shape, std::int64_t begin = 0) {
  return Variable(random::randint(begin, end, shape, {.dtype = Dtype::int64}).eval());
}

void add_convolutions(Cases& all) {
  const auto add = [&](const char* name, const Shape& x, const Shape& w, const F::ConvolutionOptions& options) {
    all.push_back({name, {x, w, {w[0]}}, [=](const V& v) { return F::convolution_nd(v[0], v[1], v[2], options); }});
  };
  add("conv1d 16x64x1000 k5", {16, 64, 1000}, {64, 64, 5}, {.pad = 2});
  add("conv1d dilated 4x64x8000 k3 d8", {4, 64, 8000}, {64, 64, 3}, {.pad = 8, .dilate = 8});
  add("conv1d depthwise 8x256x1000 k31", {8, 256, 1000}, {256, 1, 31}, {.pad = 15, .groups = 256});
  add("conv2d 16x64x56x56 k3", {16, 64, 56, 56}, {64, 64, 3, 3}, {.pad = 1});
  add("conv2d 8x3x224x224 k7 s2", {8, 3, 224, 224}, {64, 3, 7, 7}, {.stride = 2, .pad = 3});
  add("conv2d 1x1 16x256x28x28 to 64", {16, 256, 28, 28}, {64, 256, 1, 1}, {});
  add("conv2d depthwise 16x128x28x28 k3", {16, 128, 28, 28}, {128, 1, 3, 3}, {.pad = 1, .groups = 128});
  add("conv2d depthwise k7 8x96x56x56", {8, 96, 56, 56}, {96, 1, 7, 7}, {.pad = 3, .groups = 96});
  add("conv2d grouped32 8x256x28x28 k3", {8, 256, 28, 28}, {256, 8, 3, 3}, {.pad = 1, .groups = 32});
  add("conv2d dilated 4x128x32x32 d2", {4, 128, 32, 32}, {128, 128, 3, 3}, {.pad = 2, .dilate = 2});
  add("conv3d 2x16x16x32x32 k3", {2, 16, 16, 32, 32}, {32, 16, 3, 3, 3}, {.pad = 1});
  all.push_back({"deconv2d 16x128x16x16 k4 s2 to 64", {{16, 128, 16, 16}, {128, 64, 4, 4}, {64}}, [](const V& v) {
                   return F::deconvolution_2d(v[0], v[1], v[2], {.stride = 2, .pad = 1});
                 }});
  all.push_back({"linear 128x1024 to 1024", {{128, 1024}, {1024, 1024}, {1024}}, [](const V& v) {
                   return F::linear(v[0], v[1], v[2]);
                 }});
}

void add_normalizations(Cases& all) {
  const auto layer = [](const V& v) { return F::layer_normalization(v[0], v[1], v[2]); };
  const auto batch = [](const V& v) { return F::batch_normalization(v[0], v[1], v[2]); };
  all.push_back({"layer_norm 8x128x768", {{8, 128, 768}, {768}, {768}}, layer});
  all.push_back({"layer_norm 10x64", {{10, 64}, {64}, {64}}, layer});
  all.push_back({"layer_norm 64x10000", {{64, 10000}, {10000}, {10000}}, layer});
  all.push_back(
      {"rms_norm 8x128x768", {{8, 128, 768}, {768}}, [](const V& v) { return F::rms_normalization(v[0], v[1]); }});
  all.push_back({"group_norm 8x64x56x56 g32", {{8, 64, 56, 56}, {64}, {64}}, [](const V& v) {
                   return F::group_normalization(v[0], 32, v[1], v[2]);
                 }});
  all.push_back({"instance_norm 8x64x56x56", {{8, 64, 56, 56}, {64}, {64}}, [](const V& v) {
                   return F::instance_normalization(v[0], v[1], v[2]);
                 }});
  all.push_back({"batch_norm 16x64x56x56", {{16, 64, 56, 56}, {64}, {64}}, batch});
  all.push_back({"batch_norm 128x512", {{128, 512}, {512}, {512}}, batch});
  all.push_back(
      {"lrn 8x64x28x28", {{8, 64, 28, 28}}, [](const V& v) { return F::local_response_normalization(v[0]); }});
  all.push_back({"normalize 512x256", {{512, 256}}, [](const V& v) { return F::normalize(v[0]); }});
}

void add_losses(Cases& all) {
  const auto softmax = [&](const char* name, const Shape& x, int axis) {
    all.push_back({name, {x}, [=](const V& v) { return F::softmax(v[0], axis); }});
  };
  softmax("softmax 1024x1000", {1024, 1000}, 1);
  softmax("softmax 8x8x128x128", {8, 8, 128, 128}, 3);
  softmax("softmax 16x50257", {16, 50257}, 1);
  softmax("softmax axis1 16x21x64x64", {16, 21, 64, 64}, 1);
  all.push_back({"log_softmax 1024x1000", {{1024, 1000}}, [](const V& v) { return F::log_softmax(v[0], 1); }});
  all.push_back(
      {"log_softmax axis1 16x21x64x64", {{16, 21, 64, 64}}, [](const V& v) { return F::log_softmax(v[0], 1); }});
  all.push_back({"logsumexp 1024x1000", {{1024, 1000}}, [](const V& v) { return F::logsumexp(v[0], 1); }});
  const auto entropy = [&](const char* name, const Shape& x, const Variable& t) {
    all.push_back({name, {x}, [=](const V& v) { return F::softmax_cross_entropy(v[0], t); }});
  };
  entropy("cross_entropy 512x1000", {512, 1000}, integers(1000, {512}));
  entropy("cross_entropy 4x21x64x64", {4, 21, 64, 64}, integers(21, {4, 64, 64}));
  all.push_back({"sigmoid_cross_entropy 512x100", {{512, 100}}, [t = integers(2, {512, 100})](const V& v) {
                   return F::sigmoid_cross_entropy(v[0], t);
                 }});
  all.push_back(
      {"mse 512x1000", {{512, 1000}, {512, 1000}}, [](const V& v) { return F::mean_squared_error(v[0], v[1]); }});
  all.push_back(
      {"huber 512x1000", {{512, 1000}, {512, 1000}}, [](const V& v) { return F::huber_loss(v[0], v[1], 1.0); }});
  all.push_back(
      {"ctc T100 n16 c40 l20", std::vector<Shape>(100, {16, 40}),
       [t = integers(40, {16, 20}, 1)](const V& v) { return F::connectionist_temporal_classification(v, t, 0); }});
}

void add_activations(Cases& all) {
  const auto add = [&](const char* name, const std::function<Variable(const Variable&)>& f) {
    all.push_back({std::string(name) + " 1024x1024", {{1024, 1024}}, [f](const V& v) { return f(v[0]); }});
  };
  add("gelu", [](const Variable& x) { return F::gelu(x); });
  add("gelu_tanh", [](const Variable& x) { return F::gelu(x, F::GeluForm::tanh); });
  add("silu", [](const Variable& x) { return F::silu(x); });
  add("elu", [](const Variable& x) { return F::elu(x); });
  add("softplus", [](const Variable& x) { return F::softplus(x); });
  add("relu", [](const Variable& x) { return F::relu(x); });
  add("leaky_relu", [](const Variable& x) { return F::leaky_relu(x); });
  add("tanh", [](const Variable& x) { return F::tanh(x); });
  add("sigmoid", [](const Variable& x) { return F::sigmoid(x); });
  add("dropout", [](const Variable& x) { return F::dropout(x, 0.5); });
  all.push_back({"prelu 16x64x28x28", {{16, 64, 28, 28}, {64}}, [](const V& v) { return F::prelu(v[0], v[1]); }});
}

void add_images(Cases& all) {
  const auto resize = [&](const char* name, F::ResizeMode mode, const Shape& size) {
    all.push_back({name, {{8, 64, 28, 28}}, [=](const V& v) {
                     return F::resize_images(v[0], size, {.mode = mode, .align_corners = false});
                   }});
  };
  resize("bilinear 8x64x28x28 to 56", F::ResizeMode::bilinear, {56, 56});
  resize("bilinear 8x64x28x28 to 17", F::ResizeMode::bilinear, {17, 17});
  resize("nearest 8x64x28x28 to 56", F::ResizeMode::nearest, {56, 56});
  all.push_back({"unpooling 8x64x28x28 x2", {{8, 64, 28, 28}}, [](const V& v) {
                   return F::unpooling_2d(v[0], 2, {.cover_all = false});
                 }});
  all.push_back({"grid_sample 8x16x64x64", {{8, 16, 64, 64}, {8, 2, 64, 64}}, [](const V& v) {
                   return F::spatial_transformer_sampler(v[0], v[1] * 0.5);
                 }});
  const auto max = [&](const char* name, const PerAxis& size, const F::MaxPoolingOptions& options) {
    all.push_back({name, {{16, 64, 56, 56}}, [=](const V& v) { return F::max_pooling_2d(v[0], size, options); }});
  };
  max("max_pool2d 16x64x56x56 k3 s2", 3, {.stride = 2, .pad = 1, .cover_all = false});
  max("max_pool2d 16x64x56x56 k2", 2, {.cover_all = false});
  all.push_back(
      {"avg_pool2d 16x64x56x56 k2", {{16, 64, 56, 56}}, [](const V& v) { return F::average_pooling_2d(v[0], 2); }});
  all.push_back(
      {"avg_pool2d global 16x512x7x7", {{16, 512, 7, 7}}, [](const V& v) { return F::average_pooling_2d(v[0], 7); }});
  all.push_back({"pad 16x64x56x56 1", {{16, 64, 56, 56}}, [](const V& v) {
                   return F::pad(v[0], PerSide<std::int64_t>{{0, 0}, {0, 0}, {1, 1}, {1, 1}});
                 }});
  all.push_back({"depth2space 8x64x32x32 r2", {{8, 64, 32, 32}}, [](const V& v) { return F::depth2space(v[0], 2); }});
  all.push_back({"im2col 8x32x28x28 k3", {{8, 32, 28, 28}}, [](const V& v) { return F::im2col(v[0], 3, {.pad = 1}); }});
  all.push_back({"im2col 8x32x56x56 k3 s2", {{8, 32, 56, 56}}, [](const V& v) {
                   return F::im2col(v[0], 3, {.stride = 2, .pad = 1});
                 }});
}

void add_arrays(Cases& all) {
  all.push_back({"attention 8x8x128x64", {{8, 8, 128, 64}, {8, 8, 128, 64}, {8, 8, 128, 64}}, [](const V& v) {
                   return F::scaled_dot_product_attention(v[0], v[1], v[2]);
                 }});
  all.push_back({"embedding 30000x256, 32x128", {{30000, 256}}, [t = integers(30000, {32, 128})](const V& v) {
                   return F::embed_id(t, v[0]);
                 }});
  all.push_back(
      {"matmul batch 64x64x64", {{64, 64, 64}, {64, 64, 64}}, [](const V& v) { return F::matmul(v[0], v[1]); }});
  all.push_back({"concat 4 of 64x256", std::vector<Shape>(4, {64, 256}), [](const V& v) { return F::concat(v, 1); }});
  all.push_back({"cumsum 512x1000", {{512, 1000}}, [](const V& v) { return F::cumsum(v[0], 1); }});
  all.push_back({"max axis1 512x1000", {{512, 1000}}, [](const V& v) { return F::max(v[0], 1); }});
  all.push_back({"sum 16x64x56x56 to 64", {{16, 64, 56, 56}}, [](const V& v) { return F::sum(v[0], Axes{0, 2, 3}); }});
}

/// Recurrent networks with the weights and biases of each gate, of one layer and direction.
void add_recurrent(Cases& all) {
  const auto add = [&](const char* name, int gates, std::int64_t steps, std::int64_t n, std::int64_t in,
                       std::int64_t units) {
    std::vector<Shape> shapes;
    for (int gate = 0; gate < 2 * gates; ++gate) shapes.push_back({units, gate < gates ? in : units});
    for (int gate = 0; gate < 2 * gates; ++gate) shapes.push_back({units});
    for (std::int64_t t = 0; t < steps; ++t) shapes.push_back({n, in});
    all.push_back({name, shapes, [=](const V& v) {
                     const F::LayerParameters ws{V(v.begin(), v.begin() + 2 * gates)},
                         bs{V(v.begin() + 2 * gates, v.begin() + 4 * gates)};
                     const V xs(v.begin() + 4 * gates, v.end());
                     const Variable h(zeros({1, n, units}, dtype)), c(zeros({1, n, units}, dtype));
                     if (gates == 4) return F::stack(F::n_step_lstm(1, 0, h, c, ws, bs, xs).ys);
                     if (gates == 3) return F::stack(F::n_step_gru(1, 0, h, ws, bs, xs).ys);
                     return F::stack(F::n_step_rnn(1, 0, h, ws, bs, xs).ys);
                   }});
  };
  add("lstm 256 T50 n32 in128", 4, 50, 32, 128, 256);
  add("lstm 64 T100 n8 in32", 4, 100, 8, 32, 64);
  add("gru 256 T50 n32 in128", 3, 50, 32, 128, 256);
  add("rnn 256 T50 n32 in128", 1, 50, 32, 128, 256);
}

double least_seconds(const std::function<void()>& work) {
  work();
  double least = 1e9, total = 0;
  for (int run = 0; run < 200 && (total < 0.3 || run < 5); ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    least = std::min(least, time);
    total += time;
  }
  return least;
}

void report(const Case& c, const char* pass, const std::function<void()>& work) {
  fmt::print("{{\"row\": \"{} {}\", \"who\": \"Catenary\", \"samples\": [{:.4g}]}}\n", c.name, pass,
             least_seconds(work));
  std::fflush(stdout);
}

void measure(const Case& c) {
  V inputs;
  for (const Shape& shape : c.shapes) inputs.push_back(Variable((normal(shape) * 0.1).eval()));
  report(c, "forward", [&] {
    const auto scope = no_backprop_mode();
    c.f(inputs).array().eval();
  });
  Array gy;
  report(c, "with backward", [&] {
    for (Variable& v : inputs) v.cleargrad();
    Variable y = c.f(inputs);
    if (!gy.defined()) gy = normal(y.shape());
    y.set_grad(gy);
    y.backward();
    y.array().eval();
    for (const Variable& v : inputs)
      if (v.grad().defined()) v.grad().eval();
  });
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.size() >= 2 && names[0] == "--dtype") {
    dtype = dtype_from_name(names[1]);
    names.erase(names.begin(), names.begin() + 2);
  }
  random::seed(0);
  Cases all;
  for (const auto add :
       {add_convolutions, add_normalizations, add_losses, add_activations, add_images, add_arrays, add_recurrent})
    add(all);
  for (const Case& c : all)
    if (names.empty() || std::any_of(names.begin(), names.end(),
                                     [&](const std::string& part) { return c.name.find(part) != std::string::npos; }))
      measure(c);
}
