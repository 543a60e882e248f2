"""16-bit training for chainer_precision_test.py, which runs it on NumPy and on a device."""

import os
import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer.training import extensions

DEVICE = os.environ['CHAINER_PRECISION_DEVICE']
half = np.float16


@pytest.fixture(autouse=True)
def device():
    chainer.get_device(DEVICE).use()


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype('f')


def classes(n=400):
    """Returns examples of four classes."""
    t = np.arange(n, dtype='i') % 4
    centers = numbers(4, 20, seed=1)
    return centers[t] + 0.3 * numbers(n, 20, seed=2), t


def classifier(layers, dtype, norm=False):
    np.random.seed(0)
    chainer.get_device(DEVICE).xp.random.seed(0)  # of weights that are made at the first call, on the device
    with chainer.using_config('dtype', dtype):
        parts = []
        for _ in range(layers - 1):
            parts += [L.Linear(None, 30), *([L.BatchNormalization(30)] if norm else []), F.relu]
        model = L.Classifier(chainer.Sequential(*parts, L.Linear(None, 4)))
    model.to_device(DEVICE)
    return model


def trained(optimizer, layers, dtype, norm=False, epochs=6):
    model = classifier(layers, dtype, norm)
    optimizer.setup(model)
    x, t = classes()
    x = model.xp.asarray(x.astype('f' if dtype == np.float32 else half))
    t = model.xp.asarray(t)
    with chainer.using_config('dtype', dtype):
        for _ in range(epochs):
            for i in range(0, len(x), 20):
                optimizer.update(model, x[i:i + 20], t[i:i + 20])
    return float(model.loss.array), model


@pytest.mark.parametrize('layers', [3, 6])
@pytest.mark.parametrize('dtype', [np.float16, chainer.mixed16], ids=['float16', 'mixed16'])
@pytest.mark.parametrize('name, options', [
    ('Adam', {}), ('AdamW', {'weight_decay_rate': 1e-6}), ('SGD', {'lr': 0.1}), ('MomentumSGD', {'lr': 0.02}), ('RMSprop', {'lr': 1e-3})])
def test_one_line_trains(name, options, dtype, layers):
    make = getattr(chainer.optimizers, name)
    optimizer = make(**options)
    loss, model = trained(optimizer, layers, dtype, norm=layers == 6)
    wanted, _ = trained(make(**options), layers, np.float32, norm=layers == 6)
    assert np.isfinite(loss) and loss == pytest.approx(wanted, rel=0.2, abs=0.03)
    assert optimizer._loss_scale == 65504 or optimizer._loss_scaling_isnan_ever
    for param in model.params():
        assert np.isfinite(chainer.get_device('@numpy').send(param.array)).all()
    weight = model.predictor[0].W
    assert weight.dtype == half and weight.grad.dtype == half and weight.update_rule._fp32_param.dtype == np.float32
    if dtype == chainer.mixed16 and layers == 6:
        assert model.predictor[1].gamma.dtype == np.float32


def one(values, dtype=half):
    model = chainer.Link()
    with model.init_scope():
        model.p = chainer.Parameter(np.array(values, dtype))
    model.to_device(DEVICE)
    return model


def host(array):
    return chainer.get_device('@numpy').send(array)


def test_small_steps_add_up_and_state_is_float32():
    model = one([1, -1])
    optimizer = chainer.optimizers.MomentumSGD(1e-4, 0).setup(model)
    for _ in range(100):
        model.p.grad = model.xp.ones(2, half)
        optimizer.update()
    assert host(model.p.array) == pytest.approx([0.99, -1.01], abs=1e-3)
    assert model.p.update_rule.state['v'].dtype == np.float32
    assert host(model.p.update_rule._fp32_param.array) == pytest.approx([0.99, -1.01], abs=4e-6)


