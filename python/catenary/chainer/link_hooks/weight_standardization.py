"""Weights with mean 0 and variance 1 for each output."""
from .. import backend, functions
from ._weights import WeightHook


class WeightStandardization(WeightHook):
    """Standardises a link's weight over all axes except the first, as group normalization does with features."""

    name = 'WeightStandardization'

    def __init__(self, *, eps=1e-5, weight_name='W', name=None):
        super().__init__(weight_name, name)
        self.eps = eps

    def added(self, link):
        self._weight(link)

    def _changed(self, link):
        weight = getattr(link, self.weight_name)
        xp = link.xp
        with backend.using_device(link.device):
            count = weight.shape[0]
            gamma = xp.ones(count, dtype=weight.dtype)
            beta = xp.zeros(count, dtype=weight.dtype)
            rows = functions.reshape(weight, (1, count, -1))
            out = functions.group_normalization(rows, count, gamma, beta, eps=self.eps)
            return functions.reshape(out, weight.shape)
