#pragma once
// Private: one thread of this process that talks to other ranks while the program computes.

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>

namespace catenary::distributed {

/// Does one thing after the other, in the order in which they were given, as ranks must agree in their order.
class Background {
 public:
  /// Made at the first call, and never destroyed: when the process ends its thread may be waiting for another rank.
  static Background& thread();

  /// The future has what the work throws.
  std::future<void> start(std::function<void()> work);

 private:
  Background();
  [[noreturn]] void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> waiting_;
};

}  // namespace catenary::distributed
