"""Conversion of arguments to arrays, and delivery of results into `out`."""

import functools

import numpy

from catenary import _core
from catenary.cupy._array import asarray, ndarray


def given(x):
    """Returns an argument as an array. An array stays on its device."""
    return x if isinstance(x, ndarray) else asarray(x)


def listed(x):
    """Converts a list to an array and returns other objects unchanged."""
    return asarray(x) if isinstance(x, (list, tuple)) else x


def operand(x, function):
    """Returns an operand of an elementwise function as an array. Raises TypeError for numpy.ndarray, which is never converted implicitly."""
    if isinstance(x, numpy.ndarray):
        raise TypeError(f'{function}: Unsupported type {type(x)}; numpy.ndarray is not converted implicitly, use cupy.asarray')
    return given(x)


def delivered(result, out, function, casting='same_kind'):
    """Returns the result, or `out` filled with it. Raises TypeError or ValueError if it does not fit."""
    if out is None:
        return result
    if not isinstance(out, ndarray):
        raise TypeError(f'{function}: out must be a cupy.ndarray, not {type(out)}')
    if out.shape != result.shape:
        raise ValueError(f'{function}: out has shape {out.shape}, the result has {result.shape}')
    _core.copyto(out, result, casting)
    return out


def check_stored(value, dtype):
    """Raises NumPy's error for a Python float or complex that the dtype cannot hold, such as NaN for an integer dtype."""
    if type(value) in (float, complex):
        numpy.empty((), dtype)[()] = value


def of_anything(module, counts, given=given):
    """Wraps functions of the extension, {name: function}, so that lists and numbers among the first arguments (as many as `counts` says) are
    converted by `given` or another function. Their module becomes `module`."""
    return {name: _of_anything(module, name, count, given) for name, count in counts.items()}


def _of_anything(module, name, count, given):
    function = getattr(_core, name)

    @functools.wraps(function)
    def of_anything(*args, **kwargs):
        return function(*(given(x) for x in args[:count]), *args[count:], **kwargs)
    del of_anything.__wrapped__  # so that inspect.signature does not report the extension's missing signature
    of_anything.__module__ = module
    of_anything.__name__ = of_anything.__qualname__ = name
    return of_anything
