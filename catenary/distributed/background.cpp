#include "catenary/distributed/background.h"

#include <thread>
#include <utility>

namespace catenary::distributed {

Background& Background::thread() {
  static Background& background = *new Background;
  return background;
}

Background::Background() {
  std::thread([this] { run(); }).detach();
}

std::future<void> Background::start(std::function<void()> work) {
  std::packaged_task<void()> task(std::move(work));
  std::future<void> result = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
  return result;
}

void Background::run() {
  for (;;) {
    std::packaged_task<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !waiting_.empty(); });
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task();
  }
}

}  // namespace catenary::distributed
