from chainermn.communicators.mpi_communicator_base import MpiCommunicatorBase


class DummyCommunicator(MpiCommunicatorBase):
    """A communicator that does not exchange gradients, to measure the cost of the exchange."""

    _name = 'dummy'
