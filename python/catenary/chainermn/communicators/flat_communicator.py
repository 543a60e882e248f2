from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class FlatCommunicator(MpiCommunicatorBase):
    """A communicator that exchanges all gradients in one buffer."""

    _name = 'flat'
