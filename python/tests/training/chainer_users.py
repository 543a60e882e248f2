"""chainer_users.py WHERE FILE: code that users write around Chainer, on `numpy` or on `gpu` (ordinal 0). Writes values and printed text of each case
to FILE.

chainer_users_test.py runs it, and compares with the results of Chainer 7.8.1.
"""
import io
import os
import pickle
import sys
import tempfile

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import cuda, training
from chainer.training import extensions
from chainer.utils import type_check

WHERE = sys.argv[1] if __name__ == '__main__' else 'numpy'
DEVICE = chainer.get_device('@cupy:0' if WHERE == 'gpu' else '@numpy')


def some(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype('f')


def sent(*arrays):
    return [DEVICE.send(a) for a in arrays]


def values(*arrays):
    return [None if a is None else chainer.get_device('@numpy').send(getattr(a, 'array', a)) for a in arrays]


class Steps(chainer.Function):
    """An old-style function (2016) with a kernel in CUDA C."""

    def __init__(self, slope):
        self.slope = slope

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 1)
        x_type, = in_types
        type_check.expect(x_type.dtype == np.float32)

    def forward_cpu(self, x):
        return np.where(x[0] >= 0, x[0], self.slope * x[0]).astype('f'),

    def forward_gpu(self, x):
        y = cuda.elementwise('T x, T slope', 'T y', 'y = x >= 0 ? x : slope * x', 'steps_fwd')(x[0], self.slope)
        return y,

    def backward_cpu(self, x, gy):
        return np.where(x[0] >= 0, gy[0], self.slope * gy[0]).astype('f'),

    def backward_gpu(self, x, gy):
        return cuda.elementwise('T x, T gy, T slope', 'T gx', 'gx = x >= 0 ? gy : slope * gy', 'steps_bwd')(x[0], gy[0], self.slope),


SCALE = r'''
extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
'''


