"""cupyx.scipy.signal compared with NumPy's sums and transforms. ndimage_test covers its direct convolutions."""

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import signal
from compare import refused, same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(9)
WINDOWS = [  # SciPy's, the first four of 7 elements and the first three of 6
    ('triang', (), [0.25, 0.5, 0.75, 1.0], [0.16666667, 0.5, 0.83333333]),
    ('parzen', (), [0.0058309038, 0.1574344, 0.65014577, 1.0], [0.0092592593, 0.25, 0.86111111]),
    ('bohman', (), [0.0, 0.10899778, 0.60899778, 1.0], [0.0, 0.17912389, 0.83431145]),
    ('nuttall', (), [0.0003628, 0.0613345, 0.5292298, 1.0], [0.0003628, 0.11051525, 0.7982581]),
    ('blackmanharris', (), [6e-05, 0.055645, 0.520575, 1.0], [6e-05, 0.10301149, 0.79383351]),
    ('flattop', (), [-0.000421051, -0.051263156, 0.19821053, 1.0], [-0.000421051, -0.067714252, 0.60687215]),
    ('barthann', (), [0.0, 0.27, 0.73, 1.0], [0.0, 0.35857354, 0.87942646]),
    ('cosine', (), [0.22252093, 0.6234898, 0.90096887, 1.0], [0.25881905, 0.70710678, 0.96592583]),
    ('lanczos', (), [0.0, 0.41349667, 0.82699334, 1.0], [0.0, 0.50455115, 0.93548928]),
    ('tukey', (0.6,), [0.0, 0.58682409, 1.0, 1.0], [0.0, 0.75, 1.0]),
    ('taylor', (), [0.29009531, 0.5782126, 0.87800822, 1.0], [0.30634693, 0.66206478, 0.95700213]),
    ('exponential', (None, 2.0), [0.22313016, 0.36787944, 0.60653066, 1.0], [0.2865048, 0.47236655, 0.77880078]),
    ('gaussian', (1.5,), [0.13533528, 0.41111229, 0.8007374, 1.0], [0.24935221, 0.60653066, 0.94595947]),
    ('general_gaussian', (1.5, 2.0), [0.1849814, 0.60653066, 0.93941306, 1.0], [0.37660345, 0.80982468, 0.99221794]),
    ('general_cosine', ([0.5, 0.3, 0.2],), [0.4, 0.25, 0.55, 1.0], [0.4, 0.2454915, 0.8045085]),
    ('general_hamming', (0.7,), [0.4, 0.55, 0.85, 1.0], [0.4, 0.6072949, 0.9427051]),
    ('chebwin', (60,), [0.087062626, 0.38002526, 0.79472445, 1.0], [0.13265103, 0.54770854, 1.0])]


def numbers(shape, dtype='d'):
    x = G.normal(size=shape) * 4
    return (x + 1j * G.normal(size=shape) if dtype in 'FD' else x).astype(dtype)


def near(ours, expected, dtype=None, tolerance=None):
    expected = numpy.asarray(expected)
    assert isinstance(ours, cupy.ndarray) and ours.dtype == (dtype or expected.dtype) and ours.shape == expected.shape, (
        ours.dtype, expected.dtype, ours.shape, expected.shape)
    limit = tolerance or (1e-4 if ours.dtype.char in 'fF' else 1e-10)
    numpy.testing.assert_allclose(ours.get(), expected, rtol=limit, atol=limit)


@pytest.mark.host
def test_windows():
    windows = signal.windows
    for name, parameters, seven, six in WINDOWS:
        window = getattr(windows, name)
        near(window(7, *parameters), numpy.asarray(seven + seven[2::-1]), tolerance=1e-6)
        near(window(6, *parameters), numpy.asarray(six + six[::-1]), tolerance=1e-6)
        near(window(6, *parameters, sym=False) if name != 'exponential' else window(6, *parameters, False), window(7, *parameters).get()[:-1])
        assert window(0, *parameters).shape == (0,) and window(1, *parameters).get() == [1]
        near(signal.get_window((name, *parameters), 6, False), window(6, *parameters).get())
    for n in (1, 6, 7):
        for name in ('bartlett', 'blackman', 'hamming'):
            near(getattr(windows, name)(n), getattr(numpy, name)(n))
        near(windows.hann(n), numpy.hanning(n))
        near(windows.kaiser(n, 3.5), numpy.kaiser(n, 3.5))
        near(windows.boxcar(n), numpy.ones(n))
    near(signal.get_window('hann', 6), numpy.hanning(7)[:-1])
    near(signal.get_window(3.5, 6), numpy.kaiser(7, 3.5)[:-1])
    derived = windows.kaiser_bessel_derived(8, 2.).get()
    near(windows.kaiser_bessel_derived(6, 2.), [0.40115362, 0.70710678, 0.91601079, 0.91601079, 0.70710678, 0.40115362], tolerance=1e-6)
    numpy.testing.assert_allclose(derived[:4] ** 2 + derived[4:] ** 2, 1)
    near(signal.get_window(('kaiser bessel derived', 2.), 8, False), derived)
    for M in (5.5, -7):
        for window in (windows.exponential, windows.hann):
            with pytest.raises(ValueError, match='non-negative integer'):
                window(M)


