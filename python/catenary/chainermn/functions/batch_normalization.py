"""Batch normalisation over the batches of all ranks. Means of x and x² are averaged over the ranks, and sums of gradients likewise."""

from chainer.functions.normalization import batch_normalization

BACKENDS = ('auto', 'mpi', 'nccl')


class _OverRanks(batch_normalization.GeneralBatchNormalizationImpl):
    def __init__(self, comm):
        self._comm = comm

    def _means(self, xp, first, second):
        """Returns both means over all ranks, by one exchange."""
        both = xp.stack([first, second])
        self._comm._multi_node_mean(None, both)
        return both[0], both[1]

    def get_mean_and_var(self, axis, gamma, x, xp, interm_dtype):
        mean, of_squares = self._means(xp, x.mean(axis=axis, dtype=gamma.dtype), xp.square(x).mean(axis=axis, dtype=gamma.dtype))
        return mean, of_squares - xp.square(mean)

    def get_ggamma_and_gbeta(self, axis, gamma, gy, x_hat, xp):
        return self._means(xp, gy.sum(axis=axis, dtype=gamma.dtype), (gy * x_hat).sum(axis=axis, dtype=gamma.dtype))  # gbeta is the first


class MultiNodeBNImplSelector:
    """Selects the implementation of Chainer's BatchNormalization."""

    def __init__(self, comm, communication_backend_name):
        self._comm = comm

    def __call__(self, function, inputs):
        return _OverRanks(self._comm)


def get_communication_backend(comm, communication_backend='auto'):
    """Returns 'nccl' or 'mpi'; both compute alike, over the communicator's ranks. Raises ValueError for a name other than 'auto', 'mpi' and 'nccl',
    and for 'nccl' with a communicator other than pure_nccl."""
    from chainermn.communicators.pure_nccl_communicator import PureNcclCommunicator
    if communication_backend not in BACKENDS:
        raise ValueError('MultiNodeBatchNormalization: unknown communication_backend %r; expected one of %s' % (communication_backend, ', '.join(BACKENDS)))
    is_nccl = isinstance(comm, PureNcclCommunicator)
    if communication_backend == 'nccl' and not is_nccl:
        raise ValueError("MultiNodeBatchNormalization: communication_backend 'nccl' needs pure_nccl, not %s" % type(comm).__name__)
    return 'nccl' if is_nccl and communication_backend != 'mpi' else 'mpi'
