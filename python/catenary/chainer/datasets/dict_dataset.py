"""A dataset of dicts."""

import numpy

from ..dataset import _batch


class DictDataset:
    """Examples are dicts with an element of each of the given datasets, which have equal lengths."""

    def __init__(self, **datasets):
        if not datasets:
            raise ValueError('a DictDataset needs at least one dataset')
        self._length = len(next(iter(datasets.values())))
        for key, dataset in datasets.items():
            if len(dataset) != self._length:
                raise ValueError(f'the dataset {key!r} has {len(dataset)} examples, but another has {self._length}')
        self._datasets = datasets

    def __getitem__(self, index):
        parts = {key: dataset[index] for key, dataset in self._datasets.items()}
        if isinstance(index, (slice, list, numpy.ndarray)):
            return [dict(zip(parts, row)) for row in zip(*parts.values())]
        return parts

    def __len__(self):
        return self._length


_batch.COLUMNS[DictDataset] = lambda dataset: (tuple(dataset._datasets), tuple(dataset._datasets.values()))
