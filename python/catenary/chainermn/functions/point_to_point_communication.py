"""Functions by which a network passes from one rank to another."""

import chainer
import numpy


class Send(chainer.FunctionNode):
    """Sends arrays to a rank. Its output is a delegate variable without elements."""

    def __init__(self, comm, peer_rank, peer_tag):
        self.comm, self.peer_rank, self.peer_tag = comm, peer_rank, peer_tag

    def forward(self, inputs):
        if not inputs:
            raise ValueError('send: no array is given')
        self._dtypes = [x.dtype for x in inputs]
        self.comm.send(inputs[0] if len(inputs) == 1 else tuple(inputs), self.peer_rank, self.peer_tag)
        xp = chainer.backend.get_array_module(*inputs)
        return xp.array([], dtype=inputs[0].dtype),

    def backward(self, indexes, grad_outputs):
        grads = self.comm.recv(self.peer_rank, self.peer_tag)
        grads = grads if isinstance(grads, tuple) else (grads,)
        xp = chainer.backend.get_array_module(grad_outputs[0])
        return tuple([chainer.Variable(xp.asarray(grads[i], dtype=self._dtypes[i])) for i in indexes])


class Recv(chainer.FunctionNode):
    """Receives arrays from a rank. Backward sends the gradients there."""

    def __init__(self, comm, peer_rank, peer_tag):
        self.comm, self.peer_rank, self.peer_tag = comm, peer_rank, peer_tag

    def forward(self, inputs):
        self._delegate = chainer.backend.get_array_module(inputs[0]).zeros_like(inputs[0])
        arrays = self.comm.recv(self.peer_rank, self.peer_tag)
        arrays = arrays if isinstance(arrays, tuple) else (arrays,)
        self._likes = arrays
        return arrays

    def backward(self, indexes, grad_outputs):
        grads = []
        for grad, like in zip(grad_outputs, self._likes):
            # an output that nothing uses has no gradient
            grads.append(chainer.backend.get_array_module(like).zeros_like(like) if grad is None else grad.array)
        self.comm.send(grads[0] if len(grads) == 1 else tuple(grads), self.peer_rank, self.peer_tag)
        return chainer.Variable(self._delegate),


def _as_trainable(x):
    """Returns x as a variable that requires a gradient, because backward must receive the message of the other rank."""
    return x if isinstance(x, chainer.Variable) and x.requires_grad else chainer.Variable(getattr(x, 'array', x))


def send(x, communicator, rank, tag=0):
    """Sends a variable, or a tuple or list of them, to another rank (chainermn.functions.send).

    Returns a delegate variable. backward() of it, or of a variable that depends on it, receives the gradient from that rank.
    """
    if rank == communicator.rank:
        raise ValueError('send: rank %d would send to itself' % rank)
    xs = x if isinstance(x, (tuple, list)) else (x,)
    if not any(isinstance(one, chainer.Variable) and one.requires_grad for one in xs):
        xs = [_as_trainable(xs[0]), *xs[1:]]
    delegate, = Send(communicator, rank, tag).apply(tuple(xs))
    return delegate


def recv(communicator, rank, delegate_variable=None, tag=0, force_tuple=False):
    """Returns a variable that another rank sends, or a tuple of them (chainermn.functions.recv).

    delegate_variable: the result of send() before it, whose backward must run after that of the received variable.
    force_tuple: return a tuple even for one variable.
    """
    if rank == communicator.rank:
        raise ValueError('recv: rank %d would receive from itself' % rank)
    if delegate_variable is None:
        delegate_variable = chainer.Variable(numpy.array([], chainer.get_dtype(map_mixed16=numpy.float16)))
    results = Recv(communicator, rank, tag).apply((delegate_variable,))
    return results if force_tuple or len(results) > 1 else results[0]
