#include "catenary/core/once.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace catenary {
namespace {

TEST(Once, OtherThreadsWaitForTheFirst) {
  Once once;
  int calls = 0;  // not atomic: no two threads may write it
  std::vector<std::thread> threads;
  std::vector<int> seen(8);
  for (int& mine : seen)
    threads.emplace_back([&] {
      once([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ++calls;
      });
      mine = calls;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, std::vector<int>(8, 1));
}

TEST(Once, RunsAgainAfterAnException) {
  Once once;
  int calls = 0;
  EXPECT_THROW(once([&] {
                 ++calls;
                 throw std::runtime_error("no");
               }),
               std::runtime_error);
  once([&] { ++calls; });
  once([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace catenary
