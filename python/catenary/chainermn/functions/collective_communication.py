"""Functions that all ranks call together."""

import chainer


class _Exchange(chainer.FunctionNode):
    """An exchange of the communicator. Its gradient is another one, which all ranks compute together as well."""

    def __init__(self, comm, root=None):
        self.comm = comm
        self.root = root

    @property
    def _is_root(self):
        return self.comm.rank == self.root


class _AllGather(_Exchange):
    def forward(self, inputs):
        return tuple(self.comm.allgather(inputs[0]))

    def backward(self, indexes, grad_outputs):
        return _sum(_AllToAll(self.comm).apply(grad_outputs)),


class _AllToAll(_Exchange):
    def forward(self, inputs):
        if len(inputs) != self.comm.size:
            raise ValueError('alltoall: %d arrays for %d ranks' % (len(inputs), self.comm.size))
        return tuple(self.comm.alltoall(tuple(inputs)))

    def backward(self, indexes, grad_outputs):
        return _AllToAll(self.comm).apply(grad_outputs)


class _Bcast(_Exchange):
    def forward(self, inputs):
        # other ranks pass an array that requires a gradient, so that backward reaches them, too
        return self.comm.bcast(inputs[0] if self._is_root else None, self.root),

    def backward(self, indexes, grad_outputs):
        parts = _Gather(self.comm, self.root).apply(grad_outputs)
        return (_sum(parts),) if self._is_root else (None,)


class _Gather(_Exchange):
    def forward(self, inputs):
        parts = self.comm.gather(inputs[0], self.root)
        return tuple(parts) if self._is_root else (_nothing(inputs[0]),)

    def backward(self, indexes, grad_outputs):
        return _Scatter(self.comm, self.root).apply(grad_outputs)


class _Scatter(_Exchange):
    def forward(self, inputs):
        if self._is_root and len(inputs) != self.comm.size:
            raise ValueError('scatter: %d arrays for %d ranks' % (len(inputs), self.comm.size))
        return self.comm.scatter(inputs if self._is_root else None, self.root),

    def backward(self, indexes, grad_outputs):
        parts = _Gather(self.comm, self.root).apply(grad_outputs)
        return parts if self._is_root else (None,)


def _nothing(like):
    """Returns an array without elements on the device of another."""
    return chainer.backend.get_array_module(like).empty(0, like.dtype)


def _sum(variables):
    total = variables[0]
    for variable in variables[1:]:
        total = total + variable
    return total


def _delegate():
    """Returns an input for a rank that has none. It requires a gradient, so that the rank takes part in backward."""
    import numpy
    return chainer.Variable(numpy.empty(0, chainer.get_dtype(map_mixed16=numpy.float16)))


def allgather(comm, x):
    """Returns the variables of all ranks as a tuple (chainermn.functions.allgather)."""
    return _AllGather(comm).apply((x,))


def alltoall(comm, xs):
    """Sends xs[i] to rank i. Returns the variables that came from all ranks as a tuple (chainermn.functions.alltoall)."""
    return _AllToAll(comm).apply(tuple(xs))


def bcast(comm, x, root=0):
    """Returns the root's variable on all ranks (chainermn.functions.bcast). The gradient is the sum over all ranks."""
    return _Bcast(comm, root).apply((x if comm.rank == root else _delegate(),))[0]


def gather(comm, x, root=0):
    """Returns the variables of all ranks as a tuple on the root (chainermn.functions.gather).

    Other ranks get one variable without elements, whose backward() they must call to get the gradient of x.
    """
    parts = _Gather(comm, root).apply((x,))
    return parts if comm.rank == root else parts[0]


def scatter(comm, xs, root=0):
    """Returns the variable of the root's xs that belongs to this rank (chainermn.functions.scatter)."""
    return _Scatter(comm, root).apply(tuple(xs) if comm.rank == root else (_delegate(),))[0]
