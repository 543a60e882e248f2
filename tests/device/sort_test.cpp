// Compares sorting on the current device with the CPU: equal bits, with NaNs of all kinds and both zeros.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "catenary/array/array.h"
#include "catenary/array/sorting.h"
#include "tests/device/same.h"

namespace ct = catenary;
using ct::Array;

namespace {

std::mt19937_64 random_words(5);

/// Returns random bits, or few different values, with some zeros, infinities and NaNs among floats.
template <class T>
std::vector<T> values(std::int64_t n, bool few) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) {
    T x{};
    const std::uint64_t word = random_words();
    if constexpr (std::is_same_v<T, bool>) {
      x = word & 1;
    } else {
      std::memcpy(static_cast<void*>(&x), &word, sizeof(T));
      if (few) x = static_cast<T>(static_cast<int>(word % 7));
      if constexpr (ct::is_floating(ct::dtype_of<T>)) {
        if (few) x = static_cast<T>(static_cast<float>(static_cast<int>(word % 7) - 3) / 2);
        if (word % 5 == 0) x = static_cast<T>(word & 1024 ? -0.0f : 0.0f);
        if (word % 11 == 0) x = static_cast<T>(word & 1024 ? -INFINITY : INFINITY);
        if (word % 13 == 0) x = static_cast<T>(word & 1024 ? -NAN : NAN);
      }
    }
    v[i] = x;
  }
  return v;
}

template <class T>
Array on(const ct::Device& device, const std::vector<T>& v, const ct::Shape& shape) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(v.begin(), v.end());
    return Array::from_host(bytes.data(), shape, ct::Dtype::bool_, device);
  } else {
    return Array::from_host(v.data(), shape, ct::dtype_of<T>, device);
  }
}

template <class T>
bool same_bits(const Array& a, const Array& b) {
  const std::vector<T> x = a.to_vector<T>(), y = b.to_vector<T>();
  if constexpr (std::is_same_v<T, bool>) {
    return x == y;
  } else if constexpr (ct::is_16bit_float(ct::dtype_of<T>)) {
    // some devices copy through float32, which does not keep the bits of NaNs
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](T a, T b) {
      return (std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b))) ||
             std::memcmp(&a, &b, sizeof(T)) == 0;
    });
  } else {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
  }
}

template <class T>
void check(const ct::Shape& shape, bool few, int axis = -1) {
  SCOPED_TRACE(std::string(ct::dtype_name(ct::dtype_of<T>)) + " " + shape.str() + (few ? " few" : ""));
  const std::vector<T> v = values<T>(shape.product(), few);
  const Array here = on(ct::current_device(), v, shape), there = on(ct::Device(), v, shape);
  EXPECT_TRUE(same_bits<T>(ct::sort(here, axis), ct::sort(there, axis)));
  EXPECT_EQ(ct::argsort(here, axis).to_vector<std::int64_t>(), ct::argsort(there, axis).to_vector<std::int64_t>());
  EXPECT_TRUE(same_bits<T>(here, there));
}

template <class T>
class DeviceSort : public testing::Test {};
using Sorted = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                              std::uint32_t, std::uint64_t, ct::float16, ct::bfloat16, float, double>;
TYPED_TEST_SUITE(DeviceSort, Sorted);

TYPED_TEST(DeviceSort, IsTheCpus) {
  for (const bool few : {false, true}) {
    check<TypeParam>({0}, few);
    check<TypeParam>({3, 0}, few);
    check<TypeParam>({5, 1}, few);
    check<TypeParam>({700, 3}, few);
    check<TypeParam>({9, 48}, few);
    check<TypeParam>({7, 49}, few);
    check<TypeParam>({3, 1024}, few);
    check<TypeParam>({2, 1025}, few);
    check<TypeParam>({3, 5000}, few);
    check<TypeParam>({testing_devices::large(70001)}, few);
    check<TypeParam>({testing_devices::large(40000), 2}, few, 0);
  }
}

// Compares random numbers, few different ones, zeros of both signs and NaNs with payloads of both signs with the
// standard library's stable sort in NumPy's order. CATENARY_TEST_SORT_SIZE=10000000 sets the required size for devices.
TEST(DeviceSortMany, IsStableAndKeepsEveryBit) {
  const char* asked = std::getenv("CATENARY_TEST_SORT_SIZE");
  const auto n = static_cast<std::size_t>(asked ? std::atoll(asked) : testing_devices::large(200000));
  std::vector<float> v(n);
  for (float& x : v) {
    const std::uint64_t word = random_words();
    const auto bits = static_cast<std::uint32_t>(word >> 32);
    switch (word % 8) {
      case 0:
        x = word & 1024 ? -0.0f : 0.0f;
        break;
      case 1: {
        const std::uint32_t nan = bits | 0x7f800001u;
        std::memcpy(&x, &nan, 4);
        break;
      }
      case 2:
      case 3:
        x = static_cast<float>(static_cast<int>(bits % 2001) - 1000);
        break;
      default:
        x = (static_cast<float>(bits) - 2147483648.0f) * 1e-9f;
    }
  }
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return v[i] < v[j] || (!std::isnan(v[i]) && std::isnan(v[j]));
  });
  const Array x = Array::from_host(v.data(), {static_cast<std::int64_t>(n)}, ct::Dtype::float32, ct::current_device());
  EXPECT_EQ(ct::argsort(x).to_vector<std::int64_t>(), order);
  const std::vector<float> sorted = ct::sort(x).to_vector<float>();
  ASSERT_EQ(sorted.size(), n);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(std::memcmp(&sorted[i], &v[order[i]], 4), 0) << "at " << i;
}

TEST(DeviceSortViews, NeedNotBeContiguous) {
  const std::vector<float> v = values<float>(60, true);
  for (const ct::Device& device : {ct::current_device(), ct::Device()}) {
    const Array x = Array::from_host(v.data(), {6, 10}, ct::Dtype::float32, device);
    const Array wanted = Array::from_host(v.data(), {6, 10}, ct::Dtype::float32, ct::Device());
    EXPECT_TRUE(same_bits<float>(ct::sort(x.T()), ct::sort(wanted.T())));
    EXPECT_EQ(ct::argsort(x.T(), 0).to_vector<std::int64_t>(), ct::argsort(wanted.T(), 0).to_vector<std::int64_t>());
  }
}

}  // namespace
