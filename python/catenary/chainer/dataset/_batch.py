"""Batches that are gathered column by column."""

import numpy

# The classes of datasets whose columns a batch can gather. `datasets.tuple_dataset` and `datasets.dict_dataset` add theirs.
COLUMNS = {numpy.ndarray: lambda dataset: (None, (dataset,))}


class Batch(list):
    """The list of a batch's examples, which are fetched from the dataset when the list is first looked at.

    `concat_examples` gathers the columns of the dataset instead of looking at the examples.
    """

    __slots__ = ('_dataset', '_indices')

    def __init__(self, dataset, indices):
        self._dataset = dataset
        self._indices = indices

    def _fetch(self):
        dataset, self._dataset = self._dataset, None
        list.extend(self, [dataset[index] for index in self._indices])

    def columns(self):
        """Returns the keys of the columns (None for tuples, () for bare examples) and the columns, or None if the list was looked at."""
        dataset = self._dataset
        if dataset is None or not len(self._indices):
            return None
        keys, arrays = COLUMNS[type(dataset)](dataset)
        indices = self._indices
        if type(indices) is range:
            return keys, [array[indices.start:indices.stop].copy() for array in arrays]
        return keys, [array[indices] for array in arrays]  # quicker than take

    def __len__(self):
        return list.__len__(self) if self._dataset is None else len(self._indices)

    def __reduce_ex__(self, protocol):
        return list, (list(self),)


def _looking(name):
    method = getattr(list, name)

    def look(self, *args, **options):
        for one in (self, *args):
            if type(one) is Batch and one._dataset is not None:
                one._fetch()  # the operand, too: methods of list read its elements directly
        return method(self, *args, **options)
    look.__name__ = name
    return look


for _name in ('__add__', '__contains__', '__delitem__', '__eq__', '__ge__', '__getitem__', '__gt__', '__iadd__', '__imul__', '__iter__', '__le__', '__lt__',
              '__mul__', '__ne__', '__repr__', '__reversed__', '__rmul__', '__setitem__', 'append', 'clear', 'copy', 'count', 'extend', 'index', 'insert',
              'pop', 'remove', 'reverse', 'sort'):
    setattr(Batch, _name, _looking(_name))


def _add_before(self, other):
    return other + list(self) if isinstance(other, list) else NotImplemented


Batch.__radd__ = _add_before


def gather(dataset, indices):
    """Returns the list of a dataset's examples with these indices."""
    columns = COLUMNS.get(type(dataset))
    if columns is not None and all(type(array) is numpy.ndarray for array in columns(dataset)[1]):
        return Batch(dataset, indices)
    return [dataset[index] for index in indices]
