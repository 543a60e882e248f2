// Convolutions of 8 bits by 8 bits: compared with convolutions of the rounded operands, in measured ranges.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/device/pool.h"
#include "catenary/functions/functions.h"
#include "catenary/io/npz.h"
#include "catenary/links/convolution.h"
#include "catenary/links/normalization.h"
#include "catenary/links/quantize.h"
#include "catenary/serializers/serializer.h"
#include "tests/autograd/helpers.h"
#include "tests/folder.h"
#include "tests/links/helpers.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
using test::given;
using test::numbers;
using tests::expect_near;

/// x rounded to the nearest of 256 numbers from low to high, including 0, one element at a time.
Array rounded(const Array& x, double low, double high) {
  const double scale = (static_cast<float>(high) - static_cast<float>(low)) / 255.0F,
               zero = std::nearbyint(-low / scale);
  std::vector<double> all = test::values(x);
  for (double& v : all)
    v = (std::fmin(255, std::fmax(0, std::nearbyint(static_cast<float>(v) / static_cast<float>(scale)) + zero)) -
         zero) *
        scale;
  return Array::from_host(all.data(), x.shape(), Dtype::float64, current_device());
}

struct Convolution {
  int in, out;
  L::ConvolutionLinkOptions options;
  Shape x, ksize;
};

const std::vector<Convolution>& convolutions() {
  static const std::vector<Convolution> all = {
      {3, 7, {}, {2, 3, 9, 8}, {3, 3}},
      {32, 40, {.stride = 2, .pad = 1}, {2, 32, 9, 8}, {3, 3}},
      {24, 48, {.pad = 2, .nobias = true, .dilate = 2}, {1, 24, 7, 9}, {3, 3}},
      {32, 64, {.groups = 2}, {2, 32, 6, 6}, {1, 1}},
      {20, 36, {.stride = 2, .pad = 1, .cover_all = true}, {3, 20, 10, 7}, {2, 3}},
      {600, 530, {}, {1, 600, 3, 4}, {3, 3}},  // more weights than are dequantised at a time
      {16, 20, {}, {0, 16, 6, 6}, {3, 3}},
      {16, 20, {.pad = 1}, {2, 16, 11}, {3}},
      {16, 20, {}, {1, 16, 4, 5, 6}, {2, 3, 2}},
  };
  return all;
}

L::ConvolutionND link(const Convolution& c, Quantization kind) {
  L::ConvolutionND conv(c.ksize.size(), c.in, c.out, c.ksize, c.options);
  conv.W = Parameter(numbers(conv.W.shape(), 4) * exp(numbers({c.out}, 1)).reshape([&] {
    Shape shape = conv.W.shape();
    std::fill(shape.begin() + 1, shape.end(), 1);
    return shape;
  }()),
                     "W");
  if (!c.options.nobias) conv.b = Parameter(numbers({c.out}, 2), "b");
  conv.quantize(kind);
  return conv;
}

TEST(Calibrate, BothOperandsAreRoundedAndNothingElse) {
  const auto scope = no_backprop_mode();
  for (const Quantization kind : kAllQuantizations) {
    for (const Convolution& c : convolutions()) {
      if (c.in > 100 && kind != Quantization::int8) continue;
      const L::ConvolutionND conv = link(c, kind);
      L::ConvolutionND calibrated = conv.copy(CopyMode::copy);
      calibrated.set_input_range({-0.7F, 0.9F});  // narrower than the input
      for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::float16, Dtype::bfloat16}) {
        if (c.in > 100 && dtype != Dtype::float32) continue;
        L::ConvolutionND it = calibrated, reference = conv;
        if (it.b.defined()) it.b = Parameter(conv.b.array().astype(dtype), "b");
        if (it.b.defined()) reference.b = Parameter(it.b.array().astype(Dtype::float64), "b");
        const Variable x = given(c.x, 5, dtype);
        const Array y = it(x).array();
        const Array want = reference(Variable(rounded(x.array(), -0.7, 0.9), false)).array();
        EXPECT_EQ(y.dtype(), dtype);
        const double largest = want.size() ? test::values(max(abs(want)))[0] : 0;
        const double eps = dtype == Dtype::float16    ? 0x1p-11
                           : dtype == Dtype::bfloat16 ? 0x1p-8
                           : c.in > 100               ? 0x1p-16
                                                      : 0x1p-18;
        SCOPED_TRACE(std::string(quantization_info(kind).name) + " of " + c.x.str() + " " + dtype_name(dtype));
        expect_near(y, want, 2 * eps * largest);
      }
    }
  }
}

