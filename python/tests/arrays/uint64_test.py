"""Integers beyond int64 that uint64 holds, compared with NumPy: ranges, limits, random numbers, indices."""

import numpy
import pytest

from catenary import cupy
from compare import same

pytestmark = pytest.mark.usefixtures('device')
M = 2 ** 63 - 1
U = numpy.uint64
RANGES = [(M, M + 3), (M + 1, M + 4), (U(3),), (U(3), 5), (U(M + 1), U(M + 4)), (U(M + 1), M + 4), (M + 4, M + 1, -1), (M + 1, M + 30, 7),
          (2 ** 64 - 3, 2 ** 64 - 1), (5, 2), (-2, 3), (-5,), (M + 4, M + 1), (2 ** 64 - 1, 2 ** 64 - 20, -6), (numpy.array(2 ** 63, 'u8'), numpy.array(2 ** 63 + 2, 'u8')),
          (0, 10), (1.5, 4), (0, 1, 0.25), (numpy.float32(3),), (3, 0, -1)]


@pytest.mark.parametrize('ends', RANGES, ids=str)
@pytest.mark.parametrize('dtype', [None, 'u8', 'i8', 'd', 'f', 'i4'])
def test_ranges(ends, dtype):
    if dtype == 'i4' and max(map(abs, map(float, ends))) > 2 ** 31 or dtype == 'f' and max(map(abs, map(float, ends))) > 2 ** 24:
        return
    try:
        theirs = numpy.arange(*ends, dtype=dtype)
    except OverflowError:
        with pytest.raises(OverflowError):
            cupy.arange(*ends, dtype=dtype)
        return
    same(cupy.arange(*ends, dtype=dtype), theirs)


def test_steps_too_small_for_floats():
    assert cupy.arange(0, 2 ** 63 + 6, 2 ** 62, 'u8').tolist() == [0, 2 ** 62, 2 ** 63]  # NumPy's length is a float's


def test_ends_that_are_arrays():
    for end in (numpy.array(2 ** 63 + 2, 'u8'), numpy.array(2 ** 63 - 5)):
        same(cupy.arange(cupy.asarray(end) - cupy.asarray(end).dtype.type(2), cupy.asarray(end), dtype='u8'), numpy.arange(int(end) - 2, int(end), dtype='u8'))
    with pytest.raises(ValueError, match='step must not be zero'):
        cupy.arange(2 ** 63, 2 ** 63 + 2, 0)


@pytest.mark.parametrize('call', [
    'full(2, 2 ** 63)', 'full(2, 2 ** 63 + 5, "u8")', 'full((), numpy.uint64(2 ** 64 - 1))', 'full_like(xp.zeros(2, "u8"), 2 ** 64 - 1)',
    'linspace(2 ** 63, 2 ** 63 + 4096, 3, dtype="u8")', 'linspace(0, 2 ** 63, 3, dtype="u8")', 'linspace(2 ** 63, 2 ** 63 + 4096, 3)',
    'clip(xp.array([1, 2 ** 63 + 5], "u8"), 0, 2 ** 63)', 'clip(xp.array([1, 2 ** 63 + 5], "u8"), numpy.uint64(7), numpy.uint64(2 ** 63 + 1))',
    'clip(xp.array([1, -5]), 0, 2 ** 63)', 'arange(5)[numpy.uint64(1):numpy.uint64(3)]', 'arange(5)[:2 ** 63]', 'arange(5)[2 ** 63:]', 'arange(5)[:2 ** 64 + 3]',
    'arange(5)[numpy.uint64(2 ** 63):]', 'arange(5)[xp.array([1, 2], "u8")]', 'arange(5)[-2 ** 63 - 7:]', 'array([2 ** 63, 1])', 'array([1, 2 ** 64 - 1], "u8")',
    'maximum(xp.array([1], "u8"), 2 ** 63)', 'where(xp.array([True, False]), numpy.uint64(2 ** 63), xp.array([1, 2], "u8"))',
    'array([2 ** 63 + 3], "u8") // 5', 'array([2 ** 63 + 3], "u8").astype("d")', 'array([2.0 ** 63, 1.8e19]).astype("u8")', 'sum(xp.array([2 ** 63, 5], "u8"))',
    'max(xp.array([2 ** 63, 5], "u8"))', 'sort(xp.array([2 ** 63, 5], "u8"))', 'unique(xp.array([2 ** 63, 5, 5], "u8"))', 'searchsorted(xp.array([5, 2 ** 63], "u8"), xp.array([2 ** 63], "u8"))',
    'isin(xp.array([2 ** 63, 5], "u8"), xp.array([2 ** 63], "u8"))', 'cumsum(xp.array([2 ** 63, 5], "u8"))', 'mean(xp.array([2 ** 63, 2 ** 63], "u8"))',
    'argmax(xp.array([5, 2 ** 63], "u8"))', 'r_[2 ** 63:2 ** 63 + 3]', 'mgrid[2 ** 63:2 ** 63 + 3]', 'append(xp.array([5], "u8"), xp.array([2 ** 63], "u8"))'])
