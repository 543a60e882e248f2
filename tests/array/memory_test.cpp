// External memory, and addresses for other libraries.

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "tests/array/expect.h"

namespace ct = catenary;

// A deleter may take a lock that another thread holds while it waits for pending operations of this thread, so none of
// our locks may be held then. The other thread writes an array that a third one still reads, which requires all
// programs' locks.
TEST(Memory, OwnersAreReleasedAfterTheProgramsLock) {
  const ct::Device cpu;
  const ct::DeviceScope scope(cpu);
  const ct::Array shared = ct::ones({8}, ct::Dtype::float32);
  std::promise<void> recorded, done;
  std::thread reader([&] {
    const ct::DeviceScope here(cpu);
    const ct::Array pending = shared * 2;
    recorded.set_value();
    done.get_future().wait();
    EXPECT_EQ(pending.sum().item<float>(), 16);
  });
  recorded.get_future().wait();

  float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::promise<void> written;
  std::thread other;
  bool released = false, free = false;
  std::shared_ptr<void> owner(values, [&](void*) {
    released = true;
    other = std::thread([&] {
      shared.fill(5);
      shared.eval();
      written.set_value();
    });
    free = written.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  });
  ct::Array y;
  {
    const ct::Array x = ct::Array::from_memory(values, {8}, {1}, ct::Dtype::float32, cpu, std::move(owner));
    y = x + 1;
  }
  EXPECT_FALSE(released);  // the program still needs it
  EXPECT_EQ(y.sum().item<float>(), 44);
  EXPECT_TRUE(released);
  EXPECT_TRUE(free);
  done.set_value();
  reader.join();
  if (other.joinable()) other.join();
  EXPECT_EQ(shared.sum().item<float>(), 40);
}

TEST(Memory, DevicePointerIsTheFirstElements) {
  const ct::Array x = ct::arange(12).astype(ct::Dtype::float32).reshape({3, 4});
  char* begin = static_cast<char*>(x.device_pointer());
  ASSERT_NE(begin, nullptr);
  const ct::Array view = x(ct::slice(1, 3), ct::slice(ct::none, ct::none, -1));
  if (x.device().info().has_addresses) {
    EXPECT_EQ(static_cast<char*>(view.device_pointer()) - begin, 7 * 4);
  } else {
    EXPECT_THROW(view.device_pointer(), ct::DeviceError);
    EXPECT_EQ(static_cast<char*>(x(0).device_pointer()), begin);
  }
  EXPECT_NO_THROW(ct::zeros({0, 3}).device_pointer());
  EXPECT_THROW(ct::Array().device_pointer(), ct::ValueError);
  if (!x.device().is_cpu()) return;
  const ct::Array pending = x + 1, twice = pending * 2;
  float* values = static_cast<float*>(pending.device_pointer());
  EXPECT_EQ(values[11], 12);
  values[11] = 0;  // device_pointer() has evaluated `twice`
  EXPECT_EQ(twice(2, 3).item<float>(), 24);
  EXPECT_EQ(pending(2, 3).item<float>(), 0);
}
