"""Arguments that CuPy's functions convert (NumPy arrays, lists, numbers), compared with NumPy. Error messages of one sentence. `where=` and
`initial=` of reductions."""

import subprocess
import sys
import warnings

import numpy
import pytest

from catenary import cupy
from compare import same

pytestmark = pytest.mark.usefixtures('device')
A, B, V = numpy.array([[3., 1, 2], [9, 4, 7]]), numpy.array([[3., 1.5, 2], [9, 4, 8]]), numpy.array([1., 2, 4])

# the call, and the arguments that CuPy 14 passes to asarray
CALLS = [
    ('allclose', (A, B), (0, 1)), ('isclose', (A, B), (0, 1)), ('append', (A, V), (0, 1)), ('around', (A * 1.26, 1), (0,)), ('average', (A,), (0,)),
    ('average', (A, 1, V), (0, 2)), ('cov', (A,), (0,)), ('cov', (V, V * V), (0, 1)), ('cross', (A, B), (0, 1)), ('delete', (A, [1], 1), (1,)),
    ('diag', (V,), (0,)), ('diag', (A,), (0,)), ('diff', (A,), (0,)), ('diff', (V, 1, -1, V, V), (0, 3, 4)), ('extract', (A > 2, A), (0,)),
    ('fft.fftshift', (A,), (0,)), ('fft.ifftshift', (A,), (0,)), ('gradient', (A, 1, 1), (0,)), ('imag', (A,), (0,)), ('linalg.cond', (A[:, :2],), (0,)),
    ('percentile', (A, [25, 50]), (1,)), ('quantile', (A, [.25, .5]), (1,)), ('real', (A,), (0,)), ('resize', (A, (3, 3)), (0,)),
    ('searchsorted', (V, A), (1,)), ('take', (V, [2, 0]), (1,)), ('take', (A, [2, 0], 1), (1,)), ('tile', (V, (2, 2)), (0,)), ('tril', (A,), (0,)),
    ('triu', (A, 1), (0,)), ('unique', (A,), (0,)), ('unwrap', (A * 3,), (0,)), ('vander', (V, 3), (0,)), ('repeat', (V, [1, 2, 3]), (1,)),
    ('interp', (V, V, V * 2, 7.), (3,)), ('polyval', (V, A), (1,)), ('apply_over_axes', (None, A, [0]), (1,)), ('linspace', (V, V + 3, 4), (0, 1)),
    ('lib.stride_tricks.sliding_window_view', (V, 2), (0,)), ('require', (A,), (0,)), ('asfortranarray', (A,), (0,)), ('iscomplex', (A,), (0,)),
    ('isreal', (A,), (0,)), ('choose', (numpy.array([0, 1, 0]), [V, V * 2]), ()), ('histogram', (V, 2, None, None, V), ()),
]


def found(module, name):
    for part in name.split('.'):
        module = getattr(module, part)
    return module


def ours(x):
    return [cupy.asarray(y) for y in x] if isinstance(x, list) and isinstance(x[0], numpy.ndarray) else cupy.asarray(x) if isinstance(x, numpy.ndarray) else x


@pytest.mark.parametrize('name, args, taken', CALLS, ids=[f'{name}-{i}' for i, (name, _, _) in enumerate(CALLS)])
@pytest.mark.parametrize('form', ['numpy', 'list', 'mixed'])
def test_as_numpy_takes_them(name, args, taken, form):
    args = tuple(numpy.sum if x is None and name == 'apply_over_axes' else x for x in args)
    theirs = found(numpy, name)(*args)
    for chosen in ([taken] if form != 'mixed' else [(k,) for k in taken]):
        mine = [(x.tolist() if form == 'list' and isinstance(x, numpy.ndarray) else x) if k in chosen else ours(x) for k, x in enumerate(args)]
        mine = [cupy.sum if x is numpy.sum else x for x in mine]
        made = found(cupy, name)(*mine)
        for own, other in zip(made, theirs, strict=True) if isinstance(theirs, tuple) else [(made, theirs)]:
            same(cupy.asarray(own), other)


def test_comparisons_of_results_with_numpy():
    a, b = cupy.arange(3.), numpy.arange(3.)
    for f in (cupy.allclose, numpy.allclose):
        assert bool(f(a, b)) and bool(f(b, a)) and bool(f(a, [0, 1, 2])) and not bool(f(a, b + 1)) and bool(f(a, b + 1e-9, rtol=0, atol=1e-8))
    assert bool(cupy.allclose(1, 1.0)) and bool(cupy.isclose(b, b).all())


