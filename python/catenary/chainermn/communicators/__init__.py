"""Creates communicators by name."""

import importlib

from chainermn.communicators.communicator_base import CommunicatorBase  # noqa: F401, of Chainer 7.8.1

# Name -> class of that name. The last three names are ChainerMN 1's, which the library also accepts.
_CLASSES = {
    'pure_nccl': 'PureNcclCommunicator',
    'flat': 'FlatCommunicator',
    'naive': 'NaiveCommunicator',
    'non_cuda_aware': 'NonCudaAwareCommunicator',
    'dummy': 'DummyCommunicator',
    'hierarchical': 'FlatCommunicator',
    'two_dimensional': 'FlatCommunicator',
    'single_node': 'FlatCommunicator',
}


def create_communicator(communicator_name='pure_nccl', mpi_comm=None, *, allreduce_grad_dtype=None, batched_copy=True):
    """Returns a communicator of the ranks started by `catenary launch` or MPI, or of this process alone (chainermn.create_communicator). All ranks
    call it.

    mpi_comm: a communicator of mpi4py's, whose ranks call this function together. allreduce_grad_dtype: for pure_nccl, the floating dtype in which
    gradients are exchanged, by default that of `chainer.config.dtype`. batched_copy: ignored, as gradients are always batched.

    All names accept arrays of NumPy and of every device. Raises ValueError for another name, and for allreduce_grad_dtype with a communicator
    other than pure_nccl.
    """
    if communicator_name not in _CLASSES:
        raise ValueError('create_communicator: unknown name %r; expected one of %s' % (communicator_name, ', '.join(_CLASSES)))
    if allreduce_grad_dtype is not None and communicator_name != 'pure_nccl':
        raise ValueError('create_communicator: only pure_nccl supports allreduce_grad_dtype, not ' + communicator_name)
    name = _CLASSES[communicator_name]
    module = communicator_name if name != 'FlatCommunicator' else 'flat'
    made = getattr(importlib.import_module('chainermn.communicators.%s_communicator' % module), name)
    communicator = made(mpi_comm, communicator_name)
    communicator.set_config('batched_copy', batched_copy)
    if communicator_name == 'pure_nccl':
        communicator.set_config('allreduce_grad_dtype', allreduce_grad_dtype)
    return communicator
