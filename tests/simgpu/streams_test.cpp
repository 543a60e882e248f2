// Tests that two streams of a simulated device overlap: unordered work must be seen to run early, and waiting work must
// run later. A "slow" kernel takes a quarter of a second.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/os/library.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"
#include "catenary/device/stream.h"

namespace catenary {
namespace {

void slow() {
  const std::string name =
      std::string(current_device().backend().name()) == "cuda" ? "libcuda.so.1" : "libamdhip64.so.6";
  std::string why;
  const auto library = os::Library::find(name, &why, os::Library::Mode::already_loaded);
  ASSERT_TRUE(library) << name << ": " << why;
  library->required<void(const char*, int)>("simgpu_fault")("slow", 1);
}

constexpr std::int64_t kElements = 1000;

/// Sets x to 2 everywhere, by a slow kernel in s. Returns an event recorded behind that kernel.
Event overwrite_slowly(const Array& x, const Stream& s) {
  const Stream::Use use(s);
  x.fill(1);  // compiles the kernel before it becomes slow
  x.eval();
  s.synchronize();
  slow();
  x.fill(2);
  return s.record();
}

class Streams : public testing::Test {
 protected:
  Array x = zeros({kElements}, Dtype::float32).eval();
  Stream s;
  Event ready = current_stream().record();
  Streams() { s.wait(ready); }
};

TEST_F(Streams, WithoutOrderOneSeesWhatWasThereBefore) {
  const Event written = overwrite_slowly(x, s);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kElements, 1));  // read in the null stream
  EXPECT_FALSE(written.done());
  s.synchronize();
  EXPECT_TRUE(written.done());
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kElements, 2));
}

TEST_F(Streams, WaitOrders) {
  const Event written = overwrite_slowly(x, s);
  EXPECT_FALSE(written.done());
  current_stream().wait(written);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kElements, 2));
  EXPECT_TRUE(written.done());
}

TEST_F(Streams, TheNullStreamAndABlockingOneWaitForEachOther) {
  const Stream blocking(current_device(), true), another(current_device(), true);
  const Event written = overwrite_slowly(x, blocking);
  EXPECT_FALSE(written.done());
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kElements, 2));  // read in the null stream
  EXPECT_TRUE(written.done());
  slow();
  x.fill(3);
  x.eval();  // in the null stream
  {
    const Stream::Use use(another);
    EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kElements, 3));
  }
  const Event again = overwrite_slowly(x, blocking);
  Stream::null().synchronize();
  EXPECT_TRUE(again.done());
  {
    const Stream::Use use(s);
    slow();
    x.fill(4);
    x.eval();
  }
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kElements, 2)) << "s is none";
}

TEST_F(Streams, WaitHoldsOneStreamOnly) {
  const Stream other;
  const auto ones = [] { return (zeros({3}, Dtype::float32) + 1).eval().to_vector<float>(); };
  ones();  // compiles its kernel now
  const Event written = overwrite_slowly(x, s);
  other.wait(written);
  const Event after = other.record();
  EXPECT_EQ(ones(), std::vector<float>(3, 1));
  EXPECT_FALSE(written.done());
  EXPECT_FALSE(after.done());
  other.synchronize();
  EXPECT_TRUE(written.done());
  EXPECT_TRUE(after.done());
}

TEST_F(Streams, TimeBetweenEvents) {
  const Event begin = current_stream().record();
  current_stream().wait(overwrite_slowly(x, s));
  const Event end = current_stream().record();
  EXPECT_GT(elapsed_time(begin, end), 100);
}

TEST_F(Streams, DeviceSynchronizeWaitsForAll) {
  const Event written = overwrite_slowly(x, s);
  current_device().synchronize();
  EXPECT_TRUE(written.done());
}

// An array of the null stream is freed while another stream is current, which may still use it. The next owner of its
// memory in the null stream must wait for that use.
TEST_F(Streams, FreedUnderAnotherStream) {
  overwrite_slowly(x, s);
  const std::int64_t size = kElements;
  {
    const Stream::Use use(s);
    x = Array();
  }
  const Array y = full({size}, 7, Dtype::float32).eval();
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(kElements, 7));
  s.synchronize();
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(kElements, 7));
}

TEST_F(Streams, BetweenDevicesInOrder) {
  const Device there = get_device(std::string(current_device().backend().name()) + ":1");
  const Stream::Use use(s);
  const Event written = overwrite_slowly(x, s);
  const Array y = x.to_device(there);  // copied between the devices, so the host does not wait
  EXPECT_FALSE(written.done());
  slow();
  x.fill(3);  // must run after the copy
  x.eval();
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(kElements, 2));
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(kElements, 3));
}

TEST_F(Streams, UploadsDoNotWait) {
  const Event written = overwrite_slowly(x, s);
  const Stream::Use use(s);
  std::vector<float> values(kElements, 5);
  const Array y = Array::from_host(values.data(), {kElements}, Dtype::float32);
  EXPECT_FALSE(written.done());
  std::fill(values.begin(), values.end(), 6.0f);
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(kElements, 5));
  EXPECT_TRUE(written.done());
}

}  // namespace
}  // namespace catenary
