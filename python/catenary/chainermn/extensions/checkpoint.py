"""Snapshots of all ranks, from which a job goes on after it was killed."""

import os
import pickle
import random
import re
import time
import warnings
import zipfile

import chainer
import numpy
from chainer.training import extension

from catenary._aside import written_aside


def create_multi_node_checkpointer(name, comm, cp_interval=5, gc_interval=5, path=None):
    """Has every rank save what it is given, a trainer mostly, as `<name>.<rank>.<iteration>`, whole or not at all. A set of them is complete
    when all ranks have one. (chainermn.create_multi_node_checkpointer)

    cp_interval: so many of the newest complete sets are kept, at least. gc_interval: how many more there may be before older ones are
    removed. path: the folder; the trainer's output folder when not given. When training has ended all sets are removed.
    ValueError for a name that is empty or has a slash, and for numbers below 1.
    """
    warnings.warn('create_multi_node_checkpointer is deprecated in Chainer 7: see chainermn.extensions.multi_node_snapshot, which saves '
                  'no random numbers', DeprecationWarning, stacklevel=2)
    return _MultiNodeCheckpointer(name, comm, cp_interval, gc_interval, path)


class _CheckpointStats:
    """How long saving took."""

    def __init__(self):
        self.durations = []
        self._begun = None

    def start(self):
        self._begun = time.monotonic()

    def end(self):
        if self._begun is not None:
            self.durations.append(time.monotonic() - self._begun)
            self._begun = None

    def report(self):
        if not self.durations:
            return 'nothing was saved yet'
        return 'seconds for a snapshot: %f in the mean, from %f to %f' % (
            sum(self.durations) / len(self.durations), min(self.durations), max(self.durations))


class _MultiNodeCheckpointer(extension.Extension):
    def __init__(self, name, comm, cp_interval, gc_interval, path):
        if not name or '/' in name:
            raise ValueError('create_multi_node_checkpointer: the name %r; expected one without a slash' % name)
        if cp_interval < 1 or gc_interval < 1:
            raise ValueError('create_multi_node_checkpointer: cp_interval %d and gc_interval %d; expected at least 1'
                             % (cp_interval, gc_interval))
        self.name, self.comm, self.path = name, comm, path
        self.cp_interval, self.gc_interval = cp_interval, gc_interval
        self.files = []
        self.stats = _CheckpointStats()

    def __call__(self, trainer):
        self.path = self.path or trainer.out
        self.save(trainer, trainer.updater.iteration)

    def save(self, target, iteration):
        """Saves on this rank. Called by all of them after the same iteration."""
        os.makedirs(self.path, exist_ok=True)
        self.stats.start()
        _save(os.path.join(self.path, self._filename(iteration)), target, self.comm.size)
        self.stats.end()
        if self._filename(iteration) not in self.files:
            self.files.append(self._filename(iteration))
        if len(self.files) >= self.cp_interval + self.gc_interval:
            kept = self._filenames(self._complete(self.files)[-self.cp_interval:])
            self._remove(file for file in self.files if file not in kept)
            self.files = kept

    def maybe_load(self, trainer, optimizer=None, path=None):
        """Loads the newest set that is complete and sound on every rank; where there is none nothing happens. Called by all ranks, when the
        trainer has all its extensions. The random numbers go on as they did, and the next update of `optimizer` and of the
        trainer's own is one: it does not only give all ranks rank 0's parameters, as the first one does. ValueError where the set
        was saved by another number of ranks."""
        self.path = self.path or path or trainer.out
        found = os.listdir(self.path) if os.path.isdir(self.path) else []
        self.files = self._filenames(sorted(
            iteration for name, rank, iteration in self._parse_filenames(found) if name == self.name and rank == self.comm.rank))
        complete = self._complete(self.files)
        while complete and not all(self.comm.allgather_obj(_is_sound(os.path.join(self.path, self._filename(complete[-1]))))):
            complete.pop()
        if not complete:
            return
        _load(os.path.join(self.path, self._filename(complete[-1])), trainer, self.comm.size)
        updater = getattr(trainer, 'updater', trainer)
        optimizers = updater.get_all_optimizers().values() if hasattr(updater, 'get_all_optimizers') else ()
        for each in {id(o): o for o in (*optimizers, optimizer) if o is not None}.values():
            if type(each).__name__ == '_MultiNodeOptimizer' and each.target is not None:
                each.is_changed(each.target)  # which notes that it is not

    def finalize(self):
        """Removes this rank's files."""
        self._remove(self.files)
        self.files = []

    def get_stats(self):
        """How long saving took, in words."""
        return self.stats.report()

    def _complete(self, files):
        """Iterations of which all ranks have a file, ascending."""
        everybody = self.comm.allgather_obj([iteration for _, _, iteration in self._parse_filenames(files)])
        return sorted(set(everybody[0]).intersection(*everybody[1:]))

    def _remove(self, files):
        for file in files:
            try:
                os.remove(os.path.join(self.path, file))
            except FileNotFoundError:
                pass

    def _filename(self, iteration):
        return '%s.%d.%d' % (self.name, self.comm.rank, iteration)

    def _filenames(self, iterations):
        return [self._filename(iteration) for iteration in iterations]

    def _parse_filenames(self, filenames):
        """(name, rank, iteration) of those that are a checkpointer's."""
        found = (re.fullmatch(r'(.+)\.(\d+)\.(\d+)', filename) for filename in filenames)
        return [(match[1], int(match[2]), int(match[3])) for match in found if match]


# What Chainer's snapshots lack, under a name that its serializers ignore.
_RANDOM = '_random_state'


def _save(path, target, ranks):
    saved = chainer.serializers.DictionarySerializer()
    saved.save(target)
    state = {'ranks': ranks, 'numpy': numpy.random.get_state(), 'python': random.getstate()}
    if chainer.backends.cuda.available:
        state['cupy'] = chainer.backends.cuda.cupy.random.get_random_state()._state
    saved.target[_RANDOM] = numpy.frombuffer(pickle.dumps(state), numpy.uint8)
    with written_aside(path) as new:
        with open(new, 'wb') as file:
            numpy.savez_compressed(file, **saved.target)
            file.flush()
            os.fsync(file.fileno())


def _load(path, target, ranks):
    with numpy.load(path) as saved:
        state = pickle.loads(saved[_RANDOM].tobytes()) if _RANDOM in saved.files else {}
        if state.get('ranks', ranks) != ranks:
            raise ValueError('maybe_load: %s was saved by %d ranks, and there are %d' % (path, state['ranks'], ranks))
        chainer.serializers.NpzDeserializer(saved).load(target)
        if state:
            numpy.random.set_state(state['numpy'])
            random.setstate(state['python'])
            if 'cupy' in state and chainer.backends.cuda.available:
                chainer.backends.cuda.cupy.random.get_random_state()._set_state(*state['cupy'])


def _is_sound(path):
    """Is the file whole? Each of its parts has a checksum."""
    try:
        with zipfile.ZipFile(path) as file:
            return file.testzip() is None
    except (OSError, zipfile.BadZipFile):
        return False
