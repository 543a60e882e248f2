"""The files of chainermn's checkpointer: plain arrays without code, from which random states are restored. Needs Chainer 7.8.1."""

import concurrent.futures
import os
import pickle
import random
import threading
import warnings
import zipfile

import chainer
import numpy
import pytest
from chainer import training

from catenary.chainermn.extensions import checkpoint


class Alone:
    """A communicator with a single rank."""

    rank, size = 0, 1

    def allgather_obj(self, obj):
        return [obj]


class Counter:
    """A target with a counter and further entries of a snapshot."""

    def __init__(self):
        self.iteration, self.best, self.text = 0, None, 'text'

    def serialize(self, serializer):
        self.iteration = int(serializer('iteration', self.iteration))
        self.best = serializer('best', self.best)
        self.text = str(serializer('text', self.text))


@pytest.fixture
def make(tmp_path):
    def make(name='job', **options):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', DeprecationWarning)
            return checkpoint.create_multi_node_checkpointer(name, Alone(), path=str(tmp_path), **options)
    return make


class Evil:
    def __reduce__(self):
        return os.putenv, ('CODE_RAN', '1')


def ran():
    """Was a pickle of Evil loaded?"""
    return os.system('test -z "$CODE_RAN"') != 0


def test_every_array_of_a_file_is_loaded_without_pickles(tmp_path, make):
    make().save(Counter(), 3)
    with numpy.load(tmp_path / 'job.0.3', allow_pickle=False) as saved:
        assert {name: saved[name].dtype.kind for name in saved.files if saved[name].dtype.kind not in 'iufU'} == {}
        assert saved['_catenary/ranks'] == 1
        assert saved['_catenary/none'].tolist() == ['best']


@pytest.mark.parametrize('gauss', [False, True])
def test_random_numbers_go_on(make, gauss):
    numpy.random.seed(5)
    random.seed(6)
    if gauss:  # each has the second of two drawn numbers in hand
        numpy.random.standard_normal()
        random.gauss(0, 1)
    numpy.random.rand(3)
    target = Counter()
    target.iteration, target.best, target.text = 8, 0.25, 'é'
    make().save(target, 8)

    def draw():
        return (numpy.random.standard_normal(3).tolist(), numpy.random.randint(1000, size=5).tolist(), random.gauss(0, 1), random.gauss(0, 1),
                random.random())

    expected = draw()
    loaded = Counter()
    make().maybe_load(loaded)
    assert (loaded.iteration, loaded.best, loaded.text) == (8, 0.25, 'é')
    assert draw() == expected


def test_none_comes_back(make):
    make().save(Counter(), 1)
    loaded = Counter()
    loaded.best = 3
    make().maybe_load(loaded)
    assert loaded.best is None


def test_objects_are_refused_when_they_are_saved(make):
    target = Counter()
    target.best = numpy.asarray([1, None], object)
    with pytest.raises(TypeError, match='best is an array of Python objects'):
        make().save(target, 1)


def test_another_generator_of_numpy_is_told(make):
    before = numpy.random.get_bit_generator()
    numpy.random.set_bit_generator(numpy.random.PCG64(1))
    try:
        with pytest.warns(RuntimeWarning, match='PCG64'):
            make().save(Counter(), 1)
    finally:
        numpy.random.set_bit_generator(before)
    loaded = Counter()
    make().maybe_load(loaded)
    assert loaded.iteration == 0


def old_file(path, state):
    saved = chainer.serializers.DictionarySerializer()
    saved.save(Counter())
    saved.target['best'] = numpy.asarray(1.5)
    with open(path, 'wb') as file:
        numpy.savez_compressed(file, _random_state=numpy.frombuffer(pickle.dumps(state), numpy.uint8), **saved.target)


def test_pickles_of_older_versions_are_refused(tmp_path, make):
    old_file(tmp_path / 'job.0.100', Evil())
    with pytest.raises(ValueError, match=r'job\.0\.100 holds a pickle \(_random_state\).*allow_pickle=True'):
        make().maybe_load(Counter())
    assert not ran()


