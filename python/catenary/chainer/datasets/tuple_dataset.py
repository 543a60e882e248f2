"""A dataset of tuples."""

import numpy

from ..dataset import _batch


class TupleDataset:
    """Examples are tuples with an element of each of the given datasets, which have equal lengths."""

    def __init__(self, *datasets):
        if not datasets:
            raise ValueError('a TupleDataset needs at least one dataset')
        self._length = len(datasets[0])
        for number, dataset in enumerate(datasets):
            if len(dataset) != self._length:
                raise ValueError(f'dataset {number} has {len(dataset)} examples, but the first has {self._length}')
        self._datasets = datasets

    def __getitem__(self, index):
        parts = [dataset[index] for dataset in self._datasets]
        if isinstance(index, (slice, list, numpy.ndarray)):
            return list(zip(*parts))
        return tuple(parts)

    def __len__(self):
        return self._length


_batch.COLUMNS[TupleDataset] = lambda dataset: ((), dataset._datasets)
