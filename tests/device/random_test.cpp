// Compares random bits on the current device with the CPU.

#include "catenary/array/random.h"

#include <gtest/gtest.h>

#include "tests/device/same.h"

namespace ct = catenary;

namespace {

TEST(DeviceRandom, BitsAreThoseOfTheCpu) {
  for (std::int64_t n : std::initializer_list<std::int64_t>{0, 1, 3, 4, 63, 64, 65, testing_devices::large(100001)}) {
    const auto bits = [&](const ct::Device& device) {
      const ct::DeviceScope scope(device);
      ct::random::Generator generator{.seed = 0x123456789abcdef0, .call = 0xfedcba9876543210};
      return ct::random::bits({n}, {.generator = &generator}).to_vector<std::uint32_t>();
    };
    EXPECT_EQ(bits(ct::current_device()), bits(ct::Device())) << n;
  }
}

}  // namespace
