"""The package catenary/chainer: its selection, training and files."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402

MODEL = '''
import numpy as np
import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizers

class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, 20)
            self.l2 = L.Linear(20, 3)
    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))

np.random.seed(0)
x = np.random.randn(61, 5).astype(np.float32)
t = (x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0)
t = t.astype(np.int32)

def trained(model, optimizer, x, t, updates=150):
    optimizer.setup(model)
    losses = []
    for _ in range(updates):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    return losses
'''


def test_import_is_ours_and_quick_modules_only():
    out = run('''
        import sys, chainer
        print(chainer.__file__)
        print([m for m in ('matplotlib', 'PIL', 'multiprocessing', 'chainer.testing', 'catenary.cupy') if m in sys.modules])
        import catenary.chainer
        print(catenary.chainer is chainer)
        import chainerx
        print(chainerx.is_available())
    ''').splitlines()
    assert 'catenary' in out[0] and out[1:] == ['[]', 'True', 'False']


def test_absent_names_are_named():
    assert run('''
        import chainer
        for code in ('chainer.nothing', 'chainer.graph_optimizations', 'chainer.backends.chainerx', 'from chainer import nothing', 'import chainer.nothing'):
            try:
                exec(code)
            except (AttributeError, ImportError) as error:
                print(type(error).__name__, code.split('.')[-1].split()[-1] in str(error))
    ''').split() == ['AttributeError', 'True', 'AttributeError', 'True', 'AttributeError', 'True', 'ImportError', 'True',
                     'ModuleNotFoundError', 'True']


@pytest.mark.parametrize('optimizer', ['SGD(0.5)', 'Adam(0.01)', 'MomentumSGD(0.1)', 'RMSprop()', 'AdamW(0.01, weight_decay_rate=0.01)', 'MSVAG(1)'])
def test_training_on_the_processor(optimizer):
    run(MODEL + f'''
losses = trained(L.Classifier(MLP()), optimizers.{optimizer}, x, t)
assert losses[-1] < 0.6 * losses[0], losses[::30]
''')


def test_training_on_a_device_equals_the_processor():
    run(MODEL + '''
import copy
import cupy
model = L.Classifier(MLP())
model.predictor(x[:1])
other = copy.deepcopy(model)
other.to_gpu(0)
assert isinstance(other.predictor.l1.W.array, cupy.ndarray) and other.xp is cupy
a = trained(model, optimizers.Adam(0.01), x, t, 40)
b = trained(other, optimizers.Adam(0.01), cupy.asarray(x), cupy.asarray(t), 40)
np.testing.assert_allclose(a, b, rtol=2e-4)
other.to_cpu()
np.testing.assert_allclose(other.predictor.l1.W.array, model.predictor.l1.W.array, atol=2e-3)
''')


def test_files_restore_a_model_and_its_optimizer(tmp_path):
    run(MODEL + f'''
from chainer import serializers
model, optimizer = L.Classifier(MLP()), optimizers.Adam(0.01)
trained(model, optimizer, x, t, 20)
serializers.save_npz({str(tmp_path / 'model.npz')!r}, model)
serializers.save_npz({str(tmp_path / 'optimizer.npz')!r}, optimizer)
names = sorted(np.load({str(tmp_path / 'model.npz')!r}).files)
assert names == ['predictor/l1/W', 'predictor/l1/b', 'predictor/l2/W', 'predictor/l2/b'], names
again, other = L.Classifier(MLP()), optimizers.Adam(0.01)
serializers.load_npz({str(tmp_path / 'model.npz')!r}, again)
other.setup(again)
serializers.load_npz({str(tmp_path / 'optimizer.npz')!r}, other)
assert other.t == 20
def steps(model, optimizer):
    for _ in range(5):
        optimizer.update(model, x, t)
    return model.predictor.l1.W.array
np.testing.assert_array_equal(steps(model, optimizer), steps(again, other))
''')


def test_files_run_no_code(tmp_path):
    run(f'''
import os, pickle, zipfile
import numpy as np
import chainer
from chainer import links as L, serializers
ran = {str(tmp_path / 'ran')!r}
class Evil:
    def __reduce__(self):
        return os.mkdir, (ran,)
def refused(path):
    try:
        serializers.load_npz(path, L.Linear(2, 3))
    except ValueError as error:
        return str(error)
    raise AssertionError(path)
values = {{'W': np.ones((3, 2), 'f'), 'b': np.zeros(3, 'f')}}
for name, value in (('code', np.asarray(Evil())), ('list', np.asarray([None, 1])), ('axis', np.asarray([None]))):
    np.savez({str(tmp_path)!r} + '/' + name, **{{**values, 'b': value}})
    assert 'b is an array of Python objects' in refused({str(tmp_path)!r} + '/' + name + '.npz')
with open({str(tmp_path / 'pickle')!r}, 'wb') as file:
    pickle.dump(Evil(), file)
refused({str(tmp_path / 'pickle')!r})
assert not os.path.exists(ran)
# None is saved as an array of objects, by every protocol of pickle
model = L.Linear(None, 3)
serializers.save_npz({str(tmp_path / 'none.npz')!r}, model)
again = L.Linear(2, 3)
serializers.load_npz({str(tmp_path / 'none.npz')!r}, L.Linear(None, 3))
for protocol in range(1, 6):
    with zipfile.ZipFile({str(tmp_path / 'old.npz')!r}, 'w') as file:
        with file.open('x.npy', 'w') as part:
            np.lib.format.write_array_header_1_0(part, {{'descr': '|O', 'fortran_order': False, 'shape': ()}})
            pickle.dump(np.asarray(None), part, protocol=protocol)
    class Part:
        def serialize(self, serializer):
            self.x = serializer('x', 3)
    part = Part()
    serializers.load_npz({str(tmp_path / 'old.npz')!r}, part)
    assert part.x is None
''')


def test_files_are_replaced_when_they_are_complete(tmp_path):
    run(f'''
import os
import numpy as np
import chainer
from catenary._aside import written_aside
from chainer import serializers
folder = {str(tmp_path)!r}
path = os.path.join(folder, 'model.npz')
serializers.save_npz(path, {{'a': np.arange(3), 'b': np.float32(2)}})  # a dict saves its values
class Fails:
    def serialize(self, serializer):
        serializer('x', np.ones(1000))
        raise KeyboardInterrupt
os.symlink('model.npz', os.path.join(folder, 'newest'))
for name in (path, os.path.join(folder, 'newest')):
    try:
        serializers.save_npz(name, Fails())
        raise AssertionError('not interrupted')
    except KeyboardInterrupt:
        pass
    with np.load(path) as kept:
        assert sorted(kept) == ['a', 'b'] and kept['a'].tolist() == [0, 1, 2]
serializers.save_npz(os.path.join(folder, 'newest'), {{'c': np.zeros(1)}})
with np.load(path) as kept:
    assert list(kept) == ['c']
assert sorted(os.listdir(folder)) == ['model.npz', 'newest'] and os.path.islink(os.path.join(folder, 'newest'))
with written_aside(os.devnull) as name:
    assert name == os.devnull  # devices and pipes are never replaced
''')


def test_devices_of_the_user():
    run('''
import numpy as np
import chainer
import chainer.links as L
from chainer.backends import _cpu

class Mine(chainer.backend.Device):
    xp = np
    supported_array_types = (np.ndarray,)
    def __str__(self):
        return '@mine'
    def send_array(self, array):
        return array.copy()

device = Mine()
model = L.Linear(3, 2).to_device(device)
assert model.W.device is device and model.device is device
model.W.to_cpu()
assert model.W.device == chainer.get_device('@numpy')
x = chainer.Variable(np.zeros(3, 'f'))
assert x.device == chainer.get_device('@numpy')
pair = (x.array, np.ones(2))
assert all(a is b for a, b in zip(_cpu._to_cpu(pair), pair))
assert chainer.initializers.constant.Zero is chainer.initializers.Zero
assert not hasattr(chainer.initializers, 'constants')
''')


def test_functions_of_the_user():
    run('''
import numpy as np
import chainer

class Square(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        return inputs[0] ** 2,
    def backward(self, indexes, gys):
        x, = self.get_retained_inputs()
        return 2 * x * gys[0],

class OldSquare(chainer.Function):
    def forward(self, inputs):
        return inputs[0] ** 2,
    def backward(self, inputs, gys):
        return 2 * inputs[0] * gys[0],

x = chainer.Variable(np.array([1, -2, 3], np.float32))
for f in (lambda x: Square().apply((x,))[0], OldSquare()):
    x.cleargrad()
    y = f(x)
    y.grad = np.ones(3, np.float32)
    y.backward()
    np.testing.assert_array_equal(x.grad, 2 * x.array)
g, = chainer.grad([Square().apply((x,))[0]], [x], enable_double_backprop=True)
gg, = chainer.grad([g * g], [x])
np.testing.assert_array_equal(gg.array, 8 * x.array)
''')


def test_hooks_and_debug_mode_see_functions_of_the_library():
    run('''
import numpy as np
import chainer
import chainer.functions as F

class Names(chainer.FunctionHook):
    name = 'Names'
    def __init__(self):
        self.seen = []
    def forward_preprocess(self, function, in_data):
        self.seen.append((function.label, len(in_data)))
    def backward_postprocess(self, function, in_data, out_grad):
        self.seen.append((function.label, out_grad[0].shape))

x = chainer.Variable(np.ones((2, 3), np.float32))
with Names() as hook:
    F.sum(F.relu(x) * 2).backward()
forward, backward = [s for s in hook.seen if isinstance(s[1], int)], [s for s in hook.seen if isinstance(s[1], tuple)]
names = [s[0] for s in forward[:3]]  # the gradients of functions call functions, too
assert [s[0] for s in backward] == names[::-1] == ['Sum', '_ * 2', 'ReLU'], hook.seen
np.testing.assert_array_equal(x.grad, 2 * np.ones((2, 3)))
with chainer.using_config('debug', True):
    np.testing.assert_allclose(F.exp(x).array, np.exp(x.array), rtol=1e-6)
''')


def test_variables_describe_themselves():
    run('''
import numpy as np
import warnings
import chainer
from chainer import memory_layouts
from chainer.utils import experimental
x = chainer.Variable(np.array([[1, 3]], 'f'), name='x')
assert x.debug_print().startswith('<variable x at 0x')
assert x.debug_print().splitlines()[1:] == [
    '- device: CPU', "- backend: <class 'numpy.ndarray'>", '- shape: (1, 2)', '- dtype: float32',
    '- statistics: mean=2.00000000, std=1.00000000', '- grad: None'], x.debug_print()
x.grad = np.zeros((1, 2), 'f')
assert x.debug_print().endswith('- grad: 0')
x.grad[0, 0] = 2
assert x.debug_print().endswith('- grad: mean=1.00000000, std=1.00000000')
assert chainer.Variable().debug_print().splitlines()[1:] == ['- %s: None' % name for name in (
    'device', 'backend', 'shape', 'dtype', 'statistics', 'grad')]

x.cleargrad()
y = +x
y.grad = np.array([[5, 7]], 'f')
y.backward()
assert x.grad.tolist() == [[5, 7]]

assert x.as_layout(memory_layouts.CUDNN_CHANNEL_FIRST_X) is x
assert chainer.Variable(x.array, layout=memory_layouts.CUDNN_CHANNEL_FIRST_X).layout is None
for make in (x.as_layout, lambda layout: chainer.Variable(x.array, layout=layout)):
    try:
        make(memory_layouts.CUDNN_CHANNEL_LAST_X)
        raise AssertionError('not refused')
    except RuntimeError as error:
        assert 'CUDNN_CHANNEL_LAST_X' in str(error)

with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter('always')
    experimental('f')
    chainer.disable_experimental_feature_warning = True
    experimental('g')
assert [w.category for w in seen] == [FutureWarning]
''')
