#pragma once
// Private to iterators/: reads examples ahead on threads.

#include <cstdint>
#include <memory>
#include <vector>

#include "catenary/datasets/dataset.h"

namespace catenary::iterators {

/// Reads examples of a dataset on background threads, in the order of the requests. Only one thread at a time may use
/// it.
class ReadAhead {
 public:
  /// An example of the dataset, and its position in the endless sequence of epochs, which determines its random
  /// numbers.
  struct Wish {
    std::int64_t index = 0, place = 0;
    bool operator==(const Wish&) const = default;
  };

  ReadAhead(const Dataset& dataset, int n_threads);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  /// Returns the examples `now` and starts to read `later`. Starts reads that earlier calls did not request, and
  /// discards requests that differ from the present ones or used another seed. Throws exceptions of the dataset.
  std::vector<Example> read(const std::vector<Wish>& now, const std::vector<Wish>& later);
  /// Discards all requests.
  void clear();
  /// Ends the threads. The next read starts new ones.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace catenary::iterators
