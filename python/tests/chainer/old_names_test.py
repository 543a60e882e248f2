"""Names and arguments of Chainer 1 to 6: every row of the table in docs/guide/from-chainer.md, and the optimizers and flags behind them."""

import json
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402

PAGE = pathlib.Path(__file__).parents[3] / 'docs/guide/from-chainer.md'

COMPARE = '''
import ast, json, sys, tempfile
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
from chainer import cuda, optimizers, training
from chainer.training import extensions

def names():
    rng = np.random.RandomState(0)
    np.random.seed(1)
    x, t = rng.randn(4, 3).astype(np.float32), np.array([0, 1, 1, 0], np.int32)
    image, W = rng.randn(2, 3, 5, 7).astype(np.float32), rng.randn(2, 3, 3, 3).astype(np.float32)
    model, other = (chainer.FunctionSet(l1=F.Linear(3, 5), l2=F.Linear(5, 2)) for _ in range(2))
    optimizer = optimizers.MomentumSGD(0.1)
    optimizer.setup(model)
    for m in (model, other):
        m.zerograds()
        F.softmax_cross_entropy(m.l2(F.relu(m.l1(x))), t).backward()
    extension = training.make_extension(trigger=(3, 'epoch'))(lambda trainer: trainer.called.append(trainer.updater.iteration))
    iterator = chainer.iterators.SerialIterator([(a, b) for a, b in zip(x, t)], 2)
    updater = training.StandardUpdater(iterator, optimizer, loss_func=lambda x, t: F.softmax_cross_entropy(model.l2(model.l1(x)), t))
    trainer = training.Trainer(updater, (2, 'iteration'), out=names.folder.name)
    trainer.called = []
    return dict(globals(), **locals(), p=model.l1.W)

names.folder = tempfile.TemporaryDirectory()

def value(code):
    found, tree = names(), ast.parse(code)
    owner = tree
    while isinstance(owner.body[-1], ast.With):
        owner = owner.body[-1]
    owner.body[-1] = ast.copy_location(ast.Assign([ast.Name('found', ast.Store())], owner.body[-1].value), owner.body[-1])
    exec(compile(ast.fix_missing_locations(tree), code, 'exec'), found)
    return plain(found['found'])

def plain(x):
    if isinstance(x, chainer.Link):
        return [[path, plain(p.array)] for path, p in sorted(x.namedparams())]
    if isinstance(x, chainer.Variable):
        return [plain(x.array), str(x.creator is None) if type(x) is chainer.Variable else '']
    if isinstance(x, (tuple, list)):
        return [type(x).__name__ == 'tuple' or 'Arrays' in type(x).__name__] + [plain(y) for y in x]
    if hasattr(x, 'dtype'):
        x = cuda.to_cpu(x)
        return [str(x.dtype), *x.shape, *x.ravel().tolist()]
    return x

found = [[value(code) for code in pair] for pair in json.loads(sys.stdin.read())]
print(json.dumps(found))
'''


def rows():
    """Returns the rows of the table: the codes of both columns, and the remarks."""
    table = PAGE.read_text().partition('## Scripts of Chainer 1 to 6')[2]
    return [(*re.findall('`(.*)`', row[1])[:1], *re.findall('`(.*)`', row[2])[:1], row[3])
            for row in (line.split('|') for line in table.splitlines() if line.startswith('| `'))]