def test_places_and_puts_of_numpy():
    x = cupy.zeros(4)
    x.put(numpy.array([0, 2]), numpy.array([5., 6]))
    cupy.put(x, [1], [7])
    cupy.place(x, numpy.array([False, False, False, True]), [8])
    assert x.tolist() == [5, 7, 6, 8]


REFUSED = [
    ('cupy.sum(n)', "sum: argument 'a' must be a cupy.ndarray, given a numpy.ndarray of float64 and shape (3,); numpy.ndarray is not converted implicitly, use cupy.asarray"),
    ('cupy.dot(x, n)', "dot: argument 'b' must be a cupy.ndarray or a number, given a numpy.ndarray of float64 and shape (3,)"),
    ('cupy.sum(x, axis="x")', "sum: argument 'axis' must be"), ('x.sum("x")', "sum: argument 'axis' must be"),
    ('cupy.sum(x, out=3)', "sum: argument 'out' must be a cupy.ndarray or None, given int 3"),
    ('cupy.sum(x, foo=1)', "sum: unexpected keyword argument 'foo', given int 1; expected 'a', 'axis', 'dtype', 'out' and 'keepdims'"),
    ('cupy.sum()', "sum: argument 'a' is missing; expected a cupy.ndarray"), ('cupy.sum(x, a=x)', "sum: argument 'a' is given twice"),
    ('cupy.sum(x, 0, None, None, False, 1)', 'sum: takes at most 5 positional arguments'), ('cupy.zeros("x")', "zeros: argument 'shape' must be"),
    ('cupy.zeros(2, "U3")', 'zeros: dtype str96: expected bool, an integer dtype'), ('cupy.cuda.Stream(foo=1)', "Stream: unexpected keyword argument 'foo', given int 1; expected 'null', 'non_blocking' and 'ptds'"),
    ('cupy.around(x, "x")', "around: argument 'decimals' must be an integer, given str 'x'"), ('cupy.trace(x, 2.5)', "trace: argument 'offset' must be an integer"),
    ('cupy.linalg.inv([[1.0]])', "inv: argument 'a' must be a cupy.ndarray, given list [[1.0]]"), ('cupy.cuda.Device(0).use(1)', 'takes at most'),
    ('cupy.full((2,), 1, order=3)', "order must be one of"), ('cupy.roll(x, "x")', "'shift'"), ('cupy.clip("x", 0, 1)', "clip: argument 'a' must be a cupy.ndarray, given str 'x'"),
]


@pytest.mark.parametrize('statement, says', REFUSED)
def test_refusals_are_one_sentence(statement, says):
    with pytest.raises((TypeError, ValueError)) as caught:
        exec(statement, {'cupy': cupy, 'x': cupy.arange(3.), 'n': numpy.arange(3.)})
    assert says in str(caught.value), caught.value
    assert 'incompatible function arguments' not in str(caught.value) and '\n' not in str(caught.value)


def public():
    from catenary import _core
    for module, prefix in ((_core, ''), (_core.linalg, 'linalg.'), (_core.ndarray, 'ndarray.'), (_core.Stream, 'Stream.'), (_core.RandomState, 'RandomState.')):
        for name in dir(module):
            f = getattr(module, name)
            if hasattr(f, '__nb_signature__'):
                yield prefix + name, f


def test_no_function_of_the_extension_lists_signatures():
    class Stranger:
        pass
    count = 0
    for name, f in public():
        for args, keywords in (((Stranger(),) * 15, {}), ((), {'no_such_argument': 1})):
            try:
                f(*args, **keywords)
            except Exception as error:
                assert 'incompatible function arguments' not in str(error), (name, error)
                count += 1
    assert count > 500


MASK = numpy.array([[True, False, True], [False, False, True]])
EMPTY = numpy.zeros((0, 3))
MASKED = [
    'sum(a, where=m)', 'sum(a, axis=0, where=m, initial=7)', 'sum(i, initial=0.5)', 'sum(i, axis=1, keepdims=True, where=m[0])', 'sum(a, dtype="f", where=m)',
    'sum(a, where=True)', 'sum(a, initial=None)', 'sum(b, initial=True)', 'prod(i, axis=1, where=m)', 'prod(i, initial=2.5)', 'max(i, where=m, initial=-1, axis=0)',
    'max(i, initial=300, axis=1)', 'max(e, initial=3)', 'max(e, axis=0, initial=3)', 'min(a, where=m, initial=2.5)', 'amax(a, initial=8.5)', 'all(b, where=m)',
    'any(b, axis=1, where=m)', 'mean(a, where=m, axis=1)', 'mean(a, where=m & False)', 'mean(i, where=m, keepdims=True)', 'mean(b, where=m)', 'var(a, axis=0, where=m, ddof=1)',
    'var(a, where=m)', 'std(i, where=m, axis=1)', 'var(c, where=m)', 'nansum(n, where=m, initial=3)', 'nanprod(n, where=m)', 'nanmax(n, where=m, initial=0)',
    'nanmin(n, axis=0, initial=1)', 'nanmean(n, where=m)', 'nanvar(n, where=m)', 'nanstd(n, axis=0, where=m)', 'max(i.astype("B"), initial=-1)', 'sum(i, where=i)',
    'max(a, where=m)', 'sum(a, where=m[:, :2])', 'add.reduce(a, where=m[0])', 'add.reduce(a, axis=None, initial=5)', 'multiply.reduce(i, initial=3)', 'maximum.reduce(a, 1, initial=5)',
    'logical_and.reduce(b, where=m)',
]