def test_values_set_between_updates_are_kept():
    model = one([1, 2, 3])
    optimizer = chainer.optimizers.SGD(1e-4).setup(model)

    def update():
        model.p.grad = model.xp.ones(3, half)
        optimizer.update()

    update()
    array = model.p.array
    array[1] = 5
    update()
    assert model.p.array is array
    assert host(model.p.update_rule._fp32_param.array) == pytest.approx([0.9998, 4.9999, 2.9998], abs=1e-6)
    model.p.array = model.xp.array([7, 8, 9], half)
    update()
    assert host(model.p.update_rule._fp32_param.array) == pytest.approx([6.9999, 7.9999, 8.9999], abs=1e-6)


def test_hooks_see_float32_without_the_scale():
    seen = []

    class Hook:
        name = 'hook'
        timing = 'pre'
        call_for_each_param = True

        def __call__(self, rule, param):
            seen.append((param.dtype, param.grad.dtype, host(param.grad).tolist(), param._loss_scale))

    model = one([1, 2])
    optimizer = chainer.optimizers.SGD(0.5).setup(model)
    optimizer.add_hook(Hook())
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))
    for _ in range(3):
        optimizer.update(lambda: F.sum(model.p * model.xp.array([3, 4], half)))
    assert seen == [(np.float32, np.float32, [3, 4], None)] * 3
    assert host(model.p.array) == pytest.approx([1 - 1.5 * 0.6, 2 - 1.5 * 0.8], abs=2e-3)
    assert model.p.dtype == half and host(model.p.grad) == pytest.approx([0.6, 0.8], abs=1e-3)


@pytest.mark.parametrize('hook', [chainer.optimizer_hooks.WeightDecay(1e-6), chainer.optimizer_hooks.Lasso(1e-6)], ids=['decay', 'lasso'])
def test_small_rates_of_hooks_are_not_lost(hook):
    model = one([2, -2])
    optimizer = chainer.optimizers.SGD(100).setup(model)
    optimizer.add_hook(hook)
    for _ in range(10):
        optimizer.update(lambda: F.sum(model.p * 0))
    rate = 2e-6 if hook.name == 'WeightDecay' else 1e-6
    assert host(model.p.update_rule._fp32_param.array) == pytest.approx([2 - 1000 * rate, -2 + 1000 * rate], rel=1e-5)


def test_small_gradients_are_not_lost():
    model = one([1])
    optimizer = chainer.optimizers.SGD(1e6).setup(model)
    for _ in range(20):
        optimizer.update(lambda: F.sum(F.cast(model.p, 'f')) * 1e-8)
    # the scale is still too small in the first updates
    assert host(model.p.update_rule._fp32_param.array)[0] == pytest.approx(1 - 0.16, abs=0.04)


def test_an_inf_skips_the_update():
    model = one([1, 2])
    optimizer = chainer.optimizers.Adam().setup(model)
    model.p.grad = model.xp.ones(2, half)
    for scale in (1, 2, 4, 8):
        assert optimizer._loss_scale == scale
        model.p.grad = model.xp.ones(2, half)
        optimizer.update()
    before = host(model.p.array).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        model.p.grad = model.xp.array([np.inf, 1], half)
        optimizer.update()
    assert not optimizer.is_safe_to_update() and optimizer._loss_scale == 8
    assert host(model.p.array).tolist() == before and model.p.update_rule.t == 4
    model.p.grad = model.xp.ones(2, half)
    optimizer.update()
    assert optimizer._loss_scale == pytest.approx(8 * 2 ** (1 / 1000)) and model.p.update_rule.t == 5


def test_nan_in_all_batches_is_told():
    model = one([1, 2])
    optimizer = chainer.optimizers.SGD().setup(model)
    with pytest.raises(ValueError, match='SGD: the last 8 updates were skipped, as gradients were inf or NaN at a loss scale of 1: '
                                         'the gradient of /p is not finite'):
        for _ in range(8):
            model.p.grad = model.xp.array([np.nan, 1], half)
            optimizer.update()


