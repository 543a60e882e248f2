"""The files of chainermn's checkpointer: plain arrays, from which the random numbers go on, and nothing that runs. Needs Chainer 7.8.1."""

import os
import pickle
import random
import warnings

import chainer
import numpy
import pytest
from chainer import training

from catenary.chainermn.extensions import checkpoint


class Alone:
    """A communicator of one rank."""

    rank, size = 0, 1

    def allgather_obj(self, obj):
        return [obj]


class Counter:
    """A target: a number that counts, and what a snapshot may hold besides."""

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
    """Has a pickle of Evil been loaded?"""
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
    with pytest.raises(ValueError, match='was saved by 2 ranks, and there are 1'):
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
    with pytest.raises(ValueError, match='was saved by 3 ranks, and there are 1'):
        make().maybe_load(Counter())


def test_times_of_files_do_not_count(tmp_path, make):
    """A clock that is behind: old files are of the future. Sets of higher iterations that are damaged do not push the new ones out."""
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
