"""cupyx.profiler: timing of calls."""

import contextlib
import math
import time

import numpy

from catenary import _core, _names
from catenary.cupy import cuda


class _PerfCaseResult:
    """The result of benchmark: cpu_times and gpu_times in seconds, gpu_times with one row per device."""

    def __init__(self, name, ts, devices):
        self.name, self._ts, self._devices = name, ts, devices

    cpu_times = property(lambda self: self._ts[0])
    gpu_times = property(lambda self: self._ts[1:])

    def to_str(self, show_gpu=False):
        """Returns a line with mean, deviation, minimum and maximum in microseconds."""
        parts = [f'{self.name:<20s}:']
        for k, times in enumerate(self._ts[:None if show_gpu else 1]):
            label = 'CPU' if k == 0 else 'GPU-%d' % self._devices[k - 1]
            t = times * 1e6
            parts.append(f'    {label}: {t.mean():9.03f} us' + (
                f'   +/- {t.std():6.03f} (min: {t.min():9.03f} / max: {t.max():9.03f}) us' if t.size > 1 else ''))
        return ' '.join(parts)

    def __str__(self):
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(func, args=(), kwargs={}, n_repeat=10000, *, name=None, n_warmup=10, max_duration=math.inf, devices=None):
    """Calls func n_repeat times after n_warmup uncounted calls, for at most max_duration seconds.

    Device times are measured by events and begin when earlier work has finished. Raises ValueError if func is not callable or a count is invalid.
    """
    if name is None:
        name = getattr(func, '__name__', type(func).__name__)
    if not callable(func):
        raise ValueError('`func` should be a callable object.')
    if not isinstance(args, tuple):
        raise ValueError('`args` should be of tuple type.')
    if not isinstance(kwargs, dict):
        raise ValueError('`kwargs` should be of dict type.')
    if not isinstance(n_repeat, int) or not isinstance(n_warmup, int):
        raise ValueError('`n_repeat` and `n_warmup` should be integers.')
    if not isinstance(name, str):
        raise ValueError('`name` should be a string.')
    if devices is not None and not isinstance(devices, tuple):
        raise ValueError('`devices` should be of tuple type')
    devices = (cuda.get_device_id(),) if devices is None else devices
    chosen = [_core.Device() if devices == (cuda.get_device_id(),) else _core.Device(d) for d in devices]
    starts, stops = [], []
    for device in chosen:
        with device:
            starts.append(cuda.Event())
            stops.append(cuda.Event())

    def each(do, *lists):
        for device, *with_it in zip(chosen, *lists):
            with device:
                do(*with_it)
    for _ in range(n_warmup):
        func(*args, **kwargs)
    each(_core.deviceSynchronize)
    rows, spent = [], 0.0
    for _ in range(n_repeat):
        each(lambda event: event.record(), starts)
        begin = time.perf_counter()
        result = func(*args, **kwargs)
        cpu = time.perf_counter() - begin
        each(lambda event: event.record(), stops)
        each(lambda event: event.synchronize(), stops)
        del result
        rows.append([cpu] + [cuda.get_elapsed_time(a, b) * 1e-3 for a, b in zip(starts, stops)])
        spent += time.perf_counter() - begin
        if spent >= max_duration:
            break
    return _PerfCaseResult(name, numpy.array(rows, float).reshape(-1, 1 + len(devices)).T, devices)


@contextlib.contextmanager
def time_range(message=None, color_id=None, argb_color=None, sync=False):
    """Marks a block, or a decorated function, for a profiler. It has no effect here."""
    if color_id is not None and argb_color is not None:
        raise ValueError('Only either color_id or argb_color can be specified')
    if sync:
        _core.deviceSynchronize()
    yield
    if sync:
        _core.deviceSynchronize()


@contextlib.contextmanager
def profile():
    """Marks a block for a profiler. It has no effect here."""
    yield


__getattr__ = _names.getter('cupyx.profiler')
