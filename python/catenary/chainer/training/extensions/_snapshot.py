"""Snapshots of a training, and continuing from the latest one."""

import io
import os
import re
import zipfile
import zlib

import numpy

from ... import serializers
from ...serializers import npz
from .. import extension
from . import snapshot_writers

_NUMBER = r'-?[0-9]+(?:\.[0-9]+)?'


def _find_snapshot_files(fmt, path):
    """Returns the times and names of the files in a folder that fit a format such as 'snapshot_iter_{.updater.iteration}', oldest first.

    The order is that of iterations and epochs. Times decide only between equal snapshots, because clocks of other machines may be wrong.
    """
    pattern = re.compile(f'({_NUMBER})'.join(map(re.escape, re.split(r'\{[^}]*\}', fmt))))
    fields = re.findall(r'\{[^}]*\}', fmt)
    found = []
    for name in os.listdir(path):
        match, file = pattern.fullmatch(name), os.path.join(path, name)
        if match and os.path.isfile(file):
            found.append((_iteration_and_epoch(file, dict(zip(fields, match.groups()))), os.stat(file).st_mtime, len(name), name))
    return [(time, name) for _, time, _, name in sorted(found)]


def _iteration_and_epoch(file, fields):
    """Returns the iteration and the epoch of a snapshot from its content, or else from the fields of its name. Unknown ones are -1."""
    iteration, epoch = (float(fields.get(f'{{.updater.{name}}}', -1)) for name in ('iteration', 'epoch'))
    try:
        with zipfile.ZipFile(file) as parts:
            part = parts.getinfo('updater/iteration.npy')
            if part.file_size < 4096:
                iteration = float(numpy.lib.format.read_array(io.BytesIO(parts.read(part)), allow_pickle=False))
    except (OSError, KeyError, ValueError, TypeError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        pass  # a snapshot of another object, in another format, or damaged
    return iteration, epoch


def _find_latest_snapshot(fmt, path):
    """Returns the name of the newest snapshot, or None."""
    found = _find_snapshot_files(fmt, path)
    return found[-1][1] if found else None


def _find_stale_snapshots(fmt, path, n_retains, **kwargs):
    """Yields the names of all but the `n_retains` newest snapshots."""
    found = _find_snapshot_files(fmt, path)
    for _, name in found[:max(len(found) - n_retains, 0)]:
        yield name


def snapshot_object(target, filename, savefun=None, **kwargs):
    """Returns an extension that saves an object each epoch.

    `filename` is formatted with the trainer, or called with it. `writer` is one of `snapshot_writers` and `savefun(path, object)` the function that
    writes, `save_npz` by default. `condition()` tells whether to save. `snapshot_on_error` saves when the training fails. `n_retains` is the number
    of snapshots to keep, and `autoload` continues from the latest one.
    """
    return snapshot(target=target, filename=filename, savefun=savefun, **kwargs)


def snapshot(savefun=None, filename='snapshot_iter_{.updater.iteration}', **kwargs):
    """Returns an extension that saves the trainer each epoch. The arguments are those of `snapshot_object`. `target` is another object to save."""
    trigger = kwargs.pop('trigger', None)  # an argument in Chainer 1
    names = ('target', 'condition', 'writer', 'snapshot_on_error', 'n_retains', 'autoload')
    for name in kwargs:
        if name not in names:
            raise TypeError(f'unexpected argument {name!r}')
    if savefun is not None and kwargs.get('writer') is not None:
        raise TypeError('give savefun or writer, not both: a writer takes a savefun itself')
    if kwargs.get('writer') is None:
        kwargs['writer'] = snapshot_writers.SimpleWriter(savefun=npz.save_npz if savefun is None else savefun)
    made = _Snapshot(filename=filename, **kwargs)
    if trigger is not None:
        made.trigger = trigger
    return made


def _always_true():
    return True


class _Frozen:
    """The values of an object at the time of a snapshot, which another thread or process writes."""

    def __init__(self, target):
        serializer = serializers.DictionarySerializer()
        serializer.save(target)
        self.values = serializer.target

    def serialize(self, serializer):
        for path, value in self.values.items():
            *groups, key = path.split('/')
            part = serializer
            for group in groups:
                part = part[group]
            part(key, value)


class _RemoveStale:
    """Removes all but the newest snapshots. A process that writes snapshots gets it pickled."""

    takes_name = True

    def __init__(self, fmt, folder, n_retains):
        self._arguments = fmt, folder, n_retains

    def __call__(self, saved):
        """Keeps the file just saved, even if another training in this folder was further."""
        fmt, folder, n_retains = self._arguments
        others = [name for _, name in _find_snapshot_files(fmt, folder) if name != saved]
        for name in others[:max(len(others) - n_retains + 1, 0)]:
            os.remove(os.path.join(folder, name))


class _Snapshot(extension.Extension):
    """The extension of `snapshot` and `snapshot_object`."""

    trigger = 1, 'epoch'
    priority = -100

    def __init__(self, filename, writer, target=None, condition=None, snapshot_on_error=False, n_retains=-1, autoload=False):
        self.filename, self.writer = filename, writer
        self._target = target
        self.condition = _always_true if condition is None else condition
        self._snapshot_on_error = snapshot_on_error
        self.n_retains = n_retains
        self.autoload = autoload

    def initialize(self, trainer):
        if callable(self.filename):
            if self.autoload or self.n_retains > 0:
                raise ValueError('autoload and n_retains need a file name with fields in braces, not a function')
            return
        if self.autoload:
            self._load_latest(trainer)
        if self.n_retains > 0:
            self.writer._add_cleanup_hook(_RemoveStale(self.filename, trainer.out, self.n_retains))

    def _load_latest(self, trainer):
        name = _find_latest_snapshot(self.filename, trainer.out) if os.path.isdir(trainer.out) else None
        if name is None:
            print(f'No snapshot file that matches {self.filename} was found in {trainer.out}')
            return
        path = os.path.join(trainer.out, name)
        serializers.load_npz(path, trainer if self._target is None else self._target)
        print(f'Snapshot loaded from {path}')

    def __call__(self, trainer):
        if self.condition():
            self._make_snapshot(trainer)

    def on_error(self, trainer, exc, tb):
        if self._snapshot_on_error:
            self._make_snapshot(trainer)

    def _make_snapshot(self, trainer):
        target = trainer if self._target is None else self._target
        name = self.filename(trainer) if callable(self.filename) else self.filename.format(trainer)
        self.writer(name, trainer.out, _Frozen(target))

    def finalize(self):
        self.writer.finalize()
