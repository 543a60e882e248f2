"""cupyx.scipy.signal: convolutions, spectra, windows and filters, of the library's own operations."""

from catenary import _wheel
from catenary.cupyx.scipy.signal import windows  # noqa: F401
from catenary.cupyx.scipy.signal._convolutions import (  # noqa: F401
    choose_conv_method, convolve, convolve2d, correlate, correlate2d, correlation_lags, fftconvolve, oaconvolve)
from catenary.cupyx.scipy.signal._filters import (  # noqa: F401
    lfilter, lfilter_zi, medfilt, medfilt2d, order_filter, sosfilt, sosfilt_zi)
from catenary.cupyx.scipy.signal._spectra import (  # noqa: F401
    coherence, csd, detrend, hilbert, hilbert2, istft, periodogram, resample, spectrogram, stft, welch)
from catenary.cupyx.scipy.signal.windows import get_window  # noqa: F401

__getattr__ = _wheel.getter('cupyx.scipy.signal')
