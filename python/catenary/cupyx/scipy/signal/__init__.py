"""cupyx.scipy.signal: convolutions, spectra, windows, filters and their design, of the library's own operations."""

from catenary import _wheel
from catenary.cupyx.scipy.signal import windows  # noqa: F401
from catenary.cupyx.scipy.signal._convolutions import (  # noqa: F401
    choose_conv_method, convolve, convolve2d, correlate, correlate2d, correlation_lags, fftconvolve, oaconvolve)
from catenary.cupyx.scipy.signal._peaks import find_peaks, peak_prominences, peak_widths  # noqa: F401
from catenary.cupyx.scipy.signal._lfilter import (  # noqa: F401
    lfilter, lfilter_zi, medfilt, medfilt2d, order_filter, sosfilt, sosfilt_zi)
from catenary.cupyx.scipy.signal._fir_design import (  # noqa: F401
    firls, firwin, firwin2, kaiser_atten, kaiser_beta, kaiserord, minimum_phase, savgol_coeffs, savgol_filter)
from catenary.cupyx.scipy.signal._filter_conversions import (  # noqa: F401
    BadCoefficients, bilinear, bilinear_zpk, lp2bp, lp2bp_zpk, lp2bs, lp2bs_zpk, lp2hp, lp2hp_zpk, lp2lp, lp2lp_zpk, normalize, sos2tf, sos2zpk, tf2sos,
    tf2zpk, zpk2sos, zpk2tf)
from catenary.cupyx.scipy.signal._sepfir2d import sepfir2d, symiirorder1  # noqa: F401
from catenary.cupyx.scipy.signal._filtfilt import (  # noqa: F401
    decimate, deconvolve, filtfilt, lfiltic, resample_poly, sosfiltfilt, upfirdn, wiener)
from catenary.cupyx.scipy.signal._iir_design import (  # noqa: F401
    band_stop_obj, buttap, butter, buttord, cheb1ap, cheb1ord, cheb2ap, cheb2ord, cheby1, cheby2, ellip, ellipap, ellipord, iircomb, iirdesign, iirfilter,
    iirnotch, iirpeak)
from catenary.cupyx.scipy.signal._freqz import (  # noqa: F401
    findfreqs, freqs, freqs_zpk, freqz, freqz_sos, freqz_zpk, group_delay, sosfreqz)
from catenary.cupyx.scipy.signal._spectral_analysis import (  # noqa: F401
    coherence, csd, detrend, hilbert, hilbert2, istft, periodogram, resample, spectrogram, stft, welch)
from catenary.cupyx.scipy.signal._waveform_generation import (  # noqa: F401
    argrelextrema, argrelmax, argrelmin, chirp, gausspulse, max_len_seq, sawtooth, square, sweep_poly, unit_impulse)
from catenary.cupyx.scipy.signal.windows import get_window  # noqa: F401

__getattr__ = _wheel.getter('cupyx.scipy.signal')
