"""Chainer trains in 16 bits like the library: by its own code and on the library's graph, on NumPy's arrays and on ordinal 0."""

import functools
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as tree

import pytest

CASES = pathlib.Path(__file__).with_name('chainer_precision.py')
PLACES = {'numpy': '@numpy', 'device': '@cupy:0'}


@functools.cache
def results(graph, place, folder):
    path = folder / f'{graph}{place}.xml'
    environment = {**os.environ, 'CATENARY_CHAINER': graph, 'CHAINER_PRECISION_DEVICE': PLACES[place]}
    if graph == '':
        del environment['CATENARY_CHAINER']
    environment.pop('PYTEST_ADDOPTS', None)
    ran = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', f'--junitxml={path}', str(CASES)],
                         env=environment, capture_output=True, text=True, timeout=900, cwd=CASES.parent)
    assert path.exists(), ran.stdout + ran.stderr
    return {case.get('name'): ''.join(child.text or '' for child in case if child.tag in ('failure', 'error', 'skipped'))
            for case in tree.parse(path).getroot().iter('testcase')}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('precision')


@pytest.mark.parametrize('graph', ['', '1'], ids=['chainer', 'graph'])
@pytest.mark.parametrize('place', PLACES)
@pytest.mark.parametrize('name', [line.split('(')[0][4:] for line in CASES.read_text().splitlines() if line.startswith('def test_')])
def test_case(folder, place, graph, name):
    of_it = {case: text for case, text in results(graph, place, folder).items() if case == name or case.startswith(name + '[')}
    assert of_it and not any(of_it.values()), of_it


def test_without_hooks_chainer_is_as_it_is():
    code = ('import chainer, numpy; l = chainer.links.Linear(2, 2); o = chainer.optimizers.SGD().setup(l); '
            'print(o._use_fp32_update, "_loss_scale" in vars(chainer.optimizer.GradientMethod))')
    for value, wanted in (('0', 'False False'), ('1', 'True True')):
        ran = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True, text=True,
                             env={**os.environ, 'CATENARY_CHAINER': value})
        assert ran.stdout.split('\n')[0] == wanted, ran.stderr
