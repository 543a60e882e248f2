#pragma once
// Iterators that give several ranks identical batches, for models whose parts are on different ranks.

#include "catenary/distributed/communicator.h"
#include "catenary/iterators/iterators.h"

namespace catenary::distributed {

/// Sends the batches of the master's iterator to every rank. Other ranks' iterators are ignored and may be undefined.
/// (chainermn.iterators.create_multi_node_iterator)
CT_API Iterator create_multi_node_iterator(const Iterator& iterator, const Communicator& communicator,
                                           int rank_master = 0);

/// Makes every rank's iterator shuffle in one common order, and restarts it. Each rank must have the whole dataset.
/// (chainermn.iterators.create_synchronized_iterator)
CT_API Iterator create_synchronized_iterator(const Iterator& iterator, const Communicator& communicator);

}  // namespace catenary::distributed
