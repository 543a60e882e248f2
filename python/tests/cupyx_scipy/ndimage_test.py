"""cupyx.scipy.ndimage and cupyx.scipy.signal, compared with NumPy on all windows of the padded array at once."""

import itertools
import math

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import ndimage, signal
from compare import refused, same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
MODES = {'reflect': 'symmetric', 'mirror': 'reflect', 'nearest': 'edge', 'wrap': 'wrap', 'constant': 'constant'}
G = numpy.random.default_rng(7)
ARRAYS = [G.uniform(-9, 9, 7), G.uniform(-9, 9, (5, 4)).astype('f'), G.integers(0, 200, (5, 8)).astype('i'), G.integers(0, 9, (3, 4, 2)).astype('B')]

# on devices, each number of windows and each layout compiles its own kernel
some_on_devices = pytest.mark.parametrize('a', [ARRAYS[1]] + [pytest.param(a, marks=pytest.mark.host) for a in ARRAYS[:1] + ARRAYS[2:]],
                                          ids=lambda a: f'{a.dtype}{a.shape}')


def windows(a, shape, mode='reflect', cval=0, origin=0):
    """Returns the window of each element along additional axes."""
    origin = numpy.broadcast_to(origin, a.ndim)
    widths = [(n // 2 + o, n - 1 - n // 2 - o) for n, o in zip(shape, origin)]
    more = {'constant_values': cval} if mode == 'constant' else {}
    return numpy.lib.stride_tricks.sliding_window_view(numpy.pad(a.astype('d'), widths, MODES[mode], **more), shape)


def near(ours, expected, dtype):
    expected = numpy.asarray(expected)
    same(ours, (numpy.trunc(expected) if numpy.dtype(dtype).kind != 'f' else expected).astype(dtype), 1e-5 if dtype == 'f' else 1e-11)


def test_borders():
    weights = numpy.eye(1, 7)[0]  # the element three places before
    for mode, expected in (('reflect', [3, 2, 1]), ('mirror', [2, 3, 2]), ('nearest', [1, 1, 1]), ('wrap', [1, 2, 3]), ('constant', [9, 9, 9]),
                           ('grid-mirror', [3, 2, 1]), ('grid-wrap', [1, 2, 3]), ('grid-constant', [9, 9, 9])):
        assert ndimage.correlate1d(cupy.asarray([1, 2, 3.]), weights, mode=mode, cval=9).get().tolist() == expected, mode


@some_on_devices
@pytest.mark.parametrize('mode', [m if m == 'mirror' else pytest.param(m, marks=pytest.mark.host) for m in MODES])
def test_sums_of_windows(a, mode):
    x, shape = cupy.asarray(a), (3, 4, 2)[:a.ndim]
    w = G.uniform(0, 1, shape)
    axes = tuple(range(a.ndim, 2 * a.ndim))
    near(ndimage.correlate(x, cupy.asarray(w), mode=mode, cval=2.5), (windows(a, shape, mode, 2.5) * w).sum(axes), a.dtype)
    turned = w[(slice(None, None, -1),) * a.ndim]
    back = [-(n % 2 == 0) for n in shape]
    near(ndimage.convolve(x, w, mode=mode, output='d'), (windows(a, shape, mode, 0, back) * turned).sum(axes), 'd')
    line = [0.5, 2, 1, 0.25]
    for axis in range(a.ndim):
        size = [1] * a.ndim
        size[axis] = 4
        at = [0] * a.ndim
        at[axis] = 1
        near(ndimage.correlate1d(x, line, axis, mode=mode, origin=1), (windows(a, size, mode, 0, at) * numpy.reshape(line, size)).sum(axes), a.dtype)
        near(ndimage.uniform_filter1d(x, 4, axis, 'd', mode), windows(a, size, mode).mean(axes), 'd')
    near(ndimage.uniform_filter(x, shape, 'd', mode), windows(a, shape, mode).mean(axes), 'd')


@some_on_devices
@pytest.mark.parametrize('mode', [m if m == 'mirror' else pytest.param(m, marks=pytest.mark.host) for m in MODES])
def test_ranks_of_windows(a, mode):
    x, shape = cupy.asarray(a), (3, 4, 2)[:a.ndim]
    foot = G.uniform(0, 1, shape) > 0.4
    foot.flat[0] = True
    covered = windows(a, shape, mode, 3)[..., foot]
    all_of_it = windows(a, shape, mode, 3).reshape(a.shape + (-1,))
    for f, expected in ((ndimage.minimum_filter, numpy.min), (ndimage.maximum_filter, numpy.max)):
        near(f(x, footprint=cupy.asarray(foot), mode=mode, cval=3), expected(covered, -1), a.dtype)
        near(f(x, shape, mode=mode, cval=3), expected(all_of_it, -1), a.dtype)
    ordered = numpy.sort(covered, -1)
    near(ndimage.median_filter(x, footprint=foot, mode=mode, cval=3), ordered[..., foot.sum() // 2], a.dtype)
    near(ndimage.rank_filter(x, -1, footprint=foot, mode=mode, cval=3), ordered[..., -1], a.dtype)
    near(ndimage.percentile_filter(x, 30, footprint=foot, mode=mode, cval=3), ordered[..., int(foot.sum() * 0.3)], a.dtype)
    near(ndimage.grey_erosion(x, footprint=foot, mode=mode, cval=3), covered.min(-1), a.dtype)
    raised = G.integers(0, 3, shape)
    near(ndimage.grey_erosion(x.astype('d'), structure=raised, mode=mode, cval=3), (windows(a, shape, mode, 3) - raised).min(tuple(range(a.ndim, 2 * a.ndim))), 'd')
    size = [1] * (a.ndim - 1) + [5]
    near(ndimage.maximum_filter1d(x, 5, mode=mode), windows(a, size, mode).max(tuple(range(a.ndim, 2 * a.ndim))), a.dtype)


def test_gaussians_and_derivatives():
    a = ARRAYS[1].astype('d')
    x = cupy.asarray(a)
    k = numpy.arange(-6, 7)
    bell = numpy.exp(-k ** 2 / 4.5)
    bell /= bell.sum()
    for order, factor in enumerate((1, -k / 2.25, k ** 2 / 2.25 ** 2 - 1 / 2.25)):
        expected = (windows(a, (1, 13)) * (factor * bell)[::-1]).sum((2, 3))
        near(ndimage.gaussian_filter1d(x, 1.5, order=order), expected, 'd')
        same(ndimage.gaussian_filter(x, (0, 1.5), order=(0, order)), expected, 1e-11)
    smooth = ndimage.gaussian_filter(x, 1.5, axes=1)
    same(ndimage.gaussian_filter(smooth, (1.5, 0)), ndimage.gaussian_filter(x, 1.5).get(), 1e-12)
    second = [ndimage.gaussian_filter(x, 1.5, order).get() for order in ((2, 0), (0, 2))]
    same(ndimage.gaussian_laplace(x, 1.5), sum(second), 1e-12)
    first = [ndimage.gaussian_filter(x, 1.5, order).get() for order in ((1, 0), (0, 1))]
    same(ndimage.gaussian_gradient_magnitude(x, 1.5), numpy.hypot(*first), 1e-12)
    sobel = numpy.outer([1, 2, 1], [-1, 0, 1])
    same(ndimage.sobel(x), (windows(a, (3, 3)) * sobel).sum((2, 3)), 1e-11)
    same(ndimage.prewitt(x, 0, mode='wrap'), (windows(a, (3, 3), 'wrap') * numpy.sign(sobel).T).sum((2, 3)), 1e-11)
    same(ndimage.laplace(x), (windows(a, (3, 3)) * [[0, 1, 0], [1, -4, 1], [0, 1, 0]]).sum((2, 3)), 1e-11)
    out = cupy.zeros(a.shape, 'f')
    assert ndimage.sobel(x, output=out) is out and bool((out == ndimage.sobel(x, output='f')).all())
    modes = ndimage.gaussian_filter1d(ndimage.gaussian_filter1d(x, 1.5, 0, mode='wrap'), 1.5, 1, mode='nearest')
    same(ndimage.gaussian_filter(x, 1.5, mode=['wrap', 'nearest']), modes.get(), 1e-12)


def test_shapes_that_grow():
    a = G.uniform(0, 1, (9, 11)) > 0.45
    x, cross = cupy.asarray(a), numpy.asarray([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
    same(ndimage.generate_binary_structure(2, 1), cross)
    same(ndimage.generate_binary_structure(3, 2), numpy.abs(numpy.indices((3, 3, 3)) - 1).sum(0) <= 2)
    shrunk, grown = (f(windows(a, (3, 3), 'constant')[..., cross], -1) > 0 for f in (numpy.min, numpy.max))
    same(ndimage.binary_erosion(x), shrunk)
    same(ndimage.binary_dilation(x), grown)
    same(ndimage.binary_erosion(x, border_value=1), windows(a, (3, 3), 'constant', 1)[..., cross].min(-1) > 0)
    same(ndimage.binary_erosion(x, iterations=2), windows(shrunk, (3, 3), 'constant')[..., cross].min(-1) > 0)
    same(ndimage.binary_opening(x), windows(shrunk, (3, 3), 'constant')[..., cross].max(-1) > 0)
    same(ndimage.binary_closing(x), windows(grown, (3, 3), 'constant')[..., cross].min(-1) > 0)
    same(ndimage.binary_dilation(x, numpy.ones((2, 1))), a | numpy.pad(a, ((0, 1), (0, 0)))[1:])
    mask = G.uniform(0, 1, a.shape) > 0.5
    same(ndimage.binary_dilation(x, mask=cupy.asarray(mask)), numpy.where(mask, grown, a))
    ring = numpy.zeros((7, 8), bool)
    ring[1:6, 1:6] = True
    hole = ring.copy()
    hole[2:5, 2:5] = False
    same(ndimage.binary_fill_holes(cupy.asarray(hole)), ring)
    seed = numpy.zeros_like(hole)
    seed[1, 1] = True
    same(ndimage.binary_propagation(cupy.asarray(seed), mask=cupy.asarray(hole)), hole)
    same(ndimage.binary_hit_or_miss(cupy.asarray(hole), [[0, 0, 0], [0, 1, 1], [0, 1, 0]], [[1, 1, 1], [1, 0, 0], [1, 0, 0]]), seed)
    same(ndimage.iterate_structure(cross, 2), numpy.abs(numpy.indices((5, 5)) - 2).sum(0) <= 2)
    b = ARRAYS[2]
    y, low, high = cupy.asarray(b), windows(b, (3, 3)).min((2, 3)), windows(b, (3, 3)).max((2, 3))
    near(ndimage.grey_dilation(y, 3), high, 'i')
    near(ndimage.grey_opening(y, 3), windows(low, (3, 3)).max((2, 3)), 'i')
    near(ndimage.black_tophat(y, 3), windows(high, (3, 3)).min((2, 3)) - b, 'i')
    near(ndimage.white_tophat(y, 3), b - windows(low, (3, 3)).max((2, 3)), 'i')
    near(ndimage.morphological_gradient(y, 3), high - low, 'i')
    near(ndimage.morphological_laplace(y, 3), high + low - 2 * b, 'i')


def flooded(a, steps):
    """Labels components by a search from each element."""
    labels, count = numpy.zeros(a.shape, 'i'), 0
    for start in itertools.product(*map(range, a.shape)):
        if a[start] and not labels[start]:
            count, found = count + 1, [start]
            labels[start] = count
            while found:
                here = found.pop()
                for step in steps:
                    there = tuple(p + s for p, s in zip(here, step))
                    if all(0 <= p < n for p, n in zip(there, a.shape)) and a[there] and not labels[there]:
                        labels[there] = count
                        found.append(there)
    return labels, count


def test_parts():
    snake = numpy.zeros((12, 11), bool)
    snake[::2], snake[1::4, -1], snake[3::4, 0] = True, True, True
    for a in (G.uniform(0, 1, (9, 11)) > 0.5, snake, G.uniform(0, 1, (4, 3, 5)) > 0.6, numpy.zeros((3, 2), bool), numpy.ones(5, bool), G.uniform(0, 1, 9) > 0.4):
        full = [s for s in itertools.product((-1, 0, 1), repeat=a.ndim) if any(s)]
        for structure, steps in ((None, [s for s in full if sum(map(abs, s)) == 1]), (numpy.ones((3,) * a.ndim), full)):
            labels, count = ndimage.label(cupy.asarray(a), structure)
            expected, number = flooded(a, steps)
            same(labels, expected)
            assert count == number
    with pytest.raises(ValueError, match='3 elements along each of 2 axes'):
        ndimage.label(cupy.ones((2, 2)), numpy.ones((3, 2)))
    values, labels = G.uniform(-5, 5, (6, 7)), G.integers(0, 5, (6, 7))
    x, at = cupy.asarray(values), cupy.asarray(labels)
    for name, f in (('sum', numpy.sum), ('sum_labels', numpy.sum), ('mean', numpy.mean), ('variance', numpy.var), ('standard_deviation', numpy.std),
                    ('minimum', numpy.min), ('maximum', numpy.max)):
        ours = getattr(ndimage, name)
        same(ours(x), f(values), 1e-12)
        same(ours(x, at), f(values[labels > 0]), 1e-12)
        same(ours(x, at, 2), f(values[labels == 2]), 1e-12)
        same(ours(x, at, [3, 0, 1]), [f(values[labels == k]) for k in (3, 0, 1)], 1e-12)
    assert ndimage.sum(x, at, [77, 1])[0] == 0 and ndimage.maximum(x, at, cupy.asarray([77]))[0] == 0
    weight = values ** 2
    centre = [(weight * p).sum() / weight.sum() for p in numpy.indices(values.shape)]
    numpy.testing.assert_allclose([c.item() for c in ndimage.center_of_mass(cupy.asarray(weight))], centre)
    one = weight * (labels == 3)
    parts = ndimage.center_of_mass(cupy.asarray(weight), at, [1, 3])
    numpy.testing.assert_allclose([c.item() for c in parts[1]], [(one * p).sum() / one.sum() for p in numpy.indices(values.shape)])


@pytest.mark.parametrize('statement, error, says', [
    ('ndimage.correlate(x, numpy.ones(3))', RuntimeError, 'filter weights array has incorrect shape: it has 1 axes, the array has 2'),
    ('ndimage.correlate1d(x, [1, 2, 3], origin=2)', ValueError, 'invalid origin 2 for a window of 3'),
    ("ndimage.correlate1d(x, [1, 2, 3], mode='over')", RuntimeError, "not 'over'"), ('ndimage.minimum_filter(x)', RuntimeError, 'no footprint or filter size'),
    ('ndimage.sobel(numpy.ones(3))', TypeError, 'use cupy.asarray'), ('ndimage.gaussian_filter1d(x, 1, order=-1)', ValueError, 'non-negative integer, not -1'),
    ('ndimage.sobel(x, output=cupy.zeros(3))', RuntimeError, 'output shape not correct: it is (3,)'), ('ndimage.rank_filter(x, 9, 3)', RuntimeError, 'rank not within'),
    ('ndimage.uniform_filter1d(x, 0)', RuntimeError, 'incorrect filter size: 0'), ('ndimage.sobel(x, 2)', cupy.AxisError, 'axis 2'),
    ('ndimage.minimum_filter(x, footprint=numpy.zeros((2, 2)))', ValueError, 'all-zero footprint'), ('ndimage.grey_erosion(x)', ValueError, 'must be specified'),
    ('ndimage.uniform_filter(x, [1, 2, 3])', RuntimeError, 'size: expected a value for each of 2 axes'),
    ("signal.convolve(x, x, 'most')", ValueError, "not 'most'"), ('signal.convolve(x, x[0])', ValueError, 'same dimensionality, given 2 and 1'),
    ("signal.convolve(x, cupy.ones((1, 4)), 'valid')", ValueError, "for 'valid' mode"), ("signal.convolve2d(x, x, boundary='line')", ValueError, "not 'line'"),
    ('signal.medfilt(x, 2)', ValueError, 'should be odd'), ('signal.order_filter(x, numpy.ones((2, 1)), 0)', ValueError, 'odd number of elements'),
    ('signal.lombscargle', AttributeError, 'names cupyx.scipy.signal')])
def test_invalid_arguments_raise(statement, error, says):
    refused(statement, error, says, ndimage=ndimage, signal=signal, x=cupy.ones((2, 3)))


def full_sums(a, b):
    """Returns the full convolution as a sum over offsets."""
    out = numpy.zeros([m + n - 1 for m, n in zip(a.shape, b.shape)], numpy.result_type(a, b))
    for place in numpy.ndindex(b.shape):
        out[tuple(slice(p, p + n) for p, n in zip(place, a.shape))] += a * b[place]
    return out


@pytest.mark.parametrize('shapes', [((5,), (3,)), ((4, 5), (2, 3))] + [pytest.param(s, marks=pytest.mark.host) for s in (
    ((3,), (5,)), ((2, 3), (4, 5)), ((4, 3), (3, 4)), ((3, 4, 2), (2, 2, 2)))])
@pytest.mark.parametrize('dtype', ['f', pytest.param('d', marks=pytest.mark.host), pytest.param('i', marks=pytest.mark.host)])
def test_convolutions(shapes, dtype):
    a, b = (G.integers(-5, 9, shape).astype(dtype) for shape in shapes)
    x, y = cupy.asarray(a), cupy.asarray(b)
    full, turned = full_sums(a, b), full_sums(a, b[(slice(None, None, -1),) * b.ndim])
    same(signal.convolve(x, y), full)
    same(signal.correlate(x, y), turned)
    middle = tuple(slice((n - 1) // 2, (n - 1) // 2 + m) for m, n in zip(a.shape, b.shape))
    same(signal.convolve(x, y, 'same'), full[middle])
    same(signal.correlate(x, y, 'same'), turned[middle])
    if all(m >= n for m, n in zip(a.shape, b.shape)) or all(m <= n for m, n in zip(a.shape, b.shape)):
        inner = tuple(slice(min(m, n) - 1, max(m, n)) for m, n in zip(a.shape, b.shape))
        same(signal.convolve(x, y, 'valid'), full[inner])
        same(signal.correlate(x, y, 'valid'), turned[inner])
    if a.ndim == 2:
        for boundary, mode in (('fill', 'constant'), ('wrap', 'wrap'), ('symm', 'symmetric')):
            widths = [(n - 1, n - 1) for n in b.shape]
            wide = numpy.pad(a, widths, mode, **({'constant_values': 2} if boundary == 'fill' else {}))
            whole = tuple(slice(n - 1, n - 1 + m + n - 1) for m, n in zip(a.shape, b.shape))
            same(signal.convolve2d(x, y, boundary=boundary, fillvalue=2), full_sums(wide, b)[whole])
            same(signal.correlate2d(x, y, boundary=boundary, fillvalue=2), full_sums(wide, b[::-1, ::-1])[whole])
            late = tuple(slice(n // 2, n // 2 + m) for m, n in zip(a.shape, b.shape))
            same(signal.correlate2d(x, y, 'same', boundary, 2), full_sums(wide, b[::-1, ::-1])[whole][late])
    else:
        assert signal.choose_conv_method(x, y) == 'direct'


def test_lags_and_medians():
    same(signal.correlation_lags(3, 5), numpy.arange(-4, 3))
    same(signal.correlation_lags(5, 3, 'valid'), numpy.arange(3))
    a = ARRAYS[1]
    expected = numpy.median(windows(a, (3, 5), 'constant').reshape(a.shape + (-1,)), -1).astype('f')
    same(signal.medfilt(cupy.asarray(a), [3, 5]), expected)
    same(signal.medfilt2d(cupy.asarray(a), [3, 5]), expected)
    same(signal.order_filter(cupy.asarray(a), numpy.ones((3, 5)), 0), windows(a, (3, 5), 'constant').min((2, 3)).astype('f'))


def almost(ours, expected, tolerance):
    assert ours.dtype == expected.dtype and ours.shape == expected.shape, (ours.dtype, expected.dtype)
    numpy.testing.assert_allclose(ours.get(), expected, rtol=tolerance, atol=tolerance)


def complex_numbers(shape):
    return G.normal(size=shape) + 1j * G.normal(size=shape)


@pytest.mark.host
def test_sums_of_complex_numbers():
    a, w = complex_numbers((5, 4)), complex_numbers((3, 2))
    for b in (a, a.real.copy()):
        x = cupy.asarray(b)
        covered = windows_of(b, (3, 2), 'mirror')
        almost(ndimage.correlate(x, cupy.asarray(w), mode='mirror'), (covered * w.conj()).sum((2, 3)), 1e-11)
        back = numpy.pad(b, ((1, 1), (0, 1)), 'reflect')
        almost(ndimage.convolve(x, w, mode='mirror'), (numpy.lib.stride_tricks.sliding_window_view(back, (3, 2)) * w[::-1, ::-1]).sum((2, 3)), 1e-11)
    x = cupy.asarray(a)
    almost(ndimage.correlate(x, w.real, mode='mirror'), (windows_of(a, (3, 2), 'mirror') * w.real).sum((2, 3)), 1e-11)
    almost(ndimage.correlate1d(x, w[:, 0], 0, mode='mirror'), (windows_of(a, (3, 1), 'mirror')[..., 0] * w[:, 0].conj()).sum(2), 1e-11)
    for name, more in (('gaussian_filter', (1.2,)), ('uniform_filter', (3,)), ('sobel', ()), ('laplace', ())):
        f = getattr(ndimage, name)
        almost(f(x, *more), f(cupy.asarray(a.real), *more).get() + 1j * f(cupy.asarray(a.imag), *more).get(), 1e-11)
        assert f(x.astype('F'), *more).dtype == 'F'
    for f in (ndimage.minimum_filter, ndimage.median_filter, ndimage.grey_erosion, ndimage.maximum_filter1d):
        with pytest.raises(TypeError, match='Complex type not supported'):
            f(x, 3)
    with pytest.raises(RuntimeError, match='output must have complex dtype, not float64'):
        ndimage.uniform_filter(x, 3, output=cupy.zeros(x.shape, 'd'))


def windows_of(a, shape, mode):
    return numpy.lib.stride_tricks.sliding_window_view(numpy.pad(a, [(n // 2, n - 1 - n // 2) for n in shape], MODES[mode]), shape)


@pytest.mark.host
def test_filters_of_transforms():
    a = G.normal(size=(6, 9))
    x = cupy.fft.fft2(cupy.asarray(a))
    moved = cupy.fft.ifft2(ndimage.fourier_shift(x, (2, -3)))
    almost(moved.real, numpy.roll(a, (2, -3), (0, 1)), 1e-11)
    half = cupy.fft.rfft2(cupy.asarray(a))
    almost(cupy.fft.irfft2(ndimage.fourier_shift(half, (2, -3), 9), a.shape), numpy.roll(a, (2, -3), (0, 1)), 1e-11)
    almost(cupy.fft.irfft2(ndimage.fourier_shift(half, 1, 9, axis=-1), a.shape), numpy.roll(a, (1, 1), (0, 1)), 1e-11)
    turns = [numpy.fft.fftfreq(6)[:, None], numpy.fft.fftfreq(9)]
    ones = cupy.ones((6, 9))
    almost(ndimage.fourier_gaussian(ones, (1, 2)), numpy.exp(-2 * numpy.pi ** 2 * (turns[0] ** 2 + 4 * turns[1] ** 2)), 1e-12)
    almost(ndimage.fourier_uniform(ones, (1, 2)), numpy.sinc(turns[0]) * numpy.sinc(2 * turns[1]), 1e-12)
    almost(ndimage.fourier_gaussian(x.astype('F'), 1), (x.get() * numpy.exp(-2 * numpy.pi ** 2 * (turns[0] ** 2 + turns[1] ** 2))).astype('F'), 1e-4)
    assert ndimage.fourier_shift(ones.astype('f'), 1).dtype == 'D' and ndimage.fourier_uniform(ones.astype('f'), 1).dtype == 'f'
    # means over the points of a disk and of a ball
    t = (numpy.arange(400) + 0.5) / 400 * 2 - 1
    disk = numpy.sqrt(1 - t ** 2)
    ball = 1 - t ** 2
    radius = numpy.pi * 3 * numpy.fft.fftfreq(8)
    near_disk = [(numpy.cos(r * t) * disk).sum() / disk.sum() for r in radius]
    near_ball = [(numpy.cos(r * t) * ball).sum() / ball.sum() for r in radius]
    numpy.testing.assert_allclose(ndimage.fourier_ellipsoid(cupy.ones((8, 1)), 3).get()[:, 0], near_disk, atol=1e-3)
    numpy.testing.assert_allclose(ndimage.fourier_ellipsoid(cupy.ones((1, 8, 1)), 3).get()[0, :, 0], near_ball, atol=1e-4)
    almost(ndimage.fourier_ellipsoid(cupy.ones(8), 3), numpy.sinc(radius / numpy.pi), 1e-12)
    out = cupy.zeros((6, 9), 'D')
    assert ndimage.fourier_uniform(x, 2, output=out) is out
    with pytest.raises(NotImplementedError, match='Only 1d, 2d and 3d'):
        ndimage.fourier_ellipsoid(cupy.ones((2, 2, 2, 2)), 1)


def bell(order, t):
    """Returns the B-spline of this order by its recurrence."""
    if order == 0:
        return ((t >= -0.5) & (t < 0.5)).astype(float)
    half = (order + 1) / 2
    return ((half + t) * bell(order - 1, t + 0.5) + (half - t) * bell(order - 1, t - 0.5)) / order


def splined(a, at, order, mode, cval):
    """Returns values of the spline through a line that is extended by its mode by 60 elements."""
    n, wide = len(a), 60
    outside = (at < 0) | (at > n - 1)
    if mode == 'wrap':
        at = numpy.where(outside, at % (n - 1), at)
    line = numpy.pad(a, wide, {'constant': 'reflect', 'wrap': 'reflect', 'grid-wrap': 'wrap', 'grid-mirror': 'symmetric', 'grid-constant': 'constant'}.get(
        mode, MODES.get(mode)), **({'constant_values': cval} if mode == 'grid-constant' else {}))
    places = numpy.arange(len(line))
    coefficients = numpy.linalg.solve(bell(order, places[:, None] - places), line) if order > 1 else line
    made = bell(order, at[:, None] + wide - places) @ coefficients
    return numpy.where(outside, cval, made) if mode == 'constant' else made


@pytest.mark.host
@pytest.mark.parametrize('mode', ['constant', 'grid-constant', 'nearest', 'mirror', 'reflect', 'grid-mirror', 'wrap', 'grid-wrap'])
@pytest.mark.parametrize('order', range(6))
def test_splines(order, mode):
    a, at = G.normal(size=9), G.uniform(-14, 22, 40)
    limit = 1e-3 if mode in ('nearest', 'grid-constant') else 1e-6  # whose borders have twelve elements, as SciPy's
    for b in (a, a + 1j * G.normal(size=9)):
        x = cupy.asarray(b)
        numpy.testing.assert_allclose(ndimage.map_coordinates(x, cupy.asarray(at[None]), order=order, mode=mode, cval=0.5).get(),
                                      splined(b, at, order, mode, 0.5), atol=limit)
        numpy.testing.assert_allclose(ndimage.shift(x, 1.3, order=order, mode=mode).get(), splined(b, numpy.arange(9) - 1.3, order, mode, 0), atol=limit)
    m = G.normal(size=(5, 6))
    rows = numpy.stack([splined(row, numpy.arange(4) * 1.6, order, mode, 0) for row in m])
    both = numpy.stack([splined(column, numpy.arange(3) * 1.9, order, mode, 0) for column in rows.T], 1)
    same(ndimage.affine_transform(cupy.asarray(m), [1.9, 1.6], 0, (3, 4), order=order, mode=mode), both, limit)
    if order > 1 and mode in ('mirror', 'reflect', 'grid-wrap'):
        back = ndimage.map_coordinates(ndimage.spline_filter(cupy.asarray(m), order, mode=mode), cupy.asarray(numpy.indices(m.shape)), order=order, mode=mode, prefilter=False)
        same(back, m, 1e-10)
        same(ndimage.spline_filter1d(ndimage.spline_filter1d(cupy.asarray(m), order, 0, mode=mode), order, 1, mode=mode), ndimage.spline_filter(cupy.asarray(m), order, mode=mode).get(), 1e-12)


def test_an_interpolation_on_every_device():
    a = G.normal(size=9)
    same(ndimage.shift(cupy.asarray(a), 1.25, order=1, mode='nearest'), splined(a, numpy.arange(9) - 1.25, 1, 'nearest', 0), 1e-12)


@pytest.mark.host
def test_turned_and_enlarged():
    a = G.normal(size=(4, 7))
    x = cupy.asarray(a)
    same(ndimage.zoom(x, 2, order=1, mode='nearest')[::7, ::13], a[::3, ::6], 1e-12)
    same(ndimage.zoom(x, (1, 2), order=0, mode='nearest', grid_mode=True), numpy.repeat(a, 2, 1))
    same(ndimage.rotate(x, 90, order=1), numpy.rot90(a), 1e-12)
    same(ndimage.rotate(x, -180, order=3), a[::-1, ::-1], 1e-10)
    assert ndimage.rotate(x, 45, order=0).shape == (8, 8) and ndimage.rotate(x, 45, reshape=False, order=0).shape == (4, 7)
    same(ndimage.shift(x, (1, -2), order=0, cval=5), numpy.pad(a, ((1, 0), (0, 2)), constant_values=5)[:-1, 2:])
    turn = numpy.asarray([[0., 1, 0.5], [1, 0, -1]])
    same(ndimage.affine_transform(x, turn, output_shape=(7, 4), order=1, mode='nearest'), ndimage.affine_transform(x, turn[:, :2], turn[:, 2], (7, 4), order=1, mode='nearest').get())
    same(ndimage.zoom(cupy.asarray([0, 10], 'B'), 2, order=1), numpy.asarray([0, 3, 7, 10], 'B'))
    same(ndimage.shift(cupy.asarray([-5, 5, -5, 5], 'i'), 0.9, order=1, mode='mirror'), numpy.asarray([4, -4, 4, -4], 'i'))
    assert ndimage.zoom(cupy.zeros((2, 0)), (2, 1)).shape == (4, 0) and ndimage.map_coordinates(x, cupy.zeros((2, 0, 3))).shape == (0, 3)
    out = cupy.zeros((4, 7), 'f')
    assert ndimage.shift(x, 0.5, output=out) is out


@pytest.mark.parametrize('statement, error, says', [
    ('ndimage.shift(x, 1, order=6)', RuntimeError, 'expected 0 to 5, given 6'), ("ndimage.shift(x, 1, mode='q')", ValueError, 'boundary mode (q)'),
    ('ndimage.map_coordinates(x, cupy.ones((3, 2)))', RuntimeError, '(3, 2) for an array of 2 axes'), ('ndimage.map_coordinates(x, x * 1j)', TypeError, 'for coordinates'),
    ('ndimage.affine_transform(x, numpy.ones((3, 2)))', RuntimeError, 'wrong number of rows or columns'), ('ndimage.affine_transform(x, [1, 1], texture_memory=True)', NotImplementedError, 'texture_memory=True is not supported'),
    ('ndimage.affine_transform(x, numpy.ones((3, 3)))', ValueError, 'bottom row'), ('ndimage.rotate(x[0], 3)', ValueError, 'at least 2D'), ('ndimage.rotate(x, 3, (0, 2))', ValueError, 'invalid rotation plane'),
    ('ndimage.spline_filter(x, 1)', RuntimeError, 'spline order not supported'), ("ndimage.shift(x * 1j, 1, output='d')", RuntimeError, 'must have complex dtype'), ('ndimage.zoom(numpy.ones(3), 2)', TypeError, 'use cupy.asarray')])
def test_interpolations_that_are_refused(statement, error, says):
    refused(statement, error, says, ndimage=ndimage, x=cupy.ones((2, 3)))


def test_complex_results_have_complex_dtypes():
    x, w = cupy.asarray(ARRAYS[1]), numpy.asarray([[1, 1j]])
    with pytest.warns(UserWarning, match='promoting specified output dtype to complex'):
        made = ndimage.correlate(x, w, output='f')
    assert made.dtype == 'F'
    same(made, ndimage.correlate(x, w, output='F').get())
    with pytest.raises(RuntimeError, match='output must have complex dtype, not float32'):
        ndimage.correlate(x, w, output=cupy.zeros_like(x))
    for call in (lambda m: ndimage.correlate(x, w, mode=m), lambda m: ndimage.median_filter(x, 3, mode=m), lambda m: ndimage.maximum_filter(
            x, footprint=[[1, 0], [0, 1]], mode=m)):
        with pytest.raises(RuntimeError, match='a sequence of modes is supported only'):
            call(['reflect', 'wrap'])
    assert ndimage.maximum_filter(x, 3, mode=['reflect', 'wrap']).shape == x.shape
    with pytest.warns(UserWarning, match='use mode = grid-wrap instead of wrap'):
        ndimage.zoom(x, 2, mode='wrap', grid_mode=True)


def test_morphology_of_one_element_and_of_even_windows():
    for function in (ndimage.binary_erosion, ndimage.binary_dilation, ndimage.binary_propagation):
        assert function(cupy.ones(())).item() is True and function(cupy.zeros(())).item() is False
    assert ndimage.label(cupy.ones(()))[0].item() == 1 and ndimage.label(cupy.zeros(()))[1] == 0
    grown = ndimage.iterate_structure(cupy.asarray([[0, 1], [1, 1], [0, 1]]), 2)
    assert grown.get().tolist() == [[False, False, True], [False, True, True], [True, True, True], [False, True, True], [False, False, True]]
    for iterations in (0.5, 2.0):
        with pytest.raises(TypeError):
            ndimage.binary_opening(cupy.ones(3), iterations=iterations)


@pytest.mark.parametrize('dtype', ['i', 'f', 'd', '?'])
@pytest.mark.parametrize('labels', [None, 'of two axes', 'of one'])
def test_selections(dtype, labels):
    """Positions of extrema, medians, histograms and functions of regions, compared with loops over the regions."""
    a = G.integers(0, 5, (4, 6)).astype(dtype)
    x = cupy.asarray(a)
    own = {None: None, 'of two axes': numpy.arange(24).reshape(4, 6) * 7 % 4, 'of one': numpy.asarray([1, 0, 2, 2, 1, 1])}[labels]
    given = None if own is None else cupy.asarray(own)
    wide = None if own is None else numpy.broadcast_to(own, a.shape)
    masks = [numpy.ones(a.shape, bool)] if own is None else [wide != 0] + [wide == k for k in (2, 1)]
    for index, mask in zip((None, 2, 1), masks):
        part = numpy.where(mask, a.astype('d'), numpy.nan)
        low, high = (numpy.unravel_index(f(part), a.shape) for f in (numpy.nanargmin, numpy.nanargmax))
        assert ndimage.minimum_position(x, given, index) == low and ndimage.maximum_position(x, given, index) == high
        same(ndimage.median(x, given, index), numpy.float32(numpy.median(a[mask])) if dtype == 'f' else numpy.median(a[mask].astype('d')))
        least, largest, *places = ndimage.extrema(x, given, index)
        assert (least.item(), largest.item(), *places) == (a[mask].min(), a[mask].max(), low, high)
        same(ndimage.histogram(x, 0, 5, 5, given, index), numpy.histogram(a[mask], 5, (0, 5))[0])
    if own is None:
        with pytest.raises(ValueError, match='index without'):
            ndimage.labeled_comprehension(x, None, 1, cupy.sum, 'd', 0)
        return
    asked = cupy.asarray([2, 1])
    lows = ndimage.minimum_position(x, given, asked)
    assert lows == [tuple(numpy.argwhere(m & (a == a[m].min()))[0]) for m in masks[1:]]
    assert ndimage.maximum_position(x, given, asked) == [tuple(numpy.argwhere(m & (a == a[m].max()))[-1]) for m in masks[1:]]
    assert [h.get().tolist() for h in ndimage.histogram(x, 0, 5, 5, given, asked)] == [numpy.histogram(a[m], 5, (0, 5))[0].tolist() for m in masks[1:]]
    same(ndimage.labeled_comprehension(x, given, [2, 77, 1], lambda values, places: values.sum() + places[0], 'd', -1, True),
         numpy.asarray([a[m].sum(dtype='l') + numpy.flatnonzero(m)[0] if m is not None else -1 for m in (masks[1], None, masks[2])], 'd'))
    assert numpy.isnan(ndimage.median(x.astype('d'), given, 77).item())


def test_boxes_of_labels():
    a = numpy.zeros((4, 5, 3), 'i')
    a[1:3, 2:4, 0], a[3, 4, 2], a[0, 0, 1] = 1, 1, 4
    boxes = [(slice(1, 4), slice(2, 5), slice(0, 3)), None, None, (slice(0, 1), slice(0, 1), slice(1, 2))]
    assert ndimage.find_objects(cupy.asarray(a)) == boxes and ndimage.find_objects(cupy.asarray(a), 1) == boxes[:1]
    assert ndimage.find_objects(cupy.asarray(a), 6) == boxes + [None, None] and ndimage.find_objects(cupy.zeros((2, 0), 'i')) == []
    assert ndimage.find_objects(cupy.zeros(3, 'i')) == [] and ndimage.find_objects(cupy.asarray([0, 2, 2, 0, 2])) == [None, (slice(1, 5),)]
    with pytest.raises(TypeError, match='expected labels of an integer dtype, got float64'):
        ndimage.find_objects(cupy.ones(3))


def test_indices_of_values():
    a = numpy.asarray([[1, 0, 3], [3, 3, 0]])
    found = ndimage.value_indices(cupy.asarray(a), ignore_value=0)
    assert list(found) == [1, 3] and all([p.get().tolist() for p in found[v]] == [p.tolist() for p in numpy.nonzero(a == v)] for v in found)
    with pytest.raises(ValueError, match='must be an integer array'):
        ndimage.value_indices(cupy.ones(3))


# ------------------------------------------------------------------ distances, and kernels of users'
def nearest(x, spacing):
    """Returns the distances to the nearest zero over all pairs."""
    places = numpy.stack(numpy.indices(x.shape), -1).reshape(-1, x.ndim) * numpy.asarray(spacing)
    zeros = places[(x == 0).ravel()]
    return numpy.sqrt(((places[:, None] - zeros) ** 2).sum(-1).min(1)).reshape(x.shape)


@pytest.mark.parametrize('shape', [(13,), (7, 9), (1, 6), (6, 1), (4, 5, 6), (2, 3, 2, 4)])
def test_distances(shape):
    generator = numpy.random.default_rng(4)
    for share in (0.05, 0.4):
        x = (generator.random(shape) > share).astype('i')
        x[(0,) * x.ndim] = 0
        for sampling in (None, 1.5, [1 + k / 2 for k in range(len(shape))]):
            spacing = numpy.broadcast_to(1.0 if sampling is None else sampling, (len(shape),))
            expected = nearest(x, spacing)
            same(ndimage.distance_transform_edt(cupy.asarray(x), sampling), expected, 1e-12)
            made, places = ndimage.distance_transform_edt(cupy.asarray(x), sampling, return_indices=True)
            same(made, expected, 1e-12)
            at = places.get()
            assert at.dtype == 'i' and at.shape == (x.ndim,) + shape and not x[tuple(at)].any()
            numpy.testing.assert_allclose(numpy.sqrt((((at - numpy.indices(shape)).T * spacing) ** 2).sum(-1)).T, expected)


def test_distances_into_arrays_and_without_zeros():
    x = cupy.asarray([[1, 1, 0], [1, 1, 1]])
    distances, indices = cupy.empty((2, 3)), cupy.empty((2, 2, 3), 'l')
    assert ndimage.distance_transform_edt(x, distances=distances, indices=indices, return_indices=True) is None
    same(distances, nearest(x.get(), (1, 1)), 1e-12)
    assert indices[:, 1, 0].tolist() == [0, 2]
    assert ndimage.distance_transform_edt(x, return_distances=False, return_indices=True).tolist() == indices.tolist()
    same(ndimage.distance_transform_edt(x, float64_distances=False), nearest(x.get(), (1, 1)).astype('f'), 1e-6)
    assert ndimage.distance_transform_edt(cupy.ones((2, 2))).tolist() == [[math.inf] * 2] * 2
    assert ndimage.distance_transform_edt(cupy.zeros((3, 2))).tolist() == [[0] * 2] * 3
    assert ndimage.distance_transform_edt(cupy.ones((0, 2))).shape == (0, 2)
    for keywords, says in (({'return_distances': False}, 'at least one'), ({'distances': distances[:1]}, 'the shape'), ({'distances': distances.astype('f')}, 'the dtype'),
                           ({'indices': indices}, 'return_indices must'), ({'indices': indices.astype('b'), 'return_indices': True}, '16 bits'), ({'sampling': [1]}, 'sampling')):
        with pytest.raises(RuntimeError, match=says):
            ndimage.distance_transform_edt(x, **keywords)


SQUARES = cupy.RawKernel('''extern "C" __global__ void squares(const double* window, int size, double* result) {
    double total = 0;
    for (int k = 0; k < size; ++k) total += window[k] * window[k];
    *result = total / size;
}''', 'squares')
LARGEST = cupy.ReductionKernel('T x', 'T y', 'x', 'a > b ? a : b', 'y = a', None, 'largest')
BELOW = cupy.ReductionKernel('X x', 'Y y', '_raw_x[_in_ind.size() / 2] > x', 'a + b', 'y = a', '0', 'below', reduce_type='int')
FIRST = cupy.RawKernel('''extern "C" __global__ void first(const double* line, ptrdiff_t length, double* result, ptrdiff_t count) {
    for (int k = 0; k < count; ++k) result[k] = line[k] - line[length - 1];
}''', 'first')
PADDING = {'reflect': 'symmetric', 'mirror': 'reflect', 'nearest': 'edge', 'wrap': 'wrap', 'constant': 'constant'}


def parts_of(x, window, origin, mode):
    before = [n // 2 + o for n, o in zip(window.shape, origin)]
    wide = numpy.pad(x.astype('d'), [(b, n - 1 - b) for b, n in zip(before, window.shape)], PADDING[mode], **({'constant_values': 2} if mode == 'constant' else {}))
    return [[wide[i:i + window.shape[0], j:j + window.shape[1]][window] for j in range(x.shape[1])] for i in range(x.shape[0])]


@pytest.mark.parametrize('dtype', ['d', 'f', 'i'])
def test_filters_by_kernels(dtype):
    x = numpy.random.default_rng(3).integers(-9, 9, (4, 6)).astype(dtype)
    y = cupy.asarray(x)
    for window, origin in ((numpy.ones((3, 3), bool), (0, 0)), (numpy.asarray([[1, 0, 1], [1, 1, 1]]) != 0, (-1, 1))):
        for mode in PADDING if dtype == 'd' else ['reflect']:
            parts = parts_of(x, window, origin, mode)
            for kernel, function in ((SQUARES, lambda w: (w * w).mean()), (LARGEST, max), (BELOW, lambda w: (w[w.size // 2] > w).sum())):
                expected = numpy.asarray([[function(w) for w in row] for row in parts])
                made = ndimage.generic_filter(y, kernel, footprint=cupy.asarray(window), mode=mode, cval=2, origin=origin)
                same(made, expected.astype(dtype), 1e-6 if dtype == 'f' else 1e-12)
    same(ndimage.generic_filter(y, SQUARES, 3, output='d')[1:-1, 1:-1], numpy.asarray(
        [[(x[i:i + 3, j:j + 3].astype('d') ** 2).mean() for j in range(4)] for i in range(2)]), 1e-6)
    same(ndimage.generic_filter(y, LARGEST, 3, axes=1), numpy.max([numpy.pad(x, ((0, 0), (1, 1)), 'symmetric')[:, k:k + 6] for k in range(3)], 0))
    for axis, lines in ((1, x), (0, x.T)):
        wide = numpy.pad(lines, ((0, 0), (1, 1)), 'edge')
        expected = (wide[:, :lines.shape[1]] - wide[:, -1:]).astype(dtype)
        same(ndimage.generic_filter1d(y, FIRST, 3, axis, mode='nearest'), expected if axis else expected.T)
    assert ndimage.generic_filter(y[:0], SQUARES, 3).shape == (0, 6) and ndimage.generic_filter1d(y[:0], FIRST, 3).shape == (0, 6)


@pytest.mark.parametrize('statement, error, says', [
    ('ndimage.generic_filter(x, max, 3)', TypeError, 'expected a ReductionKernel or a RawKernel'), ('ndimage.generic_filter(x * 1j, SQUARES, 3)', TypeError, 'Complex'),
    ("ndimage.generic_filter(x, cupy.ElementwiseKernel('T x', 'T y', 'y = x'), 3)", TypeError, 'only ReductionKernel'), ('ndimage.generic_filter(x, SQUARES)', RuntimeError, 'no footprint'),
    ("ndimage.generic_filter(x, cupy.RawKernel('int f;', 'g'), 3)", ValueError, 'occurs 0 times'), ('ndimage.generic_filter1d(x, LARGEST, 3)', TypeError, 'expected a RawKernel'),
    ('ndimage.generic_filter1d(x, FIRST, 0)', RuntimeError, 'invalid filter size'), ('ndimage.generic_filter(x, SQUARES, 3, origin=2)', ValueError, 'invalid origin')])
def test_filters_by_kernels_refuse(statement, error, says):
    with pytest.raises(error) as caught:
        eval(statement, {**globals(), 'x': cupy.ones((3, 4))})
    assert says in str(caught.value), caught.value


ALONG = G.integers(0, 9, (4, 5, 6)).astype('d')
ON_AXES = {
    'correlate': dict(weights=True), 'convolve': dict(weights=True), 'minimum_filter': dict(size=[3, 2]), 'maximum_filter': dict(footprint=True, origin=[1, 0]),
    'rank_filter': dict(rank=1, footprint=True), 'median_filter': dict(size=[3, 2], mode='nearest'), 'percentile_filter': dict(percentile=30, size=3), 'laplace': {}, 'gaussian_laplace': dict(sigma=[1, 0.7]),
    'binary_erosion': {}, 'binary_dilation': dict(structure=True, iterations=2), 'binary_opening': {}, 'binary_closing': {}, 'binary_propagation': {},
    'binary_fill_holes': {}, 'binary_hit_or_miss': {}, 'grey_erosion': dict(size=[3, 2]), 'grey_dilation': dict(structure=True), 'grey_opening': dict(footprint=True), 'grey_closing': dict(size=3),
    'morphological_gradient': dict(size=3), 'morphological_laplace': dict(size=3), 'white_tophat': dict(size=3), 'black_tophat': dict(footprint=True, origin=1)}


@pytest.mark.parametrize('name', [n if n in ('correlate', 'binary_closing') else pytest.param(n, marks=pytest.mark.host) for n in ON_AXES])
@pytest.mark.parametrize('axes', [(0, 1), (0, 2), (-2, -1), (1,), 2])
def test_windows_along_some_axes(name, axes):
    """Filters along some axes equal filters of each slice along these axes."""
    count = numpy.size(axes)
    window = numpy.asarray([[1, 2, 0], [0, 1, 1.], [1, 0, 3]])[(0,) * (2 - count)]
    options = {k: window if v is True else (v[:count] if count > 1 else v[0]) if isinstance(v, list) else v for k, v in ON_AXES[name].items()}
    a = ALONG > 3 if name.startswith('binary') else ALONG
    function = getattr(ndimage, name)
    found = function(cupy.asarray(a), axes=axes, **options)
    rest = [k for k in range(3) if k not in {axis % 3 for axis in numpy.atleast_1d(axes).tolist()}]
    expected = numpy.empty_like(a)
    for place in itertools.product(*(range(a.shape[k]) for k in rest)):
        key = [slice(None)] * 3
        for k, at in zip(rest, place):
            key[k] = at
        expected[tuple(key)] = function(cupy.asarray(a[tuple(key)]), **options).get()
    same(found, expected, 1e-12)


def test_a_hit_without_a_miss():
    """A 1-d window without elements that must be 0."""
    x = cupy.asarray([[0, 1, 1, 1, 0, 1, 1]]) != 0
    assert ndimage.binary_hit_or_miss(x[0]).tolist() == [False, False, True, False, False, False, False]
    for iterations in (1, 2, -1):
        assert ndimage.binary_erosion(x, numpy.zeros((1, 3)), iterations).all() and not ndimage.binary_dilation(x, numpy.zeros((1, 3)), iterations).any()
    assert (ndimage.binary_dilation(x, numpy.zeros((1, 3)), mask=~x) == x).all()
    assert ndimage.binary_hit_or_miss(x, axes=1).tolist() == [[False, False, True, False, False, False, False]]


def test_axes_that_are_in_no_order():
    x = cupy.asarray(ALONG)
    same(ndimage.maximum_filter(x, [2, 3], axes=(2, 0), origin=[-1, 0]), ndimage.maximum_filter(x, [3, 1, 2], origin=[0, 0, -1]).get())
    same(ndimage.gaussian_laplace(x, [0.5, 1], axes=(2, 1), mode=['wrap', 'nearest']),
         (ndimage.gaussian_filter(x, [0, 1, 0.5], [0, 2, 0], mode='nearest') + ndimage.gaussian_filter(x, [0, 1, 0.5], [0, 0, 2], mode='wrap')).get(), 1e-12)
    same(ndimage.laplace(x, axes=()), ALONG)
    same(ndimage.gaussian_gradient_magnitude(x, 1, axes=1), abs(ndimage.gaussian_filter(x, 1, [0, 1, 0])).get(), 1e-12)  # as SciPy's, along all
    for call, error in ((lambda: ndimage.median_filter(x, 3, axes=(0, 0)), ValueError), (lambda: ndimage.median_filter(x, 3, axes=3), numpy.exceptions.AxisError),
                        (lambda: ndimage.correlate(x, numpy.ones(3), axes=(0, 1)), RuntimeError), (lambda: ndimage.median_filter(x, [3, 3], axes=1), RuntimeError)):
        with pytest.raises(error):
            call()


def test_dtypes_and_memory_order_of_results():
    """As in SciPy, results are in C order for every input, and morphology returns bools for every requested dtype."""
    turned = cupy.asarray(ALONG[0]).T
    for found in (ndimage.median_filter(turned, 3), ndimage.gaussian_filter(turned, 1), ndimage.laplace(turned),
                  ndimage.binary_erosion(turned), ndimage.grey_dilation(turned, 3), ndimage.convolve1d(turned, [1, 2])):
        assert found.flags.c_contiguous
    for output in ('f', 'i', None):
        assert ndimage.binary_dilation(turned, output=output).dtype == ndimage.binary_fill_holes(turned, output=output).dtype == bool
    into = cupy.zeros(turned.shape, 'i')
    assert ndimage.binary_dilation(turned, output=into) is into and into.dtype == 'i'
    small = ndimage.value_indices(cupy.asarray([[3, 1], [1, 3]]), adaptive_index_dtype=True)
    assert {k: [i.tolist() for i in v] for k, v in small.items()} == {1: [[0, 1], [1, 0]], 3: [[0, 1], [0, 1]]} and small[1][0].dtype == 'b'
    assert ndimage.minimum(turned, None, 2) == ndimage.minimum(turned) and ndimage.maximum_position(turned, None, [1, 2]) == ndimage.maximum_position(turned)
    assert ndimage.median(turned, None, 3) == ndimage.median(turned)


def test_windows_that_are_extents():
    x = cupy.asarray(G.random((7, 8)) < 0.6)
    for name in ('binary_erosion', 'binary_dilation', 'binary_opening', 'binary_closing'):
        function = getattr(ndimage, name)
        for extents in (3, 2, (3, 2), (1, 4)):
            window = numpy.ones((extents,) * 2 if isinstance(extents, int) else extents, bool)
            same(function(x, extents), function(x, window).get())


def test_outputs_of_two_shapes():
    """As in SciPy, a gradient has the array's dtype, and a top hat the requested dtype."""
    b = G.integers(0, 9, (6, 7))
    x, y = cupy.asarray(b), cupy.asarray(b / 7)
    for name in ('morphological_gradient', 'morphological_laplace'):
        function = getattr(ndimage, name)
        assert function(x, 3, output='f').dtype == b.dtype
        out = cupy.zeros((6, 7), 'f')
        assert function(x, 3, output=out) is out
        same(out, function(x, 3).get().astype('f'))
    same(ndimage.white_tophat(y, 3, output='f'), (b / 7 - ndimage.grey_opening(y, 3).get().astype('f')).astype('f'))
    same(ndimage.black_tophat(y, 3, output='f'), (ndimage.grey_closing(y, 3).get().astype('f') - b / 7).astype('f'))
