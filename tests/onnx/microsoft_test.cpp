// Operators of the domain com.microsoft. The expected numbers are ONNX Runtime's.

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "tests/arrays.h"
#include "tests/gradients.h"
#include "tests/onnx/node.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using namespace onnx_writer;
using tests::error_of;
using tests::has;

Variable wave32(const Shape& shape, double phase) { return Variable(tests::waves(shape, phase, Dtype::float32)); }

/// Returns bytes 0, step, 2 step, …
Variable stepped_bytes(const Shape& shape, int step, Dtype dtype = Dtype::uint8) {
  const Array all = remainder(multiply(arange(shape.product(), Dtype::int64), step), 256);
  const Array wrapped = dtype == Dtype::int8 ? subtract(remainder(add(all, 128), 256), 128) : all;
  return Variable(wrapped.astype(dtype).reshape(shape));
}

Variable real(double value) { return Variable(full(Shape{}, value, Dtype::float32)); }
Variable byte(int value, Dtype dtype = Dtype::uint8) { return Variable(full(Shape{}, value, dtype)); }
Variable int32s(const std::vector<int>& values, const Shape& shape) {
  return Variable(Array::from_host(values.data(), shape, Dtype::int32));
}

std::vector<Variable> run_microsoft(const std::string& type, const std::vector<Variable>& inputs,
                                    const std::vector<Message>& attributes = {}, int outputs = 1,
                                    const std::string& domain = "com.microsoft") {
  return run_node(type, inputs, attributes, outputs, 17, domain);
}

void expect_numbers(const Variable& y, const std::vector<double>& wanted, double tolerance = 1e-5) {
  const std::vector<double> got = y.array().to_vector<double>();
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << i;
}

TEST(OnnxMicrosoft, FusesProductsAndConvolutions) {
  expect_numbers(run_microsoft("FusedMatMul", {wave32({3, 2}, 0), wave32({2, 3}, 1)},
                               {number("transA", 1), number("transB", 1), attribute("alpha", 0.5)})[0],
                 {-0.289706, -0.146151, -0.16053, -0.582559});
  expect_numbers(
      run_microsoft("FusedGemm", {wave32({2, 3}, 0), wave32({2, 3}, 1), wave32({2}, 2)},
                    {attribute("activation", "LeakyRelu"), attribute("activation_alpha", 0.2), number("transB", 1)})[0],
      {1.57629, 0.479588, -0.0836833, 0.0721987});
  const std::vector<Variable> x{wave32({1, 2, 3, 3}, 0), wave32({1, 2, 2, 2}, 1), wave32({1}, 2),
                                wave32({1, 1, 2, 2}, 3)};
  const Message parameters = Message().text(1, "activation_params").real(7, 0.3F).real(7, 0.4F).integer(20, 6);
  expect_numbers(run_microsoft("FusedConv", x, {attribute("activation", "HardSigmoid"), parameters})[0],
                 {0.915729, 0.0574901, 1, 0.993924});
}

TEST(OnnxMicrosoft, ComputesGelus) {
  const Variable x = wave32({2, 3}, 0), bias = wave32({3}, 1);
  expect_numbers(run_microsoft("BiasGelu", {x, bias})[0],
                 {0.673141, 1.30844, -0.137238, -0.0393371, 0.757102, -0.067241});
  expect_numbers(run_microsoft("FastGelu", {x, bias})[0],
                 {0.673044, 1.30821, -0.137453, -0.0393371, 0.756977, -0.0672412});
  expect_numbers(run_microsoft("Gelu", {x + bias})[0], {0.673141, 1.30844, -0.137238, -0.0393371, 0.757102, -0.067241});
  expect_numbers(run_microsoft("QuickGelu", {x}, {attribute("alpha", 1.5)})[0],
                 {0, 0.808903, -0.103578, -0.184804, 0.334639, 0.613335});
}

