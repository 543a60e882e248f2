#include "catenary/core/recursive_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace catenary {
namespace {

TEST(RecursiveLock, OneThreadTakesItSeveralTimes) {
  RecursiveLock lock;
  const std::lock_guard first(lock);
  {
    const std::lock_guard second(lock);
    EXPECT_EQ(lock.depth(), 2);
  }
  EXPECT_EQ(lock.depth(), 1);
}

TEST(RecursiveLock, KeepsThreadsApart) {
  RecursiveLock lock;
  int count = 0;  // protected by nothing but the lock
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const std::lock_guard outer(lock);
        const std::lock_guard inner(lock);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80000);
}

TEST(RecursiveLock, WaitsForOneThatHoldsItLong) {
  RecursiveLock lock;
  std::atomic<bool> taken{false};
  bool done = false;
  std::thread holder([&] {
    const std::lock_guard guard(lock);
    taken = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done = true;
  });
  while (!taken) std::this_thread::yield();
  {
    const std::lock_guard guard(lock);
    EXPECT_TRUE(done);
  }
  holder.join();
}

}  // namespace
}  // namespace catenary
