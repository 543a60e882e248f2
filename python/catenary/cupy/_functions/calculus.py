"""Differences, integrals, interpolation, and polynomial fits."""

import warnings

import numpy

from catenary import _core
from catenary.cupy._arguments import given, listed, of_anything, operand
from catenary.cupy._array import asarray, is_complex, ndarray

globals().update(of_anything(__name__, {'unwrap': 1}))
globals().update(of_anything(__name__, {'ediff1d': 1}, listed))


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Returns the n-th differences of neighbours along an axis, after `prepend` and `append` are attached."""
    return _core.diff(a, n, axis, listed(prepend), listed(append))


def gradient(f, *varargs, axis=None, edge_order=1):
    """Returns derivatives along axes as one array or a tuple. Spacings are numbers or 1-d arrays of positions."""
    # numbers stay on the host, as a transfer to the device and back is slow
    spacing = [given(x) if isinstance(x, (list, tuple, ndarray)) else _host_number(x) for x in varargs]
    along = _core._gradient(given(f), spacing, axis, edge_order)
    return along[0] if len(along) == 1 else tuple(along)


def _host_number(x):
    with _core.Device('cpu'):
        return asarray(operand(x, 'gradient'))


def interp(x, xp, fp, left=None, right=None, period=None):
    """Interpolates linearly between the points (xp, fp) at x, periodically if a period is given."""
    x, xp, fp = map(listed, (x, xp, fp))
    if any(isinstance(end, complex) for end in (left, right)):
        parts = [interp(x, xp, part(fp), *(None if end is None else part(end) for end in (left, right)), period)
                 for part in (lambda v: v.real, lambda v: v.imag)]
        result = _core.zeros_like(parts[0], numpy.result_type(parts[0].dtype, numpy.complex64))
        result.real, result.imag = parts
        return result
    if period is None:
        return _core.interp(x, xp, fp, left, right)
    if period == 0:
        raise ValueError('interp: period must not be 0')
    x, xp, period = x.astype(float) % abs(period), xp.astype(float) % abs(period), abs(period)
    order = xp.argsort()
    xp, fp = xp[order], fp[order]
    return _core.interp(x, _core._concatenate([xp[-1:] - period, xp, xp[:1] + period], 0),
                        _core._concatenate([fp[-1:], fp, fp[:1]], 0), None, None)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integrates along an axis by the trapezoidal rule, with sample points x or spacing dx."""
    y, x = listed(y), listed(x)
    if x is not None:
        made = _core.trapezoid(y, x, axis=axis)
        return made.astype(numpy.result_type(made.dtype, x.dtype)) if is_complex(x) else made  # without points no product determines the dtype
    if is_complex(dx):
        return _core.trapezoid(y, axis=axis) * dx
    return _core.trapezoid(y, None, dx, axis)


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Fits a polynomial by least squares. With `full` or `cov` it also returns numpy.polyfit's further results."""
    if cov not in (False, True, 'unscaled'):
        raise ValueError(f"polyfit: cov must be False, True or 'unscaled', not {cov!r}")
    for name, a in (('x', x), ('y', y), ('w', w)):
        if not isinstance(a, _core.ndarray) and (a is not None or name != 'w'):
            raise TypeError(f'polyfit: argument {name!r} must be a cupy.ndarray, given {type(a).__name__}')
    for name, a, axes in (('x', x, (1,)), ('y', y, (1, 2)), ('w', w, (1,))):
        if a is not None and (a.ndim not in axes or a.size == 0 or len(a) != x.size):
            raise TypeError(f'polyfit: {name} has shape {a.shape} where x has {x.shape}; expected a value for each of its points')
    if w is not None and w.dtype.kind == 'c' and not x.dtype.kind == y.dtype.kind == 'c':
        raise TypeError(f'polyfit: complex weights need complex points, as in NumPy, given {x.dtype} and {y.dtype}')
    *fit, covariance = _core._polyfit(x, y, int(deg), rcond, w, 0 if full else 2 if cov == 'unscaled' else int(cov))
    if fit[2] != int(deg) + 1 and not full:
        warnings.warn('Polyfit may be poorly conditioned', numpy.exceptions.RankWarning, stacklevel=2)
    return tuple(fit) if full else (fit[0], covariance) if cov else fit[0]
