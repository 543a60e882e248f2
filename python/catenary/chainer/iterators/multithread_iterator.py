"""An iterator that reads the examples of the next batch in threads."""

from ._position import PositionedIterator


def _read(task):
    dataset, index = task
    return dataset[index]


class MultithreadIterator(PositionedIterator):
    """Reads the next batch in `n_threads` threads while the current one is used. The other arguments are `SerialIterator`'s."""

    def __init__(self, dataset, batch_size, repeat=True, shuffle=None, n_threads=1, order_sampler=None):
        self._start(dataset, batch_size, repeat, shuffle, order_sampler)
        self.n_threads = n_threads
        self._pool = None
        self.reset()

    def reset(self):
        self._finalized = False
        self._position = self._first_position()
        self._previous_epoch_detail = -1.
        self._ahead = None

    def finalize(self):
        pool, self._pool, self._ahead = self._pool, None, None
        self._finalized = True
        if pool is not None:
            pool.terminate()

    def _prefetch(self):
        if self._pool is None:
            from multiprocessing.pool import ThreadPool
            self._pool = ThreadPool(self.n_threads)
        position, indices = self._advance(self._position)
        read = None if indices is None else self._pool.map_async(_read, [(self.dataset, index) for index in indices])
        self._ahead = position, read

    def __next__(self):
        if self._finalized:
            raise StopIteration
        if self._ahead is None:
            self._prefetch()
        position, read = self._ahead
        self._ahead = None
        if read is None:
            raise StopIteration
        batch = read.get()
        self._previous_epoch_detail = self.epoch_detail
        self._position = position
        self._prefetch()
        return batch

    next = __next__

    def serialize(self, serializer):
        self._position = self._serialize_position(serializer)
        self._ahead = None

    def __getstate__(self):
        return {**self.__dict__, '_pool': None, '_ahead': None}
