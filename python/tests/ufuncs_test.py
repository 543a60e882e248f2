"""The rows of elementwise.def and reductions.def as NumPy's functions."""

import operator
import re
import pathlib

import numpy
import pytest

from catenary import _core, cupy
from compare import DTYPES, outcome, same, values

pytestmark = pytest.mark.usefixtures('device')

ROWS = [name for name in _core.ufuncs if isinstance(getattr(numpy, name, None), numpy.ufunc)]
OPS = pathlib.Path(__file__).resolve().parents[2] / 'catenary' / 'ops'
FUNCTIONS_OF_SMALL = {'arcsin', 'arccos', 'arctanh'}


def test_every_row_is_there():
    rows = re.findall(r'^CT_OP\((\w+),', (OPS / 'elementwise.def').read_text(), re.M)
    assert sorted(rows) == sorted(_core.ufuncs)
    for name in rows:
        assert _core.ufuncs[name].__doc__
        if hasattr(numpy, name):  # others are the library's own, and some of CuPy's
            assert getattr(cupy, name) is _core.ufuncs[name]
    for name in re.findall(r'^CT_REDUCE\((\w+),', (OPS / 'reductions.def').read_text(), re.M):
        assert name in _core.reductions and getattr(cupy, name) is getattr(_core, name)


@pytest.mark.host
@pytest.mark.parametrize('name', ROWS)
@pytest.mark.parametrize('dtype', DTYPES)
def test_values_and_dtypes(name, dtype):
    f, g = getattr(cupy, name), getattr(numpy, name)
    assert (f.nin, f.nout, f.__name__) == (g.nin, g.nout, name)
    arguments = [values((3, 5), dtype, seed, 1, 4) for seed in range(g.nin)]
    if name in FUNCTIONS_OF_SMALL:
        arguments = [a * numpy.array(0.2).astype(dtype) if numpy.dtype(dtype).kind == 'f' else numpy.zeros_like(a)
                     for a in arguments]
    theirs = outcome(lambda: g(*arguments))
    mine = outcome(lambda: f(*[cupy.array(a) for a in arguments]))
    if isinstance(theirs, type):
        assert mine is theirs
        return
    same(mine, theirs, {'e': 1e-2, 'f': 2e-5, 'd': 1e-11}.get(theirs.dtype.char))
    out = cupy.empty_like(mine)
    assert f(*[cupy.array(a) for a in arguments], out=out) is out
    same(out, mine.get(), 0)
    types = [t for t in f.types if t.startswith(numpy.dtype(dtype).char * g.nin + '->')]
    assert types == [numpy.dtype(dtype).char * g.nin + '->' + theirs.dtype.char]


@pytest.mark.parametrize('name', ROWS)
def test_values_on_every_device(name):
    arguments = [values((3, 5), 'i', seed, 1, 4) for seed in range(getattr(cupy, name).nin)]
    if name in FUNCTIONS_OF_SMALL:
        arguments = [a * 0 for a in arguments]
    if name in ('copysign', 'nextafter', 'heaviside'):
        arguments = [a.astype('f') for a in arguments]
    theirs = getattr(numpy, name)(*arguments)
    same(getattr(cupy, name)(*[cupy.array(a) for a in arguments]), theirs, 1e-5)


def test_out_and_casting():
    x = cupy.array([1.5, 2.5, -3])
    out = cupy.zeros(3, 'f')
    cupy.add(x, 1, out)
    same(out, numpy.array([2.5, 3.5, -2], 'f'))
    with pytest.raises(TypeError, match='same_kind'):
        cupy.add(x, 1, out=cupy.zeros(3, 'i'))
    same(cupy.add(x, 1, out=cupy.zeros(3, 'i'), casting='unsafe'), numpy.array([2, 3, -2], 'i'))
    with pytest.raises(TypeError, match="'safe'"):
        cupy.add(x, 1, out=out, casting='safe')
    with pytest.raises(ValueError):
        cupy.add(x, 1, out=cupy.zeros(2))
    with pytest.raises(TypeError, match='ndarray'):
        cupy.add(x, 1, out=numpy.zeros(3))
    with pytest.raises(TypeError, match="'wrong'"):
        cupy.add(x, 1, wrong=2)
    with pytest.raises(TypeError, match='positional'):
        cupy.add(x)
    with pytest.raises(TypeError, match='Unsupported type'):
        cupy.add(x, numpy.ones(3))
    with pytest.raises(ValueError, match='casting'):
        cupy.add(x, 1, casting='any')


