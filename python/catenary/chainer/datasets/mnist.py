"""The MNIST dataset of handwritten digits."""

import numpy

from catenary import _core

from . import _digits

_URL = 'http://yann.lecun.com/exdb/mnist/'


def get_mnist(withlabel=True, ndim=1, scale=1., dtype=None, label_dtype=numpy.int32, rgb_format=False):
    """Returns the training and the test set of handwritten digits, 60,000 and 10,000 images of 28x28 pixels.

    `withlabel` gives a `TupleDataset` of images and labels, otherwise the array of images comes alone. An image has `ndim` dimensions: 784, 28x28 or
    1x28x28, which `rgb_format` repeats to 3x28x28. Pixels lie in 0 to `scale`. `dtype` is `chainer.config.dtype` by default.
    """
    return tuple([_digits.prepare(_retrieve(part, prefix), withlabel, ndim, scale, dtype, label_dtype, rgb_format)
                  for part, prefix in (('train', 'train'), ('test', 't10k'))])


def _retrieve(part, prefix):
    return _digits.retrieve('mnist', part + '.npz', lambda: _read(part, prefix))


def _read(part, prefix):
    try:
        return _core._mnist()[part == 'test']  # the library's own copy
    except OSError:
        return _digits.downloaded(_URL, prefix)
