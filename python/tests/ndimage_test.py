"""cupyx.scipy.ndimage and cupyx.scipy.signal, beside NumPy's windows: each reference takes all windows of the bordered array at once."""

import itertools

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import ndimage, signal
from compare import same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
MODES = {'reflect': 'symmetric', 'mirror': 'reflect', 'nearest': 'edge', 'wrap': 'wrap', 'constant': 'constant'}
G = numpy.random.default_rng(7)
ARRAYS = [G.uniform(-9, 9, 7), G.uniform(-9, 9, (5, 4)).astype('f'), G.integers(0, 200, (5, 8)).astype('i'), G.integers(0, 9, (3, 4, 2)).astype('B')]

# texts of devices are compiled for each number of windows and layout
some_on_devices = pytest.mark.parametrize('a', [ARRAYS[1]] + [pytest.param(a, marks=pytest.mark.host) for a in ARRAYS[:1] + ARRAYS[2:]],
                                          ids=lambda a: f'{a.dtype}{a.shape}')


def windows(a, shape, mode='reflect', cval=0, origin=0):
    """The windows of each element along axes more."""
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
    modes = ndimage.correlate1d(ndimage.correlate1d(x, [1, 2, 1], 0, mode='wrap'), [1, 2, 1], 1, mode='nearest')
    same(ndimage.correlate(x, numpy.outer([1, 2, 1], [1, 2, 1]), mode=['wrap', 'nearest']), modes.get(), 1e-12)


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
    """Parts by a search from each element."""
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
    ("ndimage.correlate1d(x, [1, 2, 3], mode='over')", ValueError, "not 'over'"), ('ndimage.minimum_filter(x)', RuntimeError, 'no footprint or filter size'),
    ('ndimage.sobel(numpy.ones(3))', TypeError, 'use cupy.asarray'), ('ndimage.gaussian_filter1d(x, 1, order=-1)', ValueError, 'non-negative integer, not -1'),
    ('ndimage.sobel(x, output=cupy.zeros(3))', RuntimeError, 'output shape not correct: it is (3,)'), ('ndimage.rank_filter(x, 9, 3)', RuntimeError, 'rank not within'),
    ('ndimage.uniform_filter1d(x, 0)', RuntimeError, 'incorrect filter size: 0'), ('ndimage.sobel(x, 2)', cupy.AxisError, 'axis 2'),
    ('ndimage.minimum_filter(x, footprint=numpy.zeros((2, 2)))', ValueError, 'all-zero footprint'), ('ndimage.grey_erosion(x)', ValueError, 'must be specified'),
    ('ndimage.uniform_filter(x, [1, 2, 3])', RuntimeError, 'size: expected a value for each of 2 axes'), ('ndimage.zoom', AttributeError, 'names cupyx.scipy.ndimage'),
    ("signal.convolve(x, x, 'most')", ValueError, "not 'most'"), ('signal.convolve(x, x[0])', ValueError, 'same dimensionality, given 2 and 1'),
    ("signal.convolve(x, cupy.ones((1, 4)), 'valid')", ValueError, "for 'valid' mode"), ("signal.convolve2d(x, x, boundary='line')", ValueError, "not 'line'"),
    ('signal.medfilt(x, 2)', ValueError, 'should be odd'), ('signal.order_filter(x, numpy.ones((2, 1)), 0)', ValueError, 'odd number of elements'),
    ('signal.butter', AttributeError, 'names cupyx.scipy.signal')])
def test_what_is_refused(statement, error, says):
    with pytest.raises(error) as caught:
        eval(statement, {'ndimage': ndimage, 'signal': signal, 'numpy': numpy, 'cupy': cupy, 'x': cupy.ones((2, 3))})
    assert says in str(caught.value), caught.value


def full_sums(a, b):
    """The full convolution by places."""
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
