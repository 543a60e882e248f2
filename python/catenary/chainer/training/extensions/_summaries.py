"""Means of observed values over an interval, which reports and plots share."""

from ... import reporter
from .. import extension, trigger


class Summarizing(extension.Extension):
    """Base of the extensions that collect the means of some observed values until a trigger fires."""

    def _start(self, keys, fires):
        self._keys = keys
        self._trigger = trigger.get_trigger(fires)
        self._init_summary()

    def _init_summary(self):
        self._summary = reporter.DictSummary()

    def _collect(self, trainer):
        """Adds the values of this iteration. Returns the means as floats if the trigger fires, else None."""
        observation = trainer.observation
        if self._keys is not None:
            observation = {key: observation[key] for key in self._keys if key in observation}
        self._summary.add(observation)
        if not (trainer.is_before_training or self._trigger(trainer)):
            return None
        means = {name: float(value) for name, value in self._summary.compute_mean().items()}
        self._init_summary()
        updater = trainer.updater
        means['epoch'], means['iteration'] = updater.epoch, updater.iteration
        return means
