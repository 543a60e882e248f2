"""Corner cases found by scripts/cupy_fuzz: those that agree with NumPy 2, and the differences listed in docs/reference/cupy.md."""

import importlib.machinery
import pathlib
import types

import numpy
import pytest

from catenary import _core, cupy
from compare import DTYPES, same

pytestmark = pytest.mark.usefixtures('device')

INTEGERS = ['b', 'h', 'i', 'l', 'B', 'H', 'I', 'L']
BEYOND = [(numpy.nan, ValueError), (numpy.inf, OverflowError), (-numpy.inf, OverflowError), (1e30, OverflowError)]


def both(f):
    """Asserts that a call gives equal dtype, shape and values with NumPy and cupy, or the same kind of error."""
    with numpy.errstate(all='ignore'):
        try:
            theirs = f(numpy)
        except (TypeError, ValueError, OverflowError) as e:
            kind = next(k for k in (TypeError, ValueError, OverflowError) if isinstance(e, k))
            with pytest.raises(kind):
                f(cupy)
            return
        same(cupy.asarray(f(cupy)), theirs)


@pytest.mark.host
@pytest.mark.parametrize('name', ['add', 'subtract', 'multiply', 'maximum', 'minimum'])
@pytest.mark.parametrize('dtype', ['b', 'B', 'i', 'I', 'l', 'L'])
@pytest.mark.parametrize('value', [numpy.nan, numpy.inf, 1.5, -2.7, -1, 300, 1e30, [1.5, -0.5, 2.5], True, numpy.float32(0.75)],
                         ids=str)
def test_at_of_integers_computes_in_the_wider_dtype(name, dtype, value):
    def f(xp):
        x = xp.arange(4).astype(dtype)
        getattr(xp, name).at(x, [1, 2, 1], xp.asarray(value) if isinstance(value, list) else value)
        return x
    both(f)


@pytest.mark.host
@pytest.mark.parametrize('name', ['add', 'multiply', 'maximum', 'minimum', 'logical_and'])
@pytest.mark.parametrize('value', [-1, 2, 0.0, numpy.nan, True])
def test_at_of_bools_computes_in_the_wider_dtype(name, value):
    def f(xp):
        x = xp.array([True, False, True])
        getattr(xp, name).at(x, xp.array([0, 0, 1]), value)
        return x
    both(f)


def test_at_takes_keys_of_arrays_where_numpy_computes():
    def f(xp):
        x = xp.zeros((2, 3), 'i')
        xp.add.at(x, (slice(None), xp.array([0, 0, 2])), 0.75)  # cut to 0 each time
        xp.add.at(x.T[::-1], (xp.array([1, 1]), 0), 1.5)
        return x
    both(f)


WAYS = {
    'all': lambda xp, x, v: x.__setitem__(..., v), 'one': lambda xp, x, v: x.__setitem__(1, v),
    'slice': lambda xp, x, v: x.__setitem__(slice(1, 3), v), 'array': lambda xp, x, v: x.__setitem__([0, 1], v),
    'mask': lambda xp, x, v: x.__setitem__(x == 1, v), 'fill': lambda xp, x, v: x.fill(v), 'put': lambda xp, x, v: x.put([1], v),
    'place': lambda xp, x, v: xp.place(x, x == 1, v), 'putmask': lambda xp, x, v: xp.putmask(x, x == 1, v),
    'nothing': lambda xp, x, v: x[:0].__setitem__(..., v), 'diagonal': lambda xp, x, v: xp.fill_diagonal(x.reshape(2, 2), v),
}


@pytest.mark.host
@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('dtype', INTEGERS)
def test_floats_that_no_integer_is_are_refused(way, dtype):
    for value, error in BEYOND:
        for xp in (numpy, cupy):
            x = xp.arange(4).astype(dtype)
            with pytest.raises(error):
                WAYS[way](xp, x, value)
            assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.host
@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('dtype', [*INTEGERS, '?', 'e', 'd'])
@pytest.mark.parametrize('value', [1.75, 2.0, -0.0])
def test_floats_are_cut_where_they_are_stored(way, dtype, value):
    def f(xp):
        x = xp.arange(4).astype(dtype)
        WAYS[way](xp, x, value)
        return x
    both(f)


def test_the_largest_of_uint64():
    for value in (2.0 ** 63, 2.0 ** 64 - 2048, 1.5):
        both(lambda xp: WAYS['all'](xp, x := xp.zeros(2, 'L'), value) or x)
    for value in (2.0 ** 64, -2.0 ** 64):
        with pytest.raises(OverflowError):
            cupy.zeros(2, 'L')[...] = value
    both(lambda xp: xp.full(2, numpy.nan))
    both(lambda xp: xp.full(2, 1.5, 'i'))


