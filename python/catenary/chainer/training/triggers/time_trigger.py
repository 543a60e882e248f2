"""A trigger that fires at equal intervals of time."""


class TimeTrigger:
    """Fires every `period` seconds."""

    def __init__(self, period):
        self._period = period
        self._next_time = period

    def __call__(self, trainer):
        fires = trainer.elapsed_time > self._next_time
        if fires:
            self._next_time += self._period
        return fires

    def serialize(self, serializer):
        self._next_time = serializer('next_time', self._next_time)
