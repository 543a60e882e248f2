"""An iterator that reads examples in other processes."""

import threading
import warnings
import weakref

from ._position import PositionedIterator


class MultiprocessIterator(PositionedIterator):
    """Reads batches ahead in `n_processes` processes (all cores by default).

    `n_prefetch` batches are read ahead. Arrays come back through shared memory with `shared_mem` bytes for an example. By default the size is
    measured on the first batch. A `TimeoutWarning` appears when a batch takes longer than `dataset_timeout` seconds. A process ends after
    `maxtasksperchild` examples. The other arguments are `SerialIterator`'s.
    """

    class TimeoutWarning(RuntimeWarning):
        """Reading a batch took longer than `dataset_timeout` seconds."""

    _finalized = False
    _loop = None

    def __init__(self, dataset, batch_size, repeat=True, shuffle=None, n_processes=None, n_prefetch=1, shared_mem=None, order_sampler=None,
                 dataset_timeout=30., maxtasksperchild=None):
        self._start(dataset, batch_size, repeat, shuffle, order_sampler)
        import multiprocessing
        self.n_processes = n_processes or multiprocessing.cpu_count()
        self.n_prefetch = max(n_prefetch, 1)
        self.shared_mem = shared_mem
        self.dataset_timeout = dataset_timeout
        self._maxtasksperchild = maxtasksperchild
        self._position = self._first_position()
        self._previous_epoch_detail = -1.

    def __next__(self):
        if self._finalized:
            raise StopIteration
        if self._loop is None:
            self._loop = _Loop(self)
        batch, position = self._loop.get(self.dataset_timeout)
        if batch is None:
            raise StopIteration
        self._previous_epoch_detail = self.epoch_detail
        self._position = position
        return batch

    next = __next__

    def _move(self, position):
        self._position = position
        if self._loop is not None:
            self._loop.restart(position)

    def reset(self):
        if self._finalized:
            raise NotImplementedError('a MultiprocessIterator cannot be reset after finalize()')
        self._previous_epoch_detail = -1.
        self._move(self._first_position())

    def finalize(self):
        self._finalized = True
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.stop()

    def serialize(self, serializer):
        self._move(self._serialize_position(serializer))

    def __getstate__(self):
        state = dict(self.__dict__)
        state.pop('_loop', None)
        return state


def _stop(condition, state):
    with condition:
        state['stopped'] = True
        condition.notify_all()


class _Loop:
    """A thread that fills a queue with batches. It holds no reference to the iterator, whose end therefore ends the thread."""

    def __init__(self, iterator):
        self._condition = threading.Condition()
        self._batches = []
        self._state = {'stopped': False, 'position': iterator._position, 'round': 0, 'waits': False}
        self._advance = _Advance(iterator)
        self._pool = _Pool(iterator)
        self._thread = threading.Thread(target=_run, args=(self._condition, self._batches, self._state, self._advance, self._pool, iterator.n_prefetch),
                                        name='MultiprocessIterator', daemon=True)
        self._thread.start()
        weakref.finalize(iterator, _stop, self._condition, self._state).atexit = False

    def get(self, timeout):
        """Returns the next batch and the position behind it."""
        with self._condition:
            while not self._batches:
                if not self._condition.wait_for(lambda: self._batches, timeout):
                    warnings.warn(f'reading a batch took longer than {timeout} seconds: is __getitem__ of the dataset slow or stuck?',
                                  MultiprocessIterator.TimeoutWarning, stacklevel=3)
                    self._condition.wait_for(lambda: self._batches)
            batch, position, error = self._batches[0]
            if batch is not None or error is not None:
                self._batches.pop(0)
            self._condition.notify_all()
        if error is not None:
            raise error
        return batch, position

    def restart(self, position):
        with self._condition:
            self._batches.clear()
            self._state['position'] = position
            self._state['round'] += 1
            self._condition.notify_all()

    def stop(self):
        _stop(self._condition, self._state)
        if threading.current_thread() is not self._thread:
            self._thread.join()


class _Advance:
    """Moves a position by one batch, without the iterator."""

    def __init__(self, iterator):
        self._length = len(iterator.dataset)
        self._arguments = iterator.batch_size, iterator._repeat, iterator.order_sampler

    def __call__(self, position):
        return position.advance(self._length, *self._arguments)


