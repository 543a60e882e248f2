// Tests primitives::Join on the current device: elements of all sizes, with and without gaps, in any memory order.

#include <gtest/gtest.h>

#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/indexing.h"
#include "catenary/array/manipulation.h"
#include "tests/device/same.h"

namespace catenary {
namespace {

using testing_devices::same;

class Joining : public testing::Test {
 protected:
  /// Returns the expected result by assigning each part.
  static Array written(const std::vector<Array>& parts, int axis) {
    Shape shape = parts[0].shape();
    for (std::size_t i = 1; i < parts.size(); ++i) shape[axis] += parts[i].shape(axis);
    const Array y = Array::empty(shape, parts[0].dtype(), Device());
    const Array by_axis = moveaxis(y, axis, 0);
    std::int64_t begin = 0;
    for (const Array& part : parts) {
      by_axis.set(moveaxis(part.to_device(Device()), axis, 0), slice(begin, begin + part.shape(axis)));
      begin += part.shape(axis);
    }
    return y;
  }
  Array numbers(const Shape& shape, Dtype dtype = Dtype::float32) {
    const std::int64_t from = next_;
    next_ += shape.product();
    return (arange(from, next_) % 251).astype(dtype).reshape(shape);
  }

 private:
  std::int64_t next_ = 1;
};

TEST_F(Joining, EachAxisAndSizeOfElement) {
  for (const Dtype dtype : {Dtype::uint8, Dtype::bool_, Dtype::float16, Dtype::float32, Dtype::int64}) {
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<Array> parts;
      for (const int extent : {3, 0, 1, 8}) {
        Shape shape{5, 6, 7};
        shape[axis] = extent;
        parts.push_back(numbers(shape, dtype));
      }
      EXPECT_TRUE(same(concatenate(parts, axis), written(parts, axis))) << dtype_name(dtype) << axis;
    }
  }
}

TEST_F(Joining, MorePartsThanALaunchTakes) {
  std::vector<Array> parts;
  for (int i = 0; i < 70; ++i) parts.push_back(numbers({4, i % 5 + 1}));
  EXPECT_TRUE(same(concatenate(parts, 1), written(parts, 1)));
  EXPECT_TRUE(same(stack(std::vector<Array>(33, parts[3]), -1)(ellipsis, 32), parts[3]));
}

TEST_F(Joining, LargeParts) {
  const std::int64_t n = testing_devices::large(40000);
  const std::vector<Array> parts{numbers({3, n}), numbers({3, 11}), numbers({3, 2 * n})};
  EXPECT_TRUE(same(concatenate(parts, 1), written(parts, 1)));
}

TEST_F(Joining, PartsWithGapsAndOfOtherOrders) {
  const Array x = numbers({6, 8, 10});
  const std::vector<Array> parts{x(slice(), slice(0, 8, 2)), x(slice(), slice(7, 3, -1)), numbers({6, 4, 10}),
                                 numbers({10, 4, 6}).T(), broadcast_to(numbers({10}), {6, 4, 10})};
  EXPECT_TRUE(same(concatenate(parts, 1), written(parts, 1)));
}

TEST_F(Joining, ChannelsLastStays) {
  const auto image = [&](int channels) { return moveaxis(numbers({2, 3, 4, channels}), -1, 1); };
  const std::vector<Array> parts{image(5), image(2), image(8)};
  const Array y = concatenate(parts, 1);
  EXPECT_TRUE(same(y, written(parts, 1)));
  EXPECT_EQ(y.strides(), (Strides{180, 1, 60, 15}));
  EXPECT_EQ(concatenate(parts, 1).shape(), (Shape{2, 15, 3, 4}));
}

}  // namespace
}  // namespace catenary
