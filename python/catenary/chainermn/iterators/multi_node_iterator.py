import numbers

import chainer
import numpy


def _build_ctrl_msg(stop, is_valid_data_type, is_paired_dataset, is_new_epoch, current_position):
    """Returns the state of the master beside a batch as an array."""
    return numpy.array([stop, is_valid_data_type, is_paired_dataset, is_new_epoch, current_position], numpy.int64)


def _parse_ctrl_msg(msg):
    """Returns the arguments of _build_ctrl_msg."""
    return (*[bool(flag) for flag in msg[:4]], int(msg[4]))


def _is_number(value):
    return isinstance(value, (numbers.Number, numpy.generic, *chainer.get_array_types()))


class _Attributes(chainer.dataset.Iterator):
    """An iterator with the attributes of another one."""

    def __init__(self, communicator, actual_iterator, rank_master):
        self.__dict__.update(communicator=communicator, actual_iterator=actual_iterator, rank_master=rank_master)

    def _broadcast(self, value=None):
        return self.communicator.bcast_obj(value, root=self.rank_master)

    def __getattr__(self, name):
        return getattr(self.actual_iterator, name)


class _Master(_Attributes):
    """Sends its batches to the other ranks."""

    def __init__(self, *args):
        super().__init__(*args)
        self._broadcast(self._order())

    def _order(self):
        saved = chainer.serializers.DictionarySerializer()
        self.actual_iterator.serialize(saved)
        return saved.target.get('order')

    def __next__(self):
        iterator = self.actual_iterator
        try:
            batch = iterator.next()
        except StopIteration:
            self._broadcast((_build_ctrl_msg(True, True, False, iterator.is_new_epoch, iterator.current_position), None, None))
            raise
        paired = bool(batch) and isinstance(batch[0], tuple)
        valid = all(_is_number(value) for example in batch for value in (example if paired else (example,)))
        message = _build_ctrl_msg(False, valid, paired, iterator.is_new_epoch, iterator.current_position)
        self._broadcast((message, batch if valid else None, self._order() if iterator.is_new_epoch else None))
        if not valid:
            raise _refusal()
        return batch

    next = __next__

    def __setattr__(self, name, value):
        setattr(self.actual_iterator, name, value)

    def serialize(self, serializer):
        self.actual_iterator.serialize(serializer)


class _Follower(_Attributes):
    """Receives the batches of the master, whose order no snapshot of this rank changes."""

    def __init__(self, *args):
        super().__init__(*args)
        self._order = self._broadcast()
        self._length = len(self.actual_iterator.dataset)
        self.reset()

    def reset(self):
        """Starts anew. The master's iterator must be reset as well."""
        self.epoch, self.current_position, self.is_new_epoch = 0, 0, False
        self.previous_epoch_detail = None

    @property
    def epoch_detail(self):
        return self.epoch + self.current_position / self._length

    def __next__(self):
        message, batch, order = self._broadcast()
        stop, valid, _, is_new_epoch, position = _parse_ctrl_msg(message)
        if stop:
            raise StopIteration
        if not valid:
            raise _refusal()
        self.previous_epoch_detail = self.epoch_detail
        self.epoch, self.is_new_epoch, self.current_position = self.epoch + is_new_epoch, is_new_epoch, position
        if order is not None:
            self._order = order
        return batch

    next = __next__

    def serialize(self, serializer):
        self.current_position = serializer('current_position', self.current_position)
        self.epoch = serializer('epoch', self.epoch)
        self.is_new_epoch = serializer('is_new_epoch', self.is_new_epoch)
        if self._order is not None:
            serializer('order', numpy.array(self._order))
        before = -1.0 if self.previous_epoch_detail is None else self.previous_epoch_detail
        before = serializer('previous_epoch_detail', before)
        self.previous_epoch_detail = None if before < 0 else before


def _refusal():
    return TypeError('create_multi_node_iterator: the examples of a batch must be numbers, arrays, or tuples of them')


def create_multi_node_iterator(actual_iterator, communicator, rank_master=0):
    """Returns an iterator whose batches are those of the iterator on rank_master, on all ranks (chainermn.iterators.create_multi_node_iterator).

    Batches are lists of numbers, arrays, or tuples of them. Raises TypeError for others.
    """
    kind = _Master if communicator.rank == rank_master else _Follower
    return kind(communicator, actual_iterator, rank_master)
