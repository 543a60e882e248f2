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

    def __init__(self):
        self.call_history = []
        self._starts = []
        self._total = 0

    def _now(self, link):
        if link.xp is not numpy:
            link.xp.cuda.get_current_stream().synchronize()
        return time.perf_counter()

    def forward_preprocess(self, args):
        self._starts.append(self._now(args.link))

    def forward_postprocess(self, args):
        seconds = self._now(args.link) - self._starts.pop()
        self.call_history.append((type(args.link).__name__, seconds))
        if not self._starts:
            self._total += seconds

    def total_time(self):
        """Returns the seconds of all links; a link inside another counts once."""
        return self._total

    def print_report(self, unit='auto', file=sys.stdout):
        """Writes a table of links. `unit` is sec, ms, us, ns, auto or auto_foreach."""
        self._report('LinkName', unit, file)
