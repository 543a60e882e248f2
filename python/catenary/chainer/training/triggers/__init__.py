"""Triggers, which tell a trainer when to call an extension or to stop."""

from .early_stopping_trigger import EarlyStoppingTrigger
from .interval_trigger import IntervalTrigger
from .manual_schedule_trigger import ManualScheduleTrigger
from .minmax_value_trigger import BestValueTrigger, MaxValueTrigger, MinValueTrigger
from .once_trigger import OnceTrigger
from .time_trigger import TimeTrigger

__all__ = ['BestValueTrigger', 'EarlyStoppingTrigger', 'IntervalTrigger', 'ManualScheduleTrigger', 'MaxValueTrigger', 'MinValueTrigger', 'OnceTrigger',
           'TimeTrigger']
