"""HDF5 files, if the package h5py is installed."""

import importlib.util

import numpy

from catenary._aside import written_aside

from .. import backend, serializer
from ..backends import _cpu, cuda

_available = importlib.util.find_spec('h5py') is not None


def _h5py():
    try:
        import h5py
    except ImportError:
        raise RuntimeError('HDF5 files need the package h5py: python -m pip install h5py') from None
    return h5py


class HDF5Serializer(serializer.Serializer):
    """Saves values into a group of an HDF5 file."""

    def __init__(self, group, compression=4):
        _h5py()
        self.group = group
        self.compression = compression

    def __getitem__(self, key):
        return HDF5Serializer(self.group.require_group(key.strip('/') or '/' + key), self.compression)

    def __call__(self, key, value):
        if value is None:
            # an empty dataset of floats stands for None
            self.group.create_dataset(key, data=_h5py().Empty('f'))
            return None
        array = _cpu.to_numpy(value) if isinstance(value, cuda.ndarray) else numpy.asarray(value)
        if array.dtype.char == 'U':
            array = array.astype('S')
        options = {'compression': self.compression} if array.size > 1 and self.compression is not None else {}
        self.group.create_dataset(key.lstrip('/'), data=array, **options)
        return value


class HDF5Deserializer(serializer.Deserializer):
    """Loads values from a group of an HDF5 file."""

    def __init__(self, group, strict=True):
        _h5py()
        self.group = group
        self.strict = strict

    def __getitem__(self, key):
        key = key.strip('/')
        if self.strict or self.group is not None and key in self.group:
            return HDF5Deserializer(self.group[key], self.strict)
        return HDF5Deserializer(None, False)

    def __call__(self, key, value):
        key = key.lstrip('/')
        group = self.group
        if group is None or not (self.strict or key in group):
            return value
        dataset = group[key]
        if dataset.shape is None:
            return None
        if value is None:
            return numpy.asarray(dataset[()])
        if backend.is_array(value):
            backend.copyto(value, numpy.asarray(dataset[()], dtype=value.dtype))
        elif isinstance(value, str):
            read = dataset[()]
            value = read.decode() if isinstance(read, bytes) else str(read)
        else:
            value = type(value)(numpy.asarray(dataset[()]).item())
        return value


def save_hdf5(filename, obj, compression=4):
    """Saves an object to an HDF5 file. A file of this name is replaced when the new one is complete."""
    h5py = _h5py()
    with written_aside(filename) as new, h5py.File(new, 'w') as file:
        HDF5Serializer(file, compression).save(obj)


def load_hdf5(filename, obj):
    """Loads an object from an HDF5 file."""
    h5py = _h5py()
    with h5py.File(filename, 'r') as file:
        HDF5Deserializer(file).load(obj)