TEST(OnnxMicrosoft, NormalizesSums) {
  const std::vector<Message> eps{attribute("epsilon", 0.1)};
  const Variable x = wave32({1, 2, 3}, 0);
  expect_numbers(run_microsoft("SkipLayerNormalization",
                               {x, wave32({2, 3}, 1), wave32({3}, 2), wave32({3}, 3), wave32({3}, 4)}, eps)[0],
                 {-0.0621257, -1.59436, 0.8108, -1.09601, -1.24351, -0.579549});
  expect_numbers(run_microsoft("SkipSimplifiedLayerNormalization", {x, wave32({1, 2, 3}, 1), wave32({3}, 2)}, eps)[0],
                 {0.626206, -0.615333, 0.763446, -0.843594, -0.662214, -0.468041});
  expect_numbers(run_microsoft("SimplifiedLayerNormalization", {wave32({2, 3}, 0), wave32({3}, 1)}, eps, 1, "")[0],
                 {0, 0.632094, 0.362676, -0.944996, 0.256158, -0.921701});
  const std::vector<Variable> embedded =
      run_microsoft("EmbedLayerNormalization",
                    {int32s({1, 2, 3, 1}, {2, 2}), int32s({0, 1, 1, 1}, {2, 2}), wave32({4, 3}, 0), wave32({3, 3}, 1),
                     wave32({2, 3}, 2), wave32({3}, 3), wave32({3}, 4), int32s({1, 0, 1, 1}, {2, 2})},
                    eps, 2);
  expect_numbers(embedded[0], {-0.629791, -0.915031, 0.751343, -0.848422, -1.754, 0.83412, -0.588869, -0.574005,
                               0.757296, -0.866063, -1.90604, 0.830968});
  expect_numbers(embedded[1], {1, 2});
  EXPECT_TRUE(has(error_of<ValueError>([&] {
                    run_microsoft("SkipLayerNormalization", {x, x, wave32({3}, 2)}, {}, 2);
                  }),
                  "are not supported as results"));
}

TEST(OnnxMicrosoft, MultipliesWeightsOfFewBits) {
  const auto options = [](std::int64_t bits) {
    return std::vector<Message>{number("N", 2), number("K", 20), number("block_size", 16), number("bits", bits)};
  };
  const Variable x = wave32({2, 20}, 0), scales = wave32({2, 2}, 1);
  expect_numbers(
      run_microsoft("MatMulNBits", {x, stepped_bytes({2, 2, 8}, 37), scales, stepped_bytes({2, 1}, 91)}, options(4))[0],
      {-2.58862, -2.36796, -2.46951, 13.4135});
  expect_numbers(run_microsoft("MatMulNBits", {x, stepped_bytes({2, 2, 4}, 37), scales}, options(2))[0],
                 {2.27295, -3.86357, -3.79962, 4.32377});
  EXPECT_TRUE(has(error_of<ValueError>([&] {
                    run_microsoft("MatMulNBits", {x, stepped_bytes({2, 2, 6}, 37), scales}, options(3));
                  }),
                  "weights of 3 bits are not supported"));
}

TEST(OnnxMicrosoft, KeepsConstantWeightsOfFewBits) {
  const auto bytes = [](const std::string& name, const Array& a) {
    const std::vector<std::uint8_t> values = a.to_vector<std::uint8_t>();
    Message m;
    for (const std::int64_t n : a.shape()) m.integer(1, static_cast<std::uint64_t>(n));
    return m.integer(2, 2).text(8, name).text(9, std::string(values.begin(), values.end()));
  };
  const Variable x = wave32({3, 128}, 0), packed = stepped_bytes({4, 2, 32}, 37);
  const std::vector<Message> options{number("N", 4), number("K", 128), number("block_size", 64), number("bits", 4)};
  // float16 holds the first scales; the others, and zero points, need unpacked weights
  const std::vector<float> halves{0.5F, 0.25F, 1.5F, -2.0F, 0.125F, 3.0F, 0.75F, 1.0F}, thirds(8, 1.0F / 3);
  for (const std::vector<float>& scales : {halves, thirds}) {
    for (const bool has_zeros : {false, true}) {
      Graph graph;
      graph.initializers = {bytes("w", packed.array()), tensor("s", {8}, scales)};
      std::vector<Variable> inputs{x, packed, Variable(Array::from_host(scales.data(), {8}, Dtype::float32))};
      if (has_zeros) {
        inputs.push_back(stepped_bytes({4, 1}, 91));
        graph.initializers.push_back(bytes("z", inputs[3].array()));
      }
      graph.inputs = {value("x", {3, 128})};
      graph.outputs = {value("y", {3, 4})};
      graph.nodes = {
          node("MatMulNBits",
               has_zeros ? std::vector<std::string>{"x", "w", "s", "z"} : std::vector<std::string>{"x", "w", "s"},
               {"y"}, options, "com.microsoft")};
      Message whole = model(graph.message(), 17);
      whole.message(8, Message().text(1, "com.microsoft").integer(2, 1));
      const Written file(whole);
      const onnx::Model constant(file.path);
      const Array wanted = run_microsoft("MatMulNBits", inputs, options)[0].array();
      const auto no_graph = no_backprop_mode();
      for (int call = 0; call < 2; ++call) tests::expect_near(constant({x})[0].array(), wanted, 1e-3);
    }
  }
}

