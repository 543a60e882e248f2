"""Optimizers and their updates."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import _updates
from graph_shared import recorded, x_data


OPTIMIZERS = {
    **{name: getattr(chainer.optimizers, name) for name in (
        'SGD', 'MomentumSGD', 'CorrectedMomentumSGD', 'NesterovAG', 'AdaGrad', 'AdaDelta', 'RMSprop', 'RMSpropGraves', 'SMORMS3', 'MSVAG', 'Adam',
        'AdamW', 'AMSGrad', 'AdaBound', 'AMSBound')},
    'RMSprop, eps inside': lambda: chainer.optimizers.RMSprop(eps_inside_sqrt=True), 'MSVAG, decay': lambda: chainer.optimizers.MSVAG(weight_decay_rate=0.1)}


def model_and_optimizer(name, dtype):
    """Makes parameters, of which one has a rate of its own."""
    random = np.random.RandomState(0)
    model = chainer.Link()
    with model.init_scope():
        for i, shape in enumerate(((3, 4), (4,), (2, 3, 2))):
            setattr(model, 'p%d' % i, chainer.Parameter(random.uniform(-1, 1, shape).astype(dtype)))
    optimizer = OPTIMIZERS[name]().setup(model)
    rate = next(rate for rate in ('lr', 'alpha', 'rho') if rate in vars(optimizer.hyperparam))
    setattr(model.p1.update_rule.hyperparam, rate, getattr(optimizer.hyperparam, rate) * 0.9)
    return [model.p0, model.p1, model.p2], optimizer


def gradient(i, step, param):
    return np.random.RandomState(10 * step + i).normal(size=param.shape).astype(param.dtype) * (step % 4 > 0)


@pytest.mark.parametrize('by', ['the library, all at once', 'the library, one by one', 'Python'])
@pytest.mark.parametrize('dtype', ['f', 'd'])
@pytest.mark.parametrize('name', OPTIMIZERS)
def test_updates_are_chainers(name, dtype, by, monkeypatch):
    params, optimizer = model_and_optimizer(name, dtype)
    rule = type(params[0].update_rule)
    if by == 'Python':
        monkeypatch.setattr(_updates, 'RULES', {})
    else:
        monkeypatch.setattr(rule, 'step', None)  # nobody calls it
    for step in range(10):
        for i, param in enumerate(params):
            param.grad = gradient(i, step, param)
        arrays = [param.array for param in params]
        if by == 'the library, one by one':
            for param in params:
                param.update()
        else:
            optimizer.update()
        assert all(param.array is array and param.update_rule.t == step + 1 for param, array in zip(params, arrays))
    rtol = 5e-5 if dtype == 'f' else 1e-11
    for param, (values, state) in zip(params, recorded('updates', name, dtype)):
        np.testing.assert_allclose(param.array, values, rtol=rtol, atol=2e-6 if dtype == 'f' else 1e-13)
        assert param.update_rule.state.keys() == state.keys()
        for key, value in state.items():
            assert isinstance(param.update_rule.state[key], np.ndarray)
            np.testing.assert_allclose(param.update_rule.state[key], value, rtol=rtol, atol=1e-6 if dtype == 'f' else 1e-13)


def test_msvag_with_another_beta_follows_its_initial_one():
    """Chainer's rule keeps a power of its initial beta."""
    link = chainer.Link()
    with link.init_scope():
        link.p, link.q = chainer.Parameter(np.ones(3, 'f')), chainer.Parameter(np.ones(3, 'f'))
    optimizer = chainer.optimizers.MSVAG().setup(link)
    by_steps = link.q.update_rule
    by_steps.update_core = lambda param: by_steps.step(np, param.array, param.grad)
    for param in link.params():
        param.update_rule.hyperparam.beta = 0.5
    for i in range(3):
        link.p.grad = link.q.grad = np.arange(3, dtype='f') + i
        optimizer.update()
    np.testing.assert_array_equal(link.p.array, link.q.array)
    assert link.p.update_rule.beta_power == by_steps.beta_power


def test_hooks_and_special_rules_beside_updates_at_once():
    x = np.ones((2, 2), 'f')

    def trained(at_once):
        model = chainer.Link()
        with model.init_scope():
            for name in 'abcd':
                setattr(model, name, chainer.Parameter(x * 2))
        optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.5))
        optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(1.0))
        seen = []
        optimizer.add_hook(lambda optimizer: seen.append(float(model.a.array[0, 0])), 'after', timing='post')
        model.b.update_rule.add_hook(lambda rule, param: seen.append(rule.t), 'of b')
        model.c.update_rule.enabled = False
        if not at_once:
            for name in 'abd':
                rule = getattr(model, name).update_rule
                rule.update_core = lambda param, rule=rule: rule.step(np, param.array, param.grad)

        class Mine(chainer.UpdateRule):
            def update_core(self, param):
                param.array -= 1

        model.d.update_rule = Mine()
        for p in model.params():
            p.grad = x * 3
        for _ in range(2):
            optimizer.update()
        return [p.array.copy() for p in model.params()], seen

    (values, seen), (expected, expected_seen) = trained(True), trained(False)
    np.testing.assert_allclose(values, expected, rtol=1e-6)
    np.testing.assert_allclose(seen, expected_seen, rtol=1e-6)
    assert (values[2] == 2).all() and (values[3] == 0).all()


def test_snapshots_of_updates():
    import io
    model, other = L.Linear(3, 2), L.Linear(3, 2)
    optimizer, another = chainer.optimizers.Adam().setup(model), chainer.optimizers.Adam().setup(other)
    for p in model.params():
        p.grad = np.ones_like(p.array)
    optimizer.update()
    file = io.BytesIO()
    chainer.serializers.save_npz(file, optimizer)
    file.seek(0)
    chainer.serializers.load_npz(file, another)
    assert another.t == 1 and other.W.update_rule.t == 1
    np.testing.assert_array_equal(other.W.update_rule.state['m'], model.W.update_rule.state['m'])
    other.copyparams(model)
    for p in other.params():
        p.grad = np.ones_like(p.array)
    optimizer.update()
    another.update()
    np.testing.assert_array_equal(other.W.array, model.W.array)


def test_read_only_parameters_are_not_written():
    data = np.zeros((2, 3), 'f')
    data.flags.writeable = False
    p = chainer.Parameter(data)
    p.update_rule = chainer.optimizers.adam.AdamRule(alpha=0.1)
    p.grad = np.ones_like(data)
    with pytest.raises(ValueError, match='read-only'):
        p.update()
    link = chainer.Link()
    with link.init_scope():
        link.p = p
    with pytest.raises(ValueError, match='read-only'):
        chainer.optimizers.Adam().setup(link).update()
    assert not data.any()


def test_half_precision_and_loss_scaling():
    with chainer.using_config('dtype', chainer.mixed16):
        model = L.Linear(4, 2)
    o = chainer.optimizers.SGD(0.1)
    o.setup(model)
    o.use_fp32_update()
    o.loss_scaling()
    x, t = x_data.astype('e'), np.array([0, 1, 1], 'i')
    before = model.W.array.copy()
    o.update(lambda: F.softmax_cross_entropy(model(x), t))
    assert model.W.dtype == 'e' and not np.array_equal(before, model.W.array)
