"""The normal distribution."""

import math

from .. import functions as F
from ..distribution import register_kl
from ._parametric import LocationScale, Parameter, Parametric, formula, one_of
from .utils import draw

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


class Normal(LocationScale):
    """A normal distribution with the mean `loc` and the standard deviation `scale` = exp(`log_scale`)."""

    scale = Parameter(lambda d: F.exp(d.log_scale))
    log_scale = Parameter(lambda d: F.log(d.scale))
    mean = mode = formula(lambda d: d.loc)
    stddev = formula(lambda d: d.scale)
    variance = formula(lambda d: d.scale ** 2)
    entropy = formula(lambda d: d.log_scale + (0.5 + LOG_SQRT_2PI))

    def __init__(self, loc, scale=None, **kwargs):
        Parametric.__init__(self, loc=loc, **one_of('Normal', 'scale', 'log_scale', scale=scale, **kwargs))

    def log_prob(self, x):
        return -0.5 * self._standard(x) ** 2 - self.log_scale - LOG_SQRT_2PI

    def cdf(self, x):
        return F.ndtr(self._standard(x))

    def log_cdf(self, x):
        return F.log_ndtr(self._standard(x))

    def survival_function(self, x):
        return F.ndtr(-self._standard(x))

    def log_survival_function(self, x):
        return F.log_ndtr(-self._standard(x))

    def icdf(self, x):
        return self.loc + self.scale * F.ndtri(self._event(x))

    def sample_n(self, n):
        return self.loc + self.scale * draw(self.loc, 'standard_normal', shape=(n, *self.batch_shape))


@register_kl(Normal, Normal)
def _kl_of_normal(a, b):
    squares = (a.variance + (a.loc - b.loc) ** 2) / b.variance
    return b.log_scale - a.log_scale + 0.5 * (squares - 1)
