#pragma once
// Datasets divided among ranks.

#include <cstdint>
#include <optional>
#include <utility>

#include "catenary/datasets/dataset.h"
#include "catenary/distributed/communicator.h"

namespace catenary::distributed {

/// Thrown for a number of examples that cannot be divided. (chainermn.DataSizeError)
class CT_API DataSizeError : public ValueError {
 public:
  using ValueError::ValueError;
  ~DataSizeError() override;
};

/// Options of scatter_dataset.
struct ScatterOptions {
  int root = 0;
  bool shuffle = false;                    ///< divides a random permutation
  std::optional<std::uint64_t> seed = {};  ///< seed of the permutation; drawn by the root if not set
  /// Gives every rank ceil(n / size) examples, so that epochs end together. Some examples are then on two ranks.
  bool force_equal_length = true;
};

/// Returns this rank's part of the root's dataset, a contiguous range, as columns if the dataset has columns. Other
/// ranks' `dataset` is ignored. Throws ValueError if the root's dataset is undefined. (chainermn.scatter_dataset)
CT_API Dataset scatter_dataset(const Dataset& dataset, const Communicator& communicator,
                               const ScatterOptions& options = {});

/// Returns the index range [begin, end) of this rank, for ranks that can all read the dataset. The root's n is used.
/// Throws DataSizeError on every rank if it is negative. (chainermn.datasets.scatter_index)
CT_API std::pair<std::int64_t, std::int64_t> scatter_index(std::int64_t n, const Communicator& communicator,
                                                           const ScatterOptions& options = {});

/// Returns as many empty examples as a dataset has, for ranks whose models have no input.
/// (chainermn.datasets.create_empty_dataset)
CT_API Dataset create_empty_dataset(const Dataset& dataset);

}  // namespace catenary::distributed
