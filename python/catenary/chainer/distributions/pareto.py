"""The Pareto distribution."""

from .. import functions as F
from ..distribution import register_kl
from ._parametric import Parameter, Parametric, formula
from .utils import draw, select

INFINITY = float('inf')


class Pareto(Parametric):
    """Numbers above `scale` with a density proportional to x ** -(`alpha` + 1)."""

    support = '[scale, inf]'
    _params = ('scale', 'alpha')
    scale = Parameter()
    alpha = Parameter()
    _log_scale = formula(lambda d: F.log(d.scale))
    _log_alpha = formula(lambda d: F.log(d.alpha))
    mean = formula(lambda d: select(d.alpha.array > 1, d.alpha * d.scale / (d.alpha - 1), INFINITY))
    mode = formula(lambda d: d.scale)
    entropy = formula(lambda d: d._log_scale - d._log_alpha + 1 / d.alpha + 1)

    def __init__(self, scale, alpha):
        super().__init__(scale=scale, alpha=alpha)

    @formula
    def variance(self):
        a = self.alpha
        return select(a.array > 2, self.scale ** 2 * a / ((a - 1) ** 2 * (a - 2)), INFINITY)

    def log_prob(self, x):
        x = self._event(x)
        return select(x.array >= self.scale.array, self._log_alpha + self.alpha * self._log_scale - (self.alpha + 1) * F.log(x), -INFINITY)

    def cdf(self, x):
        x = self._event(x)
        return select(x.array >= self.scale.array, -F.expm1(self.alpha * (self._log_scale - F.log(x))), 0)

    def icdf(self, x):
        return self.scale * F.exp(-F.log1p(-self._event(x)) / self.alpha)

    def sample_n(self, n):
        return self.scale * F.exp(draw(self.scale, 'standard_exponential', shape=(n, *self.batch_shape)) / self.alpha)


@register_kl(Pareto, Pareto)
def _kl_of_pareto(a, b):
    value = b.alpha * (a._log_scale - b._log_scale) + a._log_alpha - b._log_alpha + b.alpha / a.alpha - 1
    return select(a.scale.array >= b.scale.array, value, INFINITY)
