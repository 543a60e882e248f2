// Compares primitives::Matmul on the current device with sums in float64: layouts of matrices and accumulation. A
// library named in CATENARY_GPU_BLAS must have computed some of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/array/random.h"
#include "catenary/core/lower.h"
#include "catenary/device/backend.h"
#include "catenary/device/libraries.h"
#include "catenary/device/stream.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using testing_devices::float_dtypes;
using testing_devices::same;

/// Operands, as views of 1-d arrays.
struct MatmulProblem {
  Dtype dtype = Dtype::float32;
  Shape a, b, c;
  Strides a_strides, b_strides, c_strides;
  std::int64_t offset = 0;        // offset of each operand
  std::int64_t bias_stride = -1;  // negative: no bias
  bool accumulate = false;
};

std::int64_t elements(const Shape& shape, const Strides& strides, std::int64_t offset) {
  std::int64_t last = offset;
  for (int axis = 0; axis < 3; ++axis) last += (shape[axis] - 1) * std::max<std::int64_t>(0, strides[axis]);
  return last + 1;
}

/// Returns c's memory after the product, and the expected contents.
std::pair<std::vector<double>, std::vector<double>> run(const MatmulProblem& p) {
  const Device device = current_device();
  const DeviceScope cpu{Device()};
  random::seed(7);
  const auto make = [&](std::int64_t n) { return random::uniform(-2, 2, {n}).astype(p.dtype); };
  const Array a = make(elements(p.a, p.a_strides, p.offset)), b = make(elements(p.b, p.b_strides, p.offset)),
              c = make(elements(p.c, p.c_strides, p.offset)),
              bias = make(p.c[2] * std::max<std::int64_t>(1, p.bias_stride));

  std::vector<double> want = c.to_vector<double>(), before = want;
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>(), z = bias.to_vector<double>();
  const auto at = [&](const Strides& strides, std::int64_t i, std::int64_t j, std::int64_t l) {
    return static_cast<std::size_t>(p.offset + i * strides[0] + j * strides[1] + l * strides[2]);
  };
  for (std::int64_t i = 0; i < p.c[0]; ++i) {
    for (std::int64_t row = 0; row < p.c[1]; ++row) {
      for (std::int64_t column = 0; column < p.c[2]; ++column) {
        double& element = want[at(p.c_strides, i, row, column)];
        double sum = p.accumulate ? element : 0;
        if (!p.accumulate) before[at(p.c_strides, i, row, column)] = std::nan("");  // written, never read
        for (std::int64_t l = 0; l < p.a[2]; ++l)
          sum += x[at(p.a_strides, i, row, l)] * y[at(p.b_strides, i, l, column)];
        if (p.bias_stride >= 0) sum += z[static_cast<std::size_t>(column * p.bias_stride)];
        element = sum;
      }
    }
  }

  const Array a_there = a.to_device(device).copy(), b_there = b.to_device(device).copy(),
              c_there = array(before, p.dtype).to_device(device).copy(), bias_there = bias.to_device(device).copy();
  const auto view = [&](View v, const Shape& shape, const Strides& strides) {
    v.offset += p.offset;
    v.shape = shape;
    v.strides = strides;
    return v;
  };
  View bias_view = readable(bias_there);
  bias_view.shape = {p.c[2]};
  bias_view.strides = {p.bias_stride};
  compute(device,
          primitives::Matmul{view(readable(a_there), p.a, p.a_strides), view(readable(b_there), p.b, p.b_strides),
                             view(writable(c_there), p.c, p.c_strides), p.bias_stride >= 0 ? &bias_view : nullptr,
                             p.accumulate});
  return {c_there.to_device(Device()).to_vector<double>(), want};
}

/// Also checks that the gaps of c are unchanged.
void check_product(const MatmulProblem& p, const std::string& what) {
  const double tolerance = p.dtype == Dtype::float64    ? 1e-14
                           : p.dtype == Dtype::float16  ? 2e-3
                           : p.dtype == Dtype::bfloat16 ? 1.6e-2
                                                        : 4e-6;
  const auto [got, want] = run(p);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(got[i] - want[i]), tolerance * (8 + std::abs(want[i])))
        << what << ", " << dtype_name(p.dtype) << ", element " << i << ": " << got[i] << " and " << want[i];
}

// Each matrix by rows and by columns, with and without gaps, at an unaligned offset.
TEST(DeviceMatmulLayouts, RowsColumnsGapsAndOffsets) {
  constexpr std::int64_t m = 5, n = 7, k = 3;
  const auto strides = [](std::int64_t rows, std::int64_t columns, bool by_columns, std::int64_t gap) {
    return by_columns ? Strides{0, 1, rows + gap} : Strides{0, columns + gap, 1};
  };
  for (const Dtype dtype : float_dtypes()) {
    for (int layout = 0; layout < 8; ++layout) {
      for (const std::int64_t gap : {0, 2}) {
        MatmulProblem p{dtype, {1, m, k}, {1, k, n}, {1, m, n}, {}, {}, {}, gap ? 3 : 0, -1, false};
        p.a_strides = strides(m, k, layout & 1, gap);
        p.b_strides = strides(k, n, layout & 2, gap);
        p.c_strides = strides(m, n, layout & 4, gap);
        check_product(p, "layout " + std::to_string(layout) + ", gap " + std::to_string(gap));
      }
    }
  }
}

