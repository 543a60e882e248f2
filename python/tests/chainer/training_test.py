"""Trainers, triggers, extensions and snapshots of the package catenary/chainer."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402

TRAINER = '''
import io, json, os, sys, tempfile
import numpy as np
import chainer
import chainer.links as L
from chainer import training
from chainer.training import extensions as E, triggers as T

def trainer(out, stop=(3, 'epoch'), extensions=()):
    np.random.seed(0)
    model = L.Classifier(L.Linear(4, 3))
    optimizer = chainer.optimizers.MomentumSGD()
    optimizer.setup(model)
    data = chainer.datasets.TupleDataset(np.random.rand(20, 4).astype('f'), np.random.randint(0, 3, 20).astype('i'))
    updater = training.StandardUpdater(chainer.iterators.SerialIterator(data, 6), optimizer)
    made = training.Trainer(updater, stop, out=out)
    validation = chainer.iterators.SerialIterator(data, 7, repeat=False, shuffle=False)
    made.extend(E.Evaluator(validation, model))
    for extension in extensions:
        made.extend(*extension) if isinstance(extension, tuple) else made.extend(extension)
    return made

out = tempfile.mkdtemp()
'''


def test_a_training_logs_prints_and_evaluates():
    run(TRAINER + '''
screen = io.StringIO()
made = trainer(out, extensions=[E.LogReport(), E.PrintReport(['epoch', 'main/loss', 'absent'], out=screen), E.observe_lr(),
                                E.ProgressBar(update_interval=1, out=io.StringIO()), E.FailOnNonNumber()])
made.run()
log = json.load(open(out + '/log'))
assert [entry['iteration'] for entry in log] == [4, 7, 10] and [entry['epoch'] for entry in log] == [1, 2, 3]
assert set(log[0]) == {'main/loss', 'main/accuracy', 'validation/main/loss', 'validation/main/accuracy', 'lr', 'epoch', 'iteration', 'elapsed_time'}
lines = [line.replace(chr(27) + '[J', '').split() for line in screen.getvalue().splitlines()]
assert lines[0] == ['epoch', 'main/loss', 'absent']
assert [line[0] for line in lines[1:]] == ['1', '2', '3'] and abs(float(lines[3][1]) - log[2]['main/loss']) < 1e-4
# the last evaluation, again by hand
model = made.updater.get_optimizer('main').target
data = made.get_extension('validation').get_iterator('main').dataset
with chainer.using_config('train', False), chainer.no_backprop_mode():
    losses = [float(model(*chainer.dataset.concat_examples(data[i:i + 7])).array) for i in (0, 7, 14)]
assert abs(log[-1]['validation/main/loss'] - np.mean(losses)) < 1e-6
assert os.stat(out + '/log').st_mode & 0o044 == 0o044 & ~os.umask(0o022)
''')


def test_a_snapshot_has_the_original_keys_and_continues_exactly():
    run(TRAINER + '''
def full(stop=(9, 'iteration')):
    return trainer(out, stop, [
        E.LogReport(trigger=(2, 'iteration')), (E.ExponentialShift('lr', .9), None, (1, 'iteration')), (E.StepShift('lr', .5, 3, init=.1), None, (1, 'iteration')),
        (E.MultistepShift('lr', .5, [2, 4], .1), None, (1, 'iteration')), (E.LinearShift('lr', (.1, .2), (1, 5)), None, (1, 'iteration')),
        (lambda trainer: None, 'best', T.MaxValueTrigger('main/accuracy')), (lambda trainer: None, 'once', T.OnceTrigger()),
        (lambda trainer: None, 'points', T.ManualScheduleTrigger([1, 2], 'epoch')), (lambda trainer: None, 'seconds', T.TimeTrigger(100)),
        (E.snapshot(), 'snapshot', (5, 'iteration'))])
straight = full()
straight.run()
keys = set(np.load(out + '/snapshot_iter_5').files)
interval = ('previous_iteration', 'previous_epoch_detail')
expected = {'_snapshot_elapsed_time', 'updater/iteration'}
expected |= {'updater/iterator:main/' + key for key in ('current_position', 'epoch', 'is_new_epoch', 'order', 'previous_epoch_detail')}
expected |= {'updater/optimizer:main/' + key for key in ('t', 'epoch', 'predictor/W/t', 'predictor/W/v', 'predictor/b/t', 'predictor/b/v')}
expected |= {'updater/model:main/predictor/W', 'updater/model:main/predictor/b'}
expected |= {'stop_trigger/' + key for key in interval}
for name in ('ExponentialShift', 'LinearShift', 'LogReport', 'MultistepShift', 'StepShift', 'snapshot', 'validation'):
    expected |= {f'extension_triggers/{name}/{key}' for key in interval}
expected |= {f'extension_triggers/best/interval_trigger/{key}' for key in interval} | {'extension_triggers/best/best_value'}
expected |= {'extension_triggers/once/_flag_first', 'extension_triggers/seconds/next_time', 'extension_triggers/points/finished'}
expected |= {f'extension_triggers/points/{key}' for key in interval}
for name in ('ExponentialShift', 'LinearShift', 'StepShift'):
    expected |= {f'extensions/{name}/_t', f'extensions/{name}/_last_value'}
expected |= {'extensions/MultistepShift/_t', 'extensions/MultistepShift/_current_step', 'extensions/LogReport/_log'}
expected |= {f'extensions/LogReport/_trigger/{key}' for key in interval}
rest = {key for key in keys - expected if '/_summary/' not in key and '/best/summary/' not in key}
assert expected <= keys and not rest, (expected - keys, rest)

resumed = full()
np.random.seed(1)
chainer.serializers.load_npz(out + '/snapshot_iter_5', resumed)
assert resumed.updater.iteration == 5
state = np.random.get_state()
resumed.run()
assert resumed.updater.iteration == 9
assert resumed.updater.get_optimizer('main').lr == straight.updater.get_optimizer('main').lr
assert [entry['iteration'] for entry in resumed.get_extension('LogReport').log] == [2, 4, 6, 8]
''')


def test_snapshots_are_written_by_threads_and_kept_and_loaded():
    run(TRAINER + '''
writers = E.snapshot_writers
for number, writer in enumerate((writers.ThreadWriter(), writers.ThreadQueueWriter(), writers.ProcessWriter(), writers.ProcessQueueWriter())):
    folder = os.path.join(out, str(number))
    made = trainer(folder, extensions=[(E.snapshot(writer=writer, n_retains=2), 'snapshot', (2, 'iteration'))])
    made.run()
    names = sorted(name for name in os.listdir(folder))
    assert len(names) >= 2 and 'snapshot_iter_10' in names, names
    again = trainer(folder, (12, 'iteration'), [(E.snapshot(autoload=True), 'snapshot', (100, 'iteration'))])
    sys.stdout = io.StringIO()
    again.run()
    sys.stdout = sys.__stdout__
    assert again.updater.iteration == 12
try:
    E.snapshot(savefun=chainer.serializers.save_npz, writer=writers.SimpleWriter())
    assert False
except TypeError:
    pass
''')


def test_a_clock_that_is_ahead_removes_no_snapshot():
    run(TRAINER + '''
import time
def saving(stop, autoload=False, **options):
    made = trainer(out, (stop, 'iteration'), [(E.snapshot(autoload=autoload, **options), 'snapshot', (2, 'iteration'))])
    made.run()
    return made

sys.stdout = io.StringIO()
saving(4, n_retains=1)
os.utime(out + '/snapshot_iter_4', (time.time() + 3600,) * 2)
saving(10, n_retains=1, autoload=True)
assert [name for name in os.listdir(out) if 'snapshot' in name] == ['snapshot_iter_10'], os.listdir(out)
os.utime(out + '/snapshot_iter_10', (1, 1))
saving(12, autoload=True)
os.utime(out + '/snapshot_iter_10', (time.time() + 3600,) * 2)
resumed = trainer(out, (14, 'iteration'), [(E.snapshot(autoload=True), 'snapshot', (100, 'iteration'))])
begun = []
resumed.extend(lambda t: begun.append(t.updater.iteration), trigger=(1, 'iteration'), name='begun')
resumed.run()
assert begun == [13, 14], begun
# another training in the folder was further: its snapshot counts as newer, but the file just saved stays
saving(2, n_retains=1)
assert sorted(name for name in os.listdir(out) if 'snapshot' in name) == ['snapshot_iter_2'], os.listdir(out)
# the content counts, not the name
os.rename(out + '/snapshot_iter_2', out + '/snapshot_iter_99')
saving(4)
from chainer.training.extensions import _snapshot
assert _snapshot._find_latest_snapshot('snapshot_iter_{.updater.iteration}', out) == 'snapshot_iter_4'
# files of other formats are ordered by their names, and only regular files count
for name in ('h5_9', 'h5_10'):
    open(os.path.join(out, name), 'w').close()
os.utime(out + '/h5_9', (time.time() + 3600,) * 2)
os.mkfifo(out + '/h5_11')
assert _snapshot._find_latest_snapshot('h5_{.updater.iteration}', out) == 'h5_10'
assert _snapshot._find_latest_snapshot('h5_{.updater.epoch}', out) == 'h5_10'
''')


def test_an_error_reaches_all_extensions():
    run(TRAINER + '''
calls = []
class Watch(training.Extension):
    def __call__(self, trainer):
        if trainer.updater.iteration == 2:
            raise ZeroDivisionError('here')
    def on_error(self, trainer, error, traceback):
        calls.append(type(error))
    def finalize(self):
        calls.append('end')
made = trainer(out, extensions=[Watch(), E.snapshot_object({}, 'never', condition=lambda: False)])
stderr, sys.stderr = sys.stderr, io.StringIO()
try:
    made.run()
    assert False
except ZeroDivisionError:
    pass
assert 'Exception in main training loop: here' in sys.stderr.getvalue()
sys.stderr = stderr
assert calls == [ZeroDivisionError, 'end']

made = trainer(out, extensions=[E.FailOnNonNumber()])
made.updater.get_optimizer('main').target.predictor.b.array[0] = np.inf
try:
    made.run(show_loop_exception_msg=False)
    assert False
except RuntimeError as error:
    assert '/predictor/' in str(error)
''')


def test_averages_and_statistics():
    run(TRAINER + '''
import warnings
@training.make_extension(trigger=(1, 'iteration'), priority=training.PRIORITY_WRITER)
def counts(trainer):
    chainer.report({'right': chainer.Variable(np.array(trainer.updater.iteration, 'f')), 'all': 10})
made = trainer(out, (7, 'iteration'), [
    counts, E.MicroAverage('right', 'all', 'share', trigger=(3, 'iteration')), E.LogReport(trigger=(1, 'iteration')),
    E.ParameterStatistics([], trigger=(1, 'iteration'))])
model = made.updater.get_optimizer('main').target
made.extend(E.ParameterStatistics(model.predictor, {'most': lambda x: x.max(), 'both': lambda x: np.array([1, 2])}, trigger=(2, 'iteration'), prefix='p'))
made.run()
log = made.get_extension('LogReport').log
assert [entry.get('share') for entry in log] == [None, None, 6 / 30, None, None, 15 / 30, None]
assert set(key for key in log[1] if key.startswith('p/')) == {
    f'p/predictor/{name}/{kind}/{what}' for name in 'Wb' for kind in ('data', 'grad') for what in ('most', 'both/0', 'both/1')}
assert not any(key.startswith('p/') for key in log[0])
for which in (E.PlotReport, E.VariableStatisticsPlot):
    with warnings.catch_warnings(record=True):
        which.available()
''')


def test_sums_of_reports_are_those_of_single_additions():
    run('''
import numpy as np
import chainer
rng = np.random.RandomState(0)
for dtypes in ('f', 'ffd', 'ef', 'df', 'fi'):
    values = [np.array(x).astype(dtypes[i % len(dtypes)]) for i, x in enumerate(rng.randn(500) * 10)]
    summary, x, x2 = chainer.Summary(), 0.0, 0.0
    for i, value in enumerate(values):
        weight = 1 if i % 7 else 3
        summary.add(value, weight)
        x, x2 = x + weight * value, x2 + weight * value * value
        if i % 100 == 99:
            n = i + 1 + 2 * (i // 7 + 1)
            assert summary.compute_mean() == x / n and summary.compute_mean().dtype == (x / n).dtype
            mean, deviation = summary.make_statistics()
            assert mean == x / n and np.array_equal(deviation, np.sqrt(x2 / n - mean * mean), equal_nan=True), dtypes
summary = chainer.DictSummary()
for value in (np.array(1, 'f'), 2, chainer.Variable(np.array(6, 'f')), np.float64(3)):
    summary.add({'a': value, 'b': 'text', 'c': np.ones(2), 'd': (value, 2)})
assert summary.compute_mean() == {'a': 3, 'd': 3}
kept = np.array(1, 'f')
summary = chainer.Summary()
summary.add(kept)
kept[...] = 5  # the summary has the earlier value
assert summary.compute_mean() == 1
''')


def test_png_plots_need_no_matplotlib():
    assert run(TRAINER + '''
import struct, zlib
sys.modules['matplotlib'] = None  # cannot be imported
keys = ['main/loss', 'validation/main/loss']
trainer(out, extensions=[E.PlotReport(keys, 'epoch', filename='loss.png'), E.PlotReport('main/loss', filename='bare.png', marker=None, grid=False),
                         E.PlotReport('absent', filename='absent.png')]).run()
print(sorted(os.listdir(out)))
sizes = []
for name in ('loss.png', 'bare.png'):
    png = open(os.path.join(out, name), 'rb').read()
    width, height, depth, kind = struct.unpack('>IIBB', png[16:26])
    data, at = b'', 8
    while at < len(png):
        size, chunk = struct.unpack('>I4s', png[at:at + 8])
        data += png[at + 8:at + 8 + size] if chunk == b'IDAT' else b''
        at += size + 12
    drawn = np.frombuffer(zlib.decompress(data), 'u1').reshape(height, 1 + width)  # indices of a palette
    print(width > height > 400, depth, kind, np.count_nonzero(drawn.std(1)) > 300)
    sizes.append(len(png))
print(sizes[0] > sizes[1])
''').splitlines() == ["['bare.png', 'loss.png']", 'True 8 3 True', 'True 8 3 True', 'True']


def test_matplotlib_draws_the_plots_of_programs_that_use_it():
    assert run(TRAINER + '''
import types
made = []
class Axes:
    def __getattr__(self, name):
        return lambda *args, **kwargs: True
class Figure(Axes):
    add_subplot = lambda self, place: Axes()
    savefig = lambda self, path, **options: made.append(os.path.basename(path))
matplotlib = sys.modules['matplotlib'] = types.ModuleType('matplotlib')
matplotlib.__spec__ = types.SimpleNamespace()
matplotlib.rcParamsDefault = {'backend': 'auto', 'lines.linewidth': 1.5}
def plot(name, **options):
    trainer(out, (1, 'epoch'), [E.PlotReport('main/loss', filename=name, **options)]).run()
matplotlib.rcParams = {'backend': 'Agg', 'lines.linewidth': 1.5}
plot('own.png')
pyplot = types.SimpleNamespace(figure=Figure, close=lambda figure: None)
matplotlib.pyplot = pyplot
matplotlib.rcParams = {'backend': 'Agg', 'lines.linewidth': 3}
for name, options in (('a.png', {}), ('b.pdf', {}), ('c.png', {'marker': 'o'}), ('d.png', {'postprocess': lambda figure, axes, summary: None})):
    plot(name, **options)
print(sorted(os.listdir(out)), made)
''') == "['own.png'] ['a.png', 'b.pdf', 'c.png', 'd.png']\n"


def test_updaters_have_their_path_of_chainer_1_to_7():
    assert run('''
from chainer import training
print(training.updater.StandardUpdater is training.StandardUpdater, training.updater.ParallelUpdater is training.updaters.ParallelUpdater)
''') == 'True True\n'
