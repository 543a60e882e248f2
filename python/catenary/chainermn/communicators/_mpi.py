"""Communicators of mpi4py's: the ranks of one, and a substitute without mpi4py."""

import functools
import operator
import sys

import numpy

from catenary import _core
from chainermn.communicators import _arrays, _letters, _objects


def ranks_of(mpi_comm, name):
    """Returns the ranks of a communicator."""
    if mpi_comm is None:
        return _core.Communicator.create(name, [])
    if isinstance(mpi_comm, Comm):
        return mpi_comm._ranks.as_named(name)
    mpi = sys.modules.get('mpi4py.MPI')
    if mpi is None or not isinstance(mpi_comm, mpi.Comm):
        raise TypeError('create_communicator: mpi_comm is %s; expected None or a communicator of mpi4py' % type(mpi_comm).__name__)
    members = mpi.Group.Translate_ranks(mpi_comm.Get_group(), range(mpi_comm.Get_size()), mpi.COMM_WORLD.Get_group())
    return _core.Communicator.create(name, list(members))


class Comm:
    """The attribute mpi_comm of a communicator without mpi4py, with the methods that scripts use.

    Objects are pickled. Methods that fill buffers in mpi4py fill NumPy arrays here.
    """

    def __init__(self, ranks):
        self._ranks = ranks

    rank = property(lambda self: self._ranks.rank)
    size = property(lambda self: self._ranks.size)

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.size

    def Split(self, color=0, key=0):
        return Comm(self._ranks.split(color, key))

    def Barrier(self):
        self._ranks.barrier()

    barrier = Barrier

    def send(self, obj, dest, tag=0):
        _letters.send_object(self._ranks, obj, dest, tag)

    ssend = send

    def recv(self, buf=None, source=0, tag=_letters.ANY_TAG, status=None):
        return _letters.recv_object(self._ranks, source, tag, status)

    def bcast(self, obj, root=0):
        return _objects.bcast(self._ranks, obj, root)

    def gather(self, sendobj, root=0):
        return _objects.gather(self._ranks, sendobj, root)

    def allgather(self, sendobj):
        return _objects.allgather(self._ranks, sendobj)

    def scatter(self, sendobj, root=0):
        return _objects.scatter(self._ranks, sendobj, root)

    def alltoall(self, sendobj):
        return [objs[self.rank] for objs in _objects.allgather(self._ranks, sendobj)]

    def allreduce(self, sendobj, op=operator.add):
        return functools.reduce(op, _objects.allgather(self._ranks, sendobj))

    def Bcast(self, buf, root=0):
        """Copies the root's array into the arrays of all other ranks."""
        array = buf if _arrays.is_array(buf) else numpy.frombuffer(buf, numpy.uint8)
        there = self._ranks.bcast(_arrays.given(array, 'Bcast') if self.rank == root else None, root)
        if self.rank != root:
            array[...] = _arrays.delivered(there, isinstance(array, numpy.ndarray)).reshape(array.shape)

    def Abort(self, errorcode=1):
        _core.abort_job('Abort(%d) was called' % errorcode)
