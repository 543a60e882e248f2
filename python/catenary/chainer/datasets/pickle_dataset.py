"""A dataset in a file of pickled examples, which can be larger than the memory."""

import multiprocessing.util
import pickle
import threading

from ..dataset.dataset_mixin import DatasetMixin


class PickleDatasetWriter:
    """Writes examples to a binary file."""

    def __init__(self, writer, protocol=pickle.HIGHEST_PROTOCOL):
        self._writer = writer
        self._protocol = protocol

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.close()

    def write(self, x):
        """Appends an example."""
        pickle.dump(x, self._writer, protocol=self._protocol)

    def flush(self):
        self._writer.flush()

    def close(self):
        self._writer.close()


class PickleDataset(DatasetMixin):
    """Reads a file of `PickleDatasetWriter`'s.

    If the file object has a method `after_fork`, it is called in every process that starts by fork, so that processes do not share a file position.
    """

    def __init__(self, reader):
        self._reader = reader
        self._lock = threading.RLock()
        self._positions = list(_pickle_positions(reader))
        self._watch_forks()

    def _watch_forks(self):
        if callable(getattr(self._reader, 'after_fork', None)):
            multiprocessing.util.register_after_fork(self, PickleDataset._after_fork)

    def _after_fork(self):
        self._lock = threading.RLock()
        self._reader.after_fork()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.close()

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != '_lock'}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._lock = threading.RLock()
        self._watch_forks()

    def __len__(self):
        return len(self._positions)

    def close(self):
        with self._lock:
            self._reader.close()

    def get_example(self, index):
        with self._lock:
            self._reader.seek(self._positions[index])
            return pickle.load(self._reader)


def _pickle_positions(reader):
    """Yields where the pickles of a file begin."""
    position = reader.seek(0)
    try:
        while True:
            pickle.load(reader)
            yield position
            position = reader.tell()
    except EOFError:
        return


class _FileReader:
    """A file that is opened again in each process."""

    def __init__(self, path):
        self._path = path
        self._file = open(path, 'rb')

    def after_fork(self):
        self._file.close()
        self._file = open(self._path, 'rb')

    def __getstate__(self):
        return self._path

    def __setstate__(self, path):
        self.__init__(path)

    def __getattr__(self, name):
        if name in ('read', 'readline', 'readinto', 'seek', 'tell', 'close'):
            return getattr(self._file, name)
        raise AttributeError(name)


def open_pickle_dataset(path):
    """Opens a file of pickled examples for reading."""
    return PickleDataset(_FileReader(path))


def open_pickle_dataset_writer(path, protocol=pickle.HIGHEST_PROTOCOL):
    """Opens a file of pickled examples for writing."""
    return PickleDatasetWriter(open(path, 'wb'), protocol=protocol)
