"""The training loop."""

import os
import sys
import time
import traceback

from .. import reporter as reporter_module
from ..serializer import Serializer
from . import extension as extension_module
from ._state import serialize_part
from .trigger import get_trigger


class _ExtensionEntry:
    def __init__(self, extension, priority, trigger, call_before_training):
        self.extension = extension
        self.priority = priority
        self.trigger = trigger
        self.call_before_training = call_before_training


class Trainer:
    """Calls an updater until `stop_trigger` fires, and extensions after each update as their triggers say.

    Extensions write their files to the folder `out`. `extensions` is a list of extensions, or of tuples of `extend`'s arguments.
    `observation` is the dict of the values that were reported in this iteration.
    """

    def __init__(self, updater, stop_trigger=None, out='result', extensions=None):
        self.updater = updater
        self.stop_trigger = get_trigger(stop_trigger)
        self.out = out
        self.observation = {}
        self.reporter = reporter_module.Reporter()
        for name, optimizer in updater.get_all_optimizers().items():
            self.reporter.add_observer(name, optimizer.target)
            self.reporter.add_observers(name, optimizer.target.namedlinks(skipself=True))
        self._done = False
        self._extensions = {}
        self._start_at = None
        self._snapshot_elapsed_time = 0.
        self._final_elapsed_time = None
        updater.connect_trainer(self)
        for given in extensions or ():
            self.extend(*given) if isinstance(given, tuple) else self.extend(given)

    @property
    def elapsed_time(self):
        """Seconds of the loop, with those before a snapshot that was loaded."""
        if not self._done and self._start_at is None:
            raise RuntimeError('the training has not started: elapsed_time is known from run() on')
        now = time.monotonic
        return self._final_elapsed_time if self._done else self._snapshot_elapsed_time + now() - self._start_at

    @property
    def is_before_training(self):
        """Returns whether there was no update yet."""
        return self.updater.iteration == 0

    def extend(self, extension, name=None, trigger=None, priority=None, *, call_before_training=False, **kwargs):
        """Adds an extension. The arguments replace its own attributes.

        `call_before_training` calls it also before the first update. A name that is taken gets a number.
        """
        # the name in Chainer 1
        call_before_training |= kwargs.pop('invoke_before_training', getattr(extension, 'invoke_before_training', False))
        if kwargs:
            raise TypeError(f'extend got an unexpected argument {next(iter(kwargs))!r}')
        name = name or _name_of(extension)
        if name == 'training':
            raise ValueError("the name 'training' is the loop's: give the extension another one")
        wanted, number = name, 0
        while name in self._extensions:
            number += 1
            name = f'{wanted}_{number}'
        try:
            extension.name = name
        except AttributeError:  # methods and the like take no attribute
            pass
        if trigger is None:
            trigger = getattr(extension, 'trigger', extension_module.Extension.trigger)
        if priority is None:
            priority = getattr(extension, 'priority', extension_module.PRIORITY_READER)
        self._extensions[name] = _ExtensionEntry(extension, priority, get_trigger(trigger), call_before_training)

    def get_extension(self, name):
        """Returns the extension with this name."""
        if name not in self._extensions:
            raise ValueError(f'the trainer has no extension {name!r}: {", ".join(self._extensions)}')
        return self._extensions[name].extension

    def _ordered(self):
        return sorted(self._extensions.values(), key=lambda entry: -entry.priority)

    def run(self, show_loop_exception_msg=True):
        """Runs the loop. An exception goes to the extensions' `on_error` and is raised again after `finalize` of each one."""
        if self._done:
            raise RuntimeError('a trainer runs only once: make another one to continue')
        os.makedirs(self.out, exist_ok=True)
        entries = self._ordered()
        self._start_at = time.monotonic()
        for entry in entries:
            initialize = getattr(entry.extension, 'initialize', None)
            if initialize is not None and not getattr(entry.trigger, 'finished', False):
                initialize(self)
        with self.reporter.scope(self.observation):
            for entry in entries:
                if entry.call_before_training:
                    entry.extension(self)
        try:
            self._loop(entries)
        except Exception as error:
            if show_loop_exception_msg:
                sys.stderr.write('Exception in main training loop: {}\nTraceback (most recent call last):\n'.format(error))
                traceback.print_tb(error.__traceback__)
                sys.stderr.write('Will finalize trainer extensions and updater before reraising the exception.\n')
            self._tell(entries, error)
            raise
        finally:
            for entry in entries:
                finalize = getattr(entry.extension, 'finalize', None)
                if finalize is not None:
                    finalize()
            self.updater.finalize()
        self._final_elapsed_time = self.elapsed_time
        self._done = True

    def _loop(self, entries):
        update, reporter, stop = self.updater.update, self.reporter, self.stop_trigger
        pairs = [(entry.trigger, entry.extension) for entry in entries]
        while not stop(self):
            self.observation = {}
            with reporter.scope(self.observation):
                update()
                for trigger, extension in pairs:
                    if trigger(self):
                        extension(self)

    def _tell(self, entries, error):
        """Calls on_error of all extensions. An exception in one is printed."""
        for entry in entries:
            handle = getattr(entry.extension, 'on_error', None)
            if handle is None:
                continue
            try:
                handle(self, error, error.__traceback__)
            except Exception as another:
                sys.stderr.write(f'Exception in on_error of an extension: {another}\nTraceback (most recent call last):\n')
                traceback.print_tb(another.__traceback__)

    def serialize(self, serializer):
        serialize_part(self.updater, serializer, 'updater')
        serialize_part(self.stop_trigger, serializer, 'stop_trigger')
        states, trigger_states = serializer['extensions'], serializer['extension_triggers']
        for name, entry in self._extensions.items():
            serialize_part(entry.extension, states, name)
            serialize_part(entry.trigger, trigger_states, name)
        if isinstance(serializer, Serializer):
            serializer('_snapshot_elapsed_time', self.elapsed_time)
        else:
            self._snapshot_elapsed_time = serializer('_snapshot_elapsed_time', 0.0)


def _name_of(extension):
    for attribute in ('name', 'default_name', '__name__'):
        name = getattr(extension, attribute, None)
        if name:
            return name
    raise ValueError(f'{type(extension).__name__} has no name: extend the trainer with name=…')
