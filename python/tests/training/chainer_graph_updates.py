"""Cases of chainer_graph_test.py with CATENARY_CHAINER=1: optimizers and their updates."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer_graph_shared import x_data


@pytest.mark.parametrize('optimizer', ['SGD', 'MomentumSGD', 'Adam', 'AdamW', 'AMSGrad', 'RMSprop'])
def test_training_as_by_the_originals_code(optimizer):
    """Compares training steps with hooks, which make Chainer's own functions run, and without."""
    t = np.array([0, 1, 1], 'i')

    def train(hooked):
        np.random.seed(0)
        model = L.Classifier(chainer.Sequential(L.Linear(4, 5), F.relu, L.Linear(5, 2)))
        o = getattr(chainer.optimizers, optimizer)()
        o.setup(model)
        losses = []
        for _ in range(5):
            if hooked:
                with chainer.function_hooks.TimerHook():
                    o.update(model, x_data, t)
            else:
                o.update(model, x_data, t)
            losses.append(float(model.loss.array))
        return losses, [p.array.copy() for p in model.params()]

    (losses, parameters), (expected, others) = train(False), train(True)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for a, b in zip(parameters, others):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert losses[-1] < losses[0]


def own_rule(rule, name='update_core_cpu'):
    """Returns the rule as Chainer's own code computes it."""
    return getattr(type(rule), name).__wrapped__


@pytest.mark.parametrize('make', [
    chainer.optimizers.SGD, chainer.optimizers.MomentumSGD, chainer.optimizers.CorrectedMomentumSGD, chainer.optimizers.NesterovAG,
    chainer.optimizers.AdaGrad, chainer.optimizers.AdaDelta, chainer.optimizers.RMSprop, lambda: chainer.optimizers.RMSprop(eps_inside_sqrt=True),
    chainer.optimizers.RMSpropGraves, chainer.optimizers.SMORMS3, chainer.optimizers.MSVAG, lambda: chainer.optimizers.MSVAG(weight_decay_rate=0.1),
    chainer.optimizers.Adam, chainer.optimizers.AdamW, chainer.optimizers.AMSGrad, chainer.optimizers.AdaBound, chainer.optimizers.AMSBound])
@pytest.mark.parametrize('dtype', ['f', 'd'])
def test_updates_are_chainers(make, dtype, monkeypatch):
    """Compares the single update of all parameters with Chainer's update of each."""
    random = np.random.RandomState(0)
    first = [random.uniform(-1, 1, shape).astype(dtype) for shape in ((3, 4), (4,), (2, 3, 2))]

    def model_and_optimizer():
        model = chainer.Link()
        with model.init_scope():
            for i, values in enumerate(first):
                setattr(model, 'p%d' % i, chainer.Parameter(values.copy()))
        optimizer = make().setup(model)
        name = next(name for name in ('lr', 'alpha', 'rho') if name in vars(optimizer.hyperparam))
        setattr(model.p1.update_rule.hyperparam, name, getattr(optimizer.hyperparam, name) * 0.9)
        return list(model.params()), optimizer

    (ours, optimizer), (theirs, _) = model_and_optimizer(), model_and_optimizer()
    for step in range(10):
        for p, q in zip(ours, theirs):
            p.grad = random.normal(size=p.shape).astype(dtype) if step % 4 else np.zeros_like(p.array)
            q.grad = p.grad.copy()
            rule = q.update_rule
            if rule.state is None:
                rule._init_states(q)
            rule.t += 1
            own_rule(rule)(rule, q)
        arrays = [p.array for p in ours]
        with monkeypatch.context() as patch:
            patch.setattr(type(rule), 'update_core_cpu', None)  # nobody calls it
            optimizer.update()
        for p, q, array in zip(ours, theirs, arrays):
            assert p.array is array and p.update_rule.t == step + 1
            np.testing.assert_allclose(p.array, q.array, rtol=2e-5 if dtype == 'f' else 1e-11, atol=1e-6 if dtype == 'f' else 1e-13)
            assert p.update_rule.state.keys() == q.update_rule.state.keys()
            for name, value in q.update_rule.state.items():
                assert isinstance(p.update_rule.state[name], np.ndarray)
                np.testing.assert_allclose(p.update_rule.state[name], value, rtol=2e-5 if dtype == 'f' else 1e-11, atol=1e-6)


def test_msvag_with_another_beta_is_chainers_own():
    """Chainer's rule keeps a power of its initial beta."""
    p, q = chainer.Parameter(np.ones(3, 'f')), chainer.Parameter(np.ones(3, 'f'))
    link = chainer.Link()
    with link.init_scope():
        link.p = p
    optimizer = chainer.optimizers.MSVAG().setup(link)
    rule = q.update_rule = optimizer.create_update_rule()
    for r in (p.update_rule, rule):
        r.hyperparam.beta = 0.5
    for i in range(3):
        p.grad = q.grad = np.arange(3, dtype='f') + i
        optimizer.update()
        if rule.state is None:
            rule._init_states(q)
        rule.t += 1
        own_rule(rule)(rule, q)
    np.testing.assert_array_equal(p.array, q.array)
    assert p.update_rule.beta_power == rule.beta_power


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
                rule.update_core = lambda param, rule=rule: own_rule(rule)(rule, param)

        class Mine(chainer.UpdateRule):
            def update_core(self, param):
                param.array -= 1

        model.d.update_rule = Mine()
        for p in model.params():
            p.grad = x * 3
        for _ in range(2):
            optimizer.update()
        return [p.array.copy() for p in model.params()], seen

    (values, seen), (expected, seen_by_chainer) = trained(True), trained(False)
    np.testing.assert_allclose(values, expected, rtol=1e-6)
    np.testing.assert_allclose(seen, seen_by_chainer, rtol=1e-6)
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
