"""The Bernoulli distribution."""

from .. import functions as F
from ..distribution import register_kl
from ..variable import as_variable
from ._parametric import Parameter, Parametric, formula, one_of
from .utils import _modified_xlogx, draw, select, times_log

INFINITY = float('inf')


def _bernoulli_log_prob(logit, x, binary_check=False):
    """Returns the logarithm of the probability of x. With `binary_check`, it is -inf unless x is 0 or 1."""
    logit = as_variable(logit)
    x = F.cast(as_variable(x), logit.dtype)
    value = x * logit - F.softplus(logit)
    value = select(logit.array == INFINITY, F.log(x), select(logit.array == -INFINITY, F.log(1 - x), value))
    return select((x.array == 0) | (x.array == 1), value, -INFINITY) if binary_check else value


class Bernoulli(Parametric):
    """0 or 1, which has the probability `p` = sigmoid(`logit`). With `binary_check`, other events have the probability 0."""

    support = '{0, 1}'
    _params = ('logit',)
    p = Parameter(lambda d: F.sigmoid(d.logit))
    logit = Parameter(lambda d: F.log(d.p) - F.log1p(-d.p))
    _q = formula(lambda d: 1 - d.p if 'p' in d._given else F.sigmoid(-d.logit))
    mean = formula(lambda d: d.p)
    variance = formula(lambda d: d.p * d._q)
    entropy = formula(lambda d: -_modified_xlogx(d.p) - _modified_xlogx(d._q))
    mode = formula(lambda d: as_variable((d.p.array > 0.5).astype(d.p.dtype)))

    def __init__(self, p=None, logit=None, binary_check=False):
        super().__init__(**one_of('Bernoulli', 'p', 'logit', p=p, logit=logit))
        self.binary_check = binary_check

    def log_prob(self, x):
        return _bernoulli_log_prob(self.logit, self._event(x), self.binary_check)

    def prob(self, x):
        x = self._event(x)
        probability = x * self.p + (1 - x) * self._q
        return select((x.array == 0) | (x.array == 1), probability, 0) if self.binary_check else probability

    def sample_n(self, n):
        return as_variable((draw(self.p, 'random_sample', shape=(n, *self.batch_shape), dtype=False) < self.p.array).astype(int))


@register_kl(Bernoulli, Bernoulli)
def _kl_of_bernoulli(a, b):
    return -a.entropy + times_log(a.p, F.softplus(-b.logit)) + times_log(a._q, F.softplus(b.logit))
