"""The categorical distribution of one-hot vectors."""

from .. import functions as F
from ..distribution import register_kl
from ..variable import Variable
from ._parametric import formula
from .categorical import Categorical, kl_of_categories
from .utils import times_log


class OneHotCategorical(Categorical):
    """A vector of zeros with a one at a category. The last axis of `p` has the probabilities of the categories."""

    support = 'one-hot vector'
    event_shape = property(lambda d: d.p.shape[-1:])
    mean = formula(lambda d: d.p)
    variance = formula(lambda d: d.p * (1 - d.p))

    def __init__(self, p):
        super().__init__(p)

    @formula
    def mode(self):
        return Variable(self._one_hot(self.p.array.argmax(axis=-1)))

    def _one_hot(self, categories):
        return (categories[..., None] == self.xp.arange(self.p.shape[-1])).astype(self.p.dtype)

    def log_prob(self, x):
        return F.sum(times_log(self._event(x), self.log_p), axis=-1)

    def sample_n(self, n):
        return Variable(self._one_hot(self._drawn(n)))


register_kl(OneHotCategorical, OneHotCategorical)(kl_of_categories)