TEST(OnnxMicrosoft, RotatesByTables) {
  const Variable first(array({std::int64_t{1}}));
  expect_numbers(run_microsoft("RotaryEmbedding", {wave32({1, 2, 8}, 0), first, wave32({4, 2}, 1), wave32({4, 2}, 2)},
                               {number("interleaved", 1)})[0],
                 {0.766323, -0.94367, 0.72144, -0.0176333, 0.146843, -1.14168, 0.578093, -0.397586, 0.62585, 0.898701,
                  -0.0588231, 0.856935, 1.06188, 0.476317, 0.388894, 0.827903});
}

TEST(OnnxMicrosoft, AttendsWithHeads) {
  const Message heads = number("num_heads", 2), forward = number("unidirectional", 1);
  const Variable mask = int32s({1, 0, 1, 1, 1, 1}, {2, 3});
  expect_numbers(run_microsoft("MultiHeadAttention",
                               {wave32({2, 2, 4}, 0), wave32({2, 3, 4}, 1), wave32({2, 3, 4}, 2), wave32({12}, 3), mask,
                                wave32({1, 2, 2, 3}, 4)},
                               {heads})[0],
                 {-0.54325, -1.44742, 0.256364, 1.04526, -0.2257, -1.26124, 0.399942, 1.08139, -1.59748, -0.815236,
                  1.60388, 0.860346, -1.34671, -1.16278, 1.7042, 0.71033});
  const std::vector<Variable> grown = run_microsoft("MultiHeadAttention",
                                                    {wave32({1, 2, 4}, 0),
                                                     wave32({1, 2, 4}, 1),
                                                     wave32({1, 2, 4}, 2),
                                                     {},
                                                     {},
                                                     {},
                                                     wave32({1, 2, 1, 2}, 3),
                                                     wave32({1, 2, 1, 2}, 4)},
                                                    {heads, forward}, 3);
  expect_numbers(grown[0], {0.46149, -0.53544, -0.305674, 0.614431, 0.517385, -0.662965, -0.342898, 0.752576});
  EXPECT_EQ(grown[1].shape(), Shape({1, 2, 3, 2}));
  expect_numbers(
      run_microsoft("Attention", {wave32({2, 2, 3}, 0), wave32({3, 12}, 1), wave32({12}, 2), int32s({1, 2}, {2})},
                    {heads})[0],
      {-0.083751, -1.96761, 0.590785, 1.81537, -0.083751, -1.96761, 0.590785, 1.81537, -0.554031, 0.159668, 0.539673,
       -0.311208, 0.574009, -0.309304, -0.521665, 0.456471});
}

