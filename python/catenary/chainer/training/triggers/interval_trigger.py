"""A trigger that fires at equal intervals."""

from ._progress import Progress


class IntervalTrigger(Progress):
    """Fires every `period` epochs (which may be a fraction) or iterations, also if it is not asked in each iteration.

    `unit` is 'epoch' or 'iteration'.
    """

    def __init__(self, period, unit):
        super().__init__(unit)
        self.period = period

    def __call__(self, trainer):
        before, now = self._advance(trainer.updater)
        return before // self.period != now // self.period

    def get_training_length(self):
        """Returns the period and its unit, which is the length of the training if this trigger stops it."""
        return self.period, self.unit

    def __str__(self):
        return f'{type(self).__name__}({self.period}, {self.unit!r})'
