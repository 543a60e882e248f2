// Exports functions of each family.

#include "catenary/functions/functions.h"
#include "catenary/links/rnn.h"
#include "tests/onnx/exports.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
using onnx_exports::expect_round_trip;
using onnx_exports::sample;
using Inputs = std::span<const Variable>;

void expect_function(const std::function<Variable(const Variable&)>& f, const Shape& shape = {3, 4, 5}) {
  expect_round_trip([&](Inputs x) { return std::vector{f(x[0])}; }, {sample(shape)});
}

TEST(OnnxExport, WritesElementwiseFunctions) {
  using One = Variable (*)(const Variable&);
  for (const One f :
       std::initializer_list<One>{F::absolute, F::arctan,       F::cos,      F::cosh,     F::erf,    F::erfc, F::exp,
                                  F::expm1,    F::hard_sigmoid, F::identity, F::negative, F::ndtr,   F::relu, F::relu6,
                                  F::sigmoid,  F::silu,         F::sin,      F::sinh,     F::square, F::tan,  F::tanh})
    expect_function([&](const Variable& x) { return f(x); });
  for (const One f : std::initializer_list<One>{F::arccos, F::arcsin, F::arctanh, F::log, F::log10, F::log1p, F::log2,
                                                F::rsqrt, F::sqrt})
    expect_function([&](const Variable& x) { return f(F::sigmoid(x)); });
  expect_function([](const Variable& x) { return (2.0 - x) * 0.5 / 3.0 + 1.5 / (x * x + 1.0) - x; });
  expect_function([](const Variable& x) { return pow(x, 3) + pow(x, 2.0) + pow(1.5, x); });
  expect_function([](const Variable& x) { return F::clip(x, -0.5, 1.25) + F::clip(x, {}, 0.5); });
  expect_function([](const Variable& x) { return F::elu(x) + F::selu(x) + F::leaky_relu(x) + F::rrelu(x); });
  expect_function([](const Variable& x) { return F::crelu(x) + F::crelu(-x, 1); });
  expect_function([](const Variable& x) { return F::gelu(x) + F::gelu(x, F::GeluForm::tanh) + F::softplus(x, 2); });
  expect_function([](const Variable& x) { return F::cast(F::cast(x, Dtype::float64) * 2.0, Dtype::float32); });
}

TEST(OnnxExport, WritesFunctionsOfSeveralInputs) {
  const Array x = sample({3, 4, 5}), y = sample({3, 4, 5});
  const auto expect = [&](const std::function<Variable(const Variable&, const Variable&)>& f) {
    expect_round_trip([&](Inputs in) { return std::vector{f(in[0], in[1])}; }, {x, y});
  };
  expect([](const Variable& a, const Variable& b) { return a + b * a - a / (b * b + 1.0); });
  expect([](const Variable& a, const Variable& b) { return F::maximum(a, b) * F::minimum(a, b); });
  expect([](const Variable& a, const Variable& b) { return F::arctan2(a, b); });
  expect([](const Variable& a, const Variable& b) { return F::fmod(a, b + 5.0); });
  expect([](const Variable& a, const Variable& b) { return F::linear_interpolate(F::sigmoid(a), a, b); });
  expect([](const Variable& a, const Variable& b) { return F::matmul(a, b, false, true); });
  expect([](const Variable& a, const Variable& b) { return F::matmul(a, b, true); });
  expect([](const Variable& a, const Variable& b) { return F::einsum("ijk,ijl->ilk", {a, b}); });
  expect([](const Variable& a, const Variable& b) { return F::concat({a, b, a}, 2); });
  expect([](const Variable& a, const Variable& b) { return F::stack({a, b}, 1) + F::stack({b, a}, -3); });
  expect([](const Variable& a, const Variable& b) { return F::squared_error(a, b) + F::absolute_error(a, b); });
  expect(
      [](const Variable& a, const Variable& b) { return F::mean_squared_error(a, b) + F::mean_absolute_error(a, b); });
  expect([](const Variable& a, const Variable& b) { return F::huber_loss(a, b, 1.0, F::Reduce::no); });
  expect_round_trip([](Inputs in) { return std::vector{F::where(in[1], in[0], -1.0)}; },
                    {x, array({1, 0, 1}).reshape({3, 1, 1})});
  const Variable weight(sample({4, 5})), beta(sample({4, 5}));
  expect_function([&](const Variable& v) { return F::prelu(v, weight) + F::swish(v, beta); });
}

