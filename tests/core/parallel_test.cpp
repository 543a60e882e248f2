#include "catenary/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "catenary/core/cpu_features.h"
#include "catenary/core/error.h"
#include "catenary/core/os/trial.h"

namespace catenary {
namespace {

class ParallelFor : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(threads_); }

  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  static Ranges ranges(std::int64_t n, std::int64_t grain) {
    std::mutex mutex;
    Ranges found;
    parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
      std::lock_guard lock(mutex);
      found.emplace_back(begin, end);
    });
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  int threads_ = num_threads();
};

TEST_F(ParallelFor, CoversTheRangeOnce) {
  for (int threads : {1, 2, 3, 7}) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), threads);
    for (std::int64_t n : {1, 2, 5, 64, 1000, 1001}) {
      for (std::int64_t grain : {0, 1, 3, 64, 1000}) {
        const Ranges found = ranges(n, grain);
        std::int64_t next = 0;
        for (auto [begin, end] : found) {
          EXPECT_EQ(begin, next);
          EXPECT_LT(begin, end);
          next = end;
        }
        EXPECT_EQ(next, n);
        EXPECT_LE(found.size(), threads == 1 ? 1u : 4u * static_cast<unsigned>(threads));
        EXPECT_EQ(found, ranges(n, grain));
      }
    }
  }
}

TEST_F(ParallelFor, NothingToDo) {
  EXPECT_TRUE(ranges(0, 1).empty());
  EXPECT_TRUE(ranges(-3, 1).empty());
}

TEST_F(ParallelFor, ShortLoopsStayInTheCallersThread) {
  set_num_threads(4);
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  parallel_for(100, 100, [&](std::int64_t begin, std::int64_t end) {
    ++calls;
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(end - begin, 100);
  });
  EXPECT_EQ(calls, 1);
}

TEST_F(ParallelFor, NestedCallsRunInline) {
  set_num_threads(3);
  std::vector<int> hits(30 * 40);
  parallel_for(30, 1, [&](std::int64_t begin, std::int64_t end) {
    const auto thread = std::this_thread::get_id();
    for (std::int64_t i = begin; i < end; ++i) {
      int calls = 0;
      parallel_for(40, 1, [&](std::int64_t first, std::int64_t last) {
        EXPECT_EQ(std::this_thread::get_id(), thread);
        ++calls;
        for (std::int64_t j = first; j < last; ++j) ++hits[i * 40 + j];
      });
      EXPECT_EQ(calls, 1);
    }
  });
  EXPECT_EQ(hits, std::vector<int>(hits.size(), 1));
}

TEST_F(ParallelFor, ExceptionsReachTheCaller) {
  for (int threads : {1, 4}) {
    set_num_threads(threads);
    std::vector<int> hits(8);
    auto body = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) hits[i] = 1;
      if (end == 8) throw std::runtime_error("eight");
    };
    EXPECT_THROW(parallel_for(8, 1, body), std::runtime_error);
    EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), 0), 8);
    // afterwards the threads work at the top level again
    EXPECT_EQ(ranges(8, 1).size(), threads == 1 ? 1u : 8u);
  }
}

TEST_F(ParallelFor, SeveralThreadsMayCallIt) {
  set_num_threads(2);
  std::vector<std::int64_t> sums(4);
  std::vector<std::thread> users;
  for (int u = 0; u < 4; ++u) {
    users.emplace_back([&, u] {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<std::int64_t> x(257);
        parallel_for(257, 16, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) x[i] = i;
        });
        sums[u] += std::accumulate(x.begin(), x.end(), std::int64_t{0});
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(sums, std::vector<std::int64_t>(4, 50 * 256 * 257 / 2));
}

// The second caller finds the workers busy and must not wait for them.
TEST_F(ParallelFor, OneCallerDoesNotWaitForAnother) {
  set_num_threads(3);
  std::latch first_is_inside(3), second_is_done(1);
  std::thread first([&] {
    parallel_for(3, 1, [&](std::int64_t, std::int64_t) {
      first_is_inside.count_down();
      second_is_done.wait();
    });
  });
  first_is_inside.wait();
  EXPECT_EQ(ranges(15, 5), (Ranges{{0, 5}, {5, 10}, {10, 15}}));
  second_is_done.count_down();
  first.join();
}

// A slow range occupies one thread. The second thread takes all later ranges, including those of the first.
TEST_F(ParallelFor, ASlowThreadDoesNotDecide) {
  set_num_threads(2);
  std::latch others(7);
  parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) {
    if (begin > 0) {
      others.count_down(end - begin);
      return;
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!others.try_wait() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    EXPECT_TRUE(others.try_wait());
  });
}

