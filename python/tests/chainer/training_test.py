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


def test_updaters_have_their_path_of_chainer_1_to_7():
    assert run('''
from chainer import training
print(training.updater.StandardUpdater is training.StandardUpdater, training.updater.ParallelUpdater is training.updaters.ParallelUpdater)
''') == 'True True\n'
