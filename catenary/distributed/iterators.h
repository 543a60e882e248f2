#pragma once
// Iterators by which several ranks see the same batches, for models whose parts lie on different ranks.

#include "catenary/distributed/communicator.h"
#include "catenary/iterators/iterators.h"

namespace catenary::distributed {

/// Gives every rank the batches of the master's iterator, which are sent. The others' iterators are not looked at and
/// may be undefined. (chainermn.iterators.create_multi_node_iterator)
CT_API Iterator create_multi_node_iterator(const Iterator& iterator, const Communicator& communicator,
                                           int rank_master = 0);

/// Has every rank's iterator shuffle in the same order, over the dataset that each of them has. It begins anew.
/// (chainermn.iterators.create_synchronized_iterator)
CT_API Iterator create_synchronized_iterator(const Iterator& iterator, const Communicator& communicator);

}  // namespace catenary::distributed
