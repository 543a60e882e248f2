"""Batches of independent distributions as one distribution of all of them."""

import math

from .. import functions as F
from ..distribution import Distribution, kl_divergence, register_kl


def _of_members(name):
    return property(lambda d: getattr(d.distribution, name), doc=f'The {name} of the members.')


class Independent(Distribution):
    """One distribution of several independent ones. The last axes of the batch become the first axes of events.

    `reinterpreted_batch_ndims` is the number of these axes, by default all but the first.
    """

    support = _of_members('support')
    params = _of_members('params')
    xp = _of_members('xp')
    mean = _of_members('mean')
    mode = _of_members('mode')
    variance = _of_members('variance')
    stddev = _of_members('stddev')

    def __init__(self, distribution, reinterpreted_batch_ndims=None):
        axes = len(distribution.batch_shape)
        count = max(0, axes - 1) if reinterpreted_batch_ndims is None else reinterpreted_batch_ndims
        if not 0 <= count <= axes:
            raise ValueError('reinterpreted_batch_ndims must lie between 0 and %d, the number of axes of the batch, but it is %d' % (axes, count))
        self.distribution = distribution
        self.reinterpreted_batch_ndims = count

    @property
    def batch_shape(self):
        shape = self.distribution.batch_shape
        return shape[:len(shape) - self.reinterpreted_batch_ndims]

    @property
    def event_shape(self):
        return (*self.distribution.batch_shape[len(self.batch_shape):], *self.distribution.event_shape)

    def _joined(self, reduction, x):
        """Sums or multiplies a variable over the axes that belong to events."""
        axes = tuple(range(x.ndim - self.reinterpreted_batch_ndims, x.ndim))
        return reduction(x, axis=axes) if axes else x

    @property
    def covariance(self):
        """The covariance of flat events: a block of each member on the diagonal."""
        if self.distribution.event_shape == ():
            blocks = F.reshape(self.variance, (*self.distribution.batch_shape, 1, 1))
        else:
            blocks = self.distribution.covariance
        size = blocks.shape[-1]
        count = math.prod(self.distribution.batch_shape[len(self.batch_shape):])
        blocks = F.reshape(blocks, (*self.batch_shape, count, size, 1, size))
        places = self.xp.eye(count, dtype=blocks.dtype)[:, None, :, None]
        shape = (*self.batch_shape, count, size, count, size)
        whole = F.broadcast_to(blocks, shape) * self.xp.broadcast_to(places, shape)
        return F.reshape(whole, (*self.batch_shape, count * size, count * size))

    @property
    def entropy(self):
        return self._joined(F.sum, self.distribution.entropy)

    def perplexity(self, x):
        return self._joined(F.prod, self.distribution.perplexity(x))

    def log_prob(self, x):
        return self._joined(F.sum, self.distribution.log_prob(x))

    def prob(self, x):
        return self._joined(F.prod, self.distribution.prob(x))

    def cdf(self, x):
        return self._joined(F.prod, self.distribution.cdf(x))

    def log_cdf(self, x):
        return self._joined(F.sum, self.distribution.log_cdf(x))

    def survival_function(self, x):
        return self._joined(F.prod, self.distribution.survival_function(x))

    def log_survival_function(self, x):
        return self._joined(F.sum, self.distribution.log_survival_function(x))

    def icdf(self, x):
        raise RuntimeError('events of several numbers have no inverse of the cumulative distribution: use the icdf of the member distribution')

    def sample_n(self, n):
        return self.distribution.sample_n(n)


@register_kl(Independent, Independent)
def _kl_of_independent(a, b):
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise NotImplementedError('the divergence of Independent distributions needs equal numbers of reinterpreted axes, not %d and %d'
                                  % (a.reinterpreted_batch_ndims, b.reinterpreted_batch_ndims))
    return a._joined(F.sum, kl_divergence(a.distribution, b.distribution))
