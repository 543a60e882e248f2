"""The Fashion-MNIST dataset of images of clothes."""

import numpy

from . import _digits

_URL = 'http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/'


def get_fashion_mnist_labels():
    """Returns the names of the ten kinds of clothes."""
    return ['T-shirt/top', 'Trouser', 'Pullover', 'Dress', 'Coat', 'Sandal', 'Shirt', 'Sneaker', 'Bag', 'Ankle boot']


def get_fashion_mnist(withlabel=True, ndim=1, scale=1., dtype=None, label_dtype=numpy.int32, rgb_format=False):
    """Returns the training and the test set of images of clothes. The arguments are those of `get_mnist`."""
    return tuple([_digits.prepare(_retrieve(part, prefix), withlabel, ndim, scale, dtype, label_dtype, rgb_format)
                  for part, prefix in (('train', 'train'), ('test', 't10k'))])


def _retrieve(part, prefix):
    return _digits.retrieve('fashion-mnist', part + '.npz', lambda: _digits.downloaded(_URL, prefix))
