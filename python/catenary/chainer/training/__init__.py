"""The training loop: trainers, updaters, triggers and extensions."""

from . import extension, extensions, trainer, trigger, triggers, updater, updaters, util
from .extension import PRIORITY_EDITOR, PRIORITY_READER, PRIORITY_WRITER, Extension, make_extension
from .trainer import Trainer
from .trigger import IntervalTrigger, get_trigger
from .updater import Updater
from .updaters import ParallelUpdater, StandardUpdater

__all__ = ['Extension', 'IntervalTrigger', 'PRIORITY_EDITOR', 'PRIORITY_READER', 'PRIORITY_WRITER', 'ParallelUpdater', 'StandardUpdater', 'Trainer',
           'Updater', 'extension', 'extensions', 'get_trigger', 'make_extension', 'trainer', 'trigger', 'triggers', 'updater', 'updaters', 'util']