TEST(OnnxExport, WritesReductions) {
  expect_function([](const Variable& x) { return F::sum(x, 1) + F::mean(x, 1) - F::max(x, -2) * F::min(x, 1); });
  expect_function([](const Variable& x) { return F::sum(x, {1, 2}, true) * F::prod(x, 1, true); });
  expect_function([](const Variable& x) { return F::logsumexp(x, 1) + F::cumsum(x, 1)(slice(), -1); });
  expect_function([](const Variable& x) { return F::softmax(x, 2) - F::log_softmax(x, 1); });
  expect_function([](const Variable& x) { return F::argmax(x, 1); });
  expect_function([](const Variable& x) { return F::argmin(x, -1); });
  expect_function([](const Variable& x) { return F::sum_to(x, {4, 1}); });
}

TEST(OnnxExport, WritesMovesOfElements) {
  expect_function([](const Variable& x) { return F::reshape(F::transpose(x, {0, 2, 1}), {-1, 2, 10}); });
  expect_function([](const Variable& x) { return F::reshape(x, {x.shape(0) * 4, 5}); });
  expect_function([](const Variable& x) { return F::transpose(F::reshape(x, {2, 2, x.shape(0), 5})); });
  expect_function([](const Variable& x) { return F::flip(x, 2) + F::tile(x(slice(), slice(), slice(1)), {1, 1, 5}); });
  expect_function([](const Variable& x) { return F::repeat(x, 3, 1); });
  expect_function([](const Variable& x) { return F::broadcast_to(F::sum(x, 1, true), x.shape()) * x; });
  expect_function([](const Variable& x) { return x(slice(), slice(1, -1), slice(none, none, 2)); });
  expect_function([](const Variable& x) { return x(slice(), 2) + x(slice(), -1) + x(slice(), ellipsis, 1, slice()); });
  expect_function([](const Variable& x) { return x(ellipsis, newaxis, slice(none, none, -1)); });
  expect_function([](const Variable& x) { return x(slice(), array({2, 0, 2})); });
  expect_function([](const Variable& x) { return F::pad(x, PerSide<std::int64_t>({{0, 0}, {1, 2}, {0, 3}})); });
  expect_function([](const Variable& x) {
    const auto parts = F::split_axis(x, std::vector<std::int64_t>{1, 3}, 1);
    return F::concat({parts[2], parts[0]}, 1);
  });
  expect_function([](const Variable& x) { return F::separate(x, 2)[3] * F::split_axis(x, 5, 2)[0](ellipsis, 0); });
  expect_function([](const Variable& x) { return F::where(array({true, false, true, true, false}), x, -1.5); });
}

TEST(OnnxExport, WritesLayers) {
  const Variable w(sample({6, 2, 3, 2})), b(sample({6})), gamma(sample({4})), beta(sample({4}));
  const Shape shape = {2, 4, 9, 8};
  F::ConvolutionOptions options;
  options.stride = {2, 1};
  options.pad = {1, 0};
  options.groups = 2;
  expect_function([&](const Variable& x) { return F::convolution_2d(x, w, b, options); }, shape);
  const Variable back(sample({4, 3, 3, 2}));
  F::DeconvolutionOptions up;
  up.stride = 2;
  up.pad = 1;
  expect_function([&](const Variable& x) { return F::deconvolution_2d(x, back, up); }, shape);
  expect_function([&](const Variable& x) { return F::max_pooling_2d(x, 3, {.stride = 2, .pad = 1}); }, shape);
  expect_function([&](const Variable& x) { return F::average_pooling_2d(x, 2, {.pad = 1, .pad_value = {}}); }, shape);
  expect_function([&](const Variable& x) { return F::group_normalization(x, 2, gamma, beta); }, shape);
  expect_function([&](const Variable& x) { return F::local_response_normalization(x); }, shape);
  const Variable g(sample({8})), d(sample({8}));
  expect_function([&](const Variable& x) { return F::layer_normalization(x, g, d); }, shape);
  expect_function([&](const Variable& x) { return F::rms_normalization(x, g); }, shape);
}