TEST(DeviceMatmulLayouts, BiasAndAccumulate) {
  for (const Dtype dtype : float_dtypes()) {
    for (const bool by_columns : {false, true}) {
      for (const std::int64_t bias : {-1, 0, 1, 2}) {
        for (const bool accumulate : {false, true}) {
          MatmulProblem p{dtype,      {2, 6, 9},  {2, 9, 5}, {2, 6, 5}, {54, 9, 1},
                          {45, 5, 1}, {30, 5, 1}, 0,         bias,      accumulate};
          if (by_columns) p.c_strides = {30, 1, 6};
          check_product(p, "bias " + std::to_string(bias) + (by_columns ? ", by columns" : ", by rows") +
                               (accumulate ? ", added" : ""));
        }
      }
    }
  }
}

TEST(DeviceMatmulLayouts, Batches) {
  for (const Dtype dtype : float_dtypes()) {
    // a shared by all products, b shared by all, the batch as second innermost axis, the batch reversed
    check_product({dtype, {4, 3, 6}, {4, 6, 5}, {4, 3, 5}, {0, 6, 1}, {30, 5, 1}, {15, 5, 1}, 1, -1, false}, "one a");
    check_product({dtype, {4, 3, 6}, {4, 6, 5}, {4, 3, 5}, {18, 6, 1}, {0, 5, 1}, {15, 5, 1}, 1, 1, false}, "one b");
    check_product({dtype, {4, 3, 6}, {4, 6, 5}, {4, 3, 5}, {6, 24, 1}, {5, 20, 1}, {5, 20, 1}, 0, -1, true},
                  "batch in the middle");
  }
  check_product({Dtype::float32, {4, 3, 6}, {4, 6, 5}, {4, 3, 5}, {-18, 6, 1}, {30, 5, 1}, {15, 5, 1}, 54, -1, false},
                "backwards");
}

// Layouts that no BLAS supports: both strides above 1, overlapping or repeated rows, reversed rows.
TEST(DeviceMatmulLayouts, StridesOfTheirOwn) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    check_product({dtype, {1, 4, 6}, {1, 6, 5}, {1, 4, 5}, {0, 12, 2}, {0, 5, 1}, {0, 5, 1}, 0, -1, false},
                  "every second column");
    check_product({dtype, {1, 4, 6}, {1, 6, 5}, {1, 4, 5}, {0, 1, 1}, {0, 5, 1}, {0, 5, 1}, 0, 1, false}, "windows");
    check_product({dtype, {1, 4, 6}, {1, 6, 5}, {1, 4, 5}, {0, 0, 1}, {0, 5, 1}, {0, 5, 1}, 0, 1, true}, "one row");
    check_product({dtype, {1, 4, 6}, {1, 6, 5}, {1, 4, 5}, {0, -6, 1}, {0, 5, 1}, {0, 5, 1}, 18, -1, false},
                  "upside down");
    check_product({dtype, {1, 4, 6}, {1, 6, 5}, {1, 4, 5}, {0, 6, 1}, {0, 5, 1}, {0, 10, 2}, 0, 1, false},
                  "c with gaps");
  }
}

// Axes of size 1, whose strides do not matter.
TEST(DeviceMatmulLayouts, VectorsAndScalars) {
  for (const Dtype dtype : float_dtypes()) {
    check_product({dtype, {1, 1, 6}, {1, 6, 5}, {1, 1, 5}, {0, 0, 1}, {0, 5, 1}, {0, 99, 1}, 0, 1, false}, "a row");
    check_product({dtype, {1, 4, 6}, {1, 6, 1}, {1, 4, 1}, {0, 6, 1}, {0, 1, 77}, {0, 1, 0}, 0, 1, false}, "a column");
    check_product({dtype, {1, 4, 1}, {1, 1, 5}, {1, 4, 5}, {0, 1, 0}, {0, 0, 1}, {0, 5, 1}, 0, -1, true},
                  "an outer product");
    check_product({dtype, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 2, 1, true}, "scalars");
    check_product({dtype, {1, 1, 6}, {1, 6, 1}, {1, 1, 1}, {0, 0, 2}, {0, 3, 0}, {0, 0, 0}, 0, -1, false},
                  "a dot product with steps");
  }
}

TEST(DeviceMatmulLayouts, OnTwoStreams) {
  const Device device = current_device();
  if (device == Device()) return;
  const Array x = arange(300 * 200, Dtype::float32).reshape({300, 200}) / 60000.0f;
  const Array want = matmul(x, x.T());
  device.synchronize();
  Stream one(device), two(device);
  Array first, second;
  for (int i = 0; i < 3; ++i) {
    {
      const Stream::Use use(one);
      first = matmul(x, x.T()).eval();
    }
    const Stream::Use use(two);
    second = matmul(x, x.T()).eval();
  }
  one.synchronize();
  two.synchronize();
  EXPECT_TRUE(same(first, want));
  EXPECT_TRUE(same(second, want));
}

TEST(DeviceMatmulLayouts, TheProviderThatWasAskedForComputed) {
  check_product(
      {Dtype::float32, {1, 64, 64}, {1, 64, 64}, {1, 64, 64}, {0, 64, 1}, {0, 64, 1}, {0, 64, 1}, 0, -1, false},
      "square");
  const std::vector<LibraryInfo> providers = libraries(current_device(), "blas");
  const auto own = std::find_if(providers.begin(), providers.end(), [](const auto& p) { return p.name == "own"; });
  ASSERT_NE(own, providers.end());
  EXPECT_TRUE(own->usable);
  const char* asked = std::getenv("CATENARY_GPU_BLAS");
  if (!asked || current_device() == Device()) return;
  EXPECT_EQ(lower(providers.front().name), asked);
  EXPECT_GT(providers.front().computed, 0);
}

}  // namespace
}  // namespace catenary
