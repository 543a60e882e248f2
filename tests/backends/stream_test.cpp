// Results larger than the caches are written past them, with the values of small results.

#include <gtest/gtest.h>

#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"

namespace catenary {
namespace {

class Streamed : public testing::TestWithParam<Dtype> {
 protected:
  /// 33 MiB and a partial block.
  std::int64_t size() const { return (std::int64_t{33} << 20) / static_cast<std::int64_t>(itemsize(GetParam())) + 77; }
  Array numbers() const { return (arange(size()) % 1001).astype(GetParam()).eval(); }
  /// Returns whether all elements are equal.
  static bool same(const Array& a, const Array& b) { return all(equal(a, b)).item<bool>(); }
  /// Computes the rule in small pieces and compares.
  static bool same_in_pieces(const Array& x, const Array& result, Array (*rule)(const Array&)) {
    constexpr std::int64_t kPiece = 1 << 20;
    for (std::int64_t at = 0; at < x.size(); at += kPiece)
      if (!same(result(slice(at, at + kPiece)), rule(x(slice(at, at + kPiece))).eval())) return false;
    return true;
  }
};

Array rule(const Array& x) { return x * 3 + 1; }

TEST_P(Streamed, ANewArray) {
  const Array x = numbers();
  EXPECT_TRUE(same_in_pieces(x, rule(x).eval(), rule));
}

TEST_P(Streamed, MemoryThatBeginsInALine) {
  const Array x = numbers(), memory = zeros({size() + 1}, GetParam());
  const Array target = memory(slice(1, size() + 1));
  apply_to(target, ops::Op::multiply, x, x);
  EXPECT_TRUE(same_in_pieces(x, target, [](const Array& a) { return a * a; }));
  EXPECT_EQ(memory(0).item<double>(), 0);
}

TEST_P(Streamed, InPlaceAndTwoResults) {
  const Array x = numbers(), copy = x.copy();
  const Array twice = x + x, next = twice + 1;  // both are stored, and next reads twice
  EXPECT_TRUE(same_in_pieces(x, twice.eval(), [](const Array& a) { return a + a; }));
  EXPECT_TRUE(same_in_pieces(x, next, [](const Array& a) { return a + a + 1; }));
  x += 1;
  EXPECT_TRUE(same_in_pieces(copy, x, [](const Array& a) { return a + 1; }));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Streamed,
                         testing::Values(Dtype::float32, Dtype::float64, Dtype::int64, Dtype::float16));

}  // namespace
}  // namespace catenary
