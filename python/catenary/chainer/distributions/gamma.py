"""The gamma distribution."""

from .. import functions as F
from ..distribution import register_kl
from ._parametric import Parameter, Parametric, formula
from .utils import draw, select, times_log


class Gamma(Parametric):
    """Positive numbers with a density proportional to x ** (`k` - 1) * exp(-x / `theta`)."""

    support = 'positive'
    _params = ('k', 'theta')
    k = Parameter()
    theta = Parameter()
    mean = formula(lambda d: d.k * d.theta)
    variance = formula(lambda d: d.mean * d.theta)
    mode = formula(lambda d: F.maximum(d.k - 1, 0 * d.k) * d.theta)
    entropy = formula(lambda d: d.k + F.log(d.theta) + F.lgamma(d.k) + (1 - d.k) * F.digamma(d.k))

    def __init__(self, k, theta):
        super().__init__(k=k, theta=theta)

    def log_prob(self, x):
        x = self._event(x)
        value = times_log(self.k - 1, F.log(x)) - x / self.theta - F.lgamma(self.k) - self.k * F.log(self.theta)
        return select(x.array >= 0, value, -float('inf'))

    def sample_n(self, n):
        return self.theta * draw(self.k, 'standard_gamma', self.k, shape=(n, *self.batch_shape))


@register_kl(Gamma, Gamma)
def _kl_of_gamma(a, b):
    scales = b.k * (F.log(b.theta) - F.log(a.theta)) + a.k * (a.theta / b.theta - 1)
    return (a.k - b.k) * F.digamma(a.k) - F.lgamma(a.k) + F.lgamma(b.k) + scales
