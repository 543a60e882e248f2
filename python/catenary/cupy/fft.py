"""cupy.fft is not there."""

raise ImportError('cupy.fft is not available: Fourier transforms need complex dtypes, which are not supported')
