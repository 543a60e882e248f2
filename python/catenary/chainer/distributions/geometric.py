"""The geometric distribution."""

from .. import functions as F
from ..distribution import register_kl
from ..variable import Variable
from ._parametric import Parameter, Parametric, formula
from .utils import _modified_xlogx, draw, select, times_log


class Geometric(Parametric):
    """The number of trials up to the first success, which has the probability `p` in each."""

    support = 'positive integer'
    _params = ('p',)
    p = Parameter()
    mean = formula(lambda d: 1 / d.p)
    variance = formula(lambda d: (1 - d.p) / d.p ** 2)
    mode = formula(lambda d: 0 * d.p + 1)
    entropy = formula(lambda d: -(_modified_xlogx(d.p) + _modified_xlogx(1 - d.p)) / d.p)
    _log_failure = formula(lambda d: F.log1p(-d.p))

    def __init__(self, p):
        super().__init__(p=p)

    def log_prob(self, x):
        x = self._event(x)
        return select(x.array >= 1, times_log(x - 1, self._log_failure) + F.log(self.p), -float('inf'))

    def cdf(self, x):
        x = F.floor(self._event(x))
        return select(x.array >= 1, -F.expm1(times_log(x, self._log_failure)), 0)

    def sample_n(self, n):
        return Variable(draw(self.p, 'geometric', self.p, shape=(n, *self.batch_shape)))


@register_kl(Geometric, Geometric)
def _kl_of_geometric(a, b):
    failures = times_log(a.mean - 1, a._log_failure) - times_log(a.mean - 1, b._log_failure)
    return failures + F.log(a.p) - F.log(b.p)
