"""Reductions with `where=` and `initial=` as in NumPy. Masked elements are replaced by the neutral element, then the extension reduces."""

import numpy

from catenary import _core

_WITH_INITIAL = ('sum', 'prod', 'max', 'min', 'amax', 'amin', 'nansum', 'nanprod', 'nanmax', 'nanmin')
_OF_MEANS = ('mean', 'var', 'std', 'nanmean', 'nanvar', 'nanstd')
REDUCTIONS = (*_WITH_INITIAL, *_OF_MEANS, 'all', 'any')
_NEUTRAL = {'sum': 0, 'nansum': 0, 'prod': 1, 'nanprod': 1, 'all': True, 'any': False}


def _mask(where, a, name):
    """Returns the mask in the shape of the array, or None if all elements count."""
    if where is True or where is None:
        return None
    if not isinstance(where, _core.ndarray):
        from catenary import cupy
        where = cupy.asarray(where)
    if where.dtype != bool and where.ndim:
        raise TypeError(f"{name}: argument 'where' must be a bool or a cupy.ndarray of bool, given one of {where.dtype}")
    try:
        return _core.broadcast_to(where.astype(bool), a.shape)
    except ValueError:
        raise ValueError(f"{name}: argument 'where' of shape {where.shape} does not broadcast to the array's shape {a.shape}") from None


def _as(value, dtype):
    """Converts a number to the dtype by NumPy's rules. Raises OverflowError for an integer that does not fit."""
    held = numpy.empty((), dtype)
    held[()] = value.get() if isinstance(value, _core.ndarray) else value
    return _core.from_numpy(held, None)


def reduced(name, a, axis=None, dtype=None, out=None, keepdims=False, *, initial=None, where=True, ddof=0):
    """Reduces the elements where the mask is true, starting with `initial`. Raises TypeError for a reduction without a start value."""
    if initial is not None and name not in _WITH_INITIAL:
        raise TypeError(f"{name}: unexpected keyword argument 'initial'")
    mask = _mask(where, a, name)
    if name in _OF_MEANS:
        return _delivered(_mean_like(name, a, axis, dtype, keepdims, mask, ddof), out, name)
    plain = name[-3:] if name.endswith(('max', 'min')) else name
    function, types = getattr(_core, name if name.startswith('nan') else plain), () if plain in ('max', 'min', 'all', 'any') else (dtype,)
    if plain in ('max', 'min'):
        return _delivered(_extreme(name, plain, function, a, axis, keepdims, mask, initial), out, name)
    if mask is not None:
        a = _core.where(mask, a, numpy.array(_NEUTRAL[name]).astype(a.dtype)[()])
    result = function(a, axis, *types, keepdims=keepdims)
    if initial is not None:
        begun = _as(initial, result.dtype)
        result = (result * begun if 'prod' in name else result + begun).astype(result.dtype, copy=False)
    return _delivered(result, out, name)


def _extreme(name, plain, function, a, axis, keepdims, mask, initial):
    if initial is None:
        if mask is None:
            return function(a, axis, keepdims=keepdims)
        raise ValueError(f"{name}: an empty selection has no maximum or minimum, so 'where' needs 'initial'")
    begun = _as(initial, a.dtype)
    if mask is not None:
        a = _core.where(mask, a, begun)
    axes = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if any(a.shape[k] == 0 for k in axes):  # an empty reduction returns `initial`
        ends = {k % a.ndim for k in axes}
        return _core.broadcast_to(begun, tuple(1 if k in ends else n for k, n in enumerate(a.shape) if keepdims or k not in ends)).copy()
    both = _core.ufuncs[('f' if name.startswith('nan') else '') + plain if name.startswith('nan') else plain + 'imum']
    return both(function(a, axis, keepdims=keepdims), begun)


def _mean_like(name, a, axis, dtype, keepdims, mask, ddof):
    if mask is None:
        return getattr(_core, name)(a, axis, dtype, keepdims=keepdims, **({} if name.endswith('mean') else {'ddof': ddof}))
    kind = numpy.dtype(dtype) if dtype is not None else a.dtype if a.dtype.kind in 'fc' else numpy.dtype(float)
    wide = numpy.dtype('f') if kind == 'e' else kind
    if name.startswith('nan') and a.dtype.kind in 'fc':
        mask = mask & ~_core.ufuncs['isnan'](a)
    kept = _core.where(mask, a, numpy.zeros((), a.dtype)[()]).astype(wide)
    count = _core.sum(mask, axis, keepdims=True).astype(wide.char.lower() if wide.kind == 'c' else wide)
    mean = _core.sum(kept, axis, keepdims=True) / count
    if name.endswith('mean'):
        made = mean
    else:
        apart = _core.ufuncs['absolute'](_core.where(mask, kept - mean, numpy.zeros((), wide)[()])) ** 2
        left = _core.ufuncs['maximum'](count - ddof, 0)
        made = _core.sum(apart, axis, keepdims=True) / (_core.where(left > 0, left, numpy.nan).astype(left.dtype) if name.startswith('nan') else left)
        made = _core.ufuncs['sqrt'](made) if name.endswith('std') else made
        kind = numpy.dtype(kind.char.lower()) if kind.kind == 'c' else kind
    return (made if keepdims else _core.squeeze(made, axis if axis is not None else tuple(range(made.ndim)))).astype(kind, copy=False)


def _delivered(result, out, name):
    if out is None:
        return result
    if not isinstance(out, _core.ndarray) or out.shape != result.shape:
        raise ValueError(f"{name}: argument 'out' must be a cupy.ndarray of shape {result.shape}, given {getattr(out, 'shape', type(out))}")
    _core.copyto(out, result)
    return out
