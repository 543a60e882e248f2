"""Times of functions."""
import sys
import time

import numpy

from .. import backend
from ..function_hook import FunctionHook
from ..utils._hook_report import TimeReport


class TimerHook(TimeReport, FunctionHook):
    """Measures the time of each function's forward and backward computation.

    ``call_history`` holds pairs of a function's name and seconds. On a GPU the hook waits for each function.
    """

    name = 'TimerHook'

    def _now(self, arrays):
        xp = backend.get_array_module(*arrays)
        if xp is not numpy:
            xp.cuda.get_current_stream().synchronize()
        return time.perf_counter()

    def forward_preprocess(self, function, in_data):
        self._started(self._now(in_data))

    def forward_postprocess(self, function, in_data):
        self._ended(function._impl_name, self._now(in_data))

    def backward_preprocess(self, function, in_data, out_grad):
        self.forward_preprocess(function, in_data)

    def backward_postprocess(self, function, in_data, out_grad):
        self.forward_postprocess(function, in_data)

    def print_report(self, unit='auto', file=sys.stdout):
        """Writes a table of functions. `unit` is sec, ms, us, ns, auto or auto_foreach."""
        self._report('FunctionName', unit, file)
