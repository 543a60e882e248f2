"""The base class of datasets."""

import numpy


class DatasetMixin:
    """Makes a dataset that can be indexed from `get_example` and `__len__`."""

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self.get_example(i) for i in range(*index.indices(len(self)))]
        if isinstance(index, (list, numpy.ndarray)):
            return [self.get_example(i) for i in index]
        return self.get_example(index)

    def __len__(self):
        raise NotImplementedError(f'{type(self).__name__} has to define __len__()')

    def get_example(self, i):
        """Returns the example with index `i`."""
        raise NotImplementedError(f'{type(self).__name__} has to define get_example(i)')
