"""The views that `TabularDataset`'s methods return."""

from . import _indices
from .tabular_dataset import TabularDataset, call


class DelegateDataset(TabularDataset):
    """A dataset that hands its calls to another one, for subclasses that change a few."""

    def __init__(self, dataset):
        self.dataset = dataset

    keys = property(lambda self: self.dataset.keys)
    mode = property(lambda self: self.dataset.mode)

    def __len__(self):
        return len(self.dataset)

    def convert(self, data):
        return self.dataset.convert(data)

    def get_examples(self, indices, key_indices):
        return self.dataset.get_examples(indices, key_indices)


class AsMode(DelegateDataset):
    """A dataset with another mode."""

    def __init__(self, dataset, mode):
        super().__init__(dataset)
        self._mode = mode

    @property
    def mode(self):
        return self._mode


class WithConverter(DelegateDataset):
    """A dataset with another converter."""

    def __init__(self, dataset, converter):
        super().__init__(dataset)
        self._converter = converter

    def convert(self, data):
        if isinstance(data, tuple):
            return self._converter(*data)
        return self._converter(**data) if isinstance(data, dict) else self._converter(data)


class Slice(DelegateDataset):
    """Some rows and columns of a dataset."""

    def __init__(self, dataset, rows, keys):
        super().__init__(dataset)
        self._rows = _indices.positions(rows, len(dataset))
        self._single = keys is not None and not isinstance(keys, tuple)
        self._columns = None if keys is None else tuple([self._column(key) for key in ((keys,) if self._single else keys)])

    def _column(self, key):
        keys = self.dataset.keys
        if isinstance(key, str):
            if key not in keys:
                raise KeyError(f'{key!r} is no key of the dataset: it has {keys}')
            return keys.index(key)
        if not -len(keys) <= key < len(keys):
            raise IndexError(f'column {key} is out of range for a dataset of {len(keys)} columns')
        return int(key) % len(keys)

    def __len__(self):
        rows = self._rows
        return len(range(len(self.dataset))[rows]) if isinstance(rows, slice) else len(rows)

    @property
    def keys(self):
        keys = self.dataset.keys
        return keys if self._columns is None else tuple([keys[column] for column in self._columns])

    @property
    def mode(self):
        if self._columns is None:
            return self.dataset.mode
        return None if self._single else self.dataset.mode or tuple

    def get_examples(self, indices, key_indices):
        columns = self._columns
        if columns is None:
            columns = key_indices
        elif key_indices is not None:
            columns = tuple([columns[index] for index in key_indices])
        return self.dataset.get_examples(_indices.compose(self._rows, indices, len(self.dataset)), columns)


class Concat(DelegateDataset):
    """The rows of several datasets with equal keys."""

    def __init__(self, *datasets):
        super().__init__(datasets[0])
        for dataset in datasets[1:]:
            if dataset.keys != self.keys:
                raise ValueError(f'datasets with the keys {self.keys} and {dataset.keys} cannot be concatenated: slice them to equal keys first')
        self._datasets = datasets

    def __len__(self):
        return sum(map(len, self._datasets))

    def get_examples(self, indices, key_indices):
        if indices is None:
            return self._merge([(dataset.get_examples(None, key_indices), None) for dataset in self._datasets], None)
        rows = range(len(self))[indices] if isinstance(indices, slice) else indices
        parts, offset = [], 0
        for dataset in self._datasets:
            own, places = _indices.split(rows, offset, len(dataset))
            if own is not None:
                parts.append((dataset.get_examples(own, key_indices), places))
            offset += len(dataset)
        if not parts:
            return tuple([[] for _ in (self.keys if key_indices is None else key_indices)])
        return self._merge(parts, len(rows))

    @staticmethod
    def _merge(parts, count):
        """Returns the columns of the parts, whose rows go to the places that come with each. Without a count, the parts follow one another."""
        if len(parts) == 1:
            return parts[0][0]
        merged = []
        for columns in zip(*[columns for columns, _ in parts]):
            if count is None:
                merged.append([value for column in columns for value in column])
                continue
            whole = [None] * count
            for column, (_, places) in zip(columns, parts):
                for place, value in zip(places, column):
                    whole[place] = value
            merged.append(whole)
        return tuple(merged)


class Join(DelegateDataset):
    """The columns of several datasets with equally many rows."""

    def __init__(self, *datasets):
        super().__init__(datasets[0])
        keys = [key for dataset in datasets for key in dataset.keys]
        if len(set(keys)) != len(keys):
            raise ValueError(f'datasets that share a key cannot be joined: {keys}')
        for dataset in datasets[1:]:
            if len(dataset) != len(self):
                raise ValueError(f'datasets with {len(self)} and {len(dataset)} rows cannot be joined')
        self._datasets = datasets
        self._keys = tuple(keys)

    @property
    def keys(self):
        return self._keys

    @property
    def mode(self):
        return next((dataset.mode for dataset in self._datasets if dataset.mode), tuple)

    def get_examples(self, indices, key_indices):
        if key_indices is None:
            return tuple([column for dataset in self._datasets for column in dataset.get_examples(indices, None)])
        columns, offset = {}, 0
        for dataset in self._datasets:
            end = offset + len(dataset.keys)
            own = [index for index in key_indices if offset <= index < end]
            if own:
                columns.update(zip(own, dataset.get_examples(indices, tuple([index - offset for index in own]))))
            offset = end
        return tuple([columns[index] for index in key_indices])


class _Transforming(DelegateDataset):
    """A dataset whose columns a function makes. The mode is known when the function was called."""

    def __init__(self, dataset, keys, function):
        super().__init__(dataset)
        self._keys = keys if isinstance(keys, tuple) else (keys,)
        self._function = function

    @property
    def mode(self):
        if '_mode' not in vars(self):
            self.get_examples([0], None)  # sets it
        return self._mode

    @property
    def keys(self):
        return self._keys

    def _columns(self, made, key_indices):
        """Returns the chosen elements of the function's result and checks its mode."""
        mode = tuple if isinstance(made, tuple) else dict if isinstance(made, dict) else None
        if self.__dict__.setdefault('_mode', mode) is not mode:
            raise ValueError(f'a transformed example has the mode {mode}, but an earlier one has {self._mode}: return the same kind every time')
        if mode is None:
            made = (made,)
        elif mode is dict:
            made = [made[key] for key in self._keys]
        return list(made) if key_indices is None else [made[index] for index in key_indices]


class Transform(_Transforming):
    """A dataset whose examples a function makes."""

    def get_examples(self, indices, key_indices):
        rows = zip(*self.dataset.get_examples(indices, None))
        made = [self._columns(call(self._function, self.dataset, row), key_indices) for row in rows]
        if made:
            return tuple([list(column) for column in zip(*made)])
        return tuple([[] for _ in (self._keys if key_indices is None else key_indices)])


class TransformBatch(_Transforming):
    """A dataset whose columns a function makes of all rows at once."""

    def get_examples(self, indices, key_indices):
        columns = self.dataset.get_examples(indices, None)
        count = len(columns[0]) if columns else len(self) if indices is None else len(range(len(self))[indices]) if isinstance(indices, slice) \
            else len(indices)
        made = self._columns(call(self._function, self.dataset, columns), key_indices)
        for column in made:
            if len(column) != count:
                raise ValueError(f'a function made {len(column)} rows of a batch of {count}: it has to keep the number')
        return tuple(made)
