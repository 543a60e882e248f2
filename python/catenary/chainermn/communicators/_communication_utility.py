"""The part of ChainerMN's module of this name that its tests and some scripts use."""

import pickle

INT_MAX = 2 ** 31 - 1


def init_ranks(mpi_comm):
    """Returns (rank, intra_rank, intra_size, inter_rank, inter_size) of this process in a communicator of mpi4py's."""
    from chainermn.communicators.naive_communicator import NaiveCommunicator
    comm = NaiveCommunicator(mpi_comm)
    return comm.rank, comm.intra_rank, comm.intra_size, comm.inter_rank, comm.inter_size


def chunked_bcast_obj(obj, mpi_comm, max_buf_len=256 * 1024 * 1024, root=0):
    """Broadcasts the root's object in messages of at most max_buf_len bytes. Raises AssertionError unless 0 < max_buf_len < INT_MAX."""
    assert 0 < max_buf_len < INT_MAX
    text = pickle.dumps(obj, protocol=pickle.HIGHEST_PROTOCOL) if mpi_comm.rank == root else b''
    size = mpi_comm.bcast(len(text), root=root)
    parts = [mpi_comm.bcast(text[at:at + max_buf_len] if mpi_comm.rank == root else None, root=root)
             for at in range(0, size, max_buf_len)]
    return obj if mpi_comm.rank == root else pickle.loads(b''.join(parts))