def test_a_float_that_is_cut_wraps_as_an_integer_does():
    x = cupy.zeros(4, 'b')
    x[0], x[1:2] = 300.5, -129.5
    x[2:].fill(300)
    assert x.tolist() == [44, 127, 44, 44]


@pytest.mark.host
@pytest.mark.parametrize('name', ['nanprod', 'nansum', 'nanmean', 'var', 'std', 'nanvar', 'nanstd'])
@pytest.mark.parametrize('dtype', ['i', 'l', '?', 'e', 'd'])
@pytest.mark.parametrize('values', [[1, 2, 7], [1.5, 2, 7], [1.5, numpy.nan, 7], [True, False], [[3, 1], [5, 8]], 3], ids=str)
def test_statistics_have_the_dtype_that_is_asked_for(name, dtype, values):
    for axis in (None, 0) if isinstance(values, list) else (None,):
        both(lambda xp: getattr(xp, name)(xp.array(values), axis=axis, dtype=dtype))
    if name.endswith(('var', 'std')):
        both(lambda xp: getattr(xp, name)(xp.array(values), dtype=dtype, ddof=1))


def test_lexsort_of_any_shape():
    rows = [[3, 1, 2, 1], [0, 1, 1, 0]]
    for keys in (lambda xp: xp.array(rows), lambda xp: tuple(map(xp.array, rows)), lambda xp: xp.array(rows[0]), lambda xp: xp.array([rows[0]]),
                 lambda xp: (xp.array(rows), xp.array(rows[::-1])), lambda xp: xp.array(3), lambda xp: xp.zeros((0, 3)), lambda xp: (),
                 lambda xp: xp.zeros((3, 0)), lambda xp: (xp.array(3),), lambda xp: rows, lambda xp: (xp.array([1, 2]), xp.array([1]))):
        both(lambda xp: xp.lexsort(keys(xp)))
    both(lambda xp: xp.lexsort((xp.array(rows), xp.array(rows[::-1])), axis=0))


def test_arrays_of_no_axis():
    both(lambda xp: xp.sort(xp.array(3), axis=None))
    for name in ('cumsum', 'cumprod', 'nancumsum', 'cumulative_sum', 'cumulative_prod'):
        for axis in (None, 0, -1):
            both(lambda xp: getattr(xp, name)(xp.array(3), axis=axis))
    both(lambda xp: xp.cumulative_sum(xp.array(3), axis=0, include_initial=True))


def test_limits_beyond_the_dtype_are_none():
    for low, high in ((-2, 300), (-2, 0.5), (None, 300), (2, -1), (0, 255), (300, None), (1, 1)):
        both(lambda xp: xp.clip(xp.array([1, 200], 'B'), low, high))
    x = cupy.array([1, 2], 'B')
    clipped = cupy.clip(x, -1, 300)
    clipped[0] = 7
    assert x.tolist() == [1, 2]


def test_select_and_place():
    condition = [True, False]
    for choice, default in ((1, 5), ([1, 2], 500), ([1, 2], 2.5), ([1, 2], numpy.int32(0)), (1.5, 2)):
        both(lambda xp: xp.select([xp.array(condition)], [xp.array(choice, 'b') if isinstance(choice, list) else choice], default))
    both(lambda xp: xp.select([], []))
    both(lambda xp: xp.place(xp.array([1], 'b'), xp.array([True]), xp.array([300])))


def test_listed_differences():
    """Differences that docs/reference/cupy.md lists: 0-d arrays, elements, literals and powers."""
    with pytest.raises(numpy.exceptions.AxisError):
        cupy.array(3).sum(axis=0)
    x = cupy.arange(3)
    with pytest.raises(TypeError):
        x[0] *= 1.5
    assert float(cupy.ones((), 'e') / 70000) > 0 and float(cupy.zeros((), 'e') * 2 ** 63) == 0
    with pytest.raises(ValueError):
        x ** -1
    assert (cupy.array([-3, -2, -1, 0, 1, 2]) ** cupy.array([-1, -2, -3, -1, -5, -1])).tolist() == [0, 0, -1, 0, 1, 0]
    assert (cupy.array([-1, -1, 3], 'b') ** cupy.array([-2, -1, -1], 'b')).tolist() == [1, -1, 0]
    assert (cupy.array([True]) | 2 ** 63).dtype == 'L' and (cupy.array([True]) ** 2).dtype == 'l'
    assert cupy.multiply.accumulate(cupy.array([300, 300, 0], 'e')).tolist() == [300, numpy.inf, 0]
    y = cupy.broadcast_to(x, (2, 3))
    y[0, 1] = 7
    assert x.tolist() == [0, 7, 2]
    z = cupy.array([2, 3, 4])
    cupy.place(z, z > 2, z)
    assert z.tolist() == [2, 2, 3]
    for refused in (lambda: cupy.percentile(cupy.zeros(0), 30), lambda: cupy.partition(cupy.zeros(0), 0),
                    lambda: z.fill(cupy.arange(2)), lambda: cupy.insert(x, 0, cupy.zeros((1, 1)))):
        with pytest.raises(ValueError):
            refused()
    z[1] = cupy.array([[9]])
    assert z.tolist() == [2, 9, 3] and cupy.percentile(cupy.array([False, True]), 50).tolist() == 0.5


