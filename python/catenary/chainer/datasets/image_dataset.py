"""Datasets of image files."""

import importlib.util
import io
import os
import threading
import zipfile

import numpy

from ..dataset.dataset_mixin import DatasetMixin

available = importlib.util.find_spec('PIL') is not None


def _image_module():
    """Imports Pillow when the first dataset of images is made."""
    try:
        from PIL import Image
    except ImportError as error:
        raise RuntimeError('datasets of images need Pillow: python -m pip install Pillow') from error
    return Image


def _read_image(file, dtype):
    """Returns an image as an array of (channels, height, width)."""
    with _image_module().open(file) as image:
        array = numpy.asarray(image, dtype=dtype)
    return array[None] if array.ndim == 2 else array.transpose(2, 0, 1)


def _float_type(dtype):
    from .. import get_dtype
    return numpy.dtype(get_dtype(dtype))


def _labeled(pairs):
    """Returns the list of paths and labels of a file with a pair in each line, or of a list of pairs."""
    if not isinstance(pairs, (str, os.PathLike)):
        return list(pairs)
    read = []
    with open(pairs) as file:
        for number, line in enumerate(file, 1):
            parts = line.split()
            if len(parts) != 2:
                raise ValueError(f'{pairs}, line {number}: a line has to hold a path and a label, not {len(parts)} words')
            read.append((parts[0], int(parts[1])))
    return read


class ImageDataset(DatasetMixin):
    """Images of the files `paths` (a list, or a text file with a path in each line) under `root`."""

    def __init__(self, paths, root='.', dtype=None):
        _image_module()
        if isinstance(paths, (str, os.PathLike)):
            with open(paths) as file:
                paths = [line.strip() for line in file]
        self._paths = paths
        self._root = root
        self._dtype = _float_type(dtype)

    def __len__(self):
        return len(self._paths)

    def get_example(self, i):
        return _read_image(os.path.join(self._root, self._paths[i]), self._dtype)


class LabeledImageDataset(DatasetMixin):
    """Images with labels. `pairs` is a list of paths and labels, or a text file with a path and a label in each line."""

    def __init__(self, pairs, root='.', dtype=None, label_dtype=numpy.int32):
        _image_module()
        self._pairs = _labeled(pairs)
        self._root = root
        self._dtype = _float_type(dtype)
        self._label_dtype = label_dtype

    def __len__(self):
        return len(self._pairs)

    def get_example(self, i):
        path, label = self._pairs[i]
        return _read_image(os.path.join(self._root, path), self._dtype), numpy.array(label, dtype=self._label_dtype)


class _Zip:
    """A ZIP file that is opened again in each process."""

    def __init__(self, path):
        self._path = path
        self._file = None
        self._lock = threading.Lock()

    def __getstate__(self):
        return self._path

    def __setstate__(self, path):
        self.__init__(path)

    def names(self):
        with zipfile.ZipFile(self._path) as file:
            return [name for name in file.namelist() if not name.endswith('/')]

    def read(self, name):
        with self._lock:
            if self._file is None or self._process != os.getpid():
                self._file = zipfile.ZipFile(self._path)
                self._process = os.getpid()
            return io.BytesIO(self._file.read(name))


class ZippedImageDataset(DatasetMixin):
    """Images in a ZIP file."""

    def __init__(self, zipfilename, dtype=None):
        _image_module()
        self._zip = _Zip(zipfilename)
        self._names = self._zip.names()
        self._dtype = _float_type(dtype)

    def __len__(self):
        return len(self._names)

    def get_example(self, i_or_filename):
        name = i_or_filename if isinstance(i_or_filename, str) else self._names[i_or_filename]
        return _read_image(self._zip.read(name), self._dtype)


class MultiZippedImageDataset(DatasetMixin):
    """Images in several ZIP files."""

    def __init__(self, zipfilenames, dtype=None):
        self._places = [(part, i) for part in (ZippedImageDataset(name, dtype) for name in zipfilenames) for i in range(len(part))]

    def __len__(self):
        return len(self._places)

    def get_example(self, i):
        part, index = self._places[i]
        return part.get_example(index)


class LabeledZippedImageDataset(DatasetMixin):
    """Images in a ZIP file with labels, which a text file lists with a path and a label in each line."""

    def __init__(self, zipfilename, labelfilename, dtype=None, label_dtype=numpy.int32):
        self._images = ZippedImageDataset(zipfilename, dtype)
        self._pairs = _labeled(labelfilename)
        self._label_dtype = label_dtype

    def __len__(self):
        return len(self._pairs)

    def get_example(self, i):
        path, label = self._pairs[i]
        return self._images.get_example(path), numpy.array(label, dtype=self._label_dtype)
