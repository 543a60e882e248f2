"""Functions of the array API's standard that have no other place."""

import numpy

from catenary.cupy._functions import _given

_KINDS = {'bool': 'b', 'signed integer': 'i', 'unsigned integer': 'u', 'integral': 'iu', 'real floating': 'f',
          'complex floating': 'c', 'numeric': 'iufc'}


def isdtype(dtype, kind):
    """Is it this dtype, or of this kind? `kind` is a dtype, one of 'bool', 'signed integer', 'unsigned integer', 'integral',
    'real floating', 'complex floating' and 'numeric', or a tuple of such."""
    dtype = numpy.dtype(dtype)
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str) and one not in _KINDS:
            raise ValueError(f'isdtype: kind must be a dtype or one of {", ".join(_KINDS)}, not {one!r}')
        if dtype.kind in _KINDS[one] if isinstance(one, str) else dtype == one:
            return True
    return False


def astype(x, dtype, /, *, copy=True):
    """x.astype(dtype), which needs no copy with copy=False."""
    return x.astype(dtype, copy=copy)


def matrix_transpose(x, /):
    """A view with the last two axes swapped. Raises ValueError where there are fewer."""
    return _given(x).mT