def test_pickles_of_older_versions_are_loaded_when_asked_for(tmp_path, make):
    numpy.random.seed(4)
    state = {'ranks': 1, 'numpy': numpy.random.get_state(), 'python': random.getstate()}
    expected = numpy.random.rand(3).tolist(), random.random()
    old_file(tmp_path / 'job.0.100', state)
    loaded = Counter()
    make(allow_pickle=True).maybe_load(loaded)
    assert loaded.best == 1.5
    assert (numpy.random.rand(3).tolist(), random.random()) == expected
    old_file(tmp_path / 'two.0.1', {**state, 'ranks': 2})
    with pytest.raises(ValueError, match='was saved by 2 ranks, but this job has 1'):
        make('two', allow_pickle=True).maybe_load(Counter())


@pytest.mark.parametrize('name', ['best', '_catenary/python_key', '_catenary/anything'])
def test_no_pickle_in_any_array_runs(tmp_path, make, name):
    make().save(Counter(), 1)
    path = tmp_path / 'job.0.1'
    with numpy.load(path) as saved:
        arrays = {key: saved[key] for key in saved.files if key != name}
    arrays['_catenary/none'] = numpy.asarray([], 'U')
    arrays[name] = numpy.asarray(Evil(), object)
    with open(path, 'wb') as file:
        numpy.savez_compressed(file, **arrays)
    with pytest.raises(ValueError, match='allow_pickle'):
        make().maybe_load(Counter())
    assert not ran()


def test_another_number_of_ranks_is_refused(tmp_path, make):
    make().save(Counter(), 1)
    with numpy.load(tmp_path / 'job.0.1') as saved:
        arrays = {**saved, '_catenary/ranks': numpy.asarray(3)}
    with open(tmp_path / 'job.0.1', 'wb') as file:
        numpy.savez_compressed(file, **arrays)
    with pytest.raises(ValueError, match='was saved by 3 ranks, but this job has 1'):
        make().maybe_load(Counter())


def test_times_of_files_do_not_count(tmp_path, make):
    """With a slow clock, old files are in the future. Damaged sets of later iterations do not displace new ones."""
    target = Counter()
    saver = make(cp_interval=1, gc_interval=1)
    for iteration in (1, 2):
        target.iteration = iteration
        saver.save(target, iteration)
    os.utime(tmp_path / 'job.0.2', (4e9, 4e9))
    (tmp_path / 'job.0.9').write_bytes(b'half of it')
    resumed = make(cp_interval=1, gc_interval=1)
    loaded = Counter()
    resumed.maybe_load(loaded)
    assert loaded.iteration == 2
    for iteration in (3, 4):
        loaded.iteration = iteration
        resumed.save(loaded, iteration)
        assert 'job.0.%d' % iteration in os.listdir(tmp_path)
    again = Counter()
    make().maybe_load(again)
    assert again.iteration == 4


def test_a_trainer_goes_on(tmp_path, make):
    model = chainer.links.Classifier(chainer.links.Linear(3, 2))
    optimizer = chainer.optimizers.Adam().setup(model)
    data = chainer.datasets.TupleDataset(numpy.ones((6, 3), 'f'), numpy.zeros(6, 'i'))
    trainer = training.Trainer(training.StandardUpdater(chainer.iterators.SerialIterator(data, 2), optimizer), (4, 'iteration'), out=tmp_path)
    trainer.extend(training.extensions.snapshot_object(model, 'best'), trigger=training.triggers.MaxValueTrigger('main/accuracy', (9, 'epoch')))
    trainer.extend(training.extensions.LogReport(trigger=(1, 'iteration')))
    saver = make()
    saver.finalize = lambda: None
    trainer.extend(saver, trigger=(4, 'iteration'))
    trainer.run()  # the trigger's best value is None so far
    again = training.Trainer(training.StandardUpdater(chainer.iterators.SerialIterator(data, 2), chainer.optimizers.Adam().setup(
        chainer.links.Classifier(chainer.links.Linear(3, 2)))), (4, 'iteration'), out=tmp_path)
    again.extend(training.extensions.snapshot_object(model, 'best'), trigger=training.triggers.MaxValueTrigger('main/accuracy', (9, 'epoch')))
    again.extend(training.extensions.LogReport(trigger=(1, 'iteration')))
    make().maybe_load(again)
    assert again.updater.iteration == 4
    numpy.testing.assert_array_equal(again.updater.get_optimizer('main').target.predictor.W.array, model.predictor.W.array)


