"""Differentiable exchange of arrays between ranks: the gradient takes the way back."""

from chainermn.functions.collective_communication import allgather, alltoall, bcast, gather, scatter  # noqa: F401
from chainermn.functions.point_to_point_communication import recv, send  # noqa: F401
from chainermn.functions.pseudo_connect import pseudo_connect  # noqa: F401
