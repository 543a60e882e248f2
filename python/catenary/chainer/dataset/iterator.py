"""The base class of iterators."""


class Iterator:
    """Base class of the iterators that an updater reads batches from.

    A class of the user's defines `__next__`, which returns the list of a batch's examples. An updater also reads `epoch`, `is_new_epoch`,
    `epoch_detail` and `previous_epoch_detail`.
    """

    def __del__(self):
        self.finalize()

    def __iter__(self):
        return self

    def __next__(self):
        raise NotImplementedError(f'{type(self).__name__} has to define __next__()')

    def next(self):
        return self.__next__()

    def finalize(self):
        """Ends threads and processes of the iterator."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.finalize()

    def serialize(self, serializer):
        """Reads or writes the state of the iterator."""
