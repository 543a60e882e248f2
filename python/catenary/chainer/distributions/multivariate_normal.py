"""The multivariate normal distribution."""

import math

from .. import functions as F
from ..distribution import register_kl
from ..variable import as_variable
from ._parametric import Parameter, Parametric, formula
from .normal import LOG_SQRT_2PI
from .utils import draw


def _triangular_inv(x, lower=True):
    """Returns the inverse of triangular matrices. The other triangle is not read."""
    x = as_variable(x)
    *batch, d, _ = x.shape
    if d == 0:
        return x
    xp = x.xp
    ones = xp.ones((d, d), x.dtype)
    matrices = F.reshape(x * xp.broadcast_to(xp.tril(ones) if lower else xp.triu(ones), x.shape), (math.prod(batch), d, d))
    return F.reshape(F.batch_inv(matrices), x.shape)


def _product(matrices, vectors):
    """Returns the products of matrices with vectors in the last axis, which may have more axes in front."""
    shape = (*vectors.shape[:-1], *matrices.shape[-2:])
    wide = F.broadcast_to(F.expand_dims(vectors, -2), shape)
    return F.sum(F.broadcast_to(matrices, shape) * wide, axis=-1)


class MultivariateNormal(Parametric):
    """Normal vectors with the mean `loc` (..., d) and the covariance L L^T, where L is the lower triangular matrix `scale_tril` (..., d, d)."""

    support = 'real'
    event_shape = property(lambda d: d.loc.shape[-1:])
    _params = ('loc', 'scale_tril')
    loc = Parameter(event_ndim=1)
    scale_tril = Parameter(event_ndim=2)
    _inverse = formula(lambda d: _triangular_inv(d.scale_tril))
    _logdet_scale = formula(lambda d: F.sum(F.log(abs(F.diagonal(d.scale_tril, axis1=-2, axis2=-1))), axis=-1))
    mean = mode = formula(lambda d: d.loc)
    covariance = formula(lambda d: F.matmul(d.scale_tril, d.scale_tril, transb=True))
    variance = formula(lambda d: F.sum(d.scale_tril ** 2, axis=-1))
    entropy = formula(lambda d: d._logdet_scale + d.d * (0.5 + LOG_SQRT_2PI))

    def __init__(self, loc, scale_tril=None):
        if scale_tril is None:
            raise ValueError('MultivariateNormal needs scale_tril, the Cholesky factor of the covariance')
        super().__init__(loc=loc, scale_tril=scale_tril)

    @property
    def d(self):
        """The size of vectors."""
        return self.loc.shape[-1]

    def log_prob(self, x):
        z = _product(self._inverse, self._event(x) - self.loc)
        return -0.5 * F.sum(z ** 2, axis=-1) - self._logdet_scale - self.d * LOG_SQRT_2PI

    def sample_n(self, n):
        numbers = draw(self.loc, 'standard_normal', shape=(n, *self.loc.shape))
        return self.loc + _product(self.scale_tril, as_variable(numbers))


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_of_multivariate_normal(a, b):
    spread = F.sum(F.matmul(b._inverse, a.scale_tril) ** 2, axis=(-2, -1))
    distance = F.sum(_product(b._inverse, a.loc - b.loc) ** 2, axis=-1)
    return b._logdet_scale - a._logdet_scale + 0.5 * (spread + distance - a.d)