def test_beside_numpy(call):
    same(cupy.asarray(eval('xp.' + call, {'xp': cupy, 'numpy': numpy})), eval('xp.' + call, {'xp': numpy, 'numpy': numpy}))


@pytest.mark.parametrize('call', ['arange(5)[2 ** 63]', 'arange(2 ** 63, 2 ** 63 + 3, dtype="i8")', 'arange(-2, 3, dtype="u8")', 'array([2 ** 64], "u8")'])
def test_integers_beyond_every_dtype(call):
    for xp in (numpy, cupy):
        with pytest.raises((OverflowError, IndexError)):
            eval('xp.' + call, {'xp': xp})


@pytest.mark.parametrize('low, high', [(2 ** 63, 2 ** 64), (0, 2 ** 64), (1, 2 ** 64), (2 ** 63 + 5, 2 ** 63 + 8), (0, 2 ** 63), (2 ** 62, 2 ** 63 + 2 ** 62), (2 ** 64 - 1, 2 ** 64)])
def test_random_integers(low, high):
    drawn = cupy.random.RandomState(3).randint(low, high, 2000, 'u8')
    values = drawn.tolist()
    assert drawn.dtype == 'u8' and low <= min(values) and max(values) < high
    if high - low > 2 ** 60:
        mean, spread = (low + high) / 2, (high - low) / 12 ** 0.5
        assert abs(sum(values) / 2000 - mean) < 5 * spread / 2000 ** 0.5
    elif high - low == 3:
        assert sorted(set(values)) == [low, low + 1, low + 2]


def test_random_integers_of_arrays():
    low = numpy.array([2 ** 63, 5], 'u8')
    drawn = cupy.random.RandomState(1).randint(cupy.asarray(low), cupy.asarray(low) + U(2), dtype='u8').tolist()
    assert all(a <= b < a + 2 for a, b in zip(low.tolist(), drawn))
    with pytest.raises(ValueError):
        cupy.random.randint(0, 2 ** 64 + 1, dtype='u8')


@pytest.mark.parametrize('low', [-2 ** 63, -5, 0, 2 ** 62, 2 ** 63 - 1])
def test_random_integers_up_to_the_end_of_int64(low):
    for drawn in (cupy.random.RandomState(3).randint(low, 2 ** 63, 2000), cupy.random.default_rng(3).integers(low, 2 ** 63 - 1, 2000, endpoint=True)):
        values = drawn.tolist()
        assert drawn.dtype == 'i8' and low <= min(values)
        mean, spread = (low + 2 ** 63) / 2, (2 ** 63 - low) / 12 ** 0.5
        assert abs(sum(values) / 2000 - mean) <= 5 * spread / 2000 ** 0.5
    with pytest.raises(ValueError):
        cupy.random.randint(low, 2 ** 63 + 1)


