// The bits of a reduction depend only on its values, not on the program around it. A broadcast operand prevents merging
// axes that could be merged for values in memory.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/array/sorting.h"
#include "catenary/array/statistics.h"
#include "catenary/core/format.h"
#include "tests/arrays.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using testing_devices::same;
using tests::waves;

/// Calls f(a pending product, its values in memory) for operands that are broadcast along some axes of x.
void for_each_product(const Array& x, const std::function<void(const std::string&, Array, const Array&)>& f,
                      const std::vector<unsigned>& patterns = {1, 2, 4, 5}) {
  for (const unsigned kept : patterns) {
    Shape shape = x.shape();
    for (int axis = 0; axis < 3; ++axis)
      if (!(kept & (1u << axis))) shape[axis] = 1;
    const Array w = waves(shape, 2, x.dtype()).eval();
    const Array known = (x * w).eval();  // first, since it would also evaluate the pending product
    f(fmt::format("{} times {}", x.shape(), shape), x * w, known);
  }
}

TEST(DeviceReductions, OfPendingValuesHaveTheBitsOfThoseInMemory) {
  for (const Shape& shape : {Shape{3, 4, 5}, {4, 70, 33}, {2, 9, 1100}, {3, 1100, 17}, {1, 300, 300}}) {
    const Array plain = waves(shape, 1, Dtype::float32).eval();
    const Array turned = waves({shape[2], shape[0], shape[1]}, 1, Dtype::float32).transpose({1, 2, 0});
    for (const Array& x : {plain, turned}) {
      for (unsigned bits = 1; bits < 8; ++bits) {
        Axes axes;
        for (int axis = 0; axis < 3; ++axis)
          if (bits & (1u << axis)) axes.push_back(axis);
        for_each_product(x, [&](const std::string& what, Array pending, const Array& known) {
          EXPECT_TRUE(same(sum(std::move(pending), axes, true), sum(known, axes, true))) << what << " over " << bits;
        });
      }
    }
  }
}

TEST(DeviceReductions, OfEveryKindHaveTheBitsOfValuesInMemory) {
  using Reduction = std::function<Array(const Array&)>;
  const Axes axes = {1, 2};
  const std::vector<std::pair<const char*, Reduction>> kinds = {
      {"prod", [&](const Array& x) { return prod(x + 1.5, axes); }},
      {"max", [&](const Array& x) { return max(x, axes); }},
      {"min", [&](const Array& x) { return min(x, axes); }},
      {"mean", [&](const Array& x) { return mean(x, axes, true); }},
      {"var", [&](const Array& x) { return var(x, axes); }},
      {"std", [&](const Array& x) { return std(x, axes); }},
      {"any", [&](const Array& x) { return any(x > 0.99, axes); }},
      {"all", [&](const Array& x) { return all(x > -0.99, axes); }},
      {"count_nonzero", [&](const Array& x) { return count_nonzero(x > 0, axes); }},
      {"logsumexp", [&](const Array& x) { return logsumexp(x, axes); }},
      {"argmax", [&](const Array& x) { return argmax(x); }},
      {"argmin", [&](const Array& x) { return argmin(x, 2); }}};
  for (const Shape& shape : {Shape{3, 7, 5}, {2, 40, 130}}) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
      // each compiles a kernel
      const bool is_cpu = current_device() == Device();
      if (!is_cpu && dtype != Dtype::float32) continue;
      const Array x = waves(shape, 1, Dtype::float32).astype(dtype).eval();
      for (const auto& [name, reduce] : kinds)
        for_each_product(
            x,
            [&, name = name, &reduce = reduce](const std::string& what, Array pending, const Array& known) {
              const Array taken = std::move(pending);
              EXPECT_TRUE(same(reduce(taken), reduce(known))) << name << " of " << what;
            },
            is_cpu ? std::vector<unsigned>{1, 2, 4, 5} : std::vector<unsigned>{2});
    }
  }
}

// A row's sum has the bits of the row alone, wherever its parts are: rows of 65,536 elements and more have parts.
TEST(DeviceReductions, OfLongRowsHaveTheBitsOfValuesInMemory) {
  for (const Shape& shape : {Shape{2, 700, 300}, {1, 3, 70001}, {2, 70001, 3}}) {
    const Array x = waves(shape, 1, Dtype::float32).eval();
    for_each_product(x, [&](const std::string& what, Array pending, const Array& known) {
      EXPECT_TRUE(same(sum(std::move(pending), {1, 2}), sum(known, {1, 2}))) << what;
    });
    for_each_product(x, [&](const std::string& what, Array pending, const Array& known) {
      EXPECT_TRUE(same(sum(std::move(pending)), sum(known))) << what;
    });
  }
}

}  // namespace
}  // namespace catenary
