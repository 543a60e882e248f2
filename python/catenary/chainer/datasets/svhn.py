"""The SVHN dataset of house numbers."""

import os

import numpy

from ..dataset import download
from . import _digits


def get_svhn(withlabel=True, scale=1., dtype=None, label_dtype=numpy.int32, add_extra=False):
    """Returns the training and the test set of house numbers, colour images of 32x32 pixels in ten classes.

    `add_extra` adds the set of further training images. SciPy reads the downloaded files. The other arguments are those of `get_mnist`.
    """
    sets = []
    for part in ('train', 'test', 'extra')[:3 if add_extra else 2]:
        raw = _retrieve(part)
        images = _digits.scaled(raw['x'], scale, dtype).reshape(-1, 3, 32, 32)
        sets.append(_digits.labelled(images, raw['y'], withlabel, label_dtype))
    return tuple(sets)


def _retrieve(part):
    path = os.path.join(download.get_dataset_directory('pfnet/chainer/svhn'), part + '.npz')
    url = f'http://ufldl.stanford.edu/housenumbers/{part}_32x32.mat'
    return download.cache_or_load_file(path, lambda file: _make(file, url), numpy.load)


def _make(path, url):
    try:
        from scipy import io
    except ImportError as error:
        raise RuntimeError('get_svhn needs SciPy to read the downloaded file: python -m pip install scipy') from error
    content = io.loadmat(download.cached_download(url))
    labels = content['y'].ravel()
    arrays = {'x': content['X'].transpose(3, 2, 0, 1), 'y': numpy.where(labels == 10, 0, labels).astype(numpy.uint8)}  # zeros have the label 10
    numpy.savez_compressed(path, **arrays)
    return arrays
