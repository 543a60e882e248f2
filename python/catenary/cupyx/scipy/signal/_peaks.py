"""find_peaks, peak_prominences and peak_widths, which SciPy computes on the host because each search starts from the previous peak."""

import functools

from catenary.cupyx.scipy.signal._from_scipy import from_scipy

_of_peaks = functools.partial(from_scipy, keeps_integers=True)  # peaks are indices


@_of_peaks
def find_peaks(x, height=None, threshold=None, distance=None, prominence=None, width=None, wlen=None, rel_height=0.5, plateau_size=None): ...
@_of_peaks
def peak_prominences(x, peaks, wlen=None): ...
@_of_peaks
def peak_widths(x, peaks, rel_height=0.5, prominence_data=None, wlen=None): ...
