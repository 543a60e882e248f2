"""The exponential distribution."""

from .. import functions as F
from ..distribution import register_kl
from ._parametric import Parameter, Parametric, formula
from .utils import draw, select


class Exponential(Parametric):
    """Waiting times until events that come at the rate `lam`."""

    support = 'positive'
    _params = ('lam',)
    lam = Parameter()
    _log_lam = formula(lambda d: F.log(d.lam))
    mean = stddev = formula(lambda d: 1 / d.lam)
    variance = formula(lambda d: 1 / d.lam ** 2)
    mode = formula(lambda d: 0 * d.lam)
    entropy = formula(lambda d: 1 - d._log_lam)

    def __init__(self, lam):
        super().__init__(lam=lam)

    def log_prob(self, x):
        x = self._event(x)
        return select(x.array >= 0, self._log_lam - self.lam * x, -float('inf'))

    def cdf(self, x):
        x = self._event(x)
        return select(x.array >= 0, -F.expm1(-self.lam * x), 0)

    def icdf(self, x):
        return -F.log1p(-self._event(x)) / self.lam

    def sample_n(self, n):
        return draw(self.lam, 'standard_exponential', shape=(n, *self.batch_shape)) / self.lam


@register_kl(Exponential, Exponential)
def _kl_of_exponential(a, b):
    return a._log_lam - b._log_lam + b.lam / a.lam - 1
