"""Functions that apply a Python function to parts of arrays: vectorize, apply_along_axis, apply_over_axes, piecewise."""

import functools

import numpy

from catenary import _core
from catenary.cupy._arguments import check_stored, given
from catenary.cupy._array import array, asarray, asnumpy, ndarray


class vectorize:
    """Calls `pyfunc` for each element of broadcast arguments, as numpy.vectorize does, in Python on the host. Arithmetic needs no vectorize: call the
    function with arrays instead."""

    def __init__(self, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        if signature is not None:
            raise NotImplementedError('vectorize: a signature is not supported; pass it to numpy.vectorize, with cupy.asnumpy')
        self.pyfunc, self.otypes, self.excluded, self.cache = pyfunc, otypes, excluded or set(), cache
        self.__doc__ = pyfunc.__doc__ if doc is None else doc
        self.__name__ = getattr(pyfunc, '__name__', 'vectorize')
        self._host = numpy.vectorize(self._on_host, otypes=otypes, doc=doc, excluded=excluded, cache=cache)

    def _on_host(self, *args, **kwargs):
        """Calls pyfunc and returns its results on the host. pyfunc may itself use cupy's functions."""
        result = self.pyfunc(*args, **kwargs)
        if isinstance(result, tuple):
            return tuple(asnumpy(x)[()] if isinstance(x, ndarray) else x for x in result)
        return asnumpy(result)[()] if isinstance(result, ndarray) else result

    def __call__(self, *args, **kwargs):
        result = self._host(*(asnumpy(a) if isinstance(a, ndarray) else a for a in args),
                            **{name: asnumpy(a) if isinstance(a, ndarray) else a for name, a in kwargs.items()})
        return tuple(map(asarray, result)) if isinstance(result, tuple) else asarray(result)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """Applies func1d to each 1-d slice along an axis, which its result replaces."""
    arr = given(arr)
    if not -arr.ndim <= axis < arr.ndim:
        raise numpy.exceptions.AxisError(axis, arr.ndim)
    axis %= arr.ndim
    rows = _core.moveaxis(arr, (axis,), (arr.ndim - 1,))
    places = list(numpy.ndindex(rows.shape[:-1]))
    if not places:
        raise ValueError('Cannot apply_along_axis when any iteration dimensions are 0')
    results = [given(func1d(rows[place], *args, **kwargs)) for place in places]
    made = _core._stack(results, 0).reshape(rows.shape[:-1] + results[0].shape)
    own = results[0].ndim
    return _core.moveaxis(made, tuple(range(made.ndim - own, made.ndim)), tuple(range(axis, axis + own)))


def apply_over_axes(func, a, axes):
    """Applies func(a, axis) for one axis after another. Axes that it removes are restored with size 1."""
    result = given(a)
    ndim = result.ndim
    for axis in numpy.atleast_1d(asnumpy(axes)).tolist():
        axis = axis + ndim if axis < 0 else axis
        made = func(result, axis)
        if made.ndim != result.ndim:
            made = _core.expand_dims(made, axis)
            if made.ndim != result.ndim:
                raise ValueError('function is not returning an array of the correct shape')
        result = made
    return result


def piecewise(x, condlist, funclist, *args, **kw):
    """Evaluates a function, or takes a number, where each condition is true. An extra function covers the remaining elements, by default 0. If
    several conditions are true, the last one wins."""
    x = given(x)
    if not hasattr(funclist, '__len__'):
        raise TypeError(f"piecewise: argument 'funclist' must be a sequence of functions and numbers, given {type(funclist).__name__} {funclist!r}")
    if isinstance(condlist, (int, float)) and not isinstance(condlist, bool):
        raise TypeError(f"piecewise: argument 'condlist' must be a sequence of conditions, given {type(condlist).__name__} {condlist!r}")
    if isinstance(condlist, ndarray) and (condlist.ndim <= 1 and x.ndim > 0 or condlist.ndim == 0):
        condlist = [condlist]
    elif isinstance(condlist, bool) or isinstance(condlist, (list, tuple)) and condlist and x.ndim > 0 and \
            not isinstance(condlist[0], (list, tuple, ndarray)):
        condlist = [condlist]
    conditions = [_core.broadcast_to(given(condition).astype(bool), x.shape) for condition in condlist]
    n = len(funclist)
    if n == len(conditions) + 1:
        conditions.append(~functools.reduce(_core.ufuncs['logical_or'], conditions))
    elif n != len(conditions):
        raise ValueError(f'with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are expected')
    result = _core.zeros_like(x)
    for condition, function in zip(conditions, funclist):
        if not callable(function):
            check_stored(function, x.dtype)
            result = _core.where(condition, array(function).astype(x.dtype), result)
            continue
        values = x[condition]
        if values.size:
            result[condition] = function(values, *args, **kw)
    return result
