// Compares convolutions of bfloat16 by each available unit with float64, on integers whose float32 sums are exact.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/backends/cpu/gemm/gemm.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"
#include "catenary/device/libraries.h"

namespace catenary {
namespace {

using cpu::BfloatUnit;
using Pass = ConvolutionPass;

class TileConvolution : public testing::Test {
 protected:
  void TearDown() override {
    cpu::set_bfloat_unit(unit_);
    set_num_threads(threads_);
  }

 private:
  BfloatUnit unit_ = cpu::bfloat_unit();
  int threads_ = num_threads();
};

std::vector<BfloatUnit> units() {
  std::vector<BfloatUnit> all;
  for (BfloatUnit unit : {BfloatUnit::widened, BfloatUnit::dots, BfloatUnit::tiles})
    if (cpu::has_bfloat_unit(unit)) all.push_back(unit);
  return all;
}

struct Case {
  std::int64_t images, inputs, outputs, groups;  // channels of a group
  Shape extent, size, stride, pad, dilate;
};

std::string text(const Case& c) {
  std::string s = std::to_string(c.images) + " images, " + std::to_string(c.inputs) + " to " +
                  std::to_string(c.outputs) + ", groups " + std::to_string(c.groups) +
                  ", extent, size, stride, pad, dilate:";
  for (const auto* of : {&c.extent, &c.size, &c.stride, &c.pad, &c.dilate}) {
    for (std::int64_t n : *of) s += " " + std::to_string(n);
    s += ";";
  }
  return s;
}

/// The operands of a convolution in bfloat16: small integers or normal numbers.
struct Operands {
  Window window;
  Array x, w, y, bias;
  std::int64_t groups;

  Operands(const Case& c, bool whole, bool channels_last, bool filter_last)
      : window(Window::make("test", c.size.size(), c.size, c.stride, c.pad, c.dilate)), groups(c.groups) {
    Shape of_x = {c.images, c.inputs * c.groups}, of_w = {c.outputs * c.groups, c.inputs},
          of_y = {c.images, c.outputs * c.groups};
    for (int i = 0; i < c.extent.size(); ++i) of_x.push_back(c.extent[i]), of_w.push_back(c.size[i]);
    for (const std::int64_t n : window.counts("test", c.extent)) of_y.push_back(n);
    const auto make = [&](const Shape& shape, bool last) {
      Shape order = {shape[0]};
      for (int i = 2; i < shape.size(); ++i) order.push_back(shape[i]);
      order.push_back(shape[1]);
      Array a = random::standard_normal(last ? order : shape, {.dtype = Dtype::float32});
      if (whole) a = floor(a * 1.5);
      const Array narrow = a.astype(Dtype::bfloat16);
      return last ? moveaxis(narrow, -1, 1) : narrow;
    };
    x = make(of_x, channels_last);
    w = make(of_w, filter_last);
    y = make(of_y, channels_last);
    bias = make({of_y[1]}, false);
  }

