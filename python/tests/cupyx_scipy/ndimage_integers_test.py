"""Integer results of cupyx.scipy.ndimage, compared with SciPy: splines round and saturate, filters truncate and wrap."""

import warnings

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import ndimage

scipy_ndimage = pytest.importorskip('scipy.ndimage')
pytestmark = pytest.mark.usefixtures('device')
SMALL = ['b', 'h', 'i', 'B', 'H', 'I']


def extremes(dtype, shape=(8,)):
    ends = numpy.iinfo(dtype)
    return numpy.where(numpy.random.default_rng(5).integers(0, 2, shape) > 0, ends.max, ends.min).astype(dtype)


def beside_scipy(name, x, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        theirs = getattr(scipy_ndimage, name)(x, *args, **kwargs)
        made = getattr(ndimage, name)(cupy.asarray(x), *(cupy.asarray(a) if isinstance(a, numpy.ndarray) else a for a in args), **kwargs).get()
    assert made.dtype == theirs.dtype
    apart = numpy.abs(made.astype(float) - theirs.astype(float))
    # float64 has a relative accuracy of 2**-53, and a result may lie exactly between two integers
    assert apart.max(initial=0) <= (1 if x.dtype.itemsize < 4 else 4), (name, made.tolist(), theirs.tolist())
    assert numpy.mean(apart == 0) > 0.85


@pytest.mark.parametrize('dtype', SMALL)
@pytest.mark.parametrize('order', range(6))
def test_splines_saturate(dtype, order):
    x, y = extremes(dtype), extremes(dtype, (5, 6))
    kwargs = {'order': order, 'mode': 'mirror'}
    beside_scipy('zoom', x, 2, **kwargs)
    beside_scipy('shift', y, (0.4, 1.3), **kwargs)
    beside_scipy('rotate', y, 33, reshape=False, **kwargs)
    beside_scipy('affine_transform', y, numpy.array([0.73, 0.97]), **kwargs)
    beside_scipy('map_coordinates', y, numpy.array([[0.3, 2.6, 4], [1.7, 0.2, 5]]), **kwargs)


@pytest.mark.parametrize('dtype', [*SMALL, 'l', 'L'])
@pytest.mark.parametrize('order', [0, 1, 3])
def test_constants_beyond_the_dtype(dtype, order):
    x, ends = numpy.array([0, 1, 2], dtype), numpy.iinfo(dtype)
    for cval in (300, 70000, -1, -300, 5e9, -5e9, 1e25, -1e25, numpy.inf, -numpy.inf, 100.5, -100.5, 0.5):
        got = ndimage.shift(cupy.asarray(x), 1, cval=cval, order=order).tolist()
        value = numpy.copysign(numpy.floor(abs(cval) + 0.5), cval)
        assert got == [ends.max if value >= ends.max else ends.min if value <= ends.min else int(value), 0, 1], cval


def test_output_dtypes_saturate_too():
    x = numpy.array([0., 300, -20, 7.5])
    for dtype, right in (('B', [0, 255, 0, 8]), ('b', [0, 127, -20, 8]), ('h', [0, 300, -20, 8]), ('d', x.tolist())):
        assert ndimage.zoom(cupy.asarray(x), 1, order=1, output=dtype).tolist() == right
        out = cupy.zeros(4, dtype)
        ndimage.shift(cupy.asarray(x), 0, output=out, order=1)
        assert out.tolist() == right


@pytest.mark.parametrize('dtype', ['b', 'h', 'B', 'H'])
def test_filters_cut_and_wrap_as_scipys(dtype):
    x, y = extremes(dtype), extremes(dtype, (4, 5))
    for name, *args in (('correlate1d', [1, 1, 1]), ('convolve', numpy.ones((3, 3))), ('uniform_filter', 3), ('gaussian_filter', 1.0), ('laplace',), ('sobel',), ('prewitt',),
                        ('gaussian_gradient_magnitude', 1.0), ('morphological_gradient', 3), ('white_tophat', 3), ('median_filter', 3), ('maximum_filter', 3), ('minimum_filter', 3),
                        ('rank_filter', 1, 3), ('percentile_filter', 30, 3), ('grey_closing', 3)):
        for a in (y,) if name != 'correlate1d' else (x, y):
            theirs = getattr(scipy_ndimage, name)(a, *args)
            numpy.testing.assert_array_equal(getattr(ndimage, name)(cupy.asarray(a), *args).get(), theirs, err_msg=f'{name} {dtype}')


@pytest.mark.parametrize('dtype', ['b', 'h', 'B', 'H', 'i'])
@pytest.mark.parametrize('cval', [300, -1, 2.7])
def test_borders_beyond_the_dtype(dtype, cval):
    y = extremes(dtype, (4, 5))
    for name, *args in (('maximum_filter', 3), ('minimum_filter', 3), ('correlate1d', [1, 0, 2]), ('grey_dilation', 3), ('grey_erosion', 3), ('maximum_filter1d', 3)):
        theirs = getattr(scipy_ndimage, name)(y, *args, mode='constant', cval=cval)
        numpy.testing.assert_array_equal(getattr(ndimage, name)(cupy.asarray(y), *args, mode='constant', cval=cval).get(), theirs, err_msg=f'{name} {dtype} {cval}')


@pytest.mark.parametrize('dtype', ['b', 'B', 'i', 'H'])
def test_spline_filters_of_integers(dtype):
    y = extremes(dtype, (8,))
    theirs = scipy_ndimage.spline_filter1d(y, output='d')
    assert numpy.allclose(ndimage.spline_filter1d(cupy.asarray(y), output='d').get(), theirs)
    if dtype in 'bB':
        assert ndimage.spline_filter1d(cupy.asarray(y), output=dtype).tolist() == scipy_ndimage.spline_filter1d(y, output=dtype).tolist()


@pytest.mark.parametrize('dtype', ['b', 'B', 'h', 'H', 'i', 'q', 'f'])
@pytest.mark.parametrize('order', [2, 3, 5])
def test_spline_filter_keeps_the_dtype_of_the_output_between_axes(dtype, order):
    y = numpy.random.RandomState(order).uniform(3, 100, (23, 19))  # coefficients of short axes are often whole numbers, whose truncation depends on rounding
    theirs = scipy_ndimage.spline_filter(y, order, output=dtype)
    ours = ndimage.spline_filter(cupy.asarray(y), order, output=dtype)
    assert ours.dtype == theirs.dtype
    if dtype == 'f':
        numpy.testing.assert_allclose(ours.get(), theirs, rtol=1e-5, atol=1e-4)
    else:
        numpy.testing.assert_array_equal(ours.get(), theirs)
    out = cupy.zeros(y.shape, dtype)
    assert ndimage.spline_filter(cupy.asarray(y), order, output=out) is out
    numpy.testing.assert_array_equal(out.get(), ours.get())


def test_spline_filter_beyond_int64():
    y = numpy.full(6, 2.0 ** 63 * 1.25)
    numpy.testing.assert_allclose(ndimage.spline_filter1d(cupy.asarray(y), output='u8').get().astype('d'), scipy_ndimage.spline_filter1d(y, output='u8').astype('d'), rtol=1e-15)


BEYOND = 2 ** 53
WIDE = numpy.array([[BEYOND + 1, -BEYOND - 1, 5, BEYOND + 3], [7, BEYOND + 5, BEYOND + 4, -3], [2 ** 58 + 1, 0, -2 ** 58 - 1, BEYOND + 7]])


@pytest.mark.parametrize('call', [
    'minimum_filter(x, 3)', 'maximum_filter(x, 3)', 'minimum_filter1d(x, 3)', 'maximum_filter1d(x, 3, axis=0)', 'median_filter(x, 3)', 'rank_filter(x, 2, 3)',
    'percentile_filter(x, 30, 3)', 'grey_erosion(x, 3)', 'grey_dilation(x, 3)', 'grey_opening(x, 2)', 'grey_closing(x, 2)', 'uniform_filter(x, 3)',
    'uniform_filter1d(x, 2)', 'correlate(x, [[1, 0], [0, 1]])', 'correlate1d(x, [0, 1, 0])', 'convolve(x, [[0, 1]])', 'convolve1d(x, [1, 1])', 'shift(x, 1, order=0)',
    'zoom(x, 2, order=0)', 'rotate(x, 90, order=0)', 'map_coordinates(x, xp.array([[0.0, 1], [1, 2]]), order=0)', 'affine_transform(x, xp.array([1.0, 1]), order=0)',
    'prewitt(x)', 'sobel(x)', 'laplace(x)', 'morphological_gradient(x, 2)', 'white_tophat(x, 2)', 'maximum(x, l, i)', 'minimum(x, l, i)', 'median(x, l, i)',
    'extrema(x, l, i)', 'sum_labels(x, l, i)', 'mean(x, l, i)', 'maximum_position(x, l, i)', 'maximum(x)', 'sum_labels(x)', 'histogram(x, -3, 2 ** 53, 4)',
    'minimum_filter(x, footprint=xp.array([[1, 0], [1, 1]]))'])
def test_integers_beyond_float64(call):
    """SciPy computes in float64. Filters that pick elements are exact, as CuPy's."""
    values = {}
    for xp, nd in ((numpy, scipy_ndimage), (cupy, ndimage)):
        made = eval('nd.' + call, {'nd': nd, 'xp': xp, 'x': xp.asarray(WIDE), 'l': xp.asarray((WIDE > 4) + 1), 'i': xp.asarray([1, 2])})
        made = made if isinstance(made, (tuple, list)) else [made]
        values[xp] = [v.get() if isinstance(v, cupy.ndarray) else numpy.asarray(v) for v in made]
    for ours, theirs in zip(values[cupy], values[numpy], strict=True):
        assert ours.dtype == theirs.dtype
        assert (abs(ours - theirs) <= 2 ** 9).all()  # several roundings of 2**60 to float64
