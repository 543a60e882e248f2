// A group of one device, by the vendor's library if available, for machines with a single card.

#include "catenary/device/collectives.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "catenary/array/array.h"
#include "catenary/array/body.h"
#include "catenary/array/creation.h"
#include "catenary/core/error.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"

namespace catenary {
namespace {

void settle(DeviceGroup& group) {
  for (int i = 0; !group.ready(); ++i) {
    ASSERT_LT(i, 100000) << "the library never takes its task";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(DeviceCollectives, AGroupOfOne) {
  const Device device = current_device();
  DeviceCollectives* const collectives = device.backend().collectives();
  const std::string backend = device.backend().name();
  ASSERT_EQ(collectives != nullptr, backend == "cuda" || backend == "hip");
  if (!collectives) return;
  std::string why;
  const std::string library = collectives->library(why);
  std::printf("%s: %s\n", collectives->name(), library.empty() ? why.c_str() : library.c_str());
  if (const char* expected = std::getenv("CATENARY_TEST_NCCL")) {
    EXPECT_TRUE(library.starts_with(std::string(expected) + " (")) << library << why;
  }
  if (library.empty()) {
    EXPECT_NE(why, "");
    EXPECT_THROW(collectives->make_id(device.index()), DeviceError);
    return;
  }
  const auto group = collectives->join(device.index(), collectives->make_id(device.index()), 0, 1);
  settle(*group);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    if (dtype == Dtype::float64 && !device.info().has_f64) continue;
    // a part of an allocation at a nonzero offset
    const Array whole = arange(100, Dtype::float32).astype(dtype);
    const Array x = whole.as_strided({93}, {1}, 7);
    std::vector<double> expected(93);
    std::iota(expected.begin(), expected.end(), 7);
    group->allreduce(writable(x));
    settle(*group);
    EXPECT_EQ(x.to_vector<double>(), expected) << dtype_name(dtype);
    group->bcast(writable(x), 0);
    settle(*group);
    EXPECT_EQ(x.to_vector<double>(), expected) << dtype_name(dtype);
    EXPECT_EQ(whole.to_vector<double>()[6], 6);
  }
  const Array flags = (arange(5) > 2);
  group->bcast(writable(flags), 0);
  settle(*group);
  EXPECT_EQ(flags.to_vector<int>(), (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_THROW(group->allreduce(writable(flags)), DeviceError);
  EXPECT_THROW(group->allreduce(writable(arange(3, Dtype::int16))), DeviceError);
  group->finish();
  settle(*group);
}

}  // namespace
}  // namespace catenary
