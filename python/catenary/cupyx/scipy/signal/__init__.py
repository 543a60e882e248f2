"""cupyx.scipy.signal: convolutions, spectra and filters of the library's own operations. Filter design, windows and peaks are SciPy's."""

from catenary import _wheel
from catenary.cupyx.scipy.signal import windows  # noqa: F401
from catenary.cupyx.scipy.signal._convolutions import (  # noqa: F401
    choose_conv_method, convolve, convolve2d, correlate, correlate2d, correlation_lags, fftconvolve, oaconvolve)
from catenary.cupyx.scipy.signal._from_scipy import scipy_function
from catenary.cupyx.scipy.signal._peaks import find_peaks, peak_prominences, peak_widths  # noqa: F401
from catenary.cupyx.scipy.signal._lfilter import (  # noqa: F401
    lfilter, lfilter_zi, medfilt, medfilt2d, order_filter, sosfilt, sosfilt_zi)
from catenary.cupyx.scipy.signal._scipy_filter_design import (  # noqa: F401
    band_stop_obj, bilinear, bilinear_zpk, buttap, butter, buttord, cheb1ap, cheb1ord, cheb2ap, cheb2ord, cheby1, cheby2, ellip, ellipap, ellipord,
    findfreqs, firls, firwin, firwin2, freqs, freqs_zpk, freqz, freqz_sos, freqz_zpk, group_delay, iircomb, iirdesign, iirfilter, iirnotch, iirpeak,
    kaiser_atten, kaiser_beta, kaiserord, lp2bp, lp2bp_zpk, lp2bs, lp2bs_zpk, lp2hp, lp2hp_zpk, lp2lp, lp2lp_zpk, minimum_phase, normalize, savgol_coeffs,
    sos2tf, sos2zpk, sosfreqz, tf2sos, tf2zpk, zpk2sos, zpk2tf)
from catenary.cupyx.scipy.signal._savgol_filter import savgol_filter  # noqa: F401
from catenary.cupyx.scipy.signal._sepfir2d import sepfir2d, symiirorder1  # noqa: F401
from catenary.cupyx.scipy.signal._filtfilt import (  # noqa: F401
    decimate, deconvolve, filtfilt, lfiltic, resample_poly, sosfiltfilt, upfirdn, wiener)
from catenary.cupyx.scipy.signal._spectral_analysis import (  # noqa: F401
    coherence, csd, detrend, hilbert, hilbert2, istft, periodogram, resample, spectrogram, stft, welch)
from catenary.cupyx.scipy.signal._waveform_generation import (  # noqa: F401
    argrelextrema, argrelmax, argrelmin, chirp, gausspulse, max_len_seq, sawtooth, square, sweep_poly, unit_impulse)
from catenary.cupyx.scipy.signal.windows import get_window  # noqa: F401


def __getattr__(name):
    if name == 'BadCoefficients':
        return scipy_function(name)  # the category of SciPy's warnings
    return _wheel.attribute('cupyx.scipy.signal', name)
