"""The Gumbel distribution."""

import math

import numpy

from .. import functions as F
from ..distribution import register_kl
from ._parametric import LocationScale, formula
from .utils import draw


class Gumbel(LocationScale):
    """The distribution of the largest of many numbers."""

    mean = formula(lambda d: d.loc + numpy.euler_gamma * d.scale)
    mode = formula(lambda d: d.loc)
    variance = formula(lambda d: math.pi ** 2 / 6 * d.scale ** 2)
    entropy = formula(lambda d: d._log_scale + (numpy.euler_gamma + 1))

    def log_prob(self, x):
        z = self._standard(x)
        return -z - F.exp(-z) - self._log_scale

    def log_cdf(self, x):
        return -F.exp(-self._standard(x))

    def cdf(self, x):
        return F.exp(self.log_cdf(x))

    def icdf(self, x):
        return self.loc - self.scale * F.log(-F.log(self._event(x)))

    def sample_n(self, n):
        return self.loc + self.scale * draw(self.loc, 'gumbel', shape=(n, *self.batch_shape))


@register_kl(Gumbel, Gumbel)
def _kl_of_gumbel(a, b):
    ratio, distance = a.scale / b.scale, (a.loc - b.loc) / b.scale
    tails = F.exp(F.lgamma(ratio + 1) - distance)
    return b._log_scale - a._log_scale + numpy.euler_gamma * (ratio - 1) + distance + tails - 1
