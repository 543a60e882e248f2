"""What functions are given, as arrays, and what they deliver."""

import functools

import numpy

from catenary import _core
from catenary.cupy._array import asarray, ndarray


def given(x):
    """An argument as an array; an array stays on its device."""
    return x if isinstance(x, ndarray) else asarray(x)


def listed(x):
    """A list as an array; all else as it is."""
    return asarray(x) if isinstance(x, (list, tuple)) else x


def operand(x, function):
    """An operand of an elementwise function as an array; numpy.ndarray is refused, as everywhere."""
    if isinstance(x, numpy.ndarray):
        raise TypeError(f'{function}: Unsupported type {type(x)}; numpy.ndarray is not converted implicitly, use cupy.asarray')
    return given(x)


def delivered(result, out, function, casting='same_kind'):
    """The result, or `out` with its values; a TypeError or a ValueError where it does not fit."""
    if out is None:
        return result
    if not isinstance(out, ndarray):
        raise TypeError(f'{function}: out must be a cupy.ndarray, not {type(out)}')
    if out.shape != result.shape:
        raise ValueError(f'{function}: out has shape {out.shape}, the result has {result.shape}')
    _core.copyto(out, result, casting)
    return out


def check_stored(value, dtype):
    """Raises what NumPy does where a float or a complex number of Python's is stored as what cannot hold it: NaN as an integer, say."""
    if type(value) in (float, complex):
        numpy.empty((), dtype)[()] = value


def of_anything(module, counts, given=given):
    """{name: the extension's function of this name, for whose first arguments, as many as `counts` says, lists and numbers
    count as arrays}; or what else `given` makes of them. They are said to be of the module."""
    return {name: _of_anything(module, name, count, given) for name, count in counts.items()}


def _of_anything(module, name, count, given):
    function = getattr(_core, name)

    @functools.wraps(function)
    def of_anything(*args, **kwargs):
        return function(*(given(x) for x in args[:count]), *args[count:], **kwargs)
    del of_anything.__wrapped__  # of which `inspect` says that it has no signature
    of_anything.__module__ = module
    of_anything.__name__ = of_anything.__qualname__ = name
    return of_anything
