"""scripts/cupy_fuzz ignores the differences that docs/reference/cupy.md lists, and no others."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import warnings

import numpy
import pytest

SCRIPT = pathlib.Path(__file__).parents[3] / 'scripts/cupy_fuzz'


@pytest.fixture(scope='module')
def fuzz():
    loader = importlib.machinery.SourceFileLoader('cupy_fuzz', str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('cupy_fuzz', loader))
    loader.exec_module(module)
    return module


def difference(fuzz, line, values, dtype):
    """Returns the difference that a program with one array and one statement shows. The rules issue no warnings."""
    with fuzz._core.Device('cpu'), warnings.catch_warnings():
        warnings.simplefilter('error')
        pair = fuzz.Pair({'a': numpy.array(values, dtype)})
        pair.step("a = xp.array(data['a'])")
        return pair.compare(pair.step(line), exact=False)


@pytest.mark.parametrize('line, values, dtype', [
    ('b = a ** 2', [True, False], '?'),
    ('b = xp.multiply.accumulate(a, axis=0)', [300, 300, 0], 'e'),
    ('b = xp.nanmean(a, axis=0)', [65504, 65504], 'e'),
    ('a *= 70000', [0.25, 0], 'e'),
    ('b = xp.allclose(a, 1e30)', [1, 2], 'e'),
    ('a[0] = 300', [1, 2], 'b'),
    ('a[0] += 1.5', [1, 2], 'l'),
    ('b = xp.full_like(a, numpy.nan)', [1, 2], 'i'),
    ('b = xp.reciprocal(a)', [0, 1], 'i'),
    ('xp.power.at(a, [0], -2)', [3, 1], 'h'),
    ('b = xp.sum(a, axis=0)', 3, 'f'),
    ("b = xp.var(a, axis=0, dtype='B')", [1, 6 + 1j, 5 + 0.5j, 0.5 + 1j], 'F'),
    ("b = xp.nanvar(a, axis=0, dtype='d')", [1, complex(2, numpy.nan), 5 + 0.5j], 'D'),
    ('xp.maximum.at(a, [0], 2**64)', [1j, 2], 'D'),
    ('b = 1e30 % a', [0.75, -3], 'e'),  # of float32's 1e30
    ('b = xp.isin(a, 2**63)', [2 ** 63 - 1, 1], 'l'),
    ('b = xp.insert(a, 0, a.astype("f") * 0 - 3e38, 0)', [1, 2], 'I'),
    ('xp.power.at(a, [[0], [0]], 200)', [-1, 2], 'F'),
    ('b = xp.sum(a, axis=0) if xp is numpy else xp.sum(a[::-1], axis=0) * 1', [3e38, 3e38, -3e38], 'f'),  # in another order
    ("b = xp.sum(a, axis=0, dtype='L')", [-1e300, 1e300, 3 - 2j], 'D'),
    ("b = xp.std(a, axis=0, dtype='h')", [1e3 + 1e4j, 1e3 - 1e4j], 'F'),
])
def test_listed_differences_are_skipped(fuzz, line, values, dtype):
    assert difference(fuzz, line, values, dtype) is None


@pytest.mark.parametrize('line, values, dtype', [
    ("b = a ** 3 if xp is numpy else (a ** 3).astype('b')", [True, False], '?'),
    ("b = a ** 2 if xp is numpy else (a ** 2).astype('l')", [1, 2], 'b'),
    ('b = xp.multiply.accumulate(a, axis=0) + 30 * (xp is not numpy)', [300, 300, 0], 'e'),
    ('b = xp.multiply.accumulate(a, axis=0) + (xp is not numpy)', [3, 2, 1], 'e'),
    ('a *= 70000 + (xp is not numpy) * 70000', [0.25, 0], 'e'),
    ('b = xp.full_like(a, 1.5) + (xp is not numpy)', [1, 2], 'i'),
    ("b = xp.sum(a, axis=0, dtype='l') + (xp is not numpy)", [1, 2], 'd'),
    ('b = xp.reciprocal(a) + (xp is not numpy)', [1, 2], 'i'),
    ('xp.power.at(a, [0], 2 + (xp is not numpy))', [3, 1], 'h'),
    ('b = 1e30 % a + (xp is not numpy)', [0.75, -3], 'e'),
    ('b = a @ a + (xp is not numpy)', [1, 2], 'f'),
    ("b = xp.var(a, axis=0, dtype='f') + (xp is not numpy)", [1, 2], 'd'),
    ("b = xp.var(a, axis=0, dtype='f') + (xp is not numpy)", [1, 2 + 1j], 'F'),
    ('b = (xp is not numpy) ^ xp.isin(a, 2**63)', [2 ** 62, 1], 'l'),
    ('b = xp.sum(a, axis=0) / (xp is numpy)', [3, -1], 'f'),
    ('b = xp.sum(a, axis=0) - (0 if xp is numpy else xp.inf)', [numpy.inf, 1], 'f'),
    ('xp.power.at(a, [0], 2 + (xp is not numpy))', [1j, 2], 'F'),
    ("b = (xp is not numpy) ^ xp.isin(a, a)", [1j, 2j], 'F'),
    ('a[0:] += 1 if xp is numpy else 1.5', [1, 2], 'l'),
    ('b = xp.negative(a) if xp is numpy else 1 / 0', [1, 2], 'l'),
])
def test_other_differences_are_found(fuzz, line, values, dtype):
    assert difference(fuzz, line, values, dtype) is not None


@pytest.mark.parametrize('order', [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
@pytest.mark.parametrize('other', [(0, 1, 2), (2, 1, 0), (0, 2, 1)])
def test_a_result_in_another_order_gets_numpys(fuzz, order, other):
    with fuzz._core.Device('cpu'):
        pair = fuzz.Pair({})
        x = numpy.arange(24).reshape(2, 3, 4)
        pair.theirs['a'], pair.ours['a'] = (
            v.transpose(axes).copy().transpose([axes.index(i) for i in range(3)]) for v, axes in ((x, order), (fuzz.cupy.array(x), other)))
        pair.order()
        assert fuzz.order_of(pair.ours['a']) == fuzz.order_of(pair.theirs['a'])
        assert (pair.ours['a'].get() == x).all()


def test_its_last_line_counts():
    result = subprocess.run([sys.executable, str(SCRIPT), '--device', 'cpu', '--seed', '7', '--programs', '50'], capture_output=True, text=True)
    assert result.stdout.splitlines()[0] == 'cupy_fuzz: seed 7 on cpu' and result.stdout.endswith('\n50 passed, 0 failed\n'), result.stdout + result.stderr