@pytest.mark.parametrize('call', MASKED)
def test_reductions_of_masked_elements(call):
    values = {'a': A, 'i': A.astype('i'), 'b': A > 2, 'c': A + 1j * B, 'm': MASK, 'e': EMPTY, 'n': numpy.where(A == 9, numpy.nan, A)}

    def computed(xp):
        return eval('xp.' + call, {'xp': xp, **{k: xp.asarray(v) for k, v in values.items()}})
    with warnings.catch_warnings(), numpy.errstate(all='ignore'):
        warnings.simplefilter('ignore')
        try:
            theirs = computed(numpy)
        except (TypeError, ValueError, OverflowError) as error:
            with pytest.raises(next(k for k in (TypeError, OverflowError, ValueError) if isinstance(error, k))):
                computed(cupy)
            return
    same(cupy.asarray(computed(cupy)), theirs, 1e-6)


def test_methods_and_numpys_functions_take_masks():
    a, m = cupy.asarray(A), cupy.asarray(MASK)
    assert a.sum(where=m) == A.sum(where=MASK) and numpy.sum(a, where=m) == A.sum(where=MASK) and a.max(initial=50) == 50
    out = cupy.zeros(3)
    assert cupy.sum(a, 0, where=m, out=out) is out and out.tolist() == A.sum(0, where=MASK).tolist()


@pytest.mark.parametrize('bins', ['auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges', 'sqrt'])
@pytest.mark.parametrize('range', [None, (-1, 2.5)])
def test_named_bins(bins, range):
    x = numpy.random.default_rng(0).normal(size=200)
    for values in (x, numpy.round(x * 5).astype('i'), x[:1], x[:0], x * 0):
        made, edges = cupy.histogram(cupy.asarray(values), bins, range)
        counts, there = numpy.histogram(values, bins, range)
        assert made.tolist() == counts.tolist()
        numpy.testing.assert_allclose(edges.get(), there, rtol=1e-12)


def test_named_bins_that_are_none():
    with pytest.raises(ValueError, match="bins.*'nonsense'"):
        cupy.histogram(cupy.arange(5.), bins='nonsense')
    with pytest.raises(TypeError, match='weights'):
        cupy.histogram(cupy.arange(5.), bins='auto', weights=cupy.arange(5.))


STAND_INS = '''
import ctypes, os, sys
import cupy
x = cupy.arange(12.).reshape(3, 4)
class Other:
    __cuda_array_interface__ = x[1:, ::2].__cuda_array_interface__
    kept = x
y = cupy.asarray(Other())
assert y.tolist() == [[4, 6], [8, 10]]
y += 1
assert x.tolist()[1] == [5, 5, 7, 7] and hasattr(x, '__cuda_array_interface__')
at = x.__cuda_array_interface__['data'][0]
assert cupy.zeros(0).__cuda_array_interface__['data'][0] == 0
print('before')
sys.stdout.flush()
ctypes.string_at(at, 8) if sys.argv[1] == 'read' else ctypes.memset(at, 0, 8) if sys.argv[1] == 'write' else os._exit(0)
'''


@pytest.mark.parametrize('way', ['read', 'write', 'none'])
@pytest.mark.parametrize('on', [{'CATENARY_CUPY_CPU': '1'}, {'CATENARY_GPU_INCLUDE_CPU': '1', 'CATENARY_CUPY_CPU': '0'}])
def test_addresses_that_stand_in_for_memory(way, on):
    import os
    done = subprocess.run([sys.executable, '-c', STAND_INS, way], capture_output=True, text=True, env={
        **os.environ, **on, 'CATENARY_CUDA_ARRAY_INTERFACE': '1', 'CATENARY_GPU_INCLUDE_SIMULATED': '0'})
    assert 'before' in done.stdout, done.stderr
    assert done.returncode == (0 if way == 'none' else 1)
    assert ('__cuda_array_interface__' in done.stderr) == (way != 'none')