def _run(condition, batches, state, advance, pool, n_prefetch):
    """Reads batches until the iterator is finalized. At the end of a dataset, None is the batch and the thread waits for a restart."""
    def may_read():
        return state['stopped'] or (len(batches) < n_prefetch and not (batches and batches[-1][0] is None))

    def is_stale():
        return state['stopped'] or state['round'] != round_
    try:
        while True:
            with condition:
                condition.wait_for(may_read)
                if state['stopped']:
                    return
                round_, position = state['round'], state['position']
            batch = error = None
            try:
                position, indices = advance(position)
                if indices is not None:
                    batch = pool.read(indices, is_stale)
            except Exception as raised:
                error = raised
            with condition:
                if not is_stale():
                    batches.append((batch, position, error))
                    state['position'] = position
                    condition.notify_all()
    finally:
        pool.close()


class _Pool:
    """The processes that read examples, and the memory that they share. They start with the first batch."""

    def __init__(self, iterator):
        self._dataset = iterator.dataset
        self._size = iterator.n_processes
        self._slots = iterator.batch_size
        self._bytes = iterator.shared_mem
        self._tasks = iterator._maxtasksperchild
        self._memory = self._pool = None

    def read(self, indices, is_stale):
        """Returns the examples, or None if they are no longer wanted."""
        if self._bytes is None:
            batch = [self._dataset[index] for index in indices]
            self._bytes = max(_measure(example) for example in batch)
            return batch
        if self._pool is None:
            self._open()
        waiting = self._pool.map_async(_read_example, [(slot, index) for slot, index in enumerate(indices)], chunksize=1)
        while not waiting.ready():
            waiting.wait(0.1)
            if is_stale() and not waiting.ready():
                self.close()  # a stuck dataset does not keep the program from ending
                return None
        memory = None if self._memory is None else memoryview(self._memory).cast('B')
        return [_unpack(example, memory) for example in waiting.get()]

    def _open(self):
        import multiprocessing
        from multiprocessing import sharedctypes
        self._memory = sharedctypes.RawArray('b', self._bytes * self._slots) if self._bytes > 0 else None
        self._pool = multiprocessing.Pool(self._size, _set_up_reader, (self._dataset, self._bytes, self._memory), self._tasks)

    def close(self):
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.terminate()
            pool.join()


# In a process of the pool: the dataset, and the bytes of an example in the shared memory.
_reader = None


def _set_up_reader(dataset, size, memory):
    import signal
    global _reader
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    _reader = dataset, size, None if memory is None else memoryview(memory).cast('B')


def _read_example(task):
    slot, index = task
    dataset, size, memory = _reader
    example = dataset[index]
    return example if memory is None else _pack(example, memory, slot * size, (slot + 1) * size)[0]


class _Packed:
    """An array in the shared memory."""

    def __init__(self, array, offset):
        self.shape, self.dtype, self.offset = array.shape, array.dtype, offset


def _packable(value):
    import numpy
    return type(value) is numpy.ndarray and not value.dtype.hasobject


def _measure(example):
    if _packable(example):
        return example.nbytes
    if isinstance(example, (tuple, list)):
        return sum(map(_measure, example))
    return sum(map(_measure, example.values())) if isinstance(example, dict) else 0


def _pack(example, memory, offset, limit):
    """Returns the example with its arrays moved to the shared memory as far as they fit, and the next free offset."""
    if _packable(example):
        end = offset + example.nbytes
        if end > limit:
            return example, offset
        if end > offset:
            memory[offset:end] = example.tobytes()
        return _Packed(example, offset), end
    if isinstance(example, dict):
        packed = {}
        for key, value in example.items():
            packed[key], offset = _pack(value, memory, offset, limit)
        return packed, offset
    if isinstance(example, (tuple, list)):
        packed = []
        for value in example:
            value, offset = _pack(value, memory, offset, limit)
            packed.append(value)
        return _like(example, packed), offset
    return example, offset


def _like(sequence, values):
    """Returns the values as a tuple, list or named tuple."""
    kind = type(sequence)
    return kind._make(values) if hasattr(kind, '_make') else kind(values)


def _unpack(example, memory):
    if isinstance(example, _Packed):
        import numpy
        count = int(numpy.prod(example.shape))
        return numpy.frombuffer(memory, example.dtype, count, example.offset).reshape(example.shape).copy()
    if isinstance(example, (tuple, list)):
        return _like(example, [_unpack(value, memory) for value in example])
    return {key: _unpack(value, memory) for key, value in example.items()} if isinstance(example, dict) else example
