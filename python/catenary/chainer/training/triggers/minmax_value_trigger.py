"""Triggers that fire when a value is better than ever."""

from ... import reporter
from .. import trigger as trigger_module
from .._state import serialize_attributes, serialize_part


class BestValueTrigger:
    """Fires when the mean of the observed value `key` since the last check is better than the best one.

    `compare(best, new)` tells whether the new one is better. `trigger` says when to check.
    """

    def __init__(self, key, compare, trigger=(1, 'epoch')):
        self._key = key
        self._compare = compare
        self._interval_trigger = trigger_module.get_trigger(trigger)
        self._best_value = None
        self._summary = reporter.DictSummary()

    def __call__(self, trainer):
        observation = trainer.observation
        if self._key in observation:
            self._summary.add({self._key: observation[self._key]})
        if not self._interval_trigger(trainer):
            return False
        value = float(self._summary.compute_mean()[self._key])
        self._summary = reporter.DictSummary()
        if self._best_value is not None and not self._compare(self._best_value, value):
            return False
        self._best_value = value
        return True

    def serialize(self, serializer):
        serialize_part(self._interval_trigger, serializer, 'interval_trigger')
        serialize_part(self._summary, serializer, 'summary')
        serialize_attributes(self, serializer, {'best_value': '_best_value'})


class MaxValueTrigger(BestValueTrigger):
    """Fires when the mean of a value is larger than ever."""

    def __init__(self, key, trigger=(1, 'epoch')):
        super().__init__(key, lambda best, new: new > best, trigger)


class MinValueTrigger(BestValueTrigger):
    """Fires when the mean of a value is smaller than ever."""

    def __init__(self, key, trigger=(1, 'epoch')):
        super().__init__(key, lambda best, new: new < best, trigger)
