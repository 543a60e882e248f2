"""The Cauchy distribution."""

import math
import warnings

from .. import functions as F
from ..variable import as_variable
from ._parametric import LocationScale, formula
from .utils import draw


def _undefined(name):
    """Returns a property with the value nan that warns."""
    def moment(self):
        warnings.warn('the %s of a Cauchy distribution is not defined' % name, RuntimeWarning, stacklevel=2)
        return as_variable(self.xp.full_like(self.loc.array, math.nan))
    return property(moment)


class Cauchy(LocationScale):
    """A ratio of two normal numbers, times `scale` plus `loc`."""

    mode = formula(lambda d: d.loc)
    entropy = formula(lambda d: d._log_scale + math.log(4 * math.pi))
    mean = _undefined('mean')
    variance = _undefined('variance')

    def log_prob(self, x):
        return -F.log1p(self._standard(x) ** 2) - self._log_scale - math.log(math.pi)

    def cdf(self, x):
        return F.arctan(self._standard(x)) / math.pi + 0.5

    def icdf(self, x):
        return self.loc + self.scale * F.tan(math.pi * (self._event(x) - 0.5))

    def sample_n(self, n):
        return self.loc + self.scale * draw(self.loc, 'standard_cauchy', shape=(n, *self.batch_shape))
