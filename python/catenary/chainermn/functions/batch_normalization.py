"""Batch normalisation over the batches of all ranks. Means of x and x² are averaged over the ranks, and sums of gradients likewise."""

import chainer

BACKENDS = ('auto', 'mpi', 'nccl')


class MultiNodeBatchNormalization(chainer.FunctionNode):
    """Normalises with the mean and variance of the batches of all ranks, which have the same size.

    After the call, `mean` and `var` are those of gamma's dtype.
    """

    def __init__(self, comm, eps):
        self.comm, self.eps = comm, eps

    def _means(self, xp, first, second):
        """Returns both means over all ranks, by one exchange."""
        both = xp.stack([first, second])
        self.comm._multi_node_mean(None, both)
        return both[0], both[1]

    def forward(self, inputs):
        x, gamma, beta = inputs
        xp = chainer.backend.get_array_module(x)
        self._axes = (0, *range(1 + gamma.ndim, x.ndim))
        self._at = tuple([None if axis in self._axes else slice(None) for axis in range(x.ndim)])
        mean = x.mean(axis=self._axes, dtype=gamma.dtype)
        of_squares = xp.square(x.astype(gamma.dtype, copy=False)).mean(axis=self._axes)
        self.mean, of_squares = self._means(xp, mean, of_squares)
        self.var = of_squares - xp.square(self.mean)
        inverse = 1 / xp.sqrt(self.var + gamma.dtype.type(self.eps))
        normal = (x - self.mean[self._at]) * inverse[self._at]
        self._kept = xp, normal, inverse, gamma
        return (gamma[self._at] * normal + beta[self._at]).astype(x.dtype, copy=False),

    def backward(self, indexes, grad_outputs):
        if chainer.config.enable_backprop:
            raise NotImplementedError('MultiNodeBatchNormalization cannot be differentiated twice')
        gy = grad_outputs[0].array
        xp, normal, inverse, gamma = self._kept
        wide = gy.astype(gamma.dtype, copy=False)
        gbeta, ggamma = self._means(xp, wide.sum(axis=self._axes), (wide * normal).sum(axis=self._axes))
        count = gamma.dtype.type(gy.size // gamma.size)
        gx = (gamma * inverse)[self._at] * (wide - (normal * ggamma[self._at] + gbeta[self._at]) / count)
        return tuple([chainer.Variable(g) for g in (gx.astype(gy.dtype, copy=False), ggamma, gbeta)])


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
