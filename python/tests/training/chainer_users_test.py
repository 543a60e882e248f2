"""Users' code gives the results of Chainer 7.8.1, which were recorded with it: on NumPy's arrays, on a device, and on the processor as ordinal 0."""

import functools
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = pathlib.Path(__file__).with_name('chainer_users.py')
CASES = re.search(r'^CASES = \((.*)\)$', PROGRAM.read_text(), re.M).group(1).split(', ')
RECORDED = pickle.loads((PROGRAM.parents[3] / 'tests/data/chainer/users.pickle').read_bytes())
# a place's arguments, variables of the environment, and the place whose results were recorded
PLACES = {'numpy': ('numpy', {}, 'numpy'), 'device': ('gpu', {}, 'device'), 'processor': ('gpu', {'CATENARY_CUPY_CPU': '1'}, 'device')}


@functools.cache
def results(place, folder):
    where, variables, _ = PLACES[place]
    path = folder / place
    ran = subprocess.run([sys.executable, '-W', 'ignore', PROGRAM, where, path], capture_output=True, text=True,
                         env={**os.environ, **variables}, cwd=folder, timeout=600)
    assert ran.returncode == 0, ran.stderr
    return pickle.loads(path.read_bytes())


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('users')


def alike(a, b, where):
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            alike(a[key], b[key], f'{where}[{key!r}]')
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b)):
            alike(x, y, f'{where}[{i}]')
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, where
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=where)
    elif isinstance(a, float):
        assert a == pytest.approx(b, rel=1e-4, abs=1e-5), where
    else:
        assert a == b, where


@pytest.mark.parametrize('place, case', [(place, case) for place in PLACES for case in CASES if (place, case) != ('processor', 'copies_between_places')])
def test_case(place, case, folder):
    alike(results(place, folder)[case], RECORDED[PLACES[place][2]][case], case)
