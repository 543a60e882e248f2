"""Averages over examples instead of batches."""

from ... import reporter
from .. import extension
from .. import trigger as trigger_module
from .._state import serialize_attributes


class MicroAverage(extension.Extension):
    """Reports the sum of the observed values `numerator_key` divided by the sum of `denominator_key` as `result_key` each time its trigger fires."""

    priority = extension.PRIORITY_EDITOR

    def __init__(self, numerator_key, denominator_key, result_key, trigger=(1, 'epoch')):
        self._keys = numerator_key, denominator_key
        self._result_key = result_key
        self._trigger = trigger_module.get_trigger(trigger)
        self._numerator = self._denominator = 0

    def __call__(self, trainer):
        observation = trainer.observation
        if self._keys[0] not in observation:
            return
        above, below = [_number(observation[key]) for key in self._keys]
        self._numerator += above
        self._denominator += below
        if self._trigger(trainer):
            result = self._numerator / self._denominator
            self._numerator = self._denominator = 0
            reporter.report({self._result_key: result})

    def serialize(self, serializer):
        serialize_attributes(self, serializer, {'_numerator': '_numerator', '_denominator': '_denominator'})


def _number(value):
    """Returns a reported number, array or variable as a float."""
    return float(getattr(value, 'array', value))
