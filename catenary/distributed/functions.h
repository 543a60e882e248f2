#pragma once
// Differentiable communication, for models whose parts are on different ranks. Backward on the result of such a
// function communicates gradients, so every rank that took part in the forward pass must call backward.

#include <vector>

#include "catenary/autograd/variable.h"
#include "catenary/distributed/communicator.h"

namespace catenary::distributed::functions {

/// Sends x to a rank. Returns a *delegate*, a variable with value 0. Backward on the delegate, or on a variable joined
/// to it by pseudo_connect, receives the gradient of x. (chainermn.functions.send)
CT_API Variable send(const Variable& x, const Communicator& communicator, int rank, int tag = 0);
/// Receives an array from a rank; backward sends the gradient there. A `delegate` orders this call after the call that
/// returned the delegate, so that backward runs them in the opposite order. (chainermn.functions.recv)
CT_API Variable recv(const Communicator& communicator, int rank, const Variable& delegate = {}, int tag = 0);
/// Returns `actual`, joined to the delegate so that backward continues with it. (chainermn.functions.pseudo_connect)
CT_API Variable pseudo_connect(const Variable& delegate, const Variable& actual);
CT_API std::vector<Variable> pseudo_connect(const Variable& delegate, const std::vector<Variable>& actual);

/// Returns the root's x on all ranks. Its gradient is the sum over all ranks. Other ranks' x is ignored.
/// (chainermn.functions.bcast)
CT_API Variable bcast(const Communicator& communicator, const Variable& x, int root = 0);
/// Returns all ranks' x on the root, and a single delegate elsewhere. (chainermn.functions.gather)
CT_API std::vector<Variable> gather(const Communicator& communicator, const Variable& x, int root = 0);
/// Returns this rank's entry of the root's xs. Other ranks' xs is ignored. (chainermn.functions.scatter)
CT_API Variable scatter(const Communicator& communicator, const std::vector<Variable>& xs, int root = 0);
/// Sends xs[i] to rank i and returns one variable from each rank. (chainermn.functions.alltoall)
CT_API std::vector<Variable> alltoall(const Communicator& communicator, const std::vector<Variable>& xs);
/// Returns all ranks' x on all ranks. (chainermn.functions.allgather)
CT_API std::vector<Variable> allgather(const Communicator& communicator, const Variable& x);

}  // namespace catenary::distributed::functions