class Scale(chainer.Function):
    """A function with a raw kernel that uses groups and threads."""

    def __init__(self, factor):
        self.factor = factor

    def _run(self, x):
        import cupy
        x = cupy.ascontiguousarray(x)  # a gradient may be a broadcast view
        y = cupy.empty_like(x)
        cupy.RawKernel(SCALE, 'scale')(((x.size + 31) // 32,), (32,), (x, y, np.float32(self.factor), np.int32(x.size)))
        return y

    def forward_cpu(self, x):
        return self.factor * x[0],

    def forward_gpu(self, x):
        return self._run(x[0]),

    def backward_cpu(self, x, gy):
        return self.factor * gy[0],

    def backward_gpu(self, x, gy):
        return self._run(gy[0]),


def a_function_of_2016():
    x, = sent(some(3, 5))
    x = chainer.Variable(x)
    h = Steps(0.25)(F.tanh(x) * 2)
    y = F.sum(h * h) + F.sum(Scale(3.0)(h))
    y.backward()
    try:
        Steps(0.25)(np.arange(3))
        refused = ''
    except type_check.InvalidType as error:
        refused = str(error)
    return values(h, y, x.grad), refused


class Cube(chainer.FunctionNode):
    """A twice differentiable function: its gradient is a function node as well."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return inputs[0] ** 3,

    def backward(self, indexes, grad_outputs):
        x, = self.get_retained_inputs()
        return CubeGrad().apply((x, grad_outputs[0]))


class CubeGrad(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        x, gy = inputs
        return 3 * x * x * gy,

    def backward(self, indexes, grad_outputs):
        x, gy = self.get_retained_inputs()
        ggx, = grad_outputs
        return 6 * x * gy * ggx, 3 * x * x * ggx


def second_derivatives():
    x = chainer.Variable(sent(some(4, 3) + 2)[0])
    y, = Cube().apply((F.exp(x * 0.1),))
    gx, = chainer.grad([F.sum(y)], [x], enable_double_backprop=True)
    penalty = F.sum((gx - 1) ** 2)
    penalty.backward()
    first = x.grad.copy()
    x.cleargrad()
    y.grad = DEVICE.xp.ones_like(y.array)
    y.backward(enable_double_backprop=True)
    g = x.grad_var
    x.cleargrad()
    F.sum(g * g).backward()
    third, = chainer.grad([chainer.grad([g], [x], enable_double_backprop=True)[0]], [x])
    return values(y, gx, penalty, first, x.grad, third)


class Moving(chainer.Link):
    """A link with a moving mean and a count."""

    def __init__(self, size):
        super().__init__()
        with self.init_scope():
            self.scale = chainer.Parameter(np.full((size,), 1.5, 'f'))
        self.add_persistent('mean', np.zeros((size,), 'f'))
        self.seen = 0
        self.register_persistent('seen')

    def forward(self, x):
        if chainer.config.train:
            self.mean = 0.9 * self.mean + 0.1 * x.array.mean(axis=0)
            self.seen += len(x)
        return (x - self.mean) * F.broadcast_to(self.scale, x.shape)


def link_with_persistents():
    link = Moving(3)
    link.to_device(DEVICE)
    optimizer = chainer.optimizers.SGD(0.1).setup(link)
    for i in range(3):
        optimizer.update(lambda: F.sum(link(chainer.Variable(sent(some(4, 3, seed=i))[0])) ** 2))
    file = io.BytesIO()
    chainer.serializers.save_npz(file, link)
    file.seek(0)
    other = Moving(3)
    chainer.serializers.load_npz(file, other)
    other.to_device(DEVICE)
    with chainer.using_config('train', False):
        y = other(chainer.Variable(sent(some(2, 3, seed=9))[0]))
    copied = link.copy()
    copied.mean += 1
    assert type(other.mean) is DEVICE.xp.ndarray
    return values(y, link.mean, other.mean, link.scale, copied.mean), other.seen, sorted(name for name, _ in link.namedparams())


class Pair(chainer.Chain):
    def __init__(self):
        super().__init__()
        random = np.random.RandomState(3)
        with self.init_scope():
            self.a = L.Linear(3, 4, initialW=random.uniform(-1, 1, (4, 3)))
            self.b = L.Linear(4, 2, initialW=random.uniform(-1, 1, (2, 4)))

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


def pair():
    model = L.Classifier(Pair())
    model.to_device(DEVICE)
    return model


def data(n=12):
    return chainer.datasets.TupleDataset(some(n, 3, seed=5), (np.arange(n) % 2).astype('i'))


class TwoSteps(training.updaters.StandardUpdater):
    """Runs two optimizers in turn, the second on the first's result, and counts its updates."""

    def __init__(self, *arguments, steps, **keywords):
        super().__init__(*arguments, **keywords)
        self.steps = steps

    def update_core(self):
        batch = self.converter(self.get_iterator('main').next(), self.device)
        model = self.get_optimizer('main').target
        for _ in range(self.steps):
            loss = model(*batch)
            model.cleargrads()
            loss.backward()
            self.get_optimizer('main').update()
        second = self.get_optimizer('second')
        second.update(lambda: F.sum(second.target.a.W ** 2) * 0.1)
        chainer.report({'second': F.sum(second.target.a.W).array}, second.target)


def trainer_of(updater, *more, epochs=2):
    folder = tempfile.mkdtemp()
    trainer = training.Trainer(updater, (epochs, 'epoch'), out=folder)
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    for extension in more:
        trainer.extend(extension)
    trainer.run()
    log = trainer.get_extension('LogReport').log
    return [{k: v for k, v in entry.items() if k != 'elapsed_time'} for entry in log]


def an_updater():
    model = pair()
    iterator = chainer.iterators.SerialIterator(data(), 4, shuffle=False)
    updater = TwoSteps(iterator, {'main': chainer.optimizers.Adam().setup(model), 'second': chainer.optimizers.SGD(0.05).setup(model.predictor)},
                       device=DEVICE, steps=2)
    return trainer_of(updater), values(*model.params())


class Largest(training.Extension):
    """The largest weight so far, which snapshots keep."""
    trigger = 1, 'iteration'
    name = 'largest'

    def __init__(self, link):
        self.link = link
        self.value = 0.0

    def initialize(self, trainer):
        self(trainer)

    def __call__(self, trainer):
        self.value = max(self.value, *(float(abs(p.array).max()) for p in self.link.params()))
        chainer.reporter.report({'largest': self.value})

    def serialize(self, serializer):
        self.value = float(serializer('value', self.value))


def an_extension():
    model = pair()
    texts = []

    @training.make_extension(trigger=(2, 'iteration'), priority=training.PRIORITY_READER)
    def tell(trainer):
        texts.append('%d: %s' % (trainer.updater.iteration, sorted(trainer.observation)))

    largest = Largest(model)
    iterator = chainer.iterators.SerialIterator(data(), 4, shuffle=False)
    updater = training.updaters.StandardUpdater(iterator, chainer.optimizers.MomentumSGD(0.1).setup(model), device=DEVICE)
    shown = io.StringIO()
    log = trainer_of(updater, largest, tell, extensions.snapshot(filename='s'), extensions.PrintReport(['iteration', 'largest', 'main/loss'], out=shown))
    file = io.BytesIO()
    chainer.serializers.save_npz(file, largest)
    file.seek(0)
    other = Largest(model)
    chainer.serializers.load_npz(file, other)
    return log, texts, other.value, [line.split()[0] for line in shown.getvalue().splitlines() if line.strip()][:3]


class SignRule(chainer.UpdateRule):
    """A user's update rule with a state, for the processor and GPUs."""

    def __init__(self, parent_hyperparam=None):
        super().__init__(parent_hyperparam or SignRule.defaults())

    @staticmethod
    def defaults():
        hyperparam = chainer.optimizer.Hyperparameter()
        hyperparam.step, hyperparam.decay = 0.01, 0.9
        return hyperparam

    def init_state(self, param):
        with chainer.using_device(param.device):
            self.state['mean'] = param.device.xp.zeros_like(param.array)

    def update_core_cpu(self, param):
        mean = self.state['mean']
        mean *= self.hyperparam.decay
        mean += (1 - self.hyperparam.decay) * param.grad
        param.array -= self.hyperparam.step * np.sign(mean)

    def update_core_gpu(self, param):
        cuda.elementwise('T grad, T step, T decay', 'T param, T mean',
                         'mean = decay * mean + (1 - decay) * grad; param -= mean > 0 ? step : mean < 0 ? -step : T(0);', 'sign_rule')(
                             param.grad, self.hyperparam.step, self.hyperparam.decay, param.array, self.state['mean'])


class Sign(chainer.GradientMethod):
    step = chainer.optimizer.HyperparameterProxy('step')

    def __init__(self, step=0.01):
        super().__init__()
        self.hyperparam.step, self.hyperparam.decay = step, 0.9

    def create_update_rule(self):
        return SignRule(self.hyperparam)


def an_optimizer():
    model = pair()
    optimizer = Sign(0.02).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.01))
    model.predictor.b.W.update_rule.hyperparam.step = 0.005
    losses = []
    for i in range(4):
        if i == 2:
            optimizer.step = 0.01
        optimizer.update(model, *sent(some(6, 3, seed=i), (np.arange(6) % 2).astype('i')))
        losses.append(float(model.loss.array))
    file = io.BytesIO()
    chainer.serializers.save_npz(file, optimizer)
    file.seek(0)
    again = Sign().setup(pair())
    chainer.serializers.load_npz(file, again)
    return losses, values(*model.params()), values(again.target.predictor.a.W.update_rule.state['mean']), again.t


