"""Snapshots of all ranks, from which a killed job continues."""

import os
import pickle
import random
import re
import time
import warnings
import zipfile
import zlib

import chainer
import numpy
from chainer.training import extension

from catenary._aside import written_aside


def create_multi_node_checkpointer(name, comm, cp_interval=5, gc_interval=5, path=None, allow_pickle=False):
    """Makes an extension that saves an object of every rank, usually a trainer, atomically as `<name>.<rank>.<iteration>`
    (chainermn.create_multi_node_checkpointer).

    A set is complete if all ranks have a file of that iteration. When training ends, all sets are removed.

    cp_interval: the minimum number of complete sets to keep, the newest ones. gc_interval: how many more may accumulate before older sets are
    removed. path: the folder, by default the trainer's output folder. allow_pickle: whether maybe_load accepts files of older versions, which hold
    pickles. Unpickling can run any code, so enable it for trusted files only. Raises ValueError for a name that is empty or contains a slash, and
    for numbers below 1.
    """
    warnings.warn('create_multi_node_checkpointer is deprecated in Chainer 7: see chainermn.extensions.multi_node_snapshot, which saves '
                  'no random numbers', DeprecationWarning, stacklevel=2)
    return _MultiNodeCheckpointer(name, comm, cp_interval, gc_interval, path, allow_pickle)


class _CheckpointStats:
    """Statistics of the time for saving."""

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
    def __init__(self, name, comm, cp_interval, gc_interval, path, allow_pickle=False):
        if not name or '/' in name:
            raise ValueError('create_multi_node_checkpointer: the name %r must not contain a slash' % name)
        if cp_interval < 1 or gc_interval < 1:
            raise ValueError('create_multi_node_checkpointer: cp_interval and gc_interval must be at least 1, got %d and %d'
                             % (cp_interval, gc_interval))
        self.name, self.comm, self.path = name, comm, path
        self.cp_interval, self.gc_interval = cp_interval, gc_interval
        self.allow_pickle = allow_pickle
        self.files = []
        self.stats = _CheckpointStats()

    def __call__(self, trainer):
        self.path = self.path or trainer.out
        self.save(trainer, trainer.updater.iteration)

    def save(self, target, iteration):
        """Saves this rank's object. All ranks call it after the same iteration."""
        os.makedirs(self.path, exist_ok=True)
        self.stats.start()
        _save(os.path.join(self.path, self._filename(iteration)), target, self.comm.size)
        self.stats.end()
        if self._filename(iteration) not in self.files:
            self.files.append(self._filename(iteration))
        if len(self.files) >= self.cp_interval + self.gc_interval:
            # keeps the set just saved, even if damaged sets of later iterations are in the folder
            others = [i for i in self._complete(self.files) if i != iteration]
            kept = self._filenames(sorted([*others[max(0, len(others) - self.cp_interval + 1):], iteration]))
            self._remove(file for file in self.files if file not in kept)
            self.files = kept

    def maybe_load(self, trainer, optimizer=None, path=None):
        """Loads the newest set that is complete and intact on every rank, if there is one. All ranks call it, after the trainer has all its
        extensions.

        Random states are restored. The next update of `optimizer` and of the trainer's own is a real one, whereas a first update only broadcasts
        rank 0's parameters. Raises ValueError if another number of ranks saved the set.
        """
        self.path = self.path or path or trainer.out
        found = os.listdir(self.path) if os.path.isdir(self.path) else []
        self.files = self._filenames(sorted(
            iteration for name, rank, iteration in self._parse_filenames(found) if name == self.name and rank == self.comm.rank))
        complete = self._complete(self.files)
        while complete and not all(self.comm.allgather_obj(_is_sound(os.path.join(self.path, self._filename(complete[-1]))))):
            complete.pop()
        if not complete:
            return
        _load(os.path.join(self.path, self._filename(complete[-1])), trainer, self.comm.size, self.allow_pickle)
        updater = getattr(trainer, 'updater', trainer)
        optimizers = updater.get_all_optimizers().values() if hasattr(updater, 'get_all_optimizers') else ()
        for each in {id(o): o for o in (*optimizers, optimizer) if o is not None}.values():
            if type(each).__name__ == '_MultiNodeOptimizer' and each.target is not None:
                each.is_changed(each.target)  # records the parameters, so that the next update is a real one

    def finalize(self):
        """Removes this rank's files."""
        self._remove(self.files)
        self.files = []

    def get_stats(self):
        """Returns the statistics of saving as text."""
        return self.stats.report()

    def _complete(self, files):
        """Returns the iterations of which all ranks have a file, ascending."""
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
        """Returns (name, rank, iteration) for each file name of a checkpointer."""
        found = (re.fullmatch(r'(.+)\.(\d+)\.(\d+)', filename) for filename in filenames)
        return [(match[1], int(match[2]), int(match[3])) for match in found if match]


