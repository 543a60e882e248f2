"""Helpers shared by the tests of the graph."""

import gzip
import pathlib
import pickle

import chainer
import numpy as np

RECORDED = pathlib.Path(__file__).parents[3] / 'tests/data/chainer/graph.pickle.gz'
_recorded = {}


def recorded(*key):
    """Returns the results of Chainer 7.8.1, which were recorded with it."""
    if not _recorded:
        _recorded.update(pickle.loads(gzip.decompress(RECORDED.read_bytes())))
    return _recorded[key]


x_data = np.random.RandomState(0).uniform(-1, 1, (3, 4)).astype('f')


def some(*shape, seed=3):
    return np.random.RandomState(seed).uniform(0.1, 0.9, shape).astype('f')


def numbers_of(*shape):
    return np.random.RandomState(1).uniform(-1, 1, shape).astype('f')


class Square(chainer.FunctionNode):
    """A user's function with a second derivative."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return inputs[0] ** 2,

    def backward(self, indexes, grad_outputs):
        x, = self.get_retained_inputs()
        return 2 * x * grad_outputs[0],
