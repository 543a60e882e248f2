"""Arguments of functions as text."""
import sys
import warnings

from ..function_hook import FunctionHook
from ..variable import Variable


class PrintHook(FunctionHook):
    """Writes a summary of all arguments before each function runs forward or backward."""

    name = 'PrintHook'

    def __init__(self, sep=None, end='\n', file=sys.stdout, flush=True):
        self.end, self.file, self.flush = end, file, flush
        if sep is not None:
            warnings.warn('PrintHook ignores sep', DeprecationWarning, stacklevel=2)

    def _line(self, text):
        self.file.write(text + self.end)

    def _show(self, entries, absent, as_variable):
        for entry in entries:
            self._line(absent if entry is None else as_variable(entry).debug_print())

    def forward_preprocess(self, function, in_data):
        self._line('function\t{}'.format(function.label))
        self._line('input data')
        self._show(in_data, '(removed)', Variable)
        self._finish()

    def backward_preprocess(self, function, in_data, out_grad):
        def gradient(entry):
            shown = Variable(entry)
            shown.grad = entry
            return shown

        self._line('function\t{}'.format(function.label))
        self._line('input data')
        self._show(in_data, '(removed)', Variable)
        self._line('output gradient')
        self._show(out_grad, '(None)', gradient)
        self._finish()

    def _finish(self):
        if self.flush:
            self.file.flush()
