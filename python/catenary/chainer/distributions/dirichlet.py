"""The Dirichlet distribution."""

from .. import functions as F
from ..distribution import register_kl
from ..variable import Variable
from ._parametric import Parameter, Parametric, formula
from .utils import draw, times_log


def _sum(x):
    return F.sum(x, axis=-1)


class Dirichlet(Parametric):
    """Shares of a whole in the last axis, with a density proportional to the product of share ** (`alpha` - 1)."""

    support = '[0, 1]'
    event_shape = property(lambda d: d.alpha.shape[-1:])
    _params = ('alpha',)
    alpha = Parameter(event_ndim=1)
    alpha0 = formula(lambda d: _sum(d.alpha))
    _wide_alpha0 = formula(lambda d: F.broadcast_to(F.expand_dims(d.alpha0, -1), d.alpha.shape))
    _log_beta = formula(lambda d: _sum(F.lgamma(d.alpha)) - F.lgamma(d.alpha0))
    mean = formula(lambda d: d.alpha / d._wide_alpha0)
    variance = formula(lambda d: d.mean * (1 - d.mean) / (d._wide_alpha0 + 1))

    def __init__(self, alpha):
        super().__init__(alpha=alpha)

    @formula
    def entropy(self):
        return self._log_beta + (self.alpha0 - self.event_shape[0]) * F.digamma(self.alpha0) - _sum((self.alpha - 1) * F.digamma(self.alpha))

    def log_prob(self, x):
        return _sum(times_log(self.alpha - 1, F.log(self._event(x)))) - self._log_beta

    def sample_n(self, n):
        parts = draw(self.alpha, 'standard_gamma', self.alpha, shape=(n, *self.alpha.shape), dtype=False)
        return Variable((parts / parts.sum(axis=-1, keepdims=True)).astype(self.alpha.dtype))


@register_kl(Dirichlet, Dirichlet)
def _kl_of_dirichlet(a, b):
    return b._log_beta - a._log_beta + _sum((a.alpha - b.alpha) * (F.digamma(a.alpha) - F.digamma(a._wide_alpha0)))