@chainer.dataset.converter()
def padded(batch, device):
    """Pads sequences and returns their lengths."""
    xs = [x for x, _ in batch]
    longest = max(len(x) for x in xs)
    x = np.stack([np.pad(x, ((0, longest - len(x)), (0, 0)), 'constant') for x in xs])
    return {'x': device.send(x), 'length': device.send(np.array([len(x) for x in xs], 'i')), 't': device.send(np.array([t for _, t in batch], 'i'))}


def converter_of_before_6(batch, device=None):
    x = np.stack([x for x, _ in batch])
    t = np.array([t for _, t in batch], 'i')
    if device is not None and device >= 0:
        return cuda.to_gpu(x, device), cuda.to_gpu(t, device)
    return x, t


class OfSequences(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.pair = Pair()

    def forward(self, x, length, t):
        h = F.sum(x, axis=1) / F.broadcast_to(F.cast(length, 'f').reshape(-1, 1), (len(x), x.shape[2]))
        loss = F.softmax_cross_entropy(self.pair(h), t)
        chainer.report({'loss': loss}, self)
        return loss


def a_converter():
    sequences = [(some(1 + i % 3, 3, seed=i), i % 2) for i in range(8)]
    model = OfSequences()
    model.to_device(DEVICE)
    iterator = chainer.iterators.SerialIterator(sequences, 4, shuffle=False)
    updater = training.updaters.StandardUpdater(iterator, chainer.optimizers.Adam().setup(model), device=DEVICE, converter=padded)
    log = trainer_of(updater)
    older = pair()
    iterator = chainer.iterators.SerialIterator([(x, t) for x, t in data()], 4, shuffle=False)
    updater = training.updaters.StandardUpdater(iterator, chainer.optimizers.Adam().setup(older), device=0 if WHERE == 'gpu' else -1,
                                                converter=converter_of_before_6)
    return log, trainer_of(updater), values(*model.params(), *older.params())


class PrintFunctions(chainer.FunctionHook):
    name = 'print functions'

    def __init__(self, out):
        self.out = out
        self.is_forward = True  # the functions that compute gradients are not Chainer's

    def forward_preprocess(self, function, in_data):
        if self.is_forward:
            print('forward', function.label, [(a.shape, str(a.dtype)) for a in in_data], file=self.out)

    def backward_preprocess(self, function, in_data, out_grad):
        self.is_forward = False

    def backward_postprocess(self, function, in_data, out_grad):
        self.is_forward = True
        print('backward', function.label, [None if g is None else g.shape for g in out_grad], file=self.out)


class PrintLinks(chainer.LinkHook):
    name = 'print links'

    def __init__(self, out):
        self.out = out

    def forward_preprocess(self, args):
        print('in', type(args.link).__name__, args.link.name, args.forward_name, [x.shape for x in args.args], file=self.out)

    def forward_postprocess(self, args):
        print('out', args.link.name, args.out.shape, file=self.out)


class PrintGradients:
    name, call_for_each_param, timing = 'print gradients', True, 'pre'

    def __init__(self, out):
        self.out = out

    def __call__(self, rule, param):
        print(param.name, param.grad.shape, '%.3f' % float(abs(param.grad).sum()), rule.t, file=self.out)


def hooks_that_print():
    out = io.StringIO()
    model = pair()
    optimizer = chainer.optimizers.Adam().setup(model)
    optimizer.add_hook(PrintGradients(out))
    optimizer.add_hook(lambda optimizer: print('after', optimizer.t, file=out), 'after', timing='post')
    batch = sent(some(5, 3), (np.arange(5) % 2).astype('i'))
    with PrintFunctions(out), PrintLinks(out):
        optimizer.update(model, *batch)
        x = chainer.Variable(batch[0])
        F.sum(Cube().apply((Steps(0.5)(x),))[0] + x * 2 - x[:1, 0]).backward()
    optimizer.update(model, *batch)  # without the hooks of functions
    model.predictor.add_hook(PrintLinks(out))
    f = Cube()
    f.add_hook(PrintFunctions(out))
    with chainer.using_config('train', False):
        y, = f.apply((model.predictor(batch[0]),))
    F.sum(y).backward()
    return values(*model.params()), out.getvalue()


class Ramp(chainer.initializer.Initializer):
    """A user's initializer, which fills the given array on its device."""

    def __init__(self, step=0.1, dtype=None):
        self.step = step
        super().__init__(dtype)

    def __call__(self, array):
        xp = chainer.backend.get_array_module(array)
        if self.dtype is not None:
            assert array.dtype == self.dtype
        array[...] = self.step * xp.arange(array.size, dtype=array.dtype).reshape(array.shape) - 1


def an_initializer():
    model = chainer.Sequential(L.Linear(None, 4, initialW=Ramp(), initial_bias=Ramp(0.5)), F.tanh, L.Linear(2, initialW=lambda array: array.fill(0.25)))
    model.to_device(DEVICE)
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    assert not model[0].W.is_initialized and model[0].b.is_initialized
    x, = sent(some(5, 3))
    optimizer.update(lambda: F.sum(model(x) ** 2))
    made = chainer.Parameter(Ramp(0.2, np.float64), (2, 3))
    made.to_device(DEVICE)
    made.cleargrad()
    F.sum(made * made * made).backward()
    later = chainer.Parameter(Ramp(2))
    later.to_device(DEVICE)
    with DEVICE.create_context():
        later.initialize((3, 1))
        generated = chainer.initializers.generate_array(Ramp(3), (2, 2), DEVICE.xp, np.float32)
    return values(*model.params()), values(made, made.grad), values(later, generated), str(made.dtype), str(later.dtype)


def copies_between_places():
    """F.copy from NumPy's arrays to ordinal 0 and back: values, gradients on their variables' devices, and second derivatives."""
    numbers, weights = some(3, 4), some(4, 2, seed=1)
    other = '@cupy:0' if WHERE == 'gpu' else '@numpy'
    there = chainer.get_device(other)
    found = []
    for names in ((other, '@numpy'), (DEVICE, chainer.get_device('@numpy')), *([(0, -1)] if WHERE == 'gpu' else [])):
        to, back = names
        x, w = chainer.Variable(numbers.copy()), chainer.Variable(there.send(weights))
        with there.create_context():
            moved = F.copy(x * 2, to)
            assert isinstance(moved.array, there.xp.ndarray) and moved.device == there
            h = F.tanh(moved) @ w
        y = F.copy(h, back)
        assert type(y.array) is np.ndarray and y.device == chainer.get_device('@numpy')
        scale = some(3, 2, seed=2)
        loss = F.sum(y * y * scale)
        t = np.tanh(2 * numbers.astype('d'))
        np.testing.assert_allclose(y.array, t @ weights, rtol=1e-5, atol=1e-6)
        gx, gw = chainer.grad([loss], [x, w], enable_double_backprop=True)
        gy = 2 * (t @ weights) * scale
        np.testing.assert_allclose(gx.array, 2 * (1 - t * t) * (gy @ weights.T), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(*values(gw, t.T @ gy), rtol=1e-4, atol=1e-5)
        assert type(gx.array) is np.ndarray and isinstance(gw.array, there.xp.ndarray)
        F.sum(gx * gx).backward()  # through the copies once more
        loss.backward()
        assert type(x.grad) is np.ndarray and isinstance(w.grad, there.xp.ndarray)
        found.append(values(y, gx, gw, x.grad, w.grad))
        # copying to the current device shares the variable's memory and passes gradients
        same = F.copy(x, back)
        assert np.shares_memory(same.array, x.array)
        x.cleargrad()
        F.sum(same * 3).backward()
        np.testing.assert_array_equal(x.grad, np.full((3, 4), 3, 'f'))
        labels = F.copy(chainer.Variable(np.arange(3, dtype='i')), to)
        assert isinstance(labels.array, there.xp.ndarray) and labels.dtype == np.int32
        found.append(values(labels, F.copy(chainer.Variable(np.zeros((0, 2), 'd')), to), F.copy(chainer.Variable(numbers[::-1, ::2]), to)))
    with chainer.no_backprop_mode():
        assert F.copy(chainer.Variable(numbers), other).creator is None
    return found


CASES = (a_function_of_2016, second_derivatives, link_with_persistents, an_updater, an_extension, an_optimizer, a_converter, hooks_that_print, an_initializer, copies_between_places)

if __name__ == '__main__':
    DEVICE.use()
    results = {}
    for case in CASES:
        if case is copies_between_places and os.environ.get('CATENARY_CUPY_CPU') == '1':
            continue  # ordinal 0 is the processor, so nothing is copied
        np.random.seed(0)
        results[case.__name__] = case()
    with open(sys.argv[2], 'wb') as file:
        pickle.dump(results, file)
