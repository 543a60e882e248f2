"""Parts of a dataset."""

import numpy

from ..dataset.dataset_mixin import DatasetMixin


class SubDataset(DatasetMixin):
    """The examples `start` to `finish` (not included) of a dataset, or of a permutation `order` of it."""

    def __init__(self, dataset, start, finish, order=None):
        if start < 0 or finish > len(dataset):
            raise ValueError(f'examples {start} to {finish} are not all in a dataset of {len(dataset)}')
        if order is not None and len(order) != len(dataset):
            raise ValueError(f'an order of {len(order)} indices does not fit a dataset of {len(dataset)} examples')
        self._dataset = dataset
        self._start = start
        self._finish = finish
        self._size = finish - start
        self._order = order

    def __len__(self):
        return self._size

    def get_example(self, i):
        if not -self._size <= i < self._size:
            raise IndexError(f'index {i} is out of range for a part of {self._size} examples')
        place = i + (self._start if i >= 0 else self._finish)
        return self._dataset[place if self._order is None else self._order[place]]


def _shuffled(dataset, seed):
    return numpy.random.RandomState(seed).permutation(len(dataset))


def split_dataset(dataset, split_at, order=None):
    """Splits a dataset into its first `split_at` examples and the rest."""
    size = len(dataset)
    if not isinstance(split_at, (int, numpy.integer)):
        raise TypeError(f'split_at has to be an integer, not {type(split_at).__name__}')
    if not 0 <= split_at <= size:
        raise ValueError(f'split_at has to be in 0 to {size}, the number of examples, not {split_at}')
    return SubDataset(dataset, 0, split_at, order), SubDataset(dataset, split_at, size, order)


def split_dataset_random(dataset, first_size, seed=None):
    """Splits a dataset at random into two parts, the first with `first_size` examples."""
    return split_dataset(dataset, first_size, _shuffled(dataset, seed))


def split_dataset_n(dataset, n, order=None):
    """Splits a dataset into `n` parts of equal size. Up to n - 1 examples at the end are in none."""
    size = len(dataset) // n
    return [SubDataset(dataset, part * size, (part + 1) * size, order) for part in range(n)]


def split_dataset_n_random(dataset, n, seed=None):
    """Splits a dataset at random into `n` parts of equal size. Up to n - 1 examples are in none."""
    return split_dataset_n(dataset, n, _shuffled(dataset, seed))


def _number_of_folds(n_folds, old):
    """Returns the argument n_folds, which Chainer 3 called n_fold."""
    if 'n_fold' in old:
        n_folds = old.pop('n_fold')
    if old:
        raise TypeError(f'unexpected argument {next(iter(old))!r}')
    if n_folds is None:
        raise TypeError('cross-validation needs the argument n_folds')
    return n_folds


def get_cross_validation_datasets(dataset, n_folds=None, order=None, **kwargs):
    """Returns a list of `n_folds` pairs of datasets for training and validation."""
    n_folds = _number_of_folds(n_folds, kwargs)
    order = numpy.arange(len(dataset)) if order is None else numpy.asarray(order)
    small, larger = divmod(len(dataset), n_folds)
    pairs, end = [], len(dataset)
    for fold in range(n_folds):
        size = small + (fold < larger)
        # the validation examples come last, and those behind them first
        rotated = numpy.concatenate((order[end:], order[:end]))
        pairs.append(split_dataset(dataset, len(dataset) - size, rotated))
        end -= size
    return pairs


def get_cross_validation_datasets_random(dataset, n_folds, seed=None, **kwargs):
    """Returns a list of `n_folds` pairs of datasets for training and validation, of a dataset in random order."""
    n_folds = _number_of_folds(n_folds, kwargs)
    return get_cross_validation_datasets(dataset, n_folds, _shuffled(dataset, seed))
