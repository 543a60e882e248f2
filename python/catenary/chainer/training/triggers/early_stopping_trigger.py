"""A trigger that stops a training which no longer improves."""

import operator
import warnings

from ... import reporter
from .. import trigger as trigger_module


class EarlyStoppingTrigger:
    """Fires when the mean of the value `monitor` has not improved for `patience` checks in a row (3), or when `max_trigger` fires.

    `check_trigger` says when to check. `mode` is 'max', 'min' or 'auto', which maximizes values with accuracy in their name. `verbose` prints.
    """

    def __init__(self, check_trigger=(1, 'epoch'), monitor='main/loss', patience=None, mode='auto', verbose=False, max_trigger=(100, 'epoch'), *,
                 patients=None):
        if patients is not None:  # the name in Chainer 3 and 4
            if patience is not None:
                raise TypeError('give patience or patients, not both')
            patience = patients
        self.patience = 3 if patience is None else patience
        self.count = 0
        self.monitor = monitor
        self.verbose = verbose
        self.already_warning = False
        self._max_trigger = trigger_module.get_trigger(max_trigger)
        self._interval_trigger = trigger_module.get_trigger(check_trigger)
        self._summary = reporter.DictSummary()
        if mode not in ('max', 'min'):
            mode = 'max' if 'accuracy' in monitor else 'min'
        self._is_better = operator.gt if mode == 'max' else operator.lt
        self.best = float('-inf' if mode == 'max' else 'inf')

    def __call__(self, trainer):
        value = trainer.observation.get(self.monitor)
        if value is not None:
            self._summary.add({self.monitor: value})
        if self._max_trigger(trainer):
            return True
        if not self._interval_trigger(trainer):
            return False
        if value is None:
            warnings.warn(f'{self.monitor} is not observed: early stopping needs it', stacklevel=2)
            return False
        value = float(self._summary.compute_mean()[self.monitor])
        self._summary = reporter.DictSummary()
        if self._is_better(value, self.best):
            self.best, self.count = value, 0
        else:
            self.count += 1
        if self.count < self.patience:
            return False
        if self.verbose:
            print(f'Epoch {trainer.updater.epoch}: early stopping')
        return True

    def get_training_length(self):
        """Returns the length at which training stops in any case."""
        return self._max_trigger.get_training_length()
