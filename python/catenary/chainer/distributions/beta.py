"""The beta distribution."""

from .. import functions as F
from ..distribution import register_kl
from ..variable import Variable
from ._parametric import Parameter, Parametric, formula
from .utils import draw, select, times_log


class Beta(Parametric):
    """Numbers between 0 and 1 with a density proportional to x ** (a - 1) * (1 - x) ** (b - 1)."""

    support = '[0, 1]'
    _params = ('a', 'b')
    a = Parameter()
    b = Parameter()
    _sum = formula(lambda d: d.a + d.b)
    _log_beta = formula(lambda d: F.lgamma(d.a) + F.lgamma(d.b) - F.lgamma(d._sum))
    mean = formula(lambda d: d.a / d._sum)
    variance = formula(lambda d: d.a * d.b / (d._sum ** 2 * (d._sum + 1)))

    def __init__(self, a, b):
        super().__init__(a=a, b=b)

    @formula
    def entropy(self):
        digamma = F.digamma
        return self._log_beta - (self.a - 1) * digamma(self.a) - (self.b - 1) * digamma(self.b) + (self._sum - 2) * digamma(self._sum)

    @formula
    def mode(self):
        peak = (self.a.array >= 1) & (self.b.array >= 1) & (self._sum.array > 2)
        return select(peak, (self.a - 1) / (self._sum - 2), float('nan'))

    def log_prob(self, x):
        x = self._event(x)
        inside = (x.array >= 0) & (x.array <= 1)
        return select(inside, times_log(self.a - 1, F.log(x)) + times_log(self.b - 1, F.log1p(-x)) - self._log_beta, -float('inf'))

    def sample_n(self, n):
        return Variable(draw(self.a, 'beta', self.a, self.b, shape=(n, *self.batch_shape)))


@register_kl(Beta, Beta)
def _kl_of_beta(a, b):
    shares = (a.a - b.a) * F.digamma(a.a) + (a.b - b.b) * F.digamma(a.b)
    return b._log_beta - a._log_beta + shares - (a._sum - b._sum) * F.digamma(a._sum)
