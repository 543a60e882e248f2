"""Parts of a dataset for each rank."""

import chainer
import numpy


class DataSizeError(RuntimeError):
    """A message was too large. It is never raised here, because messages have no size limit."""


def _scatter_index(length, size, force_equal_length):
    """Yields rank, begin and end of each part. Equal parts overlap where the length is no multiple of the size, and the last may end later."""
    each, more = divmod(length, size)
    for rank in range(size):
        if force_equal_length:
            begin = length * rank // size
            yield rank, begin, begin + each + (more > 0)
        else:
            begin = each * rank + min(rank, more)
            yield rank, begin, begin + each + (rank < more)


def _part(length, comm, force_equal_length):
    return [(begin, end) for _, begin, end in _scatter_index(length, comm.size, force_equal_length)][comm.rank]


def scatter_index(n_total_samples, comm, root=0, *, force_equal_length=True):
    """Returns begin and end of the indices of this rank (chainermn.scatter_index). Only the root's n_total_samples counts.

    With force_equal_length all ranks get equally many, and some samples go to two ranks.
    """
    length = comm.bcast_obj(n_total_samples if comm.rank == root else None, root=root)
    begin, end = _part(length, comm, force_equal_length)
    return (begin, end) if end <= length else (length - (end - begin), length)


def scatter_dataset(dataset, comm, root=0, shuffle=False, seed=None, max_buf_len=256 * 1024 * 1024, *, force_equal_length=True):
    """Returns the part of the root's dataset that belongs to this rank, as a SubDataset (chainermn.scatter_dataset).

    Other ranks pass None. shuffle draws an order first, from `seed` if it is given. With force_equal_length all parts have the same
    length, so that all ranks do equally many iterations. max_buf_len is ignored, because messages have no size limit. A rank that
    would get nothing is an error only where it is used: see the guide on several ranks.
    """
    whole = None
    if comm.rank == root:
        if dataset is None:
            raise ValueError('scatter_dataset: rank %d is the root, and its dataset is None' % root)
        order = numpy.random.RandomState(seed).permutation(len(dataset)) if shuffle else None
        whole = dataset, order
    dataset, order = comm.bcast_obj(whole, root=root)
    length = len(dataset)
    begin, end = _part(length, comm, force_equal_length)
    if end <= length:
        return chainer.datasets.SubDataset(dataset, begin, end, order)
    places = numpy.arange(length) if order is None else order
    return chainer.datasets.SubDataset(dataset, 0, end - begin, numpy.roll(places, -begin))
