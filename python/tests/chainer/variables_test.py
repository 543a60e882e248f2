"""Variables, parameters, copies of links and optimizers of the package catenary/chainer, as Chainer's own tests expect them."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import RAISED, run  # noqa: E402

BEGIN = RAISED + '''
import copy, pickle, warnings
import numpy as np, chainer
import chainer.functions as F
import chainer.links as L

def warned(f):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter('always')
        f()
    return [w.category.__name__ for w in found]
'''


def out(code):
    return run(BEGIN + code).split('\n')[:-1]


def test_variables_have_no_truth_order_and_hash():
    assert out('''
x = chainer.Variable(np.ones(2, 'f'))
print([raised(f) for f in (lambda: bool(x), lambda: x == x, lambda: x < x, lambda: hash(x))])
print(+x is x, float(x.mean().array), repr(x), str(chainer.Variable(np.zeros((2, 2), 'f'))))
''') == ["['TypeError', 'TypeError', 'TypeError', 'TypeError']", 'True 1.0 variable([1., 1.]) variable([[0. 0.]', '          [0. 0.]])']


def test_debug_print_describes_values_and_gradient():
    lines = out('''
x = chainer.Variable(np.array([1, 3], 'f'), name='x')
print(x.debug_print())
x.grad = np.zeros(2, 'f')
print(x.debug_print().split('- ')[-1], chainer.Variable().debug_print().count('None'))
''')
    assert lines[1:7] == ['- device: CPU', "- backend: <class 'numpy.ndarray'>", '- shape: (2,)', '- dtype: float32',
                          '- statistics: mean=2.00000000, std=1.00000000', '- grad: None']
    assert lines[7] == 'grad: 0 6'


def test_copies_of_parameters_without_values_get_one_array():
    assert out('''
p = chainer.Parameter(chainer.initializers.Normal())
q, r = copy.copy(p), copy.copy(copy.copy(p))
p.initialize((2, 3))
print(q.array is p.array, r.array is p.array, pickle.loads(pickle.dumps(p)).shape)
u = chainer.Parameter()
print(raised(lambda: u.grad), raised(lambda: chainer.Parameter(lambda a: None).dtype), chainer.Parameter(chainer.initializers.One('e')).dtype)
u.grad = None
print(u.grad)
v = chainer.Parameter(np.ones(3, 'f'))
w = chainer.Parameter()
w.copydata(v)
w.cleargrad()
v.grad = v.array
w.addgrad(v)
print(w.array, w.grad, v.initializer)
''') == ['True True (2, 3)', 'RuntimeError RuntimeError float16', 'None', '[1. 1. 1.] [1. 1. 1.] [1. 1. 1.]']


def test_links_are_copied_in_three_modes():
    assert out('''
link = L.BatchNormalization(3)
shared, copied = link.copy(), link.copy('copy')
print(shared.avg_mean is link.avg_mean, shared.gamma.array is link.gamma.array, copied.gamma.array is link.gamma.array, shared.gamma.grad)
linear = L.Linear(3, 2)
again = linear.copy('init')
print((again.W.array != linear.W.array).all(), np.isnan(again.W.grad).all())
two = chainer.Sequential(linear, F.relu).repeat(2)
print(len(two), type(two[0]).__name__, (two[0][0].W.array != two[1][0].W.array).all(), len(linear.repeat(0)))
print(raised(lambda: chainer.Sequential()(1)), raised(lambda: pickle.dumps(chainer.Sequential(lambda x: x))))
''') == ['True True False None', 'True True', '2 Sequential True 0', 'RuntimeError ValueError']


def test_orthogonal_refuses_arrays_without_elements():
    assert out('''
print(raised(lambda: chainer.initializers.Orthogonal()(np.empty(0, 'f'))), raised(lambda: chainer.initializers.Normal()(np.empty((0, 3), 'f'))))
''') == ['ValueError None']


def test_links_that_override_to_cpu_are_asked():
    assert out('''
def define(name):
    return type('Child', (chainer.Link,), {name: lambda self, *a: (calls.append(self), super(type(self), self).to_cpu())[1]})
calls = []
print(warned(lambda: define('to_cpu')), raised(lambda: define('to_device')))
class Parent(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.child = define('to_cpu')()
parent = Parent()
parent.to_device('@numpy')
parent.child.to_cpu()
print(len(calls), warned(chainer.Link().to_cpu), raised(lambda: chainer.get_device('@cupy')), raised(lambda: chainer.using_device('@foo')))
''') == ["['DeprecationWarning'] TypeError", "2 ['DeprecationWarning'] ValueError ValueError"]


def test_backward_warns_and_refuses():
    assert out('''
x = chainer.Variable(np.ones(1, 'f'))
print(warned(lambda: (x * 2).backward()), x.grad)
y = x * 2
print(warned(lambda: chainer.backward([y])), y.grad)
class Twice(chainer.Function):
    def forward(self, inputs):
        return np.asarray(inputs[0] * 2),
    def backward(self, inputs, gradients):
        return [np.asarray(gradients[0] * 2)]
v = chainer.Variable(np.array(3, 'f'))
z = Twice()(F.exp(v))
z.backward(enable_double_backprop=True)
print(v.grad == np.float32(2) * np.exp(np.float32(3)), raised(v.grad_var.backward))
class Wrong(chainer.FunctionNode):
    def forward(self, inputs):
        return inputs
    def backward(self, indexes, gradients):
        return result,
for result in (np.ones(2, 'f'), chainer.Variable(np.ones(3, 'f')), chainer.Variable(np.ones(2, 'd'))):
    y, = Wrong().apply((chainer.Variable(np.ones(2, 'f')),))
    y.grad = y.array
    try:
        y.backward()
    except ValueError as error:
        print(str(error).split(' is incorrect')[0])
with chainer.using_config('debug', True):
    y = F.identity(chainer.Variable(np.ones(2, 'f')))
    y.grad = np.full(2, np.nan, 'f')
    print(raised(y.backward))
a = chainer.Variable(np.array(2, 'f'))
b = F.exp(a)
c = b * 3
print(raised(Wrong()), chainer.grad([c], [a], retain_grad=True)[0].array == a.grad, b.grad, c.grad)
''') == ["['DeprecationWarning'] [2.]", "['RuntimeWarning'] None", 'True RuntimeError', 'type of gradients returned from backward',
         'shape of gradients returned from backward', 'dtype of gradients returned from backward', 'RuntimeError', 'TypeError True 3.0 1.0']


def test_optimizers_give_zeros_to_hooks_and_count_epochs():
    assert out('''
link = L.Linear(2, 2)
optimizer = chainer.optimizers.SGD().setup(link)
seen = []
class Clear:
    name, timing, call_for_each_param = 'clear', 'pre', False
    def __call__(self, optimizer):
        optimizer.target.cleargrads()
optimizer.add_hook(Clear())
optimizer.add_hook(lambda optimizer: seen.extend(p.grad is None for p in optimizer.target.params()), 'look')
optimizer.update()
print(seen, raised(lambda: optimizer.new_epoch(auto=True)), optimizer.new_epoch(), optimizer.epoch)
print(warned(lambda: chainer.optimizer.WeightDecay(0.1)), raised(lambda: optimizer.setup('x')))
half = chainer.UpdateRule()
half.use_fp32_update()
half.update_core = lambda param: print(param.array, param.dtype)
half.update(chainer.Parameter(chainer.initializers.Zero('e')))
''') == ['[False, False] RuntimeError None 1', "['DeprecationWarning'] TypeError", 'None float32']


def test_runtime_info_and_names_at_the_top():
    lines = out('''
chainer.print_runtime_info()
print(chainer.get_array_types()[0] is np.ndarray, chainer.is_arrays_compatible([np.ones(1), None]), chainer.disable_experimental_feature_warning)
print(chainer.functions.math.basic_math.add is F.add, chainer.basic_math.add is F.add, raised(lambda: F.math.nothing))
''')
    assert lines[1].startswith('Chainer: 7.8.1') and lines[-2:] == ['True True False', 'True True AttributeError']


def test_results_of_numpy_arrays_are_numpy_arrays_after_cupy_arrays_on_the_processor():
    run('''
import cupy, numpy as np, chainer
import chainer.functions as F
import chainer.links as L
from chainer import cuda

def check(kind, move):
    a, t = move(np.arange(6, dtype='f').reshape(2, 3)), move(np.array([0, 2], 'i'))
    link = L.Linear(3, 2).to_device(cuda.get_device_from_array(a) if kind is cupy.ndarray else '@numpy')
    for requires_grad, records in ((True, True), (False, True), (True, False)):
        with chainer.using_config('enable_backprop', records):
            x = chainer.Variable(a, requires_grad=requires_grad)
            results = [F.relu(a), F.relu(x), x + 1, 2 / x, 2 ** x, a + x, x * x, -x, x[0], x.T, x @ x.T, abs(x), F.concat([a, x], 0), F.stack((a, a)),
                       *F.split_axis(x, 3, 1), F.accuracy(x, t), F.softmax_cross_entropy(x, t), F.argmax(x, 1), F.where(x.array > 1, a, x),
                       F.dropout(x), F.pad_sequence([a, a]), *F.lstm(a[:, :1], move(np.ones((2, 4), 'f'))), F.cast(x, 'd'), link(a), link(x)]
            assert all(type(y.array) is kind for y in results), [type(y.array) for y in results]
    x = chainer.Variable(a)
    y = F.sum(F.tanh(x) * x)
    first, = chainer.grad([y], [x], enable_double_backprop=True)
    second, = chainer.grad([F.sum(first * first)], [x])
    y.backward(retain_grad=True)
    F.sum(link(x)).backward()
    assert all(type(g) is kind for g in (first.array, second.array, x.grad, x.grad_var.array, y.grad, link.W.grad, link.b.grad))
    optimizer = chainer.optimizers.Adam().setup(link)
    optimizer.update(lambda: F.sum(link(a) ** 2))
    assert type(link.W.array) is kind and type(link.W.grad) is kind

check(np.ndarray, np.asarray)
check(cupy.ndarray, cupy.asarray)
check(np.ndarray, np.asarray)
check(cupy.ndarray, cupy.asarray)
''', CATENARY_CUPY_CPU='1')
