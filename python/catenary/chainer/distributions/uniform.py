"""The uniform distribution."""

import math

from .. import functions as F
from ..distribution import register_kl
from ._parametric import Parameter, Parametric, formula, one_of
from .utils import draw, select


class Uniform(Parametric):
    """Numbers from `low` to `high`, or from `loc` to `loc` + `scale`."""

    support = '[low, high]'
    low = Parameter(lambda d: d.loc)
    high = Parameter(lambda d: d.loc + d.scale)
    loc = Parameter(lambda d: d.low)
    scale = Parameter(lambda d: d.high - d.low)
    _log_scale = formula(lambda d: F.log(d.scale))
    mean = formula(lambda d: 0.5 * (d.low + d.high))
    stddev = formula(lambda d: d.scale / math.sqrt(12))
    variance = formula(lambda d: d.scale ** 2 / 12)
    entropy = formula(lambda d: d._log_scale)

    def __init__(self, **kwargs):
        super().__init__(**one_of('Uniform', 'low high', 'loc scale', **kwargs))

    @property
    def params(self):
        return dict(self._given)

    def log_prob(self, x):
        x = self._event(x)
        inside = (x.array >= self.low.array) & (x.array <= self.high.array)
        return select(inside, -self._log_scale, -float('inf'))

    def cdf(self, x):
        return F.clip((self._event(x) - self.low) / self.scale, 0.0, 1.0)

    def icdf(self, x):
        return self.low + self.scale * self._event(x)

    def sample_n(self, n):
        return self.low + self.scale * draw(self.low, 'random_sample', shape=(n, *self.batch_shape))


@register_kl(Uniform, Uniform)
def _kl_of_uniform(a, b):
    covered = (b.low.array <= a.low.array) & (a.high.array <= b.high.array)
    return select(covered, b._log_scale - a._log_scale, float('inf'))
