from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class NonCudaAwareCommunicator(MpiCommunicatorBase):
    """A communicator like flat. The name says that MPI never receives GPU memory, which holds for all communicators here."""

    _name = 'non_cuda_aware'
