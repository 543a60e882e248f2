"""Triggers from the arguments that stand for them."""

from .triggers.interval_trigger import IntervalTrigger


def _never(trainer):
    """The trigger of None."""
    return False


def get_trigger(trigger):
    """Returns a trigger: a callable is one, (n, 'epoch') and (n, 'iteration') mean an `IntervalTrigger`, and None never fires."""
    if trigger is None:
        return _never
    return trigger if callable(trigger) else IntervalTrigger(*trigger)
