"""cupyx.scipy"""

from catenary import _wheel
from catenary.cupy._util import beside, of_ufuncs, submodule
from catenary.cupyx.scipy import linalg, special  # noqa: F401

beside['scipy_name'], beside['sp_name'] = ('catenary.cupyx.scipy', 'scipy'), ('catenary.cupyx.scipy.sparse', 'scipy.sparse')
of_ufuncs.append('catenary.cupyx.scipy.special')


def get_array_module(*args):
    """Returns cupyx.scipy if an argument is a cupy.ndarray, or a sparse matrix or array of cupyx, else scipy."""
    from catenary import cupy
    if cupy.get_array_module(*args) is cupy:
        import catenary.cupyx.scipy
        return catenary.cupyx.scipy
    import scipy
    return scipy


def __getattr__(name):
    if name in ('fft', 'fftpack', 'ndimage', 'signal', 'sparse'):
        return submodule(f'{__name__}.{name}')
    return _wheel.attribute('cupyx.scipy', name)
