"""Functions that SciPy computes on the host: their arrays come from the device, and their results go to the current device."""

import functools
import inspect

import numpy

from catenary import _core
from catenary.cupy._array import ndarray


def scipy_function(name):
    """Returns a function or class of scipy.signal, such as 'windows.hann'. Raises ImportError without SciPy, and if SciPy is too old to have it."""
    try:
        import scipy.signal
    except ImportError as error:
        raise ImportError(f"cupyx.scipy.signal.{name} needs SciPy, which computes it on the host: pip install 'scipy>=1.9'", name='scipy') from error
    found = functools.reduce(lambda where, part: getattr(where, part, None), name.split('.'), scipy.signal)
    if found is None:
        raise ImportError(f'cupyx.scipy.signal.{name} needs a newer SciPy than {scipy.__version__}: pip install --upgrade scipy', name='scipy')
    return found


def host(values):
    """Converts numbers to a NumPy array of float64 or complex128 with at least one axis."""
    values = numpy.atleast_1d(values.get() if isinstance(values, ndarray) else numpy.asarray(values))
    return values.astype('D' if values.dtype.kind == 'c' else 'd')


def sent(values, dtype=None):
    """Copies a NumPy array to the current device, and converts it to a dtype there."""
    made = _core.from_numpy(numpy.asarray(values, order='C'), None)
    return made if dtype is None else made.astype(dtype)


def checked_sections(sos):
    """Returns second-order sections as a NumPy array. Raises ValueError for another shape."""
    sos = numpy.atleast_2d(sos.get() if isinstance(sos, ndarray) else numpy.asarray(sos))
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError('sos array must be shape (n_sections, 6), given %s' % (sos.shape,))
    if not (sos[:, 3] == 1).all():
        raise ValueError('sos[:, 3] should be all ones')
    return sos


def _argument(value, keeps_integers):
    """Converts an argument for SciPy: arrays become NumPy's of float64 or complex128. Numbers and texts stay."""
    if isinstance(value, (tuple, list)):
        made = [_argument(v, keeps_integers) for v in value]
        return tuple(made) if isinstance(value, tuple) else made
    value = value.get() if isinstance(value, ndarray) else value
    if not isinstance(value, numpy.ndarray):
        return value
    if value.dtype.kind in 'biu' and (keeps_integers or value.ndim == 0):
        return value[()]
    return value.astype('D' if value.dtype.kind == 'c' else 'd', copy=False)[()]


def _result(value):
    """Copies the arrays of a result to the current device. NumPy's scalars become numbers."""
    if isinstance(value, tuple):
        return tuple(map(_result, value))
    if isinstance(value, dict):
        return {name: _result(v) for name, v in value.items()}
    if isinstance(value, numpy.generic):
        return value.item()
    return sent(value) if isinstance(value, numpy.ndarray) else value


def from_scipy(stub, keeps_integers=False):
    """Makes a function from its signature: scipy.signal's function of that name computes it on the host in float64. `plot` gets device arrays."""
    signature = inspect.signature(stub)
    name = ('windows.' if stub.__module__.endswith('.windows') else '') + stub.__name__

    @functools.wraps(stub)
    def function(*args, **kwargs):
        stub(*args, **kwargs)  # raises TypeError for other arguments
        given = signature.bind(*args, **kwargs).arguments
        plot = given.pop('plot', None)
        made = _result(scipy_function(name)(**{argument: _argument(value, keeps_integers) for argument, value in given.items()}))
        if plot is not None:
            plot(*made)
        return made
    function.__doc__ = f"Returns the result of scipy.signal.{name}, which computes on the host in float64. Arrays are copied to the current device."
    return function
