// Copies between views with different contiguous axes.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/manipulation.h"
#include "tests/device/same.h"

namespace ct = catenary;
using ct::Array;
using ct::Dtype;
using testing_devices::same;

namespace {

Array numbers(const ct::Shape& shape, Dtype dtype, const ct::Device& device) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(shape.product()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * 37 % 251);
  return Array::from_host(values.data(), shape, Dtype::int64, ct::Device()).astype(dtype).to_device(device).eval();
}

/// Compares a copied view of the numbers here with one on the CPU.
template <class View>
void expect_the_cpus(const ct::Shape& shape, Dtype dtype, View view) {
  SCOPED_TRACE(shape.str() + " " + ct::dtype_name(dtype));
  const Array here = view(numbers(shape, dtype, ct::current_device())).copy(),
              there = view(numbers(shape, dtype, ct::Device())).copy();
  EXPECT_TRUE(same(here, there));
}

TEST(DeviceTranspose, OfAllSizesAndDtypes) {
  const auto turned = [](const Array& x) { return x.T(); };
  for (Dtype dtype : {Dtype::bool_, Dtype::int8, Dtype::float16, Dtype::float32, Dtype::int64})
    expect_the_cpus({150, 190}, dtype, turned);
  for (const ct::Shape& shape :
       {ct::Shape{128, 128}, {16, 1030}, {1030, 16}, {129, 257}, {8, 4000}, {4000, 8}, {3, 9000}, {513, 96}})
    expect_the_cpus(shape, Dtype::float32, turned);
}

TEST(DeviceTranspose, OfBatches) {
  for (const ct::Axes& axes : std::vector<ct::Axes>{{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}})
    expect_the_cpus({7, 66, 90}, Dtype::float32, [&](const Array& x) { return ct::transpose(x, axes); });
  expect_the_cpus({3, 40, 5, 50}, Dtype::float32, [](const Array& x) { return ct::transpose(x, {0, 3, 2, 1}); });
}

TEST(DeviceTranspose, OfPartsAndBackwards) {
  using ct::none, ct::slice;
  expect_the_cpus({200, 300}, Dtype::float32, [](const Array& x) { return x(slice(3, 190), slice(7, 251)).T(); });
  expect_the_cpus({200, 300}, Dtype::float32,
                  [](const Array& x) { return x(slice(none, none, -1), slice(5, none)).T(); });
  expect_the_cpus({200, 300}, Dtype::float32,
                  [](const Array& x) { return x(slice(none, none, 2), slice(5, none)).T(); });
}

TEST(DeviceTranspose, IntoAPart) {
  const auto filled = [](const ct::Device& device) {
    const Array x = numbers({160, 130}, Dtype::float32, device);
    Array y = numbers({300, 200}, Dtype::float32, device);
    y.set(x.T(), ct::slice(20, 150), ct::slice(11, 171));
    return y;
  };
  EXPECT_TRUE(same(filled(ct::current_device()), filled(ct::Device())));
}

}  // namespace