TEST(Calibrate, GradientsPassWithinTheRange) {
  const Convolution c{6, 8, {.stride = 2, .pad = 1}, {2, 6, 7, 7}, {3, 3}};
  for (const Quantization kind : {Quantization::int8, Quantization::q8_0}) {
    const L::ConvolutionND conv = link(c, kind);
    L::ConvolutionND calibrated = conv;
    calibrated.set_input_range({-0.5F, 0.75F});
    const Variable x(numbers(c.x, 5)), plain(numbers(c.x, 5));
    const Variable y = calibrated(x);
    F::sum(y * y.array()).backward();
    calibrated.clear_input_range();
    F::sum(calibrated(plain) * y.array()).backward();
    const auto got = test::values(x.grad()), want = test::values(plain.grad()), at = test::values(x.array());
    const double scale = 1.25 / 255;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::abs(at[i] + 0.5) < scale || std::abs(at[i] - 0.75) < scale) continue;  // the range's rounded end
      ASSERT_NEAR(got[i], at[i] > -0.5 && at[i] < 0.75 ? want[i] : 0, 1e-4) << i;
    }
    // equal without a graph
    calibrated.set_input_range({-0.5F, 0.75F});
    const auto scope = no_backprop_mode();
    expect_near(calibrated(Variable(x.array(), false)).array(), y.array(), 1e-4);
  }
}

// This range has steps of 2^-7, so nothing is rounded: from -1, number 0, to 127/128, number 255.
TEST(Calibrate, BothEndsBelongToTheRange) {
  L::ConvolutionND conv = link({1, 1, {.nobias = true}, {1, 1, 1, 6}, {1, 1}}, Quantization::int8);
  const double weight = test::values(dequantize(*conv.quantized()))[0], step = 0.0078125;
  conv.set_input_range({-1.0F, 0.9921875F});
  std::vector<double> inputs = {-1 - step, -1, -1 + step, 0.9921875 - step, 0.9921875, 0.9921875 + step};
  const Array x =
      Array::from_host(inputs.data(), {1, 1, 1, 6}, Dtype::float64, current_device()).astype(Dtype::float32);
  const Variable v(x);
  const Variable y = conv(v);
  F::sum(y).backward();
  inputs.front() += step;
  inputs.back() -= step;
  const std::vector<double> got = test::values(y.array()), gradient = test::values(v.grad());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_NEAR(got[i], inputs[i] * weight, 1e-6) << i;
    EXPECT_NEAR(gradient[i], i == 0 || i == 5 ? 0 : weight, 1e-6) << i;
  }
  const auto scope = no_backprop_mode();
  expect_near(conv(Variable(x, false)).array(), y.array(), 1e-6);
}

struct ConvolutionNet : Chain {
  L::Convolution2D first{3, 16, 3}, second{16, 20, 3};
  L::BatchNormalization bn{16};
  L::Convolution2D last{20, 4, 1};
  CT_LINKS(first, second, bn, last)
  Variable operator()(const Variable& x) const { return last(F::relu(second(F::relu(bn(first(x)))))); }
};

Variable images(double phase = 3) { return given({2, 3, 8, 8}, phase); }

TEST(Calibrate, RangesAreThoseOfWhatRan) {
  const auto mode = test_mode();
  ConvolutionNet net;
  L::quantize(net, Quantization::int8, {.keep = {"last"}});
  const auto run = [&] {
    net(Variable(images().array() * 0.5, false)), net(images(2)), net(Variable(images().array() * 0.5, false));
    net(given({0, 3, 8, 8}));
  };
  const auto told = L::calibrate(net, run);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].path, "/first");
  EXPECT_EQ(told[1].path, "/second");
  EXPECT_EQ(told[0].range.low, min(images(2).array()).item<float>());
  EXPECT_EQ(told[0].range.high, max(images(2).array()).item<float>());
  EXPECT_EQ(told[1].range.low, 0);  // after relu
  EXPECT_GT(told[1].range.high, 0);
  EXPECT_EQ(net.second.input_range()->high, told[1].range.high);
  EXPECT_FALSE(net.last.input_range());
  // again: measured without rounding the inputs
  const auto again = L::calibrate(net, run);
  EXPECT_EQ(again[1].range.high, told[1].range.high);
  // removes some ranges
  EXPECT_EQ(L::calibrate(net, run, {.keep = {"first"}}).size(), 1u);
  EXPECT_FALSE(net.first.input_range());
  EXPECT_TRUE(net.second.input_range());
}

TEST(Calibrate, LosesLittle) {
  const auto mode = test_mode();
  ConvolutionNet net;
  const Array before = net(images()).array();
  L::quantize(net, Quantization::int8);
  L::calibrate(net, [&] { net(images()); });
  const auto a = test::values(before), b = test::values(net(images()).array());
  double difference = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), all += a[i] * a[i];
  EXPECT_GT(difference, 0);
  EXPECT_LT(std::sqrt(difference / all), 0.03);
}

