"""Times of links."""
import sys
import time

import numpy

from ..link_hook import LinkHook
from ..utils._hook_report import TimeReport


class TimerHook(TimeReport, LinkHook):
    """Measures the time of each link's forward computation.

    ``call_history`` holds pairs of a class name and seconds, inner links before the links that call them.
    """

    name = 'TimerHook'

    def _now(self, link):
        if link.xp is not numpy:
            link.xp.cuda.get_current_stream().synchronize()
        return time.perf_counter()

    def forward_preprocess(self, args):
        self._started(self._now(args.link))

    def forward_postprocess(self, args):
        self._ended(type(args.link).__name__, self._now(args.link))

    def print_report(self, unit='auto', file=sys.stdout):
        """Writes a table of links. `unit` is sec, ms, us, ns, auto or auto_foreach."""
        self._report('LinkName', unit, file)
