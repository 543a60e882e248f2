// Streams and events on the current device. tests/simgpu shows on simulated CUDA and HIP that streams overlap.

#include "catenary/device/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/linalg.h"
#include "catenary/array/reduction.h"
#include "catenary/array/user_kernel.h"
#include "catenary/core/clock.h"
#include "catenary/core/error.h"
#include "catenary/device/pool.h"

namespace catenary {
namespace {

TEST(Stream, NullIsTheCurrentOneAtFirst) {
  const Device device = current_device();
  EXPECT_TRUE(current_stream().is_null());
  EXPECT_TRUE(current_stream() == Stream::null(device));
  EXPECT_EQ(Stream::null().device(), device);
}

TEST(Stream, UseNests) {
  const Stream a, b;
  if (current_device().is_cpu()) {
    EXPECT_TRUE(a == b) << "on the CPU everything is in order";
  } else {
    EXPECT_FALSE(a == b);
    EXPECT_FALSE(a.is_null());
  }
  {
    const Stream::Use use_a(a);
    EXPECT_TRUE(current_stream() == a);
    {
      const Stream::Use use_b(b);
      EXPECT_TRUE(current_stream() == b);
      std::thread([] { EXPECT_TRUE(current_stream(get_device("cpu")).is_null()); }).join();
      const Stream::Use use_null(Stream::null());
      EXPECT_TRUE(current_stream().is_null());
    }
    EXPECT_TRUE(current_stream() == a);
  }
  EXPECT_TRUE(current_stream().is_null());
}

TEST(Stream, ResultsAreThoseOfTheDevicesOwn) {
  const Array x = arange(1000, Dtype::float32).reshape({10, 100}).eval();
  const std::vector<float> expected = sum(matmul(x * 2 - 1, x.T()), 1).to_vector<float>();
  const Event made = current_stream().record();
  const Stream s;
  Array y;
  {
    const Stream::Use use(s);
    s.wait(made);
    y = sum(matmul(x * 2 - 1, x.T()), 1);
  }
  current_stream().wait(s.record());
  EXPECT_EQ(y.to_vector<float>(), expected);
  s.synchronize();
}

TEST(Stream, PendingWorkBelongsToTheStreamThatItWasWrittenIn) {
  const Stream s;
  Array x, y;
  {
    const Stream::Use use(s);
    x = arange(100, Dtype::float32);
    y = x * 3 + 1;  // pending when the scope ends
  }
  s.synchronize();
  EXPECT_EQ(y.to_vector<float>()[99], 298);
}

TEST(Stream, BlockingOnesAreInOrderWithTheNullStream) {
  const Stream stream(current_device(), true);
  const Array x = full({64, 64}, 1.0f / 64, Dtype::float32).eval();
  const auto powers = [&](Array y) {
    for (int i = 0; i < 20; ++i) y = matmul(y, x);  // as it was
    return y.eval();
  };
  const std::vector<float> expected = x.to_vector<float>();
  for (int i = 0; i < 5; ++i) {
    Array y;
    {
      const Stream::Use use(stream);
      y = powers(x);
    }
    EXPECT_EQ(y.to_vector<float>(), expected);
    y = powers(y);
    const Stream::Use use(stream);
    EXPECT_EQ(y.to_vector<float>(), expected);
  }
}

TEST(Event, MarksAndTimes) {
  const Stream s;
  const Event before = s.record();
  {
    const Stream::Use use(s);
    Array x = ones({200, 200}, Dtype::float32);
    for (int i = 0; i < 3; ++i) x = matmul(x, x) / 200;
    EXPECT_EQ(x.to_vector<float>()[7], 1);
  }
  const Event after = s.record();
  after.synchronize();
  EXPECT_TRUE(before.done());
  EXPECT_TRUE(after.done());
  EXPECT_GT(elapsed_time(before, after), 0);
  EXPECT_LT(elapsed_time(before, after), 60000);
  EXPECT_EQ(after.device(), current_device());
  if (!current_device().is_cpu()) {
    EXPECT_THROW(elapsed_time(before, Stream::null(Device()).record()), DeviceError);
  }
}

TEST(Event, OfAnotherBackendIsWaitedForByTheHost) {
  const Stream s;
  Stream::null(Device()).wait(s.record());
  s.wait(Stream::null(Device()).record());
  EXPECT_EQ((arange(3, Dtype::float32) + 1).to_vector<float>(), std::vector<float>({1, 2, 3}));
}

TEST(Stream, MemoryOfAnEndedStreamIsUsedAgain) {
  MemoryPool& pool = memory_pool();
  constexpr std::int64_t kElements = 300000;
  Array kept;
  const std::size_t before = pool.used_bytes();
  {
    const Stream s;
    const Stream::Use use(s);
    kept = full({kElements}, 2.5, Dtype::float32).eval();
    full({kElements}, 3.5, Dtype::float32).eval();
  }
  EXPECT_EQ(kept.to_vector<float>()[kElements - 1], 2.5f);
  const std::size_t total = pool.total_bytes();
  full({kElements}, 4.5, Dtype::float32).eval();
  EXPECT_EQ(pool.total_bytes(), total);
  kept = Array();
  EXPECT_EQ(pool.used_bytes(), before);
}

TEST(Stream, EveryThreadItsOwn) {
  const Device device = current_device();
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      device.use();
      const Stream s;
      const Stream::Use use(s);
      Array x = full({1000}, static_cast<float>(t), Dtype::float32);
      for (int i = 0; i < 20; ++i) x = (x + 1).eval();
      results[t] = x.to_vector<float>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < results.size(); ++t)
    EXPECT_EQ(results[t], std::vector<float>(1000, static_cast<float>(t) + 20));
}

/// Returns the result of a kernel that takes a while on every device, because each step depends on the previous one.
Array take_a_while(const Array& x, int steps) {
  static const ElementwiseKernel kernel("float32 x, int32 steps", "float32 y",
                                        "y = x; for (int step = 0; step < steps; ++step) y = y * 0.5f + 1",
                                        "take_a_while");
  return kernel(x, steps);
}

TEST(Stream, TheHostIsNotFarAhead) {
  // without a limit, the device would not have finished anything when the host reaches the end
  constexpr int kAhead = 17 * 64;  // from backends/gpu/ahead.h
  const bool is_simulated = current_device().info().is_simulated;
  const Stream s;
  const Stream::Use use(s);
  Array x = zeros({is_simulated ? 64 : 1 << 12}, Dtype::float32).eval();
  std::vector<Event> marks;
  for (int i = 0; i < kAhead + 100; ++i) {
    if (current_device().is_cpu())
      x = (x * 0.5f + 1).eval();
    else
      x = take_a_while(x, is_simulated ? 20000 : 200);
    marks.push_back(s.record());
    if (i >= kAhead) {
      EXPECT_TRUE(marks[static_cast<std::size_t>(i - kAhead)].done()) << i;
    }
  }
  EXPECT_EQ(x.to_vector<float>()[0], 2);
}

TEST(Stream, TheHostIsAheadByFewKernelsWhereEachTakesLong) {
  if (current_device().is_cpu()) return;  // as above
  // Three times the target time between two marks, on any device. Uses many elements, since llvmpipe ends a loop after
  // 65535 steps. Measured in another stream, because short work before long work would let the host run further ahead.
  constexpr double kSeconds = 0.06;
  constexpr int kSteps = 60'000;
  Array x = zeros({1}, Dtype::float32).eval();
  {
    const Stream measured;
    const Stream::Use use(measured);
    double taken = 0;
    const auto measure = [&] {  // the minimum of several, since other load makes one slow
      for (int run = 0; run < 3; ++run) {
        measured.synchronize();
        const double began = monotonic_seconds();
        take_a_while(x, kSteps).eval();
        measured.synchronize();
        const double now = monotonic_seconds() - began;
        taken = run == 0 ? now : std::min(taken, now);
      }
    };
    measure();  // warm-up
    for (measure(); taken < kSeconds; measure()) {
      const double factor = std::clamp(1.2 * kSeconds / taken, 1.2, 10.0);
      x = zeros({static_cast<std::int64_t>(std::ceil(static_cast<double>(x.size()) * factor))}, Dtype::float32).eval();
    }
  }
  constexpr std::size_t kAhead = 32;
  const Stream s;
  const Stream::Use use(s);
  std::vector<Event> marks;
  for (std::size_t i = 0; i < kAhead + 16; ++i) {
    x = take_a_while(x, kSteps);
    marks.push_back(s.record());
    if (i >= kAhead) {
      EXPECT_TRUE(marks[i - kAhead].done()) << i << " of " << x.size() << " elements";
    }
  }
  EXPECT_EQ(x.to_vector<float>()[0], 2);
}

}  // namespace
}  // namespace catenary