class Rank:
    """A rank of a job whose ranks are threads."""

    def __init__(self, rank, size, shared):
        self.rank, self.size, self._shared = rank, size, shared

    def allgather_obj(self, obj):
        barrier, said = self._shared
        said[self.rank] = obj
        barrier.wait()
        everything = list(said)
        barrier.wait()
        return everything


def together(size, call):
    """Returns the results of `call` on all ranks."""
    shared = threading.Barrier(size, timeout=60), [None] * size
    with concurrent.futures.ThreadPoolExecutor(size) as threads:
        return list(threads.map(call, [Rank(rank, size, shared) for rank in range(size)]))


def checkpointer(comm, path, name='job', **options):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)
        return checkpoint.create_multi_node_checkpointer(name, comm, path=None if path is None else str(path), **options)


def at(iteration):
    target = Counter()
    target.iteration = iteration
    return target


def loaded_by(size, path, name='job'):
    """Returns the iteration at which each rank resumes, or 0 without a snapshot."""

    def load(comm):
        target = Counter()
        checkpointer(comm, path, name).maybe_load(target)
        return target.iteration

    return together(size, load)


def saved(size, path, *iterations, name='job'):
    def save(comm):
        saver = checkpointer(comm, path, name, cp_interval=99)
        for iteration in iterations:
            saver.save(at(iteration), iteration)

    together(size, save)


def iterations_in(path):
    return sorted(int(name.rpartition('.')[2]) for name in os.listdir(path))


def test_so_many_sets_are_kept(tmp_path, make):
    saver = make(cp_interval=2, gc_interval=2)
    seen = []
    for iteration in (1, 2, 2, 3, 4, 5, 6):
        saver.save(at(iteration), iteration)
        seen.append(iterations_in(tmp_path))
    assert seen == [[1], [1, 2], [1, 2], [1, 2, 3], [3, 4], [3, 4, 5], [5, 6]]


def test_the_highest_iteration_is_the_newest(tmp_path):
    saved(1, tmp_path, 7, 8, 16)  # a set of Python's has them in another order
    assert loaded_by(1, tmp_path) == [16]


def test_a_set_that_a_rank_lacks_does_not_count(tmp_path):
    saved(2, tmp_path, 3, 5)
    (tmp_path / 'job.1.5').unlink()
    assert loaded_by(2, tmp_path) == [3, 3]
    (tmp_path / 'job.0.3').unlink()
    assert loaded_by(2, tmp_path) == [0, 0]


@pytest.mark.parametrize('rank', [0, 1])
@pytest.mark.parametrize('at', [0, 100, 1300])
def test_a_set_that_is_damaged_on_a_rank_does_not_count(tmp_path, rank, at):
    saved(2, tmp_path, 3, 5)
    path = tmp_path / ('job.%d.5' % rank)
    with zipfile.ZipFile(path) as archive:
        begin = archive.getinfo('_catenary/numpy_key.npy').header_offset
    content = bytearray(path.read_bytes())
    content[begin + at] ^= 255  # in the member's header, in the tables of its compression, in its numbers
    path.write_bytes(content)
    assert loaded_by(2, tmp_path) == [3, 3]


def test_files_of_other_jobs_and_ranks_stay(tmp_path):
    saved(1, tmp_path, 2)
    saved(1, tmp_path, 9, name='job.other')
    saved(2, tmp_path, 4, name='two')
    assert loaded_by(1, tmp_path) == [2]
    saver = checkpointer(Alone(), tmp_path)
    saver.maybe_load(Counter())
    saver.finalize()
    assert sorted(os.listdir(tmp_path)) == ['job.other.0.9', 'two.0.4', 'two.1.4']
    two = together(2, lambda comm: checkpointer(comm, tmp_path, 'two'))
    two[1].comm.allgather_obj = lambda obj: [obj, obj]
    two[1].maybe_load(Counter())
    two[1].finalize()
    assert sorted(os.listdir(tmp_path)) == ['job.other.0.9', 'two.0.4']


def test_after_the_end_it_begins_anew(tmp_path, make):
    saver = make(cp_interval=1, gc_interval=2)
    saver.save(at(1), 1)
    saver.save(at(2), 2)
    saver.finalize()
    assert os.listdir(tmp_path) == []
    saver.save(at(3), 3)
    saver.save(at(4), 4)
    assert iterations_in(tmp_path) == [3, 4]


