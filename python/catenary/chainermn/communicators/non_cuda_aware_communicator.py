from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class NonCudaAwareCommunicator(MpiCommunicatorBase):
    """As flat: the name says that MPI is never handed memory of a GPU, which none of these does."""

    _name = 'non_cuda_aware'
