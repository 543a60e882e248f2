"""Chainer's variables and functions on the library's graph (CATENARY_CHAINER=1), in a separate process, as Chainer can be imported only once."""

import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as tree

import pytest

CASES = [pathlib.Path(__file__).with_name(f'chainer_graph_{name}.py') for name in ('cases', 'memory', 'updates')]


def names():
    return [line.split('(')[0][4:] for path in CASES for line in path.read_text().splitlines() if line.startswith('def test_')]


@pytest.fixture(scope='module')
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp('graph') / 'results.xml'
    environment = {**os.environ, 'CATENARY_CHAINER': '1'}
    environment.pop('PYTEST_ADDOPTS', None)
    ran = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', f'--junitxml={path}', *map(str, CASES)],
                         env=environment, capture_output=True, text=True, timeout=900, cwd=CASES[0].parent)
    assert path.exists(), ran.stdout + ran.stderr
    return {case.get('name'): ''.join(child.text or '' for child in case if child.tag in ('failure', 'error', 'skipped'))
            for case in tree.parse(path).getroot().iter('testcase')}


@pytest.mark.parametrize('name', names())
def test_case(results, name):
    of_it = {case: text for case, text in results.items() if case == name or case.startswith(name + '[')}
    assert of_it and not any(of_it.values()), of_it


LEAVES_NOTHING = '''
from catenary import _core
_core._set_leak_warnings(True)
import chainer, cupy, numpy as np
import chainer.functions as F, chainer.links as L

class Cube(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        return inputs[0] ** 3,
    def backward(self, indexes, grad_outputs):
        x, = self.get_retained_inputs()
        return 3 * x * x * grad_outputs[0],

class Hook(chainer.FunctionHook):
    name = 'mine'
    def forward_preprocess(self, function, in_data):
        pass

model = L.Classifier(chainer.Sequential(L.Linear(3, 4), lambda h: Cube().apply((h,))[0], L.BatchNormalization(4), F.dropout, L.Linear(4, 2)))
model.to_device(DEVICE)
optimizer = chainer.optimizers.Adam().setup(model)
optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
batch = model.xp.ones((2, 3), 'f'), model.xp.zeros(2, 'i')
for _ in range(3):
    optimizer.update(model, *batch)
with Hook():
    optimizer.update(model, *batch)
y = F.sum(model.predictor(batch[0]), axis=1)
loop = Cube()
z, = loop.apply((y,))
loop.z = z.node
kept = [y, y.node, y.creator, y.array, chainer.grad([y], [model.predictor[0].W], enable_double_backprop=True), optimizer, loop]
stream = cupy.cuda.Stream.null
'''


@pytest.mark.parametrize('place', ['numpy', 'device', 'processor'])
@pytest.mark.parametrize('graph', ['0', '1'])
def test_at_the_end_of_a_process_nothing_is_left(graph, place):
    code = LEAVES_NOTHING.replace('DEVICE', "'@numpy'" if place == 'numpy' else "'@cupy:0'")
    environment = {**os.environ, 'CATENARY_CHAINER': graph, **({'CATENARY_CUPY_CPU': '1'} if place == 'processor' else {})}
    ran = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0 and ran.stderr == '', ran.stderr


def test_cupy_on_the_processor_stays_cupys():
    code = '''
import chainer, cupy, numpy as np
import chainer.functions as F, chainer.links as L
model = L.Classifier(chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2)))
model.to_gpu()
o = chainer.optimizers.Adam().setup(model)
o.update(model, cupy.ones((2, 3), 'f'), cupy.zeros(2, 'i'))
x = chainer.Variable(cupy.ones((2, 3), 'f'))
print(type(model.loss.array) is cupy.ndarray, type(model.predictor[0].W.grad) is cupy.ndarray, type((x * 2 + x).array) is cupy.ndarray)'''
    ran = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True, text=True,
                         env={**os.environ, 'CATENARY_CHAINER': '1', 'CATENARY_CUPY_CPU': '1'})
    assert ran.stdout == 'True True True\n', ran.stderr


@pytest.mark.parametrize('graph, statement', [
    *((graph, statement) for graph in ('0', '1', 'original') for statement in ('import chainer', 'import chainer.functions as F', 'from chainer import links')),
    ('1', 'import chainermn'), ('original', 'import chainermn')])  # with 0 that is the original, which is not there either
def test_without_chainer_the_error_names_the_remedy_in_two_lines(graph, statement):
    code = '''
import importlib.machinery, sys
find = importlib.machinery.PathFinder.find_spec
importlib.machinery.PathFinder.find_spec = lambda name, path=None, target=None: (
    None if name.partition('.')[0] == 'chainer' or name == 'chainermn' else find(name, path, target))
import importlib.util
assert importlib.util.find_spec('chainer') is None
''' + statement
    ran = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, env={**os.environ, 'CATENARY_CHAINER': graph})
    *_, first, second = ran.stderr.splitlines()
    assert ran.returncode == 1 and first.startswith('ModuleNotFoundError: chainer') and ' is not installed. ' in first, ran.stderr
    assert second.startswith('  python -m pip install -U pip; echo ') and 'pip install' in second and 'chainer==7.8.1' in second


def test_another_version_is_refused(tmp_path):
    (tmp_path / 'chainer').mkdir()
    (tmp_path / 'chainer/__init__.py').write_text('')
    (tmp_path / 'chainer/_version.py').write_text("__version__ = '6.7.0'\n")
    ran = subprocess.run([sys.executable, '-c', 'import chainer'], capture_output=True, text=True,
                         env={**os.environ, 'CATENARY_CHAINER': '1', 'PYTHONPATH': str(tmp_path)})
    assert 'CATENARY_CHAINER=1 supports only Chainer 7.8.1' in ran.stderr and str(tmp_path) in ran.stderr
