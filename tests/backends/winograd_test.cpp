// Compares 3 × 3 convolutions by Winograd's minimal filtering with direct sums in float64.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/random.h"
#include "catenary/array/view.h"
#include "catenary/core/config.h"
#include "catenary/core/cpu_features.h"
#include "catenary/core/parallel.h"
#include "catenary/device/backend.h"

namespace catenary {
namespace {

using Pass = ConvolutionPass;

/// The error bound of config.winograd, relative to the largest sum of the magnitudes of an element's terms.
constexpr double kBound = 1e-6;

/// Memory layout of an operand.
enum class Order { c, channels, gaps };

struct Problem {
  Pass pass = Pass::forward;
  std::int64_t images = 2, groups = 1, inputs = 32, outputs = 32;  // channels per group
  std::int64_t height = 8, width = 8, pad_y = 1, pad_x = 1;
  Order order = Order::c, filter_order = Order::c;
  bool bias = false, accumulate = false, relu = false;

  std::string text() const {
    constexpr const char* passes[] = {"forward", "to_data", "to_filter"};
    std::string all = passes[static_cast<int>(pass)];
    for (const std::int64_t n : {images, groups, inputs, outputs, height, width, pad_y, pad_x, std::int64_t(order),
                                 std::int64_t(filter_order), std::int64_t(bias + 2 * accumulate + 4 * relu)})
      all += " " + std::to_string(n);
    return all;
  }
};

Array laid(const Array& a, Order order) {
  if (order == Order::channels) return a.transpose({0, 2, 3, 1}).copy().transpose({0, 3, 1, 2});
  if (order == Order::c) return a.copy();
  Shape twice = a.shape();
  std::vector<Index> inside;
  for (std::int64_t& n : twice) n *= 2, inside.push_back(slice(1, none, 2));
  const Array view = zeros(twice, a.dtype()).get(inside);
  view.set_at({}, a);
  return view;
}

struct Images {
  explicit Images(const Problem& p) {
    random::seed(5);
    const auto make = [](const Shape& shape) { return random::uniform(-1, 1, shape).astype(Dtype::float32); };
    x = make({p.images, p.groups * p.inputs, p.height, p.width});
    w = make({p.groups * p.outputs, p.inputs, 3, 3});
    y = make({p.images, p.groups * p.outputs, p.height + 2 * p.pad_y - 2, p.width + 2 * p.pad_x - 2});
    bias = make({p.groups * (p.pass == Pass::to_data ? p.inputs : p.outputs)});
  }
  Array x, w, y, bias;
};

Array run(const Problem& p, const Images& from) {
  const Array x = laid(from.x, p.order), w = laid(from.w, p.filter_order), y = laid(from.y, p.order);
  const Array& result = p.pass == Pass::forward ? y : p.pass == Pass::to_data ? x : w;
  const Window window = Window::make("test", 2, {3}, {1}, {p.pad_y, p.pad_x});
  const auto view = [&](const Array& a) { return &a == &result ? writable(a) : readable(a); };
  const View vx = view(x), vw = view(w), vy = view(y), bias = readable(from.bias);
  compute(Device(), primitives::Convolution{p.pass, window, p.groups, vx, vw, vy, p.bias ? &bias : nullptr,
                                            p.accumulate, p.relu});
  return result.copy();
}

/// Computes in float64, which uses direct sums, on the operands or on their magnitudes.
std::vector<double> reference(const Problem& p, Images from, bool magnitudes) {
  for (Array* a : {&from.x, &from.w, &from.y, &from.bias}) {
    *a = a->astype(Dtype::float64);
    if (magnitudes) *a = abs(*a);
  }
  return run(p, from).to_vector<double>();
}

void check_problem(const Problem& p) {
  const Images from(p);
  const std::vector<double> got = run(p, from).astype(Dtype::float64).to_vector<double>(),
                            want = reference(p, from, false), magnitudes = reference(p, from, true);
  const double bound = kBound * *std::max_element(magnitudes.begin(), magnitudes.end());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], bound) << p.text() << ", element " << i;
}

bool same(const Array& a, const Array& b) { return a.to_vector<float>() == b.to_vector<float>(); }

/// Returns whether Winograd's algorithm is used, which changes the bits.
bool is_winograd(const Problem& p) {
  const Images from(p);
  const Array with = run(p, from);
  const auto off = using_config(config.winograd, false);
  return !same(with, run(p, from));
}

class Winograd : public testing::TestWithParam<Pass> {};