TEST(OnnxMicrosoft, AttendsWithGroupsOfQueries) {
  const std::vector<Message> heads{number("num_heads", 2), number("kv_num_heads", 1)};
  std::vector<Message> window = heads, cap = heads;
  window.push_back(number("local_window_size", 1));
  cap.push_back(attribute("softcap", 0.5));
  const std::vector<Variable> ragged =
      run_microsoft("GroupQueryAttention",
                    {wave32({2, 1, 16}, 0), wave32({2, 1, 8}, 1), wave32({2, 1, 8}, 2), wave32({2, 1, 3, 8}, 3),
                     wave32({2, 1, 3, 8}, 4), int32s({2, 1}, {2}), int32s({3}, {})},
                    window, 3);
  expect_numbers(ragged[0], {0.909297, -0.529836, -0.772764, 0.728969, 0.584917,  -0.879696, -0.358229, 0.972008,
                             0.909297, -0.529836, -0.772764, 0.728969, 0.584917,  -0.879696, -0.358229, 0.972008,
                             0.107753, -0.999774, 0.149877,  0.961152, -0.397557, -0.858707, 0.618836,  0.69924,
                             0.107753, -0.999774, 0.149877,  0.961152, -0.397557, -0.858707, 0.618836,  0.69924});
  EXPECT_EQ(ragged[1].shape(), Shape({2, 1, 3, 8}));
  const std::vector<Variable> prompt{wave32({1, 3, 16}, 0), wave32({1, 3, 8}, 1), wave32({1, 3, 8}, 2), {}, {},
                                     int32s({2}, {1}),      int32s({3}, {})};
  std::vector<Variable> sinks = prompt;
  sinks.resize(11);
  sinks.push_back(wave32({2}, 3));
  expect_numbers(
      run_microsoft("GroupQueryAttention", sinks, cap, 3)[0],
      {0.518207,  -0.301952, -0.440397, 0.415438,  0.333343,  -0.501337, -0.204154, 0.553945,  0.742871,   -0.432862,
       -0.631328, 0.595548,  0.477861,  -0.718688, -0.292663, 0.794104,  0.369269,  -0.567074, -0.22314,   0.624575,
       0.0621939, -0.640601, 0.102882,  0.61409,   0.298004,  -0.737646, -0.107921, 0.765456,  -0.0893296, -0.742437,
       0.280647,  0.670118,  -0.145598, -0.434583, 0.257585,  0.368207,  -0.352468, -0.277379, 0.423946,   0.168133,
       0.0573405, -0.559987, 0.0869617, 0.537579,  -0.22549,  -0.479472, 0.349045,  0.389527});
  cap.push_back(attribute("k_quant_type", "PER_TENSOR"));
  EXPECT_TRUE(has(error_of<ValueError>([&] { run_microsoft("GroupQueryAttention", prompt, cap); }),
                  "quantised keys and values are not supported"));
}

TEST(OnnxMicrosoft, ComputesWithBytes) {
  const Variable a = stepped_bytes({2, 3}, 37);
  const std::vector<Variable> two{a, real(0.1), byte(100), stepped_bytes({3}, 91), real(0.2), byte(90)};
  const auto with = [&](std::vector<Variable> inputs, double scale, int zero) {
    inputs.push_back(real(scale));
    inputs.push_back(byte(zero));
    return inputs;
  };
  expect_numbers(run_microsoft("QLinearAdd", with(two, 0.31, 128))[0], {38, 108, 179, 73, 144, 215});
  expect_numbers(run_microsoft("QLinearMul", with(two, 2.3, 128))[0], {206, 127, 107, 119, 128, 196});
  const std::vector<Variable> one{a, real(0.03), byte(128)};
  expect_numbers(run_microsoft("QLinearSigmoid", with(one, 1 / 256., 0))[0], {5, 16, 42, 96, 165, 217});
  expect_numbers(run_microsoft("QLinearLeakyRelu", with(one, 0.047, 10), {attribute("alpha", 0.2)})[0],
                 {0, 0, 3, 8, 23, 46});
  expect_numbers(run_microsoft("QLinearSoftmax", with(one, 1 / 256., 0), {number("opset", 13), number("axis", -1)})[0],
                 {19, 59, 178, 19, 59, 178});
  expect_numbers(
      run_microsoft("QLinearConcat",
                    {real(0.21), byte(100), a, real(0.1), byte(100), stepped_bytes({1, 3}, 91), real(0.3), byte(3)},
                    {number("axis", 0)})[0],
      {52, 70, 88, 105, 123, 140, 96, 226, 255});
  expect_numbers(run_microsoft("QLinearGlobalAveragePool",
                               with({stepped_bytes({1, 2, 3, 5}, 37), real(0.1), byte(100)}, 0.03, 120))[0],
                 {138, 168});
}