def equal(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == pytest.approx(b, rel=1e-5, abs=1e-6) if isinstance(a, float) else a == b


def values(asks, **environment):
    pairs = [row[:2] for row in rows() if ('CATENARY_CHAINER_API=1' in row[2]) == asks]
    code = COMPARE.replace('sys.stdin.read()', repr(json.dumps(pairs)))
    return pairs, json.loads(run(code, **environment))


@pytest.mark.parametrize('asks', [False, True], ids=['cpu-7', 'cpu-1'])
def test_rows_of_the_guide_mean_the_same(asks):
    pairs, found = values(asks, **({'CATENARY_CHAINER_API': '1'} if asks else {}))
    assert len(pairs) == (2 if asks else 32)
    different = [pair for pair, (old, new) in zip(pairs, found) if not equal(old, new)]
    assert not different


def test_meanings_of_chainer_7_without_the_variable():
    assert run('''
        import numpy as np, chainer, chainer.functions as F
        x = chainer.Variable(np.ones((4, 3), np.float32))
        print(len(x), type(F.split_axis(x, 1, 0)).__name__)
    ''').split() == ['4', 'tuple']
    with pytest.raises(AssertionError, match='CATENARY_CHAINER_API must be 1 or 7'):
        run('import chainer', CATENARY_CHAINER_API='2')


@pytest.mark.parametrize('api, name', [('1', 'Variable'), ('7', 'ndarray')])
def test_models_get_variables_from_updaters_of_chainer_1(api, name):
    assert run('''
        import numpy as np, chainer, chainer.links as L
        from chainer import training
        from chainer.training import extensions
        class Model(chainer.Chain):
            def __init__(self):
                super().__init__(l=L.Linear(3, 1))
            def __call__(self, x, t=None):
                print(type(x).__name__, type(x if t is None else t).__name__)
                return chainer.functions.sum(self.l(x))
        model = Model()
        optimizer = chainer.optimizers.SGD()
        optimizer.setup(model)
        x = np.ones((2, 3), np.float32)
        for data in ([(x[0], 1), (x[1], 0)], x, [{'x': x[0]}, {'x': x[1]}]):
            iterator = chainer.iterators.SerialIterator(data, 2, repeat=True)
            training.StandardUpdater(iterator, optimizer).update()
            extensions.Evaluator(chainer.iterators.SerialIterator(data, 2, repeat=False), model)()
    ''', CATENARY_CHAINER_API=api).split() == [name] * 12


def test_twelve_links_are_in_functions():
    run('''
        import numpy as np, chainer, chainer.functions as F, chainer.links as L
        from chainer._old_arguments import PARAMETRIC
        assert len(PARAMETRIC) == 12
        for name in PARAMETRIC:
            assert issubclass(getattr(F, name), getattr(L, name)), name
        model = chainer.FunctionSet(
            c=F.Convolution2D(3, 4, 3, 1, 1, 1, 0.5, False, True), d=F.Deconvolution2D(4, 2, 3), n=F.BatchNormalization(2), p=F.PReLU(),
            e=F.EmbedID(5, 3), b=F.Bilinear(3, 3, 2), i=F.Inception(3, 4, 2, 3, 2, 3, 2), s=F.NegativeSampling(3, [4, 1, 2], 2),
            h=F.BinaryHierarchicalSoftmax(3, ((0, 1), 2)), q=F.Parameter(np.zeros((2, 2), np.float32)))
        image = np.random.randn(2, 3, 7, 5).astype(np.float32)
        y = model.p(model.n(model.d(model.c(image)), test=False))
        assert y.shape == (2, 2, 9, 7) and (model.c.b.array == 0.5).all()
        words = model.e(np.array([1, 4], np.int32))
        assert model.b(words, words).shape == (2, 2) and model.i(image).shape == (2, 12, 7, 5)
        t = np.array([0, 2], np.int32)
        for loss in (model.s(words, t), model.h(words, t)):
            loss.backward()
        for bad in (lambda: F.Linear(3, 2, 1, 0, False, None, None, 8), lambda: F.Linear(3, 2, in_size=3)):
            try:
                bad()
            except TypeError:
                continue
            raise AssertionError
    ''')


def test_graphs_of_chainer_1_4_have_no_split_functions():
    run('''
        import numpy as np, chainer, chainer.functions as F
        from chainer import computational_graph as c
        x = chainer.Variable(np.ones(3, 'f'))
        y = F.exp(x) * x
        whole, without = c.build_computational_graph((y,), False), c.build_computational_graph((y,), remove_split=True)
        assert len(whole.nodes) == len(without.nodes) == 5 and len(whole.edges) == len(without.edges)
    ''')


def test_arrays_of_a_plain_pair_are_updated_in_place():
    run('''
        import numpy as np
        from chainer import optimizers
        w, g = np.ones(5, np.float32), np.zeros(5, np.float32)
        optimizer = optimizers.SGD(0.5)
        optimizer.setup(((w,), (g,)))
        optimizer.zero_grads()
        g += 3
        optimizer.update()
        assert (w == -0.5).all(), w
        for bad in (((w,), ()), (w, g), ((w,), (1,)), 3):
            try:
                optimizers.SGD().setup(bad)
            except TypeError:
                continue
            raise AssertionError(bad)
    ''')


def test_optimizers_define_their_formula_as_methods():
    run('''
        import numpy as np
        import chainer, chainer.functions as F, chainer.links as L
        from chainer import optimizer as o, optimizers

        class OfArrays(o.Optimizer):  # Chainer 1.4
            def init_state_cpu(self, param, grad):
                return np.zeros_like(param)
            def update_one_cpu(self, param, grad, state):
                state *= 0.9
                state -= 0.1 * grad
                param += state

        class OfStates(o.GradientMethod):  # Chainer 1.5 to 1.24
            def init_state(self, param, state):
                state['v'] = np.zeros_like(param.data)
            def update_one_cpu(self, param, state):
                state['v'] *= 0.9
                state['v'] -= 0.1 * param.grad
                param.data += state['v']

        class Twice(optimizers.MomentumSGD):
            def update_one_cpu(self, param, state):
                super().update_one_cpu(param, state)

        x, t = np.random.RandomState(0).randn(7, 3).astype(np.float32), np.arange(7, dtype=np.int32) % 2
        def trained(optimizer):
            np.random.seed(2)
            model = chainer.FunctionSet(l=L.Linear(3, 2))
            optimizer.setup(model)
            for _ in range(5):
                optimizer.zero_grads()
                F.softmax_cross_entropy(model.l(x), t).backward()
                optimizer.update()
            return model.parameters
        expected = trained(optimizers.MomentumSGD(0.1))
        for optimizer in (OfArrays(), OfStates(), Twice(0.1)):
            for a, b in zip(trained(optimizer), expected):
                np.testing.assert_allclose(a, b, rtol=1e-5)
            assert optimizer.t == 5
        class Empty(o.Optimizer):
            pass
        try:
            trained(Empty())
        except NotImplementedError:
            pass
        else:
            raise AssertionError
    ''')


def test_volatile_variables_keep_no_graph():
    run('''
        import copy, pickle
        import numpy as np
        import chainer, chainer.functions as F, chainer.links as L
        from chainer import flag
        x = np.random.randn(5, 3).astype(np.float32)
        link = L.Linear(3, 2)
        off, on = chainer.Variable(x, False), chainer.Variable(x, volatile=True)
        assert off.volatile == 'off' and on.volatile is chainer.ON and link.W.volatile is chainer.AUTO
        for f in (link, lambda v: F.linear(v, link.W), lambda v: F.sum(link(v) * 2 + 1), lambda v: F.concat([v, link.W], 0), lambda v: (link(v) ** 2)[1:],
                  lambda v: F.split_axis(link(v), 2, 1)[1]):
            a, b = f(off), f(on)
            assert a.creator is not None and a.volatile == 'off' and b.creator is None and b.volatile == 'on'
            np.testing.assert_array_equal(a.array, b.array)
        off.volatile = 'on'
        assert link(off).creator is None
        off.volatile = 'off'
        assert link(off).creator is not None
        assert bool(flag.ON) and not flag.OFF and flag.aggregate_flags([flag.AUTO, 'on']) is flag.ON and flag.aggregate_flags([]) is flag.AUTO
        assert pickle.loads(pickle.dumps(flag.OFF)) is flag.OFF and copy.deepcopy(flag.ON) is flag.ON and repr(flag.AUTO) == 'AUTO'
        for bad, error in ((lambda: flag.aggregate_flags(['on', 'off']), ValueError), (lambda: chainer.Variable(x, volatile='no'), ValueError),
                           (lambda: chainer.Variable(x, 'on', 'off'), ValueError)):
            try:
                bad()
            except error:
                continue
            raise AssertionError
    ''')


def test_settings_of_links_hold_in_their_calls():
    run('''
        import numpy as np
        import chainer, chainer.functions as F, chainer.links as L
        x = np.random.randn(5, 3).astype(np.float32)
        rnn = L.NStepLSTM(2, 3, 4, 0.5, use_cudnn=False)
        a, b = (rnn(None, None, [x, x[:2]], train=False)[2][0].array for _ in range(2))
        np.testing.assert_array_equal(a, b)
        lstm = L.StatefulZoneoutLSTM(3, 4, train=False)
        a = lstm(x).array
        lstm.reset_state()
        np.testing.assert_array_equal(lstm(x).array, a)
        seen = []
        convolve = F.convolution_2d
        def spy(*args, **kwargs):
            seen.append((chainer.config.use_cudnn, chainer.config.cudnn_deterministic))
            return convolve(*args, **kwargs)
        F.convolution_2d = spy
        image = np.zeros((1, 3, 5, 5), np.float32)
        L.Convolution2D(3, 2, 3, use_cudnn=False, deterministic=True)(image)
        L.Convolution2D(3, 2, 3)(image)
        assert seen == [('never', True), ('auto', False)], seen
        for bad in (lambda: F.relu(x, unknown=1), lambda: L.Linear(3, 2, unknown=1), lambda: L.BatchNormalization(3)(x, unknown=1),
                    lambda: F.dropout(x, 0.5, True, False)):
            try:
                bad()
            except TypeError:
                continue
            raise AssertionError
    ''')


def test_names_of_pycuda_are_refused_with_a_replacement():
    run('''
        from chainer import cuda
        from chainer.backends import _old_cuda
        for name in [*_old_cuda.REFUSED, 'nothing']:
            try:
                getattr(cuda, name)
            except AttributeError as error:
                assert name in str(error) and (name == 'nothing' or 'use c' in str(error)), error
                continue
            raise AssertionError(name)
    ''')


def test_runtime_info_names_the_versions_and_devices():
    out = run('''
        import chainer
        chainer.print_runtime_info()
    ''')
    assert '7.8.1' in out and 'NumPy' in out and 'cpu:' in out


def test_cuda_device_is_that_of_cupy_and_the_default_of_to_gpu():
    run('''
        import cupy
        import chainer, chainer.links as L
        from chainer import cuda
        assert cuda.Device is cupy.cuda.Device and chainer.get_device(cuda.Device(0)) == chainer.get_device('@cupy:0')
        link = L.Linear(3, 2)
        link.to_gpu()
        assert isinstance(link.W.array, cupy.ndarray)
    ''', CATENARY_GPU_INCLUDE_CPU='1')


def test_function_sets_of_several_devices_exchange_arrays():
    run('''
        import cupy
        import numpy as np
        import chainer, chainer.functions as F
        from chainer import optimizers
        x, t = np.random.RandomState(0).randn(7, 3).astype(np.float32), np.arange(7, dtype=np.int32) % 2
        models = [chainer.FunctionSet(l=F.Linear(3, 2)) for _ in range(2)]
        models[1].to_gpu(0)
        models[1].copy_parameters_from(models[0].parameters)
        optimizer = optimizers.SGD(0.5)
        optimizer.setup(models[0])
        for model, xp in zip(models, (np, cupy)):
            model.zerograds()
            F.softmax_cross_entropy(model.l(xp.asarray(x)), xp.asarray(t)).backward()
        before = [g.copy() for g in models[0].gradients]
        optimizer.accumulate_grads(models[1].gradients)
        for a, b in zip(models[0].gradients, before):
            np.testing.assert_allclose(a, 2 * b, rtol=1e-4, atol=1e-6)
        norm = optimizer.compute_grads_norm()
        other = optimizers.SGD(0.5)
        other.setup((models[1].parameters, models[1].gradients))
        other.clip_grads(norm / 4)
        assert abs(other.compute_grads_norm() - norm / 4) < 1e-4 * norm
        other.update()
        models[0].copy_parameters_from(models[1].parameters)
        for a, b in zip(models[0].parameters, models[1].parameters):
            np.testing.assert_array_equal(a, b.get())
        w, g = cupy.ones(5, 'f'), cupy.full(5, 3, 'f')
        plain = optimizers.SGD(0.5)
        plain.setup(((w,), (g,)))
        plain.update()
        assert (w == -0.5).all()
    ''', CATENARY_GPU_INCLUDE_CPU='1')


def test_a_session_of_chainer_1_4():
    run('''
        import pickle
        import numpy as np
        from chainer import cuda, Function, FunctionSet, gradient_check, Variable, optimizers, serializers, utils
        import chainer.functions as F

        f = F.Linear(3, 2)
        x = Variable(np.array([[1, 2, 3], [4, 5, 6]], np.float32))
        y = f(x)
        np.testing.assert_allclose(y.data, x.data.dot(f.W.data.T) + f.b.data, rtol=1e-5)
        f.gW.fill(0)
        f.gb.fill(0)
        y.grad = np.ones((2, 2), np.float32)
        y.backward()
        assert f.gW.tolist() == [[5, 7, 9], [5, 7, 9]] and f.gb.tolist() == [2, 2]
        assert [a.shape for a in f.parameters] == [(2, 3), (2,)] and f.gradients[1] is f.gb or f.gradients[1].tolist() == [2, 2]
        assert not hasattr(f, 'gX') and not hasattr(f, 'parameter')

        class Pair(FunctionSet):
            def __init__(self):
                super(Pair, self).__init__(a=F.Linear(3, 4))
                self.b = F.EmbedID(5, 4)
            def forward(self, x, i):
                return F.sum(self.a(x) * self.b(i))
        model = Pair()
        optimizer = optimizers.SGD(lr=0.1)
        optimizer.setup(model.collect_parameters())
        before = [a.copy() for a in model.parameters]
        optimizer.zero_grads()
        model.forward(x, Variable(np.array([1, 3], np.int32))).backward()
        optimizer.update()
        assert all((a != b).any() for a, b in zip(before, model.parameters))
        model.a = F.Linear(3, 4)
        again = pickle.loads(pickle.dumps(model))
        assert [a.tolist() for a in again.parameters] == [a.tolist() for a in model.parameters] and type(again.a) is F.Linear
        assert model['b'] is model.b and sorted(path for path, _ in model.namedparams()) == ['/a/W', '/a/b', '/b/W']
    ''')


def test_links_of_images_take_test_and_volatile():
    run('''
        import collections
        import numpy as np
        import chainer, chainer.links as L
        from chainer import _old_arguments
        from chainer.links.model.vision._base import ImageModel

        class Small(ImageModel):
            _last = _default_features = 'bn'
            def __init__(self):
                chainer.Chain.__init__(self)
                with self.init_scope():
                    self.bn = L.BatchNormalization(3)
                self.seen = []
            @property
            def functions(self):
                def look(x):
                    self.seen.append((chainer.config.train, chainer.config.enable_backprop))
                    return x
                return collections.OrderedDict([('bn', [self.bn, look])])
            def _batch(self, images, size):
                return chainer.Variable(np.stack(images))
        _old_arguments.accept('VGG16Layers', Small)
        model, images = Small(), [np.random.randn(3, 4, 4).astype(np.float32) for _ in range(2)]
        model.extract(images)
        model.extract(images, test=True, volatile='on')
        model.extract(images, test=False, volatile='off')
        model(np.stack(images), test=True)
        model(np.stack(images))
        assert model.seen == [(False, False), (False, False), (True, True), (False, True), (True, True)], model.seen
    ''')


def test_recurrent_training_of_chainer_1_4():
    run('''
        import numpy as np
        import chainer, chainer.functions as F
        from chainer import optimizers
        np.random.seed(0)
        model = chainer.FunctionSet(embed=F.EmbedID(11, 16), x=F.Linear(16, 64), h=F.Linear(16, 64), y=F.Linear(16, 11))
        for param in model.parameters:
            param[:] = np.random.uniform(-0.1, 0.1, param.shape)
        optimizer = optimizers.SGD(lr=1.0)
        optimizer.setup(model)

        def words(i):
            return ((np.arange(5) * 2 + i) % 11).astype(np.int32)
        def start(train):
            return [chainer.Variable(np.zeros((5, 16), np.float32), volatile=not train) for _ in range(2)]
        def step(i, state, train):
            x, t = (chainer.Variable(words(j), volatile=not train) for j in (i, i + 1))
            c, h = F.lstm(state[0], model.x(F.dropout(model.embed(x), train=train)) + model.h(state[1]))
            return [c, h], F.softmax_cross_entropy(model.y(F.dropout(h, train=train)), t)
        def evaluated():
            state, total = start(False), 0
            for i in range(20):
                state, loss = step(i, state, False)
                assert loss.volatile and loss.creator is None and state[0].creator is None
                total += float(loss.data)
            return total / 20

        before = evaluated()
        state, total = start(True), chainer.Variable(np.zeros((), np.float32))
        for i in range(250):
            state, loss = step(i, state, True)
            total += loss
            if i % 5 == 4:
                optimizer.zero_grads()
                total.backward()
                total.unchain_backward()
                total = chainer.Variable(np.zeros((), np.float32))
                optimizer.clip_grads(5)
                assert optimizer.compute_grads_norm() < 5.001
                optimizer.weight_decay(1e-5)
                optimizer.update()
        assert evaluated() < 0.25 * before
    ''')


def test_old_names_of_the_rate_of_adam_and_of_caffe_functions():
    run('''
        import warnings
        import numpy as np
        import chainer, chainer.functions as F, chainer.links as L
        from chainer.functions import caffe

        assert caffe.CaffeFunction is L.caffe.CaffeFunction
        model = L.Linear(2, 2)
        optimizer = chainer.optimizers.Adam().setup(model)
        optimizer.update(lambda: F.sum(model(np.ones((1, 2), 'f'))))
        for adam in (optimizer, model.W.update_rule):
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter('always')
                assert adam.lr == adam.alpha_t
            assert [type(w.message) for w in heard] == [DeprecationWarning] and 'alpha_t' in str(heard[0].message)
    ''')
