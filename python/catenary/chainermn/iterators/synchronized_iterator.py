import chainer
import numpy


class _SynchronizedIterator(chainer.dataset.Iterator):
    """An iterator whose random orders are the same on all ranks. Other attributes are those of the iterator."""

    def __init__(self, actual_iterator, communicator):
        if not hasattr(actual_iterator, 'order_sampler'):
            raise ValueError('create_synchronized_iterator: %s has no order_sampler' % type(actual_iterator).__name__)
        self.__dict__.update(actual_iterator=actual_iterator, communicator=communicator)
        seed = communicator.bcast_obj(numpy.random.randint(2 ** 31) if communicator.rank == 0 else None)
        actual_iterator.order_sampler = chainer.iterators.ShuffleOrderSampler(numpy.random.RandomState(seed))
        actual_iterator.reset()

    def __next__(self):
        return self.actual_iterator.__next__()

    next = __next__

    def serialize(self, serializer):
        self.actual_iterator.serialize(serializer)

    def __getattr__(self, name):
        return getattr(self.actual_iterator, name)

    def __setattr__(self, name, value):
        setattr(self.actual_iterator, name, value)


def create_synchronized_iterator(actual_iterator, communicator):
    """Makes iterators of equal datasets visit them in the same random orders on all ranks (chainermn.iterators.create_synchronized_iterator)."""
    return _SynchronizedIterator(actual_iterator, communicator)
