"""Further functions of the array API standard."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given

_KINDS = {'bool': 'b', 'signed integer': 'i', 'unsigned integer': 'u', 'integral': 'iu', 'real floating': 'f',
          'complex floating': 'c', 'numeric': 'iufc'}


def isdtype(dtype, kind):
    """Returns whether the dtype is this one or belongs to this kind. `kind` is a dtype, one of 'bool', 'signed integer', 'unsigned integer', 'integral',
    'real floating', 'complex floating' and 'numeric', or a tuple of such."""
    dtype = numpy.dtype(dtype)
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str) and one not in _KINDS:
            raise ValueError(f'isdtype: kind must be a dtype or one of {", ".join(_KINDS)}, not {one!r}')
        if dtype.kind in _KINDS[one] if isinstance(one, str) else dtype == one:
            return True
    return False


def astype(x, dtype, /, *, copy=True):
    """Returns x.astype(dtype). copy=False avoids a copy if possible."""
    return x.astype(dtype, copy=copy)


def block(arrays):
    """Assembles an array from nested lists of blocks: the innermost lists along the last axis, the next along the axis before. Raises ValueError for
    empty lists or unequal nesting."""
    def depth_of(part):
        if isinstance(part, tuple):
            raise TypeError('block: blocks must be in lists, not tuples')
        if not isinstance(part, list):
            return 0
        depths = {depth_of(x) for x in part}
        if len(depths) != 1:
            raise ValueError('block: ' + ('a list is empty' if not depths else 'lists are nested to different depths'))
        return depths.pop() + 1

    def leaves(part):
        return [x for inner in part for x in leaves(inner)] if isinstance(part, list) else [given(part)]

    def joined(part, level):
        if isinstance(part, list):
            return _core._concatenate([joined(x, level - 1) for x in part], -level)
        a = given(part)
        return a.astype(dtype, copy=False).reshape((1,) * (ndim - a.ndim) + a.shape)
    depth, parts = depth_of(arrays), leaves(arrays)
    ndim = max(depth, *(a.ndim for a in parts)) if parts else depth
    dtype = numpy.result_type(*(a.dtype for a in parts))
    made = joined(arrays, depth)
    return made if depth else _core._copy(made, 'K')


def matrix_transpose(x, /):
    """Returns a view with the last two axes swapped. Raises ValueError for fewer than two axes."""
    return given(x).mT