TEST(Calibrate, ErrorsChangeNothing) {
  const auto mode = test_mode();
  ConvolutionNet net;
  L::quantize(net, Quantization::int8);
  L::calibrate(net, [&] { net(images()); });
  const float high = net.second.input_range()->high;
  const auto message = [&](const std::function<void()>& run, const L::QuantizeOptions& options = {}) {
    std::string text;
    try {
      L::calibrate(net, run, options);
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_EQ(net.second.input_range()->high, high);
    return text;
  };
  EXPECT_EQ(message([&] { net.first(images()); }),
            "calibrate: /second was not called, so the range of its x is unknown");
  EXPECT_EQ(message([&] {
              net(given({0, 3, 8, 8}));
            }),
            "calibrate: /first received only empty batches, so the range of its x is unknown");
  EXPECT_NE(message([&] { net(images() * 3e38); }).find("calibrate: x of /first goes from -"), std::string::npos);
  EXPECT_NE(message([&] { net(images() * INFINITY); }).find("calibrate: x of /first goes from"), std::string::npos);
  EXPECT_NE(message([&] { net(images() * NAN); }).find("calibrate: x of /first goes from nan"), std::string::npos);
  EXPECT_NE(message([&] { net(images()); }, {.keep = {"("}}).find("'(' is not a regular expression"),
            std::string::npos);
  EXPECT_NE(message([&] { fail<ValueError>("its own"); }).find("its own"), std::string::npos);
  for (const L::InputRange& wrong : {L::InputRange{0.1F, 1}, {-1, -0.5F}, {-1, INFINITY}, {NAN, 1}, {-3e38F, 3e38F}})
    EXPECT_THROW(net.second.set_input_range(wrong), ValueError);
  EXPECT_EQ(net.second.input_range()->high, high);
}

// The range contains 0 whatever was seen. Filters of zeros have a scale, too.
TEST(Calibrate, RangesHoldZeroAndFiltersMayBeZeros) {
  const auto mode = no_backprop_mode();
  struct One : Chain {
    L::Convolution2D conv{3, 4, 1};
    CT_LINKS(conv)
  } net;
  net.conv.W.array().set(0, 1);
  net.conv.b.array().fill(0.5);
  L::quantize(net, Quantization::int8);
  for (const double sign : {1.0, -1.0}) {
    const Variable x(full({1, 3, 2, 2}, sign * 3, Dtype::float32), false);
    const L::InputRange range = L::calibrate(net, [&] { net.conv(x); }).at(0).range;
    EXPECT_EQ(range.low, sign > 0 ? 0 : -3);
    EXPECT_EQ(range.high, sign > 0 ? 3 : 0);
    expect_near(net.conv(x).array()(0, 1), full({2, 2}, 0.5), 0);
  }
}

// A range loaded after another one has been used takes effect.
TEST(Calibrate, ARangeThatComesReplacesTheOneThatWasRead) {
  const auto mode = test_mode();
  const tests::Folder folder;
  const auto quantised = [](float end) {
    auto net = std::make_unique<ConvolutionNet>();
    for (L::Convolution2D* conv : {&net->first, &net->second, &net->last}) {
      conv->quantize(Quantization::int8);
      conv->set_input_range({-end, end});
    }
    return net;
  };
  const auto wide = quantised(4);
  const Array y = (*wide)(images()).array();
  serializers::save_npz(folder / "net.npz", *wide);
  serializers::save_safetensors(folder / "net.safetensors", *wide);
  const std::vector<std::function<void(const ConvolutionNet&)>> ways = {
      [&](const ConvolutionNet& net) { serializers::load_npz(folder / "net.npz", net); },
      [&](const ConvolutionNet& net) { serializers::load_safetensors(folder / "net.safetensors", net); },
      [&](const ConvolutionNet& net) { net.copyparams(*wide); }};
  for (const auto& way : ways) {
    const auto net = quantised(0.5);
    const ConvolutionNet same = *net;
    (*net)(images());
    way(*net);
    EXPECT_EQ(net->second.input_range()->high, 4);
    EXPECT_EQ(same.second.input_range()->high, 4);
    expect_near((*net)(images()).array(), y, 0);
  }
}

// A link with two names has one range, and an error leaves it unchanged.
TEST(Calibrate, ALinkMayStandTwice) {
  const auto mode = no_backprop_mode();
  struct Twice : Chain {
    L::Convolution2D first{3, 3, 1}, again{first};
    CT_LINKS(first, again)
  } net;
  L::quantize(net, Quantization::int8);
  const auto told = L::calibrate(net, [&] { net.again(net.first(images())); });
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].range.high, told[1].range.high);
  EXPECT_EQ(net.again.input_range()->high, told[0].range.high);
  EXPECT_THROW(L::calibrate(net, [] { fail<ValueError>("its own"); }), ValueError);
  ASSERT_TRUE(net.first.input_range());
  EXPECT_EQ(net.first.input_range()->high, told[0].range.high);
}

