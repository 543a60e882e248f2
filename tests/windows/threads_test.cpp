// The parts of the C++ library that call a function once in whichever thread comes first. On Windows they need
// core/os/windows/once.cpp.

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace catenary {
namespace {

TEST(WindowsThreads, FillPromisesAndRunTasks) {
  constexpr int kMany = 8;
  std::vector<std::promise<std::string>> promises(kMany);
  std::vector<std::packaged_task<int(int)>> tasks;
  std::vector<std::future<std::string>> texts;
  std::vector<std::future<int>> squares;
  std::vector<std::thread> threads;
  for (int k = 0; k < kMany; ++k) {
    tasks.emplace_back([](int n) { return n * n; });
    texts.push_back(promises[static_cast<std::size_t>(k)].get_future());
    squares.push_back(tasks.back().get_future());
  }
  for (int k = 0; k < kMany; ++k) {
    const auto at = static_cast<std::size_t>(k);
    threads.emplace_back([&promise = promises[at], k] { promise.set_value(std::to_string(k)); });
    threads.emplace_back(std::move(tasks[at]), k);
  }
  for (int k = 0; k < kMany; ++k) {
    EXPECT_EQ(texts[static_cast<std::size_t>(k)].get(), std::to_string(k));
    EXPECT_EQ(squares[static_cast<std::size_t>(k)].get(), k * k);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(WindowsThreads, PassExceptionsToTheirFutures) {
  std::promise<int> promise;
  std::future<int> filled = promise.get_future();
  std::thread fails([&] { promise.set_exception(std::make_exception_ptr(std::range_error("no value"))); });
  EXPECT_THROW(filled.get(), std::range_error);
  fails.join();

  std::packaged_task<int()> task([]() -> int { throw std::domain_error("no task"); });
  std::future<int> ran = task.get_future();
  std::thread runs(std::move(task));
  EXPECT_THROW(ran.get(), std::domain_error);
  runs.join();

  std::future<int> broken;
  { broken = std::promise<int>().get_future(); }
  EXPECT_THROW(broken.get(), std::future_error);
}

TEST(WindowsThreads, RunAsynchronousCalls) {
  std::vector<std::future<int>> results;
  for (int k = 0; k < 8; ++k) results.push_back(std::async(std::launch::async, [k] { return 3 * k; }));
  for (int k = 0; k < 8; ++k) EXPECT_EQ(results[static_cast<std::size_t>(k)].get(), 3 * k);
}

/// Uses this many KiB of stack. Must not be optimised away.
__attribute__((noinline)) int deep(int kib) {
  volatile char own[1024];
  volatile char& one = own[kib % 1024];
  one = static_cast<char>(kib);
  return kib == 0 ? 0 : deep(kib - 1) + one;
}

TEST(WindowsThreads, HaveTheStackOfLinux) {
  constexpr int kKib = 6 << 10;
  const int sum = deep(kKib);
  int same = 0;
  std::thread([&same] { same = deep(kKib); }).join();
  EXPECT_EQ(same, sum);
}

}  // namespace
}  // namespace catenary
