"""Order samplers choose the order in which an iterator visits a dataset."""

import numpy


class OrderSampler:
    """Base class of the callables that iterators take as `order_sampler`."""

    def __call__(self, current_order, current_position):
        """Returns the indices of the next epoch, as many as in `current_order`.

        `current_position` is the index in `current_order` where the batch that ends the epoch begins.
        """
        raise NotImplementedError(f'{type(self).__name__} has to define __call__(current_order, current_position)')


class ShuffleOrderSampler(OrderSampler):
    """Permutes the indices at random.

    `random_state` is a `numpy.random.RandomState`. By default, NumPy's global generator is used.
    """

    def __init__(self, random_state=None):
        self._random = numpy.random.random.__self__ if random_state is None else random_state

    def __call__(self, current_order, current_position):
        return self._random.permutation(len(current_order))
