#include "catenary/core/os/fibers.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace catenary::os {
namespace {

TEST(Fibers, TakeTurnsFromOneWaitToTheNext) {
  Fibers fibers(3);
  std::string said;
  // the k-th waits k times
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
  fibers.run(speak);  // the same stacks once more
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