def test_a_disabled_fp32_update_stays_disabled():
    model = one([1, 1])
    optimizer = chainer.optimizers.SGD(1e-4).setup(model)
    optimizer.use_fp32_update(False)
    optimizer.set_loss_scale(1)
    for _ in range(50):
        optimizer.update(lambda: F.sum(model.p))
    assert host(model.p.array).tolist() == [1, 1] and model.p.update_rule._fp32_param is None and optimizer._loss_scale == 1

    optimizer = chainer.optimizers.SGD(1e-4)
    optimizer.use_fp32_update()
    optimizer.loss_scaling(interval=2)
    optimizer.setup(model)
    for _ in range(50):
        optimizer.update(lambda: F.sum(model.p))
    assert host(model.p.array) == pytest.approx([0.995, 0.995], abs=1e-3) and optimizer._loss_scale == 65504
    model.p.grad = model.xp.array([np.inf, 1], half)
    with pytest.warns(UserWarning, match='Non finite number found in param.grad of /p'):
        optimizer.update()
    assert optimizer._loss_scale == 32752
    optimizer.set_loss_scale(128)
    optimizer.update(lambda: F.sum(model.p))
    assert optimizer._loss_scale == 128


@pytest.mark.parametrize('dtype', ['f', 'd'])
def test_other_models_have_no_scale(dtype):
    model = one([1, 1], dtype)
    optimizer = chainer.optimizers.SGD(0.5).setup(model)
    optimizer.update(lambda: F.sum(model.p))
    assert optimizer._loss_scale is None and host(model.p.array).tolist() == [0.5, 0.5] and model.p.update_rule._fp32_param is None


def test_gradients_that_share_an_array_are_divided_once():
    model = chainer.Link()
    with model.init_scope():
        model.a = chainer.Parameter(np.ones(2, 'f'))
        model.b = chainer.Parameter(np.ones(2, 'f'))
        model.c = chainer.Parameter(np.ones(2, half))
    model.to_device(DEVICE)
    optimizer = chainer.optimizers.SGD(0.25).setup(model)
    for _ in range(2):
        optimizer.update(lambda: F.sum(model.a + model.b) + F.sum(F.cast(model.c, 'f')))
    for p in model.params():
        assert host(p.array).tolist() == [0.5, 0.5]


