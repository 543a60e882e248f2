"""The position of an iterator in its epochs, which all iterators share."""

import numpy

from ..dataset.iterator import Iterator
from .order_samplers import ShuffleOrderSampler


class Position:
    """A point between two batches. Where it is never changes, so that a prefetching iterator can hold several."""

    __slots__ = ('current_position', 'epoch', 'is_new_epoch', 'order', 'detail')

    def __init__(self, current_position, epoch, is_new_epoch, order):
        self.current_position = current_position
        self.epoch = epoch
        self.is_new_epoch = is_new_epoch
        self.order = order
        self.detail = None  # the iterator's epoch_detail, once it was asked for

    def __reduce__(self):
        return Position, (self.current_position, self.epoch, self.is_new_epoch, self.order)

    def advance(self, length, batch_size, repeat, order_sampler):
        """Returns the position behind the next batch, and the batch's indices: an array or a range, or None at the end."""
        if not repeat and self.epoch > 0:
            return self, None
        start, order = self.current_position, self.order
        if order is not None:
            length = len(order)
        stop = start + batch_size
        if stop < length:
            return Position(stop, self.epoch, False, order), range(start, stop) if order is None else order[start:stop]
        indices = range(start, length) if order is None else order[start:length]
        left = 0
        if repeat:
            left = stop - length
            if order is not None:
                order = order_sampler(order, start)
                if len(order) != length:
                    raise ValueError(f'the order sampler returned {len(order)} indices, but an epoch has {length}')
            if left:
                indices = numpy.append(indices, numpy.arange(left) if order is None else order[:left])
        return Position(left, self.epoch + 1, True, order), indices


def choose_sampler(shuffle, order_sampler):
    """Returns the order sampler that the arguments of an iterator mean, None for the dataset's own order."""
    if order_sampler is None:
        return ShuffleOrderSampler() if shuffle is None or shuffle else None
    if shuffle is not None:
        raise ValueError('an iterator takes `shuffle` or `order_sampler`, not both: leave `shuffle` at None')
    return order_sampler


class PositionedIterator(Iterator):
    """Base of the iterators over an indexable dataset. `_position` is behind the batch that `next` returned last."""

    def _start(self, dataset, batch_size, repeat, shuffle, order_sampler):
        self.dataset = dataset
        self.batch_size = batch_size
        self._repeat = repeat
        self._shuffle = shuffle
        self.order_sampler = choose_sampler(shuffle, order_sampler)

    def _first_position(self):
        order = None if self.order_sampler is None else self.order_sampler(numpy.arange(len(self.dataset)), 0)
        return Position(0, 0, False, order)

    def _advance(self, position):
        return position.advance(len(self.dataset), self.batch_size, self._repeat, self.order_sampler)

    @property
    def _state(self):
        return self._position  # the original's name, which its users' tests read

    @property
    def current_position(self):
        return self._position.current_position

    @property
    def epoch(self):
        return self._position.epoch

    @property
    def is_new_epoch(self):
        return self._position.is_new_epoch

    @property
    def epoch_detail(self):
        position = self._position
        if position.detail is None:
            order = position.order
            position.detail = position.epoch + position.current_position / (len(self.dataset) if order is None else len(order))
        return position.detail

    @property
    def previous_epoch_detail(self):
        """`epoch_detail` before the last batch, None before the first one."""
        return None if self._previous_epoch_detail < 0 else self._previous_epoch_detail

    @property
    def repeat(self):
        return self._repeat

    def _serialize_position(self, serializer):
        """Returns the position that `serializer` reads, and sets the previous `epoch_detail`."""
        old = self._position
        current = serializer('current_position', old.current_position)
        epoch = serializer('epoch', old.epoch)
        is_new_epoch = serializer('is_new_epoch', old.is_new_epoch)
        order = old.order
        if order is not None:
            try:
                order = serializer('order', order)
            except KeyError:  # Chainer 1 wrote `_order`
                order = serializer('_order', order)
        position = Position(current, epoch, is_new_epoch, order)
        size = len(self.dataset) if order is None else len(order)
        try:
            self._previous_epoch_detail = serializer('previous_epoch_detail', self._previous_epoch_detail)
        except KeyError:  # Chainer 1 did not write it
            before = epoch + (current - self.batch_size) / size
            self._previous_epoch_detail = max(before, 0.) if epoch + current / size > 0 else -1.
        return position
