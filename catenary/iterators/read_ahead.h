#pragma once
// Private to iterators/: examples read by threads, ahead of when they are wanted.

#include <cstdint>
#include <memory>
#include <vector>

#include "catenary/datasets/dataset.h"

namespace catenary::iterators {

/// Reads examples of a dataset on threads of its own, in the order in which they were asked for. To be used by one
/// thread at a time.
class ReadAhead {
 public:
  /// An example of the dataset, and its place in the endless sequence of all epochs, which its random numbers depend
  /// on.
  struct Wish {
    std::int64_t index = 0, place = 0;
    bool operator==(const Wish&) const = default;
  };

  ReadAhead(const Dataset& dataset, int n_threads);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  /// The examples `now`, after which `later` will be wanted: what of them was not asked for before is begun, and the
  /// first are waited for. Where earlier wishes foresaw something else, or another seed, they are forgotten. An
  /// exception of the dataset is thrown here.
  std::vector<Example> read(const std::vector<Wish>& now, const std::vector<Wish>& later);
  /// Forgets what was asked for.
  void clear();
  /// Ends the threads; the next read starts new ones.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace catenary::iterators
