"""The rows of elementwise.def and reductions.def, compared with NumPy's functions."""

import operator
import re
import pathlib

import numpy
import pytest

from catenary import _core, cupy
from compare import DTYPES, outcome, same, values

pytestmark = pytest.mark.usefixtures('device')

ROWS = [name for name in _core.ufuncs if isinstance(getattr(numpy, name, None), numpy.ufunc)]
OPS = pathlib.Path(__file__).resolve().parents[3] / 'catenary' / 'ops'
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
    with pytest.raises(ValueError, match='reduce is not supported'):
        cupy.subtract.reduce(cupy.array(x))


NUMPYS = sorted(name for name in dir(numpy) if isinstance(getattr(numpy, name), numpy.ufunc) and hasattr(cupy, name)
                and getattr(numpy, name).signature is None)  # matmul is of matrices


@pytest.mark.parametrize('name', [*NUMPYS, 'fix', 'i0', 'sinc'])  # which are CuPy's
def test_ufuncs_are_instances_of_ufunc(name):
    f, g = getattr(cupy, name), getattr(numpy, name)
    assert isinstance(f, cupy.ufunc) and callable(f) and repr(f).startswith('<ufunc ') and f.__doc__
    for method in ('reduce', 'accumulate', 'outer', 'at', 'reduceat'):
        assert callable(getattr(f, method))
    assert f.types
    if isinstance(g, numpy.ufunc):
        assert (f.nin, f.nout, f.nargs) == (g.nin, g.nout, g.nargs) and getattr(cupy, f.__name__) is f
        # for each dtype that both have, equal result dtypes
        known = dict(t.split('->') for t in g.types if len(set(t.split('->')[0])) == 1 and t[0] in '?bBhHiIlLefdFD')
        assert all(known[t[:f.nin]] == t.partition('->')[2] for t in f.types if t[:f.nin] in known)


MADE = ['positive', 'fabs', 'ldexp', 'frexp', 'modf', 'divmod', 'float_power', 'gcd', 'lcm', 'bitwise_count']


@pytest.mark.parametrize('name', MADE)
def test_composed_functions_take_the_arguments_of_ufuncs(name):
    f, g = getattr(cupy, name), getattr(numpy, name)
    x = [values((2, 3), 'i' if name in ('gcd', 'lcm', 'bitwise_count') or k and name == 'ldexp' else 'f', k, 1, 20) for k in range(f.nin)]
    y = [cupy.array(a) for a in x]
    several = (lambda r: r) if f.nout > 1 else (lambda r: (r,))
    theirs = several(g(*x))
    for mine, wanted in zip(several(f(*y)), theirs, strict=True):
        same(mine, wanted)
    outs = tuple(cupy.full(w.shape, 7, w.dtype) for w in theirs)
    assert all(a is b for a, b in zip(several(f(*y, out=outs)), outs))
    for mine, wanted in zip(outs, theirs):
        same(mine, wanted)
    mask = numpy.array([[True, False, True], [False, True, True]])
    outs, wanted = tuple(cupy.full(w.shape, 7, w.dtype) for w in theirs), tuple(numpy.full(w.shape, 7, w.dtype) for w in theirs)
    f(*y, *outs, where=cupy.array(mask))
    g(*x, *wanted, where=mask)
    for mine, w in zip(outs, wanted):
        same(mine, w)
    assert f(*y, order='F')[0].shape == g(*x, order='F')[0].shape
    with pytest.raises(TypeError, match='positional arguments but 0 were given'):
        f()
    with pytest.raises(TypeError, match='use cupy.asarray'):
        f(*x)
    with pytest.raises(TypeError):
        f(*y, wrong=1)
    with pytest.raises((TypeError, ValueError)):
        f(*y, out=tuple(numpy.empty(w.shape, w.dtype) for w in theirs))
    if g.nin == 2 and g.nout == 1:
        same(f.outer(y[0][0], y[1]), g.outer(x[0][0], x[1]))
    if g.nin == 1:
        with pytest.raises(ValueError, match=f'{name}.outer'):
            f.outer(*y, *y)


@pytest.mark.parametrize('name', MADE)
@pytest.mark.parametrize('dtype', '?bilQefdFD')
def test_dtype_of_a_function_made_of_others(name, dtype):
    f, g = getattr(cupy, name), getattr(numpy, name)
    for letters in ('fi', 'il', 'dd', 'lb', 'ei', 'lQ', 'bf', 'dl'):
        for options in ({}, {'casting': 'safe'}, {'casting': 'no'}):
            x = [values((3,), letter, k, 1, 20) for k, letter in enumerate(letters[:f.nin])]
            theirs = outcome(lambda: g(*x, dtype=dtype, **options))
            ours = outcome(lambda: f(*map(cupy.array, x), dtype=dtype, **options))
            if isinstance(theirs, type):
                assert isinstance(ours, type) and issubclass(theirs, ours), (letters, options, theirs, ours)
                continue
            for mine, wanted in zip(ours if f.nout > 1 else (ours,), theirs if f.nout > 1 else (theirs,), strict=True):
                same(mine, wanted)


