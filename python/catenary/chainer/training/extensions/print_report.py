"""A table of observed values on a terminal."""

import sys

from .. import extension
from . import util
from .log_report import LogReport


class PrintReport(extension.Extension):
    """Prints the entries of a `LogReport` as rows of a table.

    `entries` are the keys of the columns. `log_report` is the name of the extension or a `LogReport` that only this extension uses.
    """

    def __init__(self, entries, log_report='LogReport', out=sys.stdout):
        self._log_len = 0
        self._entries, self._log_report, self._out = entries, log_report, out
        self._widths = [max(10, len(entry)) for entry in entries]
        self._header = '  '.join(entry.ljust(width) for entry, width in zip(entries, self._widths)) + '\n'

    def initialize(self, trainer):
        if isinstance(self._log_report, LogReport):
            self._log_report.initialize(trainer)

    def __call__(self, trainer):
        if self._header:
            self._out.write(self._header)
            self._header = None
        report = self._log_report
        if isinstance(report, str):
            report = trainer.get_extension(report)
        elif isinstance(report, LogReport):
            report(trainer)
        else:
            raise TypeError(f'log_report has to be a LogReport or its name, not {type(report).__name__}')
        log = report.log
        for entry in log[self._log_len:]:
            util.erase(self._out)
            self._print(entry)
        self._log_len = max(self._log_len, len(log))

    def _print(self, observation):
        for key, width in zip(self._entries, self._widths):
            self._out.write(f'{observation[key]:<{width}g}  ' if key in observation else ' ' * (width + 2))
        self._out.write('\n')
        if hasattr(self._out, 'flush'):
            self._out.flush()

    def serialize(self, serializer):
        if isinstance(self._log_report, LogReport):
            self._log_report.serialize(serializer['_log_report'])
