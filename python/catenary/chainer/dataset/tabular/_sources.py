"""Tabular datasets of arrays, lists and functions."""

import numpy

from ._views import Join
from .tabular_dataset import TabularDataset


def from_data(data, *, size=None):
    """Returns a tabular dataset of arrays, lists and functions.

    `data` is a column, a pair of a key and a column, or a tuple or dict of several. A function makes the values of a column, or of several if its
    key is a tuple, from the row number. `size` is the number of rows, which is needed if there are only functions.
    """
    if isinstance(data, dict):
        return _join(list(data.items()), size).asdict()
    if isinstance(data, tuple) and not _is_pair(data):
        return _join([column if _is_pair(column) else (None, column) for column in data], size).astuple()
    key, column = data if _is_pair(data) else (None, data)
    return _source(key, column, _size([column], size))


def _is_pair(data):
    """Is this a pair of a key (or a tuple of keys) and a column?"""
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    key = data[0]
    return isinstance(key, str) or (isinstance(key, tuple) and all(isinstance(part, str) for part in key))


def _size(columns, size):
    for column in columns:
        if not callable(column):
            if size is not None and len(column) != size:
                raise ValueError(f'a column of {len(column)} rows does not fit a dataset of {size}')
            size = len(column)
    if size is None:
        raise ValueError('a dataset of functions needs the argument size')
    return size


def _join(pairs, size):
    size = _size([column for _, column in pairs], size)
    return Join(*[_source(key, column, size) for key, column in pairs])


def _source(key, column, size):
    if not callable(column):
        return _Column(key, column)
    if key is None:
        raise ValueError("a function needs the keys of the columns that it makes: ('key', function)")
    return _RowNumbers(size).transform(key, column)


class _Column(TabularDataset):
    """A single array or list."""

    def __init__(self, key, data):
        self._key = f'_{id(self)}' if key is None else key
        self._data = data

    def __len__(self):
        return len(self._data)

    @property
    def keys(self):
        return (self._key,)

    @property
    def mode(self):
        return None

    def get_examples(self, indices, key_indices):
        data = self._data
        if indices is not None:
            data = data[indices] if isinstance(indices, slice) or isinstance(data, numpy.ndarray) or hasattr(data, 'take') \
                else [data[index] for index in indices]
        return (data,) * (1 if key_indices is None else len(key_indices))


class _RowNumbers(TabularDataset):
    """The numbers of the rows, of which a function makes columns."""

    def __init__(self, size):
        self._size = size

    def __len__(self):
        return self._size

    @property
    def keys(self):
        return ('index',)

    @property
    def mode(self):
        return None

    def get_examples(self, indices, key_indices):
        numbers = range(self._size)
        if indices is not None:
            numbers = numbers[indices] if isinstance(indices, slice) else indices
        return (list(numbers),) * (1 if key_indices is None else len(key_indices))
