"""A dataset made of several datasets, one after the other."""

import bisect
import itertools

from ..dataset.dataset_mixin import DatasetMixin


class ConcatenatedDataset(DatasetMixin):
    """The examples of several datasets, one dataset after the other."""

    def __init__(self, *datasets):
        self._datasets = datasets
        self._ends = list(itertools.accumulate(map(len, datasets)))

    def __len__(self):
        return self._ends[-1] if self._ends else 0

    def get_example(self, i):
        if i < 0:
            raise IndexError('ConcatenatedDataset does not accept negative indices')
        which = bisect.bisect_right(self._ends, i)
        if which == len(self._ends):
            raise IndexError(f'index {i} is out of range for a dataset of {len(self)} examples')
        return self._datasets[which][i - (self._ends[which - 1] if which else 0)]
