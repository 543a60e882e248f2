"""Files in MNIST's format, and datasets of labelled images."""

import gzip
import os

import numpy

from ..dataset import download
from .tuple_dataset import TupleDataset


def downloaded(site, prefix):
    """Returns images and labels of two files in MNIST's format."""
    images, labels = [_read(download.cached_download(f'{site}{prefix}-{kind}-ubyte.gz')) for kind in ('images-idx3', 'labels-idx1')]
    return images.reshape(len(images), -1), labels


def retrieve(folder, name, make):
    """Returns the arrays `x` and `y` of images and labels from the cache, or from `make()`."""
    path = os.path.join(download.get_dataset_directory('pfnet/chainer/' + folder), name)
    return download.cache_or_load_file(path, lambda file: _make(file, make), numpy.load)


def _make(path, make):
    arrays = dict(zip('xy', make()))
    numpy.savez_compressed(path, **arrays)
    return arrays


def _read(path):
    """Reads an array of bytes: the header holds the number of dimensions in its last byte, and then the shape."""
    with gzip.open(path, 'rb') as file:
        dimensions = file.read(4)[3]
        shape = numpy.frombuffer(file.read(4 * dimensions), '>i4')
        return numpy.frombuffer(file.read(), numpy.uint8).reshape(shape)


def scaled(images, scale, dtype):
    """Returns bytes as floats in 0 to `scale`."""
    from .. import get_dtype
    images = images.astype(get_dtype(dtype))
    images *= scale / 255.
    return images


def labelled(images, labels, withlabel, label_dtype):
    """Returns a dataset of images, with labels if they are asked for."""
    return TupleDataset(images, labels.astype(label_dtype)) if withlabel else images


def prepare(raw, withlabel, ndim, scale, dtype, label_dtype, rgb_format):
    """Returns a dataset of 28x28 images in the layout that the arguments of `get_mnist` describe."""
    shapes = {1: (784,), 2: (28, 28), 3: (1, 28, 28)}
    if ndim not in shapes:
        raise ValueError(f'ndim has to be 1, 2 or 3, not {ndim}')
    images = raw['x'].reshape(-1, *shapes[ndim])
    if ndim == 3 and rgb_format:
        images = numpy.broadcast_to(images, (len(images), 3, 28, 28))
    return labelled(scaled(images, scale, dtype), raw['y'], withlabel, label_dtype)
