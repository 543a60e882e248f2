"""Progress bars on a terminal."""

import collections
import datetime
import os
import sys
import time


def bar(rate, length):
    """Returns a bar that is filled to `rate`, with the percentage."""
    marks = int(rate * length)
    return f'[{"#" * marks}{"." * (length - marks)}] {rate:6.2%}'


def speed_line(speed, seconds):
    """Returns a line with the speed and the time that is left."""
    return f'{speed:10.5g} iters/sec. Estimated time to finish: {datetime.timedelta(seconds=seconds)}.\n'


class ProgressBar:
    """Prints lines over the ones that it printed before. A subclass defines `get_lines`."""

    def __init__(self, bar_length=None, out=None):
        self._out = out or sys.stdout
        self._bar_length = bar_length or 50
        self._recent = collections.deque(maxlen=100)

    def update_speed(self, iteration, epoch_detail):
        """Returns iterations and epochs a second, of the last hundred calls."""
        self._recent.append((iteration, epoch_detail, time.perf_counter()))
        first, last = self._recent[0], self._recent[-1]
        seconds = last[2] - first[2]
        if seconds <= 0:
            return 0., 0.
        return (last[0] - first[0]) / seconds, (last[1] - first[1]) / seconds

    def get_lines(self):
        """Returns the lines to print."""
        raise NotImplementedError(f'{type(self).__name__} has to define get_lines()')

    def update(self):
        """Prints the lines."""
        lines = self.get_lines()
        self.erase_console()
        self._out.write(''.join(lines))
        self.move_cursor_up(len(lines))
        self.flush()

    def close(self):
        """Removes the lines."""
        self.erase_console()
        self.flush()

    def erase_console(self):
        erase(self._out)

    def move_cursor_up(self, n):
        self._out.write(f'\033[{n:d}A')

    def flush(self):
        if hasattr(self._out, 'flush'):
            self._out.flush()


def erase(out):
    """Erases a terminal from the cursor on."""
    if os.name == 'nt':
        os.system('')  # lets the console understand the codes below
    out.write('\033[J')
