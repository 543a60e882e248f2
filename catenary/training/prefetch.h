#pragma once
// Private to training/: the next minibatch is made, converted and brought to its devices by a thread of its own.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "catenary/iterators/iterator.h"

namespace catenary::training {

/// Makes one minibatch at a time ahead of when it is wanted. To be used by one thread.
class Prefetch {
 public:
  /// Turns a minibatch into what is computed with, on these devices; called by the thread that makes it.
  using Convert = std::function<std::vector<Batch>(const Minibatch& batch, const std::vector<Device>& devices)>;

  /// Throws ValueError for an iterator that does not look ahead.
  Prefetch(const Iterator& iterator, Convert convert);
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  /// Waits for what is being made.
  ~Prefetch();

  /// The next minibatch on these devices, as it would have been made by the calling thread: with its settings and its
  /// current device. The one after it is begun. Nothing where the iterator has no more. Throws what the dataset or the
  /// converter threw at this minibatch, and ValueError where they drew from the calling thread's random numbers.
  std::optional<std::vector<Batch>> next(const std::vector<Device>& devices);
  /// Throws ValueError unless the iterator is where next() left it.
  void check_place() const;
  /// Waits for what is being made, forgets it and ends the thread; the next call of next() starts a new one.
  void stop();

 private:
  struct Circumstances;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace catenary::training