def test_float_functions_of_integers_beside_scalars():
    """Each operand is converted to a float dtype by its own dtype: uint8 and int8 to float16, uint16 and int8 to float32."""
    for array in '?bBhHiIlL':
        for scalar in '?bBhHiIlLefd':
            number = numpy.dtype(scalar).type(1)
            both(lambda xp: xp.copysign(xp.array([1, 0], array), number))
            both(lambda xp: xp.arctan2(number, xp.array([1, 0], array)))


def test_nothing_is_picked_out_of_nothing():
    """Indexing an empty array raises at once on every device, although other index errors are reported late."""
    with pytest.raises(IndexError, match='axis 1 with size 0'):
        cupy.zeros((3, 0))[..., cupy.array([0])] = 1
    assert cupy.zeros((0, 2))[cupy.zeros(0, 'l')].shape == (0, 2)
    for name in ('power', 'add'):
        both(lambda xp: getattr(xp, name).at(xp.zeros((4, 0, 2), 'B'), [0], xp.zeros((4, 0, 2), 'B')))


@pytest.mark.parametrize('name', ['median', 'nanmedian'])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd', 'l'])
def test_a_middle_of_one_element_is_that(name, dtype):
    """The middle of a single element is that element, although twice its value is infinite."""
    largest = (numpy.iinfo if dtype == 'l' else numpy.finfo)(dtype).max
    for values in ([largest], [largest, 1, largest], [1, largest]):
        both(lambda xp: getattr(xp, name)(xp.array(values, dtype)))
    if dtype != 'l':  # of rows with NaN NumPy's is an infinity
        assert float(cupy.nanmedian(cupy.array([[largest, numpy.nan]], dtype), axis=1)[0]) == largest


def test_numbers_that_are_searched():
    for value in (-1, 2.5, 300, True):
        for dtype in ('B', 'b', 'f', 'L'):
            both(lambda xp: xp.searchsorted(xp.array([0, 1, 3], dtype), value))


def test_steps_of_unsigned_numbers_below_floats():
    both(lambda xp: subtracted(xp, xp.zeros(3, 'e'), numpy.uint8(1)))
    both(lambda xp: subtracted(xp, xp.zeros(3, 'd'), xp.array([1, 2], 'I')))
    both(lambda xp: subtracted(xp, xp.zeros(3, 'B'), 1))


def subtracted(xp, x, value):
    xp.subtract.at(x, [0, 2], value)
    return x


def test_a_running_product_of_bools_stays_one():
    both(lambda xp: xp.cumulative_prod(xp.array([3, 0, 2]), dtype='?', include_initial=True))


@pytest.fixture(scope='module')
def fuzz():
    path = pathlib.Path(__file__).resolve().parents[3] / 'scripts' / 'cupy_fuzz'
    loader = importlib.machinery.SourceFileLoader('cupy_fuzz', str(path))
    module = types.ModuleType('cupy_fuzz')
    loader.exec_module(module)
    return module


def test_random_programs(fuzz):
    for number in range(15):
        found = fuzz.play(f'of this test {number}')
        assert not found, (found[0].lines, found[1])


@pytest.mark.parametrize('name', ['sort', 'where', 'concatenate', 'flip'])
def test_random_programs_find_a_fault(fuzz, monkeypatch, name):
    right = getattr(cupy, name)

    def wrong(*args, **kwargs):
        result = right(*args, **kwargs)
        return result[::-1] if result.ndim and result.size else result
    monkeypatch.setattr(cupy, name, wrong)
    with _core.Device('cpu'):
        assert any(fuzz.play(f'with a fault {number}') for number in range(2000))


def test_at_reads_its_values_before_it_writes():
    for name in ('multiply', 'add', 'subtract', 'maximum'):
        def f(xp):
            x = xp.array([-0.75, 2.0])
            getattr(xp, name).at(x, [0, 0, 1, 1], xp.stack((x, x)).reshape(4))
            getattr(xp, name).at(x, [0, 1], x[::-1])
            return x
        both(f)