class Net(chainer.Chain):
    """A class, since updaters that accumulate gradients do not accept a Sequential that contains functions."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(20, 30)
            self.l2 = L.Linear(30, 4)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


class Forgetting(Net):
    def forward(self, x):
        return self.l2(F.forget(lambda x: F.relu(self.l1(x)), x))


def test_forget_passes_the_loss_scale():
    model = one([1, 2])
    optimizer = chainer.optimizers.SGD(0.5).setup(model)
    x = model.xp.array([3, 4], half)
    for inputs in ((x,), (chainer.Variable(x),), (model.p, x)):
        optimizer.loss_scaling(scale=128)
        model.p.array[...] = model.xp.array([1, 2], half)
        optimizer.update(lambda: F.sum(F.forget(lambda *xs: model.p * xs[-1], *inputs)))
        assert host(model.p.array).tolist() == [-0.5, 0]


@pytest.mark.parametrize('dtype', [np.float16, chainer.mixed16], ids=['float16', 'mixed16'])
def test_forget_and_an_evaluator(dtype):
    x, t = classes(200)
    data = chainer.datasets.TupleDataset(x.astype(half), t)

    def observed(net):
        np.random.seed(0)
        model = L.Classifier(net())
        model.to_device(DEVICE)
        optimizer = chainer.optimizers.Adam(0.01).setup(model)
        updater = chainer.training.StandardUpdater(chainer.iterators.SerialIterator(data, 20, shuffle=False), optimizer, device=DEVICE)
        while updater.epoch < 4:
            updater.update()
        evaluator = extensions.Evaluator(chainer.iterators.SerialIterator(data, 50, repeat=False, shuffle=False), model, device=DEVICE)
        return evaluator(), {name: host(param.array) for name, param in model.namedparams()}

    with chainer.using_config('dtype', dtype):
        (wanted, kept), (given, params) = observed(Net), observed(Forgetting)
    assert float(given['main/accuracy']) > 0.95
    assert float(given['main/loss']) == pytest.approx(float(wanted['main/loss']), rel=1e-2)
    assert all(params[name].dtype == half and np.allclose(params[name], kept[name], atol=1e-2) for name in kept)


def train_further(folder, iterations, resume=None, updater='standard'):
    dtype = chainer.mixed16
    with chainer.using_config('dtype', dtype):
        x, t = classes(80)
        np.random.seed(0)
        model = L.Classifier(Net())
        model.to_device(DEVICE)
        optimizer = chainer.optimizers.Adam().setup(model)
        iterator = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x.astype(half), t), 20, shuffle=False)
        if updater == 'standard':
            made = chainer.training.updaters.StandardUpdater(iterator, optimizer, device=DEVICE)
        else:
            made = chainer.training.updaters.ParallelUpdater(iterator, optimizer, devices={'main': DEVICE, 'second': DEVICE})
        trainer = chainer.training.Trainer(made, (iterations, 'iteration'), out=str(folder))
        trainer.extend(extensions.snapshot(filename='at_{.updater.iteration}'), trigger=(5, 'iteration'))
        if resume:
            chainer.serializers.load_npz(str(resume), trainer)
        trainer.run()
    return {name: host(p.array).tolist() for name, p in model.namedparams()}, optimizer


def test_snapshots_go_on_bit_for_bit(tmp_path):
    whole, optimizer = train_further(tmp_path / 'whole', 15)
    with np.load(tmp_path / 'whole' / 'at_5') as file:
        assert file['updater/optimizer:main/predictor/l1/W/fp32_param'].dtype == np.float32
        assert file['updater/optimizer:main/loss_scale'] == 32
    resumed, again = train_further(tmp_path / 'resumed', 15, tmp_path / 'whole' / 'at_5')
    assert resumed == whole and again._loss_scale == optimizer._loss_scale == 2 ** 15


def test_snapshots_of_chainers_own_go_on(tmp_path):
    train_further(tmp_path, 5)
    with np.load(tmp_path / 'at_5') as file:
        kept = {name: file[name] for name in file if 'fp32_param' not in name and 'loss_scale' not in name}
    with open(tmp_path / 'chainers', 'wb') as file:
        np.savez_compressed(file, **kept)
    values, optimizer = train_further(tmp_path / 'resumed', 7, tmp_path / 'chainers')
    assert optimizer._loss_scale == 4 and np.isfinite(values['/predictor/l1/W']).all()


def test_parallel_updaters(tmp_path):
    values, optimizer = train_further(tmp_path, 10, updater='parallel')
    assert optimizer._loss_scale == 1024
    assert np.isfinite(values['/predictor/l1/W']).all()


def test_an_updater_of_ones_own_with_two_optimizers():
    made = [classifier(3, np.float16) for _ in range(2)]
    x, t = classes(80)

    class Updater(chainer.training.updaters.StandardUpdater):
        def update_core(self):
            batch = self.converter(self.get_iterator('main').next(), self.device)
            for name in ('first', 'second'):
                optimizer = self.get_optimizer(name)
                optimizer.update(optimizer.target, *batch)

    iterator = chainer.iterators.SerialIterator(chainer.datasets.TupleDataset(x.astype(half), t), 20)
    optimizers = {name: chainer.optimizers.Adam(0.01).setup(model) for name, model in zip(('first', 'second'), made)}
    updater = Updater(iterator, optimizers, device=DEVICE)
    with chainer.using_config('dtype', np.float16):
        for _ in range(40):
            updater.update()
    assert [o._loss_scale for o in optimizers.values()] == [65504, 65504]
    assert all(float(model.loss.array) < 0.7 for model in made)
