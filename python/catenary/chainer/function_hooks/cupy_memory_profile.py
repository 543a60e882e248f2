"""Memory of functions on GPUs."""
import sys

from ..backends import cuda
from ..function_hook import FunctionHook
from ..utils._hook_report import choose_unit, print_table, text

_UNITS = [(1024.0 ** power, name) for power, name in enumerate(['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB'])]


def _make_counter():
    """Returns a hook of CuPy's memory pool that counts bytes taken from the pool and from the device."""
    class Counter(cuda.cupy.cuda.memory_hook.MemoryHook):
        name = '_CupyMemoryProfilerHook'

        def __init__(self):
            self.used_bytes = 0
            self.acquired_bytes = 0

        def alloc_preprocess(self, **record):
            self.acquired_bytes += record['mem_size']

        def malloc_preprocess(self, **record):
            self.used_bytes += record['mem_size']

    return Counter()


class CupyMemoryProfileHook(FunctionHook):
    """Counts the bytes that each function takes from CuPy's memory pool (used) and from the device (acquired).

    ``call_history`` holds a function's name, both numbers, and its depth among functions that call functions.
    """

    name = 'CupyMemoryProfileHook'

    def __init__(self):
        cuda.check_cuda_available()
        self.call_history = []
        self._memory_hook = _make_counter()
        self._starts = []
        self._total = [0, 0]

    def added(self, function=None):
        self._memory_hook.__enter__()

    def deleted(self, function=None):
        self._memory_hook.__exit__()

    def forward_preprocess(self, function, in_data):
        self._starts.append((self._memory_hook.used_bytes, self._memory_hook.acquired_bytes))

    def forward_postprocess(self, function, in_data):
        used, acquired = self._starts.pop()
        used = self._memory_hook.used_bytes - used
        acquired = self._memory_hook.acquired_bytes - acquired
        depth = len(self._starts)
        self.call_history.append((function._impl_name, used, acquired, depth))
        if depth == 0:
            self._total[0] += used
            self._total[1] += acquired

    def backward_preprocess(self, function, in_data, out_grad):
        self.forward_preprocess(function, in_data)

    def backward_postprocess(self, function, in_data, out_grad):
        self.forward_postprocess(function, in_data)

    def total_used_bytes(self):
        """Returns the bytes that functions took from the pool."""
        return self._total[0]

    def total_acquired_bytes(self):
        """Returns the bytes that functions took from the device."""
        return self._total[1]

    def summary(self):
        """Returns used and acquired bytes and the number of calls for each function's name."""
        sums = {}
        for name, used, acquired, _ in self.call_history:
            record = sums.setdefault(name, {'used_bytes': 0, 'acquired_bytes': 0, 'occurrence': 0})
            record['used_bytes'] += used
            record['acquired_bytes'] += acquired
            record['occurrence'] += 1
        return sums

    def _choose_unit(self, size):
        return choose_unit(size, _UNITS)

    def print_report(self, unit='auto', file=sys.stdout):
        """Writes a table of functions. `unit` is B, KB, MB and so on, auto or auto_foreach."""
        sums = self.summary()
        keys = ('used_bytes', 'acquired_bytes')
        if unit == 'auto':
            common = self._choose_unit(max([record[key] for record in sums.values() for key in keys], default=0))
        elif unit == 'auto_foreach':
            common = None
        else:
            common = next((known for known in _UNITS if known[1] == unit), None)
            if common is None:
                raise ValueError('unknown unit of memory: {}'.format(unit))
        rows = []
        for name, record in sums.items():
            cells = [text(record[key], common or self._choose_unit(record[key])) for key in keys]
            rows.append([name] + cells + [str(record['occurrence'])])
        print_table(['FunctionName', 'UsedBytes', 'AcquiredBytes', 'Occurrence'], rows, file)