def test_padding():
    for values in (2 ** 64 - 1, (2 ** 63, 5), ((2 ** 63 + 1, 2 ** 64 - 1), (1, 2))):
        x = numpy.array([[1, 2 ** 63], [2 ** 64 - 1, 4]], 'u8')
        same(cupy.pad(cupy.asarray(x), 2, constant_values=values), numpy.pad(x, 2, constant_values=numpy.asarray(values, 'u8')))


@pytest.mark.parametrize('value', [1e19, 2.0 ** 63, 1.8446744073709550e19, 2 ** 63 + 4097, 2 ** 64 - 1, numpy.float64(1e19), numpy.float32(1e19), numpy.uint64(2 ** 64 - 1)], ids=repr)
def test_storing_one_value(value):
    """A value beyond int64 in each function that stores it in an array of uint64, also in a view."""
    def results(xp):
        made = {'full': xp.full(2, value, 'u8'), 'full_like': xp.full_like(xp.zeros(3, 'u8'), value)}
        for name in ('fill', 'setitem', 'put', 'put_along_axis', 'place', 'putmask', 'copyto', 'fill_diagonal', 'where', 'masked'):
            base = xp.arange(24).astype('u8').reshape(4, 6)
            a = base[::2, ::-1]
            if name == 'fill':
                a.fill(value)
            elif name == 'setitem':
                a[1, 2:] = value
            elif name == 'masked':
                a[a > 5] = value
            elif name == 'put':
                xp.put(a, xp.array([1, 4]), value)
            elif name == 'put_along_axis':
                xp.put_along_axis(a, xp.array([[1], [2]]), xp.asarray(value).astype('u8'), 1)
            elif name == 'copyto':
                xp.copyto(a, value, casting='unsafe')
            elif name == 'fill_diagonal':
                xp.fill_diagonal(a, value)
            elif name == 'where':
                a[...] = xp.where(a > 5, numpy.uint64(value), a)
            else:
                getattr(xp, name)(a, a > 5, xp.asarray(value).astype('u8').reshape(1))
            made[name] = base
        return made
    theirs = results(numpy)
    for name, ours in results(cupy).items():
        same(ours, theirs[name])


@pytest.mark.parametrize('value', [2 ** 64, -2 ** 63 - 1, 2 ** 70, 2 ** 63])
@pytest.mark.parametrize('dtype', ['f', 'd', 'D'])
def test_copying_an_integer_to_floats(value, dtype):
    theirs, ours = numpy.zeros(3, dtype), cupy.zeros(3, dtype)
    numpy.copyto(theirs[::2], value)
    cupy.copyto(ours[::2], value)
    same(ours, theirs)


@pytest.mark.parametrize('shift, axis', [(2 ** 63, None), (-2 ** 70 - 1, None), (2 ** 64 + 5, 0), ((2 ** 63, -2 ** 65), (0, 1)), ((2 ** 62, 2 ** 62, 2 ** 62), 1), (numpy.uint64(2 ** 63 + 1), 1),
                                         ((2 ** 63 - 1, 2 ** 63 - 1), None), (-7, None), ((3, -8), (1, 0))], ids=str)
def test_roll_beyond_int64(shift, axis):
    a = numpy.arange(15).reshape(3, 5)
    theirs = numpy.roll(a, tuple(map(int, shift)) if isinstance(shift, tuple) else int(shift), axis)
    same(cupy.roll(cupy.asarray(a), shift, axis), theirs)
    same(cupy.roll(cupy.asarray(a)[:, ::-1], shift, axis), numpy.roll(a[:, ::-1], tuple(map(int, shift)) if isinstance(shift, tuple) else int(shift), axis))
    assert cupy.roll(cupy.zeros((0, 3)), shift, axis).shape == (0, 3)
