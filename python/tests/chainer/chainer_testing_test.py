"""`chainer.testing` and `chainer.gradient_check` of the package catenary/chainer."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from own import run  # noqa: E402


def test_parameters():
    run('''
import itertools, unittest
from chainer import testing
from chainer.testing import parameterized
assert testing.product({'b': [1, 2], 'a': [3]}) == [{'a': 3, 'b': 1}, {'a': 3, 'b': 2}]
assert testing.product({'x,y': [(1, 2), (3, 4)], 'z': [5]}) == [{'x': 1, 'y': 2, 'z': 5}, {'x': 3, 'y': 4, 'z': 5}]
sizes = (4, 3, 5, 2)
lists = [[{name: i} for i in range(size)] for name, size in zip('abcd', sizes)]
rows = parameterized._pairwise_product_dict(*lists)
for (p, n), (q, m) in itertools.combinations(list(zip('abcd', sizes)), 2):
    assert {(row[p], row[q]) for row in rows} == set(itertools.product(range(n), range(m)))
assert len(rows) < 4 * 3 * 5 * 2 / 3

class Base(unittest.TestCase):
    pass
@testing.parameterize({'f': lambda x: x + 1, 'n': 1}, {'f': len, 'n': 2})
@testing.inject_backend_tests(None, [{}, {'use_ideep': 'always'}])
class TestBoth(unittest.TestCase):
    def test_it(self, backend_config):
        assert backend_config.xp.__name__ == 'numpy'
        raise ValueError(self.n)
names = [name for name in globals() if name.startswith('TestBoth_')]
assert len(names) == 4 and all('_param_' in name for name in names), names
case = globals()[next(name for name in names if '_param_0_' in name and 'ideep_never' in name)]
assert case('test_it').f(2) == 3
result = unittest.TestResult()
case('test_it').run(result)
assert 'ValueError: 1' in result.errors[0][1]
''')


def test_the_decorator_next_to_the_class_gives_the_first_configuration():
    run('''
import unittest
from chainer import testing
@testing.inject_backend_tests(None, [{'use_ideep': 'always'}, {'use_ideep': 'auto'}])
@testing.inject_backend_tests(None, [{}])
class TestPair(unittest.TestCase):
    def test_it(self, first, second):
        assert first.use_ideep == 'never' and second.use_ideep in ('always', 'auto')
cases = [globals()[name] for name in list(globals()) if name.startswith('TestPair_')]
assert len(cases) == 2
for case in cases:
    result = unittest.TestResult()
    case('test_it').run(result)
    assert result.wasSuccessful(), result.errors + result.failures
''')


def test_gradients_are_compared():
    run('''
import numpy as np
import chainer
import chainer.functions as F
from chainer import gradient_check
x = np.random.RandomState(0).uniform(.5, 1, (3, 4)).astype('f')
gy = np.random.RandomState(1).uniform(-1, 1, (3, 4)).astype('f')
kept = gy.copy()
class Wrong(chainer.FunctionNode):
    factor = 1
    def forward(self, inputs):
        self.retain_inputs((0,))
        return inputs[0] ** 3,
    def backward(self, indexes, gys):
        gys[0].array[...] *= 1  # may be changed
        return self.factor * 3 * self.get_retained_inputs()[0] ** 2 * gys[0],
class Right(Wrong):
    pass
Wrong.factor = 1.1
Right.factor = 1
gradient_check.check_backward(lambda x: Right().apply((x,))[0], x, gy, dtype='d')
gradient_check.check_double_backward(lambda x: Right().apply((x,))[0], x, gy, gy, dtype='d')
try:
    gradient_check.check_backward(lambda x: Wrong().apply((x,))[0], x, gy, dtype='d')
except AssertionError as error:
    assert 'finite difference' in str(error)
else:
    raise RuntimeError('a wrong gradient passed')
assert np.array_equal(gy, kept)
# parameters, outputs of one node, and an output that is an input
w = chainer.Parameter(np.random.RandomState(2).rand(4, 3).astype('f'))
gradient_check.check_backward(lambda x: (F.matmul(x, w), x), x, (np.ones((3, 3), 'f'), gy), params=(w,), dtype='d')
gradient_check.check_double_backward(lambda x: F.matmul(x * x, w), x, np.ones((3, 3), 'f'), gy, params=(w,), params_grad_grad=(np.ones((4, 3), 'f'),), dtype='d')
try:
    gradient_check.numerical_grad(lambda: (abs(z),), (z := np.zeros(1),), (np.ones(1),), detect_nondifferentiable=True)
    assert False
except gradient_check.NondifferentiableError:
    pass
try:
    gradient_check.check_backward(lambda x: x, x, gy, dtype='i')
    assert False
except ValueError:
    pass
''')


def test_random_numbers_are_fixed_and_restored():
    run('''
import random, unittest
import numpy as np
from chainer import testing
seen = []
@testing.fix_random()
class TestIt(unittest.TestCase):
    def setUp(self):
        seen.append(np.random.rand())
    def test_it(self):
        seen.append(random.random())
        testing.generate_seed()
before = np.random.get_state()[1].tolist()
for _ in range(2):
    result = unittest.TestResult()
    TestIt('test_it').run(result)
    assert result.wasSuccessful(), result.errors
assert seen[:2] == seen[2:] and np.random.get_state()[1].tolist() == before
try:
    testing.generate_seed()
    assert False
except RuntimeError:
    pass
matrix = testing.generate_matrix((2, 3, 4), dtype=np.complex64, singular_values=[3, 1, 2])
assert np.allclose(np.linalg.svd(matrix, compute_uv=False), [3, 2, 1], atol=1e-5)
''')


def test_importing_needs_no_pytest():
    run('''
import sys
import chainer.training, chainer.iterators, chainer.datasets, chainer.dataset
assert not [name for name in ('pytest', 'matplotlib', 'PIL', 'multiprocessing.pool', 'scipy', 'tarfile') if name in sys.modules]
sys.modules['pytest'] = None  # as if it were not installed
import chainer.testing
assert not chainer.testing.attr.is_available()
''')
