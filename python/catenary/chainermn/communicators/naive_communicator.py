from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class NaiveCommunicator(MpiCommunicatorBase):
    """A communicator that exchanges gradients parameter by parameter."""

    _name = 'naive'
