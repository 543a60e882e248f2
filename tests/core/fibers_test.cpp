#include "catenary/core/os/fibers.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "catenary/core/os/faults.h"

namespace catenary::os {
namespace {

TEST(Fibers, TakeTurnsFromOneWaitToTheNext) {
  Fibers fibers(3);
  std::string said;
  // fiber k waits k times
  const auto speak = [&](int k) {
    for (int round = 0; round < k; ++round) {
      said += static_cast<char>('a' + k);
      fibers.wait();
    }
    said += static_cast<char>('A' + k);
  };
  fibers.run(speak);
  EXPECT_EQ(said, "AbcBcC");
  said.clear();
  fibers.run(speak);  // reuses the stacks
  EXPECT_EQ(said, "AbcBcC");
}

TEST(Fibers, EachHasAStackOfItsOwn) {
  constexpr int kMany = 1024, kWords = 8192;
  Fibers fibers(kMany);
  std::vector<int> wrong(kMany);
  fibers.run([&](int k) {
    volatile int own[kWords];
    for (int i = 0; i < kWords; i += 512) own[i] = k + i;
    fibers.wait();
    for (int i = 0; i < kWords; i += 512) wrong[static_cast<std::size_t>(k)] += own[i] != k + i;
  });
  EXPECT_EQ(wrong, std::vector<int>(kMany));
}

/// Uses this many KiB of stack. Must not be optimised away.
__attribute__((noinline)) int deep(int kib) {
  volatile char own[1024];
  volatile char& one = own[kib % 1024];  // Clang keeps no more of an array than it sees used
  one = static_cast<char>(kib);
  return kib == 0 ? 0 : deep(kib - 1) + one;
}

// Without the guard, a fiber that overflows would overwrite another fiber's stack.
TEST(FibersDeathTest, AStackThatOverflowsIsTold) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        const FaultScope scope("a deep function");
        Fibers fibers(3);
        fibers.run([&](int k) {
          if (k == 1) deep(2000);
          fibers.wait();
        });
      },
      "catenary: a deep function: SIGSEGV: a work-item needs more stack than the 640 KiB that it has");
}

// The thread sanitizer counts calls that have not returned.
TEST(Fibers, AreMadeManyTimes) {
  int sum = 0;
  for (int time = 0; time < 80; ++time) {
    Fibers fibers(1024);
    fibers.run([&](int k) {
      fibers.wait();
      sum += k % 2;
    });
  }
  EXPECT_EQ(sum, 80 * 512);
}

TEST(Fibers, ThreadsHaveTheirOwn) {
  std::vector<int> sums(4);
  std::vector<std::thread> threads;
  for (int& sum : sums)
    threads.emplace_back([&sum] {
      Fibers fibers(50);
      fibers.run([&](int k) {
        for (int round = 0; round < 20; ++round) {
          sum += k;
          fibers.wait();
        }
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, std::vector<int>(4, 20 * 50 * 49 / 2));
}

}  // namespace
}  // namespace catenary::os