TEST_P(Winograd, SidesAndPads) {
  Problem p{.pass = GetParam()};
  for (p.height = 1; p.height <= 13; ++p.height) {
    for (p.pad_y = 0; p.pad_y <= 2; ++p.pad_y) {
      p.pad_x = (p.height + p.pad_y) % 3;
      p.width = 14 - p.height;
      p.images = 9 + p.height % 2;
      p.order = p.height % 2 ? Order::c : Order::channels;
      p.filter_order = p.pad_y == 1 ? Order::channels : Order::c;
      if (p.height + 2 * p.pad_y > 2 && p.width + 2 * p.pad_x > 2) check_problem(p);
    }
  }
}

TEST_P(Winograd, RandomShapes) {
  std::mt19937 random(7);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most - least + 1));
  };
  for (int i = 0; i < 12; ++i) {
    Problem p{.pass = GetParam(), .images = any(1, 9), .groups = i % 4 == 0 ? 2 : 1};
    p.inputs = any(16, 90);
    p.outputs = any(16, 90);
    p.height = any(3, 20);
    p.width = any(3, 45);
    p.pad_y = any(0, 2);
    p.pad_x = any(0, 2);
    p.order = static_cast<Order>(i % 3);
    p.filter_order = static_cast<Order>(any(0, 2));
    p.accumulate = any(0, 1);
    p.bias = p.pass != Pass::to_filter && any(0, 1);
    p.relu = p.pass == Pass::forward && any(0, 1);
    check_problem(p);
  }
}

TEST_P(Winograd, ManyChannels) {
  for (const Order order : {Order::c, Order::channels}) {
    check_problem({GetParam(), 20, 1, 530, 70, 4, 4, 1, 1, order, order});
    check_problem({GetParam(), 66, 1, 70, 530, 4, 4, 1, 1, order, order});
  }
  check_problem({GetParam(), 66, 1, 530, 230, 4, 4});
}

TEST_P(Winograd, EveryLevel) {
  const SimdLevel best = simd_level();
  for (const SimdLevel level : {SimdLevel::v2, SimdLevel::v3, SimdLevel::v4}) {
    if (best == SimdLevel::native || level > best) continue;
    set_simd_level(level);
    for (const Order order : {Order::c, Order::channels, Order::gaps})
      for (const std::int64_t side : {6, 9}) check_problem({GetParam(), 4, 1, 37, 41, side, side, 1, 1, order, order});
  }
  set_simd_level(best);
}

TEST_P(Winograd, BitsDoNotDependOnThreads) {
  const int before = num_threads();
  for (const std::int64_t side : {4, 6, 19}) {
    const Problem p{.pass = GetParam(), .images = 16, .inputs = 70, .outputs = 50, .height = side, .width = side};
    const Images from(p);
    EXPECT_TRUE(is_winograd(p)) << p.text();
    std::optional<Array> first;
    for (const int threads : {1, 2, 3, 16}) {
      set_num_threads(threads);
      const Array result = run(p, from);
      if (!first) first = result;
      EXPECT_TRUE(same(result, *first)) << p.text() << ", threads: " << threads;
    }
    set_num_threads(before);
  }
}

TEST_P(Winograd, BitsDoNotDependOnLayout) {
  for (const std::int64_t side : {6, 13}) {
    Problem p{.pass = GetParam(), .images = 5, .inputs = 40, .outputs = 36, .height = side, .width = side};
    const Images from(p);
    const Array first = run(p, from);
    for (const Order order : {Order::channels, Order::gaps}) {
      p.order = p.filter_order = order;
      EXPECT_TRUE(same(run(p, from), first)) << p.text();
    }
  }
}

TEST_P(Winograd, IsNotTakenWhereItIsNotTheFasterWay) {
  const Problem p{.pass = GetParam(), .images = 8};
  EXPECT_TRUE(is_winograd(p));
  Problem few = p;
  few.inputs = 3;
  EXPECT_FALSE(is_winograd(few));
  few = p;
  few.height = few.width = 1;
  EXPECT_FALSE(is_winograd(few));
}

/// Keeps infinities and NaNs, and replaces everything else by 0.
std::vector<double> what_is_not_finite(const Array& a) {
  std::vector<double> all = a.astype(Dtype::float64).to_vector<double>();
  for (double& x : all) x = std::isfinite(x) ? 0 : std::isnan(x) ? 7 : x;
  return all;
}

