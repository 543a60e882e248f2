"""The base class of datasets with named columns."""

from ... import backend
from ..dataset_mixin import DatasetMixin


class TabularDataset(DatasetMixin):
    """Base class of datasets with named columns.

    A class defines `__len__`, `keys` (the names of the columns), `mode` (what an example is: `tuple`, `dict`, or None for a bare value) and
    `get_examples`.
    """

    def __len__(self):
        raise NotImplementedError(f'{type(self).__name__} has to define __len__()')

    @property
    def keys(self):
        """The names of the columns, a tuple."""
        raise NotImplementedError(f'{type(self).__name__} has to define keys')

    @property
    def mode(self):
        """The kind of the examples: `tuple`, `dict` or None."""
        raise NotImplementedError(f'{type(self).__name__} has to define mode')

    def get_examples(self, indices, key_indices):
        """Returns a tuple of columns, each a list or an array.

        `indices` chooses rows: a list, a slice or None for all. `key_indices` chooses columns: a tuple or None for all.
        """
        raise NotImplementedError(f'{type(self).__name__} has to define get_examples(indices, key_indices)')

    @property
    def slice(self):
        """Views of some rows and columns: `dataset.slice[rows]` and `dataset.slice[rows, keys]`."""
        return _Slicer(self)

    def fetch(self):
        """Returns all rows as a tuple or dict of columns, or a column, depending on `mode`."""
        return _assemble(self, self.get_examples(None, None))

    def convert(self, data):
        """Makes arrays of fetched columns."""
        if isinstance(data, tuple):
            return tuple([_as_array(column) for column in data])
        return {key: _as_array(column) for key, column in data.items()} if isinstance(data, dict) else _as_array(data)

    def astuple(self):
        """Returns a view with tuples as examples."""
        from . import _views
        return _views.AsMode(self, tuple)

    def asdict(self):
        """Returns a view with dicts as examples."""
        from . import _views
        return _views.AsMode(self, dict)

    def concat(self, *datasets):
        """Returns a view of this dataset's rows and those of the others, which have equal keys."""
        from . import _views
        return _views.Concat(self, *datasets)

    def join(self, *datasets):
        """Returns a view of this dataset's columns and those of the others, which have equally many rows."""
        from . import _views
        return _views.Join(self, *datasets)

    def transform(self, keys, transform):
        """Returns a view whose examples are `transform(example)`."""
        from . import _views
        return _views.Transform(self, keys, transform)

    def transform_batch(self, keys, transform_batch):
        """Returns a view whose columns are `transform_batch(columns)`."""
        from . import _views
        return _views.TransformBatch(self, keys, transform_batch)

    def with_converter(self, converter):
        """Returns a view whose `convert` calls `converter`."""
        from . import _views
        return _views.WithConverter(self, converter)

    def get_example(self, i):
        return _assemble(self, [column[0] for column in self.get_examples([i], None)])

    def __iter__(self):
        return (self.get_example(i) for i in range(len(self)))


class _Slicer:
    def __init__(self, dataset):
        self._dataset = dataset

    def __getitem__(self, chosen):
        from . import _views
        rows, keys = chosen if isinstance(chosen, tuple) else (chosen, None)
        return _views.Slice(self._dataset, rows, keys)


def _assemble(dataset, columns):
    mode = dataset.mode
    if mode is dict:
        return dict(zip(dataset.keys, columns))
    return tuple(columns) if mode is tuple else columns[0]


def call(function, dataset, columns):
    """Calls a function with columns or values as the dataset's mode says: positional, or by key."""
    if dataset.mode is dict:
        return function(**dict(zip(dataset.keys, columns)))
    return function(*columns)


def _as_array(column):
    if backend.is_array(column):
        return column
    device = backend.get_device_from_array(column[0])
    with backend.using_device(device):
        return device.xp.asarray(column)
