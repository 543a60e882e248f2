#pragma once
// Private: a thread of this process that communicates with other ranks while the program computes.

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>

namespace catenary::distributed {

/// Runs tasks one at a time in the order of submission, because all ranks must use one order.
class Background {
 public:
  /// Created by the first call and never destroyed: at exit its thread may be waiting for another rank.
  static Background& thread();

  /// Submits a task. The future holds its exception, if any.
  std::future<void> start(std::function<void()> work);

 private:
  Background();
  [[noreturn]] void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> waiting_;
};

}  // namespace catenary::distributed
