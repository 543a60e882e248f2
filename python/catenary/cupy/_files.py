"""Arrays in NumPy's file formats. Files are written under a temporary name and renamed, so that a failure keeps the old file."""

import collections.abc
import contextlib
import os

import numpy

from catenary._aside import written_aside
from catenary.cupy._array import asarray, asnumpy


def _write(file, ending, write):
    if hasattr(file, 'write'):
        write(file)
        return
    path = os.fsdecode(file)
    if not path.endswith(ending):
        path += ending
    with written_aside(path) as new, open(new, 'wb') as stream:
        write(stream)


def save(file, arr, allow_pickle=None):
    """Writes `arr` to a .npy file: a path, to which .npy is appended if missing, or a binary stream. `allow_pickle` is ignored, as no dtype here is
    pickled."""
    _write(file, '.npy', lambda stream: numpy.save(stream, asnumpy(arr, order='A'), allow_pickle=False))


def _write_several(write, file, args, kwds):
    args, kwds = [asnumpy(a, order='A') for a in args], {name: asnumpy(a, order='A') for name, a in kwds.items()}
    _write(file, '.npz', lambda stream: write(stream, *args, **kwds))


def savez(file, *args, **kwds):
    """Writes arrays to a .npz file, those without a name as arr_0, arr_1 and so on."""
    _write_several(numpy.savez, file, args, kwds)


def savez_compressed(file, *args, **kwds):
    """Writes arrays like savez, with compression."""
    _write_several(numpy.savez_compressed, file, args, kwds)


def savetxt(fname, X, *args, **kwargs):
    """Writes an array of one or two axes as text, as numpy.savetxt does, which compresses by the name's ending."""
    # NumPy gets the file name, as it depends on the extension
    with contextlib.nullcontext(fname) if hasattr(fname, 'write') else written_aside(fname) as file:
        numpy.savetxt(file, asnumpy(X), *args, **kwargs)


class NpzFile(collections.abc.Mapping):
    """An open .npz file: maps names to arrays on the current device. Each is read on access."""

    def __init__(self, npz_file):
        self.npz_file = npz_file

    files = property(lambda self: self.npz_file.files)

    def __getitem__(self, name):
        return asarray(self.npz_file[name])

    def __iter__(self):
        return iter(self.npz_file.files)

    def __len__(self):
        return len(self.npz_file.files)

    def close(self):
        self.npz_file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def load(file, mmap_mode=None, allow_pickle=None):
    """Loads a .npy file as an array on the current device, or opens an NpzFile.

    Raises ValueError for files of Python objects unless `allow_pickle` is true, and TypeError for unsupported dtypes.
    """
    found = numpy.load(file, mmap_mode, bool(allow_pickle))
    return NpzFile(found) if isinstance(found, numpy.lib.npyio.NpzFile) else asarray(found)
