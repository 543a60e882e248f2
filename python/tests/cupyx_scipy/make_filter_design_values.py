"""Writes filter_design_values.json, SciPy's answers to the calls that filter_design_test.py makes: python make_filter_design_values.py, with SciPy 1.17."""

import json
import pathlib

import numpy

FILE = pathlib.Path(__file__).with_name('filter_design_values.json')
NAMES = {'b': [0.1, 0.3, 0.2], 'a': [1, -0.4, 0.25], 'sos': [[0.2, 0.3, 0.1, 1, -0.5, 0.2], [1, 2, 1, 1, 0.1, 0.3], [1, 0.5, 0, 1, -0.9, 0]],
         'z': [-1, 0.3 + 0.9j, 0.3 - 0.9j], 'p': [0.5, 0.7 + 0.3j, 0.7 - 0.3j], 'prototype': [[1.0, 2.0], [1, 2, 3.0]]}


def calls():
    """Yields the calls as text. x, t, steps and h are arrays."""
    yield from (f'{kind}({order}, {more}{band}, output={output!r})'
                for kind, more in (('butter', ''), ('cheby1', '0.5, '), ('cheby2', '40, '), ('ellip', '0.5, 60, ')) for order in (1, 4, 5)
                for band, output in (("0.3, 'low'", 'ba'), ("0.3, 'low'", 'sos'), ("[0.2, 0.5], 'band'", 'sos'), ("0.4, 'high', True", 'ba'), ("[0.25, 0.6], 'stop'", 'ba'))
                if not (kind == 'ellip' and order == 5 and 'band' in band))
    yield from (f'{name}({passed}, {stopped}, 3, 40, {analog})' for name in ('buttord', 'cheb1ord', 'cheb2ord', 'ellipord') for analog in (False, True)
                for passed, stopped in ((0.2, 0.3), (0.3, 0.2), ([0.2, 0.5], [0.1, 0.6]), ([0.1, 0.6], [0.2, 0.5])))
    yield from ('buttord(20, 30, 3, 40, fs=200)', "iirdesign(0.2, 0.3, 1, 40, output='sos')", "iirdesign([0.2, 0.5], [0.1, 0.6], 1, 40, ftype='butter', output='sos')",
                'butter(3, 20, fs=200)', "iirfilter(3, [0.2, 0.4], 1, 50, ftype='cheby2')", 'iirnotch(0.2, 30)', 'iirpeak(60, 4, fs=300)')
    yield from (f'iircomb(20, 30, {kind!r}, fs=200, pass_zero={zero})' for kind in ('notch', 'peak') for zero in (False, True))
    yield from (f'{name}(*prototype, {more})' for name, more in (('lp2lp', '2.5'), ('lp2hp', '2.5'), ('lp2bp', '2.5, 0.5'), ('lp2bs', '2.5, 0.5'), ('bilinear', '3')))
    yield from ('normalize([0, 0, 1, 2], [2, 3])', 'zpk2tf(z, p, 2.5)', 'sos2tf(sos)', 'tf2sos(b, a)', 'zpk2sos(z, p, 2.5)', "zpk2sos(z, p, 2.5, pairing='keep_odd')",
                'zpk2sos(z, p, 2.5, analog=True)', 'zpk2sos([], [], 3.0)', 'zpk2sos([1j, -1j, 2], [0.5], 1.0)')
    for taps in (5, 6, 21):
        yield from (f'firwin({taps}, 0.3)', f"firwin({taps}, [0.2, 0.5], pass_zero=False, window=('kaiser', 4.0))", f'firwin({taps}, 30, width=10, fs=200)',
                    f'firwin({taps}, 0.3, scale=False)', f'firwin2({taps}, [0, 0.3, 0.5, 0.5, 1], [0, 1, 1, 0, 0])',
                    f'firwin2({taps}, [0, 0.3, 0.5, 1], [0, 1, 1, 0], antisymmetric=True, window=None)')
    yield from ("firwin(5, [0.2, 0.6], pass_zero='bandstop')", "firwin(5, 0.6, pass_zero='highpass')", 'firls(11, [0, 0.3, 0.4, 0.7, 0.8, 1], [1, 1, 0, 0, 0.5, 1], weight=[1, 2, 3])',
                'firls(1, [0, 0.3, 0.5, 1], [1, 1, 0, 0])', 'firls(9, [0, 30, 40, 100], [1, 0.8, 0, 0], fs=200)', 'kaiserord(60, 0.1)', 'kaiser_atten(51, 0.1)', 'kaiser_beta(30)', 'kaiser_beta(10)',
                'minimum_phase(h)', 'minimum_phase(h, half=False)', 'minimum_phase(h, n_fft=301)')
    yield from ('freqz(b, a, 9)', 'freqz(h, worN=8, whole=True, fs=9)', 'freqz(b, a, [0.1, 0.5])', 'freqz(b, a, 5, include_nyquist=True)', 'freqz(b, a, 0)', 'freqz_zpk(z, p, 2.5, 7)',
                'freqz_sos(sos, 7)', 'sosfreqz(sos, [0.5], fs=4)', 'freqs(*prototype, 6)', 'freqs(*prototype, [1.0, 3])', 'freqs_zpk([-1], [-1, -2], 3, 6)', 'findfreqs([1, 0], [1, 8, 25], 9)',
                'group_delay((b, a), 7)')
    yield from (f'savgol_coeffs({n}, {order}, {derivative}, 0.5{more})' for n, order, derivative in ((5, 2, 0), (7, 3, 1), (4, 2, 0), (5, 2, 3)) for more in ('', ", pos=1, use='dot'"))
    yield from (f'savgol_filter(x, 5, 2, {derivative}, 0.5, {axis}, {mode!r})' for derivative, axis in ((0, -1), (1, 1), (0, 0)) for mode in ('interp', 'mirror', 'nearest', 'wrap', 'constant')
                if axis or mode != 'interp')
    yield from (f'filtfilt(b, a, x{more})' for more in ('', ", padtype='even'", ", padtype='constant', padlen=3", ', padtype=None', ', -1, padlen=0', ", method='gust'"))
    yield from ("filtfilt(b, a, x.T, 0)", 'filtfilt([1.0, 2], [2.0], x)', 'sosfiltfilt(sos, x, padlen=7)', 'sosfiltfilt(sos, x.T, 0, "even", 6)', 'deconvolve(t[:7], t[2:5])', 'deconvolve(t[:2], t[2:5])')
    yield from (f'upfirdn(h, x, {up}, {down})' for up, down in ((1, 1), (3, 1), (1, 2), (3, 2), (5, 7)))
    yield from ('upfirdn(h[:3], x.T, 2, 3, axis=0)',)
    yield from (f'resample_poly(x, {up}, {down}, 1{more})' for up, down in ((1, 1), (3, 1), (1, 2), (3, 2), (5, 7), (6, 4)) for more in ('', ", padtype='mean'"))
    yield from ("resample_poly(x, 2, 3, 1, window=h, padtype='maximum')", "resample_poly(x.T, 3, 2, padtype='median')", 'resample_poly(x, 3, 2, 1, cval=0.5)')
    yield from (f'decimate({x}, 3, ftype={kind!r}, zero_phase={zero})' for x in ('t',) for kind in ('iir', 'fir') for zero in (False, True))
    yield from ('wiener(x)', 'wiener(x, [1, 5], 0.1)', 'sawtooth(t)', 'sawtooth(t, 0.3)', 'sawtooth(t, 0)', 'sawtooth(t, 1.5)', 'square(t)', 'square(t, 0.2)', 'square(t, 2)', 'chirp(t, 3, 5, 7)',
                "chirp(t, 3, 5, 7, 'quadratic', 30)", "chirp(t, 3, 5, 7, 'quadratic', 30, False)", "chirp(t, 3, 5, 7, 'logarithmic')", "chirp(t, 3, 5, 7, 'hyperbolic')", "chirp(t, 3, 5, 3, 'hyperbolic')",
                'sweep_poly(t, [1, 2, 3], 20)', 'gausspulse(t, 5, retquad=True, retenv=True)', "gausspulse('cutoff', 5)", 'unit_impulse(5)', "unit_impulse((3, 4), 'mid')", 'unit_impulse((3, 4), 2)',
                'unit_impulse(6, 2)', 'argrelmax(x)', 'argrelmax(x, 1, 2)', "argrelmin(x, -1, 3, 'wrap')", 'argrelmin(t)', 'max_len_seq(7)', 'max_len_seq(5, [0, 1, 0, 0, 1], 50, [1, 3])', 'max_len_seq(4, length=0)')
    yield from (f'find_peaks({x}, {more})[0]' for x in ('x[1]', 'steps') for more in ('None', '0.5', '(0, 0.9)', 'threshold=0.3', 'prominence=(0.5, 1.5)', 'width=1', 'plateau_size=2', 'distance=4',
                                                                                      'prominence=0.1, wlen=5, rel_height=0.7, width=(0, 2)'))
    yield from ('peak_prominences(x[1], [3, 8])', 'peak_prominences(steps, [2, 5, 12], wlen=4)', 'peak_widths(x[1], [3, 8], 0.7)', 'peak_widths(steps, [2, 6])')


