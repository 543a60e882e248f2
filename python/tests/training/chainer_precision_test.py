"""chainer trains in 16 bits like the library, on NumPy's arrays and on ordinal 0."""

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
def results(place, folder):
    path = folder / f'{place}.xml'
    environment = {**os.environ, 'CHAINER_PRECISION_DEVICE': PLACES[place]}
    environment.pop('PYTEST_ADDOPTS', None)
    ran = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', f'--junitxml={path}', str(CASES)],
                         env=environment, capture_output=True, text=True, timeout=900, cwd=CASES.parent)
    assert path.exists(), ran.stdout + ran.stderr
    return {case.get('name'): ''.join(child.text or '' for child in case if child.tag in ('failure', 'error', 'skipped'))
            for case in tree.parse(path).getroot().iter('testcase')}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('precision')


@pytest.mark.parametrize('place', PLACES)
@pytest.mark.parametrize('name', [line.split('(')[0][4:] for line in CASES.read_text().splitlines() if line.startswith('def test_')])
def test_case(folder, place, name):
    of_it = {case: text for case, text in results(place, folder).items() if case == name or case.startswith(name + '[')}
    assert of_it and not any(of_it.values()), of_it
