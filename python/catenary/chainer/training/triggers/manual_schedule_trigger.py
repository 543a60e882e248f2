"""A trigger that fires at given points."""

from ._progress import Progress, read_or


class ManualScheduleTrigger(Progress):
    """Fires at each of the `points`, a number or a list of epochs (which may be fractions) or iterations.

    `finished` is true when the last point is reached.
    """

    def __init__(self, points, unit):
        super().__init__(unit)
        self.points = points if isinstance(points, list) else [points]
        self.finished = False
        self._finished_unknown = False

    def __call__(self, trainer):
        before, now = self._advance(trainer.updater)
        fires = any(before < point <= now for point in self.points)
        if fires or self._finished_unknown:
            self._finished_unknown = False
            self.finished = now >= max(self.points)
        return fires

    def serialize(self, serializer):
        super().serialize(serializer)
        finished = read_or(serializer, 'finished', self.finished, None)
        self._finished_unknown = finished is None
        self.finished = bool(finished)
