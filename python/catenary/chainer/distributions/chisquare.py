"""The chi-square distribution."""

import math

from .. import functions as F
from ..variable import Variable
from ._parametric import Parameter, Parametric, formula
from .utils import draw, select, times_log


class Chisquare(Parametric):
    """The sum of the squares of `k` normal numbers."""

    support = 'positive'
    _params = ('k',)
    k = Parameter()
    _half = formula(lambda d: 0.5 * d.k)
    mean = formula(lambda d: d.k)
    variance = formula(lambda d: 2 * d.k)
    mode = formula(lambda d: F.maximum(d.k - 2, 0 * d.k))
    entropy = formula(lambda d: d._half + math.log(2) + F.lgamma(d._half) + (1 - d._half) * F.digamma(d._half))

    def __init__(self, k):
        super().__init__(k=k)

    def log_prob(self, x):
        x = self._event(x)
        value = times_log(self._half - 1, F.log(x)) - 0.5 * x - math.log(2) * self._half - F.lgamma(self._half)
        return select(x.array >= 0, value, -float('inf'))

    def sample_n(self, n):
        return Variable(draw(self.k, 'chisquare', self.k, shape=(n, *self.batch_shape)))
