#pragma once
// Communication that gradients flow back through: models whose parts lie on different ranks. A rank that calls backward
// on what such a function gave takes part in the communication of gradients; every rank that took part forward must.

#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/distributed/communicator.h"

namespace catenary::distributed::functions {

/// Sends x to a rank. The result is a *delegate*, a variable that is 0: backward on it (or on what pseudo_connect joins
/// it to) receives the gradient of x. (chainermn.functions.send)
CT_API Variable send(const Variable& x, const Communicator& communicator, int rank, int tag = 0);
/// Receives what the rank sends; backward sends the gradient there. A delegate puts this behind what it stands for, so
/// that backward goes in the opposite order. (chainermn.functions.recv)
CT_API Variable recv(const Communicator& communicator, int rank, const Variable& delegate = {}, int tag = 0);
/// `actual`, behind which backward goes on to the delegate. (chainermn.functions.pseudo_connect)
CT_API Variable pseudo_connect(const Variable& delegate, const Variable& actual);
CT_API std::vector<Variable> pseudo_connect(const Variable& delegate, const std::vector<Variable>& actual);

/// The root's x on all ranks; its gradient is the sum of all. Elsewhere x is not looked at. (chainermn.functions.bcast)
CT_API Variable bcast(const Communicator& communicator, const Variable& x, int root = 0);
/// All ranks' x on the root; elsewhere one delegate. (chainermn.functions.gather)
CT_API std::vector<Variable> gather(const Communicator& communicator, const Variable& x, int root = 0);
/// One of the root's xs for each rank. Elsewhere xs is not looked at. (chainermn.functions.scatter)
CT_API Variable scatter(const Communicator& communicator, const std::vector<Variable>& xs, int root = 0);
/// xs[i] goes to rank i, and one comes from each. (chainermn.functions.alltoall)
CT_API std::vector<Variable> alltoall(const Communicator& communicator, const std::vector<Variable>& xs);
/// All ranks' x on all ranks. (chainermn.functions.allgather)
CT_API std::vector<Variable> allgather(const Communicator& communicator, const Variable& x);

}  // namespace catenary::distributed::functions
