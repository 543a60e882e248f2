"""A trigger that fires once."""

from ._progress import read_or


class OnceTrigger:
    """Fires in the first iteration, and with `call_on_resume` also in the first one after a snapshot was loaded."""

    def __init__(self, call_on_resume=False):
        self._is_first = True
        self._is_resumed = call_on_resume

    @property
    def finished(self):
        return not (self._is_first or self._is_resumed)

    def __call__(self, trainer):
        fires = not self.finished
        self._is_first = self._is_resumed = False
        return fires

    def serialize(self, serializer):
        self._is_first = read_or(serializer, '_flag_first', self._is_first, False)
