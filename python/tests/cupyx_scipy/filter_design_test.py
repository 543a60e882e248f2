"""Filter design, zero-phase filtering and resampling, compared with SciPy's results (filter_design_values.json)."""

import json
import subprocess
import sys
import warnings

import numpy
import pytest

import make_filter_design_values
from catenary import cupy
from catenary.cupyx.scipy import signal
from compare import same

ANSWERS = json.loads(make_filter_design_values.FILE.read_text())


def restored(value):
    if isinstance(value, dict):
        return restored(value['real']) + 1j * restored(value['imag'])
    return numpy.asarray(value[2], value[0]).reshape(value[1])


def near(ours, expected, call, tolerance):
    made = ours.get() if isinstance(ours, cupy.ndarray) else numpy.asarray(ours)
    assert made.shape == expected.shape, call
    assert made.dtype == expected.dtype or not isinstance(ours, cupy.ndarray), (call, made.dtype, expected.dtype)
    scale = numpy.abs(expected[numpy.isfinite(expected)]).max(initial=1e-300)
    numpy.testing.assert_allclose(made, expected, rtol=tolerance, atol=tolerance * scale, err_msg=call)


@pytest.mark.parametrize('name', sorted({call.partition('(')[0] for call in ANSWERS}))
def test_as_scipy(name):
    """Runs on the processor: these functions run on the host, or use functions that other tests run on devices."""
    with cupy.cuda.Device('cpu'), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        for call, expected in ANSWERS.items():
            if call.partition('(')[0] != name:
                continue
            made = eval(call, {name: getattr(signal, name)}, {**make_filter_design_values.NAMES, **make_filter_design_values.arrays(cupy)})
            several = isinstance(made, tuple)
            tolerance = 1e-5 if name.endswith('ord') or name == 'minimum_phase' else 1e-7
            for own, theirs in zip(made if several else [made], expected if several else [expected], strict=True):
                near(own, restored(theirs), call, tolerance)


def test_all_calls_have_answers():
    assert list(make_filter_design_values.calls()) == list(ANSWERS)


@pytest.mark.usefixtures('device')
@pytest.mark.kernels
def test_on_every_device():
    x = make_filter_design_values.arrays(numpy)['x'].astype('f')
    b, a, sos = (numpy.asarray(make_filter_design_values.NAMES[name]) for name in ('b', 'a', 'sos'))
    ours = cupy.asarray(x)
    for call in ('filtfilt(b, a, x)', "resample_poly(x, 3, 2, 1)", 'upfirdn(h, x, 3, 2)', 'wiener(x)', "savgol_filter(x, 5, 2, 0, 0.5, -1, 'interp')"):
        names = {**make_filter_design_values.NAMES, 'x': ours, 'h': cupy.asarray(make_filter_design_values.arrays(numpy)['h'])}
        made = eval(call, {name: getattr(signal, name) for name in ('filtfilt', 'resample_poly', 'upfirdn', 'wiener', 'savgol_filter')}, names)
        numpy.testing.assert_allclose(made.get(), restored(ANSWERS[call]), rtol=2e-4, atol=2e-4, err_msg=call)
    designed = signal.butter(4, 0.3)
    assert all(isinstance(v, cupy.ndarray) for v in designed)
    numpy.testing.assert_allclose(signal.lfilter(*designed, ours).get(), signal.sosfilt(signal.butter(4, 0.3, output='sos'), ours).get(), atol=1e-4)
    assert len(a) == len(b) and sos.shape == (3, 6)


@pytest.mark.parametrize('dtype', ['d', 'f', 'i', 'D', 'F'])
def test_dtypes_and_no_elements(dtype):
    with cupy.cuda.Device('cpu'):
        b, a = make_filter_design_values.NAMES['b'], make_filter_design_values.NAMES['a']
        x = cupy.asarray((numpy.arange(60).reshape(3, 20) % 7).astype(dtype))
        wide = numpy.result_type(dtype, 'd')
        once = signal.filtfilt(b, a, x)
        assert once.dtype == wide and once.shape == x.shape
        same(signal.filtfilt(b, a, x.T, 0), once.get().T, 1e-10)
        kind = {'i': 'd'}.get(dtype, dtype)
        assert signal.resample_poly(x, 3, 2, 1).dtype == kind and signal.decimate(x, 2, ftype='fir').dtype == kind
        assert signal.upfirdn([1.0, 2], cupy.zeros((2, 0), dtype)).shape == (2, 0) and signal.upfirdn([1.0], x[:0]).shape == (0, 20)
        assert signal.resample_poly(x[:0], 3, 2, 1).shape == (0, 30)
        assert signal.savgol_filter(x.real, 5, 2).dtype == ('f' if dtype in 'fF' else 'd')


