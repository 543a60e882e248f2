"""Saving and loading in one step."""

import os
import tempfile


def save_and_load(src, dst, filename, saver, loader):
    """Saves `src` to a temporary file and loads `dst` from it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, filename)
        saver(path, src)
        loader(path, dst)


def save_and_load_npz(src, dst):
    """Copies the state of an object through an NPZ file."""
    from .. import serializers
    save_and_load(src, dst, 'tmp.npz', serializers.save_npz, serializers.load_npz)


def save_and_load_hdf5(src, dst):
    """Copies the state of an object through an HDF5 file."""
    from .. import serializers
    save_and_load(src, dst, 'tmp.h5', serializers.save_hdf5, serializers.load_hdf5)
