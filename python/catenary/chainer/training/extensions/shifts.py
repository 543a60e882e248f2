"""Schedules of an optimizer's attributes, such as the learning rate."""

import bisect

import numpy

from .. import extension


class _Shift(extension.Extension):
    """Base of the schedules: each call counts, and sets the attribute to `_value()`."""

    def __init__(self, attr, init, optimizer):
        self._attr, self._optimizer, self._init = attr, optimizer, init
        self._last_value = None
        self._t = 0

    def initialize(self, trainer):
        if self._init is None:
            self._init = getattr(self._owner(trainer), self._attr)
        if self._last_value is not None:  # a snapshot was loaded
            value = self._last_value
        else:
            value = self._value() if self._t else self._first_value()
        self._set(trainer, value)

    def _first_value(self):
        return self._init

    def __call__(self, trainer):
        self._t += 1
        self._set(trainer, self._value())

    def _owner(self, trainer):
        """Returns the optimizer with the attribute."""
        return trainer.updater.get_optimizer('main') if self._optimizer is None else self._optimizer

    def _set(self, trainer, value):
        self._last_value = value
        setattr(self._owner(trainer), self._attr, value)

    def _serialize_count(self, serializer):
        self._t = serializer('_t', self._t)

    def serialize(self, serializer):
        self._serialize_count(serializer)
        self._last_value = serializer('_last_value', self._last_value)
        if isinstance(self._last_value, numpy.ndarray):
            self._last_value = self._last_value.item()


class _Bounded(_Shift):
    """Base of the schedules that end at a target."""

    def __init__(self, attr, init, target, optimizer, is_growing):
        super().__init__(attr, init, optimizer)
        self._target = target
        self._is_growing = is_growing

    def _bounded(self, value):
        """Returns the target once the value has passed it. The ratio makes this right for negative values, too."""
        target = self._target
        if target is None:
            return value
        ratio = value / target
        return target if (ratio > 1 if self._is_growing else ratio < 1) else value


class ExponentialShift(_Bounded):
    """Multiplies an attribute by `rate` at each call, from `init` (by default its value) to `target`."""

    def __init__(self, attr, rate, init=None, target=None, optimizer=None):
        if rate < 0:
            raise ValueError(f'rate may not be negative: {rate}')
        super().__init__(attr, init, target, optimizer, rate > 1)
        self._rate = rate

    def _value(self):
        return self._bounded(self._init * self._rate ** self._t)


class InverseShift(_Bounded):
    """Sets an attribute to `init * (1 + gamma * t) ** -power` at call `t`."""

    def __init__(self, attr, gamma, power, init=None, target=None, optimizer=None):
        if gamma < 0:
            raise ValueError(f'gamma may not be negative: {gamma}')
        super().__init__(attr, init, target, optimizer, power < 0)
        self._gamma = gamma
        self._power = power

    def _value(self):
        return self._bounded(self._init * (1 + self._gamma * self._t) ** -self._power)


class PolynomialShift(_Bounded):
    """Sets an attribute to `init * (1 - t / max_count) ** rate` at call `t`."""

    def __init__(self, attr, rate, max_count, init=None, target=None, optimizer=None):
        super().__init__(attr, init, target, optimizer, rate < 0)
        self._rate = rate
        self._max_count = max_count

    def _value(self):
        left = max(1 - self._t / self._max_count, 0)
        if left == 0 and self._rate < 0:
            return self._bounded(self._init * float('inf'))
        return self._bounded(self._init * left ** self._rate)


class StepShift(_Bounded):
    """Multiplies an attribute by `gamma` every `step` calls."""

    def __init__(self, attr, gamma, step, init=None, target=None, optimizer=None):
        super().__init__(attr, init, target, optimizer, gamma > 1)
        self._gamma = gamma
        self._step = step

    def _value(self):
        return self._bounded(self._init * self._gamma ** (self._t // self._step))


class MultistepShift(_Shift):
    """Multiplies an attribute by `gamma` at each of the calls `step_value`."""

    def __init__(self, attr, gamma, step_value, init, optimizer=None):
        super().__init__(attr, init, optimizer)
        self._gamma = gamma
        self._step_value = step_value

    @property
    def _current_step(self):
        return bisect.bisect_right(self._step_value, self._t)

    def _value(self):
        return self._init * self._gamma ** self._current_step

    def serialize(self, serializer):
        self._serialize_count(serializer)
        serializer('_current_step', self._current_step)


class LinearShift(_Shift):
    """Moves an attribute from one end of `value_range` to the other between the calls of `time_range`."""

    def __init__(self, attr, value_range, time_range, optimizer=None):
        super().__init__(attr, value_range[0], optimizer)
        self._value_range = value_range
        self._time_range = time_range

    def _first_value(self):
        return self._value()

    def _value(self):
        (first, last), (begin, end) = self._value_range, self._time_range
        if self._t <= begin:
            return first
        if self._t >= end:
            return last
        return first + (last - first) * ((self._t - begin) / (end - begin))


class WarmupShift(_Shift):
    """Moves an attribute from `warmup_start` to `init` in `warmup_iter` calls."""

    def __init__(self, attr, warmup_start, warmup_iter, init, optimizer=None):
        super().__init__(attr, init, optimizer)
        self._warmup_start = warmup_start
        self._warmup_iter = warmup_iter

    def _first_value(self):
        return self._warmup_start

    def _value(self):
        share = min(self._t / self._warmup_iter, 1)
        return self._init if share == 1 else self._warmup_start + (self._init - self._warmup_start) * share

    def serialize(self, serializer):
        self._serialize_count(serializer)