TEST(OnnxExport, WritesImagesOfAnySize) {
  const Variable w(sample({4, 3, 3, 3}));
  const auto net = [&](Inputs x) {
    const Variable h = F::max_pooling_2d(F::relu(F::convolution_2d(x[0], w)), 2);
    return std::vector{F::reshape(h, {x[0].shape(0), 4, h.shape(2) * h.shape(3)}), F::mean(h, {2, 3})};
  };
  const tests::Folder folder;
  const onnx::DynamicAxes axes{{"x", {{0, "n"}, {2, "h"}, {3, "w"}}}};
  onnx::export_model(folder / "net.onnx", Chain(), net, {sample({2, 3, 8, 11})}, {.dynamic_axes = axes});
  const onnx::Model read(folder / "net.onnx");
  EXPECT_EQ(read.inputs()[0].shape, (std::vector<std::string>{"n", "3", "h", "w"}));
  for (const Shape& shape : {Shape{1, 3, 5, 7}, Shape{3, 3, 10, 6}}) {
    const std::vector<Variable> x{sample(shape)}, wanted = net(x), got = read(x);
    for (std::size_t i = 0; i < 2; ++i) onnx_exports::expect_close(got[i].array(), wanted[i].array());
  }
}

TEST(OnnxExport, WritesSamplers) {
  const Shape shape = {2, 3, 5, 6};
  expect_function([](const Variable& x) { return F::resize_images(x, {7, 4}); }, shape);
  expect_function([](const Variable& x) { return F::resize_images(x, {10, 12}, {F::ResizeMode::nearest}); }, shape);
  expect_function([](const Variable& x) { return F::resize_images(x, {9, 3}, {.align_corners = false}); }, shape);
  expect_function([](const Variable& x) { return F::unpooling_2d(x, 2, {.cover_all = false}); }, shape);
  expect_function([](const Variable& x) { return F::unpooling_2d(x, 3, {.stride = 2, .pad = 1}); }, shape);
  expect_round_trip([](Inputs in) { return std::vector{F::spatial_transformer_sampler(in[0], in[1])}; },
                    {sample(shape), sample({2, 2, 4, 7})});
}

TEST(OnnxExport, WritesAttentionAndCells) {
  const Shape shape = {2, 4, 6, 8};
  expect_function([](const Variable& x) { return F::scaled_dot_product_attention(x, x * 0.5, x + 1.0); }, shape);
  F::AttentionOptions options;
  options.causal = true;
  expect_function(
      [&](const Variable& x) {
        const Variable k = x(slice(), slice(2));
        return F::scaled_dot_product_attention(x, k, k, options);
      },
      shape);
  expect_function([](const Variable& x) { return F::rotary_embedding(x, arange(6)); }, shape);
  F::RotaryOptions rotary;
  rotary.interleaved = true;
  rotary.dims = 4;
  expect_function([&](const Variable& x) { return F::rotary_embedding(x, arange(6), rotary); }, shape);
  const L::LSTM lstm(8, 5);
  expect_round_trip(lstm,
                    [&](Inputs x) {
                      const StateScope scope;
                      lstm.reset_state();
                      lstm(x[0](slice(), 0));
                      return std::vector{lstm(x[0](slice(), 1))};
                    },
                    {sample({2, 2, 8})});
}

}  // namespace
}  // namespace catenary
