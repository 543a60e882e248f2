"""A dataset of the lines of text files."""

import io
import threading

from ..dataset.dataset_mixin import DatasetMixin


class TextDataset(DatasetMixin):
    """Reads lines of text files as they are asked for.

    An example is a line of one file, or a tuple with a line of each. The shortest file ends the dataset. `encoding`, `errors` and `newline` are
    `open`'s, single or a list with one for each file. Lines for which `filter_func` returns false are left out.
    """

    def __init__(self, paths, encoding=None, errors=None, newline=None, filter_func=None):
        paths = [paths] if isinstance(paths, str) else list(paths)
        if not paths:
            raise ValueError('a TextDataset needs at least one file')
        settings = []
        for name, value in (('encoding', encoding), ('errors', errors), ('newline', newline)):
            values = [value] * len(paths) if value is None or isinstance(value, str) else list(value)
            if len(values) != len(paths):
                raise ValueError(f'{len(values)} values of {name} do not fit {len(paths)} files')
            settings.append(values)
        self._paths = paths
        self._settings = [dict(zip(('encoding', 'errors', 'newline'), values)) for values in zip(*settings)]
        self._fps = None
        self._open()
        positions = zip(*map(_line_positions, self._fps))
        if filter_func is None:
            self._lines = list(positions)
        else:
            self._lines = [places for places in positions if filter_func(*self._read(places))]

    def _open(self):
        self._lock = threading.Lock()
        self._fps = [open(path, 'r', **settings) for path, settings in zip(self._paths, self._settings)]

    def _read(self, places):
        with self._lock:
            return tuple([_line_at(file, place) for file, place in zip(self._fps, places)])

    def __len__(self):
        return len(self._lines)

    def get_example(self, idx):
        lines = self._read(self._lines[idx])
        return lines if len(lines) > 1 else lines[0]

    def close(self):
        """Closes all files. If one cannot be closed, the others are, and its error is raised."""
        failed = None
        for file in self._fps:
            try:
                file.close()
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.close()

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name not in ('_fps', '_lock')}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._open()


def _line_positions(file):
    """Returns where the lines of a file begin."""
    positions = [file.tell()]
    while file.readline():
        positions.append(file.tell())
    return positions[:-1]


def _line_at(file, position):
    file.seek(position, io.SEEK_SET)
    return file.readline()
