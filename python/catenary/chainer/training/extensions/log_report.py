"""A log of observed values."""

import json
import os
import tempfile
import warnings

from ...serializer import Serializer
from .._state import serialize_part
from ._summaries import Summarizing


class LogReport(Summarizing):
    """Writes the means of observed values to a JSON file each time its trigger fires.

    `keys` chooses values, by default all. `postprocess` is called with the dict of an entry. `filename` (or `log_name`) is 'log'. It may have
    fields such as {epoch}. The list of entries is the attribute `log`.
    """

    def __init__(self, keys=None, trigger=(1, 'epoch'), postprocess=None, filename=None, **kwargs):
        log_name = kwargs.pop('log_name', 'log')
        if kwargs:
            raise TypeError(f'unexpected argument {next(iter(kwargs))!r}')
        self._postprocess = postprocess
        self._log_name = log_name if filename is None else filename
        self._log = []
        self._start(keys, trigger)

    def __call__(self, trainer):
        entry = self._collect(trainer)
        if entry is None:
            return
        entry['elapsed_time'] = trainer.elapsed_time
        if self._postprocess is not None:
            self._postprocess(entry)
        self._log.append(entry)
        if self._log_name is not None:
            _write(trainer.out, self._log_name.format(**entry), json.dumps(self._log, indent=4))

    @property
    def log(self):
        """The list of entries."""
        return self._log

    def serialize(self, serializer):
        serialize_part(self._trigger, serializer, '_trigger')
        try:
            self._summary.serialize(serializer['_summary'])
        except Exception:
            warnings.warn('the snapshot has no means of the values since the last report: the next report lacks them', stacklevel=2)
        if isinstance(serializer, Serializer):
            serializer('_log', json.dumps(self._log))
        else:
            self._log = json.loads(str(serializer('_log', '')))


def _write(folder, name, text):
    """Writes a file in one step, so that a reader never sees half of it."""
    os.makedirs(folder, exist_ok=True)
    handle, path = tempfile.mkstemp(prefix=os.path.basename(name), dir=folder)
    with os.fdopen(handle, 'w') as file:
        file.write(text)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)
    os.replace(path, os.path.join(folder, name))
