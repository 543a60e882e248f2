"""Probability distributions: their base class and the divergences between two of them."""

import math

from . import backend, variable


class Distribution:
    """Base class of distributions. A sample has the shape sample_shape + batch_shape + event_shape.

    A subclass defines the methods and properties that it has. Others raise NotImplementedError, except those that follow from the defined ones:
    `prob` from `log_prob`, `stddev` from `variance`, and the survival functions and `log_cdf` from `cdf`.
    """

    def _missing(self, name):
        return NotImplementedError(f'{type(self).__name__} has no {name}')

    @property
    def batch_shape(self):
        """The shape of independent distributions with parameters of their own."""
        raise self._missing('batch_shape')

    @property
    def event_shape(self):
        """The shape of one event."""
        raise self._missing('event_shape')

    @property
    def params(self):
        """The parameters by name."""
        raise self._missing('params')

    @property
    def support(self):
        """The set of possible events, in words."""
        raise self._missing('support')

    @property
    def xp(self):
        """The array module of the parameters."""
        return backend.get_array_module(*self.params.values())

    @property
    def mean(self):
        raise self._missing('mean')

    @property
    def mode(self):
        raise self._missing('mode')

    @property
    def variance(self):
        raise self._missing('variance')

    @property
    def stddev(self):
        """The standard deviation."""
        from . import functions
        return functions.sqrt(self.variance)

    @property
    def covariance(self):
        """The covariance matrix of each event."""
        raise self._missing('covariance')

    @property
    def entropy(self):
        raise self._missing('entropy')

    def perplexity(self, x):
        raise self._missing('perplexity')

    def log_prob(self, x):
        """Returns the logarithm of the density, or of the probability of a discrete event."""
        raise self._missing('log_prob')

    def prob(self, x):
        """Returns the density, or the probability of a discrete event."""
        from . import functions
        return functions.exp(self.log_prob(x))

    def cdf(self, x):
        """Returns the probability of events up to x."""
        raise self._missing('cdf')

    def icdf(self, x):
        """Returns the event up to which the probability is x."""
        raise self._missing('icdf')

    def log_cdf(self, x):
        from . import functions
        return functions.log(self.cdf(x))

    def survival_function(self, x):
        """Returns the probability of events beyond x."""
        return 1 - self.cdf(x)

    def log_survival_function(self, x):
        from . import functions
        return functions.log1p(-self.cdf(x))

    def sample_n(self, n):
        """Returns n samples in a new first axis. Gradients flow to parameters if the distribution can be reparameterized."""
        raise self._missing('sample_n')

    def sample(self, sample_shape=()):
        """Returns samples in new first axes of the given shape (a tuple or an int)."""
        shape = (sample_shape,) if isinstance(sample_shape, int) else tuple(sample_shape)
        samples = self.sample_n(math.prod(shape))
        return variable.as_variable(samples).reshape(shape + samples.shape[1:])


_divergences = {}


def register_kl(Dist1, Dist2):
    """Returns a decorator of the function that computes the Kullback-Leibler divergence for two classes of distributions."""
    def register(function):
        _divergences[Dist1, Dist2] = function
        return function
    return register


def kl_divergence(dist1, dist2):
    """Returns the Kullback-Leibler divergence of dist2 from dist1. A subclass inherits the functions that are registered for its bases."""
    for first in type(dist1).__mro__:
        for second in type(dist2).__mro__:
            if (first, second) in _divergences:
                return _divergences[first, second](dist1, dist2)
    names = type(dist1).__name__, type(dist2).__name__
    raise KeyError('no Kullback-Leibler divergence is registered for %s and %s: add one with chainer.register_kl' % names)


def cross_entropy(dist1, dist2):
    """Returns the cross entropy: the entropy of dist1 and the divergence of dist2 from dist1."""
    return dist1.entropy + kl_divergence(dist1, dist2)
