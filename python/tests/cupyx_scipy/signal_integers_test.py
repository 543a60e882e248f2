"""Integers and bools in cupyx.scipy.signal: SciPy's dtypes and values, exact where the result is of integers, and no overflow on the way to floats."""

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import signal

scipy_signal = pytest.importorskip('scipy.signal')
INTEGERS = '?bBhHiIlL'


def whole_range(dtype, shape, seed=3):
    random = numpy.random.default_rng(seed)
    if dtype == '?':
        return random.integers(0, 2, shape).astype('?')
    limits = numpy.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def compare(name, *args, of=None, **kwargs):
    """Compares with SciPy's function of the arguments, or of the arguments `of`."""
    expected = getattr(scipy_signal, name)(*(args if of is None else of), **kwargs)
    found = getattr(signal, name)(*(cupy.asarray(a) if isinstance(a, numpy.ndarray) else a for a in args), **kwargs)
    for ours, theirs in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert ours.dtype == theirs.dtype, (name, ours.dtype, theirs.dtype)
        if theirs.dtype.kind in 'biu':
            numpy.testing.assert_array_equal(ours.get(), theirs, err_msg=name)
        else:
            tolerance = 2e-5 if theirs.dtype.char in 'fF' else 1e-11
            numpy.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=tolerance * abs(theirs).max(), err_msg=name)


@pytest.mark.host
@pytest.mark.parametrize('dtype', INTEGERS)
def test_products_wrap_as_in_scipy(dtype):
    x, y, image, kernel = (whole_range(dtype, shape, seed) for seed, shape in enumerate(((40,), (7,), (6, 7), (3, 3))))
    for name in ('convolve', 'correlate'):
        compare(name, x, y, method='direct')
        compare(name, x, y.astype('d'))
        if dtype in 'bBhHi':
            compare(name, x, y, method='fft')
    for name in ('convolve2d', 'correlate2d'):
        if dtype != '?':
            compare(name, image, kernel, boundary='symm')
        compare(name, image, kernel.astype('f'))
    compare('fftconvolve', x, y)
    compare('oaconvolve', x, y)


@pytest.mark.host
@pytest.mark.parametrize('dtype', INTEGERS[1:])
def test_windows_give_the_dtype(dtype):
    image = whole_range(dtype, (8, 9))
    image = image >> 11 if image.dtype.itemsize == 8 else image  # SciPy sorts int64 as float64
    compare('medfilt', image, 3)
    compare('medfilt2d', image, 3)
    compare('order_filter', image, numpy.ones((3, 3), dtype), 2)


@pytest.mark.host
@pytest.mark.parametrize('dtype', INTEGERS)
def test_filters_and_samples_are_floats(dtype):
    x = whole_range(dtype, (40,))
    b, a = scipy_signal.butter(3, .3)
    compare('resample', x, 63)
    compare('resample_poly', x, 2, 3)
    compare('upfirdn', numpy.asarray([1., 2, 3]), x, 2, 3)
    compare('upfirdn', numpy.asarray([1, 2, 3], 'f'), x, 2, 3)
    compare('lfilter', b, a, x)
    compare('decimate', x, 2, ftype='fir')
    compare('savgol_filter', x, 5, 2)
    compare('detrend', x)
    compare('hilbert', x)
    compare('symiirorder1', x, 1., .3)


@pytest.mark.host
@pytest.mark.parametrize('dtype', INTEGERS)
def test_differences_do_not_wrap(dtype):
    """SciPy subtracts, multiplies and extends such signals in their own dtype; here they are float64 numbers."""
    x = whole_range(dtype, (40,))
    for padtype in ('minimum', 'maximum', 'mean'):
        compare('resample_poly', x, 2, 3, of=(x.astype('d'), 2, 3), padtype=padtype)
    compare('decimate', x, 2, of=(x.astype('d'), 2))
    compare('wiener', x, 5, of=(x.astype('d'), 5))


@pytest.mark.host
@pytest.mark.parametrize('dtype', INTEGERS)
@pytest.mark.parametrize('name', ['periodogram', 'welch', 'spectrogram', 'stft', 'csd', 'coherence'])
def test_spectra_of_small_integers_are_float32(name, dtype):
    x = whole_range(dtype, (80,))
    arguments = (x, x[::-1].copy()) if name in ('csd', 'coherence') else (x,)
    compare(name, *arguments, **({} if name == 'periodogram' else {'nperseg': 16}))


@pytest.mark.host
@pytest.mark.parametrize('name', ['sawtooth', 'square'])
@pytest.mark.parametrize('dtype', INTEGERS[1:])
def test_waves_of_any_time(name, dtype):
    """The rest by the period is exact."""
    compare(name, whole_range(dtype, (50,)))
    compare(name, whole_range(dtype, (50,)).astype('d') * 1e9)