def test_spectra_of_nothing():
    for x, y, axis, expected in (((0, 5, 2), (0, 5, 2), -1, (0, 5, 2)), ((0, 5, 2), (0, 5, 2), 1, (0, 5, 2)), ((3, 0), (3, 0), 0, (3, 0)), ((10,), (5, 0), -1, (5, 0)), ((5, 0), (10,), -1, (5, 0))):
        for found in signal.csd(cupy.zeros(x), cupy.zeros(y), axis=axis):
            assert found.shape == expected and found.dtype == 'd'
    assert signal.welch(cupy.zeros((3, 0)), axis=1)[1].shape == (3, 0)


def full(a, b):
    """Returns the full convolution as a sum over offsets."""
    made = numpy.zeros([m + n - 1 for m, n in zip(a.shape, b.shape)], numpy.result_type(a, b))
    for place in numpy.ndindex(b.shape):
        made[tuple(slice(p, p + n) for p, n in zip(place, a.shape))] += a * b[place]
    return made


def parts(whole, a, b, mode):
    if mode == 'same':
        return whole[tuple(slice((n - 1) // 2, (n - 1) // 2 + m) for m, n in zip(a.shape, b.shape))]
    return whole[tuple(slice(min(m, n) - 1, max(m, n)) for m, n in zip(a.shape, b.shape))] if mode == 'valid' else whole


@pytest.mark.parametrize('dtypes', ['fF', 'dD'] + [pytest.param(d, marks=pytest.mark.host) for d in ('dd', 'DD', 'ii', 'fd', 'ee')])
@pytest.mark.parametrize('shapes', [((7,), (3,))] + [pytest.param(s, marks=pytest.mark.host) for s in (
    ((3,), (7,)), ((5, 6), (3, 2)), ((2, 3), (4, 5)), ((2, 3, 4), (1, 2, 2)))])
def test_convolutions_by_spectra(shapes, dtypes):
    a, b = (numbers(shape, dtype) for shape, dtype in zip(shapes, dtypes))
    x, y, wide = cupy.asarray(a), cupy.asarray(b), numpy.result_type(a, b)
    whole, other = full(a, b), full(a, b.conj()[(slice(None, None, -1),) * b.ndim])
    floats = whole.astype('f' if wide == 'e' else 'd' if wide.kind == 'i' else wide)
    limit = 0.05 if wide == 'e' else None
    for mode in ('full', 'same', 'valid'):
        for method in ('fft', 'direct'):
            near(signal.convolve(x, y, mode, method), parts(whole, a, b, mode), tolerance=limit)
            near(signal.correlate(x, y, mode, method), parts(other, a, b, mode), tolerance=limit)
        for function in (signal.fftconvolve, signal.oaconvolve):
            near(function(x, y, mode), parts(floats, a, b, mode), tolerance=limit)


@pytest.mark.host
def test_convolutions_of_axes_and_blocks():
    a, b = numbers((3, 700)), numbers((1, 9), 'D')
    rows = numpy.stack([numpy.convolve(row, b[0]) for row in a])
    for function in (signal.fftconvolve, signal.oaconvolve):
        for x, y in ((a, b), (b, a)):
            near(function(cupy.asarray(x), cupy.asarray(y), axes=1), rows)
            near(function(cupy.asarray(x), cupy.asarray(y)), rows)
        near(function(cupy.asarray(a), cupy.asarray(b), 'same', axes=[-1]), rows[:, 4:-4])
        near(function(cupy.asarray(a.T), cupy.asarray(b.T), 'valid', axes=0), rows[:, 8:-8].T)
        assert function(cupy.zeros((0, 3)), cupy.zeros((2, 2))).shape == (0,) and function(cupy.asarray(2.), cupy.asarray(3.)) == 6
    for n in (64, 200, 321):
        line = numbers((n,))
        near(signal.oaconvolve(cupy.asarray(line), cupy.asarray(b[0])), numpy.convolve(line, b[0]))
    long, short = cupy.asarray(numbers((5000,))), cupy.asarray(numbers((800,)))
    assert signal.choose_conv_method(long, short) == 'fft' and signal.choose_conv_method(long, short[:2]) == 'direct'
    near(signal.convolve(long, short), numpy.convolve(long.get(), short.get()), tolerance=1e-9)
    large = cupy.full((5000,), 2 ** 40)
    assert signal.choose_conv_method(large, large) == 'direct' and signal.choose_conv_method(large // 2 ** 39, large[:800] // 2 ** 39) == 'fft'
    chosen, times = signal.choose_conv_method(long[:9], short[:3], measure=True)
    assert chosen in times and set(times) == {'direct', 'fft'}


@pytest.mark.host
def test_convolutions_of_complex_matrices():
    a, b = numbers((4, 5), 'D'), numbers((2, 3), 'D')
    x, y = cupy.asarray(a), cupy.asarray(b)
    for boundary, mode in (('fill', 'constant'), ('wrap', 'wrap'), ('symm', 'symmetric')):
        wide = numpy.pad(a, [(1, 1), (2, 2)], mode)
        near(signal.convolve2d(x, y, boundary=boundary), full(wide, b)[1:-1, 2:-2])
        near(signal.correlate2d(x, y, boundary=boundary), full(wide, b.conj()[::-1, ::-1])[1:-1, 2:-2])


@pytest.mark.host
@pytest.mark.parametrize('dtype', ['d', 'f', 'i', 'F', 'D'])
def test_trends_and_whole_signals(dtype):
    a = numbers((3, 40), dtype)
    x, kept = cupy.asarray(a), {'i': 'd'}.get(dtype, dtype)
    near(signal.detrend(x, type='constant'), a - a.mean(1, keepdims=True), kept)
    t = numpy.arange(40)

    def straightened(rows):
        return numpy.stack([row - numpy.polyval(numpy.polyfit(t[:row.size], row, 1), t[:row.size]) for row in rows])
    near(signal.detrend(x), straightened(a), kept)
    near(signal.detrend(x.T, 0), straightened(a).T, kept)
    near(signal.detrend(x, bp=[10, 25]), numpy.concatenate([straightened(a[:, p:q]) for p, q in ((0, 10), (10, 25), (25, 40))], 1), kept)
    if dtype in 'FD':
        return
    analytic = signal.hilbert(x)
    near(analytic.real, a, kept)
    spectrum = numpy.fft.fft(analytic.get())
    numpy.testing.assert_allclose(spectrum[:, 21:], 0, atol=1e-4 if dtype == 'f' else 1e-10)
    near(signal.hilbert(x.T, axis=0), analytic.get().T, numpy.result_type(kept, 'F'))
    both = numpy.fft.fft2(signal.hilbert2(x[:, :9]).get())
    numpy.testing.assert_allclose(both, numpy.fft.fft2(a[:, :9]) * numpy.outer([1, 2, 0], [1, 2, 2, 2, 2, 0, 0, 0, 0]), atol=1e-3 if dtype == 'f' else 1e-9)


@pytest.mark.host
@pytest.mark.parametrize('dtype', ['d', 'f', 'D'])
def test_resampling(dtype):
    """Evaluates a sum of waves at other positions."""
    waves = [(k, numbers((2, 1), 'D')) for k in range(-3 if dtype == 'D' else 0, 4)]

    def at(n):
        made = sum(c * numpy.exp(2j * numpy.pi * k * numpy.arange(n) / n) for k, c in waves)
        return (made if dtype == 'D' else made.real).astype(dtype)
    for n in (8, 9, 20):
        x = cupy.asarray(at(n))
        for number in (7, 8, 9, 16, 31):
            near(signal.resample(x, number, axis=1), at(number))
        near(signal.resample(x.T, 12), at(12).T)
        near(signal.resample(cupy.fft.fft(x), 13, axis=1, domain='freq'), at(13).astype('F' if dtype == 'f' else 'D'))
        made, places = signal.resample(x, 2 * n, cupy.arange(n) * 0.5, axis=1)
        near(places, numpy.arange(2 * n) * 0.25)
        weights = numpy.fft.fftshift(numpy.hanning(n + 1)[:-1])
        expected = numpy.fft.ifft(numpy.fft.fft(at(n)) * (weights + numpy.roll(weights[::-1], 1) if dtype != 'D' else 2 * weights) / 2)
        near(signal.resample(x, n, axis=1, window='hann'), expected if dtype == 'D' else expected.real.astype(dtype))
        near(signal.resample(x, n, axis=1, window=cupy.asarray(weights)), expected if dtype == 'D' else expected.real.astype(dtype))


def segments_of(a, n, overlap):
    return numpy.stack([a[..., k:k + n] for k in range(0, a.shape[-1] - n + 1, n - overlap)], -2)


def test_a_spectrum_on_every_device():
    a = numbers((70,), 'f')
    window = numpy.hanning(17)[:-1]
    expected = numpy.abs(numpy.fft.rfft(segments_of(a, 16, 8) * window)) ** 2 / (window ** 2).sum()
    expected[:, 1:-1] *= 2
    near(signal.welch(cupy.asarray(a), nperseg=16, detrend=False)[1], expected.mean(0), 'f')
    near(signal.lfilter([1., 0.5], [1., -0.5], cupy.asarray(a)), filtered([1., 0.5], [1., -0.5], a.astype('d')), 'd')


@pytest.mark.host
@pytest.mark.parametrize('dtype', ['d', 'f', 'D'])
@pytest.mark.parametrize('n, overlap, nfft', [(32, 16, 32), (33, 10, 50), (15, 0, 15)])
def test_spectra(dtype, n, overlap, nfft):
    a, b = numbers((2, 150), dtype), numbers((2, 150), dtype)
    x, y = cupy.asarray(a), cupy.asarray(b)
    window = numpy.hanning(n + 1)[:-1]
    one_sided = dtype != 'D'
    transform = numpy.fft.rfft if one_sided else numpy.fft.fft
    density = 1 / (10 * (window ** 2).sum())

    def spectra(a, trend=True):
        segments = segments_of(a, n, overlap)
        return transform((segments - segments.mean(-1, keepdims=True) if trend else segments) * window, nfft)
    double = numpy.ones(spectra(a).shape[-1])
    if one_sided:
        double[1:-1 if nfft % 2 == 0 else None] = 2
    cross = spectra(a).conj() * spectra(b) * double * density
    power_a, power_b = (abs(spectra(s)) ** 2 * double * density for s in (a, b))
    own = {'fs': 10., 'nperseg': n, 'noverlap': overlap, 'nfft': nfft}
    frequencies, power = signal.welch(x, **own)
    near(frequencies, (numpy.fft.rfftfreq if one_sided else numpy.fft.fftfreq)(nfft, 0.1))
    near(power, power_a.mean(1), 'f' if dtype == 'f' else 'd')
    near(signal.csd(x, y, **own)[1], cross.mean(1), 'F' if dtype == 'f' else 'D')
    near(signal.welch(x.T, axis=0, scaling='spectrum', **own)[1], power_a.mean(1).T / density / window.sum() ** 2, 'f' if dtype == 'f' else 'd')
    count = power_a.shape[1]
    bias = sum((-1) ** k / (k + 1) for k in range(count if count % 2 else count - 1))
    near(signal.welch(x, average='median', **own)[1], numpy.median(power_a, 1) / bias, 'f' if dtype == 'f' else 'd')
    near(signal.coherence(x, y, **own)[1], abs(cross.mean(1)) ** 2 / power_a.mean(1) / power_b.mean(1), 'f' if dtype == 'f' else 'd')
    _, times, values = signal.spectrogram(x, window=cupy.asarray(window), **{**own, 'nperseg': None})
    near(times, (numpy.arange(count) * (n - overlap) + n / 2) / 10)
    near(values, power_a.swapaxes(1, 2), 'f' if dtype == 'f' else 'd')
    complex_values = (spectra(a) * density ** 0.5).swapaxes(1, 2)
    for mode, expected in (('complex', complex_values), ('magnitude', abs(complex_values))):
        made = signal.spectrogram(x, window=cupy.asarray(window), mode=mode, **{**own, 'nperseg': None})[2]
        near(made, expected, {'f': expected.dtype.char.lower() if mode == 'magnitude' else 'F'}.get(dtype) and ('f' if mode == 'magnitude' else 'F'))
    angles, phases = (signal.spectrogram(x, window=cupy.asarray(window), mode=mode, **{**own, 'nperseg': None})[2].get() for mode in ('angle', 'phase'))
    numpy.testing.assert_allclose(numpy.exp(1j * angles)[:, 1:-1], (complex_values / abs(complex_values))[:, 1:-1], atol=1e-3)
    numpy.testing.assert_allclose(phases, numpy.unwrap(angles, axis=-2), atol=1e-3)
    near(signal.periodogram(x, 10.)[1], abs(transform(a - a.mean(1, keepdims=True))) ** 2 / 1500 * (numpy.concatenate(
        [[1], numpy.full(74, 2), [1]]) if one_sided else 1), 'f' if dtype == 'f' else 'd')


@pytest.mark.host
@pytest.mark.parametrize('dtype', ['d', 'f', 'D'])
def test_there_and_back(dtype):
    a = numbers((2, 150), dtype)
    x, window = cupy.asarray(a), numpy.hanning(33)[:-1]
    wide = numpy.pad(a, ((0, 0), (16, 16)))
    frequencies, times, values = signal.stft(x, 2., nperseg=32, padded=False)
    transform = numpy.fft.rfft if dtype != 'D' else numpy.fft.fft
    expected = transform(segments_of(wide, 32, 16) * window).swapaxes(1, 2) / window.sum()
    near(values, expected, 'F' if dtype == 'f' else 'D')
    near(times, numpy.arange(expected.shape[-1]) * 8.)
    for more in ({'nperseg': 32}, {'nperseg': 33, 'noverlap': 22}, {'nperseg': 32, 'noverlap': 27}, {'nperseg': 30, 'scaling': 'psd'}):
        values = signal.stft(x, **more)[2]
        places, back = signal.istft(values, input_onesided=dtype != 'D', **more)
        near(back[:, :150], a)
        near(places, numpy.arange(back.shape[1]) * 1.)
    for boundary, widths in (('even', 'reflect'), ('constant', 'edge')):
        near(signal.stft(x, nperseg=32, boundary=boundary, padded=False)[2],
             transform(segments_of(numpy.pad(a, ((0, 0), (16, 16)), widths), 32, 16) * window).swapaxes(1, 2) / window.sum(), 'F' if dtype == 'f' else 'D')


def filtered(b, a, x):
    """Filters by the recurrence."""
    b, a = numpy.asarray(b) / a[0], numpy.asarray(a) / a[0]
    y = numpy.zeros(x.shape, numpy.result_type(b, a, x, 'd'))
    for n in range(x.shape[-1]):
        y[..., n] = sum(b[k] * x[..., n - k] for k in range(min(len(b), n + 1))) - sum(a[k] * y[..., n - k] for k in range(1, min(len(a), n + 1)))
    return y


@pytest.mark.host
@pytest.mark.parametrize('b, a', [([1., 2], [1.]), ([1.], [1., -.5]), ([.2, .3], [2., .5, .1]), ([1, 2, 3], [2]), ([1j, 2], [1, .5]), ([3.], [2.]),
                                  ([0.0048, 0.0193, 0.0289, 0.0193, 0.0048], [1., -2.3695, 2.3140, -1.0547, 0.1874]), ([1., 1], [1., -1.05])])
def test_filters_with_feedback(b, a):
    for dtype in 'dDfi':
        x = numbers((3, 150), dtype)
        expected = filtered(b, a, x)
        near(signal.lfilter(b, a, cupy.asarray(x)), expected)
        near(signal.lfilter(cupy.asarray(b), cupy.asarray(a), cupy.asarray(x.T), 0), expected.T)
        order = len(a) + len(b) - 2
        first, state = signal.lfilter(b, a, cupy.asarray(x[:, :70]), zi=cupy.zeros((1, order)))
        near(first, expected[:, :70])
        near(signal.lfilter(b, a, cupy.asarray(x[:, 70:]), zi=state)[0], expected[:, 70:])
    rest = signal.lfilter_zi(b, a) if a != [1., -1.05] else None
    if rest is not None and order:
        near(signal.lfilter(b, a, cupy.ones(20), zi=rest)[0], numpy.full(20, sum(b) / sum(a)))
    assert signal.lfilter(b, a, cupy.zeros((2, 0))).shape == (2, 0)


@pytest.mark.host
@pytest.mark.parametrize('b, a', [([1., 2], [1.]), ([1.], [1., -.5]), ([.2, .3, .1], [2., .5]), ([.2, .3], [2., .5, .1, .05]), ([1, 2, 3], [2])])
def test_states_are_the_last_numbers_that_came_in_and_out(b, a):
    """States have CuPy's form: past inputs and outputs. SciPy's have one number per delay."""
    def by_hand(row, state):
        came, went = list(state[:taps]), list(state[taps:])
        for v in row:
            came.append(v)
            went.append((sum(c * came[-1 - k] for k, c in enumerate(b)) - sum(a[k] * went[-k] for k in range(1, len(a)))) / a[0])
        return went[back:]
    taps, back = len(b) - 1, len(a) - 1
    for axis in (0, 1):
        x, state = numpy.moveaxis(numbers((3, 9)), 1, axis), numpy.moveaxis(numbers((3, taps + back)), 1, axis)
        made, end = signal.lfilter(b, a, cupy.asarray(x), axis, cupy.asarray(state))
        rows, begun = numpy.moveaxis(x, axis, 1), numpy.moveaxis(state, axis, 1)
        expected = [by_hand(row, s) for row, s in zip(rows, begun)]
        near(made, numpy.moveaxis(numpy.asarray(expected), 1, axis))
        near(end, numpy.moveaxis(numpy.concatenate([rows[:, 9 - taps:], numpy.asarray(expected)[:, 9 - back:]], 1), 1, axis))
    near(signal.lfiltic(b, a, cupy.asarray([1., 2, 3]), cupy.asarray([4., 5])), numpy.asarray([*[5, 4][2 - taps:], *[3, 2, 1][3 - back:]], float))
    gain = sum(b) / sum(a)
    near(signal.lfilter_zi(b, a), numpy.asarray([1] * taps + [gain] * back, float))
    near(signal.lfilter(b, a, cupy.ones(1), zi=cupy.asarray([1.] * taps + [gain] * back))[1], numpy.asarray([1] * taps + [gain] * back, float))  # shorter than the state


@pytest.mark.host
def test_sections():
    sos = numpy.asarray([[0.2, 0.3, 0.1, 1, -0.5, 0.2], [1, 2, 1, 1, 0.1, 0.3], [1, 0.5, 0, 1, -0.9, 0]])
    a = numbers((2, 60))
    expected = a
    for section in sos:
        expected = filtered(section[:3], section[3:], expected)
    near(signal.sosfilt(sos, cupy.asarray(a)), expected)
    near(signal.sosfilt(cupy.asarray(sos), cupy.asarray(a.T), 0), expected.T)
    first, state = signal.sosfilt(sos, cupy.asarray(a[:, :25]), zi=cupy.zeros((3, 2, 4)))
    near(first, expected[:, :25])
    near(signal.sosfilt(sos, cupy.asarray(a[:, 25:]), zi=state)[0], expected[:, 25:])
    made = signal.sosfilt(sos, cupy.ones(9), zi=signal.sosfilt_zi(sos))[0].get()
    numpy.testing.assert_allclose(made, made[0])


@pytest.mark.parametrize('statement, error, says', [
    ("signal.convolve(x, x, method='most')", ValueError, "not 'most'"), ("signal.fftconvolve(x, x, 'most')", ValueError, "not 'most'"),
    ('signal.fftconvolve(x, m)', ValueError, 'same dimensionality'), ('signal.fftconvolve(m, m, axes=[])', ValueError, 'axes cannot be empty'),
    ('signal.fftconvolve(m, m[:2], axes=1)', ValueError, 'incompatible shapes for in1 and in2: (3, 4) and (2, 4)'), ('signal.fftconvolve(m, m, axes=2)', ValueError, 'axes exceeds'),
    ("signal.fftconvolve(m, m[:2].T, 'valid')", ValueError, "for 'valid' mode"), ('signal.fftconvolve(numpy.ones(3), x)', TypeError, 'use cupy.asarray'),
    ('signal.hilbert(x * 1j)', ValueError, 'x must be real'), ('signal.hilbert(x, 0)', ValueError, 'N must be positive'), ('signal.hilbert2(x)', ValueError, 'at least 2-D'),
    ("signal.detrend(x, type='q')", ValueError, "must be 'linear' or 'constant'"), ('signal.detrend(x, bp=99)', ValueError, 'Breakpoints'), ("signal.resample(x, 3, domain='q')", ValueError, 'domain=q'),
    ('signal.resample(x, 0)', ValueError, 'num must be positive, not 0'), ('signal.resample(x, 3, window=cupy.ones(4))', ValueError, 'as many elements as there are frequency bins'),
    ('signal.welch(x, nperseg=8, noverlap=8)', ValueError, 'noverlap must be less'), ('signal.welch(x, nperseg=8, nfft=7)', ValueError, 'nfft must be greater'),
    ("signal.welch(x, nperseg=8, scaling='q')", ValueError, "Unknown scaling: 'q'"), ('signal.welch(x, window=cupy.ones(50))', ValueError, 'longer than input'),
    ("signal.stft(x, nperseg=8, boundary='q')", ValueError, "Unknown boundary option 'q'"), ("signal.spectrogram(x, mode='q')", ValueError, 'unknown value for mode q'),
    ('signal.istft(x)', ValueError, 'at least 2d'), ("signal.welch(x, average='q')", ValueError, "'mean', got q"), ('signal.lfilter([1], [0, 1], x)', ValueError, 'a[0] must not be 0'),
    ('signal.lfilter([1, 2], [1], x, zi=cupy.ones(2))', ValueError, 'expected (1,), found (2,)'), ('signal.sosfilt([[1, 2, 3]], x)', ValueError, '(n_sections, 6)'),
    ("signal.get_window('q', 4)", ValueError, "'q'"), ('signal.windows.hann(-1)', ValueError, 'non-negative integer'), ('signal.windows.dpss', AttributeError, 'has no attribute'), ('signal.lombscargle', AttributeError, 'names cupyx.scipy.signal')])
def test_invalid_arguments_raise(statement, error, says):
    refused(statement, error, says, signal=signal, x=cupy.arange(20.), m=cupy.ones((3, 4)))


@pytest.mark.parametrize('function', ['fftconvolve', 'oaconvolve'])
def test_convolution_of_axes_that_are_broadcast(function):
    """As in SciPy, if in1 has size 1 along an axis that is not transformed, the centre of the broadcast result is returned."""
    a, b = numpy.random.default_rng(5).normal(size=(9, 1)), numpy.random.default_rng(6).normal(size=(4, 3))
    made = getattr(signal, function)(cupy.asarray(a), cupy.asarray(b), 'same', axes=0)
    same(made, numpy.convolve(a[:, 0], b[:, 1], 'same')[:, None], 1e-12)
    turned = getattr(signal, function)(cupy.asarray(b), cupy.asarray(a), 'full', axes=0)
    same(turned, numpy.stack([numpy.convolve(a[:, 0], b[:, k]) for k in range(3)], 1), 1e-12)
    assert getattr(signal, function)(cupy.asarray([4967]), cupy.asarray([3920])).tolist() == [4967 * 3920]


def test_detrend_of_pieces_of_two():
    x = numpy.random.default_rng(8).normal(size=(3, 7))
    made = signal.detrend(cupy.asarray(x), bp=cupy.asarray([0, 2, 3])).get()
    numpy.testing.assert_allclose(made[:, :3], 0, atol=1e-12)
    rest = x[:, 3:] - numpy.stack([numpy.polyval(numpy.polyfit(range(4), row[3:], 1), range(4)) for row in x])
    numpy.testing.assert_allclose(made[:, 3:], rest, atol=1e-12)


def test_results_lie_in_memory_as_numpys():
    x = cupy.asarray(numpy.random.default_rng(8).normal(size=(40, 50)))
    for mode in ('full', 'same', 'valid'):
        for made in (signal.convolve(x, x[:7, :9], mode, 'fft'), signal.fftconvolve(x, x[:7, :9], mode), signal.convolve(x, x[:3, :2], mode), signal.oaconvolve(x, x[:2, :2], mode)):
            assert made.flags.c_contiguous
    assert signal.lfiltic(cupy.ones(2, 'f'), cupy.ones(2, 'f'), cupy.ones(1, 'f')).dtype == 'f'


def test_convolutions_of_bools():
    """Both methods follow SciPy for bools: is there a pair of which both are true?"""
    for shape, other in (((9,), (3,)), ((3,), (9,)), ((5, 6), (2, 3))):
        x, y = G.random(shape) < 0.3, G.random(other) < 0.5
        counts = numpy.zeros([a + b - 1 for a, b in zip(shape, other)], int)
        for place in zip(*numpy.nonzero(y)):
            counts[tuple(slice(p, p + n) for p, n in zip(place, shape))] += x
        for method in ('direct', 'fft', 'auto'):
            same(signal.convolve(cupy.asarray(x), cupy.asarray(y), method=method), counts > 0)
            same(signal.correlate(cupy.asarray(x), cupy.asarray(y[(slice(None, None, -1),) * y.ndim]), method=method), counts > 0)
    with pytest.raises(ValueError, match='convolve2d not available'):
        signal.convolve2d(cupy.ones((2, 2), bool), cupy.ones((2, 2), bool))


@pytest.mark.parametrize('dtype', ['f', 'd', 'F', 'D'])
def test_filters_of_mirrored_signals(dtype):
    """Filters the signal with mirrored copies before and after it by the impulse response."""
    tolerance = 1e-5 if dtype in 'fF' else 1e-10
    for shape in ((40,), (3, 50)):
        x = numbers(shape, dtype)
        wide = numpy.concatenate([x[..., ::-1], x, x[..., ::-1], x], -1)  # beyond the first image z1 ** k is nothing
        for z1 in (0.5, -0.4):
            n = shape[-1]
            places = numpy.arange(wide.shape[-1])
            response = 2.0 / (1 - z1 * z1) * z1 ** abs(places[:, None] - places[None, :]).astype('d')
            near(signal.symiirorder1(cupy.asarray(x), 2.0, z1), (wide @ response)[..., n:2 * n].astype(dtype), tolerance=tolerance)
    x, row, column = numbers((9, 12), dtype), numbers((5,), dtype), numbers((3,), dtype)
    wide = numpy.pad(x, ((1, 1), (2, 2)), 'symmetric')
    expected = sum(wide[2 - j:2 - j + 9, 4 - k:4 - k + 12] * column[j] * row[k] for j in range(3) for k in range(5))
    near(signal.sepfir2d(cupy.asarray(x), cupy.asarray(row), cupy.asarray(column)), expected.astype(dtype), tolerance=tolerance)
    with pytest.raises(ValueError, match='odd length'):
        signal.sepfir2d(cupy.asarray(x), cupy.ones(4), cupy.ones(3))
    with pytest.raises(ValueError, match='did not converge'):
        signal.symiirorder1(cupy.ones(5), 1.0, 0.9)
    with pytest.raises(ValueError, match='less than 1.0'):
        signal.symiirorder1(cupy.ones(5), 1.0, 1)


def test_designs_and_responses():
    """Compares with values of SciPy's: minimum phase of an even length, gains in a list, arrays for plotting, edges that NumPy can copy."""
    h = numpy.asarray([0.02459027, -0.04131458, -0.0759438, 0.00321, 0.1931, 0.3667])
    h = numpy.concatenate([h, h[::-1]])
    turned = (numpy.fft.fft(h, 4096) * numpy.exp(2j * numpy.pi / 4096 * 6 * numpy.arange(4096))).real
    above, below = turned.max() - 1, -turned.min()
    gain = numpy.sqrt((turned + below) * 4 / (numpy.sqrt(1 + above + below) + numpy.sqrt(1 - above + below)) ** 2)
    made = signal.minimum_phase(h, 'hilbert', n_fft=4096).get()
    assert made.shape == (6,) and abs(abs(numpy.fft.fft(made, 4096)) - gain).max() < 0.05
    seen = []
    for function in (signal.freqs, signal.freqz):
        w, h = function([1.0], [1.0, 0.5], worN=8, plot=lambda *given: seen.append(given))
        assert all(isinstance(x, cupy.ndarray) for x in seen[-1])
        same(seen[-1][0], w.get())
    for k in (2.0, [2.0]):
        same(signal.freqs_zpk([1.0], [-1.0], k)[1], signal.freqs_zpk([1.0], [-1.0], 2)[1].get())
    for function in (signal.buttord, signal.cheb1ord, signal.cheb2ord, signal.ellipord):
        order, edge = function(0.2, 0.3, 3, 60)
        assert isinstance(edge, cupy.ndarray) and edge.shape == ()  # as CuPy's
        same(signal.butter(order, edge)[0], signal.butter(order, float(edge))[0].get())


@pytest.mark.host
def test_istft_takes_the_length_of_its_window():
    """A length that the number of frequencies does not tell apart from the even one below it."""
    x, window = cupy.asarray(numbers((60,))), cupy.asarray(numpy.hanning(17)[1:-1])
    spectra = signal.stft(x, window=window, nperseg=15, noverlap=10)[2]
    near(signal.istft(spectra, window=window, noverlap=10)[1][:60], x.get())