TEST(OnnxMicrosoft, MultipliesBytes) {
  const Variable a = stepped_bytes({2, 3}, 37), b = stepped_bytes({3, 2}, 91, Dtype::int8), scale = wave32({2}, 1),
                 bias = wave32({2}, 2);
  const Variable zeros(array({1, -3}).astype(Dtype::int8));
  expect_numbers(run_microsoft("QGemm",
                               {a, real(0.1), byte(100), stepped_bytes({2, 3}, 91, Dtype::int8), real(0.02),
                                byte(9, Dtype::int8), int32s({500, -700}, {2}), real(0.5), byte(128)},
                               {number("transB", 1), attribute("alpha", 0.5)})[0],
                 {125, 116, 123, 125});
  expect_numbers(run_microsoft("MatMulIntegerToFloat", {a, b, real(0.1), scale, byte(100), zeros, bias})[0],
                 {172.822, -396.113, 462.372, -111.478});
  expect_numbers(run_microsoft("DynamicQuantizeMatMul", {wave32({2, 3}, 0), b, scale, zeros, bias})[0],
                 {-84.7519, 13.8547, 42.1327, -51.8397});
}

TEST(OnnxMicrosoft, QuantisesZeros) {
  const Variable zero(zeros({2, 3}, Dtype::float32));
  expect_numbers(run_microsoft("DynamicQuantizeMatMul", {zero, stepped_bytes({3, 2}, 91), real(0.5)})[0], {0, 0, 0, 0});
}

TEST(OnnxMicrosoft, QuantisesLstmDynamically) {
  constexpr double kLstmTolerance = 1e-4;  // ONNX Runtime approximates sigmoids, and rounding amplifies that
  const auto weights = [](const Shape& shape, int step) {
    const Array all = remainder(multiply(arange(shape.product(), Dtype::int64), step), 61);
    return Variable(subtract(all, 30).astype(Dtype::int8).reshape(shape));
  };
  const auto zeros_of = [](const std::vector<int>& values) {
    return Variable(Array::from_host(values.data(), {2}, Dtype::int32).astype(Dtype::int8));
  };
  const std::vector<Variable> both{wave32({3, 2, 2}, 0),
                                   weights({2, 2, 8}, 17),
                                   weights({2, 2, 8}, 23),
                                   wave32({2, 16}, 1),
                                   int32s({3, 2}, {2}),
                                   {},
                                   {},
                                   {},
                                   Variable(array({0.02, 0.03}).astype(Dtype::float32)),
                                   zeros_of({3, -2}),
                                   Variable(array({0.01, 0.015}).astype(Dtype::float32)),
                                   zeros_of({0, 1})};
  expect_numbers(run_microsoft("DynamicQuantizeLSTM", both, {attribute("direction", "bidirectional")}, 3)[0],
                 {-0.0997922, 0.155106, -0.0835775, 0.31397,  0.296735, 0.213375, 0.204458, 0.014446,
                  -0.141263,  0.235185, -0.124136,  0.343022, 0.229028, 0.185609, 0.22276,  0.0157425,
                  -0.148887,  0.288844, 0,          0,        0.155068, 0.101781, 0,        0},
                 kLstmTolerance);
  const Variable zero(zeros({1, 8}, Dtype::int8)), scale(absolute(wave32({1, 8}, 2).array()) * 0.02);
  expect_numbers(run_microsoft("DynamicQuantizeLSTM",
                               {wave32({3, 2, 2}, 0),
                                weights({1, 2, 8}, 17),
                                weights({1, 2, 8}, 23),
                                {},
                                {},
                                {},
                                {},
                                {},
                                scale,
                                zero,
                                Variable(full({1, 8}, 0.01, Dtype::float32)),
                                zero},
                               {number("hidden_size", 2)})[0],
                 {0.0425812, -0.0708582, -0.047495, 0.0578647, 0.0574816, -0.0476155, -0.0740823, -0.013267, 0.0502261,
                  0.0500942, -0.0715369, -0.109709},
                 kLstmTolerance);
}

}  // namespace
}  // namespace catenary