TEST(Calibrate, RangesAreInFilesCopiesAndOnDevices) {
  const auto mode = test_mode();
  const tests::Folder folder;
  ConvolutionNet net;
  L::quantize(net, Quantization::int8);
  L::calibrate(net, [&] { net(images()); });
  const Array y = net(images(1)).array();
  serializers::save_npz(folder / "net.npz", net);
  serializers::save_safetensors(folder / "net.safetensors", net);
  ConvolutionNet plain, other;
  serializers::load_npz(folder / "net.npz", plain);
  serializers::load_safetensors(folder / "net.safetensors", other);
  expect_near(plain(images(1)).array(), y, 0);
  expect_near(other(images(1)).array(), y, 0);
  const ConvolutionNet copied = net.copy(CopyMode::copy);
  net.first.clear_input_range();
  EXPECT_TRUE(copied.first.input_range());
  expect_near(copied(images(1)).array(), y, 0);
  // a range of another kind is refused without changes
  ConvolutionNet damaged;
  L::quantize(damaged, Quantization::int8);
  damaged.first.x_range = zeros({3}, Dtype::float32);
  serializers::save_npz(folder / "damaged.npz", damaged);
  std::string why;
  try {
    serializers::load_npz(folder / "damaged.npz", plain.first, "first/", false);
  } catch (const FileError& error) {
    why = error.what();
  }
  EXPECT_NE(why.find("a range is float32 of (2,), not float32 of (3,)"), std::string::npos) << why;
  expect_near(plain(images(1)).array(), y, 0);
  EXPECT_THROW(damaged(images(1)), ValueError);
}

// Filters are cached in the form that is multiplied, until the blocks change, or other blocks are loaded into their
// memory.
TEST(Calibrate, FiltersAreMadeOnceOfTheSameBlocks) {
  const auto mode = no_backprop_mode();
  const tests::Folder folder;
  const Convolution c{64, 96, {.pad = 1}, {1, 64, 5, 5}, {3, 3}};
  const Variable x = given(c.x, 5, Dtype::float32);
  for (const Quantization kind : {Quantization::int8, Quantization::q8_0}) {
    L::ConvolutionND conv = link(c, kind);
    conv.set_input_range({-0.7F, 0.9F});
    const auto with = [&](double phase) {
      L::ConvolutionND other(2, c.in, c.out, c.ksize, c.options);
      other.W = Parameter(numbers(conv.quantized()->shape(), phase), "W");
      other.b = Parameter(numbers({c.out}, 2), "b");
      other.quantize(kind);
      other.set_input_range({-0.7F, 0.9F});
      return other;
    };
    const Array first = conv(x).array().eval();
    Array second;
    const auto taken_by = [&](const auto& call) {
      std::vector<MemoryEvent> events;
      std::vector<MemoryEvent>* const before = watch_memory(&events);
      second = call().array().eval();
      watch_memory(before);
      std::size_t taken = 0;
      for (const MemoryEvent& event : events) taken += event.kind == MemoryEvent::taken ? event.bytes : 0;
      return taken;
    };
    // GPUs reorder the filters of every convolution at each call
    const Variable W(numbers({c.out, c.in, 3, 3}, 1).astype(Dtype::float32).eval(), false);
    const std::size_t plain = taken_by([&] { return F::convolution_nd(x, W, {.pad = 1}); });
    EXPECT_LT(taken_by([&] { return conv(x); }), plain + std::size_t{64 * 96 * 9 * 2});  // the filters in 16 bits
    expect_near(second, first, 0);

    const L::ConvolutionND other = with(9);
    serializers::save_npz(folder / "other.npz", other);
    serializers::load_npz(folder / "other.npz", conv);
    const Array wanted = with(9)(x).array();
    EXPECT_GT(test::values(max(abs(wanted - first)))[0], 0.1);
    expect_near(conv(x).array(), wanted, 1e-6);
    conv.set_quantized(*with(10).quantized());
    expect_near(conv(x).array(), with(10)(x).array(), 1e-6);
    // a copy has a separate cache, whichever is called first
    const L::ConvolutionND copied = conv.copy(CopyMode::copy);
    conv.set_quantized(*other.quantized());
    for (int i = 0; i < 2; ++i) {
      expect_near(copied(x).array(), with(10)(x).array(), 1e-6);
      expect_near(conv(x).array(), wanted, 1e-6);
    }
  }
}

}  // namespace
}  // namespace catenary