# Chainer's serializers ignore names with this prefix.
_OURS = '_catenary/'
_PICKLE = '_random_state'  # the pickled random states in files of earlier versions


def _save(path, target, ranks):
    saved = chainer.serializers.DictionarySerializer()
    saved.save(target)
    arrays, nones = {}, []
    for name, value in saved.target.items():
        if value.dtype != object:
            arrays[name] = value
        elif value.ndim == 0 and value[()] is None:
            nones.append(name)
        else:
            raise TypeError('create_multi_node_checkpointer: %s is an array of Python objects, which a file holds as code; expected '
                            'numbers, strings or None' % name)
    ours = {'ranks': numpy.asarray(ranks), 'none': numpy.asarray(nones, 'U'), **_random_arrays()}
    arrays.update((_OURS + name, value) for name, value in ours.items())
    with written_aside(path) as new:
        with open(new, 'wb') as file:
            numpy.savez_compressed(file, **arrays)
            file.flush()
            os.fsync(file.fileno())


def _load(path, target, ranks, allow_pickle=False):
    with numpy.load(path, allow_pickle=False) as saved:
        arrays = _Saved(saved)
        if _PICKLE in arrays.files:
            if not allow_pickle:
                raise ValueError('maybe_load: %s holds a pickle (%s), as older versions wrote it, and loading it can run any code. If you '
                                 'trust who wrote the file, give create_multi_node_checkpointer allow_pickle=True' % (path, _PICKLE))
            state = pickle.loads(arrays[_PICKLE].tobytes())
            made_by = state.get('ranks', ranks)
        else:
            state = _random_state(arrays.ours)
            made_by = int(arrays.ours.get('ranks', ranks))
        if made_by != ranks:
            raise ValueError('maybe_load: %s was saved by %d ranks, but this job has %d; start as many' % (path, made_by, ranks))
        chainer.serializers.NpzDeserializer(arrays).load(target)
    if 'numpy' in state:
        numpy.random.set_state(state['numpy'])
    if 'python' in state:
        random.setstate(state['python'])
    if 'cupy' in state and chainer.backends.cuda.available:
        chainer.backends.cuda.cupy.random.get_random_state()._set_state(*state['cupy'])


class _Saved:
    """A file in the form for Chainer's deserializer. None is restored from a list of names, whereas NumPy would pickle it."""

    def __init__(self, npz):
        self._npz = npz
        self.ours = {name[len(_OURS):]: npz[name] for name in npz.files if name.startswith(_OURS)}
        self._nones = set(self.ours.get('none', numpy.asarray([], 'U')).tolist())
        self.files = [name for name in npz.files if not name.startswith(_OURS)] + sorted(self._nones)

    def __contains__(self, name):
        return name in self._nones or name in self._npz

    def __getitem__(self, name):
        return numpy.asarray(None) if name in self._nones else self._npz[name]


def _random_arrays():
    """Returns the states of NumPy's, Python's and cupy's generators."""
    arrays = {}
    state = numpy.random.get_state(legacy=False)
    if state['bit_generator'] == 'MT19937':
        arrays['numpy_key'] = state['state']['key']
        arrays['numpy_place'] = numpy.asarray([state['state']['pos'], state['has_gauss']], numpy.int64)
        arrays['numpy_gauss'] = numpy.asarray(state['gauss'], numpy.float64)
    else:
        warnings.warn('create_multi_node_checkpointer: the state of numpy.random is not saved, because its generator is %s. Call '
                      'numpy.random.seed(), which selects MT19937' % state['bit_generator'], RuntimeWarning, stacklevel=2)
    version, key, gauss = random.getstate()
    arrays['python_version'] = numpy.asarray(version)
    arrays['python_key'] = numpy.asarray(key, numpy.uint32)
    arrays['python_gauss'] = numpy.asarray([] if gauss is None else [gauss], numpy.float64)
    if chainer.backends.cuda.available:
        arrays['cupy'] = numpy.asarray(chainer.backends.cuda.cupy.random.get_random_state()._state, numpy.uint64)
    return arrays


def _random_state(arrays):
    """Returns the states in the form that the generators accept."""
    state = {}
    if 'numpy_key' in arrays:
        position, has_gauss = arrays['numpy_place'].tolist()
        state['numpy'] = ('MT19937', arrays['numpy_key'], position, has_gauss, float(arrays['numpy_gauss']))
    if 'python_key' in arrays:
        gauss = arrays['python_gauss'].tolist()
        state['python'] = (int(arrays['python_version']), tuple(arrays['python_key'].tolist()), gauss[0] if gauss else None)
    if 'cupy' in arrays:
        state['cupy'] = arrays['cupy'].tolist()
    return state


def _is_sound(path):
    """Is the file intact? Each of its parts has a checksum."""
    try:
        with zipfile.ZipFile(path) as file:
            return file.testzip() is None
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError):
        return False  # zipfile's errors for damaged files vary
