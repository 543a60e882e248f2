"""An iterator that reads examples one after the other in the calling thread."""

from ..dataset._batch import gather
from ._position import PositionedIterator


class SerialIterator(PositionedIterator):
    """Reads batches of a dataset in the calling thread.

    `repeat` starts over after each epoch. `shuffle` (the default) visits the examples in a new random order in every epoch, and `order_sampler`
    in an order of its own, see `OrderSampler`.
    """

    def __init__(self, dataset, batch_size, repeat=True, shuffle=None, order_sampler=None):
        self._start(dataset, batch_size, repeat, shuffle, order_sampler)
        self.reset()

    def reset(self):
        self._position = self._first_position()
        self._previous_epoch_detail = -1.

    def __next__(self):
        position, indices = self._advance(self._position)
        if indices is None:
            raise StopIteration
        self._previous_epoch_detail = self.epoch_detail
        self._position = position
        return gather(self.dataset, indices)

    next = __next__

    def serialize(self, serializer):
        self._position = self._serialize_position(serializer)
