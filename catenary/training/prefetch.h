#pragma once
// Private to training/: makes, converts and uploads the next minibatch in a separate thread.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "catenary/iterators/iterator.h"

namespace catenary::training {

/// Makes a single minibatch ahead of use. For use by one thread.
class Prefetch {
 public:
  /// Converts a minibatch into arguments on these devices. Runs in the prefetching thread.
  using Convert = std::function<std::vector<Batch>(const Minibatch& batch, const std::vector<Device>& devices)>;

  /// Throws ValueError for an iterator that does not support prefetching.
  Prefetch(const Iterator& iterator, Convert convert);
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  /// Waits for the minibatch in progress.
  ~Prefetch();

  /// Returns the next minibatch on these devices, as the calling thread would have made it, with its settings and its
  /// current device, and starts the following one. Returns nullopt after the iterator's end. Throws the errors of
  /// dataset and converter for this minibatch, and ValueError if they used the calling thread's random numbers.
  std::optional<std::vector<Batch>> next(const std::vector<Device>& devices);
  /// Throws ValueError unless the iterator is where next() left it.
  void check_place() const;
  /// Waits for the minibatch in progress, discards it and ends the thread. The next call of next() starts a new thread.
  void stop();

 private:
  struct Circumstances;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace catenary::training