// The transforms would turn an infinity into NaN and spread a NaN to a whole tile. Such tiles are computed directly, so
// that results equal those of direct sums.
TEST_P(Winograd, NonFiniteValuesReachTheOutputsOfDirectSums) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const SimdLevel best = simd_level();
  for (const SimdLevel level : {SimdLevel::v2, SimdLevel::v3, SimdLevel::v4}) {
    if (level != SimdLevel::v2 && (best == SimdLevel::native || level > best)) continue;
    if (best != SimdLevel::native) set_simd_level(level);
    for (const std::int64_t side : {6, 13}) {
      for (const Order order : {Order::c, Order::channels, Order::gaps}) {
        for (const float wrong : {infinity, -infinity, nan, 3e38f}) {
          Problem p{.pass = GetParam(), .images = 3, .groups = side == 6 ? 2 : 1, .inputs = 21, .outputs = 19};
          p.height = p.width = side;
          p.order = p.filter_order = order;
          p.accumulate = wrong < 0;
          p.relu = p.bias = p.pass == Pass::forward && wrong > 0;
          // a corner, which few taps reach, an inner element, and a filter of one output
          for (const int place : {0, 1, 2}) {
            Images from(p);
            const Array &image = p.pass == Pass::to_data ? from.y : from.x,
                        &other = p.pass == Pass::to_filter ? from.y : from.w;
            if (place == 0) image.set(wrong, 1, 3, 0, 0);
            if (place == 1) image.set(wrong, 1, 3, side / 2, side - 2);
            if (place == 2) other.set(wrong, 2, 3, 1, 0);
            const Array got = run(p, from);
            const auto off = using_config(config.winograd, false);
            const Array want = run(p, from);
            EXPECT_EQ(what_is_not_finite(got), what_is_not_finite(want)) << p.text() << " " << wrong << " " << place;
            // finite results have the usual accuracy
            const std::vector<float> a = got.to_vector<float>(), b = want.to_vector<float>();
            for (std::size_t i = 0; i < a.size() && wrong != 3e38f; ++i) {
              const float wanted = std::isfinite(b[i]) ? b[i] : 0, found = std::isfinite(b[i]) ? a[i] : 0;
              if (!(std::abs(found - wanted) < 1e-3f)) {
                ADD_FAILURE() << p.text() << " " << wrong << " " << place << ": " << found << ", not " << wanted;
                break;
              }
            }
          }
        }
      }
    }
  }
  set_simd_level(best);
}

// One pixel reaches 72 outputs in 8 channels.
TEST(WinogradOutputs, OfAnInfinitePixelAreInfinite) {
  Problem p{.images = 1, .inputs = 8, .outputs = 8, .height = 16, .width = 16};
  const Images from(p);
  from.x.set(std::numeric_limits<float>::infinity(), 0, 2, 7, 7);
  EXPECT_TRUE(is_winograd(p));
  const std::vector<double> all = what_is_not_finite(run(p, from));
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](double x) { return std::isinf(x); }), 72);
  EXPECT_EQ(std::count(all.begin(), all.end(), 7), 0);
}

/// Fills much of the memory that will be allocated next with NaN.
void leave_nan_behind() {
  std::vector<Array> held;
  for (std::int64_t n = 64; n < 1 << 18; n += n / 8)
    held.push_back(full({n}, std::numeric_limits<double>::quiet_NaN(), Dtype::float32));
  for (const Array& a : held) a.eval();
}

// Panels may be wider than the number of outputs, with arbitrary values in the remaining lanes. If these were checked,
// direct sums with other bits would be used.
TEST_P(Winograd, LanesThatAreNoOutputAreNotLookedAt) {
  for (std::int64_t outputs = 8; outputs < 40; outputs += 3) {
    Problem p{.pass = GetParam(), .images = 3, .inputs = 9, .outputs = outputs};
    if (p.pass == Pass::to_data) std::swap(p.inputs, p.outputs);
    const Images from(p);
    ASSERT_TRUE(is_winograd(p)) << p.text();
    leave_nan_behind();
    const Array first = run(p, from);
    const auto off = using_config(config.winograd, false);
    EXPECT_FALSE(same(first, run(p, from))) << p.text();
  }
}

// The order of direct sums may depend on the layout, so the layout is fixed and only the threads vary.
TEST_P(Winograd, BitsOfWhatIsNotFiniteDoNotDependOnThreads) {
  Problem p{.pass = GetParam(), .images = 9, .inputs = 40, .outputs = 50, .height = 13, .width = 13};
  const int before = num_threads();
  const Images from(p);
  for (const Array* a : {&from.x, &from.y}) a->set(std::numeric_limits<float>::infinity(), 4, 3, 5, 6);
  for (const Order order : {Order::c, Order::channels, Order::gaps}) {
    p.order = p.filter_order = order;
    std::optional<std::vector<std::uint32_t>> first;
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      const std::vector<std::uint32_t> bits = view(run(p, from), Dtype::uint32).to_vector<std::uint32_t>();
      if (!first) first = bits;
      EXPECT_TRUE(bits == *first) << p.text() << ", threads: " << threads;
    }
  }
  set_num_threads(before);
}

constexpr const char* kPassNames[] = {"forward", "to_data", "to_filter"};
INSTANTIATE_TEST_SUITE_P(Passes, Winograd, testing::Values(Pass::forward, Pass::to_data, Pass::to_filter),
                         [](const auto& info) { return kPassNames[static_cast<int>(info.param)]; });

}  // namespace
}  // namespace catenary