def test_an_elliptic_filter_is_as_steep_as_asked():
    """Passband and stopband ripples are equal, for very different orders and depths."""
    for order, rp, rs in ((2, 1, 30), (3, 0.1, 80), (7, 0.01, 120), (10, 3, 50)):
        z, p, k = (v.get() if isinstance(v, cupy.ndarray) else v for v in signal.ellipap(order, rp, rs))
        w = numpy.concatenate([numpy.linspace(0, 1, 4001), numpy.geomspace(1, 100, 20001)])
        gain = -20 * numpy.log10(abs(k * numpy.prod(1j * w[:, None] - z, 1) / numpy.prod(1j * w[:, None] - p, 1)) + 1e-30)
        assert gain[:4001].min() > -1e-6 and abs(gain[:4001].max() - rp) < 1e-6 and abs(gain[4001:][w[4001:] > abs(z.imag[z.imag > 0]).min()].min() - rs) < 0.01 * rs, (order, rp, rs)
        assert (p.real < 0).all()


def test_arguments_and_results():
    """Arrays come from any device and of any dtype, also in tuples. Results are arrays of the current device in float64, numbers are Python's."""
    with cupy.cuda.Device('cpu'):
        f, i = (cupy.asarray([2, 3, 4], dtype) for dtype in 'fi')
        for c in (f, i, f.get(), i.get()):
            made = signal.freqz_zpk(c, c, 1, 5)
            assert [v.dtype.char for v in (*made, *signal.zpk2tf(c, c, 2), signal.firls(3, c[:2] * 0.25, c[:2]))] == list('dDddd')
        delay = signal.group_delay((f, cupy.asarray(1.0)), cupy.asarray([0.1, 0.2]))[1]
        numpy.testing.assert_allclose(delay.get(), signal.group_delay(([2, 3, 4], [1]), [0.1, 0.2])[1].get())
        x = cupy.asarray([0, 1, 0, 3, 0, 2, 0])
        peaks, found = signal.find_peaks(x, height=(cupy.asarray([1, 2, 3, 2, 3, 2, 1]), None), prominence=0)
        assert peaks.get().tolist() == [3, 5] and peaks.dtype == 'l' and sorted(found) == ['left_bases', 'peak_heights', 'prominences', 'right_bases']
        assert all(isinstance(v, cupy.ndarray) for v in found.values())
        widths = signal.peak_widths(x, peaks, 0.5, tuple(found[name] for name in ('prominences', 'left_bases', 'right_bases')))
        numpy.testing.assert_allclose(widths[0].get(), [1, 1])
        order, cutoff = signal.buttord(cupy.asarray(0.2), cupy.asarray(0.3), 3, 40)
        assert type(order) is int and isinstance(cutoff, cupy.ndarray) and cutoff.shape == ()
        assert type(signal.butter(order, cutoff, output='zpk')[2]) is float and type(signal.kaiserord(60, 0.1)[1]) is float
        shown = []
        for response in (signal.freqz, signal.freqs):
            response(f, [1, 0.5], 4, plot=lambda *values: shown.extend(values))
        assert len(shown) == 4 and all(isinstance(v, cupy.ndarray) for v in shown)
        with pytest.raises(TypeError, match=r'butter\(\) missing 1 required positional argument'):
            signal.butter(2)
        with pytest.warns(signal.BadCoefficients):
            signal.normalize([0, 1], [1, 2])


@pytest.mark.usefixtures('device')
def test_designs_lie_on_the_current_device():
    for made in (signal.butter(2, 0.3)[0], signal.windows.hann(5), signal.find_peaks(cupy.asarray([0.0, 1, 0]))[0], signal.freqz([1, 2])[1]):
        assert made.device == cupy.cuda.Device()