def arrays(module):
    """Returns x, t, steps and h as arrays of NumPy or cupy."""
    return {'x': module.asarray(numpy.sin(numpy.arange(72.0) ** 1.3).reshape(3, 24)), 't': module.asarray(numpy.linspace(-2, 9, 50)),
            'steps': module.asarray([0.0, 1, 2, 2, 2, 0, 3, 3, 1, 0, 0.5, 0.2, 4, 0]), 'h': module.asarray(numpy.sinc((numpy.arange(11) - 5) * 0.3) * numpy.hamming(11))}


def answers():
    import warnings
    from scipy import signal
    warnings.simplefilter('ignore')

    def kept(value):
        value = numpy.asarray(value)
        if value.dtype.kind == 'c':
            return {'real': kept(value.real), 'imag': kept(value.imag)}
        return [value.dtype.char, list(value.shape), [float('%.13g' % v) for v in value.ravel()]]
    made = {}
    for call in calls():
        found = eval(call, {name: getattr(signal, name) for name in dir(signal)}, {**NAMES, **arrays(numpy)})
        made[call] = [kept(v) for v in found] if isinstance(found, tuple) else kept(found)
    return made


if __name__ == '__main__':
    FILE.write_text('{\n' + ',\n'.join(f'{json.dumps(call)}: {json.dumps(value)}' for call, value in answers().items()) + '\n}\n')