def test_out_may_overlap():
    x = numpy.arange(10.)
    y = cupy.array(x)
    cupy.add(y[:-1], y[1:], out=y[1:])
    numpy.add(x[:-1], x[1:], out=x[1:])
    same(y, x)
    cupy.sqrt(y, out=y)
    same(y, numpy.sqrt(x))


def test_dtype():
    x = cupy.arange(3, dtype='i')
    same(cupy.sqrt(x, dtype='f'), numpy.sqrt(x.get(), dtype='f'))
    same(cupy.add(x, x, dtype='d'), numpy.add(x.get(), x.get(), dtype='d'))
    same(cupy.multiply(2, 3, dtype='f'), numpy.multiply(2, 3, dtype='f'))
    with pytest.raises(TypeError, match='cannot cast'):
        cupy.add(x.astype('d'), 1, dtype='i')
    with pytest.raises(TypeError, match='no loop'):
        cupy.sqrt(x, dtype='i')


def test_numbers_alone():
    same(cupy.sqrt(4), numpy.sqrt(numpy.asarray(4)))
    same(cupy.add(numpy.float32(1), 2), numpy.asarray(numpy.add(numpy.float32(1), 2)))
    same(cupy.less(1, 2.5), numpy.asarray(True))


@pytest.mark.parametrize('name', ['add', 'multiply', 'maximum', 'minimum', 'logical_and', 'logical_or'])
def test_reduce(name):
    x = values((3, 4), 'i')
    f, g = getattr(cupy, name).reduce, getattr(numpy, name).reduce
    same(f(cupy.array(x)), g(x))
    same(f(cupy.array(x), axis=1, keepdims=True), g(x, axis=1, keepdims=True))
    same(f(cupy.array(x), axis=None), numpy.asarray(g(x, axis=None)))
    with pytest.raises(ValueError, match='no such reduction'):
        cupy.subtract.reduce(cupy.array(x))


@pytest.mark.host
@pytest.mark.parametrize('name', ['sum', 'prod', 'max', 'min', 'any', 'all', 'mean', 'var', 'std', 'argmax', 'argmin'])
@pytest.mark.parametrize('dtype', DTYPES)
def test_reductions(name, dtype):
    x = values((3, 4, 2), dtype, 0, 1, 3)
    f, g = getattr(cupy, name), getattr(numpy, name)
    for options in ({}, {'axis': 1}, {'axis': -1, 'keepdims': True}) + (
            () if name.startswith('arg') else ({'axis': (0, 2)}, {'axis': ()})):
        theirs = numpy.asarray(g(x, **options))
        tolerance = {'e': 2e-3, 'f': 1e-5}.get(theirs.dtype.char)
        same(f(cupy.array(x), **options), theirs, tolerance)
        out = cupy.empty(theirs.shape, theirs.dtype)
        assert f(cupy.array(x), out=out, **options) is out
        same(out, theirs, tolerance)
    with pytest.raises(numpy.exceptions.AxisError):
        f(cupy.array(x), axis=3)
    with pytest.raises(TypeError):
        f(cupy.array(x), where=True)


@pytest.mark.parametrize('dtype', 'bBlLefd')
def test_comparisons_with_numbers_that_a_dtype_does_not_hold(dtype):
    ends = [numpy.iinfo(dtype).min, numpy.iinfo(dtype).max] if dtype in 'bBlL' else [-numpy.inf, numpy.inf, 0.1]
    theirs = numpy.array([0, 1, *ends], dtype)
    ours = cupy.array([0, 1, *ends], dtype)
    for value in (-1, 0, 300, 2 ** 31 + 1, 2 ** 63, 2 ** 64 - 1) + ((0.1,) if dtype in 'efd' else ()):
        for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
            with numpy.errstate(over='ignore'):
                same(compare(ours, value), compare(theirs, value))
                same(compare(value, ours), compare(value, theirs))
