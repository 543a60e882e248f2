"""The categorical distribution."""

import numpy

from .. import functions as F
from ..distribution import register_kl
from ..variable import Variable, as_array, as_variable
from ._parametric import Parameter, Parametric, formula, one_of
from .utils import _modified_xlogx, draw, times_log


class Categorical(Parametric):
    """A category from 0 to k - 1. The last axis of `p` has their probabilities, or that of `logit` numbers proportional to their logarithms."""

    support = 'non negative integer below the number of categories'
    _params = ('p',)
    p = Parameter(lambda d: F.softmax(d.logit, axis=-1), event_ndim=1)
    logit = Parameter(lambda d: d.log_p, event_ndim=1)
    log_p = formula(lambda d: F.log(d.p) if 'p' in d._given else F.log_softmax(d.logit, axis=-1))
    entropy = formula(lambda d: -F.sum(_modified_xlogx(d.p), axis=-1))
    mode = formula(lambda d: as_variable(d.p.array.argmax(axis=-1)))

    def __init__(self, p=None, **kwargs):
        super().__init__(**one_of('Categorical', 'p', 'logit', p=p, **kwargs))

    def log_prob(self, x):
        x = as_array(x)
        if x.dtype.kind not in 'iu':
            x = x.astype(numpy.int32)
        rows = F.broadcast_to(self.log_p, numpy.broadcast_shapes(x.shape, self.batch_shape) + self.p.shape[-1:])
        x = self.xp.broadcast_to(x, rows.shape[:-1])
        found = F.select_item(F.reshape(rows, (x.size, rows.shape[-1])), x.reshape(-1).astype(numpy.int32))
        return F.reshape(found, x.shape)

    def _drawn(self, n):
        """Returns an array of n categories for each element of the batch, by inversion of the sums of probabilities."""
        limits = self.p.array.cumsum(axis=-1)
        numbers = draw(self.p, 'random_sample', shape=(n, *self.batch_shape, 1), dtype=False) * limits[..., -1:]
        return (numbers >= limits[..., :-1]).sum(axis=-1)

    def sample_n(self, n):
        return Variable(self._drawn(n))


def kl_of_categories(a, b):
    """Returns the divergence of two distributions with `p` and `log_p`."""
    return F.sum(_modified_xlogx(a.p) - times_log(a.p, b.log_p), axis=-1)


register_kl(Categorical, Categorical)(kl_of_categories)
