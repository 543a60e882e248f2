#pragma once
// A dataset's examples dealt out to ranks.

#include <cstdint>
#include <optional>
#include <utility>

#include "catenary/datasets/dataset.h"
#include "catenary/distributed/communicator.h"

namespace catenary::distributed {

/// Thrown for a number of examples that cannot be dealt out. (chainermn.DataSizeError)
class CT_API DataSizeError : public ValueError {
 public:
  using ValueError::ValueError;
  ~DataSizeError() override;
};

/// Options of scatter_dataset.
struct ScatterOptions {
  int root = 0;
  bool shuffle = false;                    ///< in a random order
  std::optional<std::uint64_t> seed = {};  ///< of that order; else the root draws it
  /// All get ceil(n / size) examples, some of which two ranks have then, so that epochs end together.
  bool force_equal_length = true;
};

/// The part of the root's dataset that is this rank's, one behind the other, in columns where the dataset has some. On
/// the other ranks `dataset` is not looked at. Throws ValueError where the root's is none.
/// (chainermn.scatter_dataset)
CT_API Dataset scatter_dataset(const Dataset& dataset, const Communicator& communicator,
                               const ScatterOptions& options = {});

/// The same for indices: begin and end of this rank's, for ranks that can all read the examples. The root's n counts.
/// Throws DataSizeError on every rank where it is negative. (chainermn.datasets.scatter_index)
CT_API std::pair<std::int64_t, std::int64_t> scatter_index(std::int64_t n, const Communicator& communicator,
                                                           const ScatterOptions& options = {});

/// As many examples as a dataset has, all without anything in them: for ranks whose models have no input of their own.
/// (chainermn.datasets.create_empty_dataset)
CT_API Dataset create_empty_dataset(const Dataset& dataset);

}  // namespace catenary::distributed
