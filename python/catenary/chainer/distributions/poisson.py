"""The Poisson distribution."""

from .. import functions as F
from ..distribution import register_kl
from ..variable import Variable
from ._parametric import Parameter, Parametric, formula
from .utils import draw, select, times_log


class Poisson(Parametric):
    """The number of events of which `lam` are expected."""

    support = 'non negative integer'
    _params = ('lam',)
    lam = Parameter()
    _log_lam = formula(lambda d: F.log(d.lam))
    mean = variance = formula(lambda d: d.lam)
    mode = formula(lambda d: F.floor(d.lam))

    def __init__(self, lam):
        super().__init__(lam=lam)

    def log_prob(self, x):
        x = self._event(x)
        return select(x.array >= 0, times_log(x, self._log_lam) - self.lam - F.lgamma(x + 1), -float('inf'))

    def sample_n(self, n):
        return Variable(draw(self.lam, 'poisson', self.lam, shape=(n, *self.batch_shape)))


@register_kl(Poisson, Poisson)
def _kl_of_poisson(a, b):
    return times_log(a.lam, a._log_lam - b._log_lam) - a.lam + b.lam
