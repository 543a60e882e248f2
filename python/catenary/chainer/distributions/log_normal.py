"""The log-normal distribution."""

from .. import functions as F
from ..distribution import kl_divergence, register_kl
from ._parametric import Parameter, Parametric, formula
from .normal import Normal
from .utils import select


class LogNormal(Parametric):
    """The exponential function of normal numbers with the mean `mu` and the standard deviation `sigma`."""

    support = 'positive'
    _params = ('mu', 'sigma')
    mu = Parameter()
    sigma = Parameter()
    _normal = formula(lambda d: Normal(d.mu, d.sigma))
    mean = formula(lambda d: F.exp(d.mu + 0.5 * d.sigma ** 2))
    mode = formula(lambda d: F.exp(d.mu - d.sigma ** 2))
    variance = formula(lambda d: F.expm1(d.sigma ** 2) * d.mean ** 2)
    entropy = formula(lambda d: d._normal.entropy + d.mu)

    def __init__(self, mu, sigma):
        super().__init__(mu=mu, sigma=sigma)

    def _logarithm(self, x):
        """Returns where events are positive, and their logarithms there."""
        x = self._event(x)
        return x.array > 0, F.log(select(x.array > 0, x, 1))

    def log_prob(self, x):
        positive, logarithm = self._logarithm(x)
        return select(positive, self._normal.log_prob(logarithm) - logarithm, -float('inf'))

    def cdf(self, x):
        positive, logarithm = self._logarithm(x)
        return select(positive, self._normal.cdf(logarithm), 0)

    def icdf(self, x):
        return F.exp(self._normal.icdf(self._event(x)))

    def sample_n(self, n):
        return F.exp(self._normal.sample_n(n))


@register_kl(LogNormal, LogNormal)
def _kl_of_log_normal(a, b):
    return kl_divergence(a._normal, b._normal)