@pytest.mark.parametrize('line', [
    'ldexp(a([1.5, 2.5], "f"), a([1, 2]), dtype="d")', 'ldexp(a([1.5], "d"), 3, dtype="f")', 'ldexp(1.5, a([1, 2], "i"), dtype="d")', 'ldexp(2, a([1, 2], "i"), dtype="d")',
    'ldexp(a([1.5], "f"), a([1], "Q"), dtype="d")', 'ldexp(a([1.5], "f"), a([1.]), dtype="d")', 'ldexp(a([1.5], "f"), a([2]), a([0.], "f"), dtype="d")',
    'ldexp.outer(a([1.5, 2.], "f"), a([1, 2]), dtype="d")', 'gcd.reduce(a([4, 6], "i"), dtype="l")', 'gcd.reduce(a([4, 6]), dtype="i")',
    'gcd.reduce(a([4, 6]), dtype="d")', 'lcm.reduce(a([[4, 6], [10, 9]], "b"), axis=1, dtype="h")', 'gcd.accumulate(a([4, 6], "i"), dtype="l")',
    'gcd.reduceat(a([4, 6, 9], "i"), [0, 1], dtype="l")', 'gcd.reduce(a([300, 200]), dtype="b")', 'hypot.reduce(a([3, 4]), dtype="l")', 'hypot.accumulate(a([3, 4]), dtype="e")'])
def test_dtype_of_numbers_and_of_reductions(line):
    theirs, ours = (outcome(lambda: eval(line, {'a': a, **{name: getattr(module, name) for name in (*MADE, 'hypot')}})) for a, module in ((numpy.array, numpy), (A, cupy)))
    if isinstance(theirs, type):
        assert isinstance(ours, type) and issubclass(theirs, ours), (theirs, ours)
    else:
        same(ours, numpy.asarray(theirs))


@pytest.mark.parametrize('name', ['gcd', 'lcm', 'fmax', 'fmin', 'logical_xor', 'bitwise_and', 'bitwise_or', 'bitwise_xor', 'hypot', 'logaddexp', 'logaddexp2'])
def test_reductions_by_pairs(name):
    f, g = getattr(cupy, name), getattr(numpy, name)
    x = values((3, 5, 2), 'd' if name in ('hypot', 'logaddexp', 'logaddexp2', 'fmax', 'fmin') else 'i', 0, 1, 8 if name == 'lcm' else 40)
    for options in ({}, {'axis': 1}, {'axis': -1, 'keepdims': True}, {'axis': None}, {'axis': (0, 2)}, {'axis': (0, 2), 'keepdims': True}):
        theirs = outcome(lambda: g.reduce(x, **options))
        if theirs is ValueError:  # of several axes at once NumPy refuses lcm
            assert name == 'lcm'
            theirs = g.reduce(numpy.moveaxis(x, 1, 0).reshape(5, -1), axis=1) if 'axis' in options and options['axis'] else g.reduce(x.ravel())
            theirs = theirs.reshape((1, 5, 1) if 'keepdims' in options else theirs.shape)
        same(f.reduce(cupy.array(x), **options), numpy.asarray(theirs))
    out = cupy.zeros(x.shape[1:], g.reduce(x).dtype)
    assert f.reduce(cupy.array(x), out=out) is out
    same(out, g.reduce(x))
    same(f.accumulate(cupy.array(x), 1), g.accumulate(x, 1))
    same(f.reduceat(cupy.array(x), [0, 2, 1], 0), g.reduceat(x, [0, 2, 1], 0))
    nothing = x[:0]
    theirs = outcome(lambda: g.reduce(nothing))
    if theirs is ValueError:
        with pytest.raises(ValueError, match=f'{name} which has no identity'):
            f.reduce(cupy.array(nothing))
    else:
        same(f.reduce(cupy.array(nothing)), theirs)
    with pytest.raises(numpy.exceptions.AxisError):
        f.reduce(cupy.array(x), axis=3)


A = cupy.array


