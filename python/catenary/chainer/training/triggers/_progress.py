"""The progress of a training since a trigger was last asked."""

import warnings


class Progress:
    """Base of triggers that compare epochs or iterations with those of their last call."""

    def __init__(self, unit):
        if unit not in ('epoch', 'iteration'):
            raise ValueError(f"the unit of a trigger has to be 'epoch' or 'iteration', not {unit!r}")
        self.unit = unit
        self._previous_iteration = 0
        self._previous_epoch_detail = 0.

    def _advance(self, updater):
        """Returns the number of epochs or iterations at the last call, and now."""
        iteration, epoch_detail = updater.iteration, updater.epoch_detail
        if self.unit == 'epoch':
            before, now = self._previous_epoch_detail, epoch_detail
            if before < 0:  # a snapshot without it was loaded
                before = updater.previous_epoch_detail
        else:
            before, now = self._previous_iteration, iteration
            if before < 0:
                before = now - 1
        self._previous_iteration, self._previous_epoch_detail = iteration, epoch_detail
        return before, now

    def serialize(self, serializer):
        for key, attribute in (('previous_iteration', '_previous_iteration'), ('previous_epoch_detail', '_previous_epoch_detail')):
            setattr(self, attribute, read_or(serializer, key, getattr(self, attribute), -1))


def read_or(serializer, key, value, missing):
    """Returns the value that a serializer reads or writes, and `missing` with a warning if a snapshot of an old version has none."""
    try:
        return serializer(key, value)
    except KeyError:
        warnings.warn(f'the snapshot has no {key} for a trigger, as an old version wrote it: the trigger may fire at another time', stacklevel=3)
        return missing
