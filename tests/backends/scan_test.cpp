#include "catenary/backends/cpu/reduce/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/parallel.h"

namespace catenary {
namespace {

using cpu::contiguous_view;

class ScanTest : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(threads_); }

 private:
  int threads_ = num_threads();
};

template <class T, class R>
R reference_step(ScanOp op, R a, R b) {
  if constexpr (std::is_same_v<T, bool>) {
    return op == ScanOp::sum ? a || b : a && b;
  } else if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<T>(op == ScanOp::sum ? x + y : x * y);
  } else {
    return op == ScanOp::sum ? a + b : a * b;
  }
}

TEST_F(ScanTest, EveryOpAndDtype) {
  for (int d = 0; d < kRealDtypes; ++d)
    visit_dtype(static_cast<Dtype>(d), [&](auto zero) {
      using T = decltype(zero);
      using R = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;
      const auto dtype = static_cast<Dtype>(d);
      for (const Shape& shape :
           {Shape{1}, Shape{40000}, Shape{3, 5, 7}, Shape{2, 5, 700}, Shape{4, 0, 2}, Shape{300, 20}})
        for (int axis = 0; axis < shape.size(); ++axis)
          for (ScanOp op : {ScanOp::sum, ScanOp::prod}) {
            const std::int64_t size = shape.product();
            std::unique_ptr<T[]> src(new T[static_cast<std::size_t>(size)]);
            for (std::int64_t i = 0; i < size; ++i) {
              if constexpr (std::is_integral_v<T>)
                src[i] = static_cast<T>(i * 2654435761 >> 7);
              else
                src[i] = i % 997 == 500 ? T(std::numeric_limits<float>::quiet_NaN())
                                        : T(static_cast<float>(i * 31 % 41) * 0.05f + (op == ScanOp::prod ? 0.1f : -1));
            }
            const Strides strides = contiguous_strides(shape);
            std::unique_ptr<T[]> expected(new T[static_cast<std::size_t>(size)]);
            for (std::int64_t i = 0; i < size; ++i) {
              if (i / strides[axis] % shape[axis] != 0) continue;
              R sum = static_cast<R>(src[i]);
              for (std::int64_t k = 0; k < shape[axis]; ++k) {
                const std::int64_t at = i + k * strides[axis];
                if (k > 0) sum = reference_step<T, R>(op, sum, static_cast<R>(src[at]));
                expected[at] = static_cast<T>(sum);
              }
            }
            std::unique_ptr<T[]> once(new T[static_cast<std::size_t>(size)]);
            for (int threads : {1, 2}) {
              set_num_threads(threads);
              std::unique_ptr<T[]> got(new T[static_cast<std::size_t>(size)]);
              cpu::scan(op, contiguous_view(got.get(), dtype, shape), contiguous_view(src.get(), dtype, shape), axis);
              if (threads == 1) std::copy_n(got.get(), size, once.get());
              for (std::int64_t i = 0; i < size; ++i) {
                if constexpr (!std::is_integral_v<T>) {
                  ASSERT_EQ(std::memcmp(&got[i], &once[i], sizeof(T)), 0);
                  const auto x = static_cast<double>(got[i]), y = static_cast<double>(expected[i]);
                  ASSERT_TRUE(std::isnan(y) ? std::isnan(x) : x == y)
                      << dtype_name(dtype) << shape.str() << axis << " op " << int(op) << " at " << i << ": " << x
                      << " " << y;
                } else {
                  ASSERT_EQ(got[i], expected[i]) << dtype_name(dtype) << shape.str() << axis << " op " << int(op);
                }
              }
            }
          }
    });
}

TEST_F(ScanTest, CastsWalksAnyStridesAndWorksInPlace) {
  const std::int8_t src[6] = {100, 100, 100, 1, 2, 3};
  double sums[12] = {};
  cpu::scan(ScanOp::sum, {sums + 10, Dtype::float64, {2, 3}, {-6, -2}},
            {const_cast<std::int8_t*>(src), Dtype::int8, {2, 3}, {3, 1}}, -1);
  EXPECT_EQ(std::vector<double>(sums, sums + 12), (std::vector<double>{6, 0, 3, 0, 1, 0, 300, 0, 200, 0, 100, 0}));
  std::int64_t broadcast[4];
  const std::int64_t two = 2;
  cpu::scan(ScanOp::prod, contiguous_view(broadcast, Dtype::int64, {4}),
            {const_cast<std::int64_t*>(&two), Dtype::int64, {4}, {0}}, 0);
  EXPECT_EQ(std::vector<std::int64_t>(broadcast, broadcast + 4), (std::vector<std::int64_t>{2, 4, 8, 16}));
  const auto view = contiguous_view(broadcast, Dtype::int64, {4});
  cpu::scan(ScanOp::sum, view, view, 0);
  EXPECT_EQ(std::vector<std::int64_t>(broadcast, broadcast + 4), (std::vector<std::int64_t>{2, 6, 14, 30}));
}

TEST_F(ScanTest, Errors) {
  float x[6] = {};
  const auto a = contiguous_view(x, Dtype::float32, {2, 3}), b = contiguous_view(x, Dtype::float32, {3, 2});
  EXPECT_THROW(cpu::scan(ScanOp::sum, a, b, 0), ShapeError);
  EXPECT_THROW(cpu::scan(ScanOp::sum, a, a, 2), ShapeError);
  const auto scalar = contiguous_view(x, Dtype::float32, {});
  EXPECT_THROW(cpu::scan(ScanOp::sum, scalar, scalar, 0), ShapeError);
}

}  // namespace
}  // namespace catenary