WITHOUT_SCIPY = """
import sys
class Absent:
    def find_spec(self, name, *_):
        if name.partition('.')[0] == 'scipy':
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Absent())
from catenary import cupy
from catenary.cupyx.scipy import signal
with cupy.cuda.Device('cpu'):
    x = cupy.arange(20.)
    signal.filtfilt([1], [1, 0.5], x), signal.convolve(x, x), signal.sosfilt([[1, 2, 1, 1, 0.1, 0.3]], x), signal.sawtooth(x)
    for call in sys.argv[1:]:
        try:
            eval(call)
        except ImportError as error:
            print(error)
"""


def test_without_scipy():
    calls = {'signal.butter(2, 0.3)': 'butter', 'signal.buttord(0.2, 0.3, 3, 40)': 'buttord', 'signal.windows.hann(5)': 'windows.hann', 'signal.welch(x, nperseg=8)': 'windows.get_window',
             'signal.find_peaks(x)': 'find_peaks', 'signal.savgol_filter(x, 5, 2)': 'savgol_coeffs', 'signal.BadCoefficients': 'BadCoefficients'}
    done = subprocess.run([sys.executable, '-c', WITHOUT_SCIPY, *calls], capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"cupyx.scipy.signal.{name} needs SciPy, which computes it on the host: pip install 'scipy>=1.9'" for name in calls.values()], done.stderr


def test_scipy_is_imported_by_the_first_call():
    code = 'import sys; from catenary.cupyx.scipy import signal; assert "scipy" not in sys.modules; signal.kaiser_beta(3); assert "scipy.signal" in sys.modules'
    subprocess.run([sys.executable, '-c', code], check=True)


def test_an_old_scipy(monkeypatch):
    import scipy.signal
    monkeypatch.delattr(scipy.signal.windows, 'lanczos')
    with pytest.raises(ImportError, match=r'cupyx.scipy.signal.windows.lanczos needs a newer SciPy than \d.*pip install --upgrade scipy'):
        signal.windows.lanczos(5)


@pytest.mark.parametrize('statement, error, says', [
    ('signal.butter(2, 1.3)', ValueError, '0 < Wn < 1'), ('signal.zpk2sos([1j], [0.5], 1.0)', ValueError, 'no matching conjugate'), ('signal.savgol_coeffs(3, 3)', ValueError, 'less than window_length'),
    ("signal.savgol_filter(x, 5, 2, mode='q')", ValueError, "'interp'"),
    ('signal.savgol_filter(x[:3], 5, 2)', ValueError, 'less than or equal to the size'), ('signal.filtfilt([1], [1, 0.5], x[:5])', ValueError, 'greater than padlen, which is 6'), ("signal.filtfilt([1], [1], x, padtype='q')", ValueError, "'q'"),
    ("signal.filtfilt([1], [1], x, method='q')", ValueError, "'pad' or 'gust'"), ('signal.filtfilt([1], [1], x, 2)', numpy.exceptions.AxisError, 'axis 2'), ("signal.upfirdn([1], x, mode='wrap')", NotImplementedError, "mode='wrap'"),
    ('signal.upfirdn([1], x, 0)', ValueError, '>= 1'), ('signal.upfirdn(numpy.ones((2, 2)), x)', ValueError, '1-D'), ("signal.resample_poly(x, 2, 1, padtype='line')", ValueError, "not 'line'"), ('signal.resample_poly(x, 1.5, 1)', ValueError, 'up must be'),
    ("signal.resample_poly(x, 2, 1, padtype='mean', cval=1)", ValueError, 'no effect'), ("signal.decimate(x, 2, ftype='q')", ValueError, 'invalid ftype'), ("signal.chirp(x, 1, 2, 3, 'z')", ValueError, "'z'"), ("signal.chirp(x, -1, 2, 3, 'log')", ValueError, 'same sign'),
    ('signal.gausspulse(x, bw=0)', ValueError, 'bandwidth'), ('signal.argrelmax(x, order=0)', ValueError, 'Order'), ("signal.argrelmax(x, mode='raise')", NotImplementedError, "'raise'"), ('signal.lfiltic([1], [0], [1])', ValueError, 'nonzero'),
    ('signal.deconvolve(cupy.ones((2, 2)), x)', ValueError, 'signal must be 1-D'), ('signal.filtfilt([1], [1], numpy.ones(9))', TypeError, 'use cupy.asarray')])
def test_invalid_arguments_raise(statement, error, says):
    with pytest.raises(error) as caught:
        eval(statement, {'signal': signal, 'numpy': numpy, 'cupy': cupy, 'x': cupy.arange(20.)})
    assert says in str(caught.value), caught.value
