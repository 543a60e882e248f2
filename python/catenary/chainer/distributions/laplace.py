"""The Laplace distribution."""

import math

from .. import functions as F
from ..distribution import register_kl
from ..variable import as_variable
from ._parametric import LocationScale, formula
from .utils import draw, select


def _laplace_cdf(x):
    """Returns the probability of events up to x for loc 0 and scale 1."""
    x = as_variable(x)
    tail = 0.5 * F.exp(select(x.array <= 0, x, -x))
    return select(x.array <= 0, tail, 1 - tail)


def _laplace_icdf(x):
    """Returns the inverse of `_laplace_cdf`."""
    x = as_variable(x)
    below = x.array <= 0.5
    distance = F.log(2 * select(below, x, 1 - x))
    return select(below, distance, -distance)


class Laplace(LocationScale):
    """An exponential distribution on both sides of `loc`."""

    mean = mode = formula(lambda d: d.loc)
    stddev = formula(lambda d: math.sqrt(2) * d.scale)
    variance = formula(lambda d: 2 * d.scale ** 2)
    entropy = formula(lambda d: d._log_scale + (1 + math.log(2)))

    def log_prob(self, x):
        return -abs(self._standard(x)) - self._log_scale - math.log(2)

    def cdf(self, x):
        return _laplace_cdf(self._standard(x))

    def icdf(self, x):
        return self.loc + self.scale * _laplace_icdf(self._event(x))

    def sample_n(self, n):
        return self.loc + self.scale * draw(self.loc, 'laplace', shape=(n, *self.batch_shape))


@register_kl(Laplace, Laplace)
def _kl_of_laplace(a, b):
    distance = abs(a.loc - b.loc)
    return b._log_scale - a._log_scale + (distance + a.scale * F.exp(-distance / a.scale)) / b.scale - 1