// A forked child has no workers, so nobody would take up offered ranges.
TEST_F(ParallelFor, WorksInAForkedChild) {
  set_num_threads(4);
  parallel_for(4, 1, [](std::int64_t, std::int64_t) {});
  const os::TrialResult result = os::run_trial(
      [&] {
        std::vector<int> hits(8);
        for (int repeat = 0; repeat < 3; ++repeat) {
          parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) ++hits[i];
          });
        }
        if (hits != std::vector<int>(8, 3)) std::abort();
      },
      60);
  EXPECT_EQ(result.crash, "");
  EXPECT_FALSE(result.timed_out);
}

TEST_F(ParallelFor, WorkersThatSleepWakeUp) {
  set_num_threads(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(ranges(2, 1), (Ranges{{0, 1}, {1, 2}}));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers need the address space
[[noreturn]] void loop_without_threads() {
  const rlimit no_more{1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &no_more);
  set_num_threads(4);
  int hits[8] = {};
  for (int repeat = 0; repeat < 2; ++repeat) {
    parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++hits[i];
    });
  }
  std::exit(std::accumulate(hits, hits + 8, 0));
}

TEST(ParallelForDeathTest, FewerThreadsWhereTheSystemHasNoMore) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(loop_without_threads(), testing::ExitedWithCode(16),
              "^catenary: loops run on 1 threads instead of 4: [^\n]*\n$");
}
#endif

TEST_F(ParallelFor, TakesConstAndTemporaryBodies) {
  const auto body = [](std::int64_t begin, std::int64_t end) { EXPECT_LT(begin, end); };
  parallel_for(10, 1, body);
  parallel_for(10, 1, [](std::int64_t begin, std::int64_t end) { EXPECT_LT(begin, end); });
}

TEST_F(ParallelFor, RefusesNoThreads) {
  EXPECT_THROW(set_num_threads(0), ValueError);
  EXPECT_THROW(set_num_threads(-1), ValueError);
}

TEST(CpuFeatures, LevelsCanBeLowered) {
  const SimdLevel before = simd_level(), best = best_simd_level();
  EXPECT_LE(before, best);
  for (SimdLevel level : {SimdLevel::v2, SimdLevel::v3, SimdLevel::v4, SimdLevel::native}) {
    const bool exists = level == best || (best != SimdLevel::native && level < best);
    if (exists) {
      set_simd_level(level);
      EXPECT_EQ(simd_level(), level);
    } else {
      EXPECT_THROW(set_simd_level(level), ValueError);
    }
  }
  set_simd_level(before);
  EXPECT_EQ(simd_level_name(SimdLevel::v3), "v3");
}

// Variables are read once per process, so each case runs in a separate process.
TEST(CpuFeaturesDeathTest, UnknownVariablesAreErrors) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto dies = [](auto&& call) {
    try {
      call();
    } catch (const ValueError& error) {
      std::fputs(error.what(), stderr);
      std::exit(3);
    }
    std::exit(0);
  };
  EXPECT_EXIT(
      {
        setenv("CATENARY_SIMD", "v5", 1);
        dies([] { simd_level(); });
      },
      testing::ExitedWithCode(3), "CATENARY_SIMD=v5: expected v2, v3 or v4");
  EXPECT_EXIT(
      {
        setenv("CATENARY_NUM_THREADS", "many", 1);
        dies([] { num_threads(); });
      },
      testing::ExitedWithCode(3), "CATENARY_NUM_THREADS=many: expected a number of threads");
}

}  // namespace
}  // namespace catenary
