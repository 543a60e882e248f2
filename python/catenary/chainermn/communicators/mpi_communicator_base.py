"""The operations of all communicators, which differ only in the exchange of gradients."""

import functools
import operator

import chainer
import numpy

from chainermn.communicators import _arrays, _letters, _mpi, _objects
from chainermn.communicators.communicator_base import CommunicatorBase


class MpiCommunicatorBase(CommunicatorBase):
    """The ranks of a job, or some of them.

    All ranks call the same functions in the same order. Otherwise every rank raises a ValueError that names two ranks and their calls. Arrays are
    NumPy's or cupy's, of any dtype, layout and device. A received array is NumPy's if NumPy's was sent, and otherwise lies on the current device.

    mpi_comm: None, a communicator of mpi4py's, or the attribute mpi_comm of another communicator.
    """

    _name = 'naive'

    def __init__(self, mpi_comm=None, name=None):
        super().__init__()
        self._ranks = _mpi.ranks_of(mpi_comm, name or self._name)
        self.mpi_comm = _mpi.Comm(self._ranks) if mpi_comm is None else mpi_comm
        with self.config_scope():
            self.batched_copy = False

    rank = property(lambda self: self._ranks.rank)
    size = property(lambda self: self._ranks.size)
    intra_rank = property(lambda self: self._ranks.intra_rank)
    intra_size = property(lambda self: self._ranks.intra_size)
    inter_rank = property(lambda self: self._ranks.inter_rank)
    inter_size = property(lambda self: self._ranks.inter_size)

    def set_config(self, name, value=True, **kwargs):
        """Sets 'batched_copy' (ignored) or 'collective_timeout' (in minutes). Raises ValueError for other names."""
        if name == 'collective_timeout':
            self._ranks.set_config(name, value)
        elif name == 'batched_copy':
            with self.config_scope():
                self.batched_copy = value
        else:
            super().set_config(name, **kwargs)

    def get_config(self, name=None):
        if name == 'collective_timeout':
            return self._ranks.get_config(name)
        return self.batched_copy if name == 'batched_copy' else super().get_config(name)

    def split(self, color, key):
        """Returns a communicator of the ranks with the same color, in the order of their keys."""
        return self.__class__(_mpi.Comm(self._ranks.split(color, key)))

    def finalize(self):
        """Waits until all ranks call it. The communicator must not be used afterwards."""
        self._ranks.finalize()

    # Arrays

    def send(self, data, dest, tag=0):
        """Sends an array, or a tuple or list of arrays of one dtype, to a rank. It may return before that rank has received them."""
        is_tuple = not _arrays.is_array(data)
        arrays = _arrays.sequence(data, 'send') if is_tuple else [data]
        _letters.send_arrays(self._ranks, arrays, is_tuple, dest, tag)

    def recv(self, source, tag=0):
        """Receives an array, or a tuple of arrays, from a rank."""
        return _letters.recv_arrays(self._ranks, source, tag)

    def bcast(self, x, root=0):
        """Broadcasts the root's array. Other ranks' x is ignored."""
        if self.rank == root:
            if not _arrays.is_array(x):
                raise TypeError('bcast: %s is not an array of NumPy or cupy' % type(x).__name__)
            self.bcast_obj(isinstance(x, numpy.ndarray), root=root)
            self._ranks.bcast(_arrays.given(x, 'bcast'), root)
            return x
        on_host = self.bcast_obj(None, root=root)
        return _arrays.delivered(self._ranks.bcast(None, root), on_host)

    def gather(self, x, root=0):
        """Returns the arrays of all ranks as a tuple on the root, and None elsewhere."""
        ys = self._ranks.gather(_arrays.single(x, 'gather'), root)
        return self._like(x, ys) if self.rank == root else None

    def allgather(self, x):
        """Returns the arrays of all ranks as a tuple."""
        return self._like(x, self._ranks.allgather(_arrays.single(x, 'allgather')))

    def alltoall(self, xs):
        """Sends xs[i] to rank i and returns the arrays received from all ranks as a tuple. Raises ValueError unless xs has `size` arrays."""
        if len(xs) != self.size:
            raise ValueError('alltoall: got %d arrays for %d ranks; expected one for each rank' % (len(xs), self.size))
        ys = self._ranks.alltoall([_arrays.given(x, 'alltoall') for x in _arrays.sequence(xs, 'alltoall')])
        return self._like(xs[0], ys)

    def scatter(self, xs, root=0):
        """Distributes the root's arrays, one per rank, or one array divided along its first axis. Other ranks' xs is ignored."""
        if self.rank != root:
            on_host = self.bcast_obj(None, root=root)
            return _arrays.delivered(self._ranks.scatter([], root), on_host)
        if len(xs) != self.size:
            raise ValueError('scatter: got %d arrays for %d ranks; expected one for each rank' % (len(xs), self.size))
        xs = _arrays.sequence(xs, 'scatter')
        on_host = self.bcast_obj(isinstance(xs[0], numpy.ndarray), root=root)
        return _arrays.delivered(self._ranks.scatter([_arrays.given(x, 'scatter') for x in xs], root), on_host)

    def allreduce(self, x):
        """Returns the sum over all ranks, whose arrays must agree in shape and dtype. 16-bit floats are summed in float32."""
        return _arrays.reduced(x, self._ranks.allreduce(_arrays.single(x, 'allreduce')))

    @staticmethod
    def _like(x, ys):
        return tuple(_arrays.delivered(y, isinstance(x, numpy.ndarray)) for y in ys)

    # Objects, by pickle

    def send_obj(self, obj, dest, tag=0):
        """Sends an object to a rank. It may return before that rank has received it."""
        _letters.send_object(self._ranks, obj, dest, tag)

    def recv_obj(self, source, status=None, tag=_letters.ANY_TAG):
        """Receives an object from a rank, with any tag unless one is given. `status` is mpi4py's, and receives source and tag."""
        return _letters.recv_object(self._ranks, source, tag, status)

    def bcast_obj(self, obj, max_buf_len=256 * 1024 * 1024, root=0):
        """Broadcasts the root's object. max_buf_len is ignored, as messages have no size limit."""
        return _objects.bcast(self._ranks, obj, root)

    def gather_obj(self, obj, root=0):
        """Returns the objects of all ranks as a list on the root, and None elsewhere."""
        return _objects.gather(self._ranks, obj, root)

    def allgather_obj(self, obj):
        """Returns the objects of all ranks as a list."""
        return _objects.allgather(self._ranks, obj)

    def scatter_obj(self, objs, root=0):
        """Distributes the root's objects, one per rank. Other ranks' objs is ignored."""
        return _objects.scatter(self._ranks, objs, root)

    def allreduce_obj(self, obj):
        """Combines the ranks' objects by +, in the order of ranks."""
        return functools.reduce(operator.add, _objects.allgather(self._ranks, obj))

    # Models

    def bcast_data(self, model):
        """Copies rank 0's parameters to all ranks, except parameters without a shape yet."""
        _arrays.bcast_data(self._exchange(), [(name, p) for name, p in _named(model) if p.array is not None])

    def multi_node_mean_grad(self, model, zero_fill=False):
        """Replaces every gradient by its mean over all ranks. With zero_fill a missing gradient counts as zeros. Without it, a parameter without a
        gradient must have none on any rank."""
        params = [(name, p) for name, p in _named(model) if p.array is not None]
        if zero_fill:
            # the mean has the loss scale of the ranks with gradients
            scale = next((p._loss_scale for _, p in params if p.grad is not None), None)
            for _, p in params:
                if p.grad is None:
                    with chainer.using_device(p.device):
                        p.grad = p.device.xp.zeros_like(p.array)
                    p._loss_scale = scale
        params = [(name, p) for name, p in params if p.grad is not None]
        _arrays.mean_grads(self._exchange(), params)
        if chainer.is_debug():
            for _, p in params:
                self._ensure_all_finite(p.grad)

    def _exchange(self):
        """Returns the communicator that exchanges gradients."""
        return self._ranks

    def _multi_node_mean(self, sendbuf, recvbuf):
        """Writes the mean over all ranks of sendbuf, or of recvbuf if sendbuf is None, into recvbuf."""
        x = recvbuf if sendbuf is None else sendbuf
        recvbuf[...] = _arrays.reduced(x, self._ranks.allreduce_mean(_arrays.single(x, 'allreduce_mean')))
        if chainer.is_debug():
            self._ensure_all_finite(recvbuf)

    @staticmethod
    def _ensure_all_finite(array):
        if not chainer.backend.get_array_module(array).isfinite(array).all():
            raise ValueError('Parameters diverged after allreduce.')


def _named(model):
    """Returns named parameters in an order common to all ranks."""
    return sorted(model.namedparams())
