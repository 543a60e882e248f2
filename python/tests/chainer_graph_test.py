"""Chainer's variables and functions on the library's graph (CATENARY_CHAINER=1): its own process, as Chainer is imported once."""

import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as tree

import pytest

CASES = pathlib.Path(__file__).with_name('chainer_graph_cases.py')


def names():
    return [line.split('(')[0][4:] for line in CASES.read_text().splitlines() if line.startswith('def test_')]


@pytest.fixture(scope='module')
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp('graph') / 'results.xml'
    environment = {**os.environ, 'CATENARY_CHAINER': '1'}
    environment.pop('PYTEST_ADDOPTS', None)
    ran = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', f'--junitxml={path}', str(CASES)],
                         env=environment, capture_output=True, text=True, timeout=900, cwd=CASES.parent)
    assert path.exists(), ran.stdout + ran.stderr
    return {case.get('name'): ''.join(child.text or '' for child in case if child.tag in ('failure', 'error', 'skipped'))
            for case in tree.parse(path).getroot().iter('testcase')}


@pytest.mark.parametrize('name', names())
def test_case(results, name):
    of_it = {case: text for case, text in results.items() if case == name or case.startswith(name + '[')}
    assert of_it and not any(of_it.values()), of_it


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


def test_without_chainer_the_error_says_what_to_type(tmp_path):
    code = '''
from catenary import _finder
_finder.install()
import sys
sys.path = [entry for entry in sys.path if 'site-packages' not in entry]
import importlib.util
assert importlib.util.find_spec('chainer') is None
try:
    import chainer
except ModuleNotFoundError as error:
    print(str(error).count(chr(10)), error)'''
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout
    assert out.startswith('1 chainer is not installed. ') and 'pip install' in out


def test_another_version_is_refused(tmp_path):
    (tmp_path / 'chainer').mkdir()
    (tmp_path / 'chainer/__init__.py').write_text('')
    (tmp_path / 'chainer/_version.py').write_text("__version__ = '6.7.0'\n")
    ran = subprocess.run([sys.executable, '-c', 'import chainer'], capture_output=True, text=True,
                         env={**os.environ, 'CATENARY_CHAINER': '1', 'PYTHONPATH': str(tmp_path)})
    assert 'CATENARY_CHAINER=1 puts Chainer 7.8.1 on' in ran.stderr and str(tmp_path) in ran.stderr