  Array run(Pass pass, bool accumulate, bool relu, Dtype dtype) const {
    const auto as = [&](const Array& a) { return (a.astype(dtype) * 1).eval(); };  // keeps the memory order
    const Array dx = as(x), dw = as(w), dy = as(y), b = as(bias);
    const Array& into = pass == Pass::forward ? dy : pass == Pass::to_data ? dx : dw;
    const View of_x = pass == Pass::to_data ? writable(dx) : readable(dx),
               of_w = pass == Pass::to_filter ? writable(dw) : readable(dw),
               of_y = pass == Pass::forward ? writable(dy) : readable(dy), of_bias = readable(b);
    compute(Device(), primitives::Convolution{pass, window, groups, of_x, of_w, of_y,
                                              pass == Pass::forward ? &of_bias : nullptr, accumulate, relu});
    return into.astype(Dtype::bfloat16);
  }
};

std::vector<float> floats(const Array& a) { return a.astype(Dtype::float32).to_vector<float>(); }

const std::vector<Case> kCases = {
    {2, 16, 32, 1, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},    // whole tiles of outputs
    {3, 33, 17, 1, {5, 9}, {3, 2}, {1, 1}, {2, 0}, {1, 1}},    // odd ones
    {2, 64, 40, 1, {9, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},    // strides
    {1, 24, 48, 1, {11, 10}, {3, 3}, {3, 2}, {0, 3}, {2, 3}},  // with dilation
    {2, 40, 70, 1, {6, 6}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},    // 1 × 1 windows
    {2, 40, 70, 1, {6, 6}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},    // some pixels are in no window
    {2, 24, 30, 3, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},    // groups
    {3, 3, 20, 1, {12, 12}, {5, 5}, {1, 1}, {2, 2}, {1, 1}},   // few channels
    {2, 20, 36, 1, {19}, {4}, {2}, {3}, {1}},                  // one axis
    {1, 12, 24, 1, {5, 4, 6}, {2, 3, 3}, {1, 2, 1}, {1, 0, 1}, {1, 1, 1}},
    {5, 70, 600, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  // more than a block of depth, outputs and windows
    {0, 32, 32, 1, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
};

TEST_F(TileConvolution, WholeNumbersAreExact) {
  random::seed(1);
  for (BfloatUnit unit : units()) {
    cpu::set_bfloat_unit(unit);
    for (const Case& c : kCases) {
      for (int layout = 0; layout < 4; ++layout) {
        const Operands of(c, true, layout & 1, layout & 2);
        for (Pass pass : {Pass::forward, Pass::to_data, Pass::to_filter}) {
          for (bool accumulate : {false, true}) {
            SCOPED_TRACE(text(c) + " layout " + std::to_string(layout) + " pass " +
                         std::to_string(static_cast<int>(pass)) + " accumulate " + std::to_string(accumulate) +
                         " unit " + std::to_string(static_cast<int>(unit)));
            const bool relu = pass == Pass::forward && layout == 1;
            const std::vector<float> got = floats(of.run(pass, accumulate, relu, Dtype::bfloat16)),
                                     want = floats(of.run(pass, accumulate, relu, Dtype::float64));
            ASSERT_EQ(got.size(), want.size());
            // Winograd's algorithm uses fractions.
            const double slack = unit == BfloatUnit::tiles ? 0 : 0x1p-7;
            for (std::size_t i = 0; i < got.size(); ++i)
              ASSERT_LE(std::abs(got[i] - want[i]), slack * std::max(1.0F, std::abs(want[i])))
                  << i << ": " << got[i] << " " << want[i];
          }
        }
      }
    }
  }
}

// Unrounded sums of integers up to 255, which bfloat16 represents exactly, as in 8-bit convolutions.
TEST_F(TileConvolution, IntoFloat32NothingIsLost) {
  random::seed(3);
  for (BfloatUnit unit : units()) {
    cpu::set_bfloat_unit(unit);
    for (const Case& c : kCases) {
      for (int layout = 0; layout < 4; ++layout) {
        const Operands of(c, true, layout & 1, layout & 2);
        const auto more = [](const Array& a) { return clip(a * 83, -255, 255).astype(Dtype::bfloat16).eval(); };
        const Array x = more(of.x), w = more(of.w);
        for (bool accumulate : {false, true}) {
          SCOPED_TRACE(text(c) + " layout " + std::to_string(layout) + " unit " +
                       std::to_string(static_cast<int>(unit)));
          const auto run = [&](const Array& a, const Array& b, Dtype dtype) {
            const Array y = (of.y.astype(dtype) * 1).eval();
            compute(Device(), primitives::Convolution{Pass::forward, of.window, of.groups, readable(a), readable(b),
                                                      writable(y), nullptr, accumulate, layout == 2});
            return y.astype(Dtype::float64).to_vector<double>();
          };
          const auto wide = [](const Array& a) { return (a.astype(Dtype::float64) * 1).eval(); };
          const auto got = run(x, w, Dtype::float32), want = run(wide(x), wide(w), Dtype::float64);
          ASSERT_EQ(got.size(), want.size());
          for (std::size_t i = 0; i < got.size(); ++i) {
            const bool exact = unit == BfloatUnit::tiles && std::abs(want[i]) < 0x1p22;
            ASSERT_LE(std::abs(got[i] - want[i]), exact ? 0 : 2e-5 * std::max(1e5, std::abs(want[i]))) << i;
          }
        }
      }
    }
  }
}

TEST_F(TileConvolution, BitsDoNotDependOnThreads) {
  random::seed(2);
  for (const Case& c : kCases) {
    const Operands of(c, false, true, false);
    for (Pass pass : {Pass::forward, Pass::to_data, Pass::to_filter}) {
      set_num_threads(1);
      const std::vector<float> one = floats(of.run(pass, false, false, Dtype::bfloat16));
      for (int threads : {2, 3, 8}) {
        set_num_threads(threads);
        EXPECT_EQ(floats(of.run(pass, false, false, Dtype::bfloat16)), one)
            << text(c) << " " << static_cast<int>(pass) << " " << threads;
      }
    }
  }
}

// A NaN must reach only the windows that contain it, whatever values pad the tiles.
TEST_F(TileConvolution, NansStayInTheirWindows) {
  const Window window = Window::make("test", 2, {3}, {1}, {1});
  const Array w = ones({40, 33, 3, 3}, Dtype::bfloat16), y = zeros({2, 40, 7, 7}, Dtype::bfloat16);
  std::vector<float> pixels(2 * 33 * 49, 1);
  pixels[(33 + 32) * 49 + 6 * 7 + 6] = NAN;  // the last pixel
  const Array x = Array::from_host(pixels.data(), {2, 33, 7, 7}, Dtype::float32).astype(Dtype::bfloat16);
  for (BfloatUnit unit : units()) {
    cpu::set_bfloat_unit(unit);
    compute(Device(), primitives::Convolution{Pass::forward, window, 1, readable(x), readable(w), writable(y)});
    const std::vector<float> got = floats(y);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool met = i >= 40 * 49 && i % 49 / 7 >= 5 && i % 7 >= 5;
      ASSERT_EQ(std::isnan(got[i]), met) << i;
    }
  }
}

// Reports tiles if channels fill them, otherwise the reason.
TEST_F(TileConvolution, TheUnitIsTold) {
  const auto convolved = [](std::int64_t inputs, std::int64_t outputs, std::int64_t groups) {
    const Case c = {1, inputs, outputs, groups, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    Operands(c, true, true, false).run(Pass::forward, false, false, Dtype::bfloat16);
    return last_computation(Device(), "dnn").value();
  };
  for (BfloatUnit unit : units()) {
    cpu::set_bfloat_unit(unit);
    const bool tiles = unit == BfloatUnit::tiles;
    const Computation wide = convolved(32, 32, 1), narrow = convolved(1, 1, 32);
    EXPECT_EQ(wide.units, tiles ? "AMX" : "");
    EXPECT_EQ(wide.algorithm.substr(0, 8), tiles ? "gathered" : "Winograd");
    EXPECT_EQ(wide.why_not, tiles ? "" : "convolutions without AMX widen bfloat16 to float32");
    EXPECT_EQ(narrow.units, "");
    EXPECT_EQ(narrow.why_not,
              tiles ? "size: too few channels to fill tiles" : "convolutions without AMX widen bfloat16 to float32");
  }
}

}  // namespace
}  // namespace catenary
