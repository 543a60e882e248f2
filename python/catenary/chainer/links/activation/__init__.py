"""Activations with parameters."""
import numpy

from ... import functions, initializers
from ...link import Chain, Link
from ...utils import size_of_shape
from .._weights import constant, weight
from ..connection.linear import Linear


def _flat(initial, shape, flat_shape):
    """Returns an initializer of `flat_shape` for an array or a function of arrays of `shape`."""
    if callable(initial):
        return lambda array: initial(array.reshape(shape))
    if getattr(initial, 'ndim', 0) == 0:
        return initial
    if initial.ndim != len(shape):
        raise ValueError('an initial array of Maxout must have {} axes, but it has {}'.format(len(shape), initial.ndim))
    return initial.reshape(flat_shape)


class Maxout(Chain):
    """Takes the largest of `pool_size` linear functions for each output."""

    def __init__(self, in_size, out_size, pool_size, initialW=None, initial_bias=0):
        super().__init__()
        count = out_size * pool_size
        self.out_size = out_size
        self.pool_size = pool_size
        initialW = _flat(initialW, (out_size, pool_size, -1), (count, -1))
        initial_bias = _flat(initial_bias, (out_size, pool_size), (count,))
        with self.init_scope():
            self.linear = Linear(in_size, count, initial_bias is None, initialW, initial_bias)

    def forward(self, x):
        return functions.maxout(self.linear(x), self.pool_size)


class PReLU(Link):
    """ReLU with a slope for negative values that is learned."""

    def __init__(self, shape=(), init=0.25):
        super().__init__()
        with self.init_scope():
            self.W = weight(init, shape)

    def forward(self, x):
        return functions.prelu(x, self.W)


class Swish(Link):
    """Computes ``x sigmoid(beta x)``. If `beta_shape` is None, the first input decides it."""

    def __init__(self, beta_shape, beta_init=1.0):
        super().__init__()
        with self.init_scope():
            self.beta = weight(beta_init, beta_shape)

    def forward(self, x):
        if self.beta.array is None:
            self.beta.initialize(x.shape[1:])
        return functions.swish(x, self.beta)


class SimplifiedDropconnect(Link):
    """A linear link that drops elements of its weight at random in training."""

    def __init__(self, in_size, out_size, ratio=.5, nobias=False, initialW=None, initial_bias=None):
        super().__init__()
        self.out_size = out_size
        self.ratio = ratio
        with self.init_scope():
            self.W = weight(initializers.HeNormal(1 / numpy.sqrt(2)) if initialW is None else initialW)
            if in_size is not None:
                self._initialize_params(in_size)
            self.b = None if nobias else constant(initial_bias, 0, out_size)

    def forward(self, x, train=True, mask=None, use_batchwise_mask=True):
        if self.W.array is None:
            self._initialize_params(size_of_shape(x.shape[1:]))
        if mask is not None and 'mask' not in self.__dict__:
            self.add_persistent('mask', mask)
        return functions.simplified_dropconnect(x, self.W, self.b, self.ratio, train, mask, use_batchwise_mask)

    def _initialize_params(self, in_size):
        self.W.initialize((self.out_size, in_size))
