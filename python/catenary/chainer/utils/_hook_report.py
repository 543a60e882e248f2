"""Tables of measurements, for hooks that time functions or count their memory."""


def choose_unit(value, units):
    """Returns (factor, name) of the largest unit that is not above `value`. `units` go from small to large."""
    best = units[0]
    for unit in units[1:]:
        if value >= unit[0]:
            best = unit
    return best


def print_table(header, rows, file):
    """Writes right-aligned columns, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    for row in [header] + rows:
        file.write('  '.join(cell.rjust(width) for cell, width in zip(row, widths)) + '\n')
    file.flush()


def text(value, unit):
    return '{:.2f}{}'.format(value / unit[0], unit[1])


TIMES = [(1e-9, 'ns'), (1e-6, 'us'), (1e-3, 'ms'), (1, 'sec')]


class TimeReport:
    """Measures calls, and sums and prints `call_history`, pairs of a name and seconds."""

    table = {name: round(1 / seconds) for seconds, name in reversed(TIMES)}

    def __init__(self):
        self.call_history = []
        self._starts = []
        self._total = 0

    def _started(self, now):
        self._starts.append(now)

    def _ended(self, name, now):
        seconds = now - self._starts.pop()
        self.call_history.append((name, seconds))
        if not self._starts:
            self._total += seconds

    def total_time(self):
        """Returns the seconds of all calls. A call inside another counts once."""
        return self._total

    def summary(self):
        """Returns elapsed time and number of calls for each name."""
        sums = {}
        for name, seconds in self.call_history:
            record = sums.setdefault(name, {'elapsed_time': 0, 'occurrence': 0})
            record['elapsed_time'] += seconds
            record['occurrence'] += 1
        return sums

    def _choose_unit(self, second):
        """Returns the unit for a time: how many of it one second has, and its name."""
        name = choose_unit(second, TIMES)[1]
        return self.table[name], name

    def _report(self, title, unit, file):
        sums = self.summary()
        if unit == 'auto':
            largest = max([record['elapsed_time'] for record in sums.values()], default=0)
            unit = self._choose_unit(largest)[1]
        elif unit != 'auto_foreach' and unit not in self.table:
            raise ValueError('unknown unit of time: {}. Use sec, ms, us, ns, auto or auto_foreach'.format(unit))
        rows = []
        for name, record in sums.items():
            seconds = record['elapsed_time']
            factor, label = self._choose_unit(seconds) if unit == 'auto_foreach' else (self.table[unit], unit)
            rows.append([name, '{:.2f}{}'.format(seconds * factor, label), str(record['occurrence'])])
        print_table([title, 'ElapsedTime', 'Occurrence'], rows, file)