def test_files_that_somebody_removed_are_not_missed(tmp_path, make):
    saver = make(cp_interval=1, gc_interval=1)
    saver.save(at(1), 1)
    (tmp_path / 'job.0.1').unlink()
    saver.save(at(2), 2)
    assert iterations_in(tmp_path) == [2]


class Trainer(Counter):
    """The part of a trainer that the checkpointer uses."""

    def __init__(self, out, iteration):
        super().__init__()
        self.out, self.iteration, self.updater = str(out), iteration, self


def test_the_folder(tmp_path):
    given, out, other = (tmp_path / name for name in ('given', 'out', 'other'))
    checkpointer(Alone(), given)(Trainer(out, 1))
    checkpointer(Alone(), None)(Trainer(out, 2))
    assert (iterations_in(given), iterations_in(out)) == ([1], [2])
    for path, where, expected in ((given, other, 1), (None, given, 1), (None, None, 2)):
        trainer = Trainer(out, 0)
        saver = checkpointer(Alone(), path)
        saver.maybe_load(trainer, path=where and str(where))
        assert trainer.iteration == expected
        assert saver.path == str(path or where or out)


class _MultiNodeOptimizer:
    def __init__(self, target):
        self.target, self.told = target, []

    def is_changed(self, target):
        self.told.append(target)


def test_optimizers_are_told_that_their_targets_are_those_of_all_ranks(tmp_path):
    saved(1, tmp_path, 2)
    own, given, none = _MultiNodeOptimizer('own'), _MultiNodeOptimizer('given'), _MultiNodeOptimizer(None)
    trainer = Trainer(tmp_path, 0)
    trainer.get_all_optimizers = lambda: {'main': own, 'same': own, 'none': none, 'other': object()}
    checkpointer(Alone(), tmp_path).maybe_load(trainer, given)
    assert (own.told, given.told, none.told) == (['own'], ['given'], [])


@pytest.mark.parametrize('name, options', [('', {}), ('a/b', {}), ('job', {'cp_interval': 0}), ('job', {'gc_interval': 0})])
def test_names_and_numbers_that_make_no_sense(tmp_path, name, options):
    with pytest.raises(ValueError, match='create_multi_node_checkpointer'):
        checkpointer(Alone(), tmp_path, name, **options)


def test_the_old_file_stays_until_the_new_one_is_on_the_disk(tmp_path, make, monkeypatch):
    saver = make()
    saver.save(at(1), 1)
    before = (tmp_path / 'job.0.1').read_bytes()

    def full(descriptor):
        raise OSError('the disk is full')

    monkeypatch.setattr(os, 'fsync', full)
    target = at(1)
    target.text = 'another'
    with pytest.raises(OSError, match='the disk is full'):
        saver.save(target, 1)
    assert os.listdir(tmp_path) == ['job.0.1']
    assert (tmp_path / 'job.0.1').read_bytes() == before


def test_how_long_saving_took(make, monkeypatch):
    saver = make()
    assert saver.get_stats() == 'nothing was saved yet'
    times = iter([10.0, 12.0, 20.0, 24.0])
    monkeypatch.setattr(checkpoint.time, 'monotonic', lambda: next(times))
    saver.save(at(1), 1)
    saver.save(at(2), 2)
    assert saver.get_stats() == 'seconds for a snapshot: 3.000000 in the mean, from 2.000000 to 4.000000'


def test_random_numbers_of_the_device_go_on(make, monkeypatch):
    class State:
        _state = (2 ** 64 - 1, 5)

        def _set_state(self, *state):
            self._state = state

    class Device:
        class random:
            state = State()
            get_random_state = classmethod(lambda cls: cls.state)

    cuda = chainer.backends.cuda
    monkeypatch.setattr(checkpoint.chainer.backends, 'cuda', type('cuda', (), {'available': True, 'cupy': Device}))
    arrays = checkpoint._random_arrays()
    monkeypatch.setattr(checkpoint.chainer.backends, 'cuda', cuda)
    saver = make()
    monkeypatch.setattr(checkpoint, '_random_arrays', lambda: arrays)
    saver.save(at(1), 1)
    Device.random.state._state = (0, 0)
    monkeypatch.setattr(cuda, 'available', True)
    monkeypatch.setattr(cuda, 'cupy', Device, raising=False)
    make().maybe_load(at(0))
    assert Device.random.state._state == (2 ** 64 - 1, 5)
