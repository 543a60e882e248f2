"""The Kuzushiji-MNIST dataset of handwritten Japanese characters."""

import numpy

from . import _digits

_URL = 'http://codh.rois.ac.jp/kmnist/dataset/kmnist/'


def get_kuzushiji_mnist_labels():
    """Returns the ten characters, each with its sound in Latin letters."""
    return list(zip(('o', 'ki', 'su', 'tsu', 'na', 'ha', 'ma', 'ya', 're', 'wo'), 'おきすつなはまやれを'))


def get_kuzushiji_mnist(withlabel=True, ndim=1, scale=1., dtype=None, label_dtype=numpy.int32, rgb_format=False):
    """Returns the training and the test set of handwritten characters. The arguments are those of `get_mnist`."""
    return tuple([_digits.prepare(_retrieve(part, prefix), withlabel, ndim, scale, dtype, label_dtype, rgb_format)
                  for part, prefix in (('train', 'train'), ('test', 't10k'))])


def _retrieve(part, prefix):
    return _digits.retrieve('kuzushiji_mnist', part + '.npz', lambda: _digits.downloaded(_URL, prefix))