@pytest.mark.parametrize('line', [
    'gcd.reduce(a([-3]))', 'hypot.reduce(a([-3.]))', 'hypot.reduce(a([[3, 4]]))', 'hypot.reduceat(a([-3, 4, 5]), [0, 1, 2])', 'gcd.reduceat(a([-3, 4, 6]), [0, 1])',
    'logaddexp.reduce(a(numpy.ones(1, "b")))', 'logaddexp.reduce(a(numpy.zeros(0, int)))', 'bitwise_or.reduce(a([[3.]]))', 'gcd.reduce(a([4.5]))',
    'hypot.accumulate(a([-3., 4]))', 'hypot.accumulate(a([3, 4]))', 'gcd.reduce(a(4))', 'gcd.reduce(a(4), axis=1)', 'gcd.reduce(a([4, 6]), 0, None, a([0, 0, 0]))',
    'gcd.reduce(a([[4, 6]]), axis=(0, 0))', 'gcd.reduce(a([-4, 6]), axis=())', 'lcm.reduce(a([-3]))', 'logical_xor.reduce(a([1, 0]), dtype=int)',
    'hypot.reduce(a([3, 4]), dtype="f")', 'positive(a([1, 2]), where=a([[True, True], [True, True]]))', 'fabs(a([-1., 2]), out=a([[0., 0], [0, 0]]))',
    'fabs(a([[-1., 2]]), out=a([0., 0]))', 'fabs(a([-1.]), casting="x")'])
def test_reductions_and_places_beside_numpy(line):
    theirs, ours = (outcome(lambda: eval(line, {'a': a, 'numpy': numpy, **{name: getattr(module, name) for name in (
        'gcd', 'lcm', 'hypot', 'logaddexp', 'bitwise_or', 'logical_xor', 'positive', 'fabs')}})) for a, module in ((numpy.array, numpy), (A, cupy)))
    if isinstance(theirs, type):
        assert isinstance(ours, type) and issubclass(theirs, ours)
    else:
        same(ours, numpy.asarray(theirs))


@pytest.mark.parametrize('dtype', DTYPES)
def test_ldexp_of_every_dtype(dtype):
    for exponent in '?bBhHiIlL':
        theirs, ours = (outcome(lambda: m.ldexp(m.ones(1, dtype), m.ones(1, exponent)).dtype) for m in (numpy, cupy))
        assert theirs == ours, exponent
    exponents = [2**32, -2**32, 2**33 + 3, 2**63 - 1, -2**63, -1074, 1023]
    with numpy.errstate(all='ignore'):
        same(cupy.ldexp(cupy.ones(7), cupy.array(exponents)), numpy.ldexp(numpy.ones(7), exponents))
    same(cupy.ldexp(cupy.ones(1), cupy.array([2**32 - 1], 'I')), numpy.array([numpy.inf]))
    with pytest.raises(OverflowError, match='the literal 2147483648 does not fit into int32'):
        cupy.ldexp(cupy.ones(2), 2**31)


def test_at_of_one_operand():
    for name in ('fabs', 'positive', 'negative'):
        x = numpy.array([-1., -2, 3])
        y = cupy.array(x)
        getattr(numpy, name).at(x, [0, 2])
        getattr(cupy, name).at(y, [0, 2])
        same(y, x)


def test_at_of_real_numbers_with_complex_ones():
    x, b = numpy.array([1., 2, 3]), numpy.array([5 + 2j, 1 + 9j])
    y = cupy.array(x)
    with pytest.warns(numpy.exceptions.ComplexWarning):
        numpy.divide.at(x, [0, 0], b)
    with pytest.warns(numpy.exceptions.ComplexWarning):
        cupy.divide.at(y, [0, 0], cupy.array(b))
    same(y, x)


@pytest.mark.parametrize('dtype', ['e', 'f', 'd', 'l'])
@pytest.mark.parametrize('exponent', [0.5, numpy.float32(0.5), -0.5, 2, True])
def test_float_power_is_no_square_root(dtype, exponent):
    """As C's pow: -inf gives inf and -0 gives 0, where the square root is NaN and -0."""
    x = numpy.array([4, 0, 9] if dtype == 'l' else [-numpy.inf, -0.0, 4, 0, numpy.inf, numpy.nan], dtype)
    with numpy.errstate(all='ignore'):
        expected = numpy.float_power(x, exponent)
    y = cupy.float_power(cupy.array(x), exponent)
    same(y, expected)
    numpy.testing.assert_array_equal(numpy.signbit(y.get()), numpy.signbit(expected))


@pytest.mark.parametrize('name', ['gcd', 'lcm', 'ldexp', 'float_power'])
def test_at_of_functions_made_of_others(name):
    x, b = (numpy.array([2., 3, 5]), 2) if name == 'float_power' else (numpy.array([4, 6, 35.] if name == 'ldexp' else [4, 6, 35]), 10 if name != 'ldexp' else 2)
    y = cupy.array(x)
    getattr(cupy, name).at(y, [0, 0, 2], b)
    getattr(numpy, name).at(x, [0, 0, 2], b)
    same(y, x)
    with pytest.raises(TypeError, match='fix.at'):
        cupy.fix.at(y, [0])


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
    with pytest.raises(TypeError, match="unexpected keyword argument 'nowhere'"):
        f(cupy.array(x), nowhere=True)


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
