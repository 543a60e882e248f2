"""The CIFAR datasets of small colour images."""

import os
import pickle

import numpy

from ..dataset import download
from . import _digits


def get_cifar10(withlabel=True, ndim=3, scale=1., dtype=None):
    """Returns the training and the test set of CIFAR-10, 50,000 and 10,000 images in ten classes.

    `withlabel` gives a `TupleDataset` of images and labels, otherwise the array of images comes alone. An image has `ndim` dimensions: 3072 or
    3x32x32. Pixels lie in 0 to `scale`. `dtype` is `chainer.config.dtype` by default.
    """
    return _get('cifar-10', [f'data_batch_{number}' for number in range(1, 6)], 'test_batch', 'labels', withlabel, ndim, scale, dtype)


def get_cifar100(withlabel=True, ndim=3, scale=1., dtype=None):
    """Returns the training and the test set of CIFAR-100, whose images have a hundred classes. The arguments are those of `get_cifar10`."""
    return _get('cifar-100', ['train'], 'test', 'fine_labels', withlabel, ndim, scale, dtype)


def _get(name, training_files, test_file, label_key, withlabel, ndim, scale, dtype):
    if ndim not in (1, 3):
        raise ValueError(f'ndim has to be 1 or 3, not {ndim}')
    path = os.path.join(download.get_dataset_directory('pfnet/chainer/cifar'), name + '.npz')
    raw = download.cache_or_load_file(path, lambda file: _make(file, name, training_files, test_file, label_key), numpy.load)
    sets = []
    for part in ('train', 'test'):
        images = _digits.scaled(raw[part + '_x'], scale, dtype)
        images = images.reshape(len(images), *((3072,) if ndim == 1 else (3, 32, 32)))
        sets.append(_digits.labelled(images, raw[part + '_y'], withlabel, numpy.int32))
    return tuple(sets)


class _Arrays(pickle.Unpickler):
    """Reads the archive's pickles of lists and arrays. Other classes, which could run any code, are refused."""

    _KNOWN = {('numpy.core.multiarray', '_reconstruct'), ('numpy._core.multiarray', '_reconstruct'), ('numpy', 'ndarray'), ('numpy', 'dtype'), ('_codecs', 'encode')}

    def find_class(self, module, name):
        if (module, name) not in self._KNOWN:
            raise pickle.UnpicklingError(f'the archive holds {module}.{name}; expected only arrays, texts and numbers')
        return super().find_class(module, name)


def _make(path, name, training_files, test_file, label_key):
    import tarfile
    archive = download.cached_download(f'https://www.cs.toronto.edu/~kriz/{name}-python.tar.gz')
    arrays = {}
    with tarfile.open(archive, 'r:gz') as files:
        members = {os.path.basename(member.name): member for member in files.getmembers()}
        for part, names in (('train', training_files), ('test', [test_file])):
            read = [_Arrays(files.extractfile(members[file]), encoding='latin1').load() for file in names]
            arrays[part + '_x'] = numpy.concatenate([content['data'] for content in read])
            arrays[part + '_y'] = numpy.concatenate([numpy.array(content[label_key], numpy.uint8) for content in read])
    numpy.savez_compressed(path, **arrays)
    return arrays
